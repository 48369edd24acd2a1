"""The local scales: densities of lambda2, what the M-step minimises, and its minimum by search.

v is lambda2 throughout. Every expression takes complex v: `local_mode` differentiates by a complex step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betaln, erfc, gammaln, ndtr
from scipy.stats import t as student

from oracles.arrays import Vector


def neg_log_inverted_beta(v: Any, a: float, b: float) -> Any:
    """-log of the density v^(a-1) (1+v)^(-a-b) / B(a, b) of lambda2."""
    return (1 - a) * np.log(v) + (a + b) * np.log1p(v) + betaln(a, b)


SHAPE_RANGE = 0.05, 20.0


def neg_log_shape_prior(shape: float) -> float:
    """-log of the density of log a or log b: normal around log(1/2) with standard deviation 1, in a range."""
    low, high = SHAPE_RANGE
    return float(np.log(2 * shape) ** 2 / 2) if low <= shape <= high else np.inf


def neg_log_shapes(a: float, b: float, v: Vector) -> float:
    """-log of the density of (log a, log b) given all lambda2, a and b both unknown."""
    prior = neg_log_shape_prior(a) + neg_log_shape_prior(b)
    return prior + float(np.sum(neg_log_inverted_beta(v, a, b)))


def neg_log_tail(b: float, above: Vector, w: Vector) -> float:
    """-log of the density of log b given x_a = ``above`` and W, with lambda2 integrated out.

    coef = sqrt(2 W) is normal with variance x_a / gamma(b), which is Student's t with 2 b degrees of freedom.
    """
    scale = np.sqrt(above / b)
    return neg_log_shape_prior(b) - float(np.sum(student.logpdf(np.sqrt(2 * w), 2 * b, scale=scale)))


def draw_shape(rng: np.random.Generator) -> float:
    """A shape from its prior, by rejection."""
    low, high = SHAPE_RANGE
    while not low <= (shape := float(np.exp(rng.standard_normal()) / 2)) <= high:
        pass
    return shape


def shape_cdf(shape: Any) -> Any:
    """The distribution function of that prior."""
    low, high = (ndtr(np.log(2 * end)) for end in SHAPE_RANGE)
    return (ndtr(np.log(2 * np.asarray(shape))) - low) / (high - low)


def neg_log_horseshoe_like(v: Any) -> Any:
    """-log of the density (1 - exp(-1/(2v))) / sqrt(2 pi v) of lambda2.

    It is that of v = 1/(2u), where u has the density (1 - exp(-u)) / (2 sqrt(pi) u^(3/2)).
    """
    return 0.5 * np.log(2 * np.pi * v) - np.log(-np.expm1(-1 / (2 * v)))


class HorseshoeLikeScale:
    """The same distribution by its other definition, lambda = uniform / |standard normal|, and its CDF."""

    def rvs(self, size: Any, random_state: np.random.Generator) -> Vector:
        lam = random_state.random(size) / random_state.standard_normal(size)
        return np.asarray(lam**2)

    def cdf(self, v: Vector) -> Vector:
        """P(u > 1/(2v)), where P(u < x) = erf(sqrt x) - (1 - exp(-x)) / sqrt(pi x)."""
        x = 1 / (2 * v)
        return np.asarray(erfc(np.sqrt(x)) - np.expm1(-x) / np.sqrt(np.pi * x))


def neg_log_gamma(v: Any, shape: float, rate: float) -> Any:
    """-log of the density rate^s v^(s-1) exp(-rate v) / Gamma(s) of lambda2."""
    return (1 - shape) * np.log(v) + rate * v + gammaln(shape) - shape * np.log(rate)


def neg_log_inverse_gamma(v: Any, shape: float, scale: float) -> Any:
    """-log of the density scale^s v^(-s-1) exp(-scale/v) / Gamma(s) of lambda2."""
    return (1 + shape) * np.log(v) + scale / v + gammaln(shape) - shape * np.log(scale)


def jacobian(v: Any, lambda_power: float) -> Any:
    """What -log p gains when the density is that of u = lambda**c instead of that of v = lambda2.

    v = u^(2/c), so dv/du = (2/c) u^(2/c - 1) = (2/c) v^(1 - c/2) and -log p(u) = -log p(v) - log(dv/du).
    """
    return -np.log(2 / lambda_power) - (1 - lambda_power / 2) * np.log(v)


def normal_term(v: Any, w: float, size: int = 1) -> Any:
    """-log N(beta; 0, sigma2 tau2 v) in expectation, as a function of v: 1/2 log v + w/v.

    Of several coefficients with one v the terms add up: w is then the sum of theirs.
    """
    return 0.5 * size * np.log(v) + w / v


def local_mode(neg_log_density: Callable[[Any], Any], lambda_power: float, w: float, size: int = 1) -> float:
    """Argmin over v > 0 of size/2 log v + w/v - log p(lambda**lambda_power at v), by search in log v.

    `neg_log_density` is -log of the density of lambda2. Where it is already that of the wanted lambda power,
    pass ``lambda_power=2``: the Jacobian is then 1. If it takes complex numbers, the minimum found by
    bracketing is polished to the zero of the derivative (1e-12 relative for w from 1e-290 to 1e290); if not,
    it is good to about 1e-7.

    >>> horseshoe = lambda v: neg_log_inverted_beta(v, 0.5, 0.5)
    >>> w = 3.0
    >>> equation_16 = (np.sqrt(1 + 6 * w + w**2) + w - 1) / 4
    >>> bool(abs(local_mode(horseshoe, 2.0, w) / equation_16 - 1) < 1e-13)
    True
    """

    def objective(v: Any) -> Any:
        return normal_term(v, w, size) + neg_log_density(v) + jacobian(v, lambda_power)

    def at(t: float) -> float:
        with np.errstate(all="ignore"):
            value = objective(np.exp(np.float64(t)))
        return float(value) if np.isfinite(value) else np.inf

    grid = np.arange(-705.0, 706.0, 2.5)
    best = float(grid[np.argmin([at(t) for t in grid])])
    around = (best - 2.5, best + 2.5)
    found = float(minimize_scalar(at, bounds=around, method="bounded", options={"xatol": 1e-9}).x)

    def slope(t: float) -> float:  # d/dt of objective(exp t)
        step = 1e-15
        v = np.exp(np.float64(t))
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return float(np.imag(objective(v + 1j * step * v)) / step)

    try:
        below, above = slope(found - 1e-3), slope(found + 1e-3)
    except (TypeError, np.exceptions.ComplexWarning):  # the density is real only
        return float(np.exp(found))
    if not below < 0 < above:
        raise ArithmeticError(f"no interior minimum near log v = {found} for w = {w}")
    return float(np.exp(brentq(slope, found - 1e-3, found + 1e-3, xtol=1e-15, rtol=1e-15)))
