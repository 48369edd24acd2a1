"""From validated rows to a fit in the user's units: standardise, solve, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from farrier._types import Covariance, FitResult, Matrix, Moments, Scales, Start, Status, Vector
from farrier.data.design import Standardised, spread, standardise, weighted_mean
from farrier.em import loop as em
from farrier.em.mstep import SIGMA2_FLOOR
from farrier.em.starts import earlier_start, variance_start
from farrier.em.weights import Linearised, Quadratic
from farrier.families import Family, Gaussian, Location
from farrier.families.base import EXTREME
from farrier.priors import GlobalPrior, LocalPrior


class Rows(NamedTuple):
    """The data, checked: every row has a positive weight."""

    x: Matrix
    y: Vector
    weights: Vector | None
    offset: Vector

    @property
    def counts(self) -> Vector:
        """The weights, as numbers."""
        return np.ones_like(self.y) if self.weights is None else self.weights


def known_rows(
    matrix: Matrix, response: Vector, weights: Vector | None, offset: Vector | float, likelihood: Family
) -> Rows:
    """Return the rows with a positive weight.

    Examples
    --------
    >>> known_rows(np.eye(3), np.arange(3.0), np.array([1.0, 0.0, 2.0]), 0.0, Gaussian()).y
    array([0., 2.])
    """
    offset = np.zeros_like(response) + offset
    if likelihood.positive_only and (far := np.abs(offset) > EXTREME).any():
        row = int(np.argmax(far))
        raise ValueError(
            f"offset in row {row} is {offset[row]:g}, and its exponential is out of range: "
            "for counts it is the logarithm of the exposure"
        )
    if weights is not None and not weights.all():
        rows = weights > 0
        matrix, response, weights, offset = matrix[rows], response[rows], weights[rows], offset[rows]
    if len(matrix) < 2:
        raise ValueError(
            f"Found {len(matrix)} sample (n_samples={len(matrix)}) with a positive weight, "
            "but at least two rows are needed to fit a regression"
        )
    return Rows(matrix, response, weights, offset)


class Settings(NamedTuple):
    """What is fitted to the rows, and how; ``options.sigma2`` is in the user's units."""

    likelihood: Family
    prior: LocalPrior
    tau: GlobalPrior
    options: em.Options
    fit_intercept: bool
    standardize: bool


@dataclass(frozen=True)
class Fitted:
    """A fit in the user's units; ``lambda2`` and ``tau2`` on the scale on which the prior acts."""

    coef: Vector
    std: Vector
    intercept: float
    sigma2: float
    lambda2: Vector
    shrinkage: Vector
    scale: Vector
    center: Vector
    intercept_variance: float
    covariance: Covariance | None
    likelihood: Family
    result: FitResult

    def linear_predictor(self, x: Matrix) -> Vector:
        """Return intercept + X b."""
        support = self.coef != 0.0
        return np.asarray(x[:, support] @ self.coef[support] + self.intercept)

    def predictor_variance(self, x: Matrix) -> Vector:
        """Return the variance of the linear predictor: of the coefficients and of the intercept."""
        variance = np.full(len(x), self.intercept_variance)
        if self.covariance is not None:
            support = self.coef != 0.0
            variance += self.covariance.quadratic(x[:, support] - self.center[support])
        return np.asarray(np.maximum(variance, 0.0))


class Earlier(NamedTuple):
    """A fit to start from, in the user's units."""

    coef: Vector
    std: Vector
    intercept: float
    sigma2: float


def fit_rows(rows: Rows, settings: Settings, start: str | Earlier) -> Fitted:
    """Fit the model.

    Examples
    --------
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> rows = Rows(np.arange(6.0)[:, None], np.array([1.0, 3.1, 4.9, 7.0, 9.1, 10.9]), None, np.zeros(6))
    >>> settings = Settings(Gaussian(), Horseshoe(), HalfCauchy(), em.Options(), True, True)
    >>> fit_rows(rows, settings, "paper").coef.round(2)
    array([1.99])
    """
    design, target = prepare(rows, settings)
    likelihood = settings.likelihood
    if target.scale == 0.0:
        result = _empty(Status.CONSTANT_RESPONSE, design, settings.tau)
        return _restore(result, design, likelihood, target, settings.fit_intercept)
    level = likelihood.boundary(rows.y, rows.counts, rows.offset) if settings.fit_intercept else None
    if level is not None:
        result = _empty(Status.BOUNDARY, design, settings.tau, level)
        return _restore(result, design, likelihood, target, settings.fit_intercept)
    problem = _problem(rows, design, target, settings)
    options = settings.options._replace(sigma2=known_variance(settings, target.scale))
    begin = _start(problem, design, target, start)
    result = em.solve(problem, settings.prior, settings.tau, options, begin)
    if not design.columns.any():
        result = result.with_status(Status.NO_COLUMNS)
    if isinstance(problem, Linearised):
        likelihood = problem.likelihood
    return _restore(result, design, likelihood, target, settings.fit_intercept)


