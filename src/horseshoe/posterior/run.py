"""From a model and its mode to draws: start the chains around it, run them, judge them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_jobs, check_number
from horseshoe._types import Vector
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Units
from horseshoe.data.unpenalized import all_coefficients
from horseshoe.families import Ordered
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.starts import UnitsPair, start_one, start_several
from horseshoe.priors import estimated
from horseshoe.sampling.chains import Draws, Outcome, Plan, Progress, Run
from horseshoe.sampling.checkpoint import load_run, save_run
from horseshoe.sampling.gibbs import SHRINKAGE_EVERY, Model, State
from horseshoe.sampling.several import SeveralModel
from horseshoe.store.checkpoint import open_checkpoint

MAX_MEMORY = 2 << 30
GOOD_RHAT = 1.01
NO_SHAPES = np.empty((0, 0, 0))


class RunOptions(NamedTuple):
    """How the chains are run: seed, processes, progress, checkpoint and the room for draws."""

    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | Callable[[Progress], Any] = False
    checkpoint: Any = None
    max_memory: float = MAX_MEMORY


def draw(
    model: Model,
    units: Sequence[UnitsPair],
    rows: Sequence[Rows],
    modes: Sequence[Fitted],
    plan: Plan,
    run_options: RunOptions,
    spec: dict[str, Any],
    names: Any = None,
    classes: Any = None,
    labels: Sequence[Any] = (),
) -> tuple[Posterior, ...]:
    """Run the chains, and return the draws of each regression: of one, or of several that have ``labels``.

    ``units`` and ``modes`` are those of each regression; ``spec`` is what decides the draws beside the data.
    """
    need = plan.bytes(units[0][0].kept.size * len(rows), len(estimated(model.prior)))
    refuse_memory(need, run_options.max_memory)
    several = isinstance(model, SeveralModel)
    joint = rows[0]._replace(y=np.column_stack([one.y for one in rows])) if several else rows[0]
    jobs, report = check_jobs(run_options.n_jobs), _reporter(run_options.progress, need)
    run = Run(model, plan, lambda piece: _all_in_units(piece, model, units), jobs, report)
    start: Callable[..., State] = start_several if several else start_one
    begin = partial(start, model, modes, units, plan.n_chains, run_options.random_state)
    outcome = _run_chains(run, joint, run_options, spec, begin)
    parts = tuple(
        _posterior_of(outcome, model, units[k][0], rows[k], modes[k], plan, names, classes, k)
        for k in range(len(rows))
    )
    own = parts[0].feature_names
    named = [f"{name} for {label!r}" for label in labels for name in own] if labels else own
    rhat = np.concatenate([part.rhat() for part in parts])
    _warn_of_disagreement(rhat, named, parts[0].coef.shape[1], outcome, plan)
    return parts


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


def _run_chains(
    run: Run, rows: Rows, run_options: RunOptions, spec: dict[str, Any], start: Callable[[], State]
) -> Outcome:
    """Run the chains from the checkpoint, if there is one, or from their starts."""
    with open_checkpoint(run_options.checkpoint, "sampling") as section:
        if section is None:
            return run.go(start())
        data = (*rows.columns.digest(), rows.y, rows.counts, rows.offset)
        section.check_fingerprint(_settings(spec, run.plan, run_options), *data)
        run.save = partial(save_run, section)
        state, draws = load_run(section) or (start(), None)
        return run.go(state, draws)


def _settings(spec: dict[str, Any], plan: Plan, run_options: RunOptions) -> dict[str, Any]:
    """Return what decides the draws beside the data; more draws can be added to fewer."""
    values = {name: value for name, value in spec.items() if name != "lambda_power"}
    values |= {name: value for name, value in plan._asdict().items() if name != "n_draws"}
    if isinstance(run_options.random_state, int | np.integer):
        values["random_state"] = int(run_options.random_state)
    return values


def _all_in_units(piece: Draws, model: Model, units: Sequence[UnitsPair]) -> Draws:
    """Return draws of all regressions in the user's units; of several the third axis is the regression."""
    if not isinstance(model, SeveralModel):
        return in_units(piece, model, *units[0])
    own, shared = ("coef", "intercept", "sigma2"), {name: piece[name] for name in piece if name == "lambda2"}
    each = [
        in_units({name: piece[name][:, :, k] for name in own} | shared, model, *units[k])
        for k in range(len(units))
    ]
    stacked = {name: np.stack([one[name] for one in each], axis=2) for name in own}
    return dict(piece) | stacked | {name: each[0][name] for name in shared}


