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

from farrier._checks import check_choice
from farrier.families.base import Family, Working, weighted_median
from farrier.families.binary import Binomial, polya_gamma_mean
from farrier.families.counts import Counts, NegativeBinomial, Poisson
from farrier.families.location import Gaussian, Laplace, Location, StudentT

__all__ = [
    "Binomial",
    "Counts",
    "Family",
    "Gaussian",
    "Laplace",
    "Location",
    "NegativeBinomial",
    "Poisson",
    "StudentT",
    "Working",
    "polya_gamma_mean",
    "resolve_family",
    "weighted_median",
]

FAMILIES: dict[str, Callable[[], Family]] = {
    "gaussian": Gaussian,
    "poisson": Poisson,
    "negative_binomial": NegativeBinomial,
    "student_t": StudentT,
    "laplace": Laplace,
}


def resolve_family(family: Any) -> Family:
    """Return the likelihood that is named or given.

    Examples
    --------
    >>> resolve_family("poisson")
    Poisson()
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, type) and issubclass(family, Family):
        return family()
    two_classes = isinstance(family, str) and family == "binomial"
    hint = ": for two classes use HorseshoeClassifier" if two_classes else ""
    check_choice("family", family, tuple(FAMILIES), f", or an object of farrier.families{hint}")
    return FAMILIES[family]()
