"""The families: what a likelihood has to say, and those that come with farrier.

The loop sees a family only through weights and targets: at the linear predictor eta, the log-likelihood of
row i is replaced by that of a Gaussian target z_i with variance sigma2 / w_i, so that the slope is the same,
w_i (z_i - eta_i) / sigma2 = d log p(y_i | eta_i) / d eta_i. The fixed point is then a stationary point of the
likelihood itself, whatever the weights are; they decide how fast it is reached and how wide the conditional
posterior of the coefficients is taken to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farrier._validation import check_choice
from farrier.likelihoods._base import Likelihood, Working, weighted_median
from farrier.likelihoods._binomial import Binomial, polya_gamma_mean
from farrier.likelihoods._counts import Counts, NegativeBinomial, Poisson
from farrier.likelihoods._location import Gaussian, Laplace, Location, StudentT

__all__ = [
    "Binomial",
    "Counts",
    "Gaussian",
    "Laplace",
    "Likelihood",
    "Location",
    "NegativeBinomial",
    "Poisson",
    "StudentT",
    "Working",
    "polya_gamma_mean",
    "resolve_family",
    "weighted_median",
]

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
    two_classes = isinstance(family, str) and family == "binomial"
    hint = ": for two classes use HorseshoeClassifier" if two_classes else ""
    check_choice("family", family, tuple(FAMILIES), f", or an object of farrier.likelihoods{hint}")
    return FAMILIES[family]()
