"""From the last state of the loop to a fit with exact zeros."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from horseshoe._types import FitResult, Mask, Status, Vector
from horseshoe.conditional.base import condition
from horseshoe.em.mstep import Hyper
from horseshoe.em.options import Options
from horseshoe.em.state import State
from horseshoe.em.trace import Trace
from horseshoe.em.weights import Weights
from horseshoe.linalg import scatter
from horseshoe.priors import Groups, is_dense

NO_NOISE = 1e-6
"""Below this share of the variance of y the noise counts as none."""


def sparsify(
    weights: Weights,
    hyper: Hyper,
    options: Options,
    state: State,
    status: Status,
    trace: Trace,
    groups: Groups | None = None,
) -> FitResult:
    """Set what is negligible to zero and put the active columns back in their places."""
    if options.expectation == "stochastic" and state.mean.size:  # exact moments where the averages led to
        state = state._replace(moments=weights.moments(condition, state))
    assert state.moments is not None
    active, scales, moments = state.active, state.scales, state.moments
    coef = scatter(active, moments.mean)
    coef[_negligible(weights, hyper, options, coef, groups)] = 0.0
    support = coef != 0.0
    found = weights.uncertainty(state, support[active], moments.error is not None)
    explains = bool(support.any()) or found.free is not None
    if status in (Status.CONVERGED, Status.NOTHING_SELECTED):
        remark = Status.NO_NOISE if _without_noise(options, state) else weights.remark(state)
        status = status if support.any() else Status.NOTHING_SELECTED
        status = (remark or status) if explains else status
    elif status is Status.STALLED and explains:  # a likelihood without a maximum has no way on that is left
        status = weights.remark(state) or status
    low, high = hyper.tau.bounds
    return FitResult(
        coef=coef,
        intercept=weights.intercept(state._replace(mean=moments.mean)),
        scales=scales._replace(lambda2=scatter(active, scales.lambda2)),
        moments=moments._replace(
            mean=scatter(active, moments.mean), variance=scatter(active, moments.variance)
        ),
        active=active,
        status=status,
        tau_at_bound=low < high and scales.tau2 in (low, high),
        n_iter=len(trace.lines),
        trace=tuple(trace.lines),
        covariance=found.covariance,
        center=scatter(active, found.center),
        intercept_variance=found.intercept_variance,
        at_information=found.at_information,
        family=found.family or state.place.family,
        free=found.free,
    )


def _without_noise(options: Options, state: State) -> bool:
    """Tell whether the noise variance, which nobody gave, is as good as zero beside that of y.

    Eq. (18) divides E[RSS] alone and leaves out what the prior says of sigma2. With more columns than rows,
    and a prior under which null coefficients do not vanish (the lasso, Student-t, any in lambda power 1),
    nothing then holds it up: the smaller sigma2, the less is shrunk, and the better the columns fit.
    """
    return options.known_sigma2 is None and state.scales.sigma2 < NO_NOISE


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


def _negligible(
    weights: Weights, hyper: Hyper, options: Options, coef: Vector, groups: Groups | None
) -> Mask:
    """Tell which coefficients, or groups by their root mean square, are below 1/(5 sqrt n), standardised."""
    limit = options.zero_threshold
    if limit is None:
        limit = 0.0 if is_dense(hyper.local) else 1.0 / (5.0 * np.sqrt(weights.total_weight))
    if groups is None:
        return np.abs(coef) < np.asarray(limit * weights.response_scale / weights.full.column_scale)
    return groups.rms(coef * weights.full.column_scale) < limit * weights.response_scale
