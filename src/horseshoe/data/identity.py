"""The normal means problem: X is the identity and is never formed."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe.data.dense import Dense


class Identity(Dense):
    """One column for each of ``n`` rows; a few of them, and whatever else is rarely asked, are an array.

    Examples
    --------
    >>> Identity(2).rmatvec(np.array([3.0, 4.0]))
    array([3., 4.])
    """

    orthogonal = True

    def __init__(self, n: int) -> None:
        self._n = n

    @property
    def _x(self) -> Any:
        return np.eye(self._n)

    @property
    def shape(self) -> tuple[int, int]:
        """As many columns as rows."""
        return self._n, self._n

    def matvec(self, coef: Any) -> Any:
        """Return b."""
        return coef

    def rmatvec(self, rows: Any) -> Any:
        """Return r."""
        return rows

    def squares(self, weights: Any = None) -> Any:
        """Return ones, or the weights."""
        return np.ones(self._n) if weights is None else weights
