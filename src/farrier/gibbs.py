"""One sweep of the sampler: every unknown drawn in turn given the others, for several chains side by side.

The hierarchy is that of the mode: y given eta from its family, b_j ~ N(0, sigma2 tau2 lambda2_j), lambda2_j
and tau from their priors, a flat intercept and p(sigma2) = 1/sigma2. A sweep draws

1. what is latent in the family (its weights, and its nuisance parameter without them), so that y is Gaussian;
2. tau2 with sigma2 and the coefficients integrated out, where there are more columns than rows (given the
   coefficients it would hardly move);
3. sigma2 with the coefficients integrated out, then the coefficients and the intercept together;
4. tau2 given the coefficients, where step 2 was left out;
5. every lambda2_j.

A family that nothing makes Gaussian moves by proposals instead: see `Metropolis`. The numbers that a chain
draws depend on its own generator alone, so it is the same in any company.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from farrier._design import System
from farrier._types import Matrix, Vector
from farrier.conditional import Conditional, Factor, factorise
from farrier.likelihoods import Gaussian, Likelihood
from farrier.priors import GlobalSampler, LocalSampler
from farrier.variates import TINY, Streams, slice_step
from farrier.weighted import WeightedSystem

SHRINKAGE_EVERY = 8
"""Sweeps from one to the next of which the shrinkage factors are added up."""
STACK = 40_000
"""Elements of the stacked matrices of the chains that are worked on at once."""
TAU_WIDTH = 3.0
"""Of the slice of log tau."""
PROPOSALS, ACCEPTANCE, GAIN = 3, 0.6, 0.6
"""Proposals a sweep, the share of them to accept, and how fast the tuning of their length calms down."""
REFERENCES = (0.1, 0.25, 0.5)
"""Shares of the warm-up after which the proposals are centred anew."""


@dataclass(frozen=True)
class Model:
    """What is sampled, on the scale on which the prior acts; ``sigma2`` is None where it is unknown."""

    x: Matrix
    y: Vector
    offset: Vector
    counts: Vector
    likelihood: Likelihood
    prior: LocalSampler
    tau: GlobalSampler
    sigma2: float | None
    center: bool
    token: str = ""
    """Tells one model from another."""

    @property
    def tau_is_known(self) -> bool:
        """Whether tau2 has one value only."""
        low, high = self.tau.bounds
        return low == high


@dataclass
class State:
    """Where the chains are: everything that the next sweep depends on, with the chain as the first axis."""

    coef: Matrix
    intercept: Vector
    lambda2: Matrix
    tau2: Vector
    sigma2: Vector
    nuisance: Vector
    shrinkage: Matrix
    angle: Vector
    accepted: Vector
    reference: Matrix
    eta_sum: Matrix
    source: Streams
    sweeps: int = 0

    @property
    def rng(self) -> list[np.random.Generator]:
        """The generators of the chains."""
        return self.source.generators

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name."""
        return {name: value for name, value in vars(self).items() if name not in ("source", "sweeps")}

    def take(self, chains: slice) -> State:
        """Return the state of some of the chains."""
        pools = {name: pool[chains] for name, pool in self.source.pools.items()}
        source = Streams(self.rng[chains], pools)
        return State(
            **{name: value[chains] for name, value in self.arrays().items()},
            source=source,
            sweeps=self.sweeps,
        )


def join(states: list[State]) -> State:
    """Return the states of all chains as one.

    Examples
    --------
    >>> one = np.zeros((1, 2))
    >>> state = State(*[one] * 11, source=Streams([np.random.default_rng(0)]))
    >>> join([state, state]).coef.shape
    (2, 2)
    """
    every = [state.source.pools for state in states]
    pools = {name: np.concatenate([pools[name] for pools in every]) for name in every[0]}
    names = states[0].arrays()
    return State(
        **{name: np.concatenate([getattr(state, name) for state in states]) for name in names},
        source=Streams([rng for state in states for rng in state.rng], pools),
        sweeps=states[0].sweeps,
    )


