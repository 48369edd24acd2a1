"""From the rows to the averaged answer to classes that are fitted together, in the user's units.

The components are weighed, and the average is shrunk, by the softmax likelihood of the rows left out. What
follows is an answer for each class. Given the linear predictors of the others, class k against the rest is a
binomial regression with the offset -log sum of their exponentials: so far as an answer needs the rows, it has
these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.components import chosen_components, prior_of
from horseshoe.average.fit import (
    BEYOND_DOUBT,
    MOST_LEFT,
    PAIRED,
    check_room,
    doubt,
    fit_components,
    recorded,
    restored,
)
from horseshoe.average.folds import check_folds
from horseshoe.average.inclusion import inclusion
from horseshoe.average.result import AverageFit, Progress
from horseshoe.average.sets import Fits, Fold, Sets, sizes, summed
from horseshoe.average.shared.batch import Cube
from horseshoe.average.shared.class_components import ClassFitting
from horseshoe.average.shared.classes import ClassFits, ClassSets, best_flat, curvature, shares
from horseshoe.average.submodel import Submodel, summarise
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
from horseshoe.average.weights import COSTS, MOST_GAIN, SLOPES, Average, Judged, gains, half_and_half, weigh
from horseshoe.data.rows import Rows
from horseshoe.data.structure import Structure
from horseshoe.families import Binomial
from horseshoe.families.deviance import Deviance
from horseshoe.model.fingerprint import check_rows_fingerprint
from horseshoe.model.spec import ModelSpec, Prepared, prepare
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread


class ClassAverage(NamedTuple):
    """As `horseshoe.average.weights.Average`, of all classes.

    ``coef`` (p, T, q), ``intercept`` (T, q) and ``free`` (r, T, q), what is always in, are those of every
    set, ``predicted`` (rows, q) is what is said of the rows left out.
    """

    judged: tuple[Judged, ...]
    weights: Vector
    slope: float
    evidence: float
    coef: Cube
    intercept: Matrix
    predicted: Matrix
    inclusion: Vector
    free: Cube


class ClassAnswer(NamedTuple):
    """What is said of all rows: coefficients (p, q), intercepts (q,), and what is always in (r, q)."""

    coef: Matrix
    intercept: Vector
    free: Matrix

    def eta(self, sets: ClassSets) -> Matrix:
        """Return the linear predictors."""
        seen = sets.base.columns.matvec(self.coef) + self.intercept
        return np.asarray(seen if sets.basis is None else seen + sets.basis @ self.free)


def fit_class_average(
    rows: Rows,
    n_classes: int,
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
    chosen = np.eye(n_classes)[rows.y.astype(int)]
    each = [rows._replace(y=one.copy()) for one in chosen.T]
    prepared = prepare(replace(spec, structure=structure), each[0])
    columns = prepared.design.columns
    with one_thread():
        pairs = check_folds(folds(prepared) if callable(folds) else folds, rows.y, varies=True)
        check_room(columns.shape, len(pairs) * n_classes)
        y, groups = each[0].y, prepared.groups
        base = Sets(columns, y, prepared.offset, rows.counts, pairs, spec.family, fit_intercept, groups)
        free = prepared.design.free
        sets = ClassSets(base, chosen, None if free is None else free.basis)
        names = chosen_components(names, plain=False)
        if checkpoint is not None:
            said = {"components": names, "selection": rule, **vars(spec), "structure": structure}
            check_rows_fingerprint(
                checkpoint, said, rows, prepared.design, *(part for pair in pairs for part in pair)
            )
        fitting = ClassFitting(sets, n_jobs, checkpoint)
        kept, fits = fit_components(fitting.component, names, callback)
        found = average_classes(sets, tuple(fits), prior_of(kept))
        answer = _answer(sets, found)
        sparser, ridge = _sparser(sets, found, answer, rule), _sizes(fitting.component("ridge"))
        answers, given = [], []
        for k, own in enumerate(each):
            part, average, offset = _of_class(sets, found, answer, k)
            alone = [_fits(one, base, k) for one in fits]
            whole = restored(
                prepared, part, kept, alone, average, sparser[k], inclusion(average, ridge, base)
            )
            answers.append(replace(whole, structure=structure))
            given.append(own._replace(offset=offset))
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
    sets: ClassSets,
    answer: Any,
) -> list[AverageFit]:
    """Return the answers of all classes with the columns that are always in back in their places."""
    sparser = [one.sparser.coef for one in answers if one.sparser is not None]
    fewer = _beside(sets, np.column_stack(sparser))
    std, found = None, []
    for k, (one, rows) in enumerate(zip(answers, given, strict=True)):
        both = [
            in_place(prepared, each.coef[:, k], each.free[:, k], float(each.intercept[k]))
            for each in (answer, fewer)
        ]
        (coef, intercept), (sparse, _) = both
        std = _errors(sets, answer, in_model(rows, places, sparse)) if std is None else std
        unpenalized = unpenalized_of(prepared, places, own_part(prepared, answer.free[:, k]).coef)
        eta = rows.columns.matvec(coef) + intercept + rows.offset
        found.append(insert_unpenalized(one, unpenalized._replace(std=std[k]), both, rows, eta))
    return found


def _errors(sets: ClassSets, answer: ClassAnswer, columns: InModel) -> Matrix:
    """Return the standard errors of what is always in, of all classes, whose coefficients add up to zero."""
    counts, around = sets.base.counts, centred(columns.columns, sets.base.counts)
    spread = np.sqrt(counts @ around**2 / counts.sum())
    unit = np.where(spread > 0.0, spread, 1.0)
    ones = np.ones((counts.size, int(sets.base.center)))
    share, _ = shares(answer.eta(sets))
    beside = around if sets.base.center else columns.columns  # intercepts make up for a shift
    inner = curvature(share, counts, np.hstack([ones, beside / unit]))
    std = errors(inner).reshape(sets.size, -1)[:, ones.shape[1] :]
    return np.asarray((std / (unit * columns.size))[:, columns.own])


def _answer(sets: ClassSets, found: ClassAverage) -> ClassAnswer:
    """Return what the average says: what is always in is fitted once more beside it."""
    even = sets.base.even
    coef, level = half_and_half(found.coef.swapaxes(1, 2), even), half_and_half(found.intercept.T, even)
    return ClassAnswer(coef, level, found.free[:, -1]) if sets.basis is None else _beside(sets, coef)


def _beside(sets: ClassSets, coef: Matrix) -> ClassAnswer:
    """Return coefficients with the best intercepts, and what is always in, beside them."""
    seen = np.asarray(sets.base.columns.matvec(coef))
    flat = best_flat(sets.chosen, seen, sets.base.counts, sets.flat)
    first = int(sets.base.center)
    return ClassAnswer(coef, flat[0] if first else np.zeros(sets.size), flat[first:])


def average_classes(
    sets: ClassSets, components: tuple[ClassFits, ...], prior: Vector | None = None
) -> ClassAverage:
    """Weigh the components by the softmax likelihood of rows left out, and put them together."""
    judged, together = _judge_all(sets, components)
    weights = weigh(np.array([one.loss for one in judged]), together, prior)
    parts = list(zip(weights, components, strict=True))
    coef = np.asarray(sum(w * fits.coef for w, fits in parts))
    intercept = np.asarray(sum(w * fits.intercept for w, fits in parts))
    selecting = [(w, fits.inclusion) for w, fits in parts if not np.isnan(fits.inclusion).any()]
    total = sum(w for w, _ in selecting)
    inclusion = np.zeros(coef.shape[0])
    if total > 0.0:
        inclusion = np.asarray(sum(w * half_and_half(one, sets.base.even) for w, one in selecting) / total)
    free, (level, own) = np.asarray(sum(w * fits.free for w, fits in parts)), sets.alone
    slope, evidence = _shrinkage(sets, coef, intercept, free)
    coef, intercept, free = slope * coef, level + slope * (intercept - level), own + slope * (free - own)
    predicted = sets.left_out(sets.seen(coef) + intercept + sets.known(free))
    return ClassAverage(judged, weights, slope, evidence, coef, intercept, predicted, inclusion, free)


def _judge_all(sets: ClassSets, components: tuple[ClassFits, ...]) -> tuple[tuple[Judged, ...], Matrix]:
    """Return what `horseshoe.average.weights.judge_all` does, of all classes."""
    etas = [sets.eta(fits) for fits in components]
    judged = tuple(_judge(sets, fits, eta) for fits, eta in zip(components, etas, strict=True))
    base = sets.base
    if base.large.size < len(base.folds):
        few = replace(sets, base=base.largest)
        found, together = _judge_all(few, tuple(fits.only(base.large_and_all) for fits in components))
        return tuple(b._replace(error=a.error) for a, b in zip(judged, found, strict=True)), together
    return judged, gains([sets.left_out(eta) for eta in etas], lambda predicted, *_: _lost(sets, predicted))


def _judge(sets: ClassSets, fits: ClassFits, eta: Cube) -> Judged:
    """Return how well a component predicts the rows that its fits have not seen."""
    loss = _lost(sets, sets.left_out(eta))
    told = float(sets.base.counts @ shares(eta.mean(axis=1))[1])
    gain = min(0.5 * told * _variance_gain(sets, fits.coef, eta), MOST_GAIN * abs(loss))
    return Judged(2.0 * loss / sizes(sets.base)[0], loss - gain, 1.0)


def _lost(sets: ClassSets, predicted: Matrix) -> float:
    """Return minus the log-likelihood of the rows left out; one that is in two folds is still one."""
    (rows, _), (size, times) = sets.base.tested, sizes(sets.base)
    return size / times * summed(sets.base.counts[rows], sets.tested_losses(predicted))


def _variance_gain(sets: ClassSets, coef: Cube, fit: Cube) -> float:
    """Return the variance of fold fits around their mean, as `horseshoe.average.weights.variance_gain`."""
    if not sets.base.even:
        return 0.0
    counts = sets.base.counts
    spread = fit[:, :-1] - fit[:, :-1].mean(axis=1, keepdims=True)
    away = coef[:, :-1] - coef[:, :-1].mean(axis=1, keepdims=True)
    among_rows = float(counts @ (spread**2).sum(axis=2).mean(axis=1)) / float(counts.sum())
    return min(among_rows, float((away**2).sum(axis=(0, 2)).mean()))


def _shrinkage(sets: ClassSets, coef: Cube, intercept: Matrix, free: Cube) -> tuple[float, float]:
    """Return the slope by which the average is multiplied, and the likelihood ratio that speaks for it."""
    (rows, _), (size, times), (level, own) = sets.base.tested, sizes(sets.base), sets.alone
    counts, fit = sets.base.counts[rows], sets.seen(coef) + (intercept - level) + sets.known(free - own)
    start = np.zeros_like(fit) + level + sets.known(own)
    base, way = sets.left_out(start), sets.left_out(fit)
    power = float(counts @ (way**2).sum(axis=1)) / times
    if not power > 0.0:
        return 0.0, 0.0
    losses = [size / times * summed(counts, sets.tested_losses(base + slope * way)) for slope in SLOPES]
    best = int(np.argmin(losses))
    ratio = 2.0 * (losses[0] - losses[best])
    if not ratio > COSTS:
        return 0.0, ratio
    if not sets.base.even:
        return 1.0, ratio
    steadier = 1.0 / (1.0 - min(_variance_gain(sets, coef, fit) / power, MOST_GAIN))
    return float(min(SLOPES[best] * steadier, 1.0)), ratio


def _sparser(sets: ClassSets, found: ClassAverage, answer: ClassAnswer, rule: str) -> list[Submodel]:
    """Return the sparse answer of each class: the fewest columns that say the same of all of them."""
    base, (rows, _) = sets.base, sets.base.tested
    (size, times), counts = sizes(base), base.counts[rows]
    losses = 2.0 * sets.tested_losses(found.predicted)
    mean = float(counts @ losses) / times
    error = float(np.sqrt(counts @ (losses - mean) ** 2 / times / size))
    if rule == "paired":
        directions = sets.size - 1.0
        error = (directions + (PAIRED - 1.0) * np.sqrt(directions)) / size
    coef, level = answer.coef, answer.intercept
    weights = base.counts * shares(answer.eta(sets))[1]
    scale = float(weights.sum()) / float(base.counts.sum())
    error, share = error * doubt(found.evidence), MOST_LEFT if found.evidence > BEYOND_DOUBT else 1.0
    said = summarise(base.columns, coef, level, weights, error / scale, base.center, share, base.groups)
    levels: Any = said.intercept
    return [said._replace(coef=said.coef[:, k].copy(), intercept=float(levels[k])) for k in range(sets.size)]


def _sizes(ridge: ClassFits) -> Fits:
    """Return the sizes of the ridge coefficients over all classes, as if of one regression."""
    size = np.sqrt((ridge.coef[:, :-1].mean(axis=1) ** 2).sum(axis=1))
    return Fits(np.repeat(size[:, None], 2, axis=1), np.zeros(2), np.ones(2), np.zeros((size.size, 2)), ())


def _fits(fits: ClassFits, base: Sets, k: int) -> Fits:
    """Return the fits of one class."""
    one = np.ones(base.n_sets)
    return Fits(fits.coef[..., k], fits.intercept[:, k], one, fits.inclusion, (base.family,) * base.n_sets)


def _of_class(
    sets: ClassSets, found: ClassAverage, answer: ClassAnswer, k: int
) -> tuple[Sets, Average, Vector]:
    """Return the training sets and the average of one class, and its offset given the others.

    What is always in is a part of the offset of the sets.
    """
    others = [other for other in range(sets.size) if other != k]
    part = ClassAnswer(answer.coef[:, others], answer.intercept[others], answer.free[:, others])
    offset = -logsumexp(part.eta(sets), axis=1)
    known = 0.0 if sets.basis is None else sets.basis @ answer.free[:, k]
    average = Average(
        found.judged,
        found.weights,
        found.slope,
        found.evidence,
        answer.coef[:, k].copy(),
        float(answer.intercept[k]),
        found.coef[:, :-1, k].copy(),
        found.intercept[:-1, k].copy(),
        found.predicted[:, k] - logsumexp(found.predicted[:, others], axis=1),
        found.inclusion,
    )
    return replace(sets.base, y=sets.chosen[:, k].copy(), offset=offset + known), average, offset


def _with_losses(whole: AverageFit, sets: ClassSets, found: ClassAverage, answer: ClassAnswer) -> AverageFit:
    """Return an answer whose deviance and cross-validated error are those of all classes together."""
    counts, (rows, _) = sets.base.counts, sets.base.tested
    share = np.log(counts @ sets.chosen / counts.sum())

    def total(weights: Vector, chosen: Matrix, losses: Vector) -> Deviance:
        return Deviance(2.0 * float(weights @ losses), -2.0 * float(weights @ (chosen @ share)))

    left = sets.tested_losses(found.predicted)
    record = whole.record._replace(
        deviance=total(counts, sets.chosen, sets.losses(answer.eta(sets))),
        cv_deviance=total(counts[rows], sets.chosen[rows], left),
    )
    whole = replace(whole, record=record)
    whole.__dict__["cv_error"] = 2.0 * float(counts[rows] @ left) / float(counts[rows].sum())
    return whole
