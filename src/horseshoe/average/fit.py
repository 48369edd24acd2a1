"""From the rows to the averaged answer, in the user's units."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_memory
from horseshoe._types import Status, Vector
from horseshoe.average.components import COMPONENTS, Fitting, chosen_components, prior_of
from horseshoe.average.compressed import compress_folds, repredict
from horseshoe.average.cox_sets import sets_of
from horseshoe.average.folds import check_folds
from horseshoe.average.held_out import record_of
from horseshoe.average.inclusion import inclusion
from horseshoe.average.ordinal_covariates import has_lone_levels, levels_beside, with_levels
from horseshoe.average.result import AverageFit, ComponentRow, Progress, in_units
from horseshoe.average.sets import HUGE, Fits, Fold, Sets
from horseshoe.average.submodel import Submodel, summarise
from horseshoe.average.unpenalized import (
    Unpenalized,
    alone,
    insert_unpenalized,
    known_part,
    unpenalized_of,
    with_errors,
)
from horseshoe.average.weights import COSTS, Average, average
from horseshoe.data.rows import Rows
from horseshoe.data.structure import Structure
from horseshoe.families import Family, Ordered
from horseshoe.model.final_status import REPLACEABLE, reproduces
from horseshoe.model.spec import ModelSpec, Prepared, check_rows_fingerprint, prepare
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread

# Folds, or what makes them once the rows are standardised.
RULES = ("1se", "paired")
Folds = tuple[Fold, ...] | Callable[[Prepared], tuple[Fold, ...]]
# The likelihood ratio of rows left out from which on it is beyond doubt that the columns say something.
BEYOND_DOUBT = 10.0
# Then the sparse answer leaves at most this share of what the average says.
MOST_LEFT = 0.25
# Of the rule "paired": the distance that is left is so many times the error of a coefficient.
PAIRED = 4.0

# The least cross-validated error in whose unit distances are measured.
NO_ERROR = 1e-300
# Floats a row and training set that a fit has at once, measured with 200,000 rows of 20 columns.
PER_ROW = 32.0


def fit_average(rows: Rows, family: Family, folds: Folds, **options: Any) -> AverageFit:
    """Fit every component to every training set of one response, and average: see `fit_averages`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 10))
    >>> y = 3.0 * X[:, 2] + rng.standard_normal(60)
    >>> rows = Rows(Dense(X), y, None, np.zeros(60))
    >>> folds = tuple((np.flatnonzero(np.arange(60) % 5 != f), np.arange(f, 60, 5)) for f in range(5))
    >>> found = fit_average(rows, Gaussian(), folds)
    >>> np.flatnonzero(found.support), found.coef[2].round(1)
    (array([2]), np.float64(2.9))
    """
    return fit_averages([rows], family, folds, **options)[0]


class _Task(NamedTuple):
    """One response made ready: the rows as given and as fitted, and its unpenalised columns."""

    given: Rows
    rows: Rows
    prepared: Prepared
    unpenalized: Unpenalized | None


def fit_averages(
    rows: Sequence[Rows],
    family: Family,
    folds: Folds,
    *,
    names: tuple[str, ...] | None = None,
    rule: str = "1se",
    fit_intercept: bool = True,
    standardize: bool = True,
    callback: Callable[[Progress], Any] | None = None,
    n_jobs: int | None = None,
    structure: Structure | None = None,
    checkpoint: CheckpointSection | None = None,
) -> tuple[AverageFit, ...]:
    """Fit every component to every training set of all responses, and average; one answer for each.

    Several responses are Gaussian, and ``rows`` are the same but for y. They share columns in the components,
    one weight a component is taken from the likelihood of all of them, and columns enter the sparse answers
    together. A response that is constant has no say.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 10))
    >>> Y = np.outer(X[:, 2], [3.0, -1.0]) + rng.standard_normal((60, 2))
    >>> rows = [Rows(Dense(X), y, None, np.zeros(60)) for y in Y.T]
    >>> folds = tuple((np.flatnonzero(np.arange(60) % 5 != f), np.arange(f, 60, 5)) for f in range(5))
    >>> [found.coef[2].round(1).tolist() for found in fit_averages(rows, Gaussian(), folds)]
    [3.0, -1.3]
    """
    spec = ModelSpec(family, Horseshoe(), FixedScale(1.0), 2.0, "estimate", fit_intercept, standardize)
    spec = replace(spec, structure=structure)
    answers: dict[int, AverageFit] = {}
    varying: dict[int, Prepared] = {}
    for k, (one, prepared) in enumerate(zip(rows, prepare(spec, rows), strict=True)):
        nothing = nothing_to_fit(one, spec, prepared)
        if nothing is None:
            varying[k] = prepared
        else:
            answers[k] = recorded(replace(nothing, structure=structure), prepared, one, one)
    if varying:
        tasks = _without_unpenalized(spec, [rows[k] for k in varying], list(varying.values()))
        with one_thread():
            found = _fit(spec, tasks, folds, names, rule, callback, n_jobs, checkpoint)
        answers |= dict(zip(varying, found, strict=True))
    return tuple(answers[k] for k in range(len(rows)))


def _without_unpenalized(spec: ModelSpec, rows: list[Rows], prepared: list[Prepared]) -> list[_Task]:
    """Return responses whose unpenalised columns are fitted, and known; ordered levels keep them."""
    if spec.structure is None or spec.structure.unpenalized is None or isinstance(spec.family, Ordered):
        return [_Task(one, one, ready, None) for one, ready in zip(rows, prepared, strict=True)]
    unpenalized = spec.structure.unpenalized
    own = [alone(spec, one, unpenalized).coef for one in rows]
    known = [known_part(one, unpenalized, coef) for one, coef in zip(rows, own, strict=True)]
    each = zip(rows, known, prepare(spec, known), own, strict=True)
    return [
        _Task(one, left, ready, unpenalized_of(ready, unpenalized, coef)) for one, left, ready, coef in each
    ]


def _fit(
    spec: ModelSpec,
    tasks: list[_Task],
    folds: Folds,
    names: tuple[str, ...] | None,
    rule: str,
    callback: Callable[[Progress], Any] | None,
    n_jobs: int | None,
    checkpoint: CheckpointSection | None,
) -> list[AverageFit]:
    """Fit the average of responses that vary."""
    # 1. The training sets, with few rows in the place of many where their sums are all that matters.
    first, *others = tasks
    pairs = folds(first.prepared) if callable(folds) else folds
    for task in tasks:
        check_folds(pairs, task.prepared.response.values, varies=True)
    sets = _sets(tasks, pairs, spec)
    plain = spec.family.constant_weights and sets.groups is None and not others
    names = chosen_components(names, plain, float(sets.counts.sum()), sets.columns.shape[1])
    if checkpoint is not None:
        settings, known = (
            {"components": names, "selection": rule, **vars(spec)},
            [task.given.y for task in others],
        )
        parts = [part for pair in pairs for part in pair]
        check_rows_fingerprint(checkpoint, settings, first.given, first.prepared.design, *known, *parts)
    few = sets if others else compress_folds(sets)
    sets = few if few.y is sets.y else sets
    check_room(few.columns.shape, len(pairs) * len(tasks))
    # 2. The components, and their average.
    fitting = Fitting(few, n_jobs, checkpoint)
    kept, fits = fit_components(fitting.component, names, callback)
    founds = average(few, tuple(fits), prior_of(kept))
    founds = founds if few is sets else (repredict(sets, founds[0]),)
    ridges = ridge_or_null(fitting).responses(len(tasks))
    own = list(zip(*(one.responses(len(tasks)) for one in fits), strict=True))
    families = [best_family(found, one) for found, one in zip(founds, own, strict=True)]
    if not others:
        families[0], found, sets = sets.finalize(families[0], founds[0], first.prepared)
        founds = (found,)
    # 3. The sparse answer and the inclusion probabilities.
    submodels = fit_submodels(sets, few, founds, families[0], rule)
    included = [
        inclusion(found, ridge, one) for found, ridge, one in zip(founds, ridges, few.responses, strict=True)
    ]
    # 4. All of it in the user's units.
    return [
        _whole(spec, task, one, restored(task.prepared, one, kept, *said))
        for task, one, *said in zip(tasks, sets.responses, families, founds, submodels, included, strict=True)
    ]


def _whole(spec: ModelSpec, task: _Task, sets: Sets, found: AverageFit) -> AverageFit:
    """Return an answer with the unpenalised columns back in their places, and what is kept of the rows."""
    found, structure = replace(found, structure=spec.structure), spec.structure
    if task.unpenalized is not None:
        found = with_unpenalized(found, task.unpenalized, spec, task.given)
    elif structure is not None and structure.unpenalized is not None:
        found = with_levels(found, structure.unpenalized, task.prepared, task.given)
    return recorded(found, task.prepared, task.given, task.rows)


def _sets(tasks: list[_Task], pairs: tuple[Fold, ...], spec: ModelSpec) -> Sets:
    """Return the training sets, of the kind that goes with the family and its unpenalised columns."""
    (_, rows, prepared, _), *others = tasks
    family, values = spec.family, [task.prepared.response.values for task in tasks]
    beside = prepared.design.free is not None
    if isinstance(family, Ordered) and (beside or has_lone_levels(family, rows.y.size)):
        return levels_beside(prepared, rows.counts, pairs, family)
    return sets_of(
        prepared.design.columns,
        np.array(values) if others else values[0],
        prepared.offset,
        rows.counts,
        pairs,
        family,
        spec.fit_intercept or not family.has_intercept,
        prepared.groups,
        rows.n_seen != rows.y.size,
    )


def fit_components(
    component: Callable[[str], Any], names: tuple[str, ...], callback: Callable[[Progress], Any] | None
) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names and the fits of the components that could be fitted."""
    kept, fits, begun = [], [], time.perf_counter()
    for done, name in enumerate(names, 1):
        try:
            found = component(name)
        except (np.linalg.LinAlgError, FloatingPointError) as error:
            found, reason = None, str(error)
        else:
            reason = "its coefficients are not finite"
        if found is None or not (np.isfinite(found.coef).all() and np.isfinite(found.intercept).all()):
            warnings.warn(f"the component {name!r} is left out: {reason}", stacklevel=5)
            continue
        kept.append(name)
        fits.append(found)
        if callback is not None:
            callback(_progress(name, done, len(names), time.perf_counter() - begun))
    if not kept:
        raise ValueError(f"none of components {', '.join(names)} could be fitted: give others")
    return tuple(kept), fits


