"""What each column is: numbers, truth values or categories, or something that cannot be used as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._extras import require
from horseshoe._types import Mask, Vector
from horseshoe.intake.messages import counted, option, shown
from horseshoe.intake.numerals import ABSENT, CODE, MISSING, Parsed, parse_words
from horseshoe.intake.patterns import DATE, FEW_ROWS, MEASURED, PAIRS, WHOLE, is_calendar, names_rows

MANY_LEVELS = 50


@dataclass(frozen=True, eq=False)
class Column:
    """What a column holds.

    Attributes
    ----------
    name : str
        The user's name of it.
    kind : str
        ``number``, ``truth``, ``category`` or ``empty``; or what is refused: ``identifier``, ``date``,
        ``text``, ``mixed``, ``infinite``, ``nested``.
    numbers : array or None
        The values of numbers; NaN where one is missing.
    codes, words : array of int, tuple of str
        The words of other columns and which of them each row has; -1 where it is missing.
    notes : tuple of str
        What was recognised.
    refusal : str or None
        Why it cannot be used as it is, and what to do.
    """

    name: str
    kind: str
    numbers: Vector | None = None
    codes: NDArray[np.int64] | None = None
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str | None = None

    @property
    def missing(self) -> Mask:
        """The rows without a value."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        return np.asarray(self.codes) < 0

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each word."""
        codes = np.asarray(self.codes)
        return np.bincount(codes[codes >= 0], minlength=len(self.words))

    @property
    def constant(self) -> bool:
        """Whether all values that are there are the same."""
        if self.numbers is None:
            return bool(np.count_nonzero(self.counts) < 2)
        known = self.numbers[~np.isnan(self.numbers)]
        return known.size == 0 or bool(known.min() == known.max())

    @property
    def values(self) -> Any:
        """The numbers, or the words of a column without gaps."""
        return np.array(self.words)[self.codes] if self.numbers is None else self.numbers

    def take(self, rows: Mask) -> Column:
        """Return the column in some rows."""
        if rows.all():
            return self
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, numbers=numbers, codes=None if self.codes is None else self.codes[rows])

    def value(self, row: int) -> str:
        """Return what stands in a row, as a message shows it."""
        if self.numbers is not None:
            return level(self.numbers[row])
        code = int(np.asarray(self.codes)[row])
        return self.words[code] if code >= 0 else ""

    def first(self, rows: Mask) -> str:
        """Return what stands in the first of some rows, in words."""
        row = int(rows.argmax())
        return f"{shown(self.name)} is {shown(self.value(row))} in row {row + 1}"


def describe_columns(
    frame: Any, names: Iterable[str], categorical: Collection[str] = (), numeric: Collection[str] = ()
) -> dict[str, Column]:
    """Return what each of the named columns is; ``categorical`` and ``numeric`` are taken at their word.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"dose": ["2", "?"], "sex": ["m", "f"], "smoker": ["no", "yes"]})
    >>> {name: column.kind for name, column in describe_columns(frame, frame.columns).items()}
    {'dose': 'number', 'sex': 'category', 'smoker': 'truth'}
    """
    names = list(names)
    floats = _floats(frame, [name for name in names if name not in categorical])
    return {
        name: _number(name, floats[name], name in numeric)
        if name in floats
        else _column(name, frame[name], name in categorical, name in numeric)
        for name in names
    }


def _floats(frame: Any, names: list[str]) -> dict[str, Vector]:
    """Return the columns that NumPy holds as numbers, all at once: one by one takes long for many columns."""
    kinds = dict(zip(frame.columns, frame.dtypes, strict=True))
    plain = [name for name in names if isinstance(kinds[name], np.dtype) and kinds[name].kind in "iuf"]
    block = frame[plain].to_numpy(dtype=float)
    return {name: block[:, place] for place, name in enumerate(plain)}


def level(value: Any) -> str:
    """Return a value as the name of a level: 2.0 is 2, and spaces around words do not count.

    Examples
    --------
    >>> level(2.0), level(" north "), level(True), level("TRUE"), level("2.0"), level(0.5)
    ('2', 'north', 'True', 'True', '2', '0.5')
    """
    if isinstance(value, float | np.floating):
        return str(int(value)) if np.isfinite(value) and value == int(value) else repr(float(value))
    word = str(value).strip()
    if word.lower() in ("true", "false"):  # a file may be read as truth values or as words
        return word.capitalize()
    return word.partition(".")[0] if WHOLE.fullmatch(word) else word


def _column(name: str, series: Any, categorical: bool, numeric: bool) -> Column:
    kind = getattr(series.dtype, "kind", "O")
    if kind in "mM" or str(series.dtype).startswith(("period", "date", "time", "duration")):
        return _date(name, shown(series.dropna().iloc[0]) if series.notna().any() else "a date")
    if kind in "iuf" and not categorical:
        return _number(name, series.to_numpy(dtype=float, na_value=np.nan), numeric)
    try:
        codes, words = words_of(series)
    except TypeError:
        return _refused(name, "nested", "holds lists or other nested values")
    if kind == "c":
        return _refused(name, "nested", "holds complex numbers")
    return _words(name, codes, words, categorical, numeric)


def words_of(series: Any) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the different words of a column in order, without spaces around them, and which each row has.

    Words for a missing value have the code -1.

    Examples
    --------
    >>> import pandas
    >>> words_of(pandas.Series(["b ", "1.000", "NA", "b"]))
    (array([ 1,  0, -1,  1]), ('1.000', 'b'))
    """
    pandas = require("pandas", "cli")
    codes, values = pandas.factorize(series)
    return _merged(codes, [value.strip() if isinstance(value, str) else level(value) for value in values])


