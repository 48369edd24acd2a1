"""From checked rows and the mode to draws: start the chains around it, run them, judge them."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from farrier._checks import check_number, check_random_state
from farrier._types import Status, Vector
from farrier.data.design import Standardised, spread
from farrier.families import Family, Gaussian, Location
from farrier.model import Fitted, Rows, Settings, Target, known_variance, prepare
from farrier.posterior.draws import Posterior
from farrier.priors import GlobalSampler, LocalSampler
from farrier.sampling.chains import Draws, Outcome, Plan, Progress, Run, spread_draws
from farrier.sampling.checkpoint import Checkpoint, digest_of
from farrier.sampling.gibbs import SHRINKAGE_EVERY, Model, State
from farrier.sampling.streams import Streams

MAX_MEMORY = 2 << 30
GOOD_RHAT = 1.01


class Extras(NamedTuple):
    """How the run is to be gone about."""

    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | Callable[[Progress], Any] = False
    checkpoint: Any = None
    max_memory: float = MAX_MEMORY


def sample_rows(
    rows: Rows,
    settings: Settings,
    mode: Fitted,
    plan: Plan,
    extras: Extras,
    names: Any = None,
    classes: Any = None,
) -> Posterior:
    """Draw from the posterior given the mode; what `sample_posterior` does once the input is checked."""
    _refuse_without_sampler(settings)
    _refuse_nothing_to_sample(mode)
    rows = _repeat(rows, settings.likelihood)
    need, room = plan.bytes(rows.x.shape[1]), check_number("max_memory", extras.max_memory)
    if need > room:
        raise ValueError(
            f"the draws would take {need / 2**20:.0f} MiB, and max_memory allows {room / 2**20:.0f} MiB: "
            "raise thin and lower n_draws, leave out store_lambda2, or raise max_memory"
        )
    _refuse_light_rows(rows, settings)
    design, target = prepare(rows, settings)
    if not np.allclose(spread(design.columns, design.spread), mode.scale, rtol=1e-9, atol=0.0):
        raise ValueError("X was changed since the fit: fit again before you sample from the posterior")
    model = _model(rows, design, target, settings)
    file = None
    if extras.checkpoint is not None:
        if not isinstance(extras.checkpoint, str | os.PathLike):
            raise TypeError(f"checkpoint={extras.checkpoint!r} must be the path of a file")
        data = digest_of(rows.x, rows.y, rows.counts, rows.offset)
        file = Checkpoint(extras.checkpoint, _describe(settings, plan, extras), data)
    before = file.load() if file is not None else None
    state, drawn = before if before is not None else (_start(model, mode, plan.n_chains, extras), None)
    report = _reporter(extras.progress, need)
    run = Run(
        model,
        plan,
        lambda piece: _in_units(piece, design, target, settings.fit_intercept),
        _check_jobs(extras.n_jobs),
        report,
        file.save if file is not None else None,
    )
    outcome = run.go(state, drawn)
    if file is not None and outcome.state.sweeps > state.sweeps:  # else the file has as much, or more
        file.save(outcome.state, outcome.draws, now=True)
    posterior = _posterior(outcome, rows, settings, mode, plan, design, names, classes)
    _judge(posterior, outcome, plan)
    return posterior


def refuse_fractions(weights: Vector | None, likelihood: Family) -> None:
    """Refuse weights that are not whole for families in which each row has a latent weight of its own.

    Examples
    --------
    >>> refuse_fractions(np.array([1.0, 0.5]), Gaussian())
    """
    if weights is None or not isinstance(likelihood, Location) or isinstance(likelihood, Gaussian):
        return
    fractional = np.round(weights) != weights
    if fractional.any():
        row = int(np.argmax(fractional))
        raise ValueError(
            f"sample_weight in row {row} is {weights[row]:g}: with {type(likelihood).__name__} noise "
            "only whole weights can be sampled with; round them, or use the Gaussian family"
        )


def _repeat(rows: Rows, likelihood: Family) -> Rows:
    """Repeat rows with whole weights for families in which each row has a latent weight of its own."""
    if rows.weights is None or not isinstance(likelihood, Location) or isinstance(likelihood, Gaussian):
        return rows
    refuse_fractions(rows.weights, likelihood)
    again = np.repeat(np.arange(rows.y.size), rows.weights.astype(int))
    return Rows(rows.x[again], rows.y[again], None, rows.offset[again])


def _check_jobs(n_jobs: Any) -> int | None:
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or None")
    return None if n_jobs is None else int(n_jobs)


def _refuse_without_sampler(settings: Settings) -> None:
    family, prior, tau = settings.likelihood, settings.prior, settings.tau
    if family.has_dispersion and type(family).augment is Family.augment:
        raise ValueError(
            f"{type(family).__name__} has no sampler: a family with a noise variance needs a method "
            "augment(y, eta, sigma2, counts, rng), which draws the weights that make y Gaussian"
        )
    if not isinstance(prior, LocalSampler):
        raise ValueError(
            f"{type(prior).__name__} has no sampler: give it a method draw(w, lambda2, rng), as those of "
            "farrier.priors have"
        )
    if not isinstance(tau, GlobalSampler):
        raise ValueError(
            f"{type(tau).__name__} has no sampler: give it methods log_density(log_tau) and "
            "draw(n, s, tau2, rng), as in farrier.priors"
        )


def _refuse_light_rows(rows: Rows, settings: Settings) -> None:
    total = float(rows.counts.sum())
    unknown = settings.likelihood.has_dispersion and isinstance(settings.options.sigma2, str)
    if unknown and total <= float(settings.fit_intercept):
        raise ValueError(
            f"sample_weight adds up to {total:g}, which is too little to estimate sigma2 from: the weights "
            "are numbers of rows; multiply them to add up to about that, or give sigma2"
        )


def _refuse_nothing_to_sample(mode: Fitted) -> None:
    status = mode.result.status
    if status in (Status.CONSTANT_RESPONSE, Status.BOUNDARY, Status.NO_COLUMNS):
        raise ValueError(f"there is no posterior to sample with these data: {status}")


def _model(rows: Rows, design: Standardised, target: Target, settings: Settings) -> Model:
    likelihood = settings.likelihood
    known = known_variance(settings, target.scale) if likelihood.has_dispersion else 1.0
    assert isinstance(settings.prior, LocalSampler)
    assert isinstance(settings.tau, GlobalSampler)
    return Model(
        x=design.x,
        y=target.values,
        offset=np.zeros_like(rows.offset) if isinstance(likelihood, Location) else rows.offset,
        counts=rows.counts,
        likelihood=likelihood,
        prior=settings.prior,
        tau=settings.tau,
        sigma2=None if isinstance(known, str) else known,
        center=settings.fit_intercept,
        token=uuid4().hex,
    )


def _describe(settings: Settings, plan: Plan, extras: Extras) -> dict[str, str]:
    """Return what decides the draws beside the data; more draws can be added to fewer."""
    values = {
        "family": settings.likelihood,
        "prior": settings.prior,
        "tau": settings.tau,
        "sigma2": settings.options.sigma2,
        "fit_intercept": settings.fit_intercept,
        "standardize": settings.standardize,
        "n_chains": plan.n_chains,
        "n_warmup": plan.n_warmup,
        "thin": plan.thin,
        "store_lambda2": plan.store_lambda2,
    }
    if isinstance(extras.random_state, int | np.integer):
        values["random_state"] = int(extras.random_state)
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    """Return a representation that is the same in every process."""
    text = repr(value)
    return f"{type(value).__qualname__}({vars(value)})" if " object at 0x" in text else text


def _start(model: Model, mode: Fitted, n_chains: int, extras: Extras) -> State:
    """Return starts around the mode, farther apart than the posterior is wide."""
    seeds = np.random.SeedSequence(_entropy(extras.random_state)).spawn(n_chains)
    rng = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
    result, size = mode.result, float(model.counts.sum())
    k = model.x.shape[1]
    low, high = model.tau.bounds
    normal = np.array([r.standard_normal(2 * k + 2) for r in rng])
    lambda2 = np.maximum(result.scales.lambda2, 1.0 / size) * np.exp(normal[:, :k])
    coef = result.coef + normal[:, k : 2 * k] / np.sqrt(size * k)
    tau2 = np.clip(np.exp(2.0 * normal[:, -1]) / size, low, high)
    sigma2 = np.maximum(result.scales.sigma2, 1e-8) * np.exp(0.5 * normal[:, -2])
    if model.sigma2 is not None:
        sigma2 = np.full(n_chains, model.sigma2)
    family = mode.likelihood
    nuisance = getattr(family, family.nuisance) if family.nuisance is not None else 0.0
    eta = model.x @ result.coef + result.intercept + model.offset
    return State(
        coef=coef,
        intercept=np.full(n_chains, result.intercept),
        lambda2=lambda2,
        tau2=tau2,
        sigma2=sigma2,
        nuisance=np.full(n_chains, float(nuisance)),
        shrinkage=np.zeros((n_chains, k)),
        angle=np.full(n_chains, 0.5),
        accepted=np.zeros(n_chains),
        reference=np.tile(eta, (n_chains, 1)),
        eta_sum=np.zeros((n_chains, eta.size)),
        source=Streams(rng),
    )


def _entropy(random_state: Any) -> int | None:
    """Return what the seeds of the chains are made of."""
    rng = check_random_state(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(rng.integers(2**63))
    return None if random_state is None else int(random_state)


def _in_units(piece: Draws, design: Standardised, target: Target, has_intercept: bool) -> Draws:
    """Return draws in the user's units, with zeros for the constant columns."""
    unit = target.scale / design.scale
    coef = piece["coef"] * unit
    intercept = target.level + target.scale * piece["intercept"] - (coef * design.mean).sum(axis=-1)
    out = dict(piece)
    out["coef"] = spread_draws(coef, design.columns)
    out["intercept"] = intercept if has_intercept else np.zeros_like(intercept)
    out["sigma2"] = piece["sigma2"] * target.scale**2
    if "lambda2" in piece:
        out["lambda2"] = spread_draws(piece["lambda2"], design.columns)
    return out


