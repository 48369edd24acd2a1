"""The sweep for families that no latent weights make Gaussian."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.conditional.base import Drawable, Kernel
from horseshoe.data.adjusted import Adjusted
from horseshoe.data.coupled import coupled
from horseshoe.data.problem import LeastSquares
from horseshoe.families import Augmented
from horseshoe.sampling.gibbs import (
    GaussianGibbs,
    Gibbs,
    GivenNoise,
    Model,
    SlabKernel,
    State,
)
from horseshoe.sampling.shapes import slice_log_tau
from horseshoe.variates import TINY

# Proposals a sweep, the share of them to accept, and how fast the tuning of their length calms down.
PROPOSALS, ACCEPTANCE, GAIN = 3, 0.6, 0.6
# Shares of the warm-up after which the proposals are centred anew.
REFERENCES = (0.1, 0.25, 0.5)
# Iterations of the noise variance that goes with a reference: some weights depend on it.
NOISE_STEPS = 20


class Candidate(NamedTuple):
    """Coefficients with the intercept behind them, eta, and log(likelihood / Gaussian approximation)."""

    point: Vector
    eta: Vector
    log_ratio: float


class Metropolis(Gibbs):
    """The sweep for families that nothing makes Gaussian: proposals from a Gaussian approximation.

    The likelihood's weights and targets at a fixed reference eta give a Gaussian N(m, V) for the intercept
    and the coefficients b together, given the scales. The proposal m + cos(angle) (b - m) + sin(angle) e, e
    from N(0, V), leaves that Gaussian as it is, so that it is accepted with the ratio of the likelihood to
    its Gaussian approximation. The angle is tuned during the warm-up (a right angle is an independent draw),
    and the reference is moved to the mean of eta. tau2 is drawn given the coefficients, and again given
    b / tau; where there are more columns than rows, it is proposed together with the coefficients too.
    sigma2, where there is one, is drawn given the coefficients.
    """

    def __init__(self, model: Model, n_warmup: int) -> None:
        super().__init__(model, n_warmup)
        self._moves = sorted({max(1, int(share * n_warmup)) for share in REFERENCES})
        self._problems: dict[int, tuple[Vector, LeastSquares]] = {}

    @property
    def tau_is_drawn(self) -> bool:
        """Whether `move_coefficients` leaves nothing to be drawn of tau2: proposals may be refused."""
        return False

    def move_coefficients(self, state: State) -> None:
        """Move every chain; a proposal so far away that its likelihood is no float is refused in silence."""
        with np.errstate(over="ignore", invalid="ignore"):
            super().move_coefficients(state)

    def move_chain(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Propose, accept or not, and tune while that is allowed."""
        # 1. The Gaussian approximation at the reference, and where the chain is.
        self._move_reference(state, chain)
        problem = self.problem(state, chain, rng)
        scaled = self.kernel(problem, self.each(state.lambda2[chain]))
        sigma2 = float(state.sigma2[chain])
        here = self._candidate(problem, np.append(state.coef[chain], state.intercept[chain]), sigma2)
        # 2. tau2 and coefficients together, where tau2 would hardly move given them.
        if self.collapse:
            here = self._propose_tau(scaled, problem, here, state, chain, rng)
        # 3. Coefficients turned towards an independent draw: b' = m + cos(angle) (b - m) + sin(angle) e.
        given = scaled.at(float(state.tau2[chain]))
        center = self._with_intercept(problem, given.mean, 0.0)
        turn, accepted = float(state.angle[chain]), 0
        for _ in range(PROPOSALS):
            fresh = self._propose(problem, given, sigma2, rng)
            step = math.cos(turn) * (here.point - center) + math.sin(turn) * (fresh - center)
            there = self._candidate(problem, center + step, sigma2)
            if -rng.standard_exponential() < there.log_ratio - here.log_ratio:
                here, accepted = there, accepted + 1
        state.coef[chain], state.intercept[chain] = self._split(here.point)
        # 4. tau given b / tau, then the shapes of the prior and sigma2 given the coefficients.
        self._interweave(state, chain, here.eta, rng)
        self.move_shapes(problem, state, chain, rng)
        self.move_noise(state, chain, rng)
        self._tune(state, chain, accepted / PROPOSALS)
        self.record(state, chain, problem)

    def noise(self, state: State, chain: int) -> float:
        """Return sigma2: the proposals are made given it."""
        return float(state.sigma2[chain])

    def problem(self, state: State, chain: int, rng: np.random.Generator) -> LeastSquares:
        """Return the problem at the reference, which changes a few times in the warm-up only."""
        reference = state.reference[chain]
        known = self._problems.get(chain)
        if known is not None and np.array_equal(known[0], reference):
            return known[1]
        model = self.model
        held = coupled(model.family, model.y, reference, model.offset, float(model.y.size))
        if held is not None:
            problem = self.least_squares(held)
        else:
            weights, targets = model.family.working(model.y, reference, self._noise_at(reference))
            problem = self.weighted_least_squares(targets, model.counts * weights)
        self._problems[chain] = (reference.copy(), problem)
        return problem

    def _noise_at(self, reference: Vector) -> float:
        """Return the noise variance that goes with a reference."""
        model = self.model
        if model.sigma2 is not None:
            return model.sigma2
        sigma2 = 1.0
        for _ in range(NOISE_STEPS):
            weights, targets = model.family.working(model.y, reference, sigma2)
            sigma2 = max(float(np.average(weights * (targets - reference) ** 2, weights=model.counts)), TINY)
        return sigma2

    def _propose_tau(
        self,
        scaled: Kernel | SlabKernel,
        problem: LeastSquares,
        here: Candidate,
        state: State,
        chain: int,
        rng: np.random.Generator,
    ) -> Candidate:
        """Propose tau2 and coefficients to go with it, both as if the Gaussian were the likelihood."""
        before, sigma2 = state.tau2[chain], float(state.sigma2[chain])
        given = self.given(scaled, state, chain, rng)
        there = self._candidate(problem, self._propose(problem, given, sigma2, rng), sigma2)
        if -rng.standard_exponential() < there.log_ratio - here.log_ratio:
            return there
        state.tau2[chain] = before
        return here

    def _propose(
        self, problem: LeastSquares, given: Drawable, sigma2: float, rng: np.random.Generator
    ) -> Vector:
        """Draw the coefficients and the intercept from the Gaussian."""
        noise: Any = 0.0
        if isinstance(problem, Adjusted):
            noise = problem.targets.draw(rng)
        elif self.model.center:
            noise = rng.standard_normal() / math.sqrt(problem.targets.information)
        sigma = math.sqrt(sigma2)
        return self._with_intercept(problem, given.draw(sigma, rng), sigma * noise)

    def _candidate(self, problem: LeastSquares, point: Vector, sigma2: float) -> Candidate:
        """Evaluate coefficients with the intercept behind them."""
        coef, flat = self._split(point)
        level = flat if self.basis is None else self.basis @ flat
        eta = self.model.columns.matvec(coef) + (self.model.offset + level)
        return Candidate(point, eta, self._log_ratio(problem, eta, sigma2))

    def _split(self, point: Vector) -> tuple[Vector, Any]:
        """Return the coefficients, and those that are not penalised."""
        k = self.n_columns
        return point[:k], point[-1] if self.basis is None else point[k:]

    def _with_intercept(self, problem: LeastSquares, coef: Vector, noise: Any) -> Vector:
        """Return the coefficients with the intercept and the unpenalised coefficients behind them."""
        flat = self.model.center or self.basis is not None
        return np.append(coef, problem.intercept(coef) + noise if flat else 0.0)

    def _log_ratio(self, problem: LeastSquares, eta: Vector, sigma2: float) -> float:
        """Return the log of the likelihood over its Gaussian approximation."""
        model = self.model
        fit = -float(model.counts @ model.family.neg_log_likelihood(model.y, eta, sigma2))
        worth = fit + 0.5 * problem.targets.misfit(eta - model.offset) / sigma2
        return worth if math.isfinite(worth) else -math.inf

    def _interweave(self, state: State, chain: int, eta: Vector, rng: np.random.Generator) -> None:
        """Draw tau given b / tau: the coefficients grow or shrink with it."""
        if self.model.tau_is_known:
            return
        model = self.model
        level = model.offset + self.level(state, chain)
        fit = eta - level
        here, sigma2 = 0.5 * math.log(state.tau2[chain]), float(state.sigma2[chain])
        pull = 0.5 * float(state.coef[chain] @ state.coef[chain]) / (model.slab2 * sigma2)  # of the slab

        def log_likelihood(log_tau: float) -> float:
            grown = math.exp(log_tau - here)
            return self.log_likelihood(model.family, level + grown * fit, sigma2, grown * grown * pull)

        log_tau = slice_log_tau(model.tau, self.log_bounds, log_likelihood, here, rng)
        state.coef[chain] *= math.exp(log_tau - here)
        state.tau2[chain] = math.exp(2.0 * log_tau)

    def move_shapes(self, problem: LeastSquares, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw what the prior leaves to be estimated given b / (tau lambda): the coefficients move along."""
        if self.shapes is None:
            return
        model, level = self.model, self.model.offset + self.level(state, chain)
        sigma2 = float(state.sigma2[chain])
        standard = state.coef[chain] / np.sqrt(state.tau2[chain] * self.each(state.lambda2[chain]))

        def log_likelihood(lambda2: Vector, tau2: float) -> float:
            coef = standard * np.sqrt(tau2 * self.each(lambda2))
            penalty = 0.5 * float(coef @ coef) / (model.slab2 * sigma2)
            return self.log_likelihood(model.family, level + model.columns.matvec(coef), sigma2, penalty)

        self.shapes.move(state, chain, log_likelihood, rng)
        state.coef[chain] = standard * np.sqrt(state.tau2[chain] * self.each(state.lambda2[chain]))

    def _tune(self, state: State, chain: int, rate: float) -> None:
        """Lengthen the proposals if too many are accepted, and shorten them if too few are."""
        if state.sweeps >= self.n_warmup:
            state.accepted[chain] += rate
            return
        step = (rate - ACCEPTANCE) / (1.0 + state.sweeps) ** GAIN
        state.angle[chain] = min(state.angle[chain] * math.exp(step), 0.5 * math.pi)

    def _move_reference(self, state: State, chain: int) -> None:
        """Add eta to its sum; at the end of a part of the warm-up, its mean is the new reference."""
        if state.sweeps >= self.n_warmup:
            return
        starts = [0, *self._moves]
        part = sum(state.sweeps >= move for move in self._moves)
        if state.sweeps in self._moves:
            state.reference[chain] = state.eta_sum[chain] / (state.sweeps - starts[part - 1])
            state.eta_sum[chain] = 0.0
        state.eta_sum[chain] += self.eta(state, chain)


def sampler(model: Model, n_warmup: int) -> Gibbs:
    """Return the sweep for a family.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> from horseshoe.data.dense import Dense
    >>> row = np.ones(3)
    >>> model = Model(Dense(np.eye(3)), row, row, row, Poisson(), Horseshoe(), HalfCauchy(), 1.0, True)
    >>> type(sampler(model, 100)).__name__
    'Metropolis'
    """
    if model.family.constant_weights:
        return GaussianGibbs(model, n_warmup)
    if not isinstance(model.family, Augmented):
        return Metropolis(model, n_warmup)
    return (Gibbs if model.family.noise_is_conjugate else GivenNoise)(model, n_warmup)
