"""Which E-step an iteration takes, and when the fit has converged. `Plain` is Algorithm 1."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from horseshoe._types import Moments, Scales, Status, Vector
from horseshoe.conditional.base import Conditional, condition
from horseshoe.conditional.orthogonal import Diagonal
from horseshoe.data.problem import LeastSquares
from horseshoe.em.likelihood import Likelihood
from horseshoe.em.state import FastState, State

# Exact iterations before the approximate variances: without them the approximation ends elsewhere.
EXACT_WARMUP = 9
# Draws that an iteration of stochastic EM averages; they share one factorisation.
N_DRAWS = 50
# What averages of draws can reach, and what rounding lets any fit reach.
STOCHASTIC_TOL, ROUNDING_TOL = 1e-4, 1e-14
# The relative change of the noise variance that rounding allows where weights move.
NOISE_TOL = 1e-9
# Steps in a row of which next to nothing was taken; the scales move between them, which may open a way.
MOST_STALLS = 10
# Expectations that draw random numbers.
RANDOM = ("stochastic", "conjugate_gradient")
# Iterations of stochastic EM; beyond these the noise of the averages falls too slowly to wait for it.
MOST_AVERAGES = 2_000


class Schedule(Protocol):
    """The part of the loop that an acceleration may change."""

    def begin(self, state: State) -> State:
        """Return the state with what the schedule wants to remember."""

    def e_step(self, state: State) -> tuple[Moments, FastState | None]:
        """Return the moments of the coefficients at the scales of ``state``, and what is remembered."""

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Return the state to go on from, and how the fit ended if it has."""

    def state_dict(self) -> dict[str, Any]:
        """Return what the schedule remembers beside the state, as plain values that nobody changes."""

    def load_state_dict(self, memory: dict[str, Any]) -> None:
        """Restore this."""


class Plain:
    """Algorithm 1: every column in every E-step, until the coefficients change by less than ``tol``.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood on data.
    expectation : {"exact", "approximate", "stochastic"}
        "approximate" is exact for the first nine iterations.
    tol : float
        Of the change of the coefficients.
    rng : numpy.random.Generator
        For "stochastic".
    known : bool
        Whether the noise variances alone are estimated: the coefficients stand still while they move.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        expectation: str,
        tol: float,
        rng: np.random.Generator,
        known: bool = False,
    ) -> None:
        self.likelihood, self.expectation, self.rng, self.known = likelihood, expectation, rng, known
        self.tol = max(tol, STOCHASTIC_TOL if expectation == "stochastic" else ROUNDING_TOL)

    def begin(self, state: State) -> State:
        """Return the state as it is."""
        return state

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the random numbers, if there are any."""
        return {"random": self.rng.bit_generator.state} if self.expectation in RANDOM else {}

    def load_state_dict(self, memory: dict[str, Any]) -> None:
        """Restore this."""
        if memory:
            self.rng.bit_generator.state = memory["random"]

    def is_approximate(self, n_steps: int) -> bool:
        """Tell whether the variances are approximate after so many iterations."""
        return self.expectation == "approximate" and n_steps >= EXACT_WARMUP

    def e_step(self, state: State) -> tuple[Moments, None]:
        """Return the moments: exact, approximate, or averages of draws."""
        if self.expectation == "stochastic":
            family = state.point.family
            share = 1.0 if family is None else family.noise_share
            found = average_draws(
                state.problem, state.scales, state.moments, state.n_steps, self.rng, share=share
            )
            return found, None
        form = approximate if self.is_approximate(state.n_steps) else condition
        return self.likelihood.moments(form, state), None

    def after(self, before: State, state: State) -> tuple[State, Status | None]:
        """Tell whether the last step, with what was cut off, was small; or that no step makes progress."""
        change = max(state.change, state.point.unfinished)
        if change < self.tol and state.point.fresh and not (self.known and self._noise_moves(before, state)):
            return state, Status.CONVERGED
        if self.expectation == "stochastic":  # the next step is another one
            return state, Status.UNSETTLED if state.n_steps >= MOST_AVERAGES else None
        return state, Status.STALLED if state.point.n_stalls >= MOST_STALLS else None

    def _noise_moves(self, before: State, state: State) -> bool:
        moved = np.abs(state.expected_rss - before.expected_rss)
        return bool(np.any(moved > max(self.tol, NOISE_TOL) * state.expected_rss))


def approximate(problem: LeastSquares, prior_variance: Vector) -> Conditional:
    """Return the exact mean with diagonal variances, Eqs. (11)-(12).

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> approximate(plain(np.ones((2, 1)), np.array([1.0, 2.0])), np.ones(1)).variance().round(3)
    array([0.333])
    """
    return Diagonal(condition(problem, prior_variance), problem, prior_variance)


def average_draws(
    problem: LeastSquares,
    scales: Scales,
    before: Moments | None,
    iteration: int,
    rng: np.random.Generator,
    n_draws: int = N_DRAWS,
    share: float = 1.0,
) -> Moments:
    """Return running averages of b, b^2 - mean^2 and ||z - X b||^2: stochastic EM.

    Iteration t (from 0) averages ``n_draws`` draws from the conditional posterior into the moments of before
    with step min(1, (t / 10)^-0.7). ``share`` is the `noise_share` of the family.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem, scales = plain(np.eye(2), np.array([4.0, 0.0])), Scales(np.ones(2), 1.0, 1e-9)
    >>> average_draws(problem, scales, None, 0, np.random.default_rng(0)).mean.round(3)
    array([2., 0.])
    """
    given = condition(problem, scales.prior_variance)
    draws = np.asarray(given.draw(float(np.sqrt(scales.sigma2)), rng, n_draws))
    residuals = problem.z[:, None] - problem.weighted.matvec(draws)
    mean = draws.mean(axis=1)
    second = np.einsum("ij,ij->i", draws, draws) / n_draws
    rss = float(np.einsum("ij,ij->", residuals, residuals)) / n_draws / share
    if before is not None:
        step = min(1.0, (max(iteration, 1) / 10.0) ** -0.7)
        mean = before.mean + step * (mean - before.mean)
        second = before.second_moment + step * (second - before.second_moment)
        rss = before.expected_rss + step * (rss - before.expected_rss)
    return Moments(mean, np.maximum(second - mean * mean, 0.0), rss, float("nan"), None)
