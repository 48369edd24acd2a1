"""One sweep of the sampler: every unknown drawn in turn given the others, for several chains side by side.

The hierarchy is that of the mode: y given eta from its family, b_j ~ N(0, sigma2 tau2 lambda2_j), lambda2_j
and tau from their priors, a flat intercept and p(sigma2) = 1/sigma2. A sweep draws

1. what is latent in the family (its weights, and its nuisance parameter without them), so that y is Gaussian;
2. tau2 with sigma2 and the coefficients integrated out, where there are more columns than rows (given the
   coefficients it would hardly move);
3. sigma2 with the coefficients integrated out, then the coefficients and the intercept together;
4. tau2 given the coefficients, where step 2 was left out;
5. every lambda2_j.

A family that nothing makes Gaussian moves by proposals instead: see `metropolis`. What a chain draws
depends on its own generator alone, so it is the same in any company.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from farrier._types import Matrix, Vector
from farrier.conditional.sampled import Conditional, Factor, factorise
from farrier.data.design import System
from farrier.data.weighted import WeightedSystem
from farrier.families import Family, Gaussian
from farrier.priors import GlobalSampler, LocalSampler
from farrier.sampling.streams import Streams
from farrier.variates import TINY, slice_step

SHRINKAGE_EVERY = 8
"""Sweeps from one to the next of which the shrinkage factors are added up."""
CANCELS = 1e-3
"""A quadratic form below this share of z'z is not taken from a difference."""
STACK = 40_000
"""Elements of the stacked matrices of the chains that are worked on at once."""
TAU_WIDTH = 3.0
"""Of the slice of log tau."""


@dataclass(frozen=True)
class Model:
    """What is sampled, on the scale on which the prior acts; ``sigma2`` is None where it is unknown."""

    x: Matrix
    y: Vector
    offset: Vector
    counts: Vector
    likelihood: Family
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
        self.log_bounds = tuple(0.5 * math.log(max(end, TINY)) for end in model.tau.bounds)

    def sweep(self, state: State) -> None:
        """Move every chain by one sweep; the state is changed in place."""
        self.move_coefficients(state)
        self._move_scales(state)
        state.sweeps += 1

    def move_coefficients(self, state: State) -> None:
        """Draw sigma2, the coefficients and the intercepts."""
        for chain, rng in enumerate(state.rng):
            self.move_chain(state, chain, rng)

    @property
    def tau_is_drawn(self) -> bool:
        """Whether `move_coefficients` leaves nothing to be drawn of tau2."""
        return self.collapse

    def move_chain(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw sigma2, the coefficients and the intercept of one chain, and tau2 with them integrated out."""
        system = self.system(state, chain, rng)
        factor = self.factor(Conditional(system, state.lambda2[chain]), state, chain, rng)
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

    def family(self, state: State, chain: int) -> Family:
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
        after = state.sweeps - self.n_warmup
        return after >= 0 and after % SHRINKAGE_EVERY == 0

    def record(self, state: State, chain: int, system: System) -> None:
        """Add up the shrinkage factors of some of the sweeps."""
        if self.counted(state):
            gain = self.information(system) * state.tau2[chain] * state.lambda2[chain]
            state.shrinkage[chain] += 1.0 / (1.0 + gain)

    def factor(self, given: Conditional, state: State, chain: int, rng: np.random.Generator) -> Factor:
        """Return the factor at tau2, drawn anew with everything below it integrated out where that pays."""
        if not self.collapse:
            return given.at(float(state.tau2[chain]))
        low, high = self.log_bounds
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
        if not (self.tau_is_drawn or self.model.tau_is_known):
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
        """Draw sigma2, the coefficients and the intercepts, for all chains in few calls.

        With D = tau2 diag(lambda2) and B = I + D^1/2 X'X D^1/2 the coefficients are D^1/2 B^-1 times
        D^1/2 X'z + sigma (e + D^1/2 X'f), where e and f are standard normal: what is behind sigma has
        covariance B. Both terms are solved for at once.
        """
        system, source = self._system, state.source
        if self.n_columns > system.n_rows:
            super().move_coefficients(state)
            return
        root = np.sqrt(state.tau2[:, None] * state.lambda2)
        pull, both = root * system.xz, np.empty((len(root), 2, self.n_columns))
        both[:, 0] = pull
        spread = root * (source.standard_normal(root.shape)[:, None, :] @ system.x)[:, 0]
        spread += source.standard_normal(root.shape)
        both[:, 1] = spread
        self._solve(root, both)
        mean = both[:, 0]
        if self.model.sigma2 is None:
            quadratic = self._quadratic(root, pull, mean)
            state.sigma2 = quadratic / source.standard_gamma(0.5 * self.dof, quadratic.shape)
            state.sigma2 *= 0.5
        sigma = np.sqrt(state.sigma2)
        np.multiply(both[:, 1], sigma[:, None], out=spread)
        spread += mean
        spread *= root
        state.coef = spread
        if self.model.center:
            state.intercept = sigma * (source.standard_normal(sigma.shape) / math.sqrt(system.size))
        if self.counted(state):
            state.shrinkage += 1.0 / (1.0 + system.size * (root * root))

    def _quadratic(self, root: Matrix, pull: Matrix, mean: Matrix) -> Vector:
        """Return z' M^-1 z for each chain; row by row where little is left of z'z."""
        system, total = self._system, self._system.zz + self.left_over
        quadratic = total - np.einsum("ij,ij->i", pull, mean)
        for chain in np.flatnonzero(quadratic < CANCELS * total):
            residual = system.residual(root[chain] * mean[chain])
            exact = residual @ residual + mean[chain] @ mean[chain] + self.left_over
            quadratic[chain] = max(float(exact), TINY)
        return np.asarray(quadratic)

    def _solve(self, root: Matrix, both: Any) -> None:
        """Turn each row v of ``both`` into B^-1 v."""
        gram, several, solve = self._system.gram, max(1, STACK // self.n_columns**2), lapack.dposv
        for first in range(0, len(root), several):
            chains = slice(first, first + several)
            scaled = root[chains, :, None] * root[chains, None, :]
            scaled *= gram
            scaled.reshape(len(scaled), -1)[:, :: self.n_columns + 1] += 1.0
            for matrix, rows in zip(scaled, both[chains], strict=True):
                _, solution, info = solve(matrix.T, rows.T, 1)
                if info != 0:  # rounding swallows the identity
                    solution = lapack.dpotrs(factorise(matrix), rows.T, lower=1)[0]
                rows[:] = solution.T

    def system(self, state: State, chain: int, rng: np.random.Generator) -> System:
        """Return the problem, which is always the same."""
        return self._system

    def information(self, system: System) -> float:
        """Return the number of rows."""
        return system.size

    def level(self, system: System, coef: Vector) -> float:
        """Return 0: the data are centred."""
        return 0.0


def sampler(model: Model, n_warmup: int) -> Gibbs:
    """Return the sweep for a family.

    Examples
    --------
    >>> from farrier.families import Poisson
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> row = np.ones(3)
    >>> model = Model(np.eye(3), row, row, row, Poisson(), Horseshoe(), HalfCauchy(), 1.0, True)
    >>> type(sampler(model, 100)).__name__
    'Metropolis'
    """
    from farrier.sampling.metropolis import Metropolis  # which builds on this module

    if isinstance(model.likelihood, Gaussian):
        return GaussianGibbs(model, n_warmup)
    if type(model.likelihood).augment is Family.augment:
        return Metropolis(model, n_warmup)
    return Gibbs(model, n_warmup)
