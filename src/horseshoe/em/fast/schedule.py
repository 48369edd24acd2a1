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
from horseshoe.em.fast.pace import Pace
from horseshoe.em.fast.pruning import prune
from horseshoe.em.fast.resting import RestingDual, let_rest
from horseshoe.em.fast.tail import EMMap, find_fixed_point
from horseshoe.em.mstep import Hyper
from horseshoe.em.schedule import EXACT_WARMUP, Plain
from horseshoe.em.state import State
from horseshoe.em.trace import Trace


class Fast:
    """Plain EM with pruning, fading, resting and Newton's method in the tail; for sparse priors.

    Parameters
    ----------
    plain : Plain
        What is done where there is no shortcut.
    hyper : Hyper
        The prior of the scales.
    known_sigma2 : float or None
        The noise variance, if it is known.
    trace : Trace
        Where jumps are recorded.
    max_iter : int
        The most iterations.
    polish : bool
        Whether the tail may be jumped over.
    """

    def __init__(
        self,
        plain: Plain,
        hyper: Hyper,
        known_sigma2: float | None,
        trace: Trace,
        max_iter: int,
        polish: bool,
    ) -> None:
        self._plain, self._weights, self._hyper, self._trace = plain, plain.weights, hyper, trace
        self._known, self._max_iter = known_sigma2, max_iter
        self._polishes = polish and plain.weights.exact_spread

    def begin(self, state: State) -> State:
        """Return the state with nothing to remember yet."""
        return state._replace(pace=Pace(state.scales.sigma2))

    # --- the E-step ---------------------------------------------------------------------------------

    def e_step(self, state: State) -> tuple[Moments, Pace]:
        """Return the moments, as cheaply as the path to the mode allows."""
        before, sigma2 = _pace(state), state.scales.sigma2
        rate = before.sigma2 / (self._null_growth(state) * sigma2)
        fading = self._faded(before.fading, rate, state)
        found, resting = self._moments(state, fading, before.resting)
        if fading is not None:
            if self._is_impossible(found, state):  # too little noise is left for an expansion: go on without
                fading, (found, resting) = None, self._moments(state, None, before.resting)
            else:
                fading = fading.faded(found.fading_growth)
        pace = Pace(sigma2, rate, fading, resting, before.last_prune, before.patience, before.next_polish)
        return found, pace

    def _null_growth(self, state: State) -> float:
        """Return by what the E[b_j^2] of null coefficients is divided at each M-step: 2A, of groups 2A/g."""
        if state.groups is None:
            return 2.0 * self._hyper.null_rate
        return 1.0 / state.groups.slowest(self._hyper.local, self._hyper.lambda_power)

    def _is_impossible(self, found: Moments, state: State) -> bool:
        """Tell whether no coefficients have such moments: E[RSS] below 0, or a trace beyond that of I."""
        if found.expected_rss < 0.0:
            return True
        beyond = abs(found.fit_trace) > 2.0 * state.problem.n_rows
        return beyond and not self._plain.is_approximate(state.n_steps)

    def _faded(self, fading: Fading | None, rate: float, state: State) -> Fading | None:
        """Return what is left of what fades after the M-step."""
        if fading is None:
            return None
        fading = fading.faded(rate)
        narrow, small = state.mean.size <= state.problem.n_rows, fading.level < LIMITS.expandable_level
        if isinstance(fading, MatrixFading) and narrow and small and rate < 1.0:
            return fading.expanded(state.problem)
        return fading if fading.level > LIMITS.gone_level else None

    def _moments(
        self, state: State, fading: Fading | None, resting: RestingDual | None
    ) -> tuple[Moments, RestingDual | None]:
        """Return the moments, and who rests where columns may."""
        problem, d, sigma2 = state.problem, state.scales.prior_variance, state.scales.sigma2
        constant, (n, k) = self._weights.constant, problem.shape
        approximate = self._plain.is_approximate(state.n_steps)
        dual = (k > n or (isinstance(fading, MatrixFading))) and not approximate
        single = dual and state.change >= (LIMITS.single_change if constant else self._plain.tol)
        if constant and (dual or (state.n_steps == 0 and k > LIMITS.many_columns)):
            spread = float(d @ problem.squares)
            if spread < LIMITS.negligible_spread:
                return moments(Orthogonal(problem, d), sigma2), None
            single = single and spread <= LIMITS.single_spread
        if fading is not None:
            return fading.moments(problem, d, sigma2, approximate, single), None
        if single and n * k > LIMITS.large and self._weights.exact_spread:
            engine = resting or let_rest(problem, self._weights.full.squares[state.active], constant)
            return engine.moments(problem, d, sigma2)
        if single and constant:
            root = np.sqrt(d)
            scaled = problem.weighted.scaled(root, np.float32)
            return moments(Dual(problem, root, scaled.outer(), scaled), sigma2), None
        return self._plain.e_step(state)[0], None

    # --- after the E-step ---------------------------------------------------------------------------

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Prune, or jump to the end of the tail, or go on."""
        pace = _pace(state)
        ended = self._plain.after(before, state)[1]
        fades = pace.fading is not None and state.scales.sigma2 > SIGMA2_FLOOR  # at the floor nothing does
        if ended is Status.CONVERGED and (fades or pace.resting is not None):
            ended = None
        if ended is None and state.n_steps > 1:
            pruned = prune(self._weights, state, pace)
            if pruned is not None:
                return pruned, None
        if self._is_tail(before, state, pace):
            state, polished = self._polish(state, pace)
            return state, Status.CONVERGED if polished else ended
        return state, ended

    def state_dict(self) -> dict[str, Any]:
        """Return nothing more than plain EM has: what is remembered is part of the state."""
        return self._plain.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self._plain.load_state_dict(state)

    def _is_tail(self, before: State, state: State, pace: Pace) -> bool:
        """Tell whether only the tail is left: what is active stays, and hardly moves."""
        warming_up = self._plain.expectation == "approximate" and state.n_steps <= EXACT_WARMUP
        if not self._polishes or warming_up or state.n_steps < pace.next_polish or state.place.creeps:
            return False
        if state.mean.size > state.problem.n_rows or pace.level > LIMITS.faded_level:
            return False
        if state.scales.tau2 not in self._hyper.tau.bounds:
            return False
        moved = np.abs(state.second_moment - before.second_moment)
        return bool(np.logical_and.reduce(moved < LIMITS.settled_change * before.second_moment))

    def _polish(self, state: State, pace: Pace) -> tuple[State, bool]:
        """Jump to the fixed point if that is safe; return whether this ends the fit.

        Where weights move, each jump is to the fixed point at fixed weights, and the next weights are taken
        where the last jumps lead together.
        """
        patience = 2 * pace.patience
        pace = pace._replace(patience=patience, next_polish=state.n_steps + patience)
        state = state._replace(pace=pace, place=state.place._replace(waiting=False))
        mixer = Anderson()
        for _ in range(LIMITS.max_jumps):
            state = self._weights.at(state)
            there = self._jump(state)
            if there is None:
                return state, False
            state, way = self._weights.move_on(there, mixer)
            if max(there.change, way) < self._plain.tol:
                return state, True
            if self._weights.constant:
                return state, False
        return state, False

    def _jump(self, state: State) -> State | None:
        """Go to the fixed point of EM on the least-squares problem at hand, if that is safe."""
        assert state.moments is not None
        approximate = self._plain.expectation == "approximate"
        em = EMMap(state.problem, self._hyper, self._known, approximate, state.groups)
        path = find_fixed_point(em, state.moments)
        if not path or state.n_steps + len(path) > self._max_iter:
            return None
        pace = _pace(state)._replace(fading=None, sigma2=path[-1][0].sigma2)
        for scales, found in path:
            state = state._replace(scales=scales).advanced(found, state.place, pace)
            self._trace.record(state)
        return state


def _pace(state: State) -> Pace:
    assert state.pace is not None
    return state.pace
