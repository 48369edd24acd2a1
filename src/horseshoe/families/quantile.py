"""Families of y = eta + Laplace noise, with like or unlike tails: medians and quantiles.

With skew k = 2 level - 1 the loss of a residual r is (|r| + k r) / sigma, twice the pinball loss. Given a
variance v, which is exponential with rate (1 - k^2)/2, r / sigma is normal with mean -k v and variance v: so
y is Gaussian around eta - k sigma v, and given r the density of v is that of the Laplace family, whatever k
is. The weights are 1/v, and the targets are y + k sigma v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from horseshoe._checks import check_level
from horseshoe._types import Matrix, Vector
from horseshoe.families.base import Working, weighted_median, weighted_quantile
from horseshoe.families.location import Location, with_noise
from horseshoe.families.pinball import least_pinball
from horseshoe.variates import reciprocal_inverse_gaussian

# By how much the weights sharpen in a step, and how sharp they become.
SHARPEN, SHARP, SHARPEST = 0.8, 1e-6, 1e-9


@dataclass(frozen=True)
class AsymmetricLaplace(Location):
    """What the families of this file have in common; ``skew`` is 2 level - 1."""

    interval = "posterior"
    skew = 0.0
    blur: float = field(default=1.0, repr=False, kw_only=True)
    floor: float = field(default=1.0, repr=False, kw_only=True)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the expected precisions sigma / |r|, and y + skew |r|; |r| is at least ``floor`` sigma."""
        sigma = math.sqrt(sigma2)
        size = np.maximum(np.abs(y - eta), self.floor * sigma)
        return Working(sigma / size, y + self.skew * size)

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> AsymmetricLaplace:
        """Return the family with a lower floor: ``blur`` times the median |r|, and less blur each time.

        Residuals near zero would hold the coefficients where they are while the scales still move.
        """
        blur = max(SHARPEN * self.blur, SHARP)
        typical = weighted_median(np.abs(y - eta), weights) / math.sqrt(sigma2)
        return replace(self, blur=blur, floor=max(blur * typical, SHARPEST))

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return (|r| + skew r) / sigma + log(2 sigma / (1 - skew^2))."""
        sigma, r = math.sqrt(with_noise(sigma2)), y - eta
        return np.asarray((np.abs(r) + self.skew * r) / sigma + math.log(2.0 * sigma / (1.0 - self.skew**2)))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return 2 sigma2 (1 + skew^2) / (1 - skew^2)^2."""
        square = self.skew**2
        return np.full(eta.shape, 2.0 * sigma2 * (1.0 + square) / (1.0 - square) ** 2)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of two exponential tails, of which the lower one has the level."""
        r = (y - eta) / math.sqrt(sigma2)
        tail = 0.5 * np.exp(-np.abs(r) - self.skew * r)
        return np.where(r > 0.0, 1.0 - (1.0 - self.skew) * tail, (1.0 + self.skew) * tail)

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Draw the variances, of density v^-1/2 exp(-(v + (r/sigma)^2 / v)/2), and return y + skew sigma v.

        The precisions are inverse Gaussian, with mean 1/a and shape 1 for a = |r|/sigma. Of rows that are
        repeated w times only their sum matters, which is inverse Gaussian too, with mean w/a and shape w^2:
        w^2 times one of mean 1/(w a) and shape 1.
        """
        sigma = math.sqrt(sigma2)
        variance = reciprocal_inverse_gaussian(counts * (np.abs(y - eta) / sigma), rng)
        precision = counts * (counts / np.maximum(variance, counts * SHARPEST**2))
        return Working(precision, y + (self.skew * sigma) * (counts / precision))

    def best(self, y: Vector, basis: Matrix, weights: Vector, tol: float) -> Vector:
        """Return the coefficients of the basis with the least loss, or one above it by the share ``tol``."""
        return least_pinball(y, basis, weights, 0.5 * (1.0 + self.skew), tol)

    def information(self) -> float:
        """Return 1 - skew^2: the weights sigma / |r| would make the coefficients far too certain."""
        return 1.0 - self.skew**2


@dataclass(frozen=True)
class Laplace(AsymmetricLaplace):
    """y = eta + Laplace noise of scale sigma: least absolute deviations, the regression of the median.

    Examples
    --------
    >>> Laplace().working(np.array([2.0, 10.0]), np.zeros(2), 1.0).weights
    array([0.5, 0.1])
    """

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta."""
        return np.asarray(eta + np.sqrt(sigma2) * rng.laplace(size=eta.shape))


@dataclass(frozen=True)
class Quantile(AsymmetricLaplace):
    """y = eta + asymmetric Laplace noise: the regression of a quantile of y. Level 0.5 is `Laplace`.

    Predictions are the quantile. Intervals take the noise to be asymmetric Laplace, which is a way to the
    quantile rather than a description of y: where it is not, they are a rough guide.

    Parameters
    ----------
    level : float, default=0.5
        The share of y below eta, above 0 and below 1.

    Examples
    --------
    >>> Quantile(level=0.9).working(np.array([2.0, -2.0]), np.zeros(2), 1.0).targets
    array([ 3.6, -0.4])
    """

    squared_error = False
    noise_is_conjugate = False
    level: float = 0.5
    noise_share: float = field(default=1.0, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        check_level(self.level)

    @property
    def skew(self) -> float:  # type: ignore[override]
        """2 level - 1."""
        return 2.0 * self.level - 1.0

    def intercept_alone(self, y: Vector, weights: Vector, offset: Vector) -> float:
        """Return the quantile."""
        return weighted_quantile(y - offset, weights, self.level)

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> Quantile:
        """Return the family with a lower floor, and with the share that makes sigma the mean loss.

        The mean loss |r| + skew r is the best sigma at eta, and the targets are skew |r| away from y.
        """
        found = super().update(y, eta, sigma2, weights)
        assert isinstance(found, Quantile)
        r = y - eta
        loss = float(weights @ (np.abs(r) + self.skew * r))
        if self.skew == 0.0 or loss <= 0.0:
            return found
        working = found.working(y, eta, sigma2)
        square = float(weights @ (working.weights * (working.targets - eta) ** 2))
        return replace(found, noise_share=square / (math.sqrt(sigma2) * loss))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta: the difference of two exponential variates."""
        up, down = rng.standard_exponential(eta.shape), rng.standard_exponential(eta.shape)
        return np.asarray(eta + np.sqrt(sigma2) * (up / (1.0 + self.skew) - down / (1.0 - self.skew)))
