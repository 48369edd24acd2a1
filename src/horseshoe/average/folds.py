"""Which rows are left out together: folds of our own, or those of any splitter of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.average.sets import Fold
from horseshoe.data.responses import lean
from horseshoe.data.rows import Rows
from horseshoe.data.view import View

# Significant digits of what rows are ordered by: the order must not hang on rounding.
DIGITS = 9
# With fewer different rows than this times the folds, and more copies of each than that on average, copies of
# a row may be in several folds: otherwise a fold would lack whole patterns.
FEW_KINDS, COPIES = 3, 4


def own_folds(rows: Rows, columns: View, k: int, seed: Any) -> tuple[Fold, ...]:
    """Return k folds in which the response is spread evenly, and copies of a row stay together.

    ``rows.y`` is what the columns are to explain. Rows are sorted by it, and among equal y by X X'y of the
    standardised ``columns``, towards the longer tail; of each k in a row every fold gets one, which one is
    drawn. So the folds depend neither on the order of the rows and columns nor on their units, nor on the
    sign of y, and a row of weight 2 is the same as two rows.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> y = np.array([9.0, 1.0, 4.0, 2.0])
    >>> rows = Rows(Dense(y[:, None]), y, None, np.zeros(4))
    >>> [test.tolist() for _, test in own_folds(rows, rows.columns, 2, seed=0)]
    [[1, 2], [0, 3]]
    >>> [test.tolist() for _, test in own_folds(rows._replace(y=-y), rows.columns, 2, seed=0)]
    [[1, 2], [0, 3]]
    """
    n = rows.y.size
    if k > n:
        raise ValueError(f"cv={k} is more than the {n} rows: ask for at most {n} folds")
    centred = rows.y - np.average(rows.y, weights=rows.counts)
    y, among_equals = _rounded(centred), np.zeros(n)
    if np.any(np.diff(np.sort(y)) == 0.0) or not lean(y, rows.counts):
        among_equals = _rounded(np.asarray(columns.matvec(columns.rmatvec(rows.counts * centred))))
    sign = -1.0 if (lean(y, rows.counts) or lean(among_equals, rows.counts)) < 0.0 else 1.0
    order, kind = _kinds(sign * y, sign * among_equals, rows.counts)
    if kind[-1] + 1 < max(k, min(FEW_KINDS * k, float(rows.counts.sum()) / COPIES)):
        kind = np.arange(n)
    draw = np.random.default_rng(seed)
    blocks = -(-(int(kind[-1]) + 1) // k)
    fold_of_kind = np.concatenate([draw.permutation(k) for _ in range(blocks)])
    fold = np.empty(n, dtype=int)
    fold[order] = fold_of_kind[kind]
    return tuple((np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(k))


def fair_codes(codes: Vector, counts: Vector, columns: View) -> Vector:
    """Return the class of each row as a number that does not depend on what classes are called.

    The smallest class comes first; of equally large ones that whose mean is nearest to that of all rows.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> fair_codes(np.array([0.0, 0.0, 1.0, 2.0]), np.ones(4), Dense(np.array([[-4.0], [0.0], [3.0], [1.0]])))
    array([2., 2., 1., 0.])
    """
    _, places = np.unique(codes, return_inverse=True)
    inside = (places[:, None] == np.arange(places.max() + 1)).astype(np.float64)
    size = counts @ inside
    far = np.square(np.asarray(columns.rmatvec(counts[:, None] * inside)) / size).sum(axis=0)
    rank = np.empty(size.size)
    rank[np.lexsort((_rounded(far), _rounded(size)))] = np.arange(size.size)
    return np.asarray(rank[places])


def _kinds(y: Vector, spread: Vector, counts: Vector) -> tuple[Any, Any]:
    """Return the order of the rows, copies by their weights, and the number of the kind of each in it."""
    order = np.lexsort((counts, spread, y))
    new = (np.diff(y[order]) != 0.0) | (np.diff(spread[order]) != 0.0)
    return order, np.concatenate([[0], np.cumsum(new)])


def _rounded(values: Vector) -> Vector:
    """Return values with so many digits, in units of the largest: sums in another order differ beyond."""
    unit = float(np.abs(values).max())
    return np.round(values / unit, DIGITS) if unit > 0.0 else np.zeros_like(values)


def given_folds(cv: Any, rows: Rows, X: Any, labels: Any, groups: Any) -> tuple[Fold, ...]:
    """Return the folds of a splitter, or of pairs of rows to learn from and rows to predict.

    Rows without weight are not among ``rows``: they are taken out of the folds.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from horseshoe.data.dense import Dense
    >>> rows = Rows(Dense(np.zeros((4, 1))), np.arange(4.0), None, np.zeros(4))
    >>> [test.tolist() for _, test in given_folds(KFold(2), rows, np.zeros((4, 1)), rows.y, None)]
    [[0, 1], [2, 3]]
    """
    if hasattr(cv, "split") and not isinstance(cv, str):
        if groups is not None and np.unique(np.asarray(groups)).size == 1:
            raise ValueError("groups has one label only, so that no group can be left out: give two or more")
        pairs = list(cv.split(X, labels, groups))
    else:
        try:
            pairs = [(train, test) for train, test in cv]
        except (TypeError, ValueError):
            raise TypeError(
                f"cv={cv!r} is neither a number of folds, nor a splitter of scikit-learn, nor pairs of "
                "rows to learn from and rows to predict"
            ) from None
    place = np.full(len(labels), -1)
    place[np.arange(len(labels)) if rows.number is None else rows.number] = np.arange(rows.y.size)
    found = []
    for number, (train, test) in enumerate(pairs):
        train, test = (_places(place, which, number) for which in (train, test))
        both = np.intersect1d(train, test)
        if both.size:
            raise ValueError(
                f"fold {number} of cv learns from row {int(np.flatnonzero(place == both[0])[0])}, which "
                "it is to predict: its error would be too small; use a splitter that keeps them apart"
            )
        found.append((train, test))
    return tuple(found)


def _places(place: Any, which: Any, number: int) -> Any:
    which = np.asarray(which)
    if which.ndim != 1 or (which.size and which.dtype.kind not in "iub"):
        raise ValueError(f"fold {number} of cv must have row numbers or masks, not {which!r:.60}")
    if which.dtype == bool:
        if which.size != place.size:
            raise ValueError(f"fold {number} of cv has a mask of {which.size} rows, but X has {place.size}")
        which = np.flatnonzero(which)
    if which.size and (which.min() < -place.size or which.max() >= place.size):
        raise ValueError(f"fold {number} of cv has a row beyond the {place.size} rows of X")
    found = place[which.astype(int)]
    return found[found >= 0]


def check_folds(folds: tuple[Fold, ...], y: Vector, varies: bool) -> tuple[Fold, ...]:
    """Return the folds, or say which of them nothing can be learned from, and what to do.

    Examples
    --------
    >>> check_folds((([0], [1]), ([1], [0])), np.array([1.0, 2.0]), True)
    Traceback (most recent call last):
    ValueError: fold 0 of cv leaves 1 row to learn from: use fewer folds, or larger training sets
    """
    if len(folds) < 2:
        folds_are = "1 fold" if folds else "0 folds"
        raise ValueError(f"cv has {folds_are}: at least two are needed, and ten are usual")
    for number, (train, test) in enumerate(folds):
        if len(train) < 2:
            rows = f"{len(train)} row{'' if len(train) == 1 else 's'}"
            raise ValueError(
                f"fold {number} of cv leaves {rows} to learn from: use fewer folds, or larger training sets"
            )
        if len(test) == 0:
            raise ValueError(f"fold {number} of cv has no row to predict: use fewer folds")
        if varies and np.ptp(y[train]) == 0.0:
            raise ValueError(
                f"without fold {number} of cv all rows have the same response, so nothing can be learned: "
                "use fewer folds, or a splitter that spreads the response (StratifiedKFold for classes)"
            )
    return folds


def check_classes(folds: tuple[Fold, ...], codes: Any, classes: Any) -> tuple[Fold, ...]:
    """Return the folds, or say which of them learns nothing of a class.

    Examples
    --------
    >>> check_classes((([0, 1], [2]), ([1, 2], [0])), np.array([0, 1, 0]), np.array(["a", "b"]))
    (([0, 1], [2]), ([1, 2], [0]))
    """
    for number, (train, _) in enumerate(folds):
        missing = np.setdiff1d(np.arange(classes.size), codes[train])
        if missing.size:
            label = classes[missing].tolist()[0]
            raise ValueError(
                f"without fold {number} of cv no row is of the class {label!r}: "
                "use fewer folds, or a splitter that spreads the classes (StratifiedKFold), and leave out a "
                "class of one row"
            )
    return folds


def check_events(folds: tuple[Fold, ...], events: Any) -> tuple[Fold, ...]:
    """Return the folds, or say which of them learns of no event, or that none is left out.

    Examples
    --------
    >>> check_events((([0], [1]), ([1], [0])), np.array([True, False]))
    Traceback (most recent call last):
    ValueError: without fold 1 of cv no row has its event: use fewer folds, or a splitter that spreads the \
events (StratifiedKFold)
    """
    for number, (train, _) in enumerate(folds):
        if not events[train].any():
            raise ValueError(
                f"without fold {number} of cv no row has its event: use fewer folds, or a splitter that "
                "spreads the events (StratifiedKFold)"
            )
    if not any(events[test].any() for _, test in folds):
        raise ValueError("no fold of cv leaves out an event, and nothing can be judged: leave out others")
    return folds
