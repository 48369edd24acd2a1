"""The rows of a file of text."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from horseshoe._extras import require
from horseshoe.intake.decimals import (
    Decimals,
    decide_decimal_sign,
    evidence_of,
    search_codes,
    search_signs,
    with_numbers,
)
from horseshoe.intake.file_kinds import Source
from horseshoe.intake.messages import TableError, counted, shown
from horseshoe.intake.numerals import CODE, MISSING, NUMERAL, SIGNS
from horseshoe.intake.text_layout import CHUNK, SPACES, Layout, find_encoding, find_layout


class ReadOptions(NamedTuple):
    """What the user says of a table beside its name: columns of words, and the decimal sign.

    ``decimal`` is the sign that the user names, ``usual`` the one of tables like this, for numbers that may
    be read in two ways. Only the columns in ``used``, where they are named, are asked about.
    """

    words: Collection[str] = ()
    decimal: str | None = None
    usual: str | None = None
    used: Collection[str] | None = None

    def decide(self, columns: Iterable[tuple[str, Any]], table: str) -> Decimals:
        """Return the decimal sign that columns of texts show, or the one that the user names."""
        if self.decimal is not None:
            return Decimals(self.decimal, {})
        asked = {
            name: evidence_of(series)
            for name, series in columns
            if name and name not in self.words and (self.used is None or name in self.used)
        }
        return decide_decimal_sign(asked, table, self.usual)


class Delimited(NamedTuple):
    """The frame of a file of text and what was recognised in it and in each column."""

    frame: Any
    notes: tuple[str, ...]
    decimal: str | None
    column_notes: dict[str, tuple[str, ...]]


def read_delimited(source: Source, options: ReadOptions) -> Delimited:
    r"""Return the frame of a file of text, and what was recognised; nameless columns keep an empty name.

    Examples
    --------
    >>> found = read_delimited(Source("it", data=b"a|b\n1|2\n"), ReadOptions())
    >>> found.frame.columns.tolist(), found.notes
    (['a', 'b'], ('columns separated by vertical bars',))
    """
    with source.open() as stream:
        encoding, recognised = find_encoding(stream)
    try:
        layout = find_layout(lines_of(source, encoding), encoding, source.name)
        check_header(layout.header, source.name)
        file = TextFile(source, layout)
        decimals = file.decimals(options)
        frame = file.frame(decimals.sign, options.words)
        file.check_widths(frame)
    except UnicodeDecodeError:
        raise TableError(
            f"{source.name} begins like {encoding.upper()} but is not: save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise TableError(f"{source.name} is not a table that can be read: {error}") from None
    empty = frame.isna().all(axis=1).to_numpy()
    if empty.all():
        raise TableError(f"{source.name} has a header but no rows of data")
    notes = (*recognised, *layout.notes, *(("decimal commas",) if decimals.sign == "comma" else ()))
    if empty.any():
        notes = (*notes, f"{counted(int(empty.sum()), 'row')} without any value left out")
        frame = frame[~empty].reset_index(drop=True)
    frame, column_notes = with_numbers(frame, decimals, options.words)
    return Delimited(frame, notes, decimals.sign, column_notes)


def lines_of(source: Source, encoding: str) -> Iterator[str]:
    """Yield the lines of a file of text."""
    with source.open() as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
        yield from text


def check_header(header: tuple[str, ...], name: str) -> None:
    """Refuse a header of numbers, and names that stand twice in it.

    Examples
    --------
    >>> check_header(("a", "b", "a"), "it")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: it has 1 column name more than once: a (columns 1, 3). Rename them
    """
    plain = [str(number) for number in range(len(header) + 1)]
    numbered = list(header) in (plain[:-1], plain[1:])  # names that count the columns
    if not numbered and all(NUMERAL.fullmatch(each) for each in header):
        first = shown(", ".join(header[:3]))
        raise TableError(f"the first line of {name} holds numbers ({first}): add a header line with names")
    check_names(header, name)


def check_names(names: Iterable[str], name: str) -> None:
    """Refuse columns of the same name: which one is meant could not be told.

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
        many = counted(len(twice), "column name")
        raise TableError(f"{name} has {many} more than once: {places}{more}. Rename them")


