"""Amounts: positive, or zero and positive, with a log link.

The dispersion is the sigma2 of the model, so that the prior variance of a coefficient is sigma2 tau2 lambda2
as in the Gaussian case, and the noise step is the same: E[RSS]/n of the working problem is Pearson's
statistic with a share for the coefficients, and ends at Pearson's statistic over n less the degrees of
freedom in use. A dispersion that maximises the likelihood at the coefficients has no such share: with more
columns than rows it would end at no noise at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from horseshoe._checks import check_number
from horseshoe._types import Vector
from horseshoe.families.base import EXTREME, EXTREME_WEIGHT, WEIGHT_FLOOR, Family, Working, refuse
from horseshoe.families.compound import HALF_LOG_2PI, compound_cdf, log_sum, stirling_rest
from horseshoe.families.location import with_noise
from horseshoe.families.log_link import LARGEST, LogLink, draw_poisson

# No y is taken to be more than so many times its mean: the square would be out of range.
FARTHEST = 1e100


class Amounts(LogLink):
    """Families of amounts whose variance is a power of their mean times sigma2."""

    has_dispersion = True
    rowwise = True
    wide_start = None
    unit_: float = 1.0

    def check(self, y: Vector) -> None:
        """Refuse what is no amount."""
        refuse(y, y > LARGEST, f"is beyond {LARGEST:g}: use larger units")
        refuse(y, (y > 0.0) & (y < 1.0 / LARGEST), f"is below {1.0 / LARGEST:g}: use smaller units, or 0")

    def intercept_alone(self, y: Vector, weights: Vector, offset: Vector) -> float:
        """Return the logarithm of the amount in all, or of half a unit, over the exposure in all."""
        return math.log(float(weights @ y) or 0.5 * self.unit_) - float(special.logsumexp(offset, b=weights))


def relative_gap(y: Vector, mean: Vector) -> Vector:
    """Return (y - mean) / mean, held within bounds.

    Examples
    --------
    >>> relative_gap(np.array([3.0]), np.array([2.0]))
    array([0.5])
    """
    return (y - mean) / np.maximum(mean, y / FARTHEST)


@dataclass(frozen=True)
class Gamma(Amounts):
    """Positive amounts with a standard deviation in proportion to their mean, log link: y has shape 1/sigma2.

    sigma2 is the dispersion, the square of the coefficient of variation.

    Examples
    --------
    >>> Gamma().working(np.array([3.0]), np.log([2.0]), 1.0)
    Working(weights=array([1.]), targets=array([1.19314718]))
    """

    def check(self, y: Vector) -> None:
        """Refuse what is not positive."""
        refuse(
            y, y == 0.0, "is zero, and gamma amounts are above 0: family='tweedie' is for amounts with zeros"
        )
        refuse(y, y < 0.0, "is negative, and gamma amounts are above 0")
        super().check(y)

    def start(self, y: Vector) -> Vector:
        """Return log y."""
        return np.log(y)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return weights of 1, the expected information, and eta + (y - mu) / mu."""
        return Working(np.ones_like(y), eta + relative_gap(y, self.mean(eta)))

    @np.errstate(over="ignore")
    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of the gamma distribution, with Stirling's formula in it, so that nothing cancels."""
        log_y = np.log(y)
        gap = np.minimum(log_y - eta, EXTREME)
        rest = (
            HALF_LOG_2PI
            + 0.5 * math.log(with_noise(sigma2))
            + float(stirling_rest(np.array([1.0 / sigma2]))[0])
        )
        return np.asarray((np.expm1(gap) - gap) / sigma2 + log_y + rest)

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2 mu^2."""
        return np.asarray(sigma2 * self.mean(eta) ** 2)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of the gamma distribution."""
        return np.asarray(special.gammainc(1.0 / sigma2, np.maximum(y, 0.0) / self.mean(eta) / sigma2))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta."""
        return np.asarray(self.mean(eta) * (sigma2 * rng.standard_gamma(1.0 / sigma2, eta.shape)))


class ScaledPoisson(Amounts):
    """y / sigma2 is Poisson: the end of `Tweedie` at power 1. Elsewhere it is no density."""

    @np.errstate(over="ignore")
    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of Poisson for y / sigma2, spread over the sigma2 from one multiple to the next.

        So it can be compared for other sigma2; with 1 it is that of Poisson.
        """
        count, mean, log_sigma2 = y / with_noise(sigma2), self.mean(eta) / sigma2, math.log(sigma2)
        return np.asarray(mean - count * (eta - log_sigma2) + special.gammaln(count + 1.0) + log_sigma2)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of Poisson for y / sigma2."""
        count = np.floor(np.maximum(y, 0.0) / sigma2 * (1.0 + 1e-12))
        return np.where(y < 0.0, 0.0, special.pdtr(count, self.mean(eta) / sigma2))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta."""
        return np.asarray(sigma2 * draw_poisson(self.mean(eta) / sigma2, rng))


# So many amounts add up to a normal one as far as floats can tell.
UNCOUNTED = 1e9
# What the ends of the powers of `Tweedie` are.
ENDS: dict[float, Amounts] = {1.0: ScaledPoisson(), 2.0: Gamma()}


