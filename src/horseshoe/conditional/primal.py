"""Rue's algorithm, for k <= n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from horseshoe._lazy import lazy
from horseshoe._types import Covariance, Mask, Matrix, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.linalg import add_identity, cholesky, log_det, triangle, triangular_inverse

# A pivot this much smaller than its place in B has lost half its digits: a row that outweighs all others does
# that to weights that move. Then B is factorised by the rows, which loses half as many.
CANCELS = 1e8


class PrimalKernel:
    """D^1/2 X'X D^1/2, for all values of tau2.

    ``gram`` and ``xz`` stand for X'X and X'z where something else than the data has a say in them.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> PrimalKernel(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2)).at(tau2=3.0).mean
    array([3., 0.])
    """

    def __init__(
        self,
        problem: LeastSquares,
        prior_variance: Vector,
        gram: Matrix | None = None,
        xz: Vector | None = None,
    ) -> None:
        self._problem, self._root = problem, np.sqrt(prior_variance)
        self._gram = problem.gram if gram is None else gram
        self._xz = problem.xz if xz is None else xz
        self._by_rows = gram is None and problem.targets.weights is not None

    @lazy
    def _kernel(self) -> Matrix:
        return self._with_identity(0.0)

    def _with_identity(self, times: float = 1.0) -> Matrix:
        """Return D^1/2 X'X D^1/2 plus a multiple of the identity."""
        scaled = self._gram * self._root
        scaled *= self._root[:, None]
        return np.asarray(add_identity(scaled, times))

    def at(self, tau2: float) -> Primal:
        """Return the coefficients at one value of tau2."""
        root, kernel = np.sqrt(tau2) * self._root, self._kernel
        return Primal(self._problem, root, lambda: add_identity(kernel * tau2), self._xz, self._by_rows)

    def once(self) -> Primal:
        """Return the coefficients at tau2 = 1, without a kernel to keep."""
        return Primal(self._problem, self._root, self._with_identity, self._xz, self._by_rows)


class Primal:
    """mean = D^1/2 B^-1 D^1/2 X'z, var_j = sigma2 d_j (B^-1)_jj, B = I + D^1/2 X'X D^1/2 (appendix C)."""

    def __init__(
        self,
        problem: LeastSquares,
        root: Vector,
        matrix: Callable[[], Matrix],
        xz: Vector,
        by_rows: bool = False,
    ) -> None:
        self._problem, self.root = problem, root
        self._factor = cholesky(matrix(), matrix)
        if by_rows and self._cancels():
            self._factor, self._shrunk = self._by_rows()
        else:
            self._shrunk = lapack.dpotrs(self._factor, root * xz, lower=1)[0]
        self.mean: Vector = root * self._shrunk

    def _cancels(self) -> bool:
        pivots = self._factor.diagonal()
        return bool(np.any(1.0 + self.root**2 * self._problem.squares > CANCELS * pivots * pivots))

    def _by_rows(self) -> tuple[Matrix, Vector]:
        """Return the factor of B and B^-1 D^1/2 X'z from QR = (X D^1/2, I), without B."""
        k, (x, z) = self.root.size, self._problem.triangle
        stack = np.vstack([np.column_stack([x * self.root, z]), np.eye(k, k + 1)])
        upper = triangle(stack)[:k]
        upper *= np.where(upper.diagonal() < 0.0, -1.0, 1.0)[:, None]
        factor = upper[:, :k].T
        return factor, lapack.dtrtrs(factor, upper[:, k], lower=1, trans=1)[0]

    @lazy
    def rss(self) -> float:
        """||z - X E[b]||^2."""
        return self._problem.rss(self.mean)

    @property
    def quadratic(self) -> float:
        """Z' M^-1 z; no cancellation this way."""
        return self.rss + float(self._shrunk @ self._shrunk)

    def mean_of(self, targets: Matrix) -> Matrix:
        """Return E[b] for each column of other targets, by the same factor."""
        return self.solve_for(np.asarray(self._problem.weighted.rmatvec(targets)))

    def solve_for(self, pull: Matrix) -> Matrix:
        """Return (X'X + D^-1)^-1 times each column of a matrix."""
        root = self.root[:, None]
        return np.asarray(root * lapack.dpotrs(self._factor, root * pull, lower=1)[0])

    @property
    def log_det(self) -> float:
        """Log det M = log det B."""
        return log_det(self._factor)

    @lazy
    def half(self) -> Matrix:
        """L^-1, B = L L'."""
        return np.asarray(triangular_inverse(self._factor))

    @lazy
    def _diagonal(self) -> Vector:
        return np.asarray(np.einsum("ij,ij->j", self.half, self.half))  # diag(B^-1)

    @property
    def fit_trace(self) -> float:
        """K - tr(B^-1)."""
        return self.root.size - float(np.add.reduce(self._diagonal))

    def variance(self) -> Vector:
        """Return Var[b_j] / sigma2."""
        return np.asarray(self.root * self.root * self._diagonal)

    def covariance(self, sigma2: float, of: Mask | None = None) -> Covariance:
        """Return Cov[b], of all or of some of the coefficients."""
        keep = slice(None) if of is None else of
        factor = np.sqrt(sigma2) * (self.half * self.root)[:, keep]
        return Covariance(np.zeros(factor.shape[1]), factor, 1.0)

    def draw(self, sigma: float, rng: np.random.Generator, n_draws: int | None = None) -> Any:
        """Draw mean + sigma D^1/2 L^-T e."""
        if n_draws is None:
            noise = rng.standard_normal(self.root.size)
            return self.mean + (sigma * self.root) * lapack.dtrtrs(self._factor, noise, lower=1, trans=1)[0]
        noise = rng.standard_normal((self.root.size, n_draws))
        spread = lapack.dtrtrs(self._factor, noise, lower=1, trans=1)[0]
        return self.mean[:, None] + (sigma * self.root)[:, None] * spread
