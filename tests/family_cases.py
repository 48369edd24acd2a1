"""Every family beside SciPy's distribution of its response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from farrier.families import (
    Binomial,
    Family,
    Gaussian,
    Laplace,
    NegativeBinomial,
    Poisson,
    StudentT,
)


@dataclass(frozen=True)
class FamilyCase:
    """A family, and SciPy's distribution of y given eta and sigma2, which knows nothing of farrier."""

    name: str
    family: Family
    distribution: Callable[[Any, float], Any]

    @property
    def counts(self) -> bool:
        return self.family.discrete

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


# those that estimate something start at a size of 1 and at 4 degrees of freedom
FAMILIES = [
    FamilyCase("gaussian", Gaussian(), _normal),
    FamilyCase("polya_gamma", Binomial(), _bernoulli),
    FamilyCase("irls", Binomial(weights="irls"), _bernoulli),
    FamilyCase("poisson", Poisson(), _poisson),
    FamilyCase("negative_binomial", NegativeBinomial(), _negative_binomial(1.0)),
    FamilyCase("negative_binomial_0.3", NegativeBinomial(size=0.3), _negative_binomial(0.3)),
    FamilyCase("negative_binomial_25", NegativeBinomial(size=25.0), _negative_binomial(25.0)),
    FamilyCase("student_t", StudentT(), _student(4.0)),
    FamilyCase("student_t_1", StudentT(df=1.0), _student(1.0)),
    FamilyCase("student_t_30", StudentT(df=30.0), _student(30.0)),
    FamilyCase("laplace", Laplace(), _laplace),
]
every_family = pytest.mark.parametrize("case", FAMILIES, ids=lambda case: case.name)
count_families = pytest.mark.parametrize(
    "case", [case for case in FAMILIES if case.counts], ids=lambda case: case.name
)
noise_families = pytest.mark.parametrize(
    "case", [case for case in FAMILIES if case.family.has_dispersion], ids=lambda case: case.name
)
