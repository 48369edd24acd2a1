"""From the rows to the averaged answers to several responses, in the user's units.

Everything is as for one response, but for three things: the components share columns, one weight a component
is taken from the likelihood of all responses together, and columns enter the sparse answers together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from horseshoe.average.components import chosen_components, prior_of
from horseshoe.average.fit import (
    BEYOND_DOUBT,
    MOST_LEFT,
    PAIRED,
    check_room,
    doubt,
    fit_average,
    fit_components,
    nothing_to_fit,
    recorded,
    restored,
    with_unpenalized,
)
from horseshoe.average.folds import check_folds
from horseshoe.average.inclusion import inclusion
from horseshoe.average.result import AverageFit, Progress
from horseshoe.average.sets import Fits, Fold, Sets
from horseshoe.average.shared.components import SharedFitting
from horseshoe.average.submodel import Submodel, summarise
from horseshoe.average.unpenalized import Unpenalized, alone, known_part, unpenalized_of
from horseshoe.average.weights import Average, averaged, judge_all, weigh
from horseshoe.data.rows import Rows
from horseshoe.data.structure import Structure
from horseshoe.families import Family
from horseshoe.model.fingerprint import check_rows_fingerprint
from horseshoe.model.spec import ModelSpec, Prepared, prepare
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread

NO_ERROR = 1e-300
"""The least cross-validated error in whose unit distances are measured."""


class _Task(NamedTuple):
    """One response made ready: the rows as they are given, as they are fitted, and what is always in."""

    given: Rows
    rows: Rows
    prepared: Prepared
    unpenalized: Unpenalized | None


def fit_averages(
    rows: Sequence[Rows],
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
) -> tuple[AverageFit, ...]:
    """Fit every component to every training set of all Gaussian responses, and average; one answer for each.

    ``rows`` are the same but for y. A response that is constant has no say.

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
    tasks: dict[int, _Task] = {}
    for k, one in enumerate(rows):
        made = _made_ready(spec, one)
        if isinstance(made, AverageFit):
            answers[k] = replace(made, structure=structure)
        else:
            tasks[k] = made
    if len(tasks) == 1:
        options: dict[str, Any] = {"callback": callback, "n_jobs": n_jobs, "structure": structure}
        options |= {"names": names, "rule": rule, "fit_intercept": fit_intercept, "standardize": standardize}
        options["checkpoint"] = checkpoint
        answers |= {k: fit_average(task.given, family, folds, **options) for k, task in tasks.items()}
    elif tasks:
        with one_thread():
            each = _sets(list(tasks.values()), family, folds, fit_intercept)
            names = chosen_components(names, plain=False)
            if checkpoint is not None:
                _check_fingerprint(
                    checkpoint, {"components": names, "selection": rule, **vars(spec)}, tasks, each
                )
            fitting = SharedFitting(each, n_jobs, checkpoint)
            kept, fits = fit_components(fitting.component, names, callback)
            founds = _averaged(each, fits, kept)
            sparser = _sparser(each, founds, rule)
            for o, (k, task) in enumerate(tasks.items()):
                own = [component[o] for component in fits]
                included = inclusion(founds[o], _ridge(fitting)[o], each[o])
                whole = restored(task.prepared, each[o], kept, own, founds[o], sparser[o], included)
                whole = replace(whole, structure=structure)
                whole = (
                    whole
                    if task.unpenalized is None
                    else with_unpenalized(whole, task.unpenalized, spec, task.given)
                )
                answers[k] = recorded(whole, task.prepared, task.given, task.rows)
    return tuple(answers[k] for k in range(len(rows)))


def _check_fingerprint(
    checkpoint: CheckpointSection, settings: dict[str, Any], tasks: dict[int, _Task], each: tuple[Sets, ...]
) -> None:
    """Refuse a checkpoint of other settings, columns, responses or folds."""
    first, *others = tasks.values()
    responses = [task.given.y for task in others]
    rows = [part for pair in each[0].folds for part in pair]
    check_rows_fingerprint(checkpoint, settings, first.given, first.prepared.design, *responses, *rows)