def in_units(piece: Draws, model: Model, units: Units, whole: Units) -> Draws:
    """Return draws in the user's units, with zeros for the constant columns.

    Of ordered levels, the thresholds take what the intercept gives up to the centred columns.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> units = Units(np.array([True]), np.zeros(1), np.full(1, 2.0), 0.0, 1.0, True)
    >>> piece = {"coef": np.ones((1, 1, 1)), "intercept": np.zeros((1, 1)), "sigma2": np.ones((1, 1))}
    >>> in_units(piece, SimpleNamespace(groups=None, free=None, family=None), units, units)["coef"]
    array([[[0.5]]])
    """
    piece = dict(piece)
    if "lambda2" in piece and model.groups is not None:
        piece["lambda2"] = model.groups.spread(piece["lambda2"])
    if model.free is not None:
        shrunk = units.kept[whole.kept]
        coef, intercept = all_coefficients(model.free, piece["coef"], piece["intercept"], shrunk)
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


def _reporter(progress: Any, need: int) -> Callable[[Progress], Any] | None:
    """Return what is told how a run is doing, if anybody is."""
    if callable(progress):
        report: Callable[[Progress], Any] = progress
        return report
    if not progress:
        return None
    print(f"the draws take {need / 2**20:.1f} MiB", file=sys.stderr, flush=True)
    return lambda news: print(news, file=sys.stderr, flush=True)


def _posterior_of(
    outcome: Outcome,
    model: Model,
    units: Units,
    rows: Rows,
    mode: Fitted,
    plan: Plan,
    names: Any,
    classes: Any,
    output: int,
) -> Posterior:
    """Return the draws of one regression: of several, that with the number ``output``."""
    state, draws = outcome.state, outcome.draws
    after = max(1, state.sweeps - plan.n_warmup)
    kappa: Vector = np.ones(units.kept.size)
    kappa[units.kept] = state.kappa.mean(axis=0) / -(-after // SHRINKAGE_EVERY)
    if mode.unpenalized is not None:
        kappa[mode.unpenalized] = 0.0
    shapes = dict(zip(estimated(model.prior), np.moveaxis(draws.get("shapes", NO_SHAPES), 2, 0), strict=True))
    unnamed = [f"x{j}" for j in range(units.kept.size)]
    coef, intercept, sigma2 = draws["coef"], draws["intercept"], draws["sigma2"]
    if isinstance(model, SeveralModel):
        coef, intercept, sigma2 = coef[:, :, output], intercept[:, :, output], sigma2[:, :, output]
    nuisance = None if model.family.nuisance is None else draws["nuisance"]
    return Posterior(
        coef=coef,
        intercept=intercept,
        tau2=draws["tau2"],
        sigma2=sigma2,
        lambda2=draws.get("lambda2"),
        nuisance=nuisance,
        kappa=kappa,
        acceptance=state.accepted / after,
        family=model.family if nuisance is None else model.family.with_nuisance(nuisance.mean(axis=(0, 1))),
        feature_names=tuple(map(str, unnamed if names is None else names)),
        mode=mode,
        rows=rows,
        classes=classes,
        has_names=names is not None,
        a=shapes.get("a"),
        b=shapes.get("b"),
    )


def _warn_of_disagreement(
    found: Vector, names: Sequence[str], kept: int, outcome: Outcome, plan: Plan
) -> None:
    """Warn of draws that are too few, ``kept`` of each chain: R-hats of coefficients and their names."""
    if not outcome.complete:
        warnings.warn(f"interrupted: {kept} of {plan.n_draws} draws of each chain are returned", stacklevel=5)
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(found < GOOD_RHAT))
    if bad.size == 0:
        return
    order = bad[np.argsort(-found[bad])]
    shown = ", ".join(f"{names[j]} {found[j]:.3f}" for j in order[:5])
    more = f" and {order.size - 5} more" if order.size > 5 else ""
    worst = float(found[order[0]])
    factor = max((worst - 1.0) / (GOOD_RHAT - 1.0), 1.0) * 1.5 if np.isfinite(worst) else 10.0
    ask = int(np.ceil(kept * factor / 500.0) * 500)
    warnings.warn(
        f"R-hat is not below {GOOD_RHAT} for {order.size} of {found.size} coefficients ({shown}{more}): the "
        f"chains do not agree well enough on them yet; ask for about n_draws={ask}",
        stacklevel=5,
    )
