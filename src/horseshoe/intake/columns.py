"""Columns as a fit takes them: by name, usable, with the levels it knows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from horseshoe._extras import require
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
    fill: str | float | None = None

    @property
    def is_valid(self) -> bool:
        """Whether the levels go with the kind, and what fills gaps with the levels."""
        if self.kind not in ("number", "truth", "category") or len(set(self.levels)) < len(self.levels):
            return False
        if (self.kind == "number" and self.levels) or (self.kind == "category" and not self.levels):
            return False
        if self.levels:
            return self.fill is None or self.fill in self.levels
        return self.fill is None or (not isinstance(self.fill, str) and math.isfinite(self.fill))


def describe_as_fitted(frame: Any, ingredients: Iterable[Ingredient]) -> dict[str, Column]:
    """Return the columns of a frame as the kinds they had in the fit, or refuse all that are not.

    Examples
    --------
    >>> import pandas
    >>> describe_as_fitted(pandas.DataFrame({"a": ["1", "x"]}), [Ingredient("a", "number")])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: a holds numbers, but x in row 2: ...
    """
    words = {each.name: bool(each.levels) for each in ingredients}
    columns = describe_columns(
        frame, words, {name for name in words if words[name]}, {name for name in words if not words[name]}
    )
    # the fit has settled what a column is, so other kinds are no way out
    check_usable(replace(each, refusal=_as_fitted(each.refusal)) for each in columns.values() if each.refusal)
    for name, column in columns.items():
        if column.numbers is None and not words[name]:  # no values: numbers that are all missing
            columns[name] = Column(name, "empty", numbers=np.full(column.missing.size, np.nan))
    return columns


def _as_fitted(refusal: str) -> str:
    """Return why a column cannot be used, with the advice that helps with new rows."""
    reason = refusal.rpartition(": ")[0]
    words = reason.endswith(") and no numbers")
    return f"{reason}: {'numbers are needed there' if words else 'mend the value, or leave the cell empty'}"


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


def check_signs(roles: Mapping[str, Column]) -> None:
    """Refuse exposures that are not positive, and weights that are negative, or all 0.

    Examples
    --------
    >>> check_signs({"exposure": Column("days", "number", np.array([1.0, 0.0]))})
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: days is 0 in row 2: an exposure has to be positive
    """
    for role, allowed, needed in (
        ("weights", np.greater_equal, "a weight is at least 0"),
        ("exposure", np.greater, "an exposure has to be positive"),
    ):
        numbers = np.asarray(roles[role].numbers) if role in roles else np.ones(1)
        wrong = ~(allowed(numbers, 0.0) | np.isnan(numbers))
        if wrong.any():
            raise TableError(f"{roles[role].first(wrong)}: {needed}")
        if not np.nansum(numbers) and role == "weights":
            raise TableError(f"the weights in {shown(roles[role].name)} are all 0: no row would count")


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
    for pair in PAIRS:
        if set(pair) == set(known):
            known |= {"0": known[pair[0]], "1": known[pair[1]]}
    words = (word if word in levels else known.get(word.casefold(), word) for word in column.words)
    return replace(column, words=tuple(words))


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


def check_frame(frame: Any, used: Sequence[str], aside: Sequence[str | None]) -> list[str]:
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
        many = f"{counted(len(absent), 'column')} of the model {'is' if len(absent) == 1 else 'are'}"
        raise TableError(f"{many} not in the table: {listed(absent, most=50)}{guess}")
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
    return frame if all(type(name) is str for name in frame.columns) else frame.rename(columns=str)
