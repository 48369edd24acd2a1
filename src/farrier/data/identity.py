"""The normal means problem: X is the identity and is never formed."""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier._types import Mask, Matrix, Vector
from farrier.data.columns import Columns, Compressed, Scaled, Spread


class Identity:
    """One column for each of ``n`` rows: what is asked of orthogonal columns, and no more.

    Examples
    --------
    >>> Identity(2).rmatvec(np.array([3.0, 4.0]))
    array([3., 4.])
    """

    def __init__(self, n: int) -> None:
        self.shape = (n, n)

    def matvec(self, coef: Any) -> Any:
        """Return b."""
        return coef

    def rmatvec(self, rows: Any) -> Any:
        """Return r."""
        return rows

    def squares(self) -> Vector:
        """Return ones."""
        return np.ones(self.shape[0])

    def dense(self) -> Matrix:
        """Return the identity matrix."""
        return np.eye(self.shape[0])

    def take(self, keep: Mask) -> Columns:
        """Return a few of the columns, which are an array then."""
        from farrier.data.dense import Dense

        return Dense(np.asfortranarray(self.dense()[:, keep]))
