"""What rows tell of the coefficients where thresholds of ordered levels are estimated beside them.

With information W of each row about eta, C of the thresholds about themselves and B of both together, what
rows tell of eta when the thresholds are not known is

    P = W - B C^-1 B' = W^1/2 T T W^1/2,        T = I - U (1 - (1 - s^2)^1/2) U',

U and s the singular vectors and values of W^-1/2 B C^-1/2. The weighted centring of an intercept is its case
of one threshold. B has two entries a row, next to each other, and so C and B' W^-1 B have three diagonals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky_banded, svd
from scipy.linalg import solve_banded as solve_triangular

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.data.dense import Dense
from horseshoe.data.view import View
from horseshoe.linalg import solve_banded

# A share of the diagonal that keeps a matrix positive definite.
ROUNDING = 1e-14
# Entries of X that are looked at together.
BLOCK = 1 << 22


class ThresholdProfile:
    """P, where more than an intercept is estimated beside the coefficients: two thresholds or more.

    Parameters
    ----------
    weights : array of shape (n,)
        The diagonal W.
    levels : int array of shape (n,)
        The level of each row, from 0.
    above, below : arrays of shape (n,)
        What a row has of B, but for the sign, at the thresholds above and below its level.
    alone : array of shape (2, m)
        C: above the diagonal, and the diagonal.

    Examples
    --------
    >>> ends = np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.5, 1.0])
    >>> beside = ThresholdProfile(np.ones(3), np.arange(3), *ends, np.array([[0.0, -0.5], [2.0, 2.0]]))
    >>> beside.known(np.ones(3)).round(12) + 0.0  # nothing is known of the level
    array([0., 0., 0.])
    """

    def __init__(self, weights: Vector, levels: Any, above: Vector, below: Vector, alone: Matrix) -> None:
        n, m = weights.size, alone.shape[1]
        rows, up, down = np.arange(n), levels < m, levels > 0
        where = np.concatenate([rows[up], rows[down]]), np.concatenate([levels[up], levels[down] - 1])
        values = -np.concatenate([above[up], below[down]])
        self.joint = sparse.csr_array((values, where), shape=(n, m))
        self.weights, self.alone, self._root = weights, alone, np.sqrt(weights)

    def known(self, rows: Any) -> Any:
        """Return P times linear predictors."""
        return (self.weights * rows.T).T - self.joint @ solve_banded(self.alone, self.joint.T @ rows)

    @np.errstate(over="ignore", invalid="ignore")  # what nothing holds goes out of range, and is refused
    def reach(self, pull: Vector) -> Vector:
        """Return the step of eta, at the same level, from which P gives ``pull``, whose sum is zero.

        It is W^-1 (pull + B t) with (C - B' W^-1 B) t = B' W^-1 pull; of t only the differences matter.
        """
        band, over = self.alone.copy(), self.joint.multiply(1.0 / self.weights[:, None]).T.tocsr()
        inner = over @ self.joint
        band[1] -= inner.diagonal()
        band[0, 1:] -= inner.diagonal(1)
        t = np.zeros(band.shape[1])
        rest = np.ascontiguousarray(band[:, 1:])
        wanted = (over @ pull)[1:]
        t[1:] = solve_banded(rest, wanted)
        step = (pull + self.joint @ t) / self.weights
        return np.asarray(step - float(self.weights @ step) / float(self.weights.sum()))

    @lazy
    def _thin(self) -> tuple[Matrix, Vector]:
        """U, and 1 - (1 - s^2)^1/2."""
        upper = cholesky_banded(self.alone * np.array([[1.0], [1.0 + ROUNDING]]))
        lower = np.vstack([upper[1], np.append(upper[0, 1:], 0.0)])
        scaled = solve_triangular((1, 0), lower, (self.joint.T / self._root).toarray())
        vectors, values, _ = svd(scaled.T, full_matrices=False)
        values[0] = 1.0  # nothing is known of the level
        return vectors, 1.0 - np.sqrt(np.maximum(1.0 - values * values, 0.0))

    def turned(self, rows: Any) -> Any:
        """Return T times rows, or times several linear predictors."""
        vectors, shrunk = self._thin
        vectors = vectors.astype(rows.dtype, copy=False)
        inner = vectors.T @ rows
        return rows - vectors @ (inner * shrunk.astype(rows.dtype)[(...,) + (None,) * (inner.ndim - 1)])

    def weighted(self, columns: View) -> View:
        """Return T W^1/2 X, whose Gram matrix is X'PX."""
        parts = [self.turned(self._root.astype(part.dtype)[:, None] * part) for part in _blocks(columns)]
        return Dense(np.asfortranarray(np.hstack(parts)))

    def gram(self, columns: View) -> Matrix:
        """Return X'PX."""
        shared = self._shared(columns)
        return np.asarray(columns.gram(self.weights) - shared.T @ solve_banded(self.alone, shared))

    def _shared(self, columns: View) -> Matrix:
        """Return B'X."""
        if self.joint.shape[1] <= columns.shape[1]:
            return np.asarray(columns.rmatvec(self.joint.toarray())).T
        none = np.zeros((self.joint.shape[1], 0))
        return np.hstack([none, *(self.joint.T @ part for part in _blocks(columns))])

    def moved(self, columns: View) -> Matrix:
        """Return -C^-1 B'X: how the best thresholds move with the coefficients."""
        return np.asarray(-solve_banded(self.alone, self._shared(columns)))

    @property
    def variance(self) -> Vector:
        """The variances of the thresholds where the coefficients are known."""
        return np.asarray(solve_banded(self.alone, np.eye(self.alone.shape[1])).diagonal())


def _blocks(columns: View) -> Iterator[Matrix]:
    """Yield the columns, some at a time."""
    n, k = columns.shape
    size = max(1, BLOCK // n)
    for first in range(0, k, size):
        chosen = np.zeros(k, dtype=np.bool_)
        chosen[first : first + size] = True
        yield columns.take(chosen).dense()
