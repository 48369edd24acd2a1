"""What may be in a model file: the classes, and what their fields hold."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

import numpy as np

from horseshoe._types import FitResult, Iteration, Moments, Scales, Vector
from horseshoe.average.held_out import Record
from horseshoe.average.intervals import Corrected, FoldErrors
from horseshoe.average.result import AverageFit
from horseshoe.data.fitted import Fitted
from horseshoe.em.m_step import Hyper
from horseshoe.estimators.baseline_hazard import Baseline
from horseshoe.estimators.labels import Label, Labels
from horseshoe.estimators.training import Kept
from horseshoe.families import FAMILIES, Family
from horseshoe.families.cox import Cox
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
from horseshoe.priors.local import LOCAL_PRIORS
from horseshoe.store.codec import Codec

# Of a longer trace than twice this, so many iterations are kept at the beginning and at the end.
TRACE_ENDS = 100

# What may stand for a family or a prior.
CHOICES: dict[Any, tuple[Any, ...]] = {
    Family: (*FAMILIES.values(), Cox),
    LocalPrior: (*LOCAL_PRIORS.values(), InvertedBeta, GammaScale, InverseGammaScale, Slab),
    GlobalPrior: (HalfCauchy, InverseGammaGlobal, FixedScale),
}


@dataclass(frozen=True)
class SavedFit:
    """What is saved of any fit: of one response, of several (``outputs``), of classes, or of survival.

    ``baseline`` is the hazard of survival, ``strata`` its labels.
    """

    n_features: int
    feature_names: tuple[str, ...] | None
    classes: Labels | None
    outputs: tuple[str, ...] | None
    baseline: Baseline | None
    strata: Labels | None


@dataclass(frozen=True)
class SavedModes(SavedFit):
    """What is saved of posterior modes: each regression, and how much of the deviance it left."""

    regressions: tuple[Fitted, ...]
    kept: tuple[Kept | None, ...]


@dataclass(frozen=True)
class SavedAverages(SavedFit):
    """What is saved of model averages: each regression."""

    regressions: tuple[AverageFit, ...]


# What may be in a model file: all that `SavedModes` and `SavedAverages` hold, but training rows.
NO_ROWS = {"y": np.zeros(0), "prediction": np.zeros(0), "weights": None, "number": None, "n_given": 0}
CODEC = Codec(
    choices=CHOICES,
    types={
        Moments: {"mean": Vector, "variance": Vector, "expected_rss": float},
        Scales: {"sigma2": float},
        FitResult: {"family": Family | None},
        Fitted: {"family": Family, "hyper": Hyper | None},
        AverageFit: {"cv_error": float, "fold_errors": FoldErrors | None, "corrected": Corrected | None},
    },
    unsaved={
        Cox: {"seen": None, "_known": {}},
        Moments: {"error": None, "predictor": None},
        Iteration: {"error": None},
        FitResult: {"free": None},
        AverageFit: {"sets": None},
        Record: NO_ROWS,
    },
)

# What the parameters of the estimators may be in a file.
PARAMETERS: dict[str, Any] = {
    **dict.fromkeys(("augmentation", "ties", "multi_class", "expectation", "weight_type", "selection"), str),
    **dict.fromkeys(("fit_intercept", "standardize", "warm_start"), bool),
    **dict.fromkeys(("lambda_power", "tau_max", "tol"), float),
    **dict.fromkeys(("cv", "n_jobs", "random_state"), int | None),
    **dict.fromkeys(("feature_groups", "unpenalized"), tuple[int, ...] | None),
    **dict.fromkeys(("sigma2", "zero_threshold"), str | float),
    "family": str | Family,
    "prior": str | LocalPrior,
    "tau": str | float | GlobalPrior,
    "slab": float | None,
    "prior_scale": tuple[float, ...] | None,
    "class_weight": str | dict[Label, float] | None,
    "max_iter": int,
    "start": str | Earlier | tuple[Earlier, ...],
    "components": str | tuple[str, ...],
    "callback": NoneType,
}


def without_rows(fitted: Any) -> Any:
    """Return a fit as it is written: without its data, and with the ends of a long trace.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> without_rows(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])._fitted).coef
    array([0.])
    """
    if isinstance(fitted, AverageFit):
        return copy(fitted)  # which leaves the training rows out
    trace = fitted.result.trace
    if len(trace) > 2 * TRACE_ENDS:
        trace = trace[:TRACE_ENDS] + trace[-TRACE_ENDS:]
    return replace(fitted, result=replace(fitted.result, trace=trace, covariance=None))
