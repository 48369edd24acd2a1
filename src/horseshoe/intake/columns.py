"""Columns as a fit takes them: by name, usable, with the levels it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Vector
from horseshoe.intake.design import Design
from horseshoe.intake.kinds import Column, describe_columns
from horseshoe.intake.messages import TableError, counted, listed, near, shown
from horseshoe.intake.patterns import PAIRS


@dataclass(frozen=True)
class Ingredient:
    """A column of the table: the levels of a category, the reference first, and what fills its gaps."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: float | str | None = None


def describe_as_fitted(frame: Any, ingredients: Iterable[Ingredient]) -> dict[str, Column]:
    """Return the columns of a frame as the kinds they had in the fit, or refuse all that are not.

    Examples
    --------
    >>> import pandas
    >>> describe_as_fitted(pandas.DataFrame({"a": ["1", "x"]}), [Ingredient("a", "number")])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: a holds numbers, but x in row 2: ...
    """
    ingredients = list(ingredients)
    words = {each.name for each in ingredients if each.levels}
    columns = describe_columns(
        frame, [each.name for each in ingredients], words, {each.name for each in ingredients} - words
    )
    wrong = [column for column in columns.values() if column.refusal]
    if wrong:  # the fit has settled what the column is, so other kinds are no way out
        check_usable(replace(column, refusal=_settled(str(column.refusal))) for column in wrong)
    return {name: _as_numbers(column) if name not in words else column for name, column in columns.items()}


def _settled(refusal: str) -> str:
    reason = refusal.rpartition(": ")[0]
    words = reason.endswith(") and no numbers")
    return f"{reason}: {'numbers are needed there' if words else 'mend the value, or leave the cell empty'}"


def _as_numbers(column: Column) -> Column:
    """Return a column without any value as numbers, which all are missing."""
    empty = column.numbers is None
    return Column(column.name, "empty", numbers=np.full(column.missing.size, np.nan)) if empty else column


def check_usable(columns: Iterable[Column]) -> None:
    """Refuse columns that cannot be used as they are, all in one message.

    Examples
    --------
    >>> check_usable([Column("a", "number", np.ones(2))])
    """
    refused = [column.refusal for column in columns if column.refusal]
    if refused:
        more = [f"and {counted(len(refused) - 10, 'more column')} like these"] if len(refused) > 10 else []
        raise TableError("\n".join(refused[:10] + more))


def numbers_of(frame: Any, name: str) -> Column:
    """Return a column of weights, offsets or exposures, which has to be numbers.

    Examples
    --------
    >>> import pandas
    >>> numbers_of(pandas.DataFrame({"days": [1, 2]}), "days").numbers
    array([1., 2.])
    """
    return describe_as_fitted(frame, [Ingredient(name, "number")])[name]


def check_exposure(exposure: Column | None) -> None:
    """Refuse exposures that are not positive.

    Examples
    --------
    >>> check_exposure(Column("days", "number", np.array([1.0, 0.0])))
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: days is 0 in row 2: an exposure has to be positive
    """
    _check_sign(exposure, lambda numbers: numbers <= 0, "an exposure has to be positive")


def check_weights(weights: Column | None) -> None:
    """Refuse weights that are negative, or all 0.

    Examples
    --------
    >>> check_weights(Column("w", "number", np.array([1.0, -2.0])))
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: w is -2 in row 2: a weight is at least 0
    """
    _check_sign(weights, lambda numbers: numbers < 0, "a weight is at least 0")
    if weights is not None and not np.nansum(np.asarray(weights.numbers)):
        raise TableError(f"the weights in {shown(weights.name)} are all 0: no row would count")


def _check_sign(column: Column | None, wrong: Callable[[Vector], Any], wanted: str) -> None:
    if column is not None and wrong(np.asarray(column.numbers)).any():
        row = int(wrong(np.asarray(column.numbers)).argmax())
        raise TableError(f"{shown(column.name)} is {column.value(row)} in row {row + 1}: {wanted}")


