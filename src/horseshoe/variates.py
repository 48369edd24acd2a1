"""Random numbers that NumPy does not have, and one source of them for several chains at once.

Every function takes a `numpy.random.Generator` or `Streams`, and draws a number of variates that depends on
nothing but the shape asked for, so that a chain does not depend on the other chains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import special

from horseshoe._types import Vector

# Scales are held between these: their squares and reciprocals stay finite.
TINY, HUGE = 1e-150, 1e150
# Below this probability a truncated gamma variate is drawn from its tail directly.
FAR_TAIL = 1e-250


class Source(Protocol):
    """What is asked of a source of random numbers."""

    def standard_normal(self, size: Any) -> Any:
        """Return standard normal variates."""

    def standard_exponential(self, size: Any) -> Any:
        """Return exponential variates of mean 1."""

    def standard_gamma(self, shape: float, size: Any) -> Any:
        """Return gamma variates of scale 1."""

    def random(self, size: Any) -> Any:
        """Return uniform variates."""


def reciprocal_inverse_gaussian(a: Vector, rng: Source) -> Vector:
    """Draw v with density proportional to v^-1/2 exp(-(v + a^2 / v) / 2).

    The two roots of Michael, Schucany and Haas in a form that does not cancel, whatever a is; a = 0 gives a
    chi-square variate.

    Examples
    --------
    >>> v = reciprocal_inverse_gaussian(np.full(100_000, 2.0), np.random.default_rng(0))
    >>> round(float(v.mean()), 1)  # 1 + a
    3.0
    """
    half = 0.5 * rng.standard_normal(a.shape) ** 2
    large = a + half + np.sqrt(half * (2.0 * a + half))
    large = np.maximum(large, TINY)
    return np.asarray(np.where(rng.random(a.shape) * (large + a) <= large, large, a * (a / large)))


def power_exponential_step(v: Vector, power: float, rate: float, w: Vector, rng: Source) -> Vector:
    """Move v by a step that leaves the density v^(power - 1) exp(-rate v - w / v) as it is.

    Both exponentials are sliced, and between the ends of the slices v^(power - 1) is drawn from.

    Examples
    --------
    >>> rng, v = np.random.default_rng(0), np.ones(20_000)
    >>> for _ in range(50):
    ...     v = power_exponential_step(v, 0.5, 0.5, np.full(20_000, 2.0), rng)
    >>> round(float(v.mean()), 1)  # 1 + 2
    3.0
    """
    low = np.maximum(w / (w / v + rng.standard_exponential(v.shape)), TINY)
    high = np.maximum(v + rng.standard_exponential(v.shape) / rate, low)
    between, ratio = rng.random(v.shape), np.log(high / low)
    if power == 0.0:
        return np.asarray(low * np.exp(between * ratio))
    # (low^power + between (high^power - low^power))^(1 / power), from the end where it is the larger
    if power > 0.0:
        shrink = np.log(between + (1.0 - between) * np.exp(-power * ratio))
        return np.asarray(np.clip(high * np.exp(shrink / power), low, high))
    grow = np.log1p(between * np.expm1(power * ratio))
    return np.asarray(np.clip(low * np.exp(grow / power), low, high))


def gamma_above(shape: float, rate: Vector, low: float, rng: Source) -> Vector:
    """Draw gamma variates above ``low``.

    Examples
    --------
    >>> draws = gamma_above(3.0, np.full(1000, 2.0), 50.0, np.random.default_rng(0))
    >>> bool(draws.min() > 50.0), round(float(draws.mean()), 1)
    (True, 50.5)
    """
    if low <= 0.0:
        return np.asarray(rng.standard_gamma(shape, rate.shape) / rate)
    tail = special.gammaincc(shape, rate * low)
    uniform = 1.0 - rng.random(rate.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.maximum(special.gammainccinv(shape, uniform * tail) / rate, low)
    far = tail <= FAR_TAIL
    if far.any():
        out[far] = _far_tail(shape, rate[far], low, uniform[far])
    return np.asarray(out)


def _far_tail(shape: float, rate: Vector, low: float, uniform: Vector) -> Vector:
    """Invert the distribution above ``low``, far above the mean.

    There x^(shape - 1) exp(-rate x) falls like exp(-c (x - low)), c = rate - (shape - 1) / low, and the tail
    is that of the exponential up to terms in 1 / (rate low - shape)^2, which Newton's method takes in.
    """
    c = np.maximum(rate - (shape - 1.0) / low, 1e-3 * rate)
    excess = -np.log(uniform) / c
    for _ in range(4):  # solve rate e - (shape - 1) log(1 + e / low) + log(hazard ratio) = -log(uniform)
        x = low + excess
        hazard = rate - (shape - 1.0) / x
        gap = rate * excess - (shape - 1.0) * np.log1p(excess / low) + np.log(hazard / c) + np.log(uniform)
        excess = np.maximum(excess - gap / hazard, 0.0)
    return np.asarray(low + excess)


def slice_step(
    log_density: Callable[[float], float], x: float, width: float, rng: np.random.Generator
) -> float:
    """Move x by a step that leaves the density as it is: shrink a random interval of ``width`` around it.

    Examples
    --------
    >>> rng, x, total = np.random.default_rng(0), 0.0, 0.0
    >>> for _ in range(5000):
    ...     x = slice_step(lambda t: -0.5 * (t - 3.0) ** 2, x, 4.0, rng)
    ...     total += x
    >>> round(total / 5000, 1)
    3.0
    """
    level = log_density(x) - rng.standard_exponential()
    left = x - width * rng.random()
    right = left + width
    while True:
        candidate = left + (right - left) * rng.random()
        if log_density(candidate) >= level or right - left < 1e-12 * width:
            return candidate
        if candidate < x:
            left = candidate
        else:
            right = candidate
