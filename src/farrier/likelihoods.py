"""The families: what a likelihood has to say, and those that come with farrier.

The loop sees a family only through weights and targets: at the linear predictor eta, the log-likelihood of
row i is replaced by that of a Gaussian target z_i with variance sigma2 / w_i, so that the slope is the same,
w_i (z_i - eta_i) / sigma2 = d log p(y_i | eta_i) / d eta_i. The fixed point is then a stationary point of the
likelihood itself, whatever the weights are; they decide how fast it is reached and how wide the conditional
posterior of the coefficients is taken to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from farrier._types import Status, Vector
from farrier._validation import check_choice, check_number

EXTREME = 700.0
"""The linear predictor is held within this: exp of it is still finite."""
WEIGHT_FLOOR = 1e-10
"""Newton weights below this count as this much: the step is shorter, where it ends is the same."""
LOG_2PI = math.log(2.0 * math.pi)


class Working(NamedTuple):
    """A least-squares problem that stands for the likelihood near eta: one weight and target a row."""

    weights: Vector
    targets: Vector


class Likelihood:
    """A family. Derive from it, and say the five things that have no default.

    Attributes
    ----------
    has_dispersion : bool
        Whether the family has a noise variance sigma2 to estimate; if not, sigma2 is 1.
    positive_only : bool
        Whether y must not be negative.
    discrete : bool
        Whether y is a whole number.
    never_overshoots : bool
        Whether the step to the targets never lowers the likelihood, as with the weights of a scale mixture;
        otherwise each step is checked, and halved until it does not.
    """

    has_dispersion: bool = False
    positive_only: bool = False
    discrete: bool = False
    never_overshoots: bool = False

    def check(self, y: Vector) -> None:
        """Raise ValueError, with the row, if the family cannot have produced ``y``."""

    def start(self, y: Vector) -> Vector:
        """Return a linear predictor near ``y``, finite for every y that `check` accepts."""
        raise NotImplementedError

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return weights and targets at ``eta``."""
        raise NotImplementedError

    def mean(self, eta: Vector) -> Vector:
        """Return E[y]: the inverse link."""
        raise NotImplementedError

    def link(self, mean: Vector) -> Vector:
        """Return the eta whose mean is ``mean``, held within finite bounds."""
        raise NotImplementedError

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return -log p(y_i | eta_i) for each row, with every constant."""
        raise NotImplementedError

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return Var[y] given eta; needed only for ``predict(return_std=True)``."""
        raise NotImplementedError(f"{type(self).__name__} does not say its variance: give it a method for it")

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector | None:
        """Return P(Y <= y) given eta; without it, predictive intervals are those of the mean."""
        return None

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> Likelihood:
        """Return the family with what it estimates beside the coefficients set to its best value at eta."""
        return self

    def information(self) -> float | None:
        """Return sigma2 times the expected information of a row about eta, if the same for all.

        Then the spread of the coefficients comes from it. None: from the working weights.
        """
        return None

    def scale(self, y: Vector, weights: Vector) -> float:
        """Return the unit of y on which the prior acts; other than 1 only for y = eta + noise."""
        return 1.0

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return an intercept if the likelihood of y has none that is finite, as with all-zero counts."""
        return None

    def remark(self, y: Vector, eta: Vector) -> Status | None:
        """Return a status that says more of a fit than that it converged."""
        return None


class Location(Likelihood):
    """Families of y = eta + noise, a scale mixture of normals."""

    has_dispersion = True
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

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return weights of 1 and y."""
        return Working(np.ones_like(y), y)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the normal one."""
        return np.asarray(0.5 * (LOG_2PI + math.log(sigma2) + (y - eta) ** 2 / sigma2))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2."""
        return np.full(eta.shape, sigma2)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the normal one."""
        return np.asarray(special.ndtr((y - eta) / math.sqrt(sigma2)))


@dataclass(frozen=True)
class Binomial(Likelihood):
    """Two classes, or proportions of successes (then the numbers of trials are the sample weights).

    Parameters
    ----------
    weights : {"polya_gamma", "irls"}, default="polya_gamma"
        tanh(eta/2) / (2 eta), the mean of the scale mixture of Polson, Scott and Windle, whose steps never
        overshoot; or mu (1 - mu), those of Newton's method, which are smaller where eta is large.

    Examples
    --------
    >>> Binomial().working(np.array([0.0, 1.0]), np.array([0.0, 1000.0]), 1.0).weights
    array([0.25  , 0.0005])
    """

    weights: str = "polya_gamma"

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, ("polya_gamma", "irls"))

    @property
    def never_overshoots(self) -> bool:  # type: ignore[override]
        """Whether the weights are those of the scale mixture."""
        return self.weights == "polya_gamma"

    def check(self, y: Vector) -> None:
        """Refuse what is not between 0 and 1."""
        _refuse(y, (y < 0.0) | (y > 1.0), "must be 0 or 1, or a proportion between them")

    def start(self, y: Vector) -> Vector:
        """Return the logit of (y + 1/2) / 2."""
        return np.asarray(special.logit((y + 0.5) / 2.0))

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the weights chosen, and targets with the slope of the likelihood."""
        if self.weights == "polya_gamma":
            weights = polya_gamma_mean(eta)
            return Working(weights, (y - 0.5) / weights)
        mu = special.expit(eta)
        weights = np.maximum(mu * special.expit(-eta), WEIGHT_FLOOR)
        return Working(weights, eta + (y - mu) / weights)

    def mean(self, eta: Vector) -> Vector:
        """Return the probability of success."""
        return np.asarray(special.expit(eta))

    def link(self, mean: Vector) -> Vector:
        """Return the logit."""
        return np.asarray(np.clip(special.logit(mean), -EXTREME, EXTREME))

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return log(1 + e^eta) - y eta."""
        return np.asarray(np.logaddexp(0.0, eta) - y * eta)

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return mu (1 - mu)."""
        return np.asarray(special.expit(eta) * special.expit(-eta))

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return the logit of a half success (or failure) in all, if there is none."""
        if 0.0 < float(weights @ y) < float(weights.sum()):
            return None
        rate = float((weights @ y + 0.5) / (weights.sum() + 1.0))
        return float(special.logit(rate) - weights @ offset / weights.sum())

    def remark(self, y: Vector, eta: Vector) -> Status | None:
        """Say so if the classes are perfectly separated."""
        return Status.SEPARATED if bool(np.all((2.0 * y - 1.0) * eta > 0.0)) else None


class _Counts(Likelihood):
    """Families with a log link."""

    positive_only = True
    discrete = True

    def check(self, y: Vector) -> None:
        """Refuse negative counts, and a fractional one among whole ones."""
        _refuse(y, y < 0.0, "is negative: counts must be 0 or more")
        fractional = y != np.floor(y)
        if 2 * int(fractional.sum()) <= y.size:  # else these are rates or amounts
            _refuse(y, fractional, "is fractional among whole numbers: counts must be whole")

    def start(self, y: Vector) -> Vector:
        """Return log(y + 1/2)."""
        return np.log(y + 0.5)

    def mean(self, eta: Vector) -> Vector:
        """Return exp(eta)."""
        return np.exp(np.clip(eta, -EXTREME, EXTREME))

    def link(self, mean: Vector) -> Vector:
        """Return the logarithm."""
        return np.log(np.maximum(mean, math.exp(-EXTREME)))

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return the rate at which half a count is expected in all, if there is none."""
        if y.any():
            return None
        return math.log(0.5) - float(special.logsumexp(offset, b=weights))


