"""HS-EM and HS-apx with the faults of the code that was released with the paper, to explain its figures.

It departs from the paper's equations in the ways that `docs/deviations.md` lists: the trace in E[RSS] has its
factors in the wrong order, Eq. (16) is evaluated as it is written and loses all digits where W is small, tau2
comes from a search over log tau2 that stops early, and small coefficients are cut inside the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize_scalar

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.peers.standardised import standardised_fit

# Where a search over log tau2 stops that is left at R's default tolerance.
EXACT_FIRST, MAX_ITER = 9, 10_000
SEARCH = 1.22e-4


class Moments(NamedTuple):
    """Mean, variances and E[RSS] of the coefficients."""

    mean: Vector
    variance: Vector
    expected_rss: float


def released(X: Matrix, y: Vector, approximate: bool, tol: float = 1e-5) -> Fit:
    """Return what the released EM does with the data.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> fit = released(X, X[:, 0] + 1.0, approximate=False)
    >>> fit.coef.round(2), round(fit.intercept, 2)
    (array([1., 0., 0., 0.]), 1.0)
    """
    return standardised_fit(X, y, float(y.std()), lambda Z, centred: _em(Z, centred, approximate, tol))


def _em(Z: Matrix, y: Vector, approximate: bool, tol: float) -> Vector:
    n = y.size
    gram, correlation = Z.T @ Z, Z.T @ y
    mean = correlation / n
    second, rss = mean**2, 1e10
    threshold = 1.0 / (5.0 * np.sqrt(n))
    for iteration in range(MAX_ITER):
        old, sigma2 = mean, rss / n
        tau2 = _search(second / (2.0 * sigma2))
        lambda2 = np.maximum(_as_written(second / (2.0 * sigma2 * tau2)), 1e-20)
        rough = approximate and iteration >= EXACT_FIRST
        moments = _e_step(Z, y, gram, correlation, 1.0 / (tau2 * lambda2 * sigma2), sigma2, rough)
        second, rss = moments.mean**2 + moments.variance, moments.expected_rss
        mean = np.where(np.abs(moments.mean) < threshold, 0.0, moments.mean)
        change = np.abs(old - mean)
        if change.sum() < tol * (1.0 + np.abs(mean).sum()) or (change < 1e-5 * (1.0 + np.abs(mean))).all():
            break
    return np.asarray(mean)


def _as_written(w: Vector) -> Vector:
    """Evaluate Eq. (16) with the cancellation that it has for small W."""
    return np.maximum((np.sqrt(w**2 + 6.0 * w + 1.0) + w - 1.0) / 4.0, 1e-50)


def _search(half_w: Vector) -> float:
    """Minimise over log tau2 between -10 and 0."""

    def objective(log_tau2: float) -> float:
        w = half_w / np.exp(log_tau2)
        lambda2 = _as_written(w)
        local = np.log(lambda2) + w / lambda2 + np.log1p(lambda2)
        return float(local.sum() + 0.5 * (half_w.size + 1) * log_tau2 + np.log1p(np.exp(log_tau2)))

    found = minimize_scalar(objective, bounds=(-10.0, 0.0), method="bounded", options={"xatol": SEARCH})
    return float(np.exp(found.x))


def _e_step(
    Z: Matrix, y: Vector, gram: Matrix, correlation: Vector, precision: Vector, sigma2: float, rough: bool
) -> Moments:
    """Return the moments; the exact ones with tr(X'X U^-T U^-1) in the place of tr(X'X U^-1 U^-T)."""
    upper = cholesky(gram / sigma2 + np.diag(precision), lower=False)
    half = solve_triangular(upper, correlation / sigma2, trans="T")
    mean = solve_triangular(upper, half)
    rss = float(((y - Z @ mean) ** 2).sum())
    if rough:
        variance = 1.0 / (np.diag(gram) / sigma2 + precision)
        return Moments(mean, variance, rss + float((np.diag(gram) * variance).sum()))
    inverse = solve_triangular(upper, np.eye(mean.size), trans="T")
    return Moments(mean, (inverse**2).sum(axis=0), rss + float(((Z @ inverse) ** 2).sum()))
