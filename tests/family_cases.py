"""Every family beside SciPy's distribution of its response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from horseshoe.families import (
    Binomial,
    Family,
    Gamma,
    Gaussian,
    Huber,
    Laplace,
    NegativeBinomial,
    Poisson,
    Quantile,
    StudentT,
    Tweedie,
)


@dataclass(frozen=True)
class FamilyCase:
    """A family, and SciPy's distribution of y given eta and sigma2, which knows nothing of horseshoe."""

    name: str
    family: Family
    distribution: Callable[[Any, float], Any]

    @property
    def counts(self) -> bool:
        return self.family.discrete

    @property
    def amounts(self) -> bool:
        return self.family.positive_only and not self.family.discrete

    def draw(self, eta: Any, rng: np.random.Generator, sigma2: float = 1.0) -> Any:
        """Simulate y."""
        return np.asarray(self.distribution(np.asarray(eta), sigma2).rvs(random_state=rng), dtype=float)

    def log_density(self, y: Any, eta: Any, sigma2: float = 1.0) -> Any:
        """Return log p(y | eta), with every constant."""
        distribution = self.distribution(np.asarray(eta), sigma2)
        return (distribution.logpmf if hasattr(distribution, "logpmf") else distribution.logpdf)(y)

    def slope(self, y: Any, eta: Any, sigma2: float = 1.0, step: float = 1e-5) -> Any:
        """Return the derivative of the log density in eta."""
        above, below = (self.log_density(y, eta + h, sigma2) for h in (step, -step))
        return (above - below) / (2 * step)


def _normal(eta: Any, sigma2: float) -> Any:
    return stats.norm(eta, np.sqrt(sigma2))


def _bernoulli(eta: Any, sigma2: float) -> Any:
    return stats.bernoulli(1.0 / (1.0 + np.exp(-eta)))


def _poisson(eta: Any, sigma2: float) -> Any:
    return stats.poisson(np.exp(eta))


def _negative_binomial(size: float) -> Callable[[Any, float], Any]:
    return lambda eta, sigma2: stats.nbinom(size, size / (size + np.exp(eta)))


def _student(df: float) -> Callable[[Any, float], Any]:
    return lambda eta, sigma2: stats.t(df, eta, np.sqrt(sigma2))


def _laplace(eta: Any, sigma2: float) -> Any:
    return stats.laplace(eta, np.sqrt(sigma2))


def _gamma(eta: Any, sigma2: float) -> Any:
    return stats.gamma(1.0 / sigma2, scale=sigma2 * np.exp(eta))


class CompoundPoisson:
    """A Poisson number of gamma amounts, from its definition: sums over all likely numbers."""

    def __init__(self, eta: Any, dispersion: float, power: float) -> None:
        mean = np.exp(np.asarray(eta, dtype=float))
        self.number = mean ** (2.0 - power) / (dispersion * (2.0 - power))
        self.shape = (2.0 - power) / (power - 1.0)
        self.scale = dispersion * (power - 1.0) * mean ** (power - 1.0)
        self._mean, self._var = mean, dispersion * mean**power

    def mean(self) -> Any:
        return self._mean

    def var(self) -> Any:
        return self._var

    def std(self) -> Any:
        return np.sqrt(self._var)

    def cdf(self, y: Any) -> Any:
        """Return P(Y <= y), y a number, or one for each row."""
        number, scale, y = np.broadcast_arrays(self.number, self.scale, y)
        j = np.arange(1.0, np.max(number + 12.0 * np.sqrt(number)) + 60.0)[:, None]
        some = special.gammainc(self.shape * j, y.ravel() / scale.ravel())
        chance = stats.poisson.pmf(j, number.ravel())
        return (np.exp(-number.ravel()) + (chance * some).sum(axis=0)).reshape(number.shape)

    def ppf(self, probability: float) -> Any:
        """Return the quantiles, by bisection."""
        low, high = np.zeros_like(self._mean), self._mean + 40.0 * self.std()
        for _ in range(60):
            middle = 0.5 * (low + high)
            enough = self.cdf(middle) >= probability
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(self.cdf(0.0 * self._mean) >= probability, 0.0, high)

    def rvs(self, random_state: Any) -> Any:
        number = random_state.poisson(self.number)
        return random_state.standard_gamma(number * self.shape) * self.scale

    def logpdf(self, y: Any) -> Any:
        """Return the log density, and of 0 the log of its probability."""
        each = np.broadcast(y, self.number, self.scale)
        return np.array([self._one(*row) for row in each]).reshape(each.shape)

    def _one(self, y: float, number: float, scale: float) -> float:
        if y == 0.0:
            return -number
        likely = (number * (y / scale / self.shape) ** self.shape) ** (1.0 / (1.0 + self.shape))
        far = 12.0 * np.sqrt(likely) + 60.0
        j = np.arange(max(1.0, np.floor(likely - far)), likely + far)
        terms = stats.poisson.logpmf(j, number) + stats.gamma.logpdf(y, self.shape * j, scale=scale)
        return float(special.logsumexp(terms))


