"""Columns that only fade, and may leave the active set."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Mask, Moments, Scales
from horseshoe.em.fast.fading import absorb
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.state import FastState
from horseshoe.em.likelihood import Likelihood
from horseshoe.em.m_step import Hyper, sum_of_responses
from horseshoe.em.state import State
from horseshoe.priors import Groups


def worth_keeping(
    moments: Moments,
    scales: Scales,
    limit: float = LIMITS.prune,
    groups: Groups | None = None,
    size: float = 1.0,
) -> Mask:
    """Tell which columns do more than fade; of a group, all or none.

    E[b_j^2] changes by the factor (1 - leverage_j + gain_j) / (2A), gain_j = E[b_j]^2 / (sigma2 d_j): where
    both are small, whatever the other columns do, the column is on its way to zero at the rate of a null
    coefficient. The scale that m coefficients share, those of a group of columns or of ``size`` responses,
    changes by (1 - mean leverage + mean gain) m / (2A), and m / (2A) is but a share of about 1/m below 1: so
    the sums over a group must be small.

    Examples
    --------
    >>> moments = Moments(np.array([1.0, 1e-9]), np.array([1e-4, 1e-8]), 1.0, 0.0, None)
    >>> worth_keeping(moments, Scales(np.array([1.0, 1e-8]), 1.0, 1.0))
    array([ True, False])
    >>> worth_keeping(moments, Scales(np.full(2, 1e-8), 1.0, 1.0), groups=Groups(np.array([0, 0])))
    array([ True,  True])
    """
    prior, sigma2 = scales.prior_variance, scales.sigma2
    variance, square = moments.variance, moments.mean * moments.mean
    if variance.ndim == 1:
        prior = sigma2 * prior
    else:  # the mean over the responses, in units of sigma2
        variance, square = sum_of_responses(variance, sigma2) / size, sum_of_responses(square, sigma2) / size
    if groups is not None:
        share = np.divide(variance, prior, out=np.ones_like(prior), where=prior > 0.0)
        gain = np.divide(square, prior, out=np.zeros_like(prior), where=prior > 0.0)
        total = size * np.maximum(groups.totals(1.0 - share), groups.totals(gain))
        return np.asarray(groups.spread(total >= limit))
    alive: Any = variance <= (1.0 - limit) * prior
    alive |= square >= limit * prior
    alive &= prior > 0.0
    return np.asarray(alive)


def prune(likelihood: Likelihood, hyper: Hyper, state: State, fast: FastState) -> State | None:
    """Return the state without the columns that only fade, or None if none leaves."""
    paused = state.n_steps < fast.last_prune + LIMITS.prune_pause
    if paused and len(state.mean) <= LIMITS.few_columns:
        return None
    # What leaves keeps its covariance only where all columns fade at one rate: not where weights move, in
    # groups, or in several responses.
    fades = likelihood.constant and state.groups is None and not likelihood.is_multivariate
    limit = LIMITS.prune if fast.rate < LIMITS.careful_fading else LIMITS.prune_careful
    limit = limit if fades else LIMITS.prune_moving
    assert state.moments is not None
    keep = worth_keeping(state.moments, state.scales, limit, state.groups, hyper.size)
    kept = int(np.count_nonzero(keep))
    if kept == keep.size or (paused and kept > LIMITS.prune_share * keep.size):
        return None  # a copy of the columns must pay
    if fades and fast.resting is not None and kept > state.problem.n_rows:
        return None  # what fades is frozen already
    # The covariance contribution of the columns that leave
    share = state.second_moment / state.scales.sigma2
    if not fades:
        fast = fast._replace(resting=fast.resting and fast.resting.take(keep))
    elif fast.resting is not None:
        fast = fast._replace(pruned=fast.resting.fading(keep, share), resting=None)
    else:
        fast = fast._replace(pruned=absorb(fast.pruned, state.problem, ~keep, share[~keep]))
    return likelihood.take(state, keep)._replace(fast=fast._replace(last_prune=state.n_steps))
