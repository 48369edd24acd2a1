"""Where the chains of a posterior start: around its mode, farther apart than the posterior is wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from horseshoe._checks import check_random_state
from horseshoe.data.fitted import Fitted
from horseshoe.data.standardise import Units
from horseshoe.data.unpenalized import unpenalized_coef
from horseshoe.families import Ordered
from horseshoe.priors import Estimating, estimated
from horseshoe.sampling.gibbs import Model, State
from horseshoe.sampling.several import SeveralModel
from horseshoe.sampling.streams import Streams

# The units of the shrunk columns, and of all columns, unpenalised ones included.
UnitsPair = tuple[Units, Units]


def start_one(
    model: Model, modes: Sequence[Fitted], units: Sequence[UnitsPair], n_chains: int, random_state: Any
) -> State:
    """Return the starts of one regression."""
    result, family = modes[0].result, modes[0].result.family or modes[0].family
    coef, flat, level = _at_mode(model, modes[0], *units[0])
    if isinstance(family, Ordered):
        family = family.with_intercept_absorbed(result.intercept)
        flat, level = (0.0, 0.0) if model.free is None else (flat, level)
    nuisance = getattr(family, family.nuisance) if family.nuisance is not None else 0.0
    eta = model.columns.matvec(coef) + level + model.offset
    state = _dispersed(model, [coef], modes, units[0], n_chains, random_state)
    state.coef, state.sigma2 = state.coef[:, 0], state.sigma2[:, 0]
    if model.sigma2 is not None:
        state.sigma2 = np.full(n_chains, model.sigma2)
    state.intercept = np.full((n_chains, *np.shape(flat)), flat)
    state.nuisance = np.array([nuisance] * n_chains, dtype=np.float64)
    state.angle = np.full(n_chains, 0.5)
    state.reference = np.tile(eta, (n_chains, 1))
    state.eta_sum = np.zeros((n_chains, eta.size))
    if isinstance(model.prior, Estimating) and estimated(model.prior):
        state.shapes = np.array([model.prior.shapes().start(rng) for rng in state.rng])
    return state


def start_several(
    model: SeveralModel, modes: Sequence[Fitted], units: Sequence[UnitsPair], n_chains: int, random_state: Any
) -> State:
    """Return the starts of several regressions that share their scales."""
    found = [_at_mode(model, mode, *own) for mode, own in zip(modes, units, strict=True)]
    state = _dispersed(model, [coef for coef, _, _ in found], modes, units[0], n_chains, random_state)
    state.intercept = np.array([np.array([flat for _, flat, _ in found])] * n_chains)
    if model.known is not None:
        state.sigma2 = np.tile(model.known, (n_chains, 1))
    if model.is_softmax:
        state.coef = state.coef - state.coef.mean(axis=1, keepdims=True)
    return state


def _dispersed(
    model: Model,
    coefs: Sequence[Any],
    modes: Sequence[Fitted],
    units: UnitsPair,
    n_chains: int,
    random_state: Any,
) -> State:
    """Return starts spread around the modes; ``coef`` and ``sigma2`` have an axis of the regressions."""
    seeds = np.random.SeedSequence(entropy(random_state)).spawn(n_chains)
    rng = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
    size, q, k = float(model.counts.sum()), len(modes), model.columns.shape[1]
    normal = np.array([r.standard_normal(k + q * k + q + 1) for r in rng])
    # 1. local scales: those of the mode, none so small that a chain could not leave it
    scales = modes[0].result.scales.lambda2[units[0].kept[units[1].kept]]
    lambda2 = np.maximum(scales, 1.0 / size) * np.exp(normal[:, :k])
    if model.groups is not None:
        lambda2 = lambda2[:, np.unique(model.groups.label, return_index=True)[1]]
    # 2. coefficients: a standard error of the least-squares estimate away, in total
    away = normal[:, k : k + q * k].reshape(-1, q, k) / np.sqrt(size * k)
    # 3. noise and global scale: tau2 starts near 1 / n, whatever the mode has
    variances = np.array([max(mode.result.scales.sigma2, 1e-8) for mode in modes])
    empty = np.zeros((n_chains, 0))
    return State(
        coef=np.array(coefs) + away,
        intercept=np.zeros(n_chains),
        lambda2=lambda2,
        tau2=np.clip(np.exp(2.0 * normal[:, -1]) / size, *model.tau.bounds),
        sigma2=variances * np.exp(0.5 * normal[:, -q - 1 : -1]),
        nuisance=np.zeros(n_chains),
        kappa=np.zeros((n_chains, k)),
        angle=np.zeros(n_chains),
        accepted=np.zeros(n_chains),
        reference=empty,
        eta_sum=empty,
        shapes=empty,
        source=Streams(rng),
    )


def _at_mode(model: Model, mode: Fitted, units: Units, whole: Units) -> tuple[Any, Any, Any]:
    """Return the coefficients at the mode, the unpenalised ones, and their part of each linear predictor."""
    result = mode.result
    if model.free is None:
        return result.coef, result.intercept, result.intercept
    shrunk = units.kept[whole.kept]
    coef, own = result.coef[shrunk], result.coef[~shrunk]
    flat = unpenalized_coef(model.free, result.intercept, coef, own, model.center)
    return coef, flat, model.free.with_ones(model.center) @ flat


def entropy(random_state: Any) -> int | None:
    """Return what the seeds of the chains are made of.

    Examples
    --------
    >>> entropy(7)
    7
    """
    rng = check_random_state(random_state)
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return int(rng.integers(2**63))
    return None if random_state is None else int(random_state)