def _made_ready(spec: ModelSpec, rows: Rows) -> _Task | AverageFit:
    """Return a response made ready, or its answer where there is nothing to fit."""
    prepared, given, beside = prepare(spec, rows), rows, None
    nothing = nothing_to_fit(rows, spec, prepared)
    if nothing is not None:
        return recorded(nothing, prepared, rows, rows)
    if spec.structure is not None and spec.structure.unpenalized is not None:
        unpenalized = spec.structure.unpenalized
        own = alone(spec, rows, unpenalized).coef
        rows = known_part(rows, unpenalized, own)
        prepared = prepare(spec, rows)
        beside = unpenalized_of(prepared, unpenalized, own)
    return _Task(given, rows, prepared, beside)


def _sets(tasks: list[_Task], family: Family, folds: Any, center: bool) -> tuple[Sets, ...]:
    """Return the training sets of each response: all have the columns of the first."""
    first = tasks[0].prepared
    columns = first.design.columns
    pairs = folds(first) if callable(folds) else folds
    check_room(columns.shape, len(pairs) * len(tasks))
    found = []
    for task in tasks:
        values = task.prepared.response.values
        check_folds(pairs, values, varies=True)
        counts, offset = task.rows.counts, task.prepared.offset
        found.append(Sets(columns, values, offset, counts, pairs, family, center, first.groups))
    return tuple(found)


def _ridge(fitting: SharedFitting) -> tuple[Fits, ...]:
    """Return the ridge fits; where these fail, as a component that is left out may, fits of nothing."""
    try:
        return fitting.component("ridge")
    except (np.linalg.LinAlgError, FloatingPointError):
        return fitting.component("null")


def _averaged(
    each: tuple[Sets, ...], fits: list[tuple[Fits, ...]], names: tuple[str, ...]
) -> tuple[Average, ...]:
    """Return the average of each response, the components weighed by the loss of all of them together."""
    own = [tuple(component[o] for component in fits) for o in range(len(each))]
    found = [judge_all(sets, components) for sets, components in zip(each, own, strict=True)]
    losses = np.array([[one.loss for one in judged] for judged, _ in found]).sum(axis=0)
    weights = weigh(losses, np.sum([together for _, together in found], axis=0), prior_of(names))
    rows = zip(each, own, found, strict=True)
    return tuple(averaged(sets, components, judged, weights) for sets, components, (judged, _) in rows)


def _sparser(each: tuple[Sets, ...], founds: tuple[Average, ...], rule: str) -> list[Submodel]:
    """Return the sparse answer to each response: the fewest columns that say the same of all of them.

    Each is measured in units of its cross-validated error; how close they must be together is what
    cross-validation can tell of the sum.
    """
    sets, (rows, _) = each[0], each[0].tested
    counts = sets.counts[rows]
    total, size = float(counts.sum()), float(sets.counts[np.unique(rows)].sum())
    losses = np.column_stack(
        [(one.y[rows] - found.predicted) ** 2 for one, found in zip(each, founds, strict=True)]
    )
    unit = np.sqrt(np.maximum(counts @ losses / total, NO_ERROR))
    losses = (losses / unit**2).sum(axis=1)
    mean = float(counts @ losses) / total
    error = float(np.sqrt(counts @ (losses - mean) ** 2 / total / size))
    if rule == "paired":  # of a column that says nothing they are q, and scatter by the root of it
        error = (mean + (PAIRED - 1.0) * np.sqrt(mean)) / size
    evidence = sum(found.evidence for found in founds)
    error, share = error * doubt(evidence), MOST_LEFT if evidence > BEYOND_DOUBT else 1.0
    coef = np.column_stack([found.coef for found in founds]) / unit
    level = np.array([found.intercept for found in founds]) / unit
    said = summarise(sets.columns, coef, level, sets.counts, error, sets.center, share, sets.groups)
    levels: Any = said.intercept
    return [
        said._replace(coef=said.coef[:, o] * one, intercept=float(levels[o] * one))
        for o, one in enumerate(unit)
    ]
