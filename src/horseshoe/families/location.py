"""Families of y = eta + noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from horseshoe._types import Vector
from horseshoe.families.base import (
    WEIGHT_FLOOR,
    Family,
    Working,
    best_positive,
    draw_positive,
    number_or_guess,
    weighted_median,
)

# Where the degrees of freedom are looked for.
DF_RANGE = (2.1, 200.0)
# The prior of the degrees of freedom where they are sampled: gamma (Juarez and Steel), within DF_RANGE.
DF_SHAPE, DF_RATE = 2.0, 0.1
LOG_2PI = math.log(2.0 * math.pi)


def with_noise(sigma2: float) -> float:
    """Return the noise variance, or say that there is no noise, as of a fit to a constant y.

    Examples
    --------
    >>> with_noise(2.0)
    2.0
    """
    if sigma2 <= 0.0:
        raise ValueError(
            "the noise variance is 0, as of a fit to a constant y: then y has no density, and there is no "
            "log-likelihood; give a positive sigma2 to fit with"
        )
    return sigma2


class Location(Family):
    """Families of y = eta + noise, a scale mixture of normals."""

    is_location = True
    squared_error = True
    has_dispersion = True
    wide_start = None
    never_overshoots = True

    def start(self, y: Vector) -> Vector:
        """Return y."""
        return y

    def mean(self, eta: Vector) -> Vector:
        """Return eta."""
        return eta

    def link(self, mean: Vector) -> Vector:
        """Return the mean."""
        return mean

    def scale(self, y: Vector, weights: Vector) -> float:
        """Return 1.4826 times the median absolute deviation, or the mean one if that is zero."""
        deviation = np.abs(y - weighted_median(y, weights))
        spread = 1.4826 * weighted_median(deviation, weights)
        return spread if spread > 0.0 else float(weights @ deviation / weights.sum())


@dataclass(frozen=True)
class Gaussian(Location):
    """y = eta + normal noise: the paper's linear model. Weights are 1 and targets are y.

    Examples
    --------
    >>> Gaussian().working(np.array([1.0, 2.0]), np.zeros(2), 1.0).targets
    array([1., 2.])
    """

    constant_weights = True

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return weights of 1 and y."""
        return Working(np.ones_like(y), y)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the normal one."""
        return np.asarray(0.5 * (LOG_2PI + math.log(with_noise(sigma2)) + (y - eta) ** 2 / sigma2))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2."""
        return np.full(eta.shape, sigma2)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the normal one."""
        return np.asarray(special.ndtr((y - eta) / math.sqrt(sigma2)))

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Return the counts and y: nothing is latent."""
        return Working(counts, y)

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta."""
        return np.asarray(eta + np.sqrt(sigma2) * rng.standard_normal(eta.shape))


@dataclass(frozen=True)
class StudentT(Location):
    """y = eta + noise with heavy tails: a scale mixture of normals in which outliers get little weight.

    Parameters
    ----------
    df : "estimate" or float, default="estimate"
        The degrees of freedom: the fewer, the more robust. A share of gross outliers above 1 / (1 + df)
        inflates the scale without bound. Estimated by maximum likelihood between 2.1 and 200: fewer would
        cost more on the rows that are sound than they gain on the others.

    Examples
    --------
    >>> StudentT(df=4.0).working(np.array([0.0, 9.0]), np.zeros(2), 1.0).weights.round(3)
    array([1.25 , 0.059])
    """

    df: str | float = "estimate"
    df_: float = 4.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "df_", number_or_guess("df", self.df, self.df_))

    @property
    def rowwise(self) -> bool:  # type: ignore[override]
        """Whether the degrees of freedom are known: they are estimated from all rows."""
        return not isinstance(self.df, str)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the expected precisions (df + 1) / (df + r^2 / sigma2), and y."""
        squared = (y - eta) ** 2 / sigma2
        return Working((self.df_ + 1.0) / (self.df_ + squared), y)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return Student's."""
        df = self.df_
        constant = special.gammaln(0.5 * df) - special.gammaln(0.5 * (df + 1.0))
        constant += 0.5 * math.log(df * math.pi * with_noise(sigma2))
        return np.asarray(constant + 0.5 * (df + 1.0) * np.log1p((y - eta) ** 2 / (sigma2 * df)))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2 df / (df - 2), which is infinite for df <= 2."""
        df = self.df_
        return np.full(eta.shape, sigma2 * df / (df - 2.0) if df > 2.0 else np.inf)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return Student's."""
        return np.asarray(special.stdtr(self.df_, (y - eta) / math.sqrt(sigma2)))

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> StudentT:
        """Return the family with the degrees of freedom that maximise the likelihood at eta."""
        if self.df != "estimate":
            return self
        squared = (y - eta) ** 2 / sigma2

        def slope(df: float) -> float:
            constant = special.digamma(0.5 * (df + 1.0)) - special.digamma(0.5 * df) - 1.0 / df
            tail = (df + 1.0) * squared / (df * (df + squared)) - np.log1p(squared / df)
            return float(weights @ (constant + tail))

        return replace(self, df_=best_positive(slope, *DF_RANGE))

    @property
    def nuisance(self) -> str | None:
        """The degrees of freedom, if they are not given."""
        return "df_" if self.df == "estimate" else None

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Draw the precisions, gamma((df + 1)/2, (df + r^2/sigma2)/2), and return y.

        Of rows that are repeated only the sum of their precisions matters, a gamma variate too.
        """
        rate = 0.5 * (self.df_ + (y - eta) ** 2 / sigma2)
        precision = rng.standard_gamma(0.5 * (self.df_ + 1.0) * counts) / rate
        return Working(np.maximum(precision, WEIGHT_FLOOR**2), y)  # of tiny counts all may underflow

    def redraw(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> StudentT:
        """Return the family with a draw of the degrees of freedom."""
        if self.nuisance is None:
            return self

        def log_density(df: float) -> float:
            fit = float(counts @ replace(self, df_=df).neg_log_likelihood(y, eta, sigma2))
            return DF_SHAPE * math.log(df) - DF_RATE * df - fit

        return replace(self, df_=draw_positive(log_density, self.df_, DF_RANGE, rng))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta."""
        return np.asarray(eta + np.sqrt(sigma2) * rng.standard_t(self.df_, eta.shape))

    def information(self) -> float:
        """Return (df + 1) / (df + 3)."""
        return (self.df_ + 1.0) / (self.df_ + 3.0)
