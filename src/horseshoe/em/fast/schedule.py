"""The schedule that reaches the mode of plain EM sooner; `docs/decisions/0002` tells why it is safe."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Moments, Status
from horseshoe.conditional.base import moments
from horseshoe.conditional.dual import Dual
from horseshoe.conditional.orthogonal import Orthogonal
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.fading import Fading, MatrixFading
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.pruning import prune
from horseshoe.em.fast.resting import RestingDual, let_rest
from horseshoe.em.fast.state import FastState
from horseshoe.em.fast.tail import EMMap, find_fixed_point
from horseshoe.em.m_step import Hyper, largest, sum_of_responses
from horseshoe.em.progress import ProgressReporter
from horseshoe.em.schedule import EXACT_WARMUP, Plain
from horseshoe.em.state import State


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
        mixer = Anderson()
        for _ in range(LIMITS.max_jumps):
            state = self._likelihood.at(state, state.scales)
            there = self._jump(state)
            if there is None:
                return state, False
            state, change = self._likelihood.mix_weights(there, mixer)
            if max(there.change, change) < self._plain.tol:
                return state, True
            if self._likelihood.constant:
                return state, False
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