@dataclass(frozen=True)
class Poisson(_Counts):
    """Counts whose variance is their mean, log link, Newton weights.

    Examples
    --------
    >>> Poisson().working(np.array([3.0]), np.array([0.0]), 1.0)
    Working(weights=array([1.]), targets=array([2.]))
    """

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return mu and eta + (y - mu) / mu."""
        mu = self.mean(eta)
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


@dataclass(frozen=True)
class NegativeBinomial(_Counts):
    """Counts with variance mu + mu^2 / size, log link, weights from the expected information.

    Parameters
    ----------
    size : "estimate" or float, default="estimate"
        The smaller, the more overdispersed; 1/size is called alpha elsewhere. Estimated by maximum
        likelihood at each eta, at most 1e6, which is Poisson.

    Examples
    --------
    >>> NegativeBinomial(size=2.0).variance(np.array([0.0]), 1.0)
    array([1.5])
    """

    size: str | float = "estimate"
    current: float = 1.0

    def __post_init__(self) -> None:
        if self.size != "estimate":
            fixed = check_number("size", self.size, instead=" or 'estimate'")
            object.__setattr__(self, "current", fixed)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return mu / (1 + mu/size) and eta + (y - mu) / mu."""
        mu = self.mean(eta)
        shrunk = 1.0 / (1.0 + mu / self.current)
        weights = np.maximum(mu * shrunk, WEIGHT_FLOOR)
        return Working(weights, eta + (y - mu) * shrunk / weights)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the negative binomial one."""
        size = self.current
        log_odds = np.clip(eta, -EXTREME, EXTREME) - math.log(size)  # of mu / size
        ratio = np.logaddexp(0.0, log_odds)
        # log y! + lgamma(size) - lgamma(y + size), which would cancel for a large size
        coefficient = special.betaln(y + 1.0, size) + np.log(y + size)
        return np.asarray(coefficient - y * (log_odds - ratio) + size * ratio)

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return mu + mu^2 / size."""
        mu = self.mean(eta)
        return mu + mu * (mu / self.current)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return the negative binomial one."""
        success = special.expit(math.log(self.current) - np.clip(eta, -EXTREME, EXTREME))
        floor = np.floor(y)
        return np.where(y < 0.0, 0.0, special.betainc(self.current, np.maximum(floor, 0.0) + 1.0, success))

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> NegativeBinomial:
        """Return the family with the size that maximises the likelihood at eta."""
        if self.size != "estimate":
            return self
        eta = np.clip(eta, -EXTREME, EXTREME)

        def slope(size: float) -> float:
            ratio = np.logaddexp(0.0, eta - math.log(size))  # log(1 + mu/size)
            gap = special.digamma(y + size) - special.digamma(size)
            return float(weights @ (gap - ratio + 1.0 - (y + size) / (np.exp(eta) + size)))

        return replace(self, current=_best_positive(slope, 1e-3, 1e6))


@dataclass(frozen=True)
class StudentT(Location):
    """y = eta + noise with heavy tails: a scale mixture of normals in which outliers get little weight.

    Parameters
    ----------
    df : "estimate" or float, default="estimate"
        The degrees of freedom: the fewer, the more robust. Noise with a share of gross outliers above
        1 / (1 + df) inflates the scale, so a fixed df should be small; estimated, it follows the data.

    Examples
    --------
    >>> StudentT(df=4.0).working(np.array([0.0, 9.0]), np.zeros(2), 1.0).weights.round(3)
    array([1.25 , 0.059])
    """

    df: str | float = "estimate"
    current: float = 4.0

    def __post_init__(self) -> None:
        if self.df != "estimate":
            fixed = check_number("df", self.df, instead=" or 'estimate'")
            object.__setattr__(self, "current", fixed)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the expected precisions (df + 1) / (df + r^2 / sigma2), and y."""
        squared = (y - eta) ** 2 / sigma2
        return Working((self.current + 1.0) / (self.current + squared), y)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return Student's."""
        df = self.current
        constant = special.gammaln(0.5 * df) - special.gammaln(0.5 * (df + 1.0))
        constant += 0.5 * math.log(df * math.pi * sigma2)
        return np.asarray(constant + 0.5 * (df + 1.0) * np.log1p((y - eta) ** 2 / (sigma2 * df)))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2 df / (df - 2), which is infinite for df <= 2."""
        df = self.current
        return np.full(eta.shape, sigma2 * df / (df - 2.0) if df > 2.0 else np.inf)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return Student's."""
        return np.asarray(special.stdtr(self.current, (y - eta) / math.sqrt(sigma2)))

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> StudentT:
        """Return the family with the degrees of freedom that maximise the likelihood at eta."""
        if self.df != "estimate":
            return self
        squared = (y - eta) ** 2 / sigma2

        def slope(df: float) -> float:
            constant = special.digamma(0.5 * (df + 1.0)) - special.digamma(0.5 * df) - 1.0 / df
            tail = (df + 1.0) * squared / (df * (df + squared)) - np.log1p(squared / df)
            return float(weights @ (constant + tail))

        return replace(self, current=_best_positive(slope, 0.5, 200.0))

    def information(self) -> float:
        """Return (df + 1) / (df + 3)."""
        return (self.current + 1.0) / (self.current + 3.0)


