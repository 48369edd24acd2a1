"""The sparse answer: the fewest columns that say what the averaged predictor says.

This is decoupled shrinkage and selection (Hahn and Carvalho 2015): first the best predictor, then the
smallest model that is close to it. Columns enter one at a time, each the one that brings the fit of those
chosen, by least squares, closest to the averaged fit; they stop as soon as the rest of the distance is within
what cross-validation can tell. Where it is beyond doubt that there is something to say, they also say most of
it: much noise makes the error of cross-validation larger than all that the columns explain, however sure that
is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Matrix, Vector
from horseshoe.data.view import View
from horseshoe.priors import Groups

# No more columns than this times the rows are tried: the largest of the average.
CANDIDATES = 2.0
# A column of which less than this share is left beside those chosen adds nothing.
TIED = 1e-10
# Gains closer than this are the same but for rounding: those of all columns once one direction is left.
SAME = 1e-6


class Submodel(NamedTuple):
    """Columns in the order in which they enter, the mean squared distance left after each, and the fit."""

    order: NDArray[np.int64]
    distance: Vector
    coef: Vector
    intercept: float


def summarise(
    columns: View,
    coef: Any,
    intercept: Any,
    weights: Vector,
    tolerance: float,
    center: bool = True,
    share: float = 1.0,
    groups: Groups | None = None,
) -> Submodel:
    """Return the smallest model whose mean squared distance to the averaged fit is at most ``tolerance``.

    The distance is also at most this ``share`` of that of the intercept alone. A group enters as a whole.
    With a column of coefficients and an intercept for each of several regressions, distances are the sums of
    theirs, and a column enters for all of them.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> found = summarise(Dense(X), np.array([2.0, 0.01, 1.0]), 0.0, np.ones(50), 0.1)
    >>> found.order, found.coef.round(1)
    (array([0, 2]), array([2., 0., 1.]))
    """
    n, p = columns.shape
    most = min(p, max(int(CANDIDATES * n), 1))
    size = np.abs(coef) if coef.ndim == 1 else np.sqrt((coef * coef).mean(axis=1))
    size = size if groups is None else groups.rms(size)
    least = 0.0 if groups is None else np.sort(size)[-most]  # a group is tried as a whole
    strongest = np.sort(np.argsort(-size, kind="stable")[:most])
    strongest = np.flatnonzero(size >= least) if groups is not None else strongest
    strongest = strongest[size[strongest] != 0.0]
    keep = np.zeros(p, dtype=np.bool_)
    keep[strongest] = True
    x = columns.take(keep).dense()
    total = float(weights.sum())
    root = np.sqrt(weights / total)
    mean = weights @ x / total if center else np.zeros(strongest.size)
    fit = np.asarray(columns.matvec(coef))
    level = weights @ fit / total if center else 0.0
    target = (root * (fit - level).T).T
    tolerance = min(tolerance, share * float(np.vdot(target, target)))
    label = None if groups is None else groups.label[strongest]
    x = root[:, None] * (x - mean)
    chosen, distance, gamma = _forward(x, target, tolerance, size[strongest], label)
    sparse = np.zeros_like(coef)
    sparse[strongest[chosen]] = gamma
    intercept = intercept + level - mean[chosen] @ gamma if center else intercept
    return Submodel(strongest[chosen], distance, sparse, intercept if coef.ndim > 1 else float(intercept))


def _best(gain: Vector, strength: Vector) -> int:
    """Return the column of the largest gain; of several the strongest, for rounding must not choose."""
    close = np.flatnonzero(gain >= (1.0 - SAME) * gain.max())
    return int(close[np.argmax(strength[close])])


def _forward(
    x: Matrix, target: Any, tolerance: float, strength: Vector, label: Any = None
) -> tuple[Any, Vector, Any]:
    """Choose columns until little is left of the target; return them, the distances, the coefficients.

    ``strength`` is the size of their coefficients in the average, by which those are told apart that gain the
    same. With labels a column brings all others of its label along: of the groups that of the largest gain a
    column.
    """
    left, pull = target.copy(), target.T @ x  # of several targets a row each
    size = np.einsum("ij,ij->j", x, x)
    squares = size.copy()
    chosen: list[int] = []
    basis = np.empty((min(x.shape), x.shape[0]))  # of the columns chosen, orthonormal, a row each
    distance = [float(np.vdot(left, left))]
    waiting: list[int] = []  # of a group that has begun to enter
    while (waiting or distance[-1] > tolerance) and len(chosen) < len(basis):
        square = pull * pull if pull.ndim == 1 else (pull * pull).sum(axis=0)
        gain = np.divide(square, squares, out=np.zeros_like(square), where=squares > TIED * size)
        if label is not None and not waiting:
            groups = Groups(np.unique(label, return_inverse=True)[1])
            mean = groups.spread(groups.totals(gain) / groups.size)
            first = _best(mean, strength)
            waiting = np.flatnonzero(label == label[first]).tolist() if mean[first] > 0.0 else []
        if label is not None:
            waiting = [j for j in waiting if gain[j] > 0.0 or squares[j] > TIED * size[j]]
        j = waiting.pop(0) if waiting else _best(gain, strength)
        if not (gain[j] > 0.0 or (label is not None and squares[j] > TIED * size[j])):
            break
        known, direction = basis[: len(chosen)], x[:, j]
        for _ in range(2):  # once leaves the rounding of what is taken off
            direction = direction - (known @ direction) @ known
        direction = direction / np.sqrt(direction @ direction)
        basis[len(chosen)] = direction
        along, moved = direction @ x, direction @ left
        left -= np.multiply.outer(direction, moved)
        pull -= np.multiply.outer(moved, along)
        squares -= along * along
        chosen.append(j)
        squares[chosen] = 0.0
        distance.append(float(np.vdot(left, left)))
    picked = np.array(chosen, dtype=int)
    gamma = np.linalg.lstsq(x[:, picked], target, rcond=None)[0] if chosen else target[:0]
    return picked, np.array(distance), np.asarray(gamma, dtype=float)
