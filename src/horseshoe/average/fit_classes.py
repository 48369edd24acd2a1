"""From the rows to the averaged answer to classes that are fitted together, in the user's units.

The components are weighed, and the average is shrunk, by the softmax likelihood of the rows left out. What
follows is an answer for each class. Given the linear predictors of the others, class k against the rest is a
binomial regression with the offset -log sum of their exponentials: where an answer needs the rows, it has
these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.components import Fitting, chosen_components, prior_of
from horseshoe.average.fit import (
    Folds,
    check_room,
    fit_components,
    fit_submodels,
    recorded,
    restored,
    ridge_or_null,
)
from horseshoe.average.folds import check_folds
from horseshoe.average.inclusion import inclusion
from horseshoe.average.result import AverageFit, Progress
from horseshoe.average.sets import Sets
from horseshoe.average.softmax_sets import SoftmaxSets, best_flat, information_matrix, softmax_and_weight
from horseshoe.average.unpenalized import (
    InModel,
    centred,
    errors,
    in_model,
    in_place,
    insert_unpenalized,
    own_part,
    unpenalized_of,
)
from horseshoe.average.weights import Average, average
from horseshoe.data.rows import Rows
from horseshoe.data.structure import Structure
from horseshoe.families import Binomial
from horseshoe.families.deviance import Deviance
from horseshoe.model.spec import ModelSpec, Prepared, check_rows_fingerprint, prepare
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread


class _Answer(NamedTuple):
    """Coefficients (q, p), intercepts (q,), and unpenalised coefficients (q, r)."""

    coef: Matrix
    intercept: Vector
    free: Matrix

    def eta(self, sets: SoftmaxSets) -> Matrix:
        """Return the linear predictors (q, n)."""
        return np.asarray(sets.eta(*(values[..., None] for values in self))[..., 0])


def fit_class_average(
    rows: Rows,
    n_classes: int,
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
    """Fit components to every training set, all classes together, and average; one answer for each class.

    ``rows.y`` are the numbers of the classes.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 4))
    >>> codes = np.digitize(X[:, 1] + 0.5 * rng.standard_normal(90), [-0.5, 0.5])
    >>> folds = tuple((np.flatnonzero(np.arange(90) % 5 != f), np.arange(f, 90, 5)) for f in range(5))
    >>> found = fit_class_average(Rows(Dense(X), 1.0 * codes, None, np.zeros(90)), 3, folds)
    >>> np.flatnonzero(found[0].support), bool(found[0].coef[1] < found[1].coef[1] < found[2].coef[1])
    (array([1]), True)
    """
    spec = ModelSpec(Binomial(), Horseshoe(), FixedScale(1.0), 2.0, "estimate", fit_intercept, standardize)
    spec = replace(spec, structure=structure)
    chosen = np.eye(n_classes)[:, rows.y.astype(int)]
    (prepared,) = prepare(spec, [rows._replace(y=chosen[0].copy())])
    columns, basis = prepared.design.columns, prepared.design.free
    with one_thread():
        pairs = check_folds(folds(prepared) if callable(folds) else folds, rows.y, varies=True)
        check_room(columns.shape, len(pairs) * n_classes)
        own: dict[str, Any] = {"center": fit_intercept, "groups": prepared.groups, "chosen": chosen}
        own["basis"] = None if basis is None else basis.basis
        sets = SoftmaxSets(columns, rows.y, prepared.offset, rows.counts, pairs, spec.family, **own)
        names = chosen_components(names, plain=False)
        if checkpoint is not None:
            said = {"components": names, "selection": rule, **vars(spec)}
            parts = [part for pair in pairs for part in pair]
            check_rows_fingerprint(checkpoint, said, rows, prepared.design, *parts)
        fitting = Fitting(sets, n_jobs, checkpoint)
        kept, fits = fit_components(fitting.component, names, callback)
        (found,) = average(sets, tuple(fits), prior_of(kept))
        answer = _answer(sets, found)
        level: Any = answer.intercept
        found = found._replace(intercept=level)
        submodels = fit_submodels(sets, sets, [found], sets.family, rule, answer.free)
        included = inclusion(found, ridge_or_null(fitting), sets)
        answers, given = [], []
        for k, submodel in enumerate(submodels):
            part, mine, offset = _of_class(sets, found, answer, k)
            whole = restored(prepared, part, kept, sets.family, mine, submodel, included)
            answers.append(replace(whole, structure=structure))
            given.append(rows._replace(y=chosen[k].copy(), offset=offset))
        if structure is not None and structure.unpenalized is not None:
            answers = _with_unpenalized(answers, structure.unpenalized, prepared, given, sets, answer)
        return tuple(
            _with_losses(recorded(one, prepared, part, part), sets, found, answer)
            for one, part in zip(answers, given, strict=True)
        )


def _with_unpenalized(
    answers: list[AverageFit],
    places: Mask,
    prepared: Prepared,
    given: list[Rows],
    sets: SoftmaxSets,
    answer: _Answer,
) -> list[AverageFit]:
    """Return the answers of all classes with the unpenalised columns back in their places."""
    sparse = np.array([one.sparser.coef for one in answers if one.sparser is not None])
    fewer, std, found = _beside(sets, sparse), None, []
    for k, (one, rows) in enumerate(zip(answers, given, strict=True)):
        both = [
            in_place(prepared, each.coef[k], each.free[k], float(each.intercept[k]))
            for each in (answer, fewer)
        ]
        (coef, intercept), (sparse, _) = both
        std = _errors(sets, answer, in_model(rows, places, sparse)) if std is None else std
        unpenalized = unpenalized_of(prepared, places, own_part(prepared, answer.free[k]).coef)
        eta = rows.columns.matvec(coef) + intercept + rows.offset
        found.append(insert_unpenalized(one, unpenalized._replace(std=std[k]), both, rows, eta))
    return found


def _errors(sets: SoftmaxSets, answer: _Answer, columns: InModel) -> Matrix:
    """Return the standard errors of unpenalised coefficients of all classes, which add up to zero."""
    counts, around = sets.counts, centred(columns.columns, sets.counts)
    spread = np.sqrt(counts @ around**2 / counts.sum())
    unit = np.where(spread > 0.0, spread, 1.0)
    ones = np.ones((counts.size, int(sets.center)))
    share, _ = softmax_and_weight(answer.eta(sets))
    beside = around if sets.center else columns.columns  # intercepts make up for a shift
    inner = information_matrix(share, counts, np.hstack([ones, beside / unit]))
    std = errors(inner).reshape(len(share), -1)[:, ones.shape[1] :]
    return np.asarray((std / (unit * columns.size))[:, columns.own])


def _answer(sets: SoftmaxSets, found: Average) -> _Answer:
    """Return what the average says: unpenalised columns are fitted once more beside it."""
    if sets.basis is not None:
        return _beside(sets, found.coef)
    level: Any = found.intercept
    return _Answer(found.coef, level, np.zeros((len(level), 0)))


def _beside(sets: SoftmaxSets, coef: Matrix) -> _Answer:
    """Return coefficients with the best intercepts and unpenalised coefficients beside them."""
    fit = np.asarray(sets.columns.matvec(coef.T)).T
    flat = best_flat(sets.chosen, fit, sets.counts, sets.flat)
    first = int(sets.center)
    return _Answer(coef, flat[:, 0] if first else np.zeros(len(coef)), flat[:, first:])


def _of_class(sets: SoftmaxSets, found: Average, answer: _Answer, k: int) -> tuple[Sets, Average, Vector]:
    """Return the training sets and the average of one class, and its offset given the others.

    What unpenalised columns explain is a part of the offset of the sets.
    """
    others = np.arange(len(sets.chosen)) != k
    offset = -logsumexp(_Answer(*(values[others] for values in answer)).eta(sets), axis=0)
    known = 0.0 if sets.basis is None else sets.basis @ answer.free[k]
    fold_level: Any = found.fold_intercept
    mine = found._replace(
        coef=answer.coef[k].copy(),
        intercept=float(answer.intercept[k]),
        fold_coef=found.fold_coef[k].copy(),
        fold_intercept=fold_level[k].copy(),
        predicted=found.predicted[k] - logsumexp(found.predicted[others], axis=0),
    )
    return sets.of_class(k, offset + known), mine, offset


def _with_losses(whole: AverageFit, sets: SoftmaxSets, found: Average, answer: _Answer) -> AverageFit:
    """Return an answer whose deviance and cross-validated error are those of all classes together."""
    counts, (rows, _) = sets.counts, sets.tested
    log_share = np.log(sets.chosen @ counts / counts.sum())

    def total(weights: Vector, chosen: Matrix, losses: Vector) -> Deviance:
        return Deviance(2.0 * float(weights @ losses), -2.0 * float((log_share @ chosen) @ weights))

    left, weights = sets.row_losses(sets.family, found.predicted, 1.0)
    record = whole.record._replace(
        deviance=total(counts, sets.chosen, sets.losses(answer.eta(sets))),
        cv_deviance=total(weights, sets.chosen[:, rows], left),
    )
    whole = replace(whole, record=record)
    whole.__dict__["cv_error"] = 2.0 * float(weights @ left) / float(weights.sum())
    return whole