def prepare(rows: Rows, settings: Settings) -> tuple[Standardised, Target]:
    """Return the columns and the response on the scale on which the prior acts.

    Examples
    --------
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> rows = Rows(np.arange(4.0)[:, None], np.array([1.0, 3.0, 1.0, 3.0]), None, np.zeros(4))
    >>> settings = Settings(Gaussian(), Horseshoe(), HalfCauchy(), em.Options(), True, True)
    >>> prepare(rows, settings)[1]
    Target(level=2.0, scale=1.0, values=array([-1.,  1., -1.,  1.]))
    """
    design = standardise(rows.x, rows.weights, center=settings.fit_intercept, scale=settings.standardize)
    if isinstance(settings.likelihood, Location):
        return design, _centre(rows, settings)
    return design, Target(0.0, 1.0, rows.y)


def _empty(status: Status, design: Standardised, tau: GlobalPrior, intercept: float = 0.0) -> FitResult:
    return empty_result(status, int(design.columns.sum()), design.size, tau, intercept)


class Target(NamedTuple):
    """The response on the scale of the prior: level + scale * values."""

    level: float
    scale: float
    values: Vector


def _centre(rows: Rows, settings: Settings) -> Target:
    """Return the response in units of its spread; centred only where that is all an intercept means."""
    response = rows.y - rows.offset
    column = standardise(response[:, None], rows.weights, center=settings.fit_intercept, scale=True)
    if not column.columns[0]:
        level = float(weighted_mean(response, rows.weights)) if settings.fit_intercept else 0.0
        return Target(level, 0.0, np.zeros_like(response))
    if isinstance(settings.likelihood, Gaussian):
        return Target(float(column.mean[0]), float(column.scale[0]), column.x[:, 0])
    scale = settings.likelihood.scale(response, rows.counts)
    return Target(0.0, scale, response / scale)


def _problem(rows: Rows, design: Standardised, target: Target, settings: Settings) -> Quadratic | Linearised:
    if isinstance(settings.likelihood, Gaussian):
        return Quadratic(design.system(target.values))
    offset = np.zeros_like(rows.offset) if isinstance(settings.likelihood, Location) else rows.offset
    return Linearised(design, target.values, offset, settings.likelihood, settings.fit_intercept)


def known_variance(settings: Settings, scale: float) -> str | float:
    """Return what is known of sigma2 in units of the response's scale.

    Examples
    --------
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> options = em.Options(sigma2=8.0)
    >>> known_variance(Settings(Gaussian(), Horseshoe(), HalfCauchy(), options, True, True), scale=2.0)
    2.0
    """
    known = settings.options.sigma2
    return known if isinstance(known, str) else max(known / scale**2, SIGMA2_FLOOR)


def _start(
    problem: Quadratic | Linearised, design: Standardised, target: Target, start: str | Earlier
) -> Start | None:
    """Return where to start; None is the problem's own start."""
    if isinstance(start, Earlier) and design.columns.any():
        unit = design.scale / target.scale
        coef, std = start.coef[design.columns] * unit, start.std[design.columns] * unit
        sigma2 = max(start.sigma2 / target.scale**2, SIGMA2_FLOOR)
        level = start.intercept + float(design.mean @ start.coef[design.columns])
        system = problem.at(coef, (level - target.level) / target.scale, sigma2)
        return earlier_start(system, coef, std**2, sigma2)
    if isinstance(problem, Linearised) or start == "paper":
        return None
    return variance_start(problem.system)


def _restore(
    result: FitResult,
    design: Standardised,
    likelihood: Family,
    target: Target,
    has_intercept: bool,
) -> Fitted:
    """Return the fit in the user's units, with the constant columns in their places."""
    unit, columns = target.scale / design.scale, design.columns
    coef = spread(columns, result.coef * unit)
    mean = spread(columns, design.mean)
    sigma2 = result.scales.sigma2
    information = sigma2 / result.intercept_variance if result.intercept_variance > 0.0 else np.inf
    lambda2 = spread(columns, result.scales.lambda2)
    covariance = result.covariance
    if covariance is not None:
        covariance = covariance.rescale(unit[result.support])
    intercept = target.level + target.scale * result.intercept - float(mean @ coef)
    return Fitted(
        coef=coef,
        std=spread(columns, np.where(result.support, np.sqrt(result.moments.variance) * unit, 0.0)),
        intercept=intercept if has_intercept else 0.0,
        sigma2=sigma2 * target.scale**2 if likelihood.has_dispersion else 1.0,
        lambda2=lambda2,
        shrinkage=1.0 / (1.0 + information * result.scales.tau2 * lambda2),
        scale=spread(columns, design.spread),
        center=mean + spread(columns, design.scale * result.center),
        intercept_variance=result.intercept_variance * target.scale**2 if has_intercept else 0.0,
        covariance=covariance,
        likelihood=likelihood,
        result=result,
    )


def empty_result(
    status: Status, n_columns: int, size: float, tau: GlobalPrior, intercept: float = 0.0
) -> FitResult:
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
        intercept=intercept,
        scales=Scales(zero, tau.bounds[1], 1.0),
        moments=Moments(zero, zero, 1.0, 0.0, 0.0),
        active=np.zeros(n_columns, dtype=np.bool_),
        status=status,
        tau_at_bound=False,
        n_iter=0,
        trace=(),
        covariance=None,
        center=zero,
        intercept_variance=1.0 / size,
    )