@dataclass(frozen=True)
class Tweedie(Amounts):
    """Amounts that may be zero, log link: a Poisson number of gamma amounts, with a variance ~ mean^power.

    Parameters
    ----------
    power : float, default=1.5
        From 1 to 2: the nearer to 1, the more the number of amounts varies, and the less their size. 2 is
        `Gamma`, which has no zeros. At 1 it is quasi-Poisson: y over its dispersion is Poisson, which makes
        sense of coefficients and intervals at the mode, but there is no density to sample with.
    unit : "mean" or float, default="mean"
        The variance is sigma2 unit^2 (mean/unit)^power. With "mean" the unit is the mean of y, so
        that sigma2 is the squared coefficient of variation there, and does not depend on
        the currency, nor does the prior of the coefficients. With 1 it is the dispersion of other software.

    Examples
    --------
    >>> Tweedie(power=1.5, unit=1.0).variance(np.log([4.0]), 2.0)
    array([16.])
    """

    power: float = 1.5
    unit: str | float = "mean"
    unit_: float = 1.0
    mean_: float = field(default=1.0, repr=False)

    def __post_init__(self) -> None:
        check_number("power", self.power, low=1.0, high=2.0, low_allowed=True)
        if self.unit != "mean":
            object.__setattr__(self, "unit_", check_number("unit", self.unit, instead=" or 'mean'"))

    @property
    def has_density(self) -> bool:
        """Whether there is one: not at power 1, unless the dispersion is known to be 1."""
        return self.power > 1.0

    def check(self, y: Vector) -> None:
        """Refuse what is negative; and zeros at power 2."""
        if self.power == 2.0:
            refuse(y, y == 0.0, "is 0, which has no density at power=2: take a power below 2")
        refuse(y, y < 0.0, "is negative: amounts must be 0 or more")
        super().check(y)

    def adapt_to(self, y: Vector, weights: Vector, offset: Vector) -> Family:
        """Return the family with the mean of y, as its unit if that is what it is to be."""
        if not y.any():
            return self
        mean = float(weights @ y / weights.sum())
        return replace(self, mean_=mean, unit_=mean if self.unit == "mean" else self.unit_)

    def dispersion(self, sigma2: Any) -> Any:
        """Return the dispersion in units of y: the variance is so many times mean^power."""
        return sigma2 * self.unit_ ** (2.0 - self.power)

    def start(self, y: Vector) -> Vector:
        """Return the logarithm of the middle between y and its mean."""
        return np.log(y + self.mean_) - math.log(2.0)

    def link(self, mean: Vector) -> Vector:
        """Return the logarithm; so low for 0 that all amounts are almost sure to be."""
        least = -EXTREME / max(2.0 - self.power, 1e-3)
        return np.where(mean > 0.0, np.log(np.maximum(mean, math.exp(-EXTREME))), least)

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return the level at which half a unit is expected in all, if there is nothing."""
        return None if y.any() else self.intercept_alone(y, weights, offset)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return (mu/unit)^(2-p), the expected information, and eta + (y - mu) / mu."""
        log_weight = (2.0 - self.power) * (eta - math.log(self.unit_))
        information = np.exp(np.clip(log_weight, -EXTREME, EXTREME_WEIGHT))
        weights = np.maximum(information, WEIGHT_FLOOR)
        return Working(weights, eta + relative_gap(y, self.mean(eta)) * (information / weights))

    @np.errstate(over="ignore")
    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of a Poisson number of gamma amounts: see `compound`."""
        phi, p = self.dispersion(with_noise(sigma2)), self.power
        if p in ENDS:
            return ENDS[p].neg_log_likelihood(y, eta, phi)
        out = np.exp(np.minimum((2.0 - p) * eta, EXTREME)) / (phi * (2.0 - p))  # the number of amounts
        some = y > 0.0
        amounts = y[some]
        log_y = np.log(amounts)
        t = eta[some] - log_y
        up, down = (np.expm1(np.minimum(q * t, EXTREME)) / q for q in (2.0 - p, 1.0 - p))
        constant = 2.0 * HALF_LOG_2PI - 0.5 * math.log((2.0 - p) / (p - 1.0)) + log_y
        out[some] = amounts ** (2.0 - p) * (up - down) / phi + constant - log_sum(amounts, p, phi)
        return np.asarray(out)

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2 unit^2 (mu/unit)^p."""
        return np.asarray(self.dispersion(sigma2) * self.mean(eta) ** self.power)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of a Poisson number of gamma amounts."""
        phi, p = self.dispersion(sigma2), self.power
        if p in ENDS:
            return np.asarray(ENDS[p].cdf(y, eta, phi))  # type: ignore[attr-defined]
        mean = self.mean(eta)
        number, of_one = mean ** (2.0 - p) / (phi * (2.0 - p)), (2.0 - p) / (p - 1.0)
        many = number > UNCOUNTED
        with np.errstate(over="ignore", invalid="ignore"):
            amounts = np.where(many, 1.0, np.maximum(y, 0.0) * mean ** (1.0 - p) / (phi * (p - 1.0)))
            found = compound_cdf(y, np.where(many, 1.0, number), of_one, amounts)
            normal = special.ndtr((y / mean - 1.0) * np.sqrt(mean ** (2.0 - p) / phi))
        return np.where(many, normal, found)

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta."""
        phi, p = self.dispersion(sigma2), self.power
        if p in ENDS:
            return ENDS[p].simulate(eta, phi, rng)
        mean = self.mean(eta)
        number = draw_poisson(mean ** (2.0 - p) / (phi * (2.0 - p)), rng)
        amounts = rng.standard_gamma(number * ((2.0 - p) / (p - 1.0)))
        return np.asarray(amounts * (phi * (p - 1.0) * mean ** (p - 1.0)))
