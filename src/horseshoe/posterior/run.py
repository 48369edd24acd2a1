"""From a model and its mode to draws: start the chains around it, run them, judge them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_jobs, check_number, check_random_state
from horseshoe._types import Matrix
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Units
from horseshoe.data.unpenalized import free_level, with_free
from horseshoe.families import Family, Ordered
from horseshoe.posterior.draws import Posterior
from horseshoe.priors import Estimating, estimated
from horseshoe.sampling.chains import Draws, Outcome, Plan, Progress, Run
from horseshoe.sampling.checkpoint import load_run, save_run
from horseshoe.sampling.gibbs import SHRINKAGE_EVERY, Model, State
from horseshoe.sampling.streams import Streams
from horseshoe.store.checkpoint import open_checkpoint

MAX_MEMORY = 2 << 30
GOOD_RHAT = 1.01
NO_SHAPES = np.empty((0, 0, 0))


class Extras(NamedTuple):
    """How the run is to be gone about."""

    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | Callable[[Progress], Any] = False
    checkpoint: Any = None
    max_memory: float = MAX_MEMORY


def draw(
    model: Model,
    units: Units,
    rows: Rows,
    mode: Fitted,
    plan: Plan,
    extras: Extras,
    spec: dict[str, Any],
    names: Any = None,
    classes: Any = None,
    whole: Units | None = None,
) -> Posterior:
    """Run the chains; ``spec`` is what decides the draws beside the data, by name.

    ``whole`` are the units of all columns where some are not shrunk, ``units`` those of the others.
    """
    need = plan.bytes(units.kept.size, len(estimated(model.prior)))
    refuse_memory(need, extras.max_memory)
    run = Run(
        model,
        plan,
        lambda piece: in_units(piece, model, units, whole),
        check_jobs(extras.n_jobs),
        reporter(extras.progress, need),
    )
    start = partial(_start, model, mode, plan.n_chains, extras, units, whole)
    outcome = run_chains(run, rows, extras, spec, start)
    posterior = _posterior(outcome, model, units, rows, mode, plan, names, classes)
    _judge(posterior, outcome, plan)
    return posterior


def refuse_memory(need: int, max_memory: Any) -> None:
    """Refuse draws that take more room than there may be.

    Examples
    --------
    >>> refuse_memory(3 << 20, 2.0**30)
    """
    room = check_number("max_memory", max_memory)
    if need > room:
        raise ValueError(
            f"the draws would take {need / 2**20:.0f} MiB, and max_memory allows {room / 2**20:.0f} MiB: "
            "raise thin and lower n_draws, leave out store_lambda2, or raise max_memory"
        )


def run_chains(
    run: Run, rows: Rows, extras: Extras, spec: dict[str, Any], start: Callable[[], State]
) -> Outcome:
    """Run the chains from the checkpoint, if there is one, or from their starts."""
    with open_checkpoint(extras.checkpoint, "sampling") as section:
        if section is None:
            return run.go(start())
        data = (*rows.columns.digest(), rows.y, rows.counts, rows.offset)
        section.check_fingerprint(_settings(spec, run.plan, extras), *data)
        run.save = partial(save_run, section)
        state, draws = load_run(section) or (start(), None)
        return run.go(state, draws)


def _settings(spec: dict[str, Any], plan: Plan, extras: Extras) -> dict[str, Any]:
    """Return what decides the draws beside the data; more draws can be added to fewer."""
    values = {name: value for name, value in spec.items() if name != "lambda_power"}
    values |= {name: value for name, value in plan._asdict().items() if name != "n_draws"}
    if isinstance(extras.random_state, int | np.integer):
        values["random_state"] = int(extras.random_state)
    return values


def _start(
    model: Model, mode: Fitted, n_chains: int, extras: Extras, units: Units, whole: Units | None
) -> State:
    """Return starts around the mode, farther apart than the posterior is wide."""
    seeds = np.random.SeedSequence(entropy(extras.random_state)).spawn(n_chains)
    rng = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
    result, size = mode.result, float(model.counts.sum())
    k, groups = model.columns.shape[1], model.groups
    low, high = model.tau.bounds
    start, flat, level = at_mode(model, mode, units, whole)
    scales = scales_at_mode(mode, units, whole)
    normal = np.array([r.standard_normal(2 * k + 2) for r in rng])
    lambda2 = np.maximum(scales, 1.0 / size) * np.exp(normal[:, :k])
    if groups is not None:
        lambda2 = lambda2[:, np.unique(groups.label, return_index=True)[1]]
    coef = start + normal[:, k : 2 * k] / np.sqrt(size * k)
    tau2 = np.clip(np.exp(2.0 * normal[:, -1]) / size, low, high)
    sigma2 = np.maximum(result.scales.sigma2, 1e-8) * np.exp(0.5 * normal[:, -2])
    if model.sigma2 is not None:
        sigma2 = np.full(n_chains, model.sigma2)
    family = result.family or mode.family
    if isinstance(family, Ordered):
        family = family.absorbed(result.intercept)
        flat, level = (0.0, 0.0) if model.free is None else (flat, level)
    nuisance = getattr(family, family.nuisance) if family.nuisance is not None else 0.0
    eta = model.columns.matvec(start) + level + model.offset
    return State(
        coef=coef,
        intercept=np.full((n_chains, *np.shape(flat)), flat),
        lambda2=lambda2,
        tau2=tau2,
        sigma2=sigma2,
        nuisance=np.array([nuisance] * n_chains, dtype=np.float64),
        kappa=np.zeros((n_chains, k)),
        angle=np.full(n_chains, 0.5),
        accepted=np.zeros(n_chains),
        reference=np.tile(eta, (n_chains, 1)),
        eta_sum=np.zeros((n_chains, eta.size)),
        shapes=_start_shapes(model, rng),
        source=Streams(rng),
    )


def scales_at_mode(mode: Fitted, units: Units, whole: Units | None) -> Any:
    """Return the local scales of the columns that are shrunk."""
    scales = mode.result.scales.lambda2
    return scales if whole is None else scales[units.kept[whole.kept]]


def at_mode(model: Model, mode: Fitted, units: Units, whole: Units | None) -> tuple[Any, Any, Any]:
    """Return the coefficients at the mode, what is not shrunk, and its part of each linear predictor."""
    result = mode.result
    if model.free is None or whole is None:
        return result.coef, result.intercept, result.intercept
    shrunk = units.kept[whole.kept]
    coef, own = result.coef[shrunk], result.coef[~shrunk]
    flat = free_level(model.free, result.intercept, coef, own, model.center)
    return coef, flat, model.free.with_ones(model.center) @ flat


def _start_shapes(model: Model, rng: list[np.random.Generator]) -> Matrix:
    """Return what the prior leaves to be estimated, drawn about as far apart as its own prior is wide."""
    if not isinstance(model.prior, Estimating) or not estimated(model.prior):
        return np.empty((len(rng), 0))
    return np.array([model.prior.shapes().start(r) for r in rng])


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


def in_units(piece: Draws, model: Model, units: Units, whole: Units | None) -> Draws:
    """Return draws in the user's units, with zeros for the constant columns.

    Of ordered levels, the thresholds take what the intercept gives up to the centred columns.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> units = Units(np.array([True]), np.zeros(1), np.full(1, 2.0), 0.0, 1.0, True)
    >>> piece = {"coef": np.ones((1, 1, 1)), "intercept": np.zeros((1, 1)), "sigma2": np.ones((1, 1))}
    >>> in_units(piece, SimpleNamespace(groups=None, free=None, family=None), units, None)["coef"]
    array([[[0.5]]])
    """
    piece = dict(piece)
    if "lambda2" in piece and model.groups is not None:
        piece["lambda2"] = model.groups.spread(piece["lambda2"])
    if model.free is not None and whole is not None:
        shrunk = units.kept[whole.kept]
        coef, intercept = with_free(model.free, piece["coef"], piece["intercept"], shrunk)
        piece |= {"coef": coef, "intercept": intercept}
        if "lambda2" in piece:
            every = np.full(coef.shape, np.inf)
            every[..., shrunk] = piece["lambda2"]
            piece["lambda2"] = every
        units = whole
    out = dict(piece)
    out["coef"] = units.coef(piece["coef"])
    out["intercept"] = units.intercept(piece["intercept"], piece["coef"])
    if isinstance(model.family, Ordered):
        out["nuisance"] = piece["nuisance"] - out["intercept"][..., None]
        out["intercept"] = np.zeros_like(out["intercept"])
    out["sigma2"] = units.sigma2(piece["sigma2"])
    if "lambda2" in piece:
        out["lambda2"] = units.places(piece["lambda2"])
    return out


def reporter(progress: Any, need: int) -> Callable[[Progress], Any] | None:
    """Return what is told how a run is doing, if anybody is."""
    if callable(progress):
        report: Callable[[Progress], Any] = progress
        return report
    if not progress:
        return None
    print(f"the draws take {need / 2**20:.1f} MiB", file=sys.stderr, flush=True)
    return lambda news: print(news, file=sys.stderr, flush=True)


def _posterior(
    outcome: Outcome,
    model: Model,
    units: Units,
    rows: Rows,
    mode: Fitted,
    plan: Plan,
    names: Any,
    classes: Any,
) -> Posterior:
    state, draws = outcome.state, outcome.draws
    after = max(1, state.sweeps - plan.n_warmup)
    counted = -(-after // SHRINKAGE_EVERY)
    kappa = np.ones(units.kept.size)
    kappa[units.kept] = state.kappa.mean(axis=0) / counted
    if mode.unpenalized is not None:
        kappa[mode.unpenalized] = 0.0
    shapes = dict(zip(estimated(model.prior), np.moveaxis(draws.get("shapes", NO_SHAPES), 2, 0), strict=True))
    unnamed = [f"x{j}" for j in range(units.kept.size)]
    return Posterior(
        coef=draws["coef"],
        intercept=draws["intercept"],
        tau2=draws["tau2"],
        sigma2=draws["sigma2"],
        lambda2=draws.get("lambda2"),
        nuisance=draws["nuisance"] if model.family.nuisance is not None else None,
        kappa=kappa,
        acceptance=state.accepted / after,
        family=_with_mean(model.family, draws["nuisance"]),
        feature_names=tuple(map(str, unnamed if names is None else names)),
        mode=mode,
        rows=rows,
        classes=classes,
        has_names=names is not None,
        a=shapes.get("a"),
        b=shapes.get("b"),
    )


def _with_mean(family: Family, nuisance: Any) -> Family:
    """Return the family with the posterior mean of what it estimates beside the coefficients."""
    return family if family.nuisance is None else family.with_nuisance(nuisance.mean(axis=(0, 1)))


def _judge(posterior: Posterior, outcome: Outcome, plan: Plan) -> None:
    """Warn of draws that are too few."""
    kept = posterior.coef.shape[1]
    if not outcome.complete:
        warnings.warn(f"interrupted: {kept} of {plan.n_draws} draws of each chain are returned", stacklevel=5)
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
        stacklevel=5,
    )