class Gibbs:
    """The sweep for families that are Gaussian given latent weights.

    Parameters
    ----------
    model : Model
        What is sampled.
    n_warmup : int
        Sweeps that are not kept: tuning goes on in them only.
    """

    def __init__(self, model: Model, n_warmup: int) -> None:
        self.model, self.n_warmup = model, n_warmup
        n, self.n_columns = model.x.shape
        self.dof = float(model.counts.sum()) - float(model.center)
        self.collapse = not model.tau_is_known and self.n_columns > n
        self._log_bounds = tuple(0.5 * math.log(max(end, TINY)) for end in model.tau.bounds)

    def sweep(self, state: State) -> None:
        """Move every chain by one sweep; the state is changed in place."""
        self.move_coefficients(state)
        self._move_scales(state)
        state.sweeps += 1

    def move_coefficients(self, state: State) -> None:
        """Draw sigma2, the coefficients and the intercepts."""
        for chain, rng in enumerate(state.rng):
            self.move_chain(state, chain, rng)

    def move_chain(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw sigma2, the coefficients and the intercept of one chain, and tau2 with them integrated out."""
        system = self.system(state, chain, rng)
        factor = self._factor(Conditional(system, state.lambda2[chain]), state, chain, rng)
        if self.model.sigma2 is None:
            quadratic = max(factor.quadratic + self.left_over, TINY)
            state.sigma2[chain] = 0.5 * quadratic / rng.standard_gamma(0.5 * self.dof)
        sigma = math.sqrt(state.sigma2[chain])
        coef = factor.draw(sigma, rng)
        state.coef[chain] = coef
        if self.model.center:
            spread = sigma / math.sqrt(self.information(system))
            state.intercept[chain] = self.level(system, coef) + spread * rng.standard_normal()
        self.record(state, chain, system)

    def system(self, state: State, chain: int, rng: np.random.Generator) -> System:
        """Draw what is latent, and return the least-squares problem that is left."""
        model, likelihood = self.model, self.family(state, chain)
        eta = self.eta(state, chain)
        sigma2 = float(state.sigma2[chain])
        if likelihood.nuisance is not None:
            likelihood = likelihood.redraw(model.y, eta, sigma2, model.counts, rng)
            state.nuisance[chain] = getattr(likelihood, likelihood.nuisance or "")
        working = likelihood.augment(model.y, eta, sigma2, model.counts, rng)
        assert working is not None
        targets = working.targets - model.offset
        return WeightedSystem(model.x, targets, working.weights, float(model.y.size), model.center)

    left_over = 0.0
    """What sigma2 is estimated from beside the system."""

    def family(self, state: State, chain: int) -> Likelihood:
        """Return the family with the chain's value of its nuisance parameter."""
        return self.model.likelihood.with_nuisance(float(state.nuisance[chain]))

    def eta(self, state: State, chain: int) -> Vector:
        """Return the linear predictor of a chain."""
        fit = self.model.x @ state.coef[chain]
        return np.asarray(fit + (self.model.offset + state.intercept[chain]))

    def information(self, system: System) -> float:
        """Return how many rows' worth the weights are."""
        assert isinstance(system, WeightedSystem)
        return system.total

    def level(self, system: System, coef: Vector) -> float:
        """Return the best intercept given the coefficients."""
        assert isinstance(system, WeightedSystem)
        return system.intercept(coef)

    def counted(self, state: State) -> bool:
        """Tell whether the shrinkage factors of this sweep are added up."""
        return state.sweeps >= self.n_warmup and state.sweeps % SHRINKAGE_EVERY == 0

    def record(self, state: State, chain: int, system: System) -> None:
        """Add up the shrinkage factors of some of the sweeps."""
        if self.counted(state):
            gain = self.information(system) * state.tau2[chain] * state.lambda2[chain]
            state.shrinkage[chain] += 1.0 / (1.0 + gain)

    def _factor(self, given: Conditional, state: State, chain: int, rng: np.random.Generator) -> Factor:
        """Return the factor at tau2, drawn anew with everything below it integrated out where that pays."""
        if not self.collapse:
            return given.at(float(state.tau2[chain]))
        low, high = self._log_bounds
        known = self.model.sigma2
        last: list[Factor] = []

        def log_density(log_tau: float) -> float:
            if not low <= log_tau <= high:
                return -math.inf
            factor = given.at(math.exp(2.0 * log_tau))
            last[:] = [factor]
            if known is None:
                fit = self.dof * math.log(max(factor.quadratic + self.left_over, TINY))
            else:
                fit = factor.quadratic / known
            return self.model.tau.log_density(log_tau) - 0.5 * (factor.log_det + fit)

        log_tau = slice_step(log_density, 0.5 * math.log(state.tau2[chain]), TAU_WIDTH, rng)
        state.tau2[chain] = math.exp(2.0 * log_tau)
        return last[0]

    def _move_scales(self, state: State) -> None:
        """Draw tau2, unless that was done, and lambda2, for all chains at once."""
        source = state.source
        half_square = state.coef * state.coef
        half_square *= (0.5 / state.sigma2)[:, None]
        if not (self.collapse or self.model.tau_is_known):
            pull = (half_square / state.lambda2).sum(axis=1)
            state.tau2 = self.model.tau.draw(self.n_columns, pull, state.tau2, source)
        half_square /= state.tau2[:, None]
        state.lambda2 = self.model.prior.draw(half_square, state.lambda2, source)


class GaussianGibbs(Gibbs):
    """The sweep for Gaussian data: nothing is latent, and n > k rows are as good as k of them.

    With X = QR, ||y - X b||^2 = ||Q'y - R b||^2 + ||y - QQ'y||^2; the last term is `left_over`.
    """

    def __init__(self, model: Model, n_warmup: int) -> None:
        super().__init__(model, n_warmup)
        root = np.sqrt(model.counts)
        x, z, size = model.x * root[:, None], model.y * root, float(model.counts.sum())
        if x.shape[0] > x.shape[1]:
            triangle: Matrix = np.linalg.qr(np.column_stack([x, z]), mode="r")  # type: ignore[assignment]
            x, z = triangle[:-1, :-1], triangle[:-1, -1]
            self.left_over = float(triangle[-1, -1] ** 2)
        self._system = System(np.asfortranarray(x), np.ascontiguousarray(z), size)

    def move_coefficients(self, state: State) -> None:
        """Draw sigma2, the coefficients and the intercepts: what `Rue` does, for all chains in few calls."""
        system, source = self._system, state.source
        if self.n_columns > system.n_rows:
            super().move_coefficients(state)
            return
        root = np.sqrt(state.tau2[:, None] * state.lambda2)
        mean, spread = root * system.xz, source.standard_normal(root.shape)
        self._solve(root, mean, spread)
        if self.model.sigma2 is None:
            residual = system.z - ((root * mean)[:, None, :] @ system.x.T)[:, 0]
            quadratic = np.einsum("ij,ij->i", residual, residual) + np.einsum("ij,ij->i", mean, mean)
            noise = source.standard_gamma(0.5 * self.dof, quadratic.shape)
            state.sigma2 = np.maximum(0.5 * (quadratic + self.left_over), TINY) / noise
        sigma = np.sqrt(state.sigma2)
        spread *= sigma[:, None]
        mean += spread
        state.coef = root * mean
        if self.model.center:
            state.intercept = sigma * (source.standard_normal(sigma.shape) / math.sqrt(system.size))
        if self.counted(state):
            state.shrinkage += 1.0 / (1.0 + system.size * (root * root))

    def _solve(self, root: Matrix, mean: Matrix, spread: Matrix) -> None:
        """Turn ``mean`` into B^-1 mean and ``spread`` into L^-T spread, B = LL' = I + D^1/2 X'X D^1/2."""
        gram, several = self._system.gram, max(1, STACK // self.n_columns**2)
        for first in range(0, len(root), several):
            chains = slice(first, first + several)
            scaled = root[chains, :, None] * root[chains, None, :]
            scaled *= gram
            scaled.reshape(len(scaled), -1)[:, :: self.n_columns + 1] += 1.0
            for matrix, center, noise in zip(scaled, mean[chains], spread[chains], strict=True):
                factor, solution, info = lapack.dposv(matrix.T, center, lower=1)
                if info != 0:  # rounding swallows the identity
                    factor = factorise(matrix)
                    solution = lapack.dpotrs(factor, center, lower=1)[0]
                center[:] = solution
                noise[:] = lapack.dtrtrs(factor, noise, lower=1, trans=1)[0]

    def system(self, state: State, chain: int, rng: np.random.Generator) -> System:
        """Return the problem, which is always the same."""
        return self._system

    def information(self, system: System) -> float:
        """Return the number of rows."""
        return system.size

    def level(self, system: System, coef: Vector) -> float:
        """Return 0: the data are centred."""
        return 0.0


class Metropolis(Gibbs):
    """The sweep for families that nothing makes Gaussian: proposals from a Gaussian that stands for them.

    The likelihood's weights and targets at a fixed reference eta give a Gaussian N(m, V) for the intercept
    and the coefficients b together, given the scales. The proposal m + cos(angle) (b - m) + sin(angle) e, e
    from N(0, V), leaves that Gaussian as it is, so that it is accepted with the ratio of the likelihood to
    what stands for it. The angle is tuned during the warm-up (a right angle is an independent draw), and the
    reference is moved to the mean of eta. tau2 is drawn twice: given the coefficients, and given b / tau.
    """

    def __init__(self, model: Model, n_warmup: int) -> None:
        super().__init__(model, n_warmup)
        self.collapse = False
        self._moves = [max(1, int(share * n_warmup)) for share in REFERENCES]
        self._systems: dict[int, tuple[Vector, WeightedSystem]] = {}

    def move_chain(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Propose, accept or not, and tune while that is allowed."""
        self._move_reference(state, chain)
        system = self.system(state, chain, rng)
        assert isinstance(system, WeightedSystem)
        factor = Conditional(system, state.lambda2[chain]).at(float(state.tau2[chain]))
        center = self._with_intercept(system, factor.mean, 0.0)
        point = np.append(state.coef[chain], state.intercept[chain])
        eta = self.eta(state, chain)
        worth, accepted = self._worth(system, eta), 0
        for _ in range(PROPOSALS):
            noise = rng.standard_normal() / math.sqrt(system.total) if self.model.center else 0.0
            fresh = self._with_intercept(system, factor.draw(1.0, rng), noise)
            turn = float(state.angle[chain])
            candidate = center + math.cos(turn) * (point - center) + math.sin(turn) * (fresh - center)
            eta_there = self.model.x @ candidate[:-1] + (self.model.offset + candidate[-1])
            gain = self._worth(system, eta_there) - worth
            if -rng.standard_exponential() < gain:
                point, eta, worth, accepted = candidate, eta_there, worth + gain, accepted + 1
        state.coef[chain], state.intercept[chain] = point[:-1], point[-1]
        self._interweave(state, chain, eta, rng)
        self._tune(state, chain, accepted / PROPOSALS)
        self.record(state, chain, system)

    def system(self, state: State, chain: int, rng: np.random.Generator) -> WeightedSystem:
        """Return the problem at the reference, which changes a few times in the warm-up only."""
        reference = state.reference[chain]
        known = self._systems.get(chain)
        if known is not None and np.array_equal(known[0], reference):
            return known[1]
        model = self.model
        working = model.likelihood.working(model.y, reference, 1.0)
        weights = model.counts * working.weights
        system = WeightedSystem(
            model.x, working.targets - model.offset, weights, float(model.y.size), model.center
        )
        self._systems[chain] = (reference.copy(), system)
        return system

    def _with_intercept(self, system: WeightedSystem, coef: Vector, noise: float) -> Vector:
        """Return the coefficients with the intercept behind them."""
        return np.append(coef, system.intercept(coef) + noise if self.model.center else 0.0)

    def _worth(self, system: WeightedSystem, eta: Vector) -> float:
        """Return the log of the likelihood over the Gaussian that stands for it."""
        model = self.model
        fit = -float(model.counts @ model.likelihood.neg_log_likelihood(model.y, eta, 1.0))
        gap = system.targets + model.offset - eta
        worth = fit + 0.5 * float(system.weights @ (gap * gap))
        return worth if math.isfinite(worth) else -math.inf

    def _interweave(self, state: State, chain: int, eta: Vector, rng: np.random.Generator) -> None:
        """Draw tau given b / tau: the coefficients grow or shrink with it."""
        if self.model.tau_is_known:
            return
        model, (low, high) = self.model, self._log_bounds
        level = model.offset + state.intercept[chain]
        fit = eta - level
        here = 0.5 * math.log(state.tau2[chain])

        def log_density(log_tau: float) -> float:
            if not low <= log_tau <= high:
                return -math.inf
            there = level + math.exp(log_tau - here) * fit
            loss = float(model.counts @ model.likelihood.neg_log_likelihood(model.y, there, 1.0))
            return model.tau.log_density(log_tau) - loss if math.isfinite(loss) else -math.inf

        log_tau = slice_step(log_density, here, TAU_WIDTH, rng)
        state.coef[chain] *= math.exp(log_tau - here)
        state.tau2[chain] = math.exp(2.0 * log_tau)

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
    >>> from farrier.likelihoods import Poisson
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> row = np.ones(3)
    >>> model = Model(np.eye(3), row, row, row, Poisson(), Horseshoe(), HalfCauchy(), 1.0, True)
    >>> type(sampler(model, 100)).__name__
    'Metropolis'
    """
    if isinstance(model.likelihood, Gaussian):
        return GaussianGibbs(model, n_warmup)
    if type(model.likelihood).augment is Likelihood.augment:
        return Metropolis(model, n_warmup)
    return Gibbs(model, n_warmup)
