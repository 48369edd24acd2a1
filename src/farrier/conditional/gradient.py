"""The coefficients given the scales where nothing can be factorised: conjugate gradients and random probes.

With R = D^1/2 and A = I + R X'X R the mean is R A^-1 R X'z, and Var[b_j] / sigma2 = d_j (A^-1)_jj. Both come
from products with X alone: the mean from one system, and the diagonal of A^-1 from systems with random signs
v, for E[v * A^-1 v] is that diagonal (covariance-free EM, Lin et al. 2022). One run of the conjugate gradient
method solves all of them, preconditioned by the diagonal of A. How far off the variances are is estimated
from the probes themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier._lazy import lazy
from farrier._types import Covariance, Mask, Matrix, Vector
from farrier.data.problem import LeastSquares

N_PROBES = 96
"""Random signs for each column; the error falls with the root of their number."""
MEAN_TOL, PROBE_TOL = 1e-7, 1e-3
"""What may be left of the right-hand sides: of the mean, and of probes, whose own error is far larger."""
MOST_STEPS = 500
"""Steps of the conjugate gradient method."""


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
    start : array of shape (k,), optional
        A mean nearby.

    Examples
    --------
    >>> from farrier.data.problem import plain
    >>> given = Gradient(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2), np.random.default_rng(0))
    >>> given.mean.round(6), given.variance().round(6), given.error
    (array([2., 0.]), array([0.5, 0.5]), 0.0)
    """

    log_det = None

    def __init__(
        self,
        problem: LeastSquares,
        prior_variance: Vector,
        rng: np.random.Generator,
        start: Vector | None = None,
    ) -> None:
        self._problem, self._d = problem, prior_variance
        root = np.sqrt(prior_variance)
        signs = rng.choice(np.array([-1.0, 1.0]), (root.size, N_PROBES))
        target = np.column_stack([root * problem.xz, signs])
        guess = np.zeros_like(target)
        if start is not None:
            np.divide(start, root, out=guess[:, 0], where=root > 0.0)
        tol = np.full(N_PROBES + 1, PROBE_TOL)
        tol[0] = MEAN_TOL
        found = solve(problem, root, target, guess, tol)
        self.mean: Vector = root * found[:, 0]
        each = 1.0 - signs * found[:, 1:]  # leverages, each probe's word on them
        noise = each.var(axis=1, ddof=1) / N_PROBES
        self._trace = float(each.sum()) / N_PROBES
        self._leverage, self.error = steadied(each.mean(axis=1), noise, prior_variance * problem.squares)

    @lazy
    def rss(self) -> float:
        """||z - X E[b]||^2."""
        return self._problem.rss(self.mean)

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
    apart = max(float((gap * gap - noise).sum()), 0.0) / max(float(room.sum()), 1e-300) * room
    share = np.divide(apart, apart + noise, out=np.zeros_like(apart), where=apart + noise > 0.0)
    error = float(np.sqrt((share * noise).mean())) if noise.size else 0.0
    return np.clip(alike + share * gap, 0.0, 1.0), error


def _alike(log_u: float, size: Vector) -> Vector:
    times = np.exp(log_u) * size
    return np.asarray(times / (1.0 + times))


def solve(problem: LeastSquares, root: Vector, target: Matrix, guess: Matrix, tol: Vector) -> Matrix:
    """Return A^-1 times each column of ``target``, A = I + R X'X R, from a guess.

    Examples
    --------
    >>> from farrier.data.problem import plain
    >>> problem = plain(2.0 * np.eye(2), np.zeros(2))
    >>> solve(problem, np.ones(2), np.eye(2), np.zeros((2, 2)), np.full(2, 1e-9)).round(6)
    array([[0.2, 0. ],
           [0. , 0.2]])
    """
    x, r = problem.weighted, root[:, None]
    ease = 1.0 / (1.0 + root * root * problem.squares)[:, None]  # the diagonal of A

    def times(values: Any) -> Any:
        return values + r * x.rmatvec(x.matvec(r * values))

    out = guess.copy()
    todo = np.arange(target.shape[1])
    left = target - times(guess) if guess.any() else target.copy()
    eased = ease * left
    way, power = eased.copy(), _dots(left, eased)
    enough = tol * np.sqrt(_dots(target, target))
    for _ in range(MOST_STEPS):
        open_ = np.sqrt(_dots(left, left)) > enough[todo]
        if not open_.all():
            todo, left, way, power = todo[open_], left[:, open_], way[:, open_], power[open_]
        if not todo.size:
            break
        seen = times(way)
        step = power / _dots(way, seen)
        out[:, todo] += step * way
        left = left - step * seen
        eased = ease * left
        power, before = _dots(left, eased), power
        way = eased + (power / before) * way
    return np.asarray(out)


def _dots(one: Any, other: Any) -> Any:
    return np.einsum("ij,ij->j", one, other)
