"""Values that stand for a missing one, such as -999: those that the user names, and those to ask about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.intake.kinds import Column, level, read_as_missing, words_of
from horseshoe.intake.messages import TableError, counted, figure, near, option, shown
from horseshoe.intake.patterns import FEW_ROWS

# Codes of at least two digits, of either sign: 99, 98, 999, 9999, 99.9, 888, ...
_NINES = [int("9" * size) for size in range(2, 8)]
LONG = np.array(
    [
        *_NINES, *(nines - 1 for nines in _NINES), *(nines - 2 for nines in _NINES),
        *(int(digit * size) for digit in "78" for size in range(3, 7)),
        *(nines / unit for nines in _NINES for unit in (10, 100) if nines > 9 * unit),
    ]
)  # fmt: skip

SHORT = np.array([-1.0, -7.0, -8.0, -9.0])
CODES = np.unique(np.concatenate([LONG, -LONG, SHORT]))


class Placeholder(NamedTuple):
    """A value that stands for a missing one, in one column or, without a name, in all of them."""

    column: str | None
    value: str


def split_named(text: str, names: Collection[str]) -> tuple[str | None, str]:
    """Return the column and the value that a text such as ``age=99`` names; a name may have a sign =, too.

    Examples
    --------
    >>> split_named("a=b=99", ["a=b"]), split_named("-999", ["a=b"])
    (('a=b', '99'), (None, '-999'))
    """
    ends = [place for place, letter in enumerate(text) if letter == "="]
    parts = ((text[:end], text[end + 1 :]) for end in ends)
    return next((part for part in parts if part[0] in names), (None, text))


def read_placeholders(
    texts: Iterable[str], names: Collection[str], table: str | None = None
) -> tuple[Placeholder, ...]:
    """Return the placeholders that texts such as ``-999`` and ``age=999`` name.

    A text that names no column is refused where ``table`` says of what; else it stands for itself.

    Examples
    --------
    >>> read_placeholders(["-999", "age=99"], ["age", "dose"])
    (Placeholder(column=None, value='-999'), Placeholder(column='age', value='99'))
    """
    found = []
    for text in texts:
        name, value = split_named(text, names)
        if name is None and "=" in text and table is not None:
            unknown = text.rpartition("=")[0]
            where = f"{shown(unknown)} is not a column of {table}{near(unknown, names)}"
            raise TableError(f"{option('missing-value', text)}: {where}")
        found.append(Placeholder(name, value.strip()))
    return tuple(found)


def without_placeholders(
    frame: Any, placeholders: Sequence[Placeholder], names: Iterable[str]
) -> tuple[Any, tuple[str, ...], set[Placeholder]]:
    """Return the frame with gaps in their place, what is said of that, and the placeholders that were found.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [31, 999, 28]})
    >>> frame, notes, _ = without_placeholders(frame, [Placeholder(None, "999")], ["age"])
    >>> frame["age"].tolist(), notes
    ([31.0, nan, 28.0], ('age: 999 read as missing in 1 row',))
    """
    changed, notes, found = dict[str, Any](), list[str](), set[Placeholder]()
    for name in dict.fromkeys(names) if placeholders else ():
        for one in placeholders:
            if one.column not in (None, name):
                continue
            series = changed.get(name, frame[name])
            there = _equal(series, one.value)
            if there.any():
                changed[name] = series.mask(there)
                notes.append(read_as_missing(name, one.value, int(there.sum())))
                found.add(one)
    return (frame.assign(**changed) if changed else frame), tuple(notes), found


def with_gaps(
    frame: Any, texts: Sequence[str], names: Collection[str], table: str
) -> tuple[Any, tuple[str, ...]]:
    """Return a frame without the placeholders that the user names, and notes; refuse one that is in no row.

    Examples
    --------
    >>> import pandas
    >>> with_gaps(pandas.DataFrame({"age": [31, 99]}), ["-99"], ["age"], "it")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: --missing-value -99: no row of it has that value in a column ...
    """
    placeholders = read_placeholders(texts, frame.columns, table)
    frame, notes, found = without_placeholders(frame, placeholders, names)
    for text, one in zip(texts, placeholders, strict=True):
        if one not in found:
            where = "a column that is used" if one.column is None else shown(one.column)
            raise TableError(f"{option('missing-value', text)}: no row of {table} has that value in {where}")
    return frame, notes


def _equal(series: Any, value: str) -> Mask:
    """Return where a column has a value, as a number or as a word."""
    if getattr(series.dtype, "kind", "O") in "iuf":
        try:
            number = float(value)
        except ValueError:
            return np.zeros(len(series), dtype=bool)
        return np.asarray(series.to_numpy(dtype=float, na_value=np.nan) == number)
    try:
        codes, words = words_of(series)
    except TypeError:  # nested values, which are refused where they are used
        return np.zeros(len(series), dtype=bool)
    same = [level(word) == level(value) for word in words]
    return np.append(np.array(same, dtype=bool), False)[codes]


def check_placeholders(columns: Iterable[Column], measured: Collection[str] = ()) -> None:
    """Ask about values that look like codes for a missing one; ``measured`` columns are taken at their word.

    Examples
    --------
    >>> ages = Column("age", "number", np.array([31.0, 999.0, 28.0, 45.0, 52.0, 39.0]))
    >>> check_placeholders([ages])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: age is 999 in 1 row (row 2), far from its other values (28 to ...
    """
    asked = [
        (column, codes)
        for column in columns
        if column.numbers is not None and column.name not in measured
        if (codes := find_codes(column.numbers)).size
    ]
    if not asked:
        return
    lines = [_question(column, codes) for column, codes in asked[:10]]
    if len(asked) > 10:
        lines.append(f"and {counted(len(asked) - 10, 'more column')} like these")
    several = {code for _, codes in asked for code in codes if sum(code in each for _, each in asked) > 1}
    if several:
        code = level(max(several, key=abs))
        lines.append(f"{option('missing-value', code)} without a column says so for all columns")
    raise TableError("\n".join(lines))


def _question(column: Column, codes: Vector) -> str:
    numbers = np.asarray(column.numbers)
    there = np.isin(numbers, codes)
    rest = numbers[~there & ~np.isnan(numbers)]
    rows = int(there.sum())
    first = int(there.argmax()) + 1
    where = f"row {first}" if rows == 1 else f"the first in row {first}"
    values = [level(code) for code in codes]
    ways = " ".join(option("missing-value", f"{column.name}={value}") for value in values)
    return (
        f"{shown(column.name)} is {' or '.join(values)} in {counted(rows, 'row')} ({where}), far from its "
        f"other values ({figure(rest.min())} to {figure(rest.max())}): if that stands for a missing value, "
        f"say so with {ways}; if it was measured, with {option('numeric', column.name)}"
    )


def find_codes(numbers: Vector) -> Vector:
    """Return the values among numbers that look like codes for a missing value.

    A code is made of nines (-999, 99, 99.9), or ends in 8 or 7 after nines, or is made of three eights or
    sevens at least, or is -1, -7, -8 or -9. Its distance from the other values has to be a multiple of their
    range:

    - above them, or below where they are negative too: 1 if it is there more than once, 2 if it is there once
      and of three nines at least (and far above them on a logarithmic scale too), 10 otherwise;
    - below them where they are not negative: any if it is there more than once or is of three nines at least,
      0.2 if it is -99, 10 otherwise;
    - -1 and -9 below others that are not negative: 1, or 0.2 if the others are at least 10; also -7 and -8 at
      any distance if they are there three times in a column of whole numbers (without zeros, for -1).

    Where one such value is found, all codes that are beyond the others by their range belong to it.

    Examples
    --------
    >>> find_codes(np.array([3.0, 1, 5, -999, 2, 4])), find_codes(np.array([310.0, 999, 450, 1200, 80, 730]))
    (array([-999.]), array([], dtype=float64))
    """
    known = numbers[np.isfinite(numbers)]
    if not known.size or not np.isin([known.min(), known.max()], CODES).any():
        return np.array([])
    codes, times = np.unique(known[np.isin(known, CODES)], return_counts=True)
    rest = known[~np.isin(known, codes)]
    if rest.size < FEW_ROWS:
        return np.array([])
    far = np.array([_far(float(code), int(number), rest) for code, number in zip(codes, times, strict=True)])
    low, high = float(rest.min()), float(rest.max())
    beyond = np.maximum(codes - high, low - codes) > high - low
    return np.asarray(codes[far | beyond if far.any() else far])


def _far(code: float, times: int, rest: Vector) -> bool:
    """Tell whether a code is far enough from the other values of its column."""
    low, high = float(rest.min()), float(rest.max())
    width = high - low
    if width == 0.0:  # a constant beside a code
        return abs(code) >= 10.0 * max(abs(low), 1.0)
    share = max(code - high, low - code) / width
    nines = set(f"{abs(code):g}") <= {"9", "."}
    clear = times > 1 or share > 10.0 or (nines and abs(code) >= 999.0)
    if code > 0.0 or low < 0.0:
        return (
            clear and share > (1.0 if times > 1 else 2.0) and (times > 1 or code < high or _leaps(code, rest))
        )
    if code <= -10.0:
        return clear or (nines and share > 0.2)
    often = times > 2 and bool((rest == np.round(rest)).all()) and (low > 0.0 or code < -1.0)
    return often or (code in (-1.0, -9.0) and share > (0.2 if low >= 10.0 else 1.0))


def _leaps(code: float, rest: Vector) -> bool:
    """Tell whether a large value is no next step of a long tail: on a logarithmic scale it is far, too."""
    middle, high = float(np.median(rest)), float(rest.max())
    if middle < 0.0:
        return True
    return bool(np.log((code + 1.0) / (high + 1.0)) > 0.5 * np.log((high + 1.0) / (middle + 1.0)))