def with_levels(column: Column, levels: tuple[str, ...]) -> Column:
    """Return a column of words with other codes: those of ``levels``, and -1 for what is not among them.

    Examples
    --------
    >>> with_levels(Column("sex", "category", codes=np.array([0, 1]), words=("f", "m")), ("m", "f")).codes
    array([1, 0])
    """
    place = {word: number for number, word in enumerate(levels)}
    new = np.array([*(place.get(word, -1) for word in column.words), -1], dtype=np.int64)
    return replace(column, codes=new[np.asarray(column.codes)], words=levels)


def as_truth(column: Column, levels: tuple[str, ...]) -> Column:
    """Return words for false and true as the fit knew them: another table may write yes, YES or 1.

    Examples
    --------
    >>> one = Column("ill", "category", codes=np.array([0, 1, 2]), words=("0", "YES", "no"))
    >>> as_truth(one, ("no", "yes")).words
    ('no', 'yes', 'no')
    """
    known = {level.casefold(): level for level in levels}
    same: dict[str, str] = {}
    for pair in PAIRS if len(levels) == 2 else ():
        if set(pair) == set(known):
            same = {"0": known[pair[0]], "1": known[pair[1]]}
    words = tuple(
        word if word in levels else known.get(word.casefold(), same.get(word, word)) for word in column.words
    )
    return replace(column, words=words)


def frame_of(design: Design, encoded: Sequence[str], index: Any) -> Any:
    """Return X as a frame with the encoded columns, in order.

    Examples
    --------
    >>> frame_of(Design(("a", "b"), np.eye(2), {}), ("b",), None).columns.tolist()
    ['b']
    """
    pandas = require("pandas", "cli")
    values = design.values
    if tuple(encoded) != design.names:
        places = {name: place for place, name in enumerate(design.names)}
        absent = [name for name in encoded if name not in places]
        if absent:
            raise TableError(f"the recipe makes no column {listed(absent)}, but the model has it")
        values = values[:, [places[name] for name in encoded]]
    return pandas.DataFrame(values, columns=list(encoded), index=index, copy=False)


def check_frame(frame: Any, used: list[str], aside: list[str | None]) -> list[str]:
    """Refuse a frame in which columns are missing; return a note of those that are not used.

    Examples
    --------
    >>> import pandas
    >>> check_frame(pandas.DataFrame({"a": [1], "b": [2], "y": [3]}), ["a"], ["y"])
    ['1 column not used by the model: b']
    """
    names = [str(each) for each in frame.columns]
    there, wanted = set(names), set(used)
    absent = [name for name in used if name not in there]
    if absent:
        guess = near(absent[0], [name for name in names if name not in wanted]) if len(absent) == 1 else ""
        if len(absent) > 1 and {name.casefold() for name in absent} <= {name.casefold() for name in names}:
            guess = "; the table writes them with other capitals: rename its columns"
        raise TableError(
            f"{counted(len(absent), 'column')} of the model {'is' if len(absent) == 1 else 'are'} "
            f"not in the table: {listed(absent, most=50)}{guess}"
        )
    twice = [name for name in used if names.count(name) > 1] if len(there) < len(names) else []
    if twice:
        raise TableError(f"{listed(twice)} stands more than once in the table: rename the columns")
    extra = [name for name in names if name not in wanted and name not in aside]
    return [f"{counted(len(extra), 'column')} not used by the model: {listed(extra)}"] if extra else []


def by_name(frame: Any) -> Any:
    """Return the frame with texts as the names of its columns.

    Examples
    --------
    >>> import pandas
    >>> by_name(pandas.DataFrame([[1, 2]])).columns.tolist()
    ['0', '1']
    """
    if all(type(name) is str for name in frame.columns):
        return frame
    return frame.set_axis([str(name) for name in frame.columns], axis=1)
