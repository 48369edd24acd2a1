"""Bhattacharya's algorithm, for k > n."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from horseshoe._lazy import lazy
from horseshoe._types import Covariance, Mask, Matrix, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.data.view import View
from horseshoe.linalg import add_identity, cholesky, half_solved, is_single, log_det


class DualKernel:
    """X D X', for all values of tau2.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> DualKernel(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2)).at(tau2=3.0).mean
    array([3., 0.])
    """

    def __init__(self, problem: LeastSquares, prior_variance: Vector) -> None:
        self._problem, self._root = problem, np.sqrt(prior_variance)
        self._scaled = problem.weighted.scaled(self._root)
        self._outer = self._scaled.outer()

    def at(self, tau2: float) -> Dual:
        """Return the coefficients at one value of tau2."""
        again = partial(self._outer.__mul__, tau2)
        return Dual(self._problem, self._root, again(), self._scaled, tau2=tau2, again=again)

    def once(self) -> Dual:
        """Return the coefficients at tau2 = 1, and use the kernel up."""
        return Dual(self._problem, self._root, self._outer, self._scaled)


class Dual:
    """mean = D X' M^-1 z, var_j = sigma2 d_j (1 - d_j x_j' M^-1 x_j), M = I + X D X'; M^-1 z is the residual.

    Parameters
    ----------
    problem : LeastSquares
        The data.
    root : array of shape (k,)
        D^1/2 is sqrt(tau2) times it.
    outer : array of shape (n, n)
        The lower triangle of X D X', with whatever else has a share in the covariance of z; overwritten. In
        single precision the mean is refined to double.
    scaled : View, optional
        The weighted columns times ``root``, if they are at hand.
    extra : array of shape (n, n), optional
        The lower triangle of that share, for the refinement.
    tau2 : float
        Multiplies the prior variances.
    refine : bool
        Whether ``outer`` is of all columns, so that the mean can be refined.
    again : callable, optional
        Makes ``outer`` anew: then the factor takes its place.
    """

    def __init__(
        self,
        problem: LeastSquares,
        root: Vector,
        outer: Any,
        scaled: View | None = None,
        extra: Any = None,
        tau2: float = 1.0,
        refine: bool = True,
        again: Callable[[], Any] | None = None,
    ) -> None:
        self._problem, self._root, self._at_hand, self._tau = problem, root, scaled, math.sqrt(tau2)
        self.factor = cholesky(add_identity(outer), again and (lambda: add_identity(again())))
        single = is_single(self.factor)
        self._potrs = lapack.spotrs if single else lapack.dpotrs
        self.residual = self.solve(problem.z)
        if single and refine:  # one step of iterative refinement, in double precision
            self.residual += self.solve(self._error(extra))

    @lazy
    def _scaled(self) -> View:
        """The weighted columns times ``root``."""
        return self._at_hand or self._problem.weighted.scaled(self._root, self.factor.dtype)

    @property
    def log_det(self) -> Any:
        """Log det M, or None in single precision."""
        return None if is_single(self.factor) else log_det(self.factor)

    @lazy
    def prior_variance(self) -> Vector:
        """D."""
        return np.asarray(self._tau**2 * (self._root * self._root))

    @lazy
    def mean(self) -> Vector:
        """E[b]."""
        return self.mean_at(self.residual)

    def mean_at(self, residual: Vector) -> Vector:
        """Return D X' r."""
        return np.asarray(self.prior_variance * self._problem.rmatvec(residual))

    def mean_of(self, targets: Matrix) -> Matrix:
        """Return E[b] for each column of other targets, by the same factor."""
        half = self._tau * self._scaled.rmatvec(self._potrs(self.factor, targets, lower=1)[0])
        return np.asarray((self._tau * self._root)[:, None] * half)

    def solve_for(self, pull: Matrix) -> Matrix:
        """Return (X'X + D^-1)^-1 times each column of a matrix, by Woodbury's identity."""
        part = (self._tau * self._root)[:, None] * pull
        seen = self._potrs(self.factor, self._tau * self._scaled.matvec(part), lower=1)[0]
        return np.asarray((self._tau * self._root)[:, None] * (part - self._tau * self._scaled.rmatvec(seen)))

    @property
    def rss(self) -> float:
        """||z - X E[b]||^2."""
        return float(self.residual @ self.residual)

    @lazy
    def quadratic(self) -> float:
        """Z' M^-1 z."""
        return float(self._problem.z @ self.residual)

    @lazy
    def leverage(self) -> Vector:
        """d_j x_j' M^-1 x_j."""
        return np.asarray(self._tau**2 * self._scaled.leverages(self.factor))

    @property
    def fit_trace(self) -> float:
        """The sum of the leverages."""
        return float(self.leverage.sum())

    @property
    def whole_trace(self) -> float:
        """tr(I - M^-1): with what else has a share in the covariance of z."""
        n = int(self.factor.shape[0])
        identity = np.eye(n, dtype=self.factor.dtype, order="F")
        inverse = half_solved(self.factor, identity, overwrite=True).ravel(order="K")
        return n - float(np.dot(inverse, inverse))

    def variance(self) -> Vector:
        """Return Var[b_j] / sigma2."""
        return np.asarray(self.prior_variance * np.maximum(1.0 - self.leverage, 0.0))

    def covariance(self, sigma2: float, of: Mask | None = None) -> Covariance:
        """Return Cov[b], of all or of some of the coefficients: only these columns are made dense."""
        keep = np.ones(self._root.size, dtype=np.bool_) if of is None else of
        root = self._tau * self._root[keep]
        half = self._problem.weighted.take(keep).scaled(root).half_solved(self.factor)
        return Covariance(sigma2 * root * root, np.sqrt(sigma2) * half * root, -1.0)

    def draw(self, sigma: float, rng: np.random.Generator, n_draws: int | None = None) -> Any:
        """Draw u + D X' M^-1 (z - X u - e), u from the prior and e from the noise."""
        n, k = self._problem.shape
        size = () if n_draws is None else (n_draws,)
        root, tau = self._tau * self._root, self._tau
        prior = rng.standard_normal((k, *size))
        noise = tau * self._scaled.matvec(prior) + rng.standard_normal((n, *size))
        gap = self.residual if n_draws is None else self.residual[:, None]
        gap = gap - sigma * self._potrs(self.factor, noise, lower=1)[0]
        step = sigma * prior + tau * self._scaled.rmatvec(gap)
        return root * step if n_draws is None else root[:, None] * step

    def solve(self, target: Vector) -> Vector:
        """Return M^-1 times a vector."""
        return np.asarray(self._potrs(self.factor, target, lower=1)[0], dtype=np.float64)

    def _error(self, extra: Any) -> Vector:
        """Return z - M residual."""
        problem, residual = self._problem, self.residual
        error = problem.z - residual - problem.matvec(self.mean_at(residual))
        if extra is not None:
            error -= blas.ssymv(1.0, extra, residual, lower=1)
        return np.asarray(error)
