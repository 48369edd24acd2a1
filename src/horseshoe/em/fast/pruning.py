"""Which columns only fade, and may leave."""

from __future__ import annotations

import numpy as np

from horseshoe._types import Mask, Moments, Scales, Vector
from horseshoe.em.fast.fading import absorb
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.pace import Pace
from horseshoe.em.state import State
from horseshoe.em.weights import Weights
from horseshoe.priors import Groups


def worth_keeping(moments: Moments, scales: Scales, limit: float = LIMITS.prune) -> Mask:
    """Tell which columns do more than fade.

    E[b_j^2] changes by the factor (1 - leverage_j + gain_j) / (2A): where both are small, whatever the
    other columns do, the column is on its way to zero at the rate of a null coefficient.

    Examples
    --------
    >>> moments = Moments(np.array([1.0, 1e-9]), np.array([1e-4, 1e-8]), 1.0, 0.0, None)
    >>> worth_keeping(moments, Scales(np.array([1.0, 1e-8]), 1.0, 1.0))
    array([ True, False])
    """
    prior = scales.sigma2 * scales.prior_variance
    alive = moments.variance <= (1.0 - limit) * prior
    alive |= moments.mean * moments.mean >= limit * prior
    alive &= prior > 0.0
    return alive


def groups_worth_keeping(moments: Moments, scales: Scales, groups: Groups, limit: float) -> Mask:
    """Tell which groups do more than fade, of each column that of its group.

    The scale of a group of g changes by the factor (1 - mean leverage + mean gain) g / (2A), and g / (2A) is
    but a share of about 1/g below 1: so the sums over the group must be small.

    Examples
    --------
    >>> moments = Moments(np.array([1.0, 1e-9]), np.array([1e-4, 1e-8]), 1.0, 0.0, None)
    >>> groups_worth_keeping(moments, Scales(np.full(2, 1e-8), 1.0, 1.0), Groups(np.array([0, 0])), 0.05)
    array([ True,  True])
    """
    prior = scales.sigma2 * scales.prior_variance
    share = np.divide(moments.variance, prior, out=np.ones_like(prior), where=prior > 0.0)
    gain = np.divide(moments.mean**2, prior, out=np.zeros_like(prior), where=prior > 0.0)
    alive = (groups.totals(1.0 - share) >= limit) | (groups.totals(gain) >= limit)
    return np.asarray(groups.spread(alive))


def shared_worth_keeping(
    spread: Vector, gain: Vector, d: Vector, groups: Groups | None, size: float, limit: float
) -> Mask:
    """Tell which columns of several regressions do more than fade; of groups, which groups.

    ``spread`` is Var[b_jk] and ``gain`` the mean of E[b_jk]^2 over the ``size`` regressions, both in units of
    sigma2, as the prior variances ``d``.

    Examples
    --------
    >>> shared_worth_keeping(np.array([0.1, 1.0]), np.array([2.0, 0.0]), np.ones(2), None, 2.0, 0.01)
    array([ True, False])
    """
    if groups is None:
        return ((spread <= (1.0 - limit) * d) | (gain >= limit * d)) & (d > 0.0)
    share = np.divide(spread, d, out=np.ones_like(d), where=d > 0.0)
    gain = np.divide(gain, d, out=np.zeros_like(d), where=d > 0.0)
    alive = size * np.maximum(groups.totals(1.0 - share), groups.totals(gain)) >= limit
    return np.asarray(groups.spread(alive))


def prune(weights: Weights, state: State, pace: Pace) -> State | None:
    """Return the state without the columns that only fade, or None if none leaves."""
    assert state.moments is not None
    if pace.rate > 1.0:
        return None  # the noise still falls so fast that nothing fades beside it
    paused = state.n_steps < pace.last_prune + LIMITS.prune_pause
    if paused and state.mean.size <= LIMITS.few_columns:
        return None
    limit = LIMITS.prune if pace.rate < LIMITS.careful_fading else LIMITS.prune_careful
    limit = limit if _fades(weights, state) else LIMITS.prune_moving
    if state.groups is None:
        keep = worth_keeping(state.moments, state.scales, limit)
    else:
        keep = groups_worth_keeping(state.moments, state.scales, state.groups, limit)
    kept = int(np.count_nonzero(keep))
    if kept == keep.size or (paused and kept > LIMITS.prune_share * keep.size):
        return None  # a copy of the columns must pay
    if _fades(weights, state) and pace.resting is not None and kept > state.problem.n_rows:
        return None  # what fades rests already
    pace = _without(weights, state, pace, keep)._replace(last_prune=state.n_steps)
    return weights.take(state, keep)._replace(pace=pace)


def _fades(weights: Weights, state: State) -> bool:
    """Tell whether what leaves fades on: not where weights move, nor in groups, whose rates differ."""
    return weights.constant and state.groups is None


def _without(weights: Weights, state: State, pace: Pace, keep: Mask) -> Pace:
    """Return what is remembered of the columns that leave; in some fits they are gone."""
    share = state.second_moment / state.scales.sigma2
    if not _fades(weights, state):
        return pace._replace(resting=pace.resting and pace.resting.take(keep))
    if pace.resting is not None:
        return pace._replace(fading=pace.resting.fading(keep, share), resting=None)
    return pace._replace(fading=absorb(pace.fading, state.problem, ~keep, share[~keep]))
