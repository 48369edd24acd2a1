"""The rows of a file of text."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, BinaryIO

from farrier.intake.numerals import MISSING, NUMERAL
from farrier.intake.text import SPACES, Layout, find_encoding, find_layout
from farrier.intake.words import TableError, counted, shown

Opener = Callable[[], BinaryIO]


def read_delimited(
    opened: Opener, name: str, words: Collection[str], pandas: Any
) -> tuple[Any, tuple[str, ...]]:
    r"""Return the frame of a file of text, and what was recognised; nameless columns keep an empty name.

    Examples
    --------
    >>> import pandas
    >>> frame, notes = read_delimited(lambda: io.BytesIO(b"a|b\n1|2\n"), "it", (), pandas)
    >>> frame.columns.tolist(), notes
    (['a', 'b'], ('columns separated by vertical bars',))
    """
    with opened() as stream:
        encoding, said = find_encoding(stream)
    try:
        layout = find_layout(_lines(opened, encoding), encoding, name)
        check_header(layout, name)
        frame = _read(opened, layout, name, words, pandas)
        _check_widths(frame, opened, layout, name)
    except UnicodeDecodeError:
        raise TableError(f"{name} begins like {encoding.upper()} but is not: save it as UTF-8") from None
    except csv.Error as error:
        raise TableError(f"{name} is not a table that can be read: {error}") from None
    if layout.row_names:
        frame = frame.iloc[:, 1:]
    frame.columns = list(layout.header)
    empty = frame.isna().all(axis=1).to_numpy()
    blank = (f"{counted(int(empty.sum()), 'row')} without any value left out",) if empty.any() else ()
    if empty.all():
        raise TableError(f"{name} has a header but no rows of data")
    return (frame[~empty].reset_index(drop=True) if blank else frame), (*said, *layout.notes, *blank)


def _lines(opened: Opener, encoding: str) -> Iterator[str]:
    with opened() as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
        yield from text


def check_header(layout: Layout, name: str) -> None:
    """Refuse a header of numbers, and names that stand twice in it.

    Examples
    --------
    >>> check_header(Layout("utf-8", header=("a", "b", "a")), "it")
    Traceback (most recent call last):
    farrier.intake.words.TableError: it has 1 column name more than once: a (columns 1, 3). Rename them
    """
    header = layout.header
    plain = [str(number) for number in range(len(header) + 1)]
    numbered = list(header) in (plain[:-1], plain[1:])  # names that count the columns
    if not numbered and all(NUMERAL.fullmatch(each) for each in header):
        raise TableError(
            f"the first line of {name} holds numbers "
            f"({shown(', '.join(header[:3]))}): add a header line with names"
        )
    check_names(header, name)


def check_names(names: Iterable[str], name: str) -> None:
    """Refuse columns of the same name: which one is meant could not be said.

    Examples
    --------
    >>> check_names(["a", "b", "", ""], "it")
    """
    seen: dict[str, list[int]] = {}
    for number, each in enumerate(names, 1):
        seen.setdefault(each, []).append(number)
    twice = [(each, numbers) for each, numbers in seen.items() if len(numbers) > 1 and each]
    if twice:
        places = "; ".join(f"{shown(each)} (columns {', '.join(map(str, at[:5]))})" for each, at in twice[:5])
        more = f" and {len(twice) - 5} more" if len(twice) > 5 else ""
        raise TableError(
            f"{name} has {counted(len(twice), 'column name')} more than once: {places}{more}. Rename them"
        )


def _read(opened: Opener, layout: Layout, name: str, words: Collection[str], pandas: Any) -> Any:
    width = len(layout.header) + layout.row_names
    first = int(layout.row_names)
    try:
        with warnings.catch_warnings(), opened() as stream:
            warnings.simplefilter("ignore", pandas.errors.DtypeWarning)  # mixed columns are looked at later
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(
                stream,
                sep=layout.delimiter,
                encoding=layout.encoding,
                decimal=layout.decimal,
                names=list(range(width)),
                header=0,
                index_col=False,
                engine="c",
                skipinitialspace=True,
                keep_default_na=False,
                na_values=list(MISSING),
                dtype={place: str for place, each in enumerate(layout.header, first) if each in words},
            )
    except pandas.errors.ParserWarning:
        raise TableError(_ragged(opened, layout, name)) from None
    except pandas.errors.ParserError as error:
        raise TableError(_unparsed(str(error), opened, layout, name)) from None
    except pandas.errors.EmptyDataError:
        raise TableError(f"{name} has a header but no rows of data") from None
    except MemoryError:
        raise TableError(
            f"{name} is larger than the memory of this machine: use fewer rows or columns"
        ) from None


def _unparsed(reason: str, opened: Opener, layout: Layout, name: str) -> str:
    quote = re.search(r"EOF inside string starting at row (\d+)", reason)
    if quote:
        return (
            f"{name} has a quotation mark that is opened near line "
            f"{int(quote[1]) + 1} and never closed: close it"
        )
    return (
        _ragged(opened, layout, name)
        if "fields" in reason
        else f"{name} cannot be read as a table: {shown(reason)}"
    )


def _check_widths(frame: Any, opened: Opener, layout: Layout, name: str) -> None:
    """Refuse rows that are too short, which leave the last column without a value."""
    if layout.delimiter != SPACES and frame.iloc[:, -1].isna().any():
        for _ in _odd_rows(opened, layout):
            raise TableError(_ragged(opened, layout, name))


def _odd_rows(opened: Opener, layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield the line and the number of fields of rows that have not as many as the header."""
    width = len(layout.header) + layout.row_names
    lines = _lines(opened, layout.encoding)
    rows = (
        csv.reader(lines, delimiter=layout.delimiter) if layout.delimiter != SPACES else map(str.split, lines)
    )
    for number, row in enumerate(rows, 1):
        trailing = len(row) == width + 1 and not row[-1].strip()
        blank = len(row) < 2 and not "".join(row).strip()
        if len(row) != width and not trailing and not blank:
            yield getattr(rows, "line_num", number), len(row)


def _ragged(opened: Opener, layout: Layout, name: str) -> str:
    width = len(layout.header) + layout.row_names
    odd = next(_odd_rows(opened, layout), None)
    if odd is None:
        return f"the rows of {name} do not all have as many fields as the header"
    return (
        f"line {odd[0]} of {name} has {counted(odd[1], 'field')}, but the header has {width}: "
        "put text that contains the delimiter into quotation marks, or mend the line"
    )
