"""The coefficients of several chains at once, each given its own scales: the batched form of `Primal`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from horseshoe._types import Matrix, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.linalg import cholesky

# A quadratic form below this share of z'z is not taken from a difference.
CANCELS = 1e-3
# Elements of the stacked matrices of the chains that are worked on at once.
STACK = 40_000


class Batch:
    """For k <= n; ``left_over`` is what the targets have beside the compressed problem.

    With D = diag(root^2) and B = I + D^1/2 X'X D^1/2 the coefficients are D^1/2 B^-1 times D^1/2 X'z +
    sigma (e + D^1/2 X'f), where e and f are standard normal: what is behind sigma has covariance B. Both
    terms are solved for at once.

    Parameters
    ----------
    problem : LeastSquares
        The data.
    root : array of shape (chains, k)
        sqrt(tau2) lambda of each chain.
    f, e : arrays of shape (chains, n) and (chains, k)
        Standard normal variates.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> none = np.zeros((1, 2))
    >>> Batch(plain(np.eye(2), np.array([4.0, 0.0])), np.ones((1, 2)), none, none).draw(np.ones(1))
    array([[2., 0.]])
    """

    def __init__(self, problem: LeastSquares, root: Matrix, f: Any, e: Any) -> None:
        self._problem, self._root, self._pull = problem, root, root * problem.xz
        self._both = np.empty((len(root), 2, root.shape[1]))
        self._both[:, 0] = self._pull
        spread = root * (f[:, None, :] @ problem.columns.dense())[:, 0]
        spread += e
        self._both[:, 1] = spread
        self._solve()

    def quadratic(self, left_over: float, least: float) -> Vector:
        """Return z' M^-1 z + left_over for each chain; row by row where little is left of z'z."""
        problem, mean, total = self._problem, self._both[:, 0], self._problem.targets.zz + left_over
        quadratic = total - np.einsum("ij,ij->i", self._pull, mean)
        for chain in np.flatnonzero(quadratic < CANCELS * total):
            exact = problem.rss(self._root[chain] * mean[chain]) + mean[chain] @ mean[chain] + left_over
            quadratic[chain] = max(float(exact), least)
        return np.asarray(quadratic)

    def draw(self, sigma: Vector) -> Matrix:
        """Return the coefficients of each chain."""
        out = self._both[:, 1] * sigma[:, None]
        out += self._both[:, 0]
        out *= self._root
        return np.asarray(out)

    def _solve(self) -> None:
        """Turn each row v of ``both`` into B^-1 v."""
        gram, root, both, k = self._problem.gram, self._root, self._both, self._root.shape[1]
        several, solve = max(1, STACK // k**2), lapack.dposv
        for first in range(0, len(root), several):
            chains = slice(first, first + several)
            scaled = root[chains, :, None] * root[chains, None, :]
            scaled *= gram
            scaled.reshape(len(scaled), -1)[:, :: k + 1] += 1.0
            for matrix, rows in zip(scaled, both[chains], strict=True):
                _, solution, info = solve(matrix.T, rows.T, 1)
                if info != 0:  # rounding swallows the identity
                    solution = lapack.dpotrs(cholesky(matrix), rows.T, lower=1)[0]
                rows[:] = solution.T
