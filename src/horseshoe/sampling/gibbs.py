"""One sweep of the sampler: every unknown drawn in turn given the others, for several chains side by side.

The hierarchy is that of the mode: y given eta from its family, b_j ~ N(0, sigma2 tau2 lambda2_j), lambda2_j
and tau from their priors, a flat intercept and p(sigma2) = 1/sigma2. A sweep draws

1. what is latent in the family (its weights, and its nuisance parameter without them), so that y is Gaussian;
2. tau2 with sigma2 and the coefficients integrated out, where there are more columns than rows (given the
   coefficients it would hardly move);
3. sigma2 with the coefficients integrated out, then the coefficients and the intercept together;
4. tau2 given the coefficients, where step 2 was left out;
5. every lambda2_j.

What the prior of lambda2 leaves to be estimated is drawn before step 2 and with step 5: see `shapes`.

A family that nothing makes Gaussian moves by proposals instead: see `metropolis`. What a chain draws
depends on its own generator alone, so it is the same in any company.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from horseshoe._types import Matrix, Vector, within_slab
from horseshoe.conditional.base import Drawable, Kernel, condition, kernel
from horseshoe.conditional.batch import Batch
from horseshoe.data.adjusted import Adjusted, Free, adjusted
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.view import View
from horseshoe.families import Augmented, Family
from horseshoe.priors import GlobalSampler, Groups, LocalSampler
from horseshoe.sampling.shapes import shape_moves, slice_log_tau
from horseshoe.sampling.streams import Streams
from horseshoe.variates import TINY, slice_step

# Sweeps from one to the next of which the shrinkage factors are added up.
SHRINKAGE_EVERY = 8
# Of the slices of log sigma2.
NOISE_WIDTH = 3.0


@dataclass(frozen=True)
class Model:
    """What is sampled, on the scale on which the prior acts; ``sigma2`` is None where it is unknown.

    ``groups`` tells which columns share a local scale: the state has one for each group. ``free`` is what
    has a flat prior beside the intercept: the state has its coefficients behind that.
    """

    columns: View
    y: Vector
    offset: Vector
    counts: Vector
    family: Family
    prior: LocalSampler
    tau: GlobalSampler
    sigma2: float | None
    center: bool
    slab2: float = math.inf
    groups: Groups | None = None
    free: Free | None = None
    # Tells one model from another, in any process.
    token: str = field(default_factory=lambda: uuid4().hex)

    @property
    def size(self) -> float:
        """How many coefficients share a local scale."""
        return 1.0

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
    kappa: Matrix
    angle: Vector
    accepted: Vector
    reference: Matrix
    eta_sum: Matrix
    shapes: Matrix
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
    >>> state = State(*[one] * 12, source=Streams([np.random.default_rng(0)]))
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


class SlabKernel(NamedTuple):
    """The coefficients given the local scales, with a slab: then tau2 is no common factor."""

    problem: LeastSquares
    lambda2: Vector
    slab2: float

    def at(self, tau2: float) -> Drawable:
        """Return the coefficients at one value of tau2."""
        return condition(self.problem, within_slab(tau2 * self.lambda2, self.slab2))

    def log_share(self, tau2: float) -> float:
        """Return sum_j log(1 + tau2 lambda2_j / slab2): minus twice the log of what the slab leaves."""
        return float(np.log1p(tau2 / self.slab2 * self.lambda2).sum())


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
        n, self.n_columns = model.columns.shape
        self.basis = None if model.free is None else model.free.with_ones(model.center)
        flat = float(model.center) if self.basis is None else float(self.basis.shape[1])
        self.dof = float(model.counts.sum()) - flat
        self.collapse = not model.tau_is_known and self.n_columns > n
        low, high = model.tau.bounds
        self.log_bounds = 0.5 * math.log(max(low, TINY)), 0.5 * math.log(max(high, TINY))
        self.shapes = shape_moves(model, self.log_bounds)

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
        problem = self.problem(state, chain, rng)  # 1. what is latent: y is Gaussian given it
        self.move_shapes(problem, state, chain, rng)
        # 2. tau2, with sigma2 and the coefficients integrated out
        given = self.given(self.kernel(problem, self.each(state.lambda2[chain])), state, chain, rng)
        # 3. sigma2 ~ inverse gamma((n - f)/2, z'M^-1 z / 2), M = I + X D X', of f unpenalised columns
        if self.noise(state, chain) is None:
            quadratic = max(given.quadratic + self.unexplained, TINY)
            state.sigma2[chain] = 0.5 * quadratic / rng.standard_gamma(0.5 * self.dof)
        sigma = math.sqrt(state.sigma2[chain])
        coef = given.draw(sigma, rng)  # then b ~ N(mean, sigma2 Cov), and what is unpenalised given b
        state.coef[chain] = coef
        if self.basis is not None or self.model.center:
            state.intercept[chain] = self.flat(problem, coef, sigma, rng)
        self.record(state, chain, problem)

    def each(self, lambda2: Any) -> Any:
        """Return the local scale of each column from those of the groups."""
        groups = self.model.groups
        return lambda2 if groups is None else groups.spread(lambda2)

    def flat(self, problem: LeastSquares, coef: Vector, sigma: float, rng: np.random.Generator) -> Any:
        """Draw the intercept and the unpenalised coefficients given the others."""
        if isinstance(problem, Adjusted):
            return problem.intercept(coef) + sigma * problem.targets.draw(rng)
        spread = sigma / math.sqrt(problem.targets.information)
        return problem.intercept(coef) + spread * rng.standard_normal()

    def level(self, state: State, chain: int) -> Any:
        """Return the intercept and the unpenalised part of each linear predictor."""
        intercept = state.intercept[chain]
        return intercept if self.basis is None else self.basis @ intercept

    def weighted_least_squares(self, targets: Vector, weights: Vector) -> LeastSquares:
        """Return the least squares of targets less the offset, with weights that change."""
        model, size = self.model, float(self.model.y.size)
        return self.least_squares(Targets(targets - model.offset, size, weights, model.center))

    def least_squares(self, targets: Targets) -> LeastSquares:
        """Return the least squares of targets on the columns, unpenalised ones projected out."""
        return adjusted(targets, self.model.free).problem(self.model.columns)

    def problem(self, state: State, chain: int, rng: np.random.Generator) -> LeastSquares:
        """Draw what is latent, and return the least-squares problem that is left."""
        model, family = self.model, self.family(state, chain)
        eta = self.eta(state, chain)
        sigma2 = float(state.sigma2[chain])
        if family.nuisance is not None:
            family = family.redraw(model.y, eta, sigma2, model.counts, rng)
            state.nuisance[chain] = getattr(family, family.nuisance or "")
        assert isinstance(family, Augmented)
        weights, targets = family.augment(model.y, eta, sigma2, model.counts, rng)
        return self.weighted_least_squares(targets, weights)

    def kernel(self, problem: LeastSquares, lambda2: Vector) -> Kernel | SlabKernel:
        """Return the coefficients given the local scales, at any value of tau2."""
        slab2 = self.model.slab2
        return kernel(problem, lambda2) if slab2 == math.inf else SlabKernel(problem, lambda2, slab2)

    def noise(self, state: State, chain: int) -> float | None:
        """Return sigma2 if all below it is drawn given it; None where it is drawn with them."""
        return self.model.sigma2

    def move_noise(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw sigma2 given the coefficients, by a slice; nothing but they and y is held fixed."""
        if self.model.sigma2 is not None:
            return
        family, eta, coef = self.family(state, chain), self.eta(state, chain), state.coef[chain]
        pull = float((coef * coef / self.prior_variance(state, chain)).sum())

        def log_density(log_sigma2: float) -> float:
            sigma2 = math.exp(log_sigma2)
            penalty = 0.5 * (coef.size * log_sigma2 + pull / sigma2)
            return self.log_likelihood(family, eta, sigma2, penalty)

        here = math.log(state.sigma2[chain])
        state.sigma2[chain] = math.exp(slice_step(log_density, here, NOISE_WIDTH, rng))

    def log_likelihood(self, family: Family, eta: Vector, sigma2: float, penalty: float) -> float:
        """Return the log-likelihood less a penalty; minus infinity where that is no finite number."""
        loss = float(self.model.counts @ family.neg_log_likelihood(self.model.y, eta, sigma2))
        loss += penalty
        return -loss if math.isfinite(loss) else -math.inf

    def prior_variance(self, state: State, chain: int) -> Any:
        """Return the prior variance of each coefficient of a chain, in units of sigma2."""
        return within_slab(state.tau2[chain] * self.each(state.lambda2[chain]), self.model.slab2)

    # The sum of squares that no coefficient explains, of rows that were compressed.
    unexplained = 0.0

    def family(self, state: State, chain: int) -> Family:
        """Return the family with the chain's value of its nuisance parameter."""
        return self.model.family.with_nuisance(state.nuisance[chain])

    def eta(self, state: State, chain: int) -> Vector:
        """Return the linear predictor of a chain."""
        fit = self.model.columns.matvec(state.coef[chain])
        return np.asarray(fit + (self.model.offset + self.level(state, chain)))

    def counted(self, state: State) -> bool:
        """Tell whether the shrinkage factors of this sweep are summed."""
        after = state.sweeps - self.n_warmup
        return after >= 0 and after % SHRINKAGE_EVERY == 0

    def record(self, state: State, chain: int, problem: LeastSquares) -> None:
        """Add up the shrinkage factors of some of the sweeps."""
        if self.counted(state):
            gain = problem.targets.information * self.prior_variance(state, chain)
            state.kappa[chain] += 1.0 / (1.0 + gain)

    def given(
        self, scaled: Kernel | SlabKernel, state: State, chain: int, rng: np.random.Generator
    ) -> Drawable:
        """Return the coefficients at tau2, drawn anew with all below it integrated out where that pays."""
        if not self.collapse:
            return scaled.at(float(state.tau2[chain]))
        noise = self.noise(state, chain)
        last: list[Drawable] = []

        def log_likelihood(log_tau: float) -> float:
            tau2 = math.exp(2.0 * log_tau)
            last[:] = [scaled.at(tau2)]
            return -0.5 * self.misfit(scaled, last[0], tau2, noise)

        log_tau = 0.5 * math.log(state.tau2[chain])
        log_tau = slice_log_tau(self.model.tau, self.log_bounds, log_likelihood, log_tau, rng)
        state.tau2[chain] = math.exp(2.0 * log_tau)
        return last[0]

    def misfit(
        self, scaled: Kernel | SlabKernel, there: Drawable, tau2: float, sigma2: float | None
    ) -> float:
        """Return -2 log of the likelihood of the scales, all below them integrated out."""
        slab = scaled.log_share(tau2) if isinstance(scaled, SlabKernel) else 0.0
        if sigma2 is None:
            fit = self.dof * math.log(max(there.quadratic + self.unexplained, TINY))
        else:
            fit = there.quadratic / sigma2
        return there.log_det + fit + slab

    def move_shapes(self, problem: LeastSquares, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw what the prior leaves to be estimated, sigma2 and the coefficients integrated out."""
        if self.shapes is None:
            return

        noise = self.noise(state, chain)

        def log_likelihood(lambda2: Vector, tau2: float) -> float:
            scaled = self.kernel(problem, self.each(lambda2))
            return -0.5 * self.misfit(scaled, scaled.at(tau2), tau2, noise)

        self.shapes.move(state, chain, log_likelihood, rng)

    def _move_scales(self, state: State) -> None:
        """Draw tau2, unless that was done, and lambda2, for all chains at once."""
        model, source, w = self.model, state.source, self.half_squares(state)
        # 4. tau2 given the coefficients: only sum_j b_j^2 / (2 sigma2 lambda2_j) is needed of them
        if not (self.tau_is_drawn or model.tau_is_known):
            pull = (w / self.each(state.lambda2)).sum(axis=1)
            count = int(model.size * self.n_columns)
            state.tau2 = model.tau.draw(count, pull, state.tau2, source)
        # 5. lambda2_j given W_j = b_j^2 / (2 sigma2 tau2), summed over the columns of a group
        w /= state.tau2[:, None]
        if model.groups is not None:
            w = model.groups.totals(w)
        if self.shapes is not None:
            self.shapes.move_with_scales(state, w)
        elif model.groups is not None:
            state.lambda2 = model.groups.draw(model.prior, w, state.lambda2, source, model.size)
        else:
            size: Any = {} if model.size == 1.0 else {"size": model.size}  # a user's prior may not take it
            state.lambda2 = model.prior.draw(w, state.lambda2, source, **size)

    def half_squares(self, state: State) -> Matrix:
        """Return b_j^2 / (2 sigma2), summed over the regressions that share the scales."""
        half = state.coef * state.coef
        half *= (0.5 / state.sigma2)[:, None]
        return half


class GivenNoise(Gibbs):
    """The sweep where the latent weights make y Gaussian around targets that depend on sigma2.

    Then sigma2 is drawn first, given the coefficients alone, and all else given it.
    """

    def noise(self, state: State, chain: int) -> float:
        """Return sigma2."""
        return float(state.sigma2[chain])

    def problem(self, state: State, chain: int, rng: np.random.Generator) -> LeastSquares:
        """Draw sigma2 and what is latent."""
        self.move_noise(state, chain, rng)
        return super().problem(state, chain, rng)


class GaussianGibbs(Gibbs):
    """The sweep for Gaussian data: nothing is latent, and n > k rows are as good as k of them."""

    def __init__(self, model: Model, n_warmup: int) -> None:
        super().__init__(model, n_warmup)
        root = np.sqrt(model.counts)
        whole = Targets(model.y * root, float(model.counts.sum()))
        problem = LeastSquares(model.columns.reweighted(root), whole)
        self._problem, self.unexplained = problem.compressed()

    def move_coefficients(self, state: State) -> None:
        """Draw sigma2, the coefficients and the intercepts, for all chains in few calls."""
        problem, source, model = self._problem, state.source, self.model
        if self.n_columns > model.y.size:
            super().move_coefficients(state)
            return
        for chain, rng in enumerate(state.rng if self.shapes is not None else ()):
            self.move_shapes(problem, state, chain, rng)
        # The steps of `Gibbs.move_chain`, as products of all chains with one cross-product matrix.
        root = np.sqrt(within_slab(state.tau2[:, None] * self.each(state.lambda2), model.slab2))
        noise = source.standard_normal((len(root), problem.n_rows))
        given = Batch(problem, root, noise, source.standard_normal(root.shape))
        if model.sigma2 is None:
            quadratic = given.quadratic(self.unexplained, TINY)
            state.sigma2 = quadratic / source.standard_gamma(0.5 * self.dof, quadratic.shape)
            state.sigma2 *= 0.5
        sigma = np.sqrt(state.sigma2)
        state.coef = given.draw(sigma)
        n = problem.total_weight
        if model.free is not None and self.basis is not None:
            noise = source.standard_normal((sigma.size, self.basis.shape[1]))
            state.intercept = self._unpenalized_mean() + sigma[:, None] * (noise / math.sqrt(n))
        elif model.center:
            state.intercept = sigma * (source.standard_normal(sigma.shape) / math.sqrt(n))
        if self.counted(state):
            state.kappa += 1.0 / (1.0 + n * (root * root))

    def _unpenalized_mean(self) -> Vector:
        """Return the mean of the unpenalised coefficients; the columns are orthogonal to theirs."""
        assert self.model.free is not None
        level = self.model.free.level
        return np.append(0.0, level) if self.model.center else level

    def flat(self, problem: LeastSquares, coef: Vector, sigma: float, rng: np.random.Generator) -> Any:
        """Draw the intercept and the unpenalised coefficients given the others."""
        if self.basis is None:
            return super().flat(problem, coef, sigma, rng)
        noise = rng.standard_normal(self.basis.shape[1])
        return self._unpenalized_mean() + sigma / math.sqrt(problem.total_weight) * noise

    def problem(self, state: State, chain: int, rng: np.random.Generator) -> LeastSquares:
        """Return the problem, which is always the same."""
        return self._problem
