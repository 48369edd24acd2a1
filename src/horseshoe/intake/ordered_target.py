"""Ordered levels that are words: which of them is above which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from horseshoe.families.ordinal import Ordinal
from horseshoe.intake.kinds import Column, describe_columns, level
from horseshoe.intake.messages import TableError, listed, near, shown
from horseshoe.intake.target import Target

MOST_LEVELS = 50


def split_levels(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the levels of a command line: one text with commas, or one text each where words have commas.

    Examples
    --------
    >>> split_levels(["low, middle,high"]), split_levels(["no", "yes, often"])
    (('low', 'middle', 'high'), ('no', 'yes, often'))
    """
    if not given:
        return None
    return tuple(word.strip() for word in given[0].split(",")) if len(given) == 1 else tuple(given)


def order_of(frame: Any, name: str) -> tuple[str, ...] | None:
    """Return the order that a column has of itself: that of an ordered categorical of Parquet or Feather.

    Examples
    --------
    >>> import pandas
    >>> order_of(pandas.DataFrame({"pain": pandas.Categorical(["a"], ["b", "a"], ordered=True)}), "pain")
    ('b', 'a')
    """
    kind = frame[name].dtype
    return tuple(level(each) for each in kind.categories) if getattr(kind, "ordered", False) else None


def read_levels(frame: Any, name: str, order: Sequence[str]) -> Column:
    """Return a target of ordered levels as words; refuse an order that does not name them all.

    Examples
    --------
    >>> import pandas
    >>> read_levels(pandas.DataFrame({"pain": ["low", "hgih"]}), "pain", ["low", "high"])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: levels: pain is hgih in row 2: did you mean high? ...
    """
    if len(order) < 2 or len(set(order)) < len(order) or not all(order):
        raise TableError(
            f"levels: {listed(order)} must be two or more different words, from the lowest to the highest"
        )
    if len(order) > MOST_LEVELS:
        raise TableError(f"levels: {len(order)} of them; at most {MOST_LEVELS} words are put in order")
    column = describe_columns(frame, [name], categorical=[name])[name]
    if column.kind == "empty":
        raise TableError(f"the target {shown(name)} has no values: name another column")
    unknown = [place for place, word in enumerate(column.words) if word not in order]
    if unknown:
        wrong = np.isin(np.asarray(column.codes), unknown)
        hint = near(column.value(int(wrong.argmax())), order) or ":"
        raise TableError(f"levels: {column.first(wrong)}{hint} {listed(order)} were named")
    return column


def settle_levels(column: Column, order: Sequence[str]) -> Target:
    """Return the levels of the rows kept, and what is said of them.

    Examples
    --------
    >>> column = Column("pain", "category", codes=np.array([1, 0, 1]), words=("low", "high"))
    >>> settle_levels(column, ["low", "high"]).notes
    ('pain has 2 ordered levels, low < high',)
    """
    y = column.values
    absent = [word for word in order if word not in set(y.tolist())]
    if absent:
        them = "it" if len(absent) == 1 else "them"
        raise TableError(
            f"levels: no row that is left has {shown(column.name)} at {listed(absent)}: leave {them} out of "
            "the levels"
        )
    note = f"{shown(column.name)} has {len(order)} ordered levels, {' < '.join(map(shown, order))}"
    return Target(y, "ordinal", (), (note,), Ordinal(levels=tuple(order)))
