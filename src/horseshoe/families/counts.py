"""Counts, with a log link."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from horseshoe._types import Vector
from horseshoe.families.base import (
    EXTREME,
    EXTREME_WEIGHT,
    WEIGHT_FLOOR,
    Working,
    best_positive,
    draw_positive,
    number_or_guess,
    refuse,
)
from horseshoe.families.binary import draw_polya_gamma
from horseshoe.families.log_link import LARGEST, LogLink, draw_poisson

# From this size on the likelihood is taken as that of Poisson and what is left.
LARGE_SIZE = 1e3
# Where the size of a negative binomial is sampled; beyond it is as good as Poisson.
SIZE_RANGE = (0.01, 1000.0)


class Counts(LogLink):
    """Families of counts, with a log link."""

    discrete = True

    def check(self, y: Vector) -> None:
        """Refuse negative counts, and a fractional one among whole ones."""
        refuse(y, y < 0.0, "is negative: counts must be 0 or more")
        refuse(y, y > LARGEST, f"is beyond {LARGEST:g}, where nothing can be counted: count in larger units")
        fractional = y != np.floor(y)
        if 2 * int(fractional.sum()) <= y.size:  # else these are rates or amounts
            refuse(y, fractional, "is fractional among whole numbers: counts must be whole")

    def start(self, y: Vector) -> Vector:
        """Return log(y + 1/2)."""
        return np.log(y + 0.5)

    def intercept_alone(self, y: Vector, weights: Vector, offset: Vector) -> float:
        """Return the logarithm of the counts in all, at least a half, over the exposure in all."""
        return math.log(max(float(weights @ y), 0.5)) - float(special.logsumexp(offset, b=weights))

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return the rate at which half a count is expected in all, if there is none."""
        return None if y.any() else self.intercept_alone(y, weights, offset)


