"""What may be in a model file: the classes, and what their fields hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

import numpy as np

from horseshoe._types import Covariance, FitResult, Iteration, Moments, Scales
from horseshoe.average.held_out import Record
from horseshoe.average.intervals import Corrected, FoldErrors
from horseshoe.average.result import AverageFit, ComponentRow
from horseshoe.average.submodel import Submodel
from horseshoe.average.unpenalized import Unpenalized
from horseshoe.average.weights import Average, Judged
from horseshoe.data.fitted import Fitted
from horseshoe.data.standardise import Units
from horseshoe.data.structure import Structure
from horseshoe.em.mstep import Hyper
from horseshoe.estimators.baseline import Baseline
from horseshoe.estimators.intervals import Kept
from horseshoe.estimators.labels import Label, Labels
from horseshoe.families import FAMILIES, Family
from horseshoe.families.cox import Cox
from horseshoe.families.deviance import Deviance
from horseshoe.model.fit import Earlier
from horseshoe.priors import (
    FixedScale,
    GammaScale,
    GlobalPrior,
    HalfCauchy,
    InverseGammaGlobal,
    InverseGammaScale,
    InvertedBeta,
    LocalPrior,
    Slab,
)
from horseshoe.priors.names import LOCAL_PRIORS
from horseshoe.store.codec import Registry
from horseshoe.store.kinds import record

TRACE_ENDS = 100
"""Of a longer trace than twice this, so many iterations are kept at the beginning and at the end."""

CHOICES: dict[Any, tuple[Any, ...]] = {
    Family: (*FAMILIES.values(), Cox),
    LocalPrior: (*LOCAL_PRIORS.values(), InvertedBeta, GammaScale, InverseGammaScale, Slab),
    GlobalPrior: (HalfCauchy, InverseGammaGlobal, FixedScale),
}
"""What may stand for a family or a prior."""


@dataclass(frozen=True)
class Modes:
    """What is kept of a fit to one response, to several, or to classes."""

    n_features: int
    feature_names: tuple[str, ...] | None
    classes: Labels | None
    regressions: tuple[Fitted, ...]
    kept: tuple[Kept | None, ...]
    outputs: tuple[str, ...] | None


@dataclass(frozen=True)
class Lives:
    """What is kept of a fit to times and events."""

    n_features: int
    feature_names: tuple[str, ...] | None
    classes: None
    regressions: tuple[Fitted, ...]
    kept: tuple[Kept | None, ...]
    baseline: Baseline
    strata: Labels | None


@dataclass(frozen=True)
class Averages:
    """What is kept of an adaptive fit to one response, to several, or to classes."""

    n_features: int
    feature_names: tuple[str, ...] | None
    classes: Labels | None
    regressions: tuple[AverageFit, ...]
    outputs: tuple[str, ...] | None


@dataclass(frozen=True)
class AveragedLives:
    """What is kept of an adaptive fit to times and events."""

    n_features: int
    feature_names: tuple[str, ...] | None
    classes: None
    regressions: tuple[AverageFit, ...]
    baseline: Baseline
    strata: Labels | None


def _record(found: dict[str, Any]) -> Record:
    """Return what is kept of rows that are not."""
    none = np.zeros(0)
    return Record(**found, y=none, prediction=none, weights=None, number=None, n_given=found["n"])


def _adapted(state: dict[str, Any]) -> AverageFit:
    """Return an averaged fit as a copy of it is: without its training rows."""
    found = object.__new__(AverageFit)
    found.__dict__.update({**state, "sets": None})
    return found


REGISTRY = Registry(
    records={
        **{cls: record(cls) for classes in CHOICES.values() for cls in classes if cls is not Cox},
        **{cls: record(cls) for cls in (Covariance, Scales, Hyper, Units, Average, Judged, ComponentRow)},
        **{cls: record(cls, without=("error",)) for cls in (Moments, Iteration)},
        **{cls: record(cls) for cls in (Submodel, Corrected, FoldErrors, Labels, Earlier, Modes, Averages)},
        **{cls: record(cls) for cls in (Structure, Unpenalized)},
        **{cls: record(cls) for cls in (Deviance, Kept, Baseline, Lives, AveragedLives)},
        Cox: record(Cox, without=("seen", "_known")),
        Record: record(Record, without=("y", "prediction", "weights", "number", "n_given")),
        FitResult: record(FitResult, without=("free",), family=Family | None),
        Fitted: record(Fitted, family=Family, hyper=Hyper | None),
        AverageFit: record(
            AverageFit,
            without=("sets",),
            cv_error=float,
            fold_errors=FoldErrors | None,
            corrected=Corrected | None,
        ),
    },
    choices=CHOICES,
    makers={AverageFit: _adapted, Record: _record},
)

PARAMETERS: dict[str, Any] = {
    "family": str | Family,
    "prior": str | LocalPrior,
    "augmentation": str,
    "ties": str,
    "lambda_power": float,
    "tau": str | float | GlobalPrior,
    "tau_max": float,
    "sigma2": str | float,
    "multi_class": str,
    "slab": float | None,
    "expectation": str,
    "fit_intercept": bool,
    "standardize": bool,
    "weight_type": str,
    "feature_groups": tuple[int, ...] | None,
    "unpenalized": tuple[int, ...] | None,
    "prior_scale": tuple[float, ...] | None,
    "class_weight": str | dict[Label, float] | None,
    "tol": float,
    "max_iter": int,
    "zero_threshold": str | float,
    "start": str | Earlier | tuple[Earlier, ...],
    "warm_start": bool,
    "components": str | tuple[str, ...],
    "cv": int | None,
    "selection": str,
    "n_jobs": int | None,
    "callback": NoneType,
    "random_state": int | None,
}
"""What the parameters of the estimators may be in a file."""


def portable(fitted: Any) -> Any:
    """Return a fit as it is written: without its data, and with the ends of a long trace.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> portable(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])._fitted).coef
    array([0.])
    """
    if isinstance(fitted, AverageFit):
        return _adapted(fitted.__getstate__())
    trace = fitted.result.trace
    if len(trace) > 2 * TRACE_ENDS:
        trace = trace[:TRACE_ENDS] + trace[-TRACE_ENDS:]
    return replace(fitted, result=replace(fitted.result, trace=trace, covariance=None))
