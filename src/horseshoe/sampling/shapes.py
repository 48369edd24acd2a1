"""How the sweep draws the shapes that the prior of the local scales leaves to be estimated.

Given all p local scales a shape is known to a share of 1/sqrt(p), far better than the data tell it, and would
take some p sweeps to get anywhere. So each is moved twice: given the scales, which costs nothing, and with
them, all that is random in lambda2 held fixed (`horseshoe.priors.shapes`). In the second step tau2 a / b
stays as it is too, for that is what the data know best, and the coefficients are integrated out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.priors import Estimating, GlobalSampler, estimated
from horseshoe.priors.base import held
from horseshoe.priors.shapes import Shapes, Stretch
from horseshoe.variates import slice_step

if TYPE_CHECKING:
    from horseshoe.sampling.gibbs import Model, State

# Of the slices of log tau and of a log shape.
WIDTH = 3.0
# Of lambda2 and tau2.
LogLikelihood = Callable[[Vector, float], float]


class ShapeMoves:
    """The steps of the shapes.

    Parameters
    ----------
    shapes : Shapes
        What moves those of one chain.
    tau : GlobalSampler
        The prior of tau.
    log_bounds : tuple of float
        The range of log tau; no range at all if it is known.
    size : float or array of shape (p,)
        How many coefficients share each local scale.
    """

    def __init__(
        self,
        shapes: Shapes,
        tau: GlobalSampler,
        log_bounds: tuple[float, float],
        size: Any = 1.0,
    ) -> None:
        self._shapes, self._tau, self._log_bounds, self._size = shapes, tau, log_bounds, size

    def move(self, state: State, chain: int, log_likelihood: LogLikelihood, rng: np.random.Generator) -> None:
        """Move each shape of a chain, lambda2 and tau2 with it."""
        for place, name in enumerate(self._shapes.names):
            stretch = self._shapes.stretch(name, state.shapes[chain], state.lambda2[chain], rng)
            log_tau = 0.5 * math.log(state.tau2[chain])
            shape = slice_step(self._density(stretch, log_tau, log_likelihood), stretch.log_shape, WIDTH, rng)
            found = stretch.at(shape)
            if found is not None:
                state.shapes[chain, place] = math.exp(shape)
                state.lambda2[chain] = found.lambda2
                state.tau2[chain] = math.exp(2.0 * self._log_tau(stretch, log_tau, shape))

    def move_with_scales(self, state: State, w: Matrix) -> None:
        """Move the shapes given the local scales, these given W, and tau2 given tau2 lambda2; all chains."""
        for chain, rng in enumerate(state.rng):
            found = self._shapes.draw(state.shapes[chain], w[chain], state.lambda2[chain], rng, self._size)
            state.shapes[chain], state.lambda2[chain] = found
            if not self._tau_is_known:
                self._slide(state, chain, rng)

    def _slide(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw tau2 given the variances tau2 lambda2 of the coefficients: lambda2 moves against it."""
        log_tau, log_lambda2 = 0.5 * math.log(state.tau2[chain]), np.log(state.lambda2[chain])

        def log_density(t: float) -> float:
            return self._shapes.log_density(state.shapes[chain], log_lambda2 - 2.0 * (t - log_tau))

        t = slice_log_tau(self._tau, self._log_bounds, log_density, log_tau, rng)
        state.tau2[chain] = math.exp(2.0 * t)
        state.lambda2[chain] = held(np.exp(log_lambda2 - 2.0 * (t - log_tau)))

    @property
    def _tau_is_known(self) -> bool:
        low, high = self._log_bounds
        return low == high

    def _log_tau(self, stretch: Stretch, log_tau: float, log_shape: float) -> float:
        """Return the log tau that leaves tau2 a / b as it is, unless tau is known."""
        grown = 0.0 if self._tau_is_known else stretch.sign * (log_shape - stretch.log_shape)
        return log_tau - 0.5 * grown

    def _density(
        self, stretch: Stretch, log_tau: float, log_likelihood: LogLikelihood
    ) -> Callable[[float], float]:
        """Return the log density of a log shape."""
        low, high = self._log_bounds

        def log_density(log_shape: float) -> float:
            moved = self._log_tau(stretch, log_tau, log_shape)
            found = stretch.at(log_shape) if self._tau_is_known or low <= moved <= high else None
            if found is None:
                return -math.inf
            prior = found.log_density + self._tau.log_density(moved)
            return prior + log_likelihood(found.lambda2, math.exp(2.0 * moved))

        return log_density


def slice_log_tau(
    tau: GlobalSampler,
    bounds: tuple[float, float],
    log_likelihood: Callable[[float], float],
    log_tau: float,
    rng: np.random.Generator,
) -> float:
    """Move log tau by a slice of its prior times a likelihood, within its bounds."""
    low, high = bounds

    def log_density(t: float) -> float:
        return tau.log_density(t) + log_likelihood(t) if low <= t <= high else -math.inf

    return slice_step(log_density, log_tau, WIDTH, rng)


def shape_moves(model: Model, log_bounds: tuple[float, float]) -> ShapeMoves | None:
    """Return the steps of the shapes, or None where the prior has none to be estimated.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> from horseshoe.sampling.gibbs import Model
    >>> row = np.ones(3)
    >>> model = Model(Dense(np.eye(3)), row, row, row, Gaussian(), Horseshoe(), HalfCauchy(), None, True)
    >>> shape_moves(model, (-9.0, 0.0)) is None
    True
    """
    if not isinstance(model.prior, Estimating) or not estimated(model.prior):
        return None
    size = 1.0 if model.groups is None else model.groups.size
    return ShapeMoves(model.prior.shapes(), model.tau, log_bounds, size)
