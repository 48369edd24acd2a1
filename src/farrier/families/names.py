"""The families by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farrier._checks import check_choice
from farrier.families.amounts import Gamma, Tweedie
from farrier.families.base import Family
from farrier.families.binary import Binomial
from farrier.families.counts import NegativeBinomial, Poisson
from farrier.families.huber import Huber
from farrier.families.location import Gaussian, StudentT
from farrier.families.ordinal import Ordinal
from farrier.families.quantile import Laplace, Quantile

FAMILIES: dict[str, Callable[[], Family]] = {
    "gaussian": Gaussian,
    "poisson": Poisson,
    "negative_binomial": NegativeBinomial,
    "student_t": StudentT,
    "laplace": Laplace,
    "binomial": Binomial,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "quantile": Quantile,
    "huber": Huber,
    "ordinal": Ordinal,
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
    check_choice("family", family, tuple(FAMILIES), ", or an object of farrier.families")
    return FAMILIES[family]()
