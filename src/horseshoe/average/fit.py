"""From the rows to the averaged answer, in the user's units."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

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
from horseshoe.average.sets import HUGE, Fits, Fold, Sets, information
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
from horseshoe.model.exact import REPLACEABLE, reproduces
from horseshoe.model.fingerprint import check_rows_fingerprint
from horseshoe.model.spec import ModelSpec, Prepared, prepare
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread

RULES = ("1se", "paired")
BEYOND_DOUBT = 10.0
"""The likelihood ratio of rows left out from which on it is beyond doubt that the columns say something."""
MOST_LEFT = 0.25
"""Then the sparse answer leaves at most this share of what the average says."""
PAIRED = 4.0
"""Of the rule "paired": the distance that is left is so many times the error of a coefficient."""

PER_ROW = 32.0
"""Floats a row and training set that a fit has at once, measured with 200,000 rows of 20 columns."""


def fit_average(
    rows: Rows,
    family: Family,
    folds: tuple[Fold, ...] | Callable[[Prepared], tuple[Fold, ...]],
    *,
    names: tuple[str, ...] | None = None,
    rule: str = "1se",
    fit_intercept: bool = True,
    standardize: bool = True,
    callback: Callable[[Progress], Any] | None = None,
    n_jobs: int | None = None,
    structure: Structure | None = None,
    checkpoint: CheckpointSection | None = None,
) -> AverageFit:
    """Fit every component to every training set, and average.

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
    spec = ModelSpec(family, Horseshoe(), FixedScale(1.0), 2.0, "estimate", fit_intercept, standardize)
    spec = replace(spec, structure=structure)
    prepared, given, beside = prepare(spec, rows), rows, None
    nothing = nothing_to_fit(rows, spec, prepared)
    if nothing is not None:
        return recorded(replace(nothing, structure=structure), prepared, rows, rows)
    unpenalized = None if structure is None else structure.unpenalized
    if unpenalized is not None and not isinstance(family, Ordered):
        own = alone(spec, rows, unpenalized).coef
        rows = known_part(rows, unpenalized, own)
        prepared = prepare(spec, rows)
        beside = unpenalized_of(prepared, unpenalized, own)
    with one_thread():
        pairs = folds(prepared) if callable(folds) else folds
        values = prepared.response.values
        pairs = check_folds(pairs, values, varies=True)
        sets = _sets(prepared, rows, pairs, spec)
        plain = family.constant_weights and sets.groups is None
        names = chosen_components(names, plain, float(sets.counts.sum()), sets.columns.shape[1])
        if checkpoint is not None:
            chosen = {"components": names, "selection": rule, **vars(spec)}
            check_rows_fingerprint(
                checkpoint, chosen, given, prepared.design, *(part for pair in pairs for part in pair)
            )
        few = compress_folds(sets)
        sets = few if few.y is sets.y else sets
        check_room(few.columns.shape, len(pairs))
        fitting = Fitting(few, n_jobs, checkpoint)
        kept, fits = fit_components(fitting.component, names, callback)
        found = average(few, tuple(fits), prior_of(kept))
        found = found if few is sets else repredict(sets, found)
        family, found, sets = sets.finalize(best_family(found, fits), found, prepared)
        sparser = _sparser(sets, few, found, family, rule)
        included = inclusion(found, _ridge(fitting), few)
        whole = restored(prepared, sets, kept, fits, found, sparser, included)
        whole = replace(whole, structure=structure, family=family)
        if unpenalized is not None and beside is None:
            whole = with_levels(whole, unpenalized, prepared, given)
        whole = whole if beside is None else with_unpenalized(whole, beside, spec, given)
        return recorded(whole, prepared, given, rows)


def _sets(prepared: Prepared, rows: Rows, pairs: tuple[Fold, ...], spec: ModelSpec) -> Sets:
    """Return the training sets, of the kind that goes with the family and what is always in."""
    family = spec.family
    beside = prepared.design.free is not None
    if isinstance(family, Ordered) and (beside or has_lone_levels(family, rows.y.size)):
        return levels_beside(prepared, rows.counts, pairs, family)
    return sets_of(
        prepared.design.columns,
        prepared.response.values,
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
        if found is None or not _finite(found):
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


def _finite(found: Any) -> bool:
    each = found if type(found) is tuple else (found,)
    return all(np.isfinite(one.coef).all() and np.isfinite(one.intercept).all() for one in each)


def best_family(found: Average, fits: list[Fits]) -> Family:
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
    """Return the average with the columns that are always in back in their places."""
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
    fits: list[Fits],
    found: Average,
    sparser: Submodel,
    included: Vector,
) -> AverageFit:
    """Bring the answer back to the user's units."""
    units, family = prepared.units, best_family(found, fits)
    unit2 = units.unit**2 if family.has_dispersion else 1.0
    nothing = Status.NONE_STANDS_OUT if found.slope > 0.0 else Status.NOTHING_SELECTED
    status = Status.CONVERGED if sparser.order.size else nothing
    none = Status.NO_COLUMNS if prepared.whole is None else Status.CONVERGED
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


def _ridge(fitting: Fitting) -> Fits:
    """Return the ridge fits; where these fail, as a component that is left out may, fits of nothing."""
    try:
        return fitting.component("ridge")
    except (np.linalg.LinAlgError, FloatingPointError):
        return fitting.component("null")


def _sparser(sets: Sets, few: Sets, found: Average, family: Family, rule: str) -> Submodel:
    """Return the sparse answer; how close it must be is what cross-validation can tell.

    ``few`` are the rows with the same sums, in which columns are looked for.
    """
    rows, _ = sets.tested
    if sets.family.constant_weights:
        counts, weights = sets.counts[rows], few.counts
        losses = (sets.y[rows] - found.predicted) ** 2
    else:
        sigma2 = float(found.weights @ [one.sigma2 for one in found.judged])
        losses, counts = sets.row_losses(family, found.predicted, sigma2)
        losses = np.minimum(2.0 * losses, HUGE)
        eta = sets.eta(found.coef[:, None], np.array([found.intercept]))[:, 0]
        weights = sets.counts * information(family, sets.y, eta, sigma2)
    total = float(counts.sum())
    mean = float(counts @ losses) / total
    size = float(sets.counts[np.unique(rows)].sum())
    error = float(np.sqrt(counts @ (losses - mean) ** 2 / total / size))
    if sets.condensed:  # squares of single errors are not known: those of a normal one have this spread
        error = mean * float(np.sqrt(2.0 / size))
    if rule == "paired":
        error = PAIRED * (mean if sets.family.constant_weights else 1.0) / size
    error *= doubt(found.evidence)
    scale = float(weights.sum()) / float(sets.counts.sum())  # `summarise` has the mean over the weights
    share = MOST_LEFT if found.evidence > BEYOND_DOUBT else 1.0
    return summarise(
        few.columns, found.coef, found.intercept, weights, error / scale, sets.center, share, sets.groups
    )


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
