"""The predictive distribution of a new response: the family's, mixed over the uncertainty of eta.

eta is Gaussian at the mode, so the mixture is a Gauss-Hermite sum over a few of its values.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from farrier._types import Matrix, Vector
from farrier.likelihoods import Gaussian, Likelihood

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
CHUNK = 4096
"""Rows that are worked through at a time."""
BISECTIONS = 60


def predictive_std(likelihood: Likelihood, eta: Vector, spread: Vector, sigma2: float) -> Vector:
    """Return the standard deviation of y when eta has standard deviation ``spread``.

    Examples
    --------
    >>> predictive_std(Gaussian(), np.array([1.0]), np.array([3.0]), 16.0)
    array([5.])
    """
    if isinstance(likelihood, Gaussian):
        return np.sqrt(sigma2 + spread**2)
    first, second = np.zeros_like(eta), np.zeros_like(eta)
    with np.errstate(over="ignore"):  # an infinite standard deviation is an answer
        center = likelihood.mean(eta)
        for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
            point = eta + node * spread
            gap = likelihood.mean(point) - center
            first += weight * gap
            second += weight * (likelihood.variance(point, sigma2) + gap * gap)
        return np.sqrt(second - np.minimum(first * first, second))


def predictive_interval(
    likelihood: Likelihood, eta: Vector, spread: Vector, sigma2: float, level: float
) -> Matrix:
    """Return the central interval of y, one row (lower, upper) for each eta.

    Of a family that has no distribution function, as that of two classes, it is the interval of the mean.

    Examples
    --------
    >>> from farrier.likelihoods import Poisson
    >>> predictive_interval(Poisson(), np.log([4.0]), np.array([0.0]), 1.0, level=0.9)
    array([[1., 8.]])
    """
    z = float(ndtri(0.5 + level / 2.0))
    if isinstance(likelihood, Gaussian):
        half = z * np.sqrt(sigma2 + spread**2)
        return np.column_stack([eta - half, eta + half])
    if eta.size and likelihood.cdf(eta[:1], eta[:1], sigma2) is None:
        ends = likelihood.mean(eta - z * spread), likelihood.mean(eta + z * spread)
        return np.sort(np.column_stack(ends), axis=1)
    out = np.empty((eta.size, 2))
    for start in range(0, eta.size, CHUNK):
        rows = slice(start, start + CHUNK)
        for side, probability in enumerate((0.5 - level / 2.0, 0.5 + level / 2.0)):
            out[rows, side] = _quantile(likelihood, eta[rows], spread[rows], sigma2, probability)
    return out


def _quantile(
    likelihood: Likelihood, eta: Vector, spread: Vector, sigma2: float, probability: float
) -> Vector:
    """Return the smallest y with P(Y <= y) of at least ``probability``, by bisection."""
    points = eta[:, None] + NODES * spread[:, None]

    def reached(y: Vector) -> Vector:
        cdf = likelihood.cdf(np.broadcast_to(y[:, None], points.shape), points, sigma2)
        assert cdf is not None
        return np.asarray(cdf @ NODE_WEIGHTS >= probability)

    with np.errstate(over="ignore", invalid="ignore"):
        low, high = _bracket(likelihood, eta, spread, sigma2, reached)
        for _ in range(BISECTIONS):
            middle = np.floor(0.5 * (low + high)) if likelihood.discrete else 0.5 * (low + high)
            if np.all((middle == low) | (middle == high)):
                break
            enough = reached(middle)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _bracket(
    likelihood: Likelihood, eta: Vector, spread: Vector, sigma2: float, reached: object
) -> tuple[Vector, Vector]:
    """Return values of y on either side of the quantile."""
    assert callable(reached)
    center = likelihood.mean(eta)
    width = np.sqrt(sigma2) + np.abs(likelihood.mean(eta + spread) - center) + np.sqrt(np.abs(center))
    low, high = np.floor(center - width), np.ceil(center + width)
    if likelihood.positive_only:
        low = np.full_like(center, -1.0 if likelihood.discrete else 0.0)
    for _ in range(200):
        short = ~reached(high)
        if not short.any():
            break
        high = np.where(short, high + 2.0 * (high - center) + 1.0, high)
    for _ in range(0 if likelihood.positive_only else 200):
        long = reached(low)
        if not long.any():
            break
        low = np.where(long, low - 2.0 * (center - low) - 1.0, low)
    return low, high