@dataclass(frozen=True)
class Laplace(Location):
    """y = eta + Laplace noise of scale sigma: least absolute deviations, the regression of the median.

    Examples
    --------
    >>> Laplace().working(np.array([2.0, 10.0]), np.zeros(2), 1.0).weights
    array([0.5, 0.1])
    """

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the expected precisions sigma / |r|, and y; |r| counts as at least 1e-6 sigma."""
        sigma = math.sqrt(sigma2)
        return Working(sigma / np.maximum(np.abs(y - eta), 1e-6 * sigma), y)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return |r| / sigma + log(2 sigma)."""
        sigma = math.sqrt(sigma2)
        return np.asarray(np.abs(y - eta) / sigma + math.log(2.0 * sigma))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return 2 sigma2."""
        return np.full(eta.shape, 2.0 * sigma2)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of Laplace."""
        r = (y - eta) / math.sqrt(sigma2)
        tail = 0.5 * np.exp(-np.abs(r))
        return np.where(r > 0.0, 1.0 - tail, tail)

    def information(self) -> float:
        """Return 1: the weights sigma / |r| would make the coefficients far too certain."""
        return 1.0


FAMILIES: dict[str, Callable[[], Likelihood]] = {
    "gaussian": Gaussian,
    "poisson": Poisson,
    "negative_binomial": NegativeBinomial,
    "student_t": StudentT,
    "laplace": Laplace,
}


