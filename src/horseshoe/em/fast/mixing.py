"""The schedule of priors that shrink no column to zero: plain EM with Anderson's mixing of its slow tail.

Such a fit has no column to lose, so its path decides nothing but the speed, and EM is slow where the global
scale is small: thousands of iterations at a linear rate near 1. Anderson's mixing of the last few steps, in
log E[b_j^2], log E[RSS] and the parameters where weights are taken, leads to the same fixed point. It begins
once the steps are small, no mixed step goes far, and where one does not pay plain EM goes on for a while:
each time for twice as long, so that a fit that cannot be mixed is a plain one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Moments, Status, Vector
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.schedule import Plain
from horseshoe.em.state import State


class Mixed:
    """Plain EM, where the next step is taken from the point to which the last steps lead together."""

    def __init__(self, plain: Plain) -> None:
        self._plain, self._mixer = plain, Anderson()
        self._gap, self._resume, self._pause = np.inf, 0, 1

    def begin(self, state: State) -> State:
        """Return the state as it is."""
        return state

    def e_step(self, state: State) -> tuple[Moments, None]:
        """Return the moments of plain EM."""
        return self._plain.e_step(state)

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Return the state to go on from, or how the fit ended."""
        state, ended = self._plain.after(before, state)
        if ended is not None:
            return state, ended
        same = self._plain.is_approximate(before.n_steps) == self._plain.is_approximate(state.n_steps)
        here, there = _coordinates(before), _coordinates(state)
        if here is None or there is None or not same:
            return self._afresh(state), None
        gap, small = float(np.linalg.norm(there - here)), state.change < LIMITS.mixed_change
        if self._gap < np.inf and not (small and gap < LIMITS.mixed_gain * self._gap):
            self._resume, self._pause = state.n_steps + self._pause, 2 * self._pause
            return self._afresh(state), None  # it did not pay: plain EM, for twice as long as the last time
        if not small or state.n_steps < self._resume:
            return self._afresh(state), None
        mixed = self._mixed(here, there, state)
        self._gap = np.inf if mixed is state else gap
        return mixed or self._afresh(state), None

    def state_dict(self) -> dict[str, Any]:
        """Return the last steps, and when to mix them again."""
        pace = self._gap, self._resume, self._pause
        return {"plain": self._plain.state_dict(), "mixer": self._mixer.memory, "pace": pace}

    def load_state_dict(self, memory: dict[str, Any]) -> None:
        """Restore this."""
        self._plain.load_state_dict(memory["plain"])
        self._mixer.memory = memory["mixer"]
        self._gap, self._resume, self._pause = memory["pace"]

    def _mixed(self, here: Vector, there: Vector, state: State) -> State | None:
        """Return the state where the last steps lead, if that is not too far."""
        mixed, eta = self._mixer.mixed(here, there, state.point.eta)
        if mixed is there:  # the first step
            return state
        several, k = isinstance(state.expected_rss, np.ndarray), state.second_moment.size
        q = state.expected_rss.size if several else 1
        if not np.abs(mixed[: k + q] - there[: k + q]).max() < LIMITS.mixed_step:
            return None
        second, rss = np.exp(mixed[:k]).reshape(state.second_moment.shape), np.exp(mixed[k : k + q])
        state = state._replace(second_moment=second, expected_rss=rss if several else float(rss[0]))
        return self._plain.likelihood.jump(state, mixed[k + q :], eta)

    def _afresh(self, state: State) -> State:
        self._mixer, self._gap = Anderson(), np.inf
        return state


def _coordinates(state: State) -> Vector | None:
    """Return log E[b^2], log E[RSS] and the parameters where weights are taken; None where one is zero."""
    values = np.append(state.second_moment, state.expected_rss)
    return np.append(np.log(values), state.point.parameters) if values.min() > 0.0 else None
