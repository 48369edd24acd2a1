"""The rows of a file of text."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from horseshoe.intake.decimals import (
    Decimals,
    columns_with_codes,
    decide_decimal_sign,
    numbers_written,
    search_codes,
    search_sign,
    text_columns,
    writing_of,
)
from horseshoe.intake.messages import TableError, counted, shown
from horseshoe.intake.numerals import MISSING, NUMERAL, SIGNS
from horseshoe.intake.text_layout import CHUNK, SPACES, Layout, find_encoding, find_layout

Opener = Callable[[], BinaryIO]


class ReadOptions(NamedTuple):
    """What the user says of a table beside its name: columns of words, and the decimal sign.

    ``decimal`` is the sign that the user names, ``usual`` the one of tables like this, for numbers that may
    be read in two ways. Only the columns in ``used``, where they are named, are asked about.
    """

    words: Collection[str] = ()
    decimal: str | None = None
    usual: str | None = None
    used: Collection[str] | None = None

    def asks(self, name: str) -> bool:
        """Whether the numbers of a column matter."""
        return name not in self.words and (self.used is None or name in self.used)


class Delimited(NamedTuple):
    """The frame of a file of text and what was recognised; ``said`` has the notes of each column."""

    frame: Any
    notes: tuple[str, ...]
    decimal: str | None
    said: dict[str, tuple[str, ...]]


def read_delimited(opened: Opener, name: str, options: ReadOptions, pandas: Any) -> Delimited:
    r"""Return the frame of a file of text, and what was recognised; nameless columns keep an empty name.

    Examples
    --------
    >>> import pandas
    >>> found = read_delimited(lambda: io.BytesIO(b"a|b\n1|2\n"), "it", ReadOptions(), pandas)
    >>> found.frame.columns.tolist(), found.notes
    (['a', 'b'], ('columns separated by vertical bars',))
    """
    with opened() as stream:
        encoding, said = find_encoding(stream)
    try:
        layout = find_layout(_lines(opened, encoding), encoding, name)
        check_header(layout, name)
        decimals = _find_decimals(opened, layout, name, options)
        frame = _read(opened, layout, name, options.words, decimals.sign, pandas)
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
    notes = (*said, *layout.notes, *(("decimal commas",) if decimals.sign == "comma" else ()), *blank)
    frame, columns = with_numbers(
        frame[~empty].reset_index(drop=True) if blank else frame, decimals, options.words
    )
    return Delimited(frame, notes, decimals.sign, columns)


def _find_decimals(opened: Opener, layout: Layout, name: str, options: ReadOptions) -> Decimals:
    """Return the decimal sign of a file, from all its fields; column by column only where that matters."""
    if options.decimal is not None:
        return Decimals(options.decimal, {})
    found = search_sign(_chunks(opened, layout.encoding), layout.delimiter)
    if len(found) == 1:
        return Decimals(found.pop(), {})
    if not found and layout.delimiter == SIGNS["comma"]:  # who writes decimal commas separates otherwise
        return Decimals("point", {})
    names = [each if options.asks(each) else "" for each in layout.names]
    return decide_decimal_sign(writing_of(_body(opened, layout), names), name, options.usual)


def _chunks(opened: Opener, encoding: str) -> Iterator[str]:
    """Yield the text behind the header in large pieces, from the end of a line to that of another."""
    with opened() as stream, io.TextIOWrapper(stream, encoding) as text:
        text.readline()
        while chunk := text.read(CHUNK):
            yield f"\n{chunk}{text.readline()}"


def _body(opened: Opener, layout: Layout) -> Iterator[list[str]]:
    """Yield the fields of each row behind the header that is not blank."""
    rows = (row for row in _rows(opened, layout) if len(row) > 1 or "".join(row).strip())
    next(rows, None)
    yield from rows


def _rows(opened: Opener, layout: Layout) -> Iterator[list[str]]:
    lines = _lines(opened, layout.encoding)
    return (
        map(str.split, lines) if layout.delimiter == SPACES else csv.reader(lines, delimiter=layout.delimiter)
    )


def with_numbers(
    frame: Any, decimals: Decimals, words: Collection[str] = ()
) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """Return the frame with numbers in place of words such as 1.234,5, and what is said of each column.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"sales": ["7.805", "12"]})
    >>> with_numbers(frame, Decimals("comma", {}))[0]["sales"].tolist()
    [7805.0, 12.0]
    """
    if decimals.sign is None:
        return frame, {}
    found, said = dict[str, Any](), dict[str, tuple[str, ...]]()
    for name in text_columns(frame, words):
        own = decimals.own.get(name)
        numbers = numbers_written(frame[name], name, own or decimals.sign, plain=own is not None)
        if numbers is not None:
            found[name], said[name] = numbers
    return (frame.assign(**found) if found else frame), said


def _lines(opened: Opener, encoding: str) -> Iterator[str]:
    with opened() as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
        yield from text


def check_header(layout: Layout, name: str) -> None:
    """Refuse a header of numbers, and names that stand twice in it.

    Examples
    --------
    >>> check_header(Layout("utf-8", header=("a", "b", "a")), "it")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: it has 1 column name more than once: a (columns 1, 3). Rename them
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


def _read(
    opened: Opener, layout: Layout, name: str, words: Collection[str], sign: str | None, pandas: Any
) -> Any:
    width = len(layout.names)
    texts = {place for place, each in enumerate(layout.names) if each in words}
    if search_codes(_chunks(opened, layout.encoding), layout.delimiter):
        texts |= columns_with_codes(_body(opened, layout))
    try:
        with warnings.catch_warnings(), opened() as stream:
            warnings.simplefilter("ignore", pandas.errors.DtypeWarning)  # mixed columns are looked at later
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(
                stream,
                sep=layout.delimiter,
                encoding=layout.encoding,
                decimal=SIGNS[sign or "point"],
                names=list(range(width)),
                header=0,
                index_col=False,
                engine="c",
                skipinitialspace=True,
                keep_default_na=False,
                na_values=list(MISSING),
                dtype=dict.fromkeys((place for place in texts if place < width), str),
                low_memory=sign != "comma",  # else a part of a column may be numbers, and a part words
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
    width = len(layout.names)
    rows = _rows(opened, layout)
    for number, row in enumerate(rows, 1):
        trailing = len(row) == width + 1 and not row[-1].strip()
        blank = len(row) < 2 and not "".join(row).strip()
        if len(row) != width and not trailing and not blank:
            yield getattr(rows, "line_num", number), len(row)


def _ragged(opened: Opener, layout: Layout, name: str) -> str:
    width = len(layout.names)
    odd = next(_odd_rows(opened, layout), None)
    if odd is None:
        return f"the rows of {name} do not all have as many fields as the header"
    return (
        f"line {odd[0]} of {name} has {counted(odd[1], 'field')}, but the header has {width}: "
        "put text that contains the delimiter into quotation marks, or mend the line"
    )
