"""The schedule for n and p both too large to factorise: conjugate gradients until few columns are left.

E-steps are those of `horseshoe.conditional.gradient`, with new random signs at each of the first. A column
leaves when its leverage and its gain are below what columns of working weights leave at; its covariance is
not kept, for that would be a matrix. Once few columns are left, the schedule of exact steps takes over and
ends the fit: the noise of the probes is on the way to the mode only, not in it.
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
from horseshoe.em.fast.schedule import worth_keeping
from horseshoe.em.m_step import Hyper, largest
from horseshoe.em.schedule import Plain, Schedule
from horseshoe.em.state import FastState, State

# So many columns, and no more than rows, are left to exact steps: half a second of CPU each.
FEW = 3_000
# The change that the noise of the probes allows, if columns stay many.
GRADIENT_TOL = 1e-3
# Steps with new random signs, with the same ones after that, so that fits converge; and the most.
FRESH, MOST_STEPS = 50, 1_000


class ConjugateGradient:
    """E-steps by conjugate gradients while columns are many, and those of another schedule after that."""

    def __init__(self, plain: Plain, exact: Schedule, hyper: Hyper, rng: np.random.Generator) -> None:
        self._plain, self._exact, self._hyper, self._rng = plain, exact, hyper, rng
        self._solved = True

    def begin(self, state: State) -> State:
        """Return the state with what the exact schedule wants to remember."""
        return self._exact.begin(state)

    def e_step(self, state: State) -> tuple[Moments, FastState | None]:
        """Return the moments at the scales of ``state``."""
        if _is_few(state):
            return self._exact.e_step(state)
        given: list[Gradient] = []
        found = self._plain.likelihood.moments(partial(self._form, state, given), state)
        found = found._replace(error=max(form.error for form in given))
        self._solved = all(form.solved for form in given)
        if state.fast is None:
            return found, None
        sigma2 = state.scales.sigma2
        rate = largest(state.fast.sigma2 / sigma2) * self._hyper.slowest(None)
        return found, state.fast._replace(sigma2=sigma2, rate=rate)

    def _form(self, state: State, given: list[Gradient], problem: LeastSquares, d: Vector) -> Gradient:
        """Return the coefficients given the scales, and keep them: they know their error."""
        given.append(Gradient(problem, d, self._generator(state.n_steps), state.mean))
        return given[-1]

    def _generator(self, n_steps: int) -> np.random.Generator:
        """Return what draws the signs: later on copies, which draw the same ones again."""
        return self._rng if n_steps < FRESH else deepcopy(self._rng)

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Let columns go, or end where the noise of the probes allows no more."""
        if _is_few(state):
            return self._exact.after(before, state)
        fast, found = state.fast, state.moments
        if fast is not None and found is not None and fast.rate <= 1.0 < state.n_steps and self._hyper.sparse:
            limit, size = LIMITS.prune_moving, self._hyper.size
            keep = worth_keeping(found, state.scales, limit, state.groups, size)
            if not keep.all():
                return self._plain.likelihood.take(state, keep), None
        small = max(state.change, state.point.unfinished) < max(self._plain.tol, GRADIENT_TOL)
        if small and state.point.fresh and self._solved:
            return state, Status.CONVERGED
        return state, Status.UNSETTLED if state.n_steps >= MOST_STEPS else None

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the random numbers, and what the exact schedule remembers."""
        return {"plain": self._plain.state_dict(), "exact": self._exact.state_dict()}

    def load_state_dict(self, memory: dict[str, Any]) -> None:
        """Restore this."""
        self._plain.load_state_dict(memory["plain"])
        self._exact.load_state_dict(memory["exact"])


def _is_few(state: State) -> bool:
    n, k = state.problem.shape
    return k <= min(n, FEW)
