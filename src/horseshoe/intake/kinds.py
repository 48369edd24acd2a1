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
    def constant(self) -> bool:
        """Whether all values that are there are the same."""
        if self.numbers is not None:
            known = self.numbers[~np.isnan(self.numbers)]
            return known.size == 0 or bool(known.min() == known.max())
        codes = np.asarray(self.codes)
        return np.unique(codes[codes >= 0]).size < 2

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
        return _refused(
            name, "nested", "holds lists or other nested values", f"leave it out with {option('drop', name)}"
        )
    if kind == "c":
        return _refused(name, "nested", "holds complex numbers", f"leave it out with {option('drop', name)}")
    return _of_words(name, codes, words, categorical, numeric)


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
        row = int(infinite.argmax()) + 1
        reason = f"is infinite in row {row}"
        return _refused(
            name,
            "infinite",
            reason,
            f"mend the value, or leave the column out with {option('drop', name)}",
            numbers,
        )
    if not numeric and names_rows(name, known):
        reason = (
            f"counts the rows or names them ({level(known[0])}, {level(known[1])}, {level(known[2])}, ...)"
        )
        return _refused(name, "identifier", reason, _either(name, "numeric", "number"), numbers)
    if not numeric and is_calendar(known):
        return _date(name, level(known[0]))
    truth = bool(((known == 0) | (known == 1)).all())
    return Column(name, "truth" if truth else "number", numbers=numbers, notes=notes)


def _of_words(
    name: str, codes: NDArray[np.int64], words: tuple[str, ...], categorical: bool, numeric: bool
) -> Column:
    column = Column(name, "category", codes=codes, words=words)
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    known = int(counts.sum())
    if not known:
        return replace(column, kind="empty")
    if not categorical and (numeric or (_may_be_numbers(words) and not _have_zeros_ahead(words))):
        parsed = parse_words(words)
        numbers = int(counts[~parsed.wrong & ~np.isnan(parsed.values)].sum())
        if numeric or numbers >= known / 2:
            return _made_of_words(column, parsed, numeric, known - numbers)
    codes, words = _merged(codes, [level(word) for word in words])
    column, counts = replace(column, codes=codes, words=words), np.bincount(codes[codes >= 0])
    if not categorical:
        dates = sum(int(counts[j]) for j, word in enumerate(words) if DATE.fullmatch(word))
        if dates > 0.95 * known:
            return _date(name, words[0])
        text = _unusable(name, words, known)
        if text is not None:
            return replace(text, codes=codes, words=words)
    lowered = tuple(word.casefold() for word in words)
    pair = next((pair for pair in PAIRS if set(pair) == set(lowered)), None) if len(words) == 2 else None
    if pair is not None:
        turned = lowered != pair
        return (
            replace(column, kind="truth", words=words[::-1], codes=np.where(codes < 0, -1, 1 - codes))
            if turned
            else replace(column, kind="truth")
        )
    said = []
    if len(words) > MANY_LEVELS:
        said.append(f"{shown(name)} has {len(words):,} levels, each a column of its own")
    if not categorical and _have_zeros_ahead(words):
        code = next(word for word in words if CODE.fullmatch(word))
        said.append(
            f"{shown(name)}: leading zeros ({code}) mark codes, taken as categories; "
            f"if they are numbers, say so with {option('numeric', name)}"
        )
    return replace(column, notes=tuple(said))


def _may_be_numbers(words: tuple[str, ...]) -> bool:
    return any(word[:1].isdigit() or word[:2].lstrip("+-.,")[:1].isdigit() for word in words)


def _have_zeros_ahead(words: tuple[str, ...]) -> bool:
    """Tell whether words are codes such as postcodes: digits alone, and in some a zero ahead."""
    digits = all(word.isdigit() or word.casefold() in ABSENT for word in words)
    return digits and any(CODE.fullmatch(word) for word in words)


def _made_of_words(column: Column, parsed: Parsed, numeric: bool, others: int) -> Column:
    """Return the numbers that the words of a column are, or the refusal that names the first that is none."""
    name, codes = column.name, np.asarray(column.codes)
    wrong = np.append(parsed.wrong, False)
    if parsed.wrong.any():
        row = int(wrong[codes].argmax())
        more = f" and {counted(others - 1, 'other value')}" if others > 1 else ""
        reason = f"holds numbers, but {shown(column.value(row))} in row {row + 1}{more}"
        if parsed.wrong.all():
            reason = f"holds words ({shown(column.value(row))}) and no numbers"
        advice = (
            "mend the value or leave the cell empty, or treat the column "
            f"as categories with {option('categorical', name)}"
        )
        return replace(column, kind="mixed", refusal=f"{shown(name)} {reason}: {advice}")
    numbers, said = read_words(name, codes, column.words, parsed)
    return _number(name, numbers, numeric, said)


def read_words(
    name: str, codes: NDArray[np.int64], words: tuple[str, ...], parsed: Parsed
) -> tuple[Vector, tuple[str, ...]]:
    """Return the numbers that the words of a column are in each row, and what is said of them.

    Examples
    --------
    >>> read_words("x", np.array([0, 1, -1]), ("1,5", "nil"), parse_words(["1,5", "nil"]))[1]
    ('x: numbers with decimal commas', 'x: nil read as missing in 1 row')
    """
    said = [] if parsed.note is None else [f"{shown(name)}: numbers with {parsed.note}"]
    for word in parsed.absent:
        times = int((codes == words.index(word)).sum())
        said.append(f"{shown(name)}: {shown(word)} read as missing in {counted(times, 'row')}")
    return np.append(parsed.values, np.nan)[codes], tuple(said)


def _unusable(name: str, words: tuple[str, ...], known: int) -> Column | None:
    """Refuse words that say who a row is, or that nobody but a person can read."""
    different = len(words)
    length = sum(map(len, words)) / different
    spaces = sum(word.count(" ") for word in words) / different
    advice = _either(name, "categorical", "category")
    codes = _have_zeros_ahead(words)
    if codes:
        advice += f", or if it is a number, with {option('numeric', name)}"
    if (
        not codes
        and different > 20
        and sum(MEASURED.fullmatch(word) is not None for word in words) > 0.9 * different
    ):
        reason = f"holds numbers with signs or units beside them ({shown(words[0])})"
        mend = f"take these off in the table, or leave the column out with {option('drop', name)}"
        return _refused(name, "mixed", reason, mend)
    if different > 20 and different > 0.3 * known and (length > 30 or spaces >= 4):
        return _refused(name, "text", f"holds free text ({shown(words[0])})", advice)
    if (different == known and known >= FEW_ROWS) or (different > 20 and different > 0.5 * known):
        reason = (
            f"has {different:,} different words in {counted(known, 'row')}, "
            f"so it names the rows ({shown(words[0])})"
        )
        return _refused(name, "identifier", reason, advice)
    return None


def _either(name: str, kind: str, thing: str) -> str:
    return (
        f"leave it out with {option('drop', name)}, or if it is a {thing}, say so with {option(kind, name)}"
    )


def _date(name: str, example: str) -> Column:
    advice = (
        f"make a number of it (days since a day, month, hour), or leave it out with {option('drop', name)}"
    )
    return _refused(name, "date", f"holds dates or times ({example})", advice)


def _refused(name: str, kind: str, reason: str, advice: str, numbers: Vector | None = None) -> Column:
    return Column(name, kind, numbers=numbers, refusal=f"{shown(name)} {reason}: {advice}")
