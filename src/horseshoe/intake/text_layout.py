"""How a file of text is written: its encoding and its delimiter, from its first lines."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import BinaryIO

from horseshoe.intake.file_kinds import sixteen_bits
from horseshoe.intake.messages import TableError, listed, shown
from horseshoe.intake.numerals import MISSING

# So many characters are looked at; a longer first line is read to its end.
SAMPLE = 1 << 18

LINES = 200
CHUNK = 1 << 22
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
ODD = {":": "colons", "^": "carets", "~": "tildes", "\x01": "control characters", "&": "ampersands"}
SPACES = r"\s+"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with a byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # begins like UTF-16
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
WESTERN = {"latin-1": "Latin-1", "cp1252": "Windows-1252, which is Latin-1 with curly quotes"}


@dataclass(frozen=True)
class Layout:
    """How a file of text is written; ``notes`` say it where it is not what one expects."""

    encoding: str
    delimiter: str = ","
    header: tuple[str, ...] = ()
    row_names: bool = False
    notes: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """The number of fields of a row; row names are one without a name."""
        return len(self.header) + self.row_names


def find_encoding(stream: BinaryIO) -> tuple[str, tuple[str, ...]]:
    r"""Return the codec of the bytes, and a note unless it is plain UTF-8.

    Examples
    --------
    >>> import io
    >>> find_encoding(io.BytesIO("größe,y\n1,2\n".encode("latin-1")))
    ('latin-1', ('read as Latin-1: the bytes are not UTF-8',))
    """
    head = stream.read(1 << 16)
    for mark, codec, name in MARKS:
        if head.startswith(mark):
            return codec, (f"read as {name}",)
    wide = sixteen_bits(head)
    if wide:
        return wide, ("read as UTF-16 without a byte order mark",)
    decoder, valid, high = codecs.getincrementaldecoder("utf-8")(), True, set[int]()
    while head:
        if not head.isascii():
            valid = valid and _decodes(decoder, head)
            high |= set(head) if not valid else set()
        head = stream.read(CHUNK)
    if valid and _decodes(decoder, b"", final=True):
        return "utf-8", ()
    undefined = high & {0x81, 0x8D, 0x8F, 0x90, 0x9D}
    codec = "cp1252" if high & set(range(0x80, 0xA0)) and not undefined else "latin-1"
    return codec, (f"read as {WESTERN[codec]}: the bytes are not UTF-8",)


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def find_layout(lines: Iterable[str], encoding: str, name: str) -> Layout:
    r"""Return how the table is laid out, from its first lines.

    Examples
    --------
    >>> find_layout(["size;weight\n", "1,5;2\n", "2,5;4\n"], "utf-8", "it").notes
    ('columns separated by semicolons',)
    """
    sample = _sample(lines)
    delimiter = _find_delimiter(sample, name)
    rows = _rows(sample, delimiter)
    if not rows:
        raise TableError(f"{name} is empty: a header line and rows of data are needed")
    header, body = tuple(each.strip() for each in rows[0]), rows[1:]
    if not body:
        raise TableError(f"{name} has a header but no rows of data")
    layout = Layout(encoding, delimiter, header=header)
    if all(len(row) == len(header) + 1 for row in body) and any(row[-1].strip() for row in body):
        layout = replace(
            layout, row_names=True, notes=("the first column has no name in the header: row names, left out",)
        )
    absent = sorted({field.strip() for row in body for field in row} & set(MISSING) - {""})
    return _say(layout, absent)


def _say(layout: Layout, absent: list[str]) -> Layout:
    names = {**DELIMITERS, SPACES: "spaces"}
    delimiter = () if layout.delimiter == "," else (f"columns separated by {names[layout.delimiter]}",)
    missing = (f"{listed(absent)} read as missing",) if absent else ()
    return replace(layout, notes=(*delimiter, *layout.notes, *missing))


def _sample(lines: Iterable[str]) -> list[str]:
    """Return the first lines: at least one, and more until there are many lines or many characters."""
    sample: list[str] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) > LINES or (size > SAMPLE and len(sample) > 5):
            break
    return sample


def _rows(sample: list[str], delimiter: str) -> list[list[str]]:
    """Return the fields of the rows that are not blank, without one that the sample may cut off."""
    if delimiter == SPACES:
        return [line.split() for line in sample if line.strip()]
    rows = [row for row in csv.reader(sample, delimiter=delimiter) if len(row) > 1 or "".join(row).strip()]
    return rows[:-1] if len(sample) > LINES and len(rows) > 2 else rows


def _find_delimiter(sample: list[str], name: str) -> str:
    """Return the delimiter by which most rows have as many fields as the header, and most of them."""
    scores = {each: _agreement(sample, each) for each in (*DELIMITERS, *ODD, SPACES)}
    best = max(DELIMITERS, key=lambda each: scores[each])
    if scores[best][1] > 1:
        return best
    if scores[SPACES][0] == 1.0 and scores[SPACES][1] > 1:
        return SPACES
    odd = max(ODD, key=lambda each: scores[each])
    if scores[odd][0] == 1.0 and scores[odd][1] > 1:
        raise TableError(
            f"{name} has one column, {shown(sample[0].strip())}: its "
            f"fields seem to be separated by {ODD[odd]}, "
            "and only commas, semicolons, tabs, vertical bars and spaces are read"
        )
    return ","


def _agreement(sample: list[str], delimiter: str) -> tuple[float, int]:
    """Return which part of the rows has as many fields as the header, or one more each, and that number.

    A delimiter inside quotation marks is none, so one that tears them apart counts for little.
    """
    try:
        rows = _rows(sample, delimiter)
    except csv.Error:  # a line of many columns is one field that is too long
        return 0.0, 1
    if not rows or len(rows[0]) < 2:
        return 0.0, 1
    widths = Counter(map(len, rows[1:]))
    same = max(widths[len(rows[0])], widths[len(rows[0]) + 1])
    part = same / (len(rows) - 1) if len(rows) > 1 else 1.0
    return part if delimiter == SPACES or _quoted_well(sample, delimiter) else part / 4, len(rows[0])


def _quoted_well(sample: list[str], delimiter: str) -> bool:
    try:
        next(csv.reader(sample, delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True
