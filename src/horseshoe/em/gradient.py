"""The schedule for n and p both too large to factorise: conjugate gradients until few columns are left.

E-steps are those of `horseshoe.conditional.gradient`, with new random signs at each of the first. A column
leaves when its leverage and its gain are below what columns of moving weights leave at; nothing is kept of
it, for that would be a matrix. Once few columns are left, the schedule of exact steps takes over and ends the
fit: the noise of the probes is on the way to the mode only, not in it.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np

from horseshoe._types import Moments, Status, Vector
from horseshoe.conditional.gradient import Gradient
from horseshoe.data.problem import LeastSquares
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.pace import Pace
from horseshoe.em.fast.pruning import groups_worth_keeping, worth_keeping
from horseshoe.em.mstep import Hyper
from horseshoe.em.schedule import Plain, Schedule
from horseshoe.em.state import State

FEW = 3_000
"""So many columns, and no more than rows, are left to exact steps: half a second of CPU each."""
GRADIENT_TOL = 1e-3
"""What the noise of the probes lets coefficients settle to, if columns stay many."""
FRESH, MOST_STEPS = 50, 1_000
"""Steps with new random signs, with the same ones after that, so that fits come to rest; and the most."""


class Probed:
    """E-steps by conjugate gradients while columns are many, and those of another schedule after that."""

    def __init__(self, plain: Plain, exact: Schedule, hyper: Hyper, rng: np.random.Generator) -> None:
        self._plain, self._exact, self._hyper, self._rng = plain, exact, hyper, rng
        self._solved = True

    def begin(self, state: State) -> State:
        """Return the state with what the exact schedule wants to remember."""
        return self._exact.begin(state)

    def e_step(self, state: State) -> tuple[Moments, Pace | None]:
        """Return the moments at the scales of ``state``."""
        if _is_few(state):
            return self._exact.e_step(state)
        given: list[Gradient] = []
        found = self._plain.weights.moments(partial(self._form, state, given), state)
        found = found._replace(error=max(form.error for form in given))
        self._solved = all(form.solved for form in given)
        if state.pace is None:
            return found, None
        sigma2 = state.scales.sigma2
        rate = state.pace.sigma2 / (2.0 * self._hyper.null_rate * sigma2)
        return found, state.pace._replace(sigma2=sigma2, rate=rate)

    def _form(self, state: State, given: list[Gradient], problem: LeastSquares, d: Vector) -> Gradient:
        """Return the coefficients given the scales, and remember them: they know how far off they are."""
        given.append(Gradient(problem, d, self._generator(state.n_steps), state.mean))
        return given[-1]

    def _generator(self, n_steps: int) -> np.random.Generator:
        """Return what draws the signs: later on copies, which draw the same ones again."""
        return self._rng if n_steps < FRESH else deepcopy(self._rng)

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Let columns go, or end where the noise of the probes allows no more."""
        if _is_few(state):
            return self._exact.after(before, state)
        pruned = self._pruned(state)
        if pruned is not None:
            return pruned, None
        small = max(state.change, state.place.left_out) < max(self._plain.tol, GRADIENT_TOL)
        if small and state.place.fresh and self._solved:
            return state, Status.CONVERGED
        return state, Status.UNSETTLED if state.n_steps >= MOST_STEPS else None

    def state_dict(self) -> dict[str, Any]:
        """Return where the random numbers are, and what the exact schedule knows."""
        return {"plain": self._plain.state_dict(), "exact": self._exact.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self._plain.load_state_dict(state["plain"])
        self._exact.load_state_dict(state["exact"])

    def _pruned(self, state: State) -> State | None:
        """Return the state without the columns that only fade; None if none may leave."""
        assert state.moments is not None
        if state.pace is None or state.pace.rate > 1.0 or state.n_steps <= 1 or not self._hyper.sparse:
            return None
        found, scales, limit = state.moments, state.scales, LIMITS.prune_moving
        if state.groups is None:
            keep = worth_keeping(found, scales, limit)
        else:
            keep = groups_worth_keeping(found, scales, state.groups, limit)
        return None if keep.all() else self._plain.weights.take(state, keep)


def _is_few(state: State) -> bool:
    n, k = state.problem.shape
    return k <= min(n, FEW)
