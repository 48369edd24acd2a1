"""A table from a file, from standard input, or by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from horseshoe._checks import check_choice
from horseshoe._extras import require
from horseshoe.intake.builtin_tables import BUILT_IN, built_in
from horseshoe.intake.decimals import text_columns, with_numbers
from horseshoe.intake.delimited import ReadOptions, check_names, read_delimited
from horseshoe.intake.file_kinds import Source, arrow_kind, looks_binary
from horseshoe.intake.messages import TableError, listed, near, shown
from horseshoe.intake.numerals import SIGNS
from horseshoe.intake.patterns import counts_up

HEAD = 1 << 16
SUFFIXES = {".csv", ".tsv", ".txt", ".parquet", ".feather"}


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it came in.

    Attributes
    ----------
    frame : pandas.DataFrame
        Its columns, under the names of the file.
    notes : tuple of str
        What was recognised on the way: encoding, delimiter, decimal commas, columns left out.
    name : str
        What to call it in a sentence: the file, ``standard input``, or the built-in name.
    decimal : {"point", "comma"}, optional
        The decimal sign, where numbers show it or the user names it.
    column_notes : dict
        How the numbers of columns are written, where that is not plain.
    """

    frame: Any
    notes: tuple[str, ...] = ()
    name: str = "the table"
    decimal: str | None = None
    column_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def notes_of(self, names: Iterable[str | None]) -> tuple[str, ...]:
        """Return what was recognised in the table as a whole, and in the columns that are used.

        Examples
        --------
        >>> table = Table(None, ("decimal commas",), column_notes={"a": ("a: numbers with points",)})
        >>> table.notes_of(["a"])
        ('decimal commas', 'a: numbers with points')
        """
        return (*self.notes, *(note for name in names for note in self.column_notes.get(str(name), ())))


def read_table(
    source: str | os.PathLike[str],
    stdin: BinaryIO | bytes | None = None,
    words: Collection[str] = (),
    decimal: str | None = None,
    usual: str | None = None,
    used: Collection[str] | None = None,
) -> Table:
    r"""Return the table in a file, in standard input (``-``), or of a built-in name.

    CSV and its relatives (separated by commas, semicolons, tabs, vertical bars or spaces), Parquet and
    Feather are options by their content. Encoding, delimiter and decimal sign are recognised and said in
    ``notes``. The decimal sign is that of the whole table: beside 0,11 the number 7.805 is 7805. Where no
    number shows the sign, and one may be read in two ways, the table is refused.

    Parameters
    ----------
    source : path or str
        A file, ``-``, or one of `diabetes`, `breast_cancer`, `wine`, `iris`; a file of that name comes first.
    stdin : binary stream or bytes, optional
        What ``-`` reads; by default standard input.
    words : names, optional
        Columns of a file of text in which 1.50 stays 1.50: categories that look like numbers.
    decimal : {"point", "comma"}, optional
        The decimal sign; by default the one that the numbers show.
    usual : {"point", "comma"}, optional
        The decimal sign where no number shows it, such as that of the table a model was fitted to.
    used : names, optional
        The columns that are used, where that is known: no other is a reason to refuse the table.

    Raises
    ------
    TableError
        The source is not there, or is no table; the message says what it is and what to do.

    Examples
    --------
    >>> table = read_table("-", stdin="größe;y\n1,5;2\n2,5;4\n".encode("latin-1"))
    >>> table.frame["größe"].tolist()
    [1.5, 2.5]
    >>> for note in table.notes:
    ...     print(note)
    read as Latin-1: the bytes are not UTF-8
    columns separated by semicolons
    decimal commas
    """
    sign = None if decimal is None else check_choice("decimal", decimal, tuple(SIGNS))
    options, given = ReadOptions(words, sign, usual, used), os.fspath(source)
    if given == "-":
        data = stdin if isinstance(stdin, bytes) else (sys.stdin.buffer if stdin is None else stdin).read()
        return _from_source(Source("standard input", data=data), options)
    path, name = Path(source), shown(given, longest=300)
    if not _exists(path, name):
        if given in BUILT_IN:
            return Table(built_in(given)[0], (f"built-in data set {given}",), given)
        raise TableError(f"{name} is not there{_instead_of(path)}")
    if path.is_dir():
        names = [each for each in _names_in(path) or () if Path(each).suffix.lower() in SUFFIXES]
        there = f" ({listed(sorted(names), most=5)})" if names else ""
        raise TableError(f"{name} is a folder: name one file in it{there}")
    file = Source(name, path)
    if not path.is_file():  # a pipe can be read once only
        with file.open() as stream:
            file = Source(name, data=stream.read())
    return _from_source(file, options)


