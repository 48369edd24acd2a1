"""The families by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from horseshoe._checks import check_choice
from horseshoe.families.amounts import Gamma, Tweedie
from horseshoe.families.base import Family
from horseshoe.families.binary import Binomial
from horseshoe.families.counts import NegativeBinomial, Poisson
from horseshoe.families.huber import Huber
from horseshoe.families.location import Gaussian, StudentT
from horseshoe.families.ordinal import Ordinal
from horseshoe.families.quantile import Laplace, Quantile

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
    check_choice("family", family, tuple(FAMILIES), ", or an object of horseshoe.families")
    return FAMILIES[family]()