def _progress(component: str, done: int, total: int, seconds: float) -> Progress:
    """Return what a callback is told."""
    left = seconds / done * (total - done) if done > 1 or done == total else None
    return Progress(component, done, total, seconds, left)


def best_family(found: Average, fits: Sequence[Fits]) -> Family:
    """Return the family of the component of most weight, with what it has estimated."""
    return fits[int(np.argmax(found.weights))].families[-1]


def recorded(found: AverageFit, prepared: Prepared, rows: Rows, known: Rows) -> AverageFit:
    """Return the fit with what is kept of its rows; ``known`` has what was fitted first in the offset."""
    eta = found.linear_predictor(rows.columns) + rows.offset
    record = record_of(rows, eta, found.family, found.units, found.sets, found.average, known.offset)
    scale = prepared.all_units.places(prepared.all_spread)
    exact = found.family.is_location and found.status in REPLACEABLE
    if exact and reproduces(rows, found.sparse_coef, found.units.has_intercept, found.sigma2):
        found = replace(found, status=Status.REPRODUCED)
    return replace(found, scale=scale, record=record)


def with_unpenalized(found: AverageFit, unpenalized: Unpenalized, spec: ModelSpec, rows: Rows) -> AverageFit:
    """Return the average with the columns that are unpenalized in back in their places."""
    both = []
    for coef, intercept in ((found.coef, found.intercept), (found.sparse_coef, found.sparse_intercept)):
        whole, level = unpenalized.complete(coef, intercept, found.units)
        if not spec.family.constant_weights:  # what is fitted together is not what is fitted in turns
            again = alone(spec, rows, unpenalized.places, rows.columns.matvec(coef))
            whole[unpenalized.places], level = again.coef, again.intercept
        both.append((whole, level))
    (coef, intercept), (sparse, _) = both
    eta = rows.columns.matvec(coef) + intercept + rows.offset
    unpenalized = with_errors(unpenalized, rows, found, sparse, eta)
    return insert_unpenalized(found, unpenalized, both, rows, eta)


