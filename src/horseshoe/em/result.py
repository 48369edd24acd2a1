"""What a fit reports: the trace, the user's callback, the covariance of the coefficients, and the results."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from horseshoe._types import (
    Callback,
    Covariance,
    FitResult,
    Iteration,
    Mask,
    Matrix,
    Status,
    Step,
    Vector,
    within_slab,
)
from horseshoe.conditional.base import condition
from horseshoe.data.adjusted import Free
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import Options, State
from horseshoe.linalg import scatter
from horseshoe.priors import Groups, is_dense

if TYPE_CHECKING:
    from horseshoe.em.likelihood import Likelihood

# Iterations over which the change must have fallen before the time left is estimated.
WINDOW = 10
# By which its logarithm must have fallen in each of them, on average.
LEAST_FALL = 1e-3


class ProgressReporter:
    """One line of the trace for each E-step, and a call of the user's callback.

    Parameters
    ----------
    hyper : Hyper
        The prior of the scales.
    callback : callable or None
        Called with a `Step`; returning False stops the fit.
    tol : float
        The change at which the fit ends.
    columns : Columns
        The columns, which may count the passes over them.
    has_objective : bool
        Whether the marginal objective follows from the moments.
    """

    def __init__(
        self, hyper: Hyper, callback: Callback | None, tol: float, columns: Any, has_objective: bool
    ) -> None:
        self._hyper, self._callback, self._tol, self._columns = hyper, callback, tol, columns
        self._has_objective, self._start = has_objective, time.perf_counter()
        self._recent: deque[tuple[float, float]] = deque(maxlen=WINDOW + 1)
        self.lines: list[Iteration] = []

    def report(self, state: State) -> bool:
        """Add a line and call the callback; return whether it returned False."""
        scales, moments, k = state.scales, state.moments, len(state.mean)
        has_pruned = state.fast is not None and state.fast.pruned is not None
        value = objective(self._hyper, state) if self._has_objective and not has_pruned else None
        error = None if moments is None else moments.error
        line = Iteration(state.change, value, scales.tau2, scales.sigma2, k, error)
        self.lines.append(line)
        if self._callback is None:
            return False
        now = time.perf_counter()
        self._recent.append((now, line.change))
        left = seconds_left(list(self._recent), self._tol)
        passes = getattr(getattr(self._columns, "storage", None), "passes", None)
        line = line._replace(sigma2=float(np.mean(line.sigma2)))
        return self._callback(Step.of(line, len(self.lines), passes, now - self._start, left)) is False


def objective(hyper: Hyper, state: State) -> float | None:
    """Return -log p(lambda, tau, sigma2 | z) of the active columns, the coefficients integrated out."""
    moments, scales = state.moments, state.scales
    if moments is None or moments.log_det is None:
        return None
    lambda2, mean = scales.lambda2, moments.mean
    positive = slice(None) if np.logical_and.reduce(lambda2) else lambda2 > 0.0  # 0: orthogonal to z
    lambda2, mean = lambda2[positive], mean[positive]
    # 1. the likelihood: with M = I + X D X', z'M^-1 z = RSS + m'D^-1 m for each response
    rss = moments.expected_rss - scales.sigma2 * moments.fit_trace
    bare = scales.tau2 * lambda2
    d = bare if scales.slab2 == math.inf else within_slab(bare, scales.slab2)
    quadratic = (rss + np.add.reduce((mean * mean).T / d, axis=-1)) / scales.sigma2
    if mean.ndim == 1:
        log_sigma2 = math.log(scales.sigma2)
    else:
        quadratic, log_sigma2 = np.add.reduce(quadratic), np.add.reduce(np.log(scales.sigma2))
    log_det = moments.log_det + (0.0 if d is bare else float(np.log(bare / d).sum()))
    # 2. the prior: a scale of g columns counts once
    local = hyper.local.neg_log_density(lambda2, hyper.lambda_power)
    if state.groups is not None:
        local = local / state.groups.spread(state.groups.size)[positive]
    return float(
        0.5 * state.problem.targets.total_weight * log_sigma2
        + 0.5 * hyper.size * log_det
        + 0.5 * quadratic
        + np.add.reduce(local)
        + hyper.tau.neg_log_density(scales.tau2)
    )


def seconds_left(recent: list[tuple[float, float]], tol: float) -> float | None:
    """Return how long the change takes to fall to ``tol`` at its present rate; None if unknown.

    ``recent`` are times and changes of the last iterations. It is a guess: columns that leave make iterations
    cheaper, and Newton's method in the tail makes them fewer.

    Examples
    --------
    >>> recent = [(float(k), 10.0**-k) for k in range(11)]
    >>> round(seconds_left(recent, 1e-13), 6), seconds_left(recent[:5], 1e-13)
    (3.0, None)
    """
    if len(recent) <= WINDOW:
        return None
    (begun, before), (now, change) = recent[0], recent[-1]
    if not (0.0 < change < math.inf and 0.0 < before < math.inf):
        return None
    fall = math.log(before / change) / WINDOW
    if fall < LEAST_FALL or tol <= 0.0:
        return None
    iterations = max(math.log(change / tol), 0.0) / fall
    return iterations * (now - begun) / WINDOW


class Uncertainty(NamedTuple):
    """Cov[b], and the variance of the linear predictor at the columns' values ``center``.

    ``at_information`` says that they come from the expected information, and not from the working weights;
    ``free`` is the centre of the unpenalised columns, whose coefficients are then behind the others in
    Cov[b]; ``family`` is that of an ordinal outcome, with the standard errors of its thresholds.
    """

    covariance: Covariance | None
    center: Vector
    intercept_variance: float
    at_information: bool = False
    free: Vector | None = None
    family: Any = None


class Independent(NamedTuple):
    """Coefficients of which the variances alone are known."""

    variance: Vector

    def covariance(self, sigma2: float, of: Mask | None = None) -> Covariance:
        """Return these variances, of all or of some of the coefficients."""
        variance = self.variance if of is None else self.variance[of]
        return Covariance(variance, np.zeros((0, variance.size)), 1.0)


def covariances(
    state: State, of: Mask, diagonal: bool = False, loads: Matrix | None = None, own: Any = None
) -> list[Covariance | None]:
    """Return Cov[b] of the coefficients in ``of``, for each response; None where there are none.

    ``diagonal`` takes the variances of the last E-step alone. With ``loads`` the unpenalised coefficients
    e - loads b are behind them, where e has the variance ``own``, one for each response.
    """
    sigma2 = np.array(state.scales.sigma2, ndmin=1).tolist()
    q = len(sigma2)
    given: list[Any] = [None] * q
    if diagonal and state.moments is not None:
        given = [Independent(one) for one in state.moments.variance.T.reshape(q, -1)]
    elif len(state.mean) and (loads is not None or of.any()):
        given = [condition(state.problem, state.scales.prior_variance)] * q
    each = zip(given, sigma2, of.T.reshape(q, -1), strict=True)
    if loads is None:
        return [one.covariance(s2, mask) if mask.any() else None for one, s2, mask in each]
    return [joint(*one, loads, variance) for one, variance in zip(each, own, strict=True)]


def sample_weighted(state: State, of: Mask, free: Free, center: Vector, diagonal: bool) -> list[Uncertainty]:
    """Return the uncertainty where the weights are those of the sample, in which the basis is orthogonal."""
    q, variances = free.basis.shape[1], np.atleast_1d(state.scales.sigma2) / free.total_weight
    own = [variance * np.eye(q) for variance in variances]
    found = covariances(state, of, diagonal, free.loads[:, state.active], own)
    pairs = zip(found, variances.tolist(), strict=True)
    return [Uncertainty(one, center, variance, free=np.zeros(q)) for one, variance in pairs]


def joint(given: Any, sigma2: float, of: Mask, loads: Matrix, variance: Matrix) -> Covariance:
    """Return the covariance of some coefficients b and, behind them, of e - loads b, e of this variance.

    ``given`` are the coefficients given the scales, all of them; None where there are none.

    Examples
    --------
    >>> none = np.zeros(0, dtype=np.bool_)
    >>> joint(None, 1.0, none, np.zeros((1, 0)), np.array([[4.0]])).variance
    array([4.])
    """
    q, own = len(variance), np.asarray(np.linalg.cholesky(variance).T, dtype=np.float64)
    if given is None:
        return Covariance(np.zeros(q), own, 1.0)
    found = given.covariance(sigma2)
    both = np.hstack([found.factor[:, of], -(found.factor @ loads.T)])
    if found.sign < 0.0 or found.diagonal.any():  # no factor of the whole is at hand
        pull = -(found.diagonal * loads)
        whole = np.block([[np.diag(found.diagonal[of]), pull[:, of].T], [pull[:, of], -pull @ loads.T]])
        values, vectors = np.linalg.eigh(whole + found.sign * (both.T @ both))
        both = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    more = np.hstack([np.zeros((q, both.shape[1] - q)), own])
    return Covariance(np.zeros(both.shape[1]), np.vstack([both, more]), 1.0)


# Below this share of the variance of y the noise variance counts as zero.
NO_NOISE = 1e-6


def results(
    likelihood: Likelihood,
    hyper: Hyper,
    options: Options,
    state: State,
    status: Status,
    progress: ProgressReporter,
    groups: Groups | None = None,
) -> tuple[FitResult, ...]:
    """Set what is negligible to zero, and return the fit of each response, all columns in their places."""
    if options.expectation == "stochastic" and len(state.mean):  # exact moments where the averages led to
        exact = likelihood.moments(condition, state)
        state = state._replace(moments=exact, mean=exact.mean)
    assert state.moments is not None
    active, scales, moments, q = state.active, state.scales, state.moments, likelihood.n_responses
    # 1. exact zeros
    mean, variance = moments.mean.T.reshape(q, -1), moments.variance.T.reshape(q, -1)
    whole = scatter(active, mean)
    coef = np.where(selected(likelihood, hyper, options, whole, groups), whole, 0.0)
    support = coef[:, active] != 0.0
    # 2. how well they are known
    of = support.T if moments.mean.ndim > 1 else support[0]
    found = likelihood.uncertainty(state, of, moments.error is not None)
    # 3. one fit for each response
    lambda2, (low, high) = scatter(active, scales.lambda2), hyper.tau.bounds
    sigma2, rss = _of_each(scales.sigma2, q), _of_each(moments.expected_rss, q)
    intercepts, lines, out = likelihood.intercepts(state), tuple(progress.lines), []
    for k, one in enumerate(found):
        if isinstance(scales.sigma2, np.ndarray):
            trace: list[Any] = progress.lines
            lines = tuple([Iteration._make((*line[:3], line.sigma2[k], *line[4:])) for line in trace])
        out.append(
            FitResult(
                coef=coef[k],
                intercept=intercepts[k],
                scales=scales._replace(lambda2=lambda2, sigma2=sigma2[k]),
                moments=moments._replace(
                    mean=whole[k], variance=scatter(active, variance[k]), expected_rss=rss[k]
                ),
                active=active,
                status=_status(likelihood, options, state, status, sigma2[k], support, one.free is not None),
                tau_at_bound=low < high and scales.tau2 in (low, high),
                n_iter=len(lines),
                trace=lines,
                covariance=one.covariance,
                center=scatter(active, one.center),
                intercept_variance=one.intercept_variance,
                at_information=one.at_information,
                family=one.family or state.point.family,
                free=one.free,
            )
        )
    return tuple(out)


def _of_each(value: Any, q: int) -> list[float]:
    """Return the value of each of q responses, or one for all."""
    return list(value.tolist()) if isinstance(value, np.ndarray) else [float(value)] * q


def _status(
    likelihood: Likelihood,
    options: Options,
    state: State,
    status: Status,
    sigma2: float,
    support: Mask,
    has_free: bool,
) -> Status:
    """Return how the fit ended, with what is to be said of a fit that has any column.

    Eq. (18) divides E[RSS] alone and leaves out the part of the prior in sigma2. With more columns than rows,
    and a prior under which null coefficients do not vanish (the lasso, Student-t, any in lambda power 1),
    an unknown noise variance then falls to zero: the smaller it is, the less is shrunk, the better the fit.
    """
    explains = bool(support.any()) or has_free
    if status in (Status.CONVERGED, Status.NOTHING_SELECTED):
        status = status if support.any() else Status.NOTHING_SELECTED
        if explains and options.known_sigma2 is None and sigma2 < NO_NOISE:
            return Status.NO_NOISE
    elif status is not Status.STALLED:  # a likelihood without a maximum may stall
        return status
    return (likelihood.remark(state) or status) if explains else status


def selected(
    likelihood: Likelihood, hyper: Hyper, options: Options, coef: Matrix, groups: Groups | None
) -> Mask:
    """Tell which coefficients are not negligible: at least 1/(5 sqrt n), standardised.

    Coefficients of shape (q, p), of several responses, or in a group, count by their root mean square.
    """
    limit = options.zero_threshold
    if limit is None:
        limit = 0.0 if is_dense(hyper.local) else zero_threshold(likelihood.total_weight)
    size = np.abs(coef) * likelihood.full.column_scale
    size = size / np.reshape(likelihood.response_scale, (-1, 1))
    size = size[0] if len(size) == 1 else np.sqrt((size * size).sum(axis=0) / hyper.size)
    size = size if groups is None else groups.rms(size)
    return np.asarray(size >= limit)


def zero_threshold(total_weight: float) -> float:
    """Return (5 sqrt n)^-1, below which a standardised coefficient counts as zero.

    Examples
    --------
    >>> zero_threshold(100.0)
    0.02
    """
    return float(1.0 / (5.0 * np.sqrt(total_weight)))


def scatter_result(result: FitResult, keep: Mask) -> FitResult:
    """Return a fit to some of the columns as one to all, with zeros for the others.

    Examples
    --------
    >>> from horseshoe.model.fit import empty_result
    >>> from horseshoe.priors import HalfCauchy
    >>> few = empty_result(Status.NO_COLUMNS, 1, 5.0, HalfCauchy())
    >>> scatter_result(few, np.array([False, True, False])).coef
    array([0., 0., 0.])
    """
    moments, scales = result.moments, result.scales
    mean, variance = scatter(keep, moments.mean), scatter(keep, moments.variance)
    return replace(
        result,
        coef=scatter(keep, result.coef),
        scales=scales._replace(lambda2=scatter(keep, scales.lambda2)),
        moments=moments._replace(mean=mean, variance=variance),
        active=scatter(keep, result.active),
        center=scatter(keep, result.center),
    )
