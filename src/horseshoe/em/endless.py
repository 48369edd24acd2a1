"""Columns that are not shrunk and have no finite estimate: nothing holds them, and no fit can wait."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Status, Vector
from horseshoe.data.adjusted import Free

DRIFT = 0.01
"""What has no finite estimate is followed until it grows by less than this share of itself in a step."""
DIGITS = 12
"""Of columns that were rotated and brought back, behind the point: rounding must not break a tie."""


class Endless:
    """What is known of coefficients that only grow: those of columns that tell all rows apart alone.

    Parameters
    ----------
    family : Family
        The family.
    y : array of shape (n,)
        The response.
    free : Free or None
        What is not shrunk, beside an intercept.

    Examples
    --------
    >>> from horseshoe.families import Binomial
    >>> basis = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> free = Free(basis, np.eye(1), np.zeros((1, 0)), np.zeros(1), 4.0, np.zeros(1))
    >>> Endless(Binomial(), np.array([0.0, 0.0, 1.0, 1.0]), free).remark.name
    'SEPARATED'
    """

    def __init__(self, family: Any, y: Vector, free: Free | None) -> None:
        self._family, self._y, self._free = family, y, free

    @lazy
    def _columns(self) -> list[Vector]:
        """The columns that are always in, up and down."""
        if self._free is None:
            return []
        each = np.linalg.solve(self._free.turn.T, self._free.basis.T)
        each = np.round(each / np.abs(each).max(axis=1, keepdims=True), DIGITS)
        return [*each, *-each]

    @lazy
    def remark(self) -> Status | None:
        """What is to be said of a column that is always in and tells all rows apart."""
        said = (self._family.remark(self._y, column) for column in self._columns)
        return next((status for status in said if status is not None), None)

    @lazy
    def _surely(self) -> bool:
        """Whether one of the columns has no finite estimate, whatever the fit is."""
        return any(self._family.is_endless(self._y, column) for column in self._columns)

    def left(self, moved: float, alone: Any) -> float:
        """Return by how much what is not shrunk still moves, less what goes on for ever.

        ``alone`` is its part of the linear predictor.
        """
        if self._free is None or moved >= DRIFT:
            return moved
        return 0.0 if self._surely or self._family.is_endless(self._y, alone) else moved
