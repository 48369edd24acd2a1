"""The parameters of single modes, and checks of what the estimators' parameters may be."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from horseshoe._checks import check_choice, check_number, check_random_state
from horseshoe._types import Callback, FeatureGroups, PriorScale, Seed, VariableList
from horseshoe.em.state import Options
from horseshoe.priors import GlobalPrior, LocalPrior
from horseshoe.store.checkpoint import CheckpointSection

# A slab is between these.
EXPECTATIONS = ("exact", "approximate", "stochastic", "conjugate_gradient")
NARROWEST, WIDEST = 1e-6, 1e6


@dataclass(eq=False, repr=False, kw_only=True)
class ModeParameters:
    """What all estimators of a posterior mode are made with; `HorseshoeRegressor` says what each means.

    Examples
    --------
    >>> ModeParameters("lasso").prior, ModeParameters().tol
    ('lasso', 1e-05)
    """

    prior: str | LocalPrior = field(default="horseshoe", kw_only=False)
    lambda_power: float = 2.0
    tau: str | float | GlobalPrior = "estimate"
    tau_max: float = 1.0
    slab: float | None = None
    expectation: str = "exact"
    standardize: bool = True
    weight_type: str = "count"
    tol: float = 1e-5
    max_iter: int = 10_000
    zero_threshold: str | float = "auto"
    start: Any = "auto"
    warm_start: bool = False
    callback: Callback | None = None
    random_state: Seed = None
    feature_groups: FeatureGroups | None = None
    unpenalized: VariableList | None = None
    prior_scale: PriorScale | None = None


def em_options(params: Any, checkpoint: CheckpointSection | None = None) -> Options:
    """Return the options of the loop from the parameters of an estimator.

    Examples
    --------
    >>> em_options(ModeParameters(tol=1e-8)).tol
    1e-08
    """
    if params.callback is not None and not callable(params.callback):
        raise TypeError(f"callback={params.callback!r} must be callable: it is given each Iteration")
    if not isinstance(params.max_iter, int | np.integer) or params.max_iter < 1:
        raise ValueError(f"max_iter={params.max_iter!r} must be a whole number of at least 1")
    return Options(
        expectation=check_choice("expectation", params.expectation, EXPECTATIONS),
        tol=check_number("tol", params.tol, low_allowed=True),
        max_iter=int(params.max_iter),
        zero_threshold=_check_threshold(params.zero_threshold),
        callback=params.callback,
        random_state=None if params.random_state is None else check_random_state(params.random_state),
        checkpoint=checkpoint,
    )


def check_sigma2(sigma2: Any, has_dispersion: bool = True, exact: bool = True) -> str | float:
    """Return the noise variance in the user's units, if it is known, or how it is estimated.

    ``exact`` says whether "exact" will do, as it does for modes.

    Examples
    --------
    >>> check_sigma2("estimate"), check_sigma2(4)
    ('estimate', 4.0)
    """
    if isinstance(sigma2, str) and (exact or sigma2 == "estimate"):
        check_choice("sigma2", sigma2, ("estimate", "exact"), " or a positive number")
        if sigma2 == "exact":
            warnings.warn(
                "sigma2='exact' inflates the noise variance in lambda power 2 and may select nothing: "
                "the default 'estimate' (E[RSS]/n) is what the paper uses",
                stacklevel=3,
            )
        return sigma2
    known = check_number("sigma2", sigma2, instead=", 'estimate' or 'exact'" if exact else " or 'estimate'")
    if not has_dispersion:
        raise ValueError(
            f"sigma2={sigma2!r} has no meaning for a family without a noise variance: leave it out"
        )
    return known


def check_slab(slab: Any) -> float:
    """Return the slab; infinite if there is none.

    Examples
    --------
    >>> check_slab(None), check_slab(2.5)
    (inf, 2.5)
    """
    if slab is None:
        return float("inf")
    return check_number("slab", slab, low=NARROWEST, high=WIDEST, instead=" or None")


def _check_threshold(threshold: Any) -> float | None:
    if isinstance(threshold, str) and threshold == "auto":
        return None
    return check_number("zero_threshold", threshold, low_allowed=True, instead=" or 'auto'")
