"""How much of a response a linear predictor explains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.families.base import Family, Ordered

# How far the best intercept may be from where the family thinks it is.
REACH = 20.0


class Deviance(NamedTuple):
    """The deviance that a fit leaves, and that of the mean of y.

    Where y = eta + noise, but for quantiles, these are sums of squares in units of the latter: ``total`` is
    1, or 0 where y is constant.
    """

    left: float
    total: float

    @property
    def explained(self) -> float:
        """The share that is explained: R^2 where y = eta + noise, otherwise D^2."""
        if self.total <= 0.0:
            return 1.0 if self.left <= 0.0 else 0.0
        return 1.0 - self.left / self.total


def deviance(family: Family, y: Vector, eta: Vector, weights: Vector, offset: Vector) -> Deviance:
    """Return the deviance of ``y`` at ``eta``, and at the mean of y: what an intercept explains.

    Where part of eta is known, its ``offset``, the intercept comes on top of it: what is known before is not
    explained by the fit.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> y = np.array([1.0, 2.0, 3.0])
    >>> deviance(Gaussian(), y, np.array([1.0, 2.0, 2.0]), np.ones(3), np.zeros(3)).explained
    0.5
    """
    if family.squared_error:
        return _squares(y - offset, family.mean(eta) - offset, weights)
    with np.errstate(over="ignore"):
        alone, level = _intercept_alone(family, y, weights, offset)
        fit = float(weights @ family.neg_log_likelihood(y, eta, 1.0))
        null = float(weights @ alone.neg_log_likelihood(y, level, 1.0))
        perfect = float(weights @ family.saturated(y))
    return Deviance(2.0 * (fit - perfect), 2.0 * (null - perfect))


def _intercept_alone(family: Family, y: Vector, weights: Vector, offset: Vector) -> tuple[Family, Vector]:
    """Return the linear predictor of the best intercept, or thresholds, beside the offset."""
    if isinstance(family, Ordered):
        return family.at_best(y, offset, weights), offset
    if not family.has_intercept:
        return family, offset
    if family.is_location:
        return family, offset + family.intercept_alone(y, weights, offset)
    if not offset.any():
        return family, family.link(np.full_like(y, float(weights @ y / weights.sum())))

    from scipy.optimize import minimize_scalar  # imported here: few fits have an offset

    def loss(level: float) -> float:
        return float(weights @ family.neg_log_likelihood(y, offset + level, 1.0))

    start = family.intercept_alone(y, weights, offset)
    found = minimize_scalar(loss, bounds=(start - REACH, start + REACH), options={"xatol": 1e-9})
    return family, np.asarray(offset + found.x)


def _squares(y: Vector, fit: Vector, weights: Vector) -> Deviance:
    """Return sums of squares, in units in which none is out of range."""
    power = int(np.frexp(np.abs(y).max(initial=0.0))[1])  # powers of two change no digit
    y, fit = np.ldexp(y, -power), np.ldexp(fit, -power)
    around = y - np.average(y, weights=weights)
    spread = float(np.abs(around).max(initial=0.0))
    if spread <= 1e-14:  # the rounding of the mean is all that varies
        return Deviance(float(weights @ (y - fit) ** 2 > 1e-28 * weights.sum()), 0.0)
    power = int(np.frexp(spread)[1])
    total = float(weights @ np.ldexp(around, -power) ** 2)
    return Deviance(float(weights @ np.ldexp(y - fit, -power) ** 2) / total, 1.0)
