"""Columns that give the target away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.intake.kinds import Column
from horseshoe.intake.leakage_by_chance import (
    by_chance,
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
    of = f"{what} {shown(target)}"
    found = _correlated(X, names, y, of) if y.dtype.kind == "f" else _telling(columns, y, of)
    many = counted(X.shape[1] if y.dtype.kind == "f" else len(columns), "column")
    return [
        f"{shown(name)} determines {shown(target)} ({why}), which is unlikely by chance among {many}: "
        f"if it is a copy or a consequence of {shown(target)}, drop it with {option('drop', name)}"
        for name, why in found[:10]
    ]


def _correlated(X: Matrix, names: Sequence[str], y: Vector, of: str) -> list[tuple[str, str]]:
    """Return the columns that nearly determine numbers, and how."""
    correlations = _correlations(X, y)
    close = np.flatnonzero(np.abs(correlations) > NEARLY)
    _refuse([names[j] for j in close.tolist() if np.array_equal(X[:, j], y)], of)
    return [
        (names[j], f"correlation {correlations[j]:.4f}")
        for j in close.tolist()
        if not by_chance(correlates_by_chance(float(correlations[j]), len(y)), 0.0, len(names))
    ]


def _telling(columns: Mapping[str, Column], y: Any, of: str) -> list[tuple[str, str]]:
    """Return the columns that nearly determine classes, and how."""
    _, labels = np.unique(y, return_inverse=True)
    found = {name: tells for name, column in columns.items() if (tells := _tells(column, labels)) is not None}
    _refuse(
        [name for name, one in found.items() if one.copies and not by_chance(one.null, 0.0, len(columns))], of
    )
    return [
        (name, f"its values separate the classes in {one.share:.2%} of {counted(len(y), 'row')}")
        for name, one in found.items()
        if not by_chance(one.null, one.marker, len(columns))
    ]


def _refuse(copies: list[str], of: str) -> None:
    if copies:
        drops = " ".join(option("drop", name) for name in copies[:10])
        verb = "is a copy" if len(copies) == 1 else "are copies"
        raise TableError(f"{listed(copies)} {verb} of the {of}: drop what is the answer itself, with {drops}")


def _correlations(X: Matrix, y: Vector) -> Vector:
    """Return the correlation of each column with y; 0 for constant ones."""
    centred = y - y.mean()
    norms = np.empty(X.shape[1])
    products = np.empty(X.shape[1])
    for j, column in enumerate(X.T):
        away = column - column.mean()
        norms[j], products[j] = np.sqrt(away @ away), away @ centred
    with np.errstate(invalid="ignore", divide="ignore"):
        found = products / norms / np.sqrt(centred @ centred)
    return np.where(np.isfinite(found), found, 0.0)


class _Tells(NamedTuple):
    """For which share of the rows a value tells the class, and whether each class has one value of its own.

    ``null`` and ``marker`` are the probabilities that a column without effect, or a strong marker, does so.
    """

    share: float
    copies: bool
    null: float
    marker: float


def _tells(column: Column, labels: Any) -> _Tells | None:
    """Return how well the values of a column tell the class, or None where they do not nearly do so.

    A number tells the class where it does not lie among those of another class.
    """
    counts = np.bincount(labels)
    if column.numbers is not None:
        values, codes = np.unique(column.numbers, return_inverse=True)
        if values.size > counts.size:
            order = _separated(column.numbers, labels, counts.size)
            if order is None:
                return None
            sizes = counts[order].tolist()
            return _Tells(1.0, False, separates_by_chance(sizes), marker_separates(sizes))
    else:
        codes = np.asarray(column.codes)
    if codes.max() + 1 > max(20, counts.size) or codes.max() + 1 > len(codes) / 5:
        return None  # so many levels say little of each
    table = np.zeros((codes.max() + 1, counts.size))
    np.add.at(table, (codes, labels), 1.0)
    table = table[table.sum(axis=1) > 0]
    wrong = len(labels) - int(table.max(axis=1).sum())
    if wrong >= (1.0 - NEARLY) * len(labels):
        return None
    null = tells_by_chance(counts.tolist(), len(table), wrong)
    copies = wrong == 0 and len(table) == counts.size
    return _Tells(1.0 - wrong / len(labels), copies, null, marker_tells(len(labels)))


def _separated(numbers: Vector, labels: Any, classes: int) -> list[int] | None:
    """Return the classes in the order of their ranges, or None where these overlap."""
    low, high = np.full(classes, np.inf), np.full(classes, -np.inf)
    np.minimum.at(low, labels, numbers)
    np.maximum.at(high, labels, numbers)
    order = np.argsort(low, kind="stable")
    return None if (high[order][:-1] >= low[order][1:]).any() else [int(each) for each in order]