def _tweedie(power: float) -> Callable[[Any, float], Any]:
    return lambda eta, sigma2: CompoundPoisson(eta, sigma2, power)


def _asymmetric_laplace(level: float) -> Callable[[Any, float], Any]:
    """SciPy has rates kappa / scale above and 1 / (kappa scale) below; ours is 2 level / sigma above."""
    kappa = np.sqrt(level / (1.0 - level))
    return lambda eta, sigma2: stats.laplace_asymmetric(kappa, eta, kappa * np.sqrt(sigma2) / (2.0 * level))


class HuberNoise:
    """A truncated normal variate with probability ``middle``, otherwise one of an exponential tail."""

    def __init__(self, eta: Any, sigma2: float, edge: float) -> None:
        self.eta, self.sigma, self.edge = np.asarray(eta, dtype=float), np.sqrt(sigma2), edge
        inside = stats.norm.cdf(edge) - stats.norm.cdf(-edge)
        beyond = 2.0 * stats.norm.pdf(edge) / edge
        self.middle = inside / (inside + beyond)
        self.normal, self.tail = stats.truncnorm(-edge, edge), stats.expon(edge, 1.0 / edge)

    def logpdf(self, y: Any) -> Any:
        u = (y - self.eta) / self.sigma
        tail = np.log(0.5 * (1.0 - self.middle)) + self.tail.logpdf(np.maximum(np.abs(u), self.edge))
        normal = np.log(self.middle) + self.normal.logpdf(np.clip(u, -self.edge, self.edge))
        return np.where(np.abs(u) < self.edge, normal, tail) - np.log(self.sigma)

    def cdf(self, y: Any) -> Any:
        u = (y - self.eta) / self.sigma
        tails = 0.5 * (self.tail.cdf(u) + self.tail.sf(-u))
        return self.middle * self.normal.cdf(u) + (1.0 - self.middle) * tails

    def ppf(self, probability: float) -> Any:
        def gap(u: float) -> float:
            return float(HuberNoise(0.0, 1.0, self.edge).cdf(u)) - probability

        return self.eta + self.sigma * optimize.brentq(gap, -50.0, 50.0, xtol=1e-12)

    def mean(self) -> Any:
        return self.eta

    def var(self) -> Any:
        square = self.middle * self.normal.var() + (1.0 - self.middle) * self.tail.moment(2)
        return np.full(self.eta.shape, self.sigma**2 * square)

    def std(self) -> Any:
        return np.sqrt(self.var())

    def rvs(self, random_state: Any) -> Any:
        shape = self.eta.shape
        size = np.where(
            random_state.random(shape) < self.middle,
            self.normal.rvs(shape, random_state=random_state),
            self.tail.rvs(shape, random_state=random_state) * random_state.choice([-1.0, 1.0], shape),
        )
        return self.eta + self.sigma * size


def _huber(edge: float) -> Callable[[Any, float], Any]:
    return lambda eta, sigma2: HuberNoise(eta, sigma2, edge)


# those that estimate something start at a size of 1 and at 4 degrees of freedom
FAMILIES = [
    FamilyCase("gaussian", Gaussian(), _normal),
    FamilyCase("polya_gamma", Binomial(), _bernoulli),
    FamilyCase("irls", Binomial(augmentation="irls"), _bernoulli),
    FamilyCase("poisson", Poisson(), _poisson),
    FamilyCase("negative_binomial", NegativeBinomial(), _negative_binomial(1.0)),
    FamilyCase("negative_binomial_0.3", NegativeBinomial(size=0.3), _negative_binomial(0.3)),
    FamilyCase("negative_binomial_25", NegativeBinomial(size=25.0), _negative_binomial(25.0)),
    FamilyCase("student_t", StudentT(), _student(4.0)),
    FamilyCase("student_t_1", StudentT(df=1.0), _student(1.0)),
    FamilyCase("student_t_30", StudentT(df=30.0), _student(30.0)),
    FamilyCase("laplace", Laplace(), _laplace),
    FamilyCase("quantile", Quantile(), _asymmetric_laplace(0.5)),
    FamilyCase("quantile_0.9", Quantile(level=0.9), _asymmetric_laplace(0.9)),
    FamilyCase("huber", Huber(), _huber(1.345)),
    FamilyCase("gamma", Gamma(), _gamma),
    FamilyCase("tweedie", Tweedie(unit=1.0), _tweedie(1.5)),
]
every_family = pytest.mark.parametrize("case", FAMILIES, ids=lambda case: case.name)
count_families = pytest.mark.parametrize(
    "case", [case for case in FAMILIES if case.counts], ids=lambda case: case.name
)
amount_families = pytest.mark.parametrize(
    "case", [case for case in FAMILIES if case.amounts], ids=lambda case: case.name
)
noise_families = pytest.mark.parametrize(
    "case", [case for case in FAMILIES if case.family.is_location], ids=lambda case: case.name
)