def resolve_family(family: Any) -> Likelihood:
    """Return the likelihood that is named or given.

    Examples
    --------
    >>> resolve_family("poisson")
    Poisson()
    """
    if isinstance(family, Likelihood):
        return family
    if isinstance(family, type) and issubclass(family, Likelihood):
        return family()
    hint = ": for two classes use HorseshoeClassifier" if family == "binomial" else ""
    check_choice("family", family, tuple(FAMILIES), f", or an object of farrier.likelihoods{hint}")
    return FAMILIES[family]()


def polya_gamma_mean(eta: Vector) -> Vector:
    """Return tanh(eta/2) / (2 eta), which is 1/4 at 0.

    Examples
    --------
    >>> polya_gamma_mean(np.array([0.0, 1e-9, 2.0]))
    array([0.25      , 0.25      , 0.19039854])
    """
    safe = np.where(np.abs(eta) < 1e-4, 1.0, eta)
    return np.where(np.abs(eta) < 1e-4, 0.25 - eta * eta / 48.0, np.tanh(0.5 * safe) / (2.0 * safe))


def weighted_median(values: Vector, weights: Vector) -> float:
    """Return the middle of the values that have half of the weight below and half above.

    Examples
    --------
    >>> weighted_median(np.array([1.0, 5.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    reached, half = np.cumsum(weights[order]), 0.5 * float(weights.sum())
    low, high = int(np.searchsorted(reached, half, "left")), int(np.searchsorted(reached, half, "right"))
    return 0.5 * float(values[order[low]] + values[order[min(high, values.size - 1)]])


def _refuse(y: Vector, wrong: Any, why: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"y in row {row} is {y[row]:g}: it {why}")


def _best_positive(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return where the slope of a log-likelihood changes sign between low and high, or the better end."""
    if slope(low) <= 0.0:
        return low
    if slope(high) >= 0.0:
        return high
    from scipy.optimize import brentq  # imported here: most fits never need it

    return math.exp(brentq(lambda t: slope(math.exp(t)), math.log(low), math.log(high), xtol=1e-13))
