"""Columns that give the target away."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from farrier._types import Matrix, Vector
from farrier.intake.kinds import Column
from farrier.intake.words import TableError, listed, option, shown
from farrier.threads import one_thread

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

    ``what`` is what the target is called in messages.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    >>> print(*find_leaks({}, np.c_[2 * y + 1.0, y[::-1]], ("double", "other"), y, "y"))
    double determines y (correlation 1.0000), as only a copy or a consequence of it would: if so, ...
    """
    if len(y) < FEW_ROWS:
        return []
    if y.dtype.kind == "f":
        correlations = _correlations(X, y)
        close = np.flatnonzero(np.abs(correlations) > NEARLY)
        _refuse([names[j] for j in close if np.array_equal(X[:, j], y)], f"{what} {shown(target)}")
        found = [(names[j], f"correlation {correlations[j]:.4f}") for j in close]
    else:
        _, labels = np.unique(y, return_inverse=True)
        shares = {name: _share(column, labels) for name, column in columns.items()}
        _refuse(
            [name for name, (share, same) in shares.items() if share == 1.0 and same],
            f"{what} {shown(target)}",
        )
        found = [
            (name, f"its values tell the class in {share:.2%} of the rows")
            for name, (share, _) in shares.items()
            if share > NEARLY
        ]
    return [
        f"{shown(name)} determines {shown(target)} ({why}), as only a copy or a consequence of it would: "
        f"if so, leave it out with {option('drop', name)}"
        for name, why in found[:10]
    ]


def _refuse(copies: list[str], of: str) -> None:
    if copies:
        drops = " ".join(option("drop", name) for name in copies[:10])
        verb = "is a copy" if len(copies) == 1 else "are copies"
        raise TableError(
            f"{listed(copies)} {verb} of the {of}: leave out what is the answer itself, with {drops}"
        )


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


def _share(column: Column, labels: Any) -> tuple[float, bool]:
    """Return for how many rows, as a part, the value tells the class, and whether each class has one value.

    A number tells the class where it does not lie among those of another class.
    """
    classes = int(labels.max()) + 1
    if column.numbers is not None:
        values, codes = np.unique(column.numbers, return_inverse=True)
        if values.size > classes:
            return _separated(column.numbers, labels, classes), False
    else:
        codes = np.asarray(column.codes)
    if codes.max() + 1 > max(20, classes) or codes.max() + 1 > len(codes) / 5:
        return 0.0, False  # so many levels say little of each
    table = np.zeros((codes.max() + 1, classes))
    np.add.at(table, (codes, labels), 1.0)
    table = table[table.sum(axis=1) > 0]
    return float(table.max(axis=1).sum() / len(labels)), len(table) == classes


def _separated(numbers: Vector, labels: Any, classes: int) -> float:
    """Return 1 if the ranges of the classes do not overlap; 0 otherwise."""
    ranges = sorted((numbers[labels == each].min(), numbers[labels == each].max()) for each in range(classes))
    return float(all(before[1] < after[0] for before, after in pairwise(ranges)))
