"""Many rows of each fold as few, with the same sums: what components of a Gaussian average are fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from horseshoe.average.sets import Sets
from horseshoe.average.weights import Average
from horseshoe.data.compressed import LEAST_LEFT, MANY_ROWS, PER_COLUMN, condensed
from horseshoe.data.dense import Dense
from horseshoe.data.products import CrossProducts


def compress_folds(sets: Sets) -> Sets:
    """Return few rows in the place of many in each fold of a Gaussian response, or the sets as they are.

    They stay as they are where rows are not many, where a row is in no fold or in several, or where columns
    leave hardly anything of y: then the sums have too few digits of the noise. Columns that are far away are
    then held in memory, if they take little of it: components pass over them hundreds of times.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> x, y, fold = rng.standard_normal((6000, 2)), rng.standard_normal(6000), np.arange(6000) % 2
    >>> folds = tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(2))
    >>> compress_folds(Sets(Dense(x), y, np.zeros(6000), np.ones(6000), folds, Gaussian())).y.size
    8
    """
    if not _worth(sets):
        return _held(sets)
    found = []
    for sums in _sums(sets):
        if sums is None or not sums.is_usable:
            return _held(sets)
        few, left = condensed(sums)
        if left <= LEAST_LEFT:
            return _held(sets)
        found.append(few)
    columns = Dense(np.asfortranarray(np.vstack([few.columns.dense() for few in found])))
    y = np.concatenate([few.y + few.level for few in found])
    counts = np.concatenate([few.counts for few in found])
    fold = np.repeat(np.arange(len(found)), [few.y.size for few in found])
    folds = tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(len(found)))
    offset = np.zeros_like(y)
    return replace(sets, columns=columns, y=y, offset=offset, counts=counts, folds=folds, condensed=True)


def _held(sets: Sets) -> Sets:
    """Return the sets with columns in memory, if these say that there is room: see `Chunked.take`."""
    if not sets.columns.remote:
        return sets
    return replace(sets, columns=sets.columns.take(np.ones(sets.columns.shape[1], dtype=np.bool_)))


def _sums(sets: Sets) -> Iterator[CrossProducts | None]:
    """Yield the sums of each fold; where a pass is dear, one is all they take."""
    y, counts = sets.y - sets.offset, None if (sets.counts == 1.0).all() else sets.counts
    with np.errstate(over="ignore", invalid="ignore"):
        if sets.columns.fuses_passes:
            fold = np.empty(y.size, dtype=np.intp)
            fold[sets.tested[0]] = sets.tested[1]
            yield from sets.columns.cross_products_by(fold, len(sets.folds), y, counts)
            return
        for _, test in sets.folds:
            yield sets.columns.rows(test).cross_products(y[test], None if counts is None else counts[test])


def _worth(sets: Sets) -> bool:
    """Tell whether rows are many, and each is predicted once, from all that are not predicted with it."""
    n, p = sets.columns.shape
    few = len(sets.folds) * (p + 2)
    least = few if sets.columns.remote else max(MANY_ROWS, PER_COLUMN * few)
    if not sets.family.constant_weights or n < least:
        return False
    once = np.bincount(sets.tested[0], minlength=n)
    return bool((once == 1).all()) and all(len(train) + len(test) == n for train, test in sets.folds)


def repredict(sets: Sets, found: Average) -> Average:
    """Return the average with what it predicts of the rows themselves."""
    rows, folds = sets.tested
    return found._replace(predicted=sets.eta(found.fold_coef, found.fold_intercept)[rows, folds])
