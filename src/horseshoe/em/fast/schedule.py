"""The schedule that reaches the mode of plain EM sooner; `docs/decisions/0002` tells why it is safe."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Mask, Moments, Scales, Status
from horseshoe.conditional.base import moments
from horseshoe.conditional.dual import Dual
from horseshoe.conditional.orthogonal import Orthogonal
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.fading import Fading, MatrixFading, absorb
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.resting import RestingDual, let_rest
from horseshoe.em.fast.tail import EMMap, find_fixed_point
from horseshoe.em.likelihood import Likelihood, WorkingLikelihood
from horseshoe.em.m_step import Hyper, largest, sum_of_responses
from horseshoe.em.result import ProgressReporter
from horseshoe.em.schedule import EXACT_WARMUP, Plain
from horseshoe.em.state import FastState, State
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


class Fast:
    """Plain EM with pruning, frozen columns and Newton's method in the tail; for sparse priors.

    Parameters
    ----------
    plain : Plain
        What is done where there is no shortcut.
    hyper : Hyper
        The prior of the scales.
    known_sigma2 : float, array of shape (q,) or None
        The noise variances, if they are known.
    progress : ProgressReporter
        Where steps of Newton's method are recorded.
    max_iter : int
        The most iterations.
    newton : bool
        Whether the tail may be jumped over.
    """

    def __init__(
        self,
        plain: Plain,
        hyper: Hyper,
        known_sigma2: Any,
        progress: ProgressReporter,
        max_iter: int,
        newton: bool,
    ) -> None:
        self._plain, self._likelihood, self._hyper, self._progress = plain, plain.likelihood, hyper, progress
        self._known, self._max_iter = known_sigma2, max_iter
        constant, multivariate = plain.likelihood.constant, plain.likelihood.is_multivariate
        self._has_newton = newton and plain.likelihood.exact_spread and (constant or not multivariate)
        self._has_shortcuts, self._bounds, self._fade = (
            not multivariate,
            hyper.tau.bounds,
            hyper.slowest(None),
        )

    def begin(self, state: State) -> State:
        """Return the state with nothing to remember yet."""
        return state._replace(fast=FastState(state.scales.sigma2))

    # --- the E-step ---------------------------------------------------------------------------------

    def e_step(self, state: State) -> tuple[Moments, FastState]:
        """Return the moments, as cheaply as the path to the mode allows."""
        before, sigma2, groups = state.fast, state.scales.sigma2, state.groups
        assert before is not None
        slowest = self._fade if groups is None else self._hyper.slowest(groups)
        if not self._has_shortcuts:
            rate = largest(before.sigma2 / sigma2) * slowest
            return self._plain.e_step(state)[0], FastState(sigma2, rate, *before[2:])
        rate = before.sigma2 / sigma2 * slowest
        # 1. the covariance of pruned columns fades with the d_j of null coefficients
        pruned = None if before.pruned is None else self._faded(before.pruned, rate, state)
        found, resting = self._moments(state, pruned, before.resting)
        if pruned is not None:
            if self._is_impossible(found, state):  # too little noise is left for an expansion: drop it
                pruned, (found, resting) = None, self._moments(state, None, before.resting)
            else:
                pruned = pruned.faded(found.fading_growth)
        return found, FastState(sigma2, rate, pruned, resting, *before[4:])

    def _is_impossible(self, found: Moments, state: State) -> bool:
        """Tell whether no coefficients have such moments: E[RSS] below 0, or a trace beyond that of I."""
        if found.expected_rss < 0.0:
            return True
        beyond = abs(found.fit_trace) > 2.0 * state.problem.shape[0]
        return beyond and not self._plain.is_approximate(state.n_steps)

    def _faded(self, pruned: Fading, rate: float, state: State) -> Fading | None:
        """Return what is left of the covariance of pruned columns after the M-step."""
        pruned = pruned.faded(rate)
        level, narrow = pruned.level, state.mean.size <= state.problem.shape[0]
        if isinstance(pruned, MatrixFading) and narrow and level < LIMITS.expandable_level and rate < 1.0:
            return pruned.expanded(state.problem)
        return pruned if level > LIMITS.gone_level else None

    def _moments(
        self, state: State, pruned: Fading | None, resting: RestingDual | None
    ) -> tuple[Moments, RestingDual | None]:
        """Return the moments, and the engine of frozen columns where there are any."""
        problem, sigma2, constant = state.problem, state.scales.sigma2, self._likelihood.constant
        (n, k), approximate = problem.shape, self._plain.is_approximate(state.n_steps)
        dual = (k > n or isinstance(pruned, MatrixFading)) and not approximate
        if not dual and pruned is None and (state.n_steps > 0 or k <= LIMITS.many_columns or not constant):
            return self._plain.e_step(state)[0], None
        d = state.scales.prior_variance
        single = dual and state.change >= (LIMITS.single_change if constant else self._plain.tol)
        if constant and (dual or (state.n_steps == 0 and k > LIMITS.many_columns)):
            spread = float(d @ problem.squares)
            if spread < LIMITS.negligible_spread:
                return moments(Orthogonal(problem, d), sigma2), None
            single = single and spread <= LIMITS.single_spread
        if pruned is not None:
            return pruned.moments(problem, d, sigma2, approximate, single), None
        if single and n * k > LIMITS.large and self._likelihood.exact_spread:
            engine = resting or let_rest(problem, self._likelihood.full.squares[state.active], constant)
            return engine.moments(problem, d, sigma2)
        if single and constant:
            root = np.sqrt(d)
            scaled = problem.weighted.scaled(root, np.float32)
            return moments(Dual(problem, root, scaled.outer(), scaled), sigma2), None
        return self._plain.e_step(state)[0], None

    # --- after the E-step ---------------------------------------------------------------------------

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Prune, or jump to the end of the tail, or go on."""
        fast, ended = state.fast, self._plain.after(before, state)[1]
        assert fast is not None
        if ended is Status.CONVERGED:
            fades = fast.pruned is not None and state.scales.sigma2 > SIGMA2_FLOOR  # there nothing does
            ended = None if fades or fast.resting is not None else ended
        if ended is None and state.n_steps > 1 and fast.rate <= 1.0:  # otherwise noise falls faster
            pruned = prune(self._likelihood, self._hyper, state, fast)
            if pruned is not None:
                return pruned, None
        if self._is_tail(before, state, fast):
            state, converged = self._newton(state, fast)
            return state, Status.CONVERGED if converged else ended
        return state, ended

    def state_dict(self) -> dict[str, Any]:
        """Return what plain EM remembers: the rest is part of the state."""
        return self._plain.state_dict()

    def load_state_dict(self, memory: dict[str, Any]) -> None:
        """Restore this."""
        self._plain.load_state_dict(memory)

    def _is_tail(self, before: State, state: State, fast: FastState) -> bool:
        """Tell whether only the tail is left: what is active stays, and hardly moves."""
        if not self._has_newton or state.scales.tau2 not in self._bounds or state.n_steps < fast.next_newton:
            return False
        warming_up = self._plain.expectation == "approximate" and state.n_steps <= EXACT_WARMUP
        if warming_up or state.point.is_loose or len(state.mean) > state.problem.shape[0]:
            return False
        if fast.pruned is not None and fast.pruned.level > LIMITS.faded_level:
            return False
        now, then = state.second_moment, before.second_moment
        if now.ndim > 1:
            now, then = (
                sum_of_responses(now, state.scales.sigma2),
                sum_of_responses(then, before.scales.sigma2),
            )
        return bool(np.logical_and.reduce(np.abs(now - then) < LIMITS.settled_change * then))

    def _newton(self, state: State, fast: FastState) -> tuple[State, bool]:
        """Jump to the fixed point if that is safe; return whether this ends the fit.

        Where weights move, each jump is to the fixed point at fixed weights, and the next weights are taken
        where Anderson's mixing of the last jumps leads.
        """
        patience = 2 * fast.patience
        fast = fast._replace(patience=patience, next_newton=state.n_steps + patience)
        state = state._replace(fast=fast, point=state.point._replace(keeps_weights=False))
        if not isinstance(self._likelihood, WorkingLikelihood):  # one jump ends it: weights are constant
            there = self._jump(state)
            return (state, False) if there is None else (there, there.change < self._plain.tol)
        mixer = Anderson()
        for _ in range(LIMITS.max_jumps):
            state = self._likelihood.at(state, state.scales)
            there = self._jump(state)
            if there is None:
                return state, False
            state, change = self._likelihood.mix_weights(there, mixer)
            if max(there.change, change) < self._plain.tol:
                return state, True
        return state, False

    def _jump(self, state: State) -> State | None:
        """Go to the fixed point of EM on the least-squares problem at hand, if that is safe."""
        assert state.moments is not None
        assert state.fast is not None
        approximate = self._plain.expectation == "approximate"
        several = self._likelihood.targets_of(state)
        em = EMMap(state.problem, self._hyper, self._known, approximate, state.groups, *several)
        path = find_fixed_point(em, state.moments)
        if not path or state.n_steps + len(path) > self._max_iter:
            return None
        fast = state.fast._replace(pruned=None, sigma2=path[-1][0].sigma2)
        for scales, found in path:
            state = state._replace(scales=scales).advanced(found, state.point, fast)
            self._progress.report(state)
        return state
