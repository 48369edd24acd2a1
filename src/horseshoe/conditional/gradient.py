"""The coefficients given the scales where nothing can be factorised: conjugate gradients and random probes.

With R = D^1/2, T = X R and M = I + T T' the mean is R T' M^-1 z, and Var[b_j] / sigma2 = d_j (1 - q_j), q_j =
t_j' M^-1 t_j. Both come from products with X alone: the mean from one system, and the leverages q_j from
systems T v with random signs v, for E[v * T' M^-1 T v] are these (covariance-free EM, Lin et al. 2022). The
strongest columns are few, and what they give to M is solved for exactly: that preconditions all systems. How
far off the variances are is estimated from the probes themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from horseshoe._lazy import lazy
from horseshoe._types import Covariance, Mask, Matrix, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.linalg import Solved, add_identity, cholesky, conjugate_gradients

# Random signs for each column, and how many are worked on at once where X is in memory. The error falls with
# the root of their number, which was chosen on one data set of 2,000 x 5,000: seed 2 of the slow test.
N_PROBES, WIDTH = 96, 32
# What may be left of the right-hand sides: of the mean, and of probes, whose own error is far larger.
MEAN_TOL, PROBE_TOL = 1e-8, 1e-3
# Steps of the conjugate gradient method.
MOST_STEPS = 500
# Columns whose part in M is solved for exactly.
STRONG = 500
# Probes are in single precision where no eigenvalue of M can be larger.
SINGLE_NORM = 1e5


class Gradient:
    """Mean and variances without a factorisation; the variances are estimates.

    Parameters
    ----------
    problem : LeastSquares
        The data.
    prior_variance : array of shape (k,)
        D.
    rng : numpy.random.Generator
        Draws the signs.
    start : array of shape (k,) or (k, q), optional
        A mean nearby.

    Attributes
    ----------
    error : float
        That of the leverages, which is that of the variances in units of the prior variances: root mean
        square.
    solved : bool
        Whether all systems that were asked for could be solved.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> given = Gradient(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2), np.random.default_rng(0))
    >>> given.mean.round(6), given.variance().round(6), round(given.error, 6)
    (array([2., 0.]), array([0.5, 0.5]), 0.0)
    """

    log_det = None

    def __init__(
        self,
        problem: LeastSquares,
        prior_variance: Vector,
        rng: np.random.Generator,
        start: Any = None,
    ) -> None:
        self._problem, self._d, self._start, self.solved = problem, prior_variance, start, True
        self._strong = strongest(problem, prior_variance)
        single = np.float32 if self._strong.norm < SINGLE_NORM else np.float64
        seen = probed(System(problem, prior_variance, self._strong, single), rng)
        self._trace = float(seen.leverage.sum())
        self._leverage, error = steadied(seen.leverage, seen.noise, prior_variance * problem.squares)
        self.error = float(np.hypot(error, seen.unsolved))

    @lazy
    def _residual(self) -> Vector:
        """M^-1 z, which is z - X E[b]."""
        start = self._start
        guess = None if start is None else self._problem.residual(start)[:, None]
        return np.asarray(self._solved(self._problem.z[:, None], guess)[:, 0])

    def _solved(self, targets: Matrix, guess: Matrix | None) -> Any:
        """Return M^-1 times each column, to the precision of the mean."""
        found = System(self._problem, self._d, self._strong).solve(targets, MEAN_TOL, guess)
        self.solved = self.solved and found.solved
        return found.values

    @lazy
    def mean(self) -> Vector:
        """E[b]."""
        return np.asarray(self._d * self._problem.rmatvec(self._residual))

    @property
    def rss(self) -> float:
        """||z - X E[b]||^2."""
        return float(self._residual @ self._residual)

    def mean_of(self, targets: Matrix) -> Matrix:
        """Return E[b] for each column of other targets."""
        weighted = self._problem.weighted
        guess = None if self._start is None else targets - weighted.matvec(self._start)
        return np.asarray(self._d[:, None] * weighted.rmatvec(self._solved(targets, guess)))

    def solve_for(self, pull: Matrix) -> Matrix:
        """Return (X'X + D^-1)^-1 times each column of a matrix, by Woodbury's identity."""
        part, weighted = self._d[:, None] * pull, self._problem.weighted
        seen = self._solved(weighted.matvec(part), None)
        return np.asarray(part - self._d[:, None] * weighted.rmatvec(seen))

    @property
    def fit_trace(self) -> float:
        """tr(X'X Cov[b]) / sigma2, an estimate."""
        return min(max(self._trace, 0.0), float(min(self._problem.shape)))

    def variance(self) -> Vector:
        """Return Var[b_j] / sigma2, estimates."""
        return np.asarray(self._d * (1.0 - self._leverage))

    def covariance(self, sigma2: float, of: Mask | None = None) -> Covariance:
        """Return the variances of all or of some of the coefficients, as if they were independent."""
        variance = sigma2 * self.variance()
        variance = variance if of is None else variance[of]
        return Covariance(variance, np.zeros((0, variance.size)), 1.0)


class Strong(NamedTuple):
    """The strongest columns.

    Attributes
    ----------
    which : bool array of shape (k,)
        They.
    factor : array
        The Cholesky factor of c I + T'T, of them.
    rest : float
        c: 1 and what the other columns add to the diagonal of M on average.
    norm : float
        What no eigenvalue of c I + T'T exceeds.
    """

    which: Mask
    factor: Any
    rest: float
    norm: float


def strongest(problem: LeastSquares, d: Vector) -> Strong:
    """Return the columns with the largest d_j ||x_j||^2, and what it takes to solve for them.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> strongest(plain(np.eye(2), np.zeros(2)), np.array([4.0, 0.0])).norm
    5.0
    """
    size, which = d * problem.squares, np.zeros(d.size, dtype=np.bool_)
    which[np.argpartition(-size, min(STRONG, size.size) - 1)[:STRONG]] = True
    which &= size > 0.0
    rest = 1.0 + float(size[~which].sum()) / problem.n_rows
    root = np.sqrt(d[which])
    inner = add_identity(np.asfortranarray(problem.weighted.take(which).gram() * np.outer(root, root)), rest)
    norm = float(np.abs(inner).sum(axis=0).max(initial=1.0))
    return Strong(which, cholesky(inner), rest, norm)


class System:
    """M = I + T T' as products, and what preconditions it: c I + T_S T_S' of the strongest columns S.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem, d = plain(2.0 * np.eye(2), np.zeros(2)), np.ones(2)
    >>> system = System(problem, d, strongest(problem, d))
    >>> system.times(np.ones((2, 1))).ravel(), system.eased(np.ones((2, 1))).ravel()
    (array([5., 5.]), array([0.2, 0.2]))
    """

    def __init__(self, problem: LeastSquares, d: Vector, strong: Strong, dtype: Any = np.float64) -> None:
        root = np.sqrt(d)
        columns = problem.weighted if dtype is np.float64 else problem.weighted.single()
        self.shape, self.dtype, self.remote = columns.shape, dtype, columns.remote
        self.columns = columns.scaled(root, dtype)
        self._part = columns.take(strong.which).scaled(root[strong.which], dtype)
        self._factor, self._rest = strong.factor.astype(dtype, order="F", copy=False), dtype(strong.rest)
        self._potrs = lapack.spotrs if dtype is np.float32 else lapack.dpotrs

    def times(self, rows: Any) -> Any:
        """Return M times each column."""
        return rows + self.columns.matvec(self.columns.rmatvec(rows))

    def solve(self, target: Any, tol: float, guess: Any = None) -> Solved:
        """Return M^-1 times each column of ``target``."""
        most = min(MOST_STEPS, 3 * len(target))  # without rounding a step a row would do
        return conjugate_gradients(self.times, self.eased, target, tol, most, guess)

    def eased(self, rows: Any) -> Any:
        """Return (c I + T_S T_S')^-1 times each column, by Woodbury's identity."""
        if not self._factor.size:
            return rows / self._rest
        seen = self._potrs(self._factor, self._part.rmatvec(rows), lower=1)[0]
        return (rows - self._part.matvec(seen)) / self._rest


class Probed(NamedTuple):
    """The leverages as random signs tell them, the variance of each, and what is unsolved: as `error`."""

    leverage: Vector
    noise: Vector
    unsolved: float


def probed(system: System, rng: np.random.Generator) -> Probed:
    """Return what random signs say of the leverages."""
    k, width = system.shape[1], N_PROBES if system.remote else WIDTH
    total, squares, left = np.zeros(k), np.zeros(k), 0.0
    for _ in range(0, N_PROBES, width):
        signs = np.ascontiguousarray(2 * rng.integers(0, 2, (width, k), dtype=np.int8).T - 1, system.dtype)
        found = system.solve(np.ascontiguousarray(system.columns.matvec(signs)), PROBE_TOL)
        signs *= system.columns.rmatvec(found.values)  # each probe's word on the leverages
        total += signs.sum(axis=1)
        squares += np.einsum("ij,ij->i", signs, signs)
        left += float(found.left @ found.left)
    leverage = total / N_PROBES
    noise = np.maximum(squares / N_PROBES - leverage * leverage, 0.0) / (N_PROBES - 1)
    return Probed(leverage, noise, 0.5 * float(np.sqrt(left / (N_PROBES * k))))  # ||T' M^-1|| is at most 1/2


def steadied(leverage: Vector, noise: Vector, size: Vector) -> tuple[Vector, float]:
    """Return leverages nearer to the truth than those of the probes, and their error: root mean square.

    Columns that are far from being combinations of others have leverages u size_j / (1 + u size_j), where
    size_j = d_j ||x_j||^2, with one u for all, which their sum tells. The word of the probes on each column
    is weighed against that by the noise of the probes and by how far columns are from it beyond noise
    (empirical Bayes).

    Examples
    --------
    >>> steadied(np.array([0.6, 0.4, 0.5, 0.5]), np.full(4, 0.02), np.ones(4))[0].round(6)
    array([0.5, 0.5, 0.5, 0.5])
    """
    total = float(leverage.sum())
    low, high = -60.0, 60.0
    for _ in range(100):  # bisection for log u
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _alike(middle, size).sum() < total else (low, middle)
    alike = _alike(low, size)
    room, gap = alike * (1.0 - alike), leverage - alike
    seen, unsure = float((gap * gap - noise).sum()), float(np.sqrt(2.0 * (noise * noise).sum()))
    each = room / max(float(room.sum()), 1e-300)
    apart = max(seen, 0.0) * each
    share = np.divide(apart, apart + noise, out=np.zeros_like(apart), where=apart + noise > 0.0)
    most = (max(seen, 0.0) + unsure) * each  # what columns may be apart, and we did not see
    error = float(np.sqrt((share**2 * noise + (1.0 - share) ** 2 * most).mean())) if noise.size else 0.0
    return np.clip(alike + share * gap, 0.0, 1.0), error


def _alike(log_u: float, size: Vector) -> Vector:
    times = np.exp(log_u) * size
    return np.asarray(times / (1.0 + times))
