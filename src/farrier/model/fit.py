"""From the rows to the posterior mode, in the user's units."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from farrier._types import FitResult, Moments, Scales, Status, Vector
from farrier.data.fitted import Fitted, restore
from farrier.data.rows import Rows
from farrier.data.standardise import Units
from farrier.em.loop import solve
from farrier.em.options import Options
from farrier.em.starts import earlier_start
from farrier.em.weights import Begin, Constant, Moving, Weights
from farrier.linalg import fitting_threads
from farrier.model.spec import ModelSpec, Prepared, known_sigma2, prepare
from farrier.priors import GlobalPrior


class Earlier(NamedTuple):
    """A fit to start from, in the user's units."""

    coef: Vector
    std: Vector
    intercept: float
    sigma2: float


def fit(
    spec: ModelSpec, rows: Rows, options: Options | None = None, start: str | Earlier = "paper"
) -> Fitted:
    """Find the posterior mode.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.families import Gaussian
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> y = np.array([1.0, 3.1, 4.9, 7.0, 9.1, 10.9])
    >>> rows = Rows(Dense(np.arange(6.0)[:, None]), y, None, np.zeros(6))
    >>> fit(ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()), rows).coef.round(2)
    array([1.99])
    """
    options = Options() if options is None else options
    prepared = prepare(spec, rows)
    design, units = prepared.design, prepared.units
    nothing = _nothing_to_fit(spec, rows, prepared)
    if nothing is not None:
        return restore(nothing, units, design.spread, spec.family)
    weights = _weights(spec, prepared, options.fast)
    options = options._replace(sigma2=known_sigma2(spec, units))
    with fitting_threads(*design.columns.shape):
        result = solve(weights, spec.hyper, options, _begin(weights, units, start))
    if not design.kept.any():
        result = result.with_status(Status.NO_COLUMNS)
    return restore(result, units, design.spread, result.family or spec.family)


def empty_result(status: Status, n_columns: int, total_weight: float, tau: GlobalPrior) -> FitResult:
    """Return the fit with no variables.

    Examples
    --------
    >>> from farrier.priors import HalfCauchy
    >>> empty_result(Status.NO_COLUMNS, 0, 5.0, HalfCauchy()).n_iter
    0
    """
    zero = np.zeros(n_columns)
    return FitResult(
        coef=zero,
        intercept=0.0,
        scales=Scales(zero, tau.bounds[1], 1.0),
        moments=Moments(zero, zero, 1.0, 0.0, 0.0),
        active=np.zeros(n_columns, dtype=np.bool_),
        status=status,
        tau_at_bound=False,
        n_iter=0,
        trace=(),
        covariance=None,
        center=zero,
        intercept_variance=1.0 / total_weight,
    )


def _nothing_to_fit(spec: ModelSpec, rows: Rows, prepared: Prepared) -> FitResult | None:
    """Return the fit where y is constant, or has no finite intercept; otherwise None."""
    k, n = int(prepared.design.kept.sum()), prepared.design.total_weight
    if prepared.units.unit == 0.0:
        return empty_result(Status.CONSTANT_RESPONSE, k, n, spec.tau)
    level = spec.family.boundary(rows.y, rows.counts, rows.offset) if spec.fit_intercept else None
    if level is None:
        return None
    return replace(empty_result(Status.BOUNDARY, k, n, spec.tau), intercept=level)


def _weights(spec: ModelSpec, prepared: Prepared, fast: bool) -> Weights:
    design, values = prepared.design, prepared.response.values
    if spec.family.constant_weights:
        return Constant(design.problem(values))
    return Moving(design, values, prepared.offset, spec.family, spec.fit_intercept, patient=fast)


def _begin(weights: Weights, units: Units, start: str | Earlier) -> Begin:
    """Return where to begin."""
    if not isinstance(start, Earlier) or not units.kept.any():
        return weights.begin_variance() if start == "variance" else weights.begin()
    coef, std = units.from_coef(start.coef), units.from_coef(start.std)
    sigma2 = units.from_sigma2(start.sigma2)
    begin = weights.begin_at(coef, units.from_intercept(start.intercept, start.coef), sigma2)
    return begin._replace(start=earlier_start(begin.problem, coef, std**2, sigma2))