def _merged(codes: Any, distinct: list[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    words = tuple(sorted(set(distinct) - set(MISSING)))
    place = {word: number for number, word in enumerate(words)}
    new = np.array([*(place.get(word, -1) for word in distinct), -1], dtype=np.int64)
    return new[np.asarray(codes)], words  # the code -1 is the last


def _number(name: str, numbers: Vector, numeric: bool, notes: tuple[str, ...] = ()) -> Column:
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        return Column(name, "empty", numbers=numbers)
    infinite = np.isinf(numbers)
    if infinite.any():
        return _refused(name, "infinite", f"is infinite in row {int(infinite.argmax()) + 1}", numbers)
    if not numeric and names_rows(name, known):
        first = ", ".join(map(level, known[:3]))
        return _refused(name, "identifier", f"counts the rows or names them ({first}, ...)", numbers)
    if not numeric and is_calendar(known):
        return _date(name, level(known[0]))
    truth = bool(((known == 0) | (known == 1)).all())
    return Column(name, "truth" if truth else "number", numbers=numbers, notes=notes)


def _words(
    name: str, codes: NDArray[np.int64], words: tuple[str, ...], categorical: bool, numeric: bool
) -> Column:
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    known = int(counts.sum())
    if not known:
        return Column(name, "empty", codes=codes, words=words)
    if not categorical and (numeric or (_may_be_numbers(words) and not _have_zeros_ahead(words))):
        parsed = parse_words(words)
        numbers = int(counts[~parsed.wrong & ~np.isnan(parsed.values)].sum())
        if numeric or numbers >= known / 2:
            column = Column(name, "mixed", codes=codes, words=words)
            return _made_of_words(column, parsed, numeric, known - numbers)
    codes, words = _merged(codes, [level(word) for word in words])
    refused = None if categorical else _unusable(name, words, np.bincount(codes[codes >= 0]))
    if refused is not None:
        return replace(refused, codes=codes, words=words)
    lowered = tuple(word.casefold() for word in words)
    if lowered[::-1] in PAIRS:  # false comes first
        codes, words = np.where(codes < 0, -1, 1 - codes), words[::-1]
    if {lowered, lowered[::-1]} & {*PAIRS}:
        return Column(name, "truth", codes=codes, words=words)
    notes = []
    if len(words) > MANY_LEVELS:
        notes.append(f"{shown(name)} has {len(words):,} levels, each a column of its own")
    if not categorical and _have_zeros_ahead(words):
        code = next(word for word in words if CODE.fullmatch(word))
        notes.append(
            f"{shown(name)}: leading zeros ({code}) mark codes, taken as categories; "
            f"if they are numbers, say so with {option('numeric', name)}"
        )
    return Column(name, "category", codes=codes, words=words, notes=tuple(notes))


def _may_be_numbers(words: tuple[str, ...]) -> bool:
    return any(word[:1].isdigit() or word[:2].lstrip("+-.,")[:1].isdigit() for word in words)


def _have_zeros_ahead(words: tuple[str, ...]) -> bool:
    """Tell whether words are codes such as postcodes: digits alone, and in some a zero ahead."""
    digits = all(word.isdigit() or word.casefold() in ABSENT for word in words)
    return digits and any(CODE.fullmatch(word) for word in words)


def _made_of_words(column: Column, parsed: Parsed, numeric: bool, others: int) -> Column:
    """Return the numbers that the words of a column are, or the refusal that names the first that is none."""
    codes = np.asarray(column.codes)
    if not parsed.wrong.any():
        numbers, notes = read_words(column.name, codes, column.words, parsed)
        return _number(column.name, numbers, numeric, notes)
    row = int(np.append(parsed.wrong, False)[codes].argmax())
    more = f" and {counted(others - 1, 'other value')}" if others > 1 else ""
    reason = f"holds numbers, but {shown(column.value(row))} in row {row + 1}{more}"
    if parsed.wrong.all():
        reason = f"holds words ({shown(column.value(row))}) and no numbers"
    return replace(column, refusal=_refused(column.name, "mixed", reason).refusal)


def read_words(
    name: str, codes: NDArray[np.int64], words: tuple[str, ...], parsed: Parsed
) -> tuple[Vector, tuple[str, ...]]:
    """Return the numbers that the words of a column are in each row, and notes of how they were read.

    Examples
    --------
    >>> read_words("x", np.array([0, 1, -1]), ("1,5", "nil"), parse_words(["1,5", "nil"]))[1]
    ('x: numbers with decimal commas', 'x: nil read as missing in 1 row')
    """
    notes = [] if parsed.note is None else [f"{shown(name)}: numbers with {parsed.note}"]
    times = {word: int((codes == words.index(word)).sum()) for word in parsed.absent}
    notes += [read_as_missing(name, word, number) for word, number in times.items()]
    return np.append(parsed.values, np.nan)[codes], tuple(notes)


def read_as_missing(name: str, word: str, times: int) -> str:
    """Return the note of a word that stands for a missing value.

    Examples
    --------
    >>> read_as_missing("dose", "?", 2)
    'dose: ? read as missing in 2 rows'
    """
    return f"{shown(name)}: {shown(word)} read as missing in {counted(times, 'row')}"


def _unusable(name: str, words: tuple[str, ...], counts: NDArray[np.int64]) -> Column | None:
    """Refuse words that are dates, that say who a row is, or that nobody but a person can read."""
    different, known = len(words), int(counts.sum())
    if sum(int(counts[j]) for j, word in enumerate(words) if DATE.fullmatch(word)) > 0.95 * known:
        return _date(name, words[0])
    codes, many, first = _have_zeros_ahead(words), different > 20, shown(words[0])
    measured = sum(MEASURED.fullmatch(word) is not None for word in words)
    if many and not codes and measured > 0.9 * different:
        return _refused(name, "measured", f"holds numbers with signs or units beside them ({first})")
    together = "".join(words)
    long = len(together) > 30 * different or together.count(" ") >= 4 * different
    if many and different > 0.3 * known and long:
        return _refused(name, "text", f"holds free text ({first})")
    if (different == known and known >= FEW_ROWS) or (many and different > 0.5 * known):
        many_words = f"{different:,} different words in {counted(known, 'row')}"
        reason = f"has {many_words}, so it names the rows ({first})"
        return _refused(name, "codes" if codes else "names", reason)
    return None


def _date(name: str, example: str) -> Column:
    return _refused(name, "date", f"holds dates or times ({example})")


# What cannot be used as it is: the kind of column, and what to do.
REFUSED = {
    "nested": ("nested", "leave it out with {drop}"),
    "infinite": ("infinite", "mend the value, or leave the column out with {drop}"),
    "date": ("date", "make a number of it (days since a day, month, hour), or leave it out with {drop}"),
    "identifier": ("identifier", "leave it out with {drop}, or if it is a number, say so with {numeric}"),
    "names": ("identifier", "leave it out with {drop}, or if it is a category, say so with {categorical}"),
    "codes": (
        "identifier",
        "leave it out with {drop}, or if it is a category, say so with {categorical}, or if it is a number, "
        "with {numeric}",
    ),
    "text": ("text", "leave it out with {drop}, or if it is a category, say so with {categorical}"),
    "measured": ("mixed", "take these off in the table, or leave the column out with {drop}"),
    "mixed": (
        "mixed",
        "mend the value or leave the cell empty, or treat the column as categories with {categorical}",
    ),
}


def _refused(name: str, why: str, reason: str, numbers: Vector | None = None) -> Column:
    kind, advice = REFUSED[why]
    ways = {way: option(way, name) for way in ("drop", "numeric", "categorical")}
    return Column(name, kind, numbers=numbers, refusal=f"{shown(name)} {reason}: {advice.format(**ways)}")
