"""From the last state of the loop to a fit of each response, with exact zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from horseshoe._types import FitResult, Iteration, Mask, Matrix, Status
from horseshoe.conditional.base import condition
from horseshoe.em.likelihood import Likelihood
from horseshoe.em.m_step import Hyper
from horseshoe.em.options import Options
from horseshoe.em.progress import ProgressReporter
from horseshoe.em.state import State
from horseshoe.linalg import scatter
from horseshoe.priors import Groups, is_dense

NO_NOISE = 1e-6
"""Below this share of the variance of y the noise variance counts as zero."""


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
