"""Missing values: counted, left out, or filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from horseshoe._types import Mask
from horseshoe.intake.kinds import Column
from horseshoe.intake.messages import TableError, counted, shown

WORST = 10
WAYS = ("error", "drop", "median")


def gaps_error(gaps: Mapping[str, Mask], advice: str) -> TableError:
    """Return the error that counts the missing values of each column, the worst first.

    Examples
    --------
    >>> print(gaps_error({"ca": np.array([True, False, True])}, "Mend them"))
    2 of 3 rows have missing values: ca (2, the first in row 1). Mend them
    """
    missing = np.logical_or.reduce(list(gaps.values()))
    worst = sorted(gaps, key=lambda name: -int(gaps[name].sum()))
    parts = [
        f"{shown(name)} ({int(gaps[name].sum())}, the first in row {int(gaps[name].argmax()) + 1})"
        for name in worst
    ]
    more = f" and {counted(len(parts) - WORST, 'more column')}" if len(parts) > WORST else ""
    rows = f"{int(missing.sum()):,} of {counted(missing.size, 'row')}"
    return TableError(f"{rows} have missing values: {', '.join(parts[:WORST])}{more}. {advice}")


def gaps_of(columns: Mapping[str, Column]) -> dict[str, Mask]:
    """Return where values are missing, for the columns in which some are.

    Examples
    --------
    >>> gaps_of({"a": Column("a", "number", np.array([1.0, np.nan]))})
    {'a': array([False,  True])}
    """
    gaps = {name: column.missing for name, column in columns.items()}
    return {name: gap for name, gap in gaps.items() if gap.any()}


def whole_rows(gaps: Mapping[str, Mask], rows: int) -> Mask:
    """Return the rows in which nothing is missing.

    Examples
    --------
    >>> whole_rows({"a": np.array([False, True])}, 2)
    array([ True, False])
    """
    kept = np.ones(rows, dtype=bool)
    for gap in gaps.values():
        kept &= ~gap
    return kept


def typical(column: Column) -> float | str:
    """Return what fills the gaps of a column: the median of numbers, or the most frequent word.

    Examples
    --------
    >>> typical(Column("a", "number", np.array([1.0, 2.0, 9.0, np.nan])))
    2.0
    """
    if column.numbers is not None and column.kind == "truth":
        return float(np.nanmean(column.numbers) > 0.5)
    if column.numbers is not None:
        return float(np.nanmedian(column.numbers))
    codes = np.asarray(column.codes)
    return column.words[int(np.bincount(codes[codes >= 0], minlength=len(column.words)).argmax())]


def filled(column: Column, fill: float | str) -> Column:
    """Return the column with its gaps filled.

    Examples
    --------
    >>> filled(Column("a", "number", np.array([1.0, np.nan])), 3.0).numbers
    array([1., 3.])
    """
    if column.numbers is not None:
        return replace(column, numbers=np.where(column.missing, fill, column.numbers))
    return replace(
        column, codes=np.where(column.missing, column.words.index(str(fill)), np.asarray(column.codes))
    )
