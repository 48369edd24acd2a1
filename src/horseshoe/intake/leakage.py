"""Columns that give the target away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.intake.kinds import Column
from horseshoe.intake.leakage_by_chance import (
    MARKERS,
    UNLIKELY,
    correlates_by_chance,
    marker_separates,
    marker_tells,
    separates_by_chance,
    tells_by_chance,
)
from horseshoe.intake.messages import TableError, counted, listed, option, shown
from horseshoe.threads import one_thread

NEARLY = 0.999
FEW_ROWS = 5


@one_thread()
def find_leaks(
    columns: Mapping[str, Column],
    X: Matrix,
    names: tuple[str, ...],
    y: Any,
    target: str,
    what: str = "target",
) -> list[str]:
    """Refuse copies of the target; return a warning of columns that nearly determine it.

    Nothing is said where some column is likely to do so by chance: the best of thousands of columns often
    separates the classes of a few dozen rows. ``what`` is what the target is called in messages.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    >>> print(*find_leaks({}, np.c_[2 * y + 1.0, y[::-1]], ("double", "other"), y, "y"))
    double determines y (correlation 1.0000), which is unlikely by chance among 2 columns: if it is ...
    """
    if len(y) < FEW_ROWS:
        return []
    numeric = y.dtype.kind == "f"
    determined = _correlated(X, names, y) if numeric else _separating(columns, y)
    many = X.shape[1] if numeric else len(columns)
    found = [each for each in determined if many * (each.null + MARKERS * each.marker) < UNLIKELY]
    copies = [each.name for each in determined if each.copies and (numeric or many * each.null < UNLIKELY)]
    if copies:
        drops = " ".join(option("drop", name) for name in copies[:10])
        verb = "is a copy" if len(copies) == 1 else "are copies"
        of = f"{what} {shown(target)}"
        raise TableError(f"{listed(copies)} {verb} of the {of}: drop what is the answer itself, with {drops}")
    unlikely = f"which is unlikely by chance among {counted(many, 'column')}"
    return [
        f"{shown(each.name)} determines {shown(target)} ({each.how}), {unlikely}: if it is a copy or a "
        f"consequence of {shown(target)}, drop it with {option('drop', each.name)}"
        for each in found[:10]
    ]


class _Determined(NamedTuple):
    """A column that nearly determines the target, how, and whether it is a copy.

    ``null`` and ``marker`` are the probabilities that a column without effect, or a strong marker, does so.
    """

    name: str
    how: str
    copies: bool
    null: float
    marker: float = 0.0


def _correlated(X: Matrix, names: Sequence[str], y: Vector) -> list[_Determined]:
    """Return the columns that nearly determine numbers."""
    correlations = _correlations(X, y)
    return [
        _Determined(
            names[j],
            f"correlation {correlations[j]:.4f}",
            np.array_equal(X[:, j], y),
            correlates_by_chance(float(correlations[j]), len(y)),
        )
        for j in np.flatnonzero(np.abs(correlations) > NEARLY).tolist()
    ]


def _correlations(X: Matrix, y: Vector) -> Vector:
    """Return the correlation of each column with y; 0 for constant ones."""
    centred = y - y.mean()
    found = np.zeros(X.shape[1])
    for j, column in enumerate(X.T):  # no second X is made
        away = column - column.mean()
        with np.errstate(invalid="ignore", divide="ignore"):
            found[j] = away @ centred / np.sqrt(away @ away) / np.sqrt(centred @ centred)
    return np.where(np.isfinite(found), found, 0.0)


def _separating(columns: Mapping[str, Column], y: Any) -> list[_Determined]:
    """Return the columns that nearly determine classes."""
    _, labels = np.unique(y, return_inverse=True)
    found = (_separates(column, labels) for column in columns.values())
    return [each for each in found if each is not None]


def _separates(column: Column, labels: Any) -> _Determined | None:
    """Return how well the values of a column tell the class, or None where they do not nearly do so.

    A number tells the class where it does not lie among those of another class.
    """
    counts, rows = np.bincount(labels), len(labels)
    how = "its values separate the classes in {:.2%} of " + counted(rows, "row")
    if column.numbers is not None:
        values, codes = np.unique(column.numbers, return_inverse=True)
        if values.size > counts.size:
            order = _separated(column.numbers, labels, counts.size)
            if order is None:
                return None
            sizes = counts[order].tolist()
            chances = separates_by_chance(sizes), marker_separates(sizes)
            return _Determined(column.name, how.format(1.0), False, *chances)
    else:
        codes = np.asarray(column.codes)
    levels = codes.max() + 1
    if levels > max(20, counts.size) or levels > rows / 5:
        return None  # so many levels say little of each
    table = np.zeros((levels, counts.size))
    np.add.at(table, (codes, labels), 1.0)
    table = table[table.sum(axis=1) > 0]
    wrong = rows - int(table.max(axis=1).sum())
    if wrong >= (1.0 - NEARLY) * rows:
        return None
    copies = wrong == 0 and len(table) == counts.size
    null = tells_by_chance(counts.tolist(), len(table), wrong)
    return _Determined(column.name, how.format(1.0 - wrong / rows), copies, null, marker_tells(rows))


def _separated(numbers: Vector, labels: Any, classes: int) -> list[int] | None:
    """Return the classes in the order of their ranges, or None where these overlap."""
    low, high = np.full(classes, np.inf), np.full(classes, -np.inf)
    np.minimum.at(low, labels, numbers)
    np.maximum.at(high, labels, numbers)
    order = np.argsort(low, kind="stable")
    return None if (high[order][:-1] >= low[order][1:]).any() else [int(each) for each in order]