def _reporter(progress: Any, need: int) -> Callable[[Progress], Any] | None:
    if callable(progress):
        report: Callable[[Progress], Any] = progress
        return report
    if not progress:
        return None
    print(f"the draws take {need / 2**20:.1f} MiB", file=sys.stderr, flush=True)
    return lambda news: print(news, file=sys.stderr, flush=True)


def _posterior(
    outcome: Outcome,
    rows: Rows,
    settings: Settings,
    mode: Fitted,
    plan: Plan,
    design: Standardised,
    names: Any,
    classes: Any,
) -> Posterior:
    state, draws = outcome.state, outcome.draws
    after = max(1, state.sweeps - plan.n_warmup)
    counted = -(-after // SHRINKAGE_EVERY)
    shrinkage = np.ones(design.columns.size)
    shrinkage[design.columns] = state.shrinkage.mean(axis=0) / counted
    unnamed = [f"x{j}" for j in range(design.columns.size)]
    return Posterior(
        coef=draws["coef"],
        intercept=draws["intercept"],
        tau2=draws["tau2"],
        sigma2=draws["sigma2"],
        lambda2=draws.get("lambda2"),
        nuisance=draws["nuisance"] if settings.likelihood.nuisance is not None else None,
        shrinkage=shrinkage,
        acceptance=state.accepted / after,
        family=settings.likelihood,
        feature_names=tuple(map(str, unnamed if names is None else names)),
        mode=mode,
        rows=rows,
        classes=classes,
        has_names=names is not None,
    )


def _judge(posterior: Posterior, outcome: Outcome, plan: Plan) -> None:
    """Warn of draws that are too few."""
    kept = posterior.coef.shape[1]
    if not outcome.complete:
        warnings.warn(f"interrupted: {kept} of {plan.n_draws} draws of each chain are returned", stacklevel=4)
    found = posterior.rhat()
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(found < GOOD_RHAT))
    if bad.size == 0:
        return
    order = bad[np.argsort(-found[bad])]
    shown = ", ".join(f"{posterior.feature_names[j]} {found[j]:.3f}" for j in order[:5])
    more = f" and {order.size - 5} more" if order.size > 5 else ""
    worst = float(found[order[0]])
    factor = max((worst - 1.0) / (GOOD_RHAT - 1.0), 1.0) * 1.5 if np.isfinite(worst) else 10.0
    ask = int(np.ceil(kept * factor / 500.0) * 500)
    warnings.warn(
        f"R-hat is not below {GOOD_RHAT} for {order.size} of {found.size} coefficients ({shown}{more}): the "
        f"chains do not agree well enough on them yet; ask for about n_draws={ask}",
        stacklevel=4,
    )
