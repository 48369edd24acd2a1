"""The values of one parameter along a path, checked and put in order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import Vector
from horseshoe.estimators.parameters import NARROWEST, WIDEST
from horseshoe.families import resolve_family
from horseshoe.priors import LocalPrior, is_sparse, resolve_known
from horseshoe.priors.base import check_tau

# Whether the fits become sparser as the parameter grows.
RISING = {"tau": False, "tau_max": False, "lambda_power": True, "slab": False, "sigma2": True}
# The last tau of a path, as a share of the first.
LAMBDA_POWERS = np.linspace(1.25, 2.0, 7)
LOWEST = 1e-3


def _finite(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r} must be a finite number")
    return float(value)


Check = Callable[[str, Any], float]
CHECKS: dict[str, Check] = {
    "tau": check_tau,
    "tau_max": check_tau,
    "lambda_power": lambda name, value: check_number(name, value, high=2.0),
    "slab": lambda name, value: check_number(name, value, low=NARROWEST, high=WIDEST),
    "sigma2": check_number,
}


class Grid(NamedTuple):
    """The values of a parameter, and what each sets in the estimator."""

    over: str
    values: Vector
    settings: list[dict[str, Any]]


def check_grid(estimator: Any, over: Any, values: Any) -> Grid:
    """Return the values in the order in which they are fitted, with what each sets in the estimator.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> check_grid(HorseshoeRegressor(), "lambda_power", [2.0, 1.5]).settings
    [{'lambda_power': 1.5}, {'lambda_power': 2.0}]
    >>> check_grid(HorseshoeRegressor(), "a", [0.4]).settings
    [{'prior': Horseshoe(a=0.4, b=0.5)}]
    """
    prior = resolve_known(estimator.prior)
    if not isinstance(over, str) or over not in RISING or over not in estimator.get_params(deep=False):
        return _prior_grid(estimator, prior, over, values)
    _refuse_idle(estimator, over)
    numbers = _numbers(_default(estimator, prior, over) if values is None else values, CHECKS[over])
    ordered = np.sort(np.array(numbers, dtype=float))
    ordered = ordered if RISING[over] else ordered[::-1].copy()
    return Grid(over, ordered, [{over: value} for value in ordered.tolist()])


def _refuse_idle(estimator: Any, over: str) -> None:
    """Refuse a parameter that has no say in the fit."""
    if over == "tau_max" and estimator.tau != "estimate":
        raise ValueError(
            f"over='tau_max' does nothing with tau={estimator.tau!r}: let tau be estimated, or use over='tau'"
        )
    if over == "sigma2" and not resolve_family(estimator.family).has_dispersion:
        raise ValueError(
            f"over='sigma2' has no meaning for family={estimator.family!r}, which has no noise variance: "
            "use over='tau'"
        )


def _default(estimator: Any, prior: LocalPrior, over: str) -> Vector:
    if over in ("tau", "tau_max"):
        first = check_tau("tau_max", estimator.tau_max)
        return np.geomspace(first, LOWEST * first, 31)
    if over == "slab":
        return np.geomspace(10.0, 0.1, 21)
    if over == "sigma2":
        raise ValueError(
            "over='sigma2' needs values, in the units of y squared: "
            "such as from a tenth of the variance of y to all of it"
        )
    selecting = [c for c in LAMBDA_POWERS if is_sparse(prior, c)]
    if not selecting:
        raise ValueError(
            f"prior={prior!r} selects in no lambda power from 1.25 to 2, so over='lambda_power' needs "
            "values: numbers above 0 and at most 2"
        )
    return np.array(selecting)


def _numbers(values: Any, check: Check) -> list[float]:
    """Return the values as a list of numbers, no two the same."""
    if isinstance(values, str | bytes | dict | set) or not hasattr(values, "__len__"):
        raise TypeError(f"values={values!r} must be a list of numbers, one for each fit")
    if len(values) == 0:
        raise ValueError("values is empty: give a number for each fit, or None")
    numbers: list[float] = []
    for place, given in enumerate(values):
        value = check(f"values[{place}]", given.item() if isinstance(given, np.generic) else given)
        if value in numbers:
            raise ValueError(
                f"values[{numbers.index(value)}] and values[{place}] are the same: leave out one"
            )
        numbers.append(value)
    return numbers


def _prior_grid(estimator: Any, prior: LocalPrior, over: Any, values: Any) -> Grid:
    """Return values of a parameter of the prior, in the order given."""
    own = _parameters(prior)
    if not isinstance(over, str) or over not in own:
        kind = type(estimator).__name__
        known = ", ".join(repr(name) for name in RISING if name in estimator.get_params(deep=False))
        has = f"or a parameter of the prior, {', '.join(map(repr, own))}" if own else "its prior has none"
        raise ValueError(
            f"over={over!r} is no parameter of a {kind} with prior={prior!r}: use one of {known}, {has}"
        )
    if values is None:
        raise ValueError(f"over={over!r} needs values: they are fitted in the order given, the richest first")
    settings = []
    numbers = _numbers(values, _finite)
    for place, value in enumerate(numbers):
        try:
            settings.append({"prior": _changed(prior, over, value)})
        except (TypeError, ValueError) as error:
            raise type(error)(f"values[{place}]={value!r} does not do for over={over!r}: {error}") from error
    return Grid(over, np.array(numbers, dtype=float), settings)


def _parameters(prior: LocalPrior) -> list[str]:
    """Return what a prior is made with, if it is a number."""
    given = inspect.signature(type(prior)).parameters.values()
    plain = [p.name for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [name for name in plain if isinstance(getattr(prior, name, 0.0), int | float)]


def _changed(prior: LocalPrior, over: str, value: float) -> LocalPrior:
    """Return the prior with another value of one parameter."""
    names = inspect.signature(type(prior)).parameters
    kept = {name: getattr(prior, name) for name in names if name != over and hasattr(prior, name)}
    return type(prior)(**kept, **{over: value})