def _exists(path: Path, name: str) -> bool:
    try:
        return path.exists()
    except PermissionError:
        raise TableError(f"no permission to look for {name}: ask the owner of the folder") from None
    except (OSError, ValueError) as error:  # a name too long, or with a NUL in it
        raise TableError(f"{name} cannot be a file: {error}") from None


def _names_in(folder: Path) -> list[str] | None:
    """Return the names in a folder; None if it cannot be read."""
    try:
        return [each.name for each in folder.iterdir()]
    except OSError:
        return None


def _instead_of(path: Path) -> str:
    """Return what may have been meant by a file that is not there."""
    found = _names_in(path.parent)
    if found is None:
        return ", nor is its folder"
    return near(path.name, [*found, *BUILT_IN]) or f"; the built-in data sets are {', '.join(BUILT_IN)}"


def _from_source(source: Source, options: ReadOptions) -> Table:
    with source.open() as stream:
        head = stream.read(HEAD)
    if not head:
        raise TableError(f"{source.name} is empty: a header line and rows of data are needed")
    kind = arrow_kind(head)
    if kind is not None:
        return _from_arrow(source, kind, options)
    binary = looks_binary(head)
    if binary is not None:
        raise TableError(f"{source.name} is not a table that can be read: {binary}")
    found = read_delimited(source, options)
    return Table(
        *_named(found.frame, found.notes, source.name), source.name, found.decimal, found.column_notes
    )


def _from_arrow(source: Source, kind: str, options: ReadOptions) -> Table:
    pandas, arrow = require("pandas", "cli"), require("pyarrow", "parquet")
    read = pandas.read_parquet if kind == "parquet" else pandas.read_feather
    try:
        with source.open() as stream:
            frame = read(stream).reset_index(drop=True)
    except (arrow.ArrowException, OSError, ValueError, TypeError) as error:
        reason = shown(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise TableError(f"{source.name} is a damaged {kind.capitalize()} file: {reason}") from None
    rows, width = frame.shape
    if not rows or not width:
        raise TableError(f"{source.name} has {rows} rows and {width} columns: there are no data")
    frame.columns = [str(each) for each in frame.columns]
    check_names(frame.columns, source.name)
    decimals = options.decide(((name, frame[name]) for name in text_columns(frame)), source.name)
    frame, column_notes = with_numbers(frame, decimals, options.words)
    named = _named(frame, (f"read as {kind.capitalize()}",), source.name)
    return Table(*named, source.name, decimals.sign, column_notes)


def _named(frame: Any, notes: Iterable[str], name: str) -> tuple[Any, tuple[str, ...]]:
    """Return the frame without columns that have no name: empty ones and one that counts the rows."""
    nameless = [j for j, each in enumerate(frame.columns) if not str(each).strip()]
    notes = list(notes)
    for j in nameless:
        values = frame.iloc[:, j]
        if values.isna().all():
            notes.append(f"column {j + 1} has no name and no values: left out")
        elif j == 0 and values.dtype.kind in "iu" and counts_up(values.to_numpy()):
            notes.append("the first column has no name and counts the rows: left out")
        else:
            first = shown(values.dropna().iloc[0])
            raise TableError(
                f"column {j + 1} of {name} has no name (its first value is {first}): name it in the header"
            )
    kept = [j for j in range(frame.shape[1]) if j not in nameless]
    return (frame.iloc[:, kept] if nameless else frame), tuple(notes)
