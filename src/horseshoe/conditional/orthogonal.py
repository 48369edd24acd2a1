"""Orthogonal columns, in closed form; and diagonal variances for any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Covariance, Mask, Matrix, Vector
from horseshoe.data.problem import LeastSquares

if TYPE_CHECKING:
    from horseshoe.conditional.base import Conditional


class Orthogonal:
    """Columns with X'X = diag(c): the normal means model of appendix A, O(k) in all.

    mean = d X'z / (1 + d c) and variance = sigma2 d / (1 + d c), Eqs. (20)-(21). Also right for any columns
    while sum_j d_j c_j is far below 1: then X'X counts for nothing beside the identity, as at the paper's
    start.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> Orthogonal(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2)).mean
    array([2., 0.])
    """

    def __init__(self, problem: LeastSquares, prior_variance: Vector) -> None:
        self._problem, self._prior_variance = problem, prior_variance
        self._spread = prior_variance * problem.squares
        self._shrunk = prior_variance / (1.0 + self._spread)
        self.mean: Vector = self._shrunk * problem.xz

    def mean_of(self, targets: Matrix) -> Matrix:
        """Return E[b] for each column of other targets."""
        return self.solve_for(np.asarray(self._problem.weighted.rmatvec(targets)))

    def solve_for(self, pull: Matrix) -> Matrix:
        """Return (X'X + D^-1)^-1 times each column of a matrix."""
        return np.asarray(self._shrunk[:, None] * pull)

    def at(self, tau2: float) -> Orthogonal:
        """Return the coefficients with the prior variances times ``tau2``."""
        return self if tau2 == 1.0 else Orthogonal(self._problem, tau2 * self._prior_variance)

    def once(self) -> Orthogonal:
        """Return the coefficients as they are."""
        return self

    @lazy
    def rss(self) -> float:
        """||z - X E[b]||^2."""
        return self._problem.rss(self.mean)

    @property
    def quadratic(self) -> float:
        """Z' M^-1 z."""
        d = self._prior_variance
        pull = np.divide(self.mean, d, out=np.zeros_like(d), where=d > 0.0)
        return self.rss + float(self.mean @ pull)

    @property
    def log_det(self) -> float:
        """Log det M."""
        return float(np.log1p(self._spread).sum())

    @property
    def fit_trace(self) -> float:
        """tr(X'X Cov[b]) / sigma2."""
        return float((self._spread / (1.0 + self._spread)).sum())

    def variance(self) -> Vector:
        """Return Var[b_j] / sigma2."""
        return self._shrunk

    def covariance(self, sigma2: float, of: Mask | None = None) -> Covariance:
        """Return Cov[b], of all or of some of the coefficients."""
        variance = sigma2 * (self._shrunk if of is None else self._shrunk[of])
        return Covariance(variance, np.zeros((0, variance.size)), 1.0)

    def draw(self, sigma: float, rng: np.random.Generator, n_draws: int | None = None) -> Any:
        """Draw each coefficient by itself."""
        size = (self._shrunk.size,) if n_draws is None else (n_draws, self._shrunk.size)
        return (self.mean + sigma * np.sqrt(self._shrunk) * rng.standard_normal(size)).T


class Diagonal:
    """Approximate expectations, Eqs. (11)-(12): the mean of another form, and variances sigma2 / A_jj.

    One solve and O(k) beside it; nothing is inverted. ``faded`` is what columns that are no longer there add
    to the trace.
    """

    log_det = None

    def __init__(
        self, given: Conditional, problem: LeastSquares, prior_variance: Vector, faded: float = 0.0
    ) -> None:
        self._given, self._prior_variance, self._faded = given, prior_variance, faded
        self._spread = prior_variance * problem.diagonal

    @property
    def mean(self) -> Vector:
        """E[b]."""
        return self._given.mean

    @property
    def rss(self) -> float:
        """||z - X E[b]||^2."""
        return self._given.rss

    def mean_of(self, targets: Matrix) -> Matrix:
        """Return E[b] for each column of other targets."""
        return self._given.mean_of(targets)

    def solve_for(self, pull: Matrix) -> Matrix:
        """Return (X'X + D^-1)^-1 times each column of a matrix."""
        return self._given.solve_for(pull)

    @property
    def fit_trace(self) -> float:
        """The trace as if X'X were diagonal."""
        return float((self._spread / (1.0 + self._spread)).sum()) + self._faded

    def variance(self) -> Vector:
        """Return Var[b_j] / sigma2."""
        return np.asarray(self._prior_variance / (1.0 + self._spread))