def check_room(shape: tuple[int, int], folds: int) -> None:
    """Refuse rows so many that their training sets side by side have no room."""
    n, p = shape
    check_memory(
        8.0 * n * (PER_ROW * (folds + 1) + 2.0 * min(n, p)),
        f"averaging over {folds} folds of {n:,} rows",
        "use fewer folds, the single mode (HorseshoeRegressor, or horseshoe fit --estimator mode), or "
        "fewer rows",
    )


def restored(
    prepared: Prepared,
    sets: Sets,
    names: tuple[str, ...],
    family: Family,
    found: Average,
    sparser: Submodel,
    included: Vector,
) -> AverageFit:
    """Bring the answer back to the user's units."""
    units = prepared.units
    unit2 = units.unit**2 if family.has_dispersion else 1.0
    nothing = Status.NONE_STANDS_OUT if found.slope > 0.0 else Status.NOTHING_SELECTED
    status = Status.CONVERGED if sparser.order.size else nothing
    none = Status.NO_COLUMNS if prepared.all_units is prepared.units else Status.CONVERGED
    status = status if units.kept.any() else none
    unpenalized = prepared.design.free is not None
    components = tuple(
        ComponentRow(
            name,
            sets.told(COMPONENTS[name].what, unpenalized),
            in_units(one.error, family, units),
            float(weight),
        )
        for name, one, weight in zip(names, found.judged, found.weights, strict=True)
    )
    included = units.places(included if sets.groups is None else sets.groups.most(included))
    sigma2 = float(found.weights @ [one.sigma2 for one in found.judged]) * unit2
    return AverageFit(
        units,
        family,
        status,
        units.coef(found.coef),
        float(units.intercept(np.asarray(found.intercept), found.coef)),
        units.coef(sparser.coef),
        float(units.intercept(np.asarray(sparser.intercept), sparser.coef)),
        included,
        sigma2,
        components,
        sets,
        found,
        sparser,
    )