@dataclass(frozen=True)
class TextFile:
    """A file of text of known layout."""

    source: Source
    layout: Layout

    def decimals(self, options: ReadOptions) -> Decimals:
        """Return the decimal sign, from all fields; column by column only where that matters."""
        found = {options.decimal} if options.decimal else search_signs(self.chunks(), self.layout.delimiter)
        if not found and self.layout.delimiter == SIGNS["comma"]:
            found = {"point"}  # who writes decimal commas separates by something else
        if len(found) == 1:
            return Decimals(found.pop(), {})
        texts = self._parsed(None, str)
        columns = ((each, texts[place]) for place, each in enumerate(self.layout.header))
        return options.decide(columns, self.source.name)

    def frame(self, sign: str | None, words: Collection[str]) -> Any:
        """Return the columns under their names: numbers as they are written, but for codes such as 01067."""
        header = self.layout.header
        frame = self._parsed(sign, {place: str for place, each in enumerate(header) if each in words})
        whole = [place for place in range(frame.shape[1]) if _is_whole(frame.iloc[:, place].to_numpy())]
        if whole and search_codes(self.chunks(), self.layout.delimiter):
            texts = self._parsed(sign, dict.fromkeys(whole, str))
            for place in whole:
                if texts[place].str.fullmatch(CODE.pattern).any():
                    frame[place] = texts[place]
        frame.columns = list(header)
        return frame

    def chunks(self) -> Iterator[str]:
        """Yield the text behind the header in large pieces, from the end of a line to that of another."""
        with self.source.open() as stream, io.TextIOWrapper(stream, self.layout.encoding) as text:
            text.readline()
            while chunk := text.read(CHUNK):
                yield f"\n{chunk}{text.readline()}"

    def check_widths(self, frame: Any) -> None:
        """Refuse rows that are too short, which leave the last column without a value."""
        if self.layout.delimiter != SPACES and frame.iloc[:, -1].isna().any():
            for _ in _odd_rows(self):
                raise TableError(self._ragged())

    def _parsed(self, sign: str | None, kinds: Any) -> Any:
        """Return what pandas makes of the file, columns by place; ``kinds`` are not guessed."""
        pandas, name, first = require("pandas", "cli"), self.source.name, int(self.layout.row_names)
        width = first + len(self.layout.header)
        try:
            with warnings.catch_warnings(), self.source.open() as stream:
                warnings.simplefilter("error", pandas.errors.ParserWarning)
                frame = pandas.read_csv(
                    stream,
                    sep=self.layout.delimiter,
                    encoding=self.layout.encoding,
                    decimal=SIGNS[sign or "point"],
                    names=range(-first, width - first),
                    header=0,
                    index_col=False,
                    engine="c",
                    skipinitialspace=True,
                    keep_default_na=False,
                    na_values=list(MISSING),
                    dtype=kinds,
                    low_memory=False,  # else a part of a column may be numbers, and a part words
                )
        except pandas.errors.ParserWarning:
            raise TableError(self._ragged()) from None
        except pandas.errors.ParserError as error:
            raise TableError(self._unparsed(str(error))) from None
        except pandas.errors.EmptyDataError:
            raise TableError(f"{name} has a header but no rows of data") from None
        except MemoryError:
            raise TableError(
                f"{name} is larger than the memory of this machine: use fewer rows or columns"
            ) from None
        return frame.iloc[:, first:]

    def _unparsed(self, reason: str) -> str:
        """Return what pandas could not read, in a sentence."""
        quote = re.search(r"EOF inside string starting at row (\d+)", reason)
        if quote:
            line = int(quote[1]) + 1
            what = f"has a quotation mark that is opened near line {line} and never closed: close it"
            return f"{self.source.name} {what}"
        if "fields" in reason:
            return self._ragged()
        return f"{self.source.name} cannot be read as a table: {shown(reason)}"

    def _ragged(self) -> str:
        """Return which line has not as many fields as the header, in a sentence."""
        odd = next(_odd_rows(self), None)
        if odd is None:
            return f"the rows of {self.source.name} do not all have as many fields as the header"
        return (
            f"line {odd[0]} of {self.source.name} has {counted(odd[1], 'field')}, but the header has "
            f"{self.layout.width}: put text that contains the delimiter into quotation marks, or mend the "
            "line"
        )


def _is_whole(values: Any) -> bool:
    """Tell whether all values of a column are whole numbers: they may be codes that had a leading zero."""
    if values.dtype.kind != "f":
        return bool(values.dtype.kind in "iu")
    return all(
        np.array_equal(part, np.rint(part), equal_nan=True)
        for part in (values[:100], values[100:])  # most columns of other numbers show it at once
    )


def _odd_rows(file: TextFile) -> Iterator[tuple[int, int]]:
    """Yield the line and the number of fields of rows that have not as many as the header."""
    delimiter, width = file.layout.delimiter, file.layout.width
    lines = lines_of(file.source, file.layout.encoding)
    rows = map(str.split, lines) if delimiter == SPACES else csv.reader(lines, delimiter=delimiter)
    for number, row in enumerate(rows, 1):
        trailing = len(row) == width + 1 and not row[-1].strip()
        blank = len(row) < 2 and not "".join(row).strip()
        if len(row) != width and not trailing and not blank:
            yield getattr(rows, "line_num", number), len(row)
