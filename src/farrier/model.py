"""What is fitted, and the two things that can be done with it: find the mode, draw from the posterior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from farrier._types import FitResult, Moments, Scales, Status, Vector
from farrier.data.fitted import Fitted, restore
from farrier.data.rows import Rows
from farrier.data.standardise import (
    ScaledResponse,
    Standardised,
    Units,
    standardise,
    standardise_response,
)
from farrier.em.loop import solve
from farrier.em.mstep import Hyper
from farrier.em.options import Options
from farrier.em.starts import earlier_start
from farrier.em.weights import Begin, Constant, Moving, Weights
from farrier.families import Augmented, Family
from farrier.linalg import fitting_threads
from farrier.posterior.draws import Posterior
from farrier.posterior.run import Extras, draw
from farrier.priors import GlobalPrior, GlobalSampler, LocalPrior, LocalSampler
from farrier.sampling.chains import Plan
from farrier.sampling.gibbs import Model


@dataclass(frozen=True)
class ModelSpec:
    """What is fitted to the rows; ``sigma2`` is in the user's units."""

    family: Family
    prior: LocalPrior
    tau: GlobalPrior
    coordinate: float = 2.0
    sigma2: float | str = "estimate"
    fit_intercept: bool = True
    standardize: bool = True

    @property
    def hyper(self) -> Hyper:
        """The prior of the scales."""
        return Hyper(self.prior, self.coordinate, self.tau)


class Earlier(NamedTuple):
    """A fit to start from, in the user's units."""

    coef: Vector
    std: Vector
    intercept: float
    sigma2: float


class Prepared(NamedTuple):
    """The data on the scale on which the prior acts, and the way back."""

    design: Standardised
    response: ScaledResponse
    offset: Vector
    units: Units


def prepare(spec: ModelSpec, rows: Rows) -> Prepared:
    """Return the columns and the response on the scale on which the prior acts.

    Where y = eta + noise, the offset is taken off y, and y is in units of its spread; it is centred only
    where that is all an intercept means.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.families import Gaussian
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> rows = Rows(Dense(np.arange(4.0)[:, None]), np.array([1.0, 3.0, 1.0, 3.0]), None, np.zeros(4))
    >>> prepare(ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()), rows).response.values
    array([-1.,  1., -1.,  1.])
    """
    family, center = spec.family, spec.fit_intercept
    design = standardise(rows.columns, rows.weights, center=center, scale=spec.standardize)
    response, offset = ScaledResponse(0.0, 1.0, rows.y), rows.offset
    if family.is_location:
        left, offset = rows.y - rows.offset, np.zeros_like(rows.offset)
        response = standardise_response(left, rows.weights, center)
        if response.unit > 0.0 and not family.constant_weights:
            unit = family.scale(left, rows.counts)
            response = ScaledResponse(0.0, unit, left / unit)
    units = Units(design.kept, design.mean, design.scale, response.level, response.unit, center)
    return Prepared(design, response, offset, units)


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
    options = options._replace(sigma2=_known_sigma2(spec, units))
    with fitting_threads(*design.columns.shape):
        result = solve(weights, spec.hyper, options, _begin(weights, units, start))
    if not design.kept.any():
        result = result.with_status(Status.NO_COLUMNS)
    return restore(result, units, design.spread, result.family or spec.family)


def sample(
    spec: ModelSpec,
    rows: Rows,
    mode: Fitted,
    plan: Plan,
    extras: Extras,
    names: Any = None,
    classes: Any = None,
) -> Posterior:
    """Draw from the posterior, from chains that start around the mode.

    ``names`` are those of the columns, ``classes`` the labels of y, if there are any.
    """
    _refuse_without_sampler(spec)
    status = mode.result.status
    if status in (Status.CONSTANT_RESPONSE, Status.BOUNDARY, Status.NO_COLUMNS):
        raise ValueError(f"there is no posterior to sample with these data: {status}")
    if spec.family.latent_rows:
        refuse_fractions(rows.weights, spec.family)
        rows = rows.repeated()
    _refuse_light_rows(spec, rows)
    prepared = prepare(spec, rows)
    design, units = prepared.design, prepared.units
    if not np.allclose(units.places(design.spread), mode.scale, rtol=1e-9, atol=0.0):
        raise ValueError("X was changed since the fit: fit again before you sample from the posterior")
    assert isinstance(spec.prior, LocalSampler)
    assert isinstance(spec.tau, GlobalSampler)
    known = _known_sigma2(spec, units)
    model = Model(
        columns=design.columns,
        y=prepared.response.values,
        offset=prepared.offset,
        counts=rows.counts,
        family=spec.family,
        prior=spec.prior,
        tau=spec.tau,
        sigma2=None if isinstance(known, str) else known,
        center=spec.fit_intercept,
    )
    return draw(model, units, rows, mode, plan, extras, vars(spec), names, classes)


def refuse_fractions(weights: Vector | None, family: Family) -> None:
    """Refuse weights that are not whole for families in which each row has a latent weight of its own.

    Examples
    --------
    >>> from farrier.families import Gaussian
    >>> refuse_fractions(np.array([1.0, 0.5]), Gaussian())
    """
    if weights is None or not family.latent_rows:
        return
    fractional = np.round(weights) != weights
    if fractional.any():
        row = int(np.argmax(fractional))
        raise ValueError(
            f"sample_weight in row {row} is {weights[row]:g}: with {type(family).__name__} noise "
            "only whole weights can be sampled with; round them, or use the Gaussian family"
        )


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


def _known_sigma2(spec: ModelSpec, units: Units) -> str | float:
    """Return what is known of sigma2 in units of the response's; families without one have 1."""
    if not spec.family.has_dispersion:
        return 1.0
    return spec.sigma2 if isinstance(spec.sigma2, str) else units.from_sigma2(spec.sigma2)


def _begin(weights: Weights, units: Units, start: str | Earlier) -> Begin:
    """Return where to begin."""
    if not isinstance(start, Earlier) or not units.kept.any():
        return weights.begin_variance() if start == "variance" else weights.begin()
    coef, std = units.from_coef(start.coef), units.from_coef(start.std)
    sigma2 = units.from_sigma2(start.sigma2)
    begin = weights.begin_at(coef, units.from_intercept(start.intercept, start.coef), sigma2)
    return begin._replace(start=earlier_start(begin.problem, coef, std**2, sigma2))


def _refuse_without_sampler(spec: ModelSpec) -> None:
    family, prior, tau = spec.family, spec.prior, spec.tau
    if family.has_dispersion and not isinstance(family, Augmented):
        raise ValueError(
            f"{type(family).__name__} has no sampler: a family with a noise variance needs a method "
            "augment(y, eta, sigma2, counts, rng), which draws the weights that make y Gaussian"
        )
    if not isinstance(prior, LocalSampler):
        raise ValueError(
            f"{type(prior).__name__} has no sampler: give it a method draw(w, lambda2, rng), as those of "
            "farrier.priors have"
        )
    if not isinstance(tau, GlobalSampler):
        raise ValueError(
            f"{type(tau).__name__} has no sampler: give it methods log_density(log_tau) and "
            "draw(n, s, tau2, rng), as in farrier.priors"
        )


def _refuse_light_rows(spec: ModelSpec, rows: Rows) -> None:
    total = float(rows.counts.sum())
    unknown = spec.family.has_dispersion and isinstance(spec.sigma2, str)
    if unknown and total <= float(spec.fit_intercept):
        raise ValueError(
            f"sample_weight adds up to {total:g}, which is too little to estimate sigma2 from: the weights "
            "are numbers of rows; multiply them to add up to about that, or give sigma2"
        )