def ridge_or_null(fitting: Fitting) -> Fits:
    """Return the ridge fits; where these fail, as a component that is left out may, the null model."""
    try:
        return fitting.component("ridge")
    except (np.linalg.LinAlgError, FloatingPointError):
        return fitting.component("null")


def fit_submodels(
    sets: Sets, few: Sets, founds: Sequence[Average], family: Family, rule: str, free: Any = None
) -> list[Submodel]:
    """Return the sparse answer to each response or class: the fewest columns, the same for all of them.

    How close it must be is what cross-validation can tell. Each of several responses is measured in units of
    its cross-validated error. ``few`` are the rows with the same sums, in which columns are looked for;
    ``free`` are the unpenalised coefficients of classes.
    """
    (rows, _), found, single = sets.tested, founds[0], sets.freedom == 1.0 and not sets.softmax
    coef: Any = found.coef.T
    level: Any = found.intercept
    unit: Any = np.ones(np.size(level))
    # 1. What the average loses of each row left out, and its mean.
    if sets.family.constant_weights:
        counts, weights = sets.counts[rows], few.counts
        losses = np.array(
            [(one.y[rows] - own.predicted) ** 2 for one, own in zip(sets.responses, founds, strict=True)]
        )
        if not single:
            unit = np.sqrt(np.maximum(losses @ counts / counts.sum(), NO_ERROR))
            coef, level = (
                np.column_stack([one.coef for one in founds]),
                np.array([one.intercept for one in founds]),
            )
            coef, level, losses = coef / unit, level / unit, losses / unit[:, None] ** 2
        losses = losses.sum(axis=0)
    else:
        sigma2 = float(found.weights @ [one.sigma2 for one in found.judged])
        losses, counts = sets.row_losses(family, found.predicted, sigma2)
        losses = np.minimum(2.0 * losses, HUGE)
        own = None if free is None else free[..., None]
        eta = sets.eta(found.coef[..., None], np.asarray(found.intercept)[..., None], own)[..., 0]
        weights = sets.information(family, eta, sigma2)
    total, size = float(counts.sum()), float(sets.counts[np.unique(rows)].sum())
    mean = float(counts @ losses) / total
    # 2. Its standard error, or that of an estimated coefficient, is how far the sparse answer may be.
    error = float(np.sqrt(counts @ (losses - mean) ** 2 / total / size))
    if sets.condensed:  # squares of single errors are not known: those of a normal one have this spread
        error = mean * float(np.sqrt(2.0 / size))
    if rule == "paired":  # of a column that says nothing they are q, and scatter by the root of it
        noise = mean / sets.freedom if sets.family.constant_weights else 1.0
        error = noise * (sets.freedom + (PAIRED - 1.0) * np.sqrt(sets.freedom)) / size
    evidence = sum(one.evidence for one in founds)
    scale = float(weights.sum()) / float(sets.counts.sum())  # `summarise` has the mean over the weights
    error, share = error * doubt(evidence) / scale, MOST_LEFT if evidence > BEYOND_DOUBT else 1.0
    # 3. The columns, one at a time.
    said = summarise(few.columns, coef, level, weights, error, sets.center, share, sets.groups)
    if single:
        return [said]
    levels: Any = said.intercept
    return [
        said._replace(coef=said.coef[:, o] * one, intercept=float(levels[o] * one))
        for o, one in enumerate(unit)
    ]


def doubt(evidence: float) -> float:
    """Return how many times as far the sparse answer may be, since some of what the average says is noise.

    That is the share 1 - 2/LR of it; distances go by squares. Where all is noise, nothing needs to be said.

    Examples
    --------
    >>> doubt(4.0), doubt(1.0)
    (4.0, inf)
    """
    return (1.0 - COSTS / evidence) ** -2 if evidence > COSTS else float("inf")


def nothing_to_fit(rows: Rows, spec: ModelSpec, prepared: Prepared) -> AverageFit | None:
    """Return the answer where y is constant, or has no finite intercept."""
    units, family, edge = prepared.units, spec.family, None
    level = family.boundary(rows.y, rows.counts, rows.offset) if spec.fit_intercept else None
    if units.unit == 0.0:
        status, intercept = Status.CONSTANT_RESPONSE, units.level
    elif level is not None:
        status, intercept, edge = Status.BOUNDARY, level, float(rows.y[0])
    else:
        return None
    none = np.zeros(units.kept.size)
    level = float(intercept)
    return AverageFit(units, family, status, none, level, none, level, none, 0.0, (), edge=edge)
