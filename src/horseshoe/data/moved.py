"""Columns kept as deviations from a point far away: no digit is lost where a mean is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Spread, varies
from horseshoe.data.dense import Dense


class Moved(Dense):
    """An array plus one row that is added to every row of it.

    Examples
    --------
    >>> x = Moved(np.array([[-1.0], [1.0]]), np.array([1e10]))
    >>> centred, found = x.standardised(None, center=True, scale=False)
    >>> centred.dense().ravel(), found.mean
    (array([-1.,  1.]), array([1.e+10]))
    """

    def __init__(self, deviations: Any, origin: Vector) -> None:
        self._deviations, self._origin = deviations, origin

    @property
    def _x(self) -> Any:
        return np.asfortranarray(self._deviations + self._origin)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, k = self._deviations.shape
        return int(n), int(k)

    def around(self, origin: Vector) -> Matrix:
        """Return the deviations from another point nearby."""
        return np.asarray(self._deviations + (self._origin - origin))

    def take(self, keep: Mask) -> Moved:
        """Return the columns in ``keep``."""
        return Moved(self._deviations.T[keep].T, self._origin[keep])

    def rows(self, which: Any) -> Moved:
        """Return some of the rows."""
        out = Moved(np.asfortranarray(self._deviations[which]), self._origin)
        out.names = self.names
        return out

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Dense, Spread]:
        """Return the columns that vary, centred and scaled: where they are to be centred, as deviations."""
        if not center:
            return super().standardised(weights, center, scale)
        part, found = Dense(self._deviations).standardised(weights, center, scale)
        mean = found.mean + self._origin
        moves = varies(found.spread, mean, self.shape[0])
        if not moves[found.varies].all():
            part = part.take(moves[found.varies])
        return part, Spread(mean, found.spread, moves & found.varies)

    def dense(self) -> Matrix:
        """Return the array."""
        return np.asarray(self._x)

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return the array."""
        return (self._x,)
