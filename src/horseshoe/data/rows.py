"""The data of a fit, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.view import View


class Rows(NamedTuple):
    """X, y, weights and offset; every row has a positive weight.

    ``number`` says which of the user's ``given`` rows they are; None if they are all of them, or what all of
    them come to. ``level`` is what was taken off every y, so that none of its digits is lost.
    """

    columns: View
    y: Vector
    weights: Vector | None
    offset: Vector
    number: Any = None
    given: int | None = None
    level: float = 0.0

    @property
    def counts(self) -> Vector:
        """The weights, as numbers."""
        return np.ones_like(self.y) if self.weights is None else self.weights

    @property
    def n_seen(self) -> int:
        """How many of the user's rows they are or stand for."""
        return self.y.size if self.given is None or self.number is not None else self.given

    def repeated(self) -> Rows:
        """Return each row as often as its weight, a whole number, says."""
        if self.weights is None:
            return self
        again = np.repeat(np.arange(self.y.size), self.weights.astype(int))
        number = again if self.number is None else self.number[again]
        return Rows(self.columns.rows(again), self.y[again], None, self.offset[again], number)


def known_rows(columns: View, y: Vector, weights: Vector | None, offset: Vector | float) -> Rows:
    """Return the rows with a positive weight.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> known_rows(Dense(np.eye(3)), np.arange(3.0), np.array([1.0, 0.0, 2.0]), 0.0).y
    array([0., 2.])
    """
    rows = Rows(columns, y, weights, np.zeros_like(y) + offset)
    if weights is not None and not weights.all():
        counted = weights > 0
        number = np.flatnonzero(counted)
        rows = Rows(columns.rows(counted), y[counted], weights[counted], rows.offset[counted], number, y.size)
    n = rows.y.size
    if n < 2:
        raise ValueError(
            f"Found {n} sample (n_samples={n}) with a positive weight, "
            "but at least two rows are needed to fit a regression"
        )
    return rows
