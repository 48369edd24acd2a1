"""Complete separation: unpenalised columns whose maximum-likelihood estimate is infinite."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Status, Vector
from horseshoe.data.adjusted import Free

# A diverging coefficient is followed until it grows by less than this share of itself in a step.
DRIFT = 0.01
# Decimals of columns that were rotated and rotated back: rounding must not break a tie.
DIGITS = 12


class Separation:
    """Detects unpenalised columns that separate the data completely, so that their coefficients diverge.

    Parameters
    ----------
    family : Family
        The family.
    y : array of shape (n,)
        The response.
    free : Free or None
        The unpenalised columns, if there are any beside an intercept.

    Examples
    --------
    >>> from horseshoe.families import Binomial
    >>> basis = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> free = Free(basis, np.eye(1), np.zeros((1, 0)), np.zeros(1), 4.0, np.zeros(1))
    >>> Separation(Binomial(), np.array([0.0, 0.0, 1.0, 1.0]), free).status.name
    'SEPARATED'
    """

    def __init__(self, family: Any, y: Vector, free: Free | None) -> None:
        self._family, self._y, self._free = family, y, free

    @lazy
    def _directions(self) -> list[Vector]:
        """The unpenalised columns, with either sign."""
        if self._free is None:
            return []
        each = np.linalg.solve(self._free.turn.T, self._free.basis.T)
        each = np.round(each / np.abs(each).max(axis=1, keepdims=True), DIGITS)
        return [*each, *-each]

    @lazy
    def status(self) -> Status | None:
        """The status of a fit with a column that separates all rows; None without one."""
        each = (self._family.remark(self._y, column) for column in self._directions)
        return next((status for status in each if status is not None), None)

    @lazy
    def _always_diverges(self) -> bool:
        """Whether one of the columns has no finite estimate, whatever the fit is."""
        return any(self._family.is_unbounded_along(self._y, column) for column in self._directions)

    def finite_change(self, change: float, unpenalized_eta: Any) -> float:
        """Return the change of the unpenalised coefficients, ignoring slowly diverging ones.

        ``unpenalized_eta`` is their part of the linear predictor.
        """
        if self._free is None or change >= DRIFT:
            return change
        diverges = self._always_diverges or self._family.is_unbounded_along(self._y, unpenalized_eta)
        return 0.0 if diverges else change