@dataclass(frozen=True)
class Poisson(Counts):
    """Counts whose variance is their mean, log link, Newton weights.

    Examples
    --------
    >>> Poisson().working(np.array([3.0]), np.array([0.0]), 1.0)
    Working(weights=array([1.]), targets=array([2.]))
    """

    rowwise = True

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return mu and eta + (y - mu) / mu."""
        mu = self.mean(np.minimum(eta, EXTREME_WEIGHT))
        weights = np.maximum(mu, WEIGHT_FLOOR)
        return Working(weights, eta + (y - mu) / weights)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return mu - y eta + log y!."""
        return np.asarray(self.mean(eta) - y * eta + special.gammaln(y + 1.0))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return mu."""
        return self.mean(eta)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the Poisson one."""
        return np.where(y < 0.0, 0.0, special.pdtr(np.maximum(np.floor(y), 0.0), self.mean(eta)))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta; a mean too large for whole numbers gets a normal y."""
        return draw_poisson(self.mean(eta), rng)


@dataclass(frozen=True)
class NegativeBinomial(Counts):
    """Counts with variance mu + mu^2 / size, log link, weights from the expected information.

    Parameters
    ----------
    size : "estimate" or float, default="estimate"
        The smaller, the more overdispersed; 1/size is called alpha elsewhere. Estimated by maximum
        likelihood at each eta, at most a million times the largest mean, which is Poisson.

    Examples
    --------
    >>> NegativeBinomial(size=2.0).variance(np.array([0.0]), 1.0)
    array([1.5])
    """

    interval = "posterior"
    size: str | float = "estimate"
    size_: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "size_", number_or_guess("size", self.size, self.size_))

    @property
    def rowwise(self) -> bool:  # type: ignore[override]
        """Whether the size is known: it is estimated from all rows."""
        return not isinstance(self.size, str)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return mu / (1 + mu/size) and eta + (y - mu) / mu."""
        mu = self.mean(np.minimum(eta, EXTREME_WEIGHT))
        shrunk = 1.0 / (1.0 + mu / self.size_)
        weights = np.maximum(mu * shrunk, WEIGHT_FLOOR)
        return Working(weights, eta + (y - mu) * shrunk / weights)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the negative binomial one."""
        size = self.size_
        if size >= LARGE_SIZE:
            return self._almost_poisson(y, eta)
        log_odds = np.clip(eta, -EXTREME, EXTREME) - math.log(size)  # of mu / size
        coefficient = special.betaln(y + 1.0, size) + np.log(y + size)  # log y! + lgamma(size) - ...
        return np.asarray(coefficient + y * np.logaddexp(0.0, -log_odds) + size * np.logaddexp(0.0, log_odds))

    def _almost_poisson(self, y: Vector, eta: Vector) -> Vector:
        """Return the same for a large size s, where lgamma(y + s) - lgamma(s) would cancel.

        By Stirling's series that is y log s + (s + y - 1/2) log(1 + y/s) - y and a rest of order y / s^2.
        """
        size, above = self.size_, y + self.size_
        eta = np.clip(eta, -EXTREME, EXTREME)
        rest = y / (12.0 * size * above) - _cubes(y, size) / 360.0
        rising = (above - 0.5) * np.log1p(y / size) - y - rest
        fit = above * np.log1p(np.exp(eta) / size) - y * eta
        return np.asarray(special.gammaln(y + 1.0) + fit - rising)

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return mu + mu^2 / size."""
        mu = self.mean(eta)
        return mu + mu * (mu / self.size_)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the negative binomial one."""
        success = special.expit(math.log(self.size_) - np.clip(eta, -EXTREME, EXTREME))
        floor = np.floor(y)
        return np.where(y < 0.0, 0.0, special.betainc(self.size_, np.maximum(floor, 0.0) + 1.0, success))

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> NegativeBinomial:
        """Return the family with the size that maximises the likelihood at eta."""
        if self.size != "estimate":
            return self
        mu = self.mean(eta)

        def slope(size: float) -> float:
            gain = _digamma_gap(y, size) - np.log1p(mu / size) + (mu - y) / (mu + size)
            return float(weights @ gain)

        largest = max(1.0, float(mu.max()))
        return replace(self, size_=best_positive(slope, 1e-3, min(1e6 * largest, 1e60)))

    @property
    def nuisance(self) -> str | None:
        """The size, if it is not given."""
        return "size_" if self.size == "estimate" else None

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Draw Polya-gamma weights (y + size, eta - log size), with targets (y - size) / 2w + log size."""
        level = math.log(self.size_)
        trials = counts * (y + self.size_)
        weights = np.maximum(draw_polya_gamma(trials, eta - level, rng), WEIGHT_FLOOR**2)
        return Working(weights, 0.5 * counts * (y - self.size_) / weights + level)

    def redraw(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> NegativeBinomial:
        """Return the family with a draw of the size; 1 / sqrt(size) is half-Cauchy."""
        if self.nuisance is None:
            return self

        def log_density(size: float) -> float:
            fit = float(counts @ replace(self, size_=size).neg_log_likelihood(y, eta, sigma2))
            return -0.5 * math.log(size) - math.log1p(1.0 / size) - fit

        return replace(self, size_=draw_positive(log_density, self.size_, SIZE_RANGE, rng))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta: Poisson with a gamma mean."""
        return draw_poisson(self.mean(eta) * (rng.standard_gamma(self.size_, eta.shape) / self.size_), rng)


def _cubes(y: Vector, size: float) -> Vector:
    """Return 1 / size^3 - 1 / (y + size)^3, which is next to nothing for a large size."""
    return np.asarray(-np.expm1(-3.0 * np.log1p(y / size)) / size / size / size)


def _digamma_gap(y: Vector, size: float) -> Vector:
    """Return digamma(y + size) - digamma(size), accurately also where they are almost the same."""
    if size < LARGE_SIZE:
        return np.asarray(special.digamma(y + size) - special.digamma(size))
    above = y + size
    return np.asarray(
        np.log1p(y / size) + 0.5 * y / (size * above) + (above + size) * y / (12.0 * (size * above) ** 2)
    )
