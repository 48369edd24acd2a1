"""Classes that are fitted together, in all training sets: softmax regression as several weighted regressions.

Near eta a row tells of the q - 1 directions in which classes differ, on average, w = (1 - sum_k p_k^2) /
(q - 1). With this weight and the targets eta + (chosen - p) / w all classes are regressions on the same
weighted columns with the noise variance 1, and share what several responses share; where they end, the
gradient is that of the softmax likelihood, whatever w is. Steps may overshoot where what a row tells is not
the same in all directions, so that only a part of each is taken. Arrays have the sets before the classes on
their last axes.

Columns that are always in are what intercepts are: held while the others take a step, and fitted after it,
without shrinkage, by the rows of the set alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.average.sets import HALVED, Sets
from horseshoe.average.shared.batch import Cube, SharedBatch
from horseshoe.families.base import WEIGHT_FLOOR

PART, LONGEST = 0.7, 2.0
"""The part of a step that is taken, and how far the linear predictor of a row goes at most."""
STEPS, SMALL, NO_GAIN = 50, 1e-9, 1e-12
"""The most steps of Newton's method, a step so small that it is the last, and a gain that is none."""


class ClassFits(NamedTuple):
    """One fit to each training set: ``coef`` (p, T, q), ``intercept`` (T, q), ``inclusion`` (p, T).

    ``free`` (r, T, q) is what is always in. They add up to zero over the classes. ``inclusion`` is as in
    `horseshoe.average.sets.Fits`.
    """

    coef: Cube
    intercept: Matrix
    inclusion: Matrix
    free: Cube

    def only(self, which: Any) -> ClassFits:
        """Return some of the fits."""
        coef, intercept, inclusion, free = self
        return ClassFits(coef[:, which], intercept[which], inclusion[:, which], free[:, which])


@dataclass(frozen=True, eq=False)
class ClassSets:
    """The training sets: ``base`` has the columns and the rows, ``chosen`` (n, q) the classes.

    ``basis`` (n, r) is what is always in.
    """

    base: Sets
    chosen: Matrix
    basis: Matrix | None = None

    @lazy
    def size(self) -> int:
        """The number of classes."""
        return int(self.chosen.shape[1])

    def seen(self, coef: Cube) -> Cube:
        """Return X b: (n, T, q)."""
        p, sets, q = coef.shape
        return np.asarray(self.base.columns.matvec(coef.reshape(p, sets * q))).reshape(-1, sets, q)

    def known(self, free: Cube) -> Any:
        """Return what is always in explains: (n, T, q); 0 if nothing is."""
        if self.basis is None:
            return 0.0
        return (self.basis @ free.reshape(len(free), -1)).reshape(-1, *free.shape[1:])

    @lazy
    def flat(self) -> Matrix:
        """What is not shrunk: the intercept, if there is one, and what is always in."""
        ones = np.ones((self.chosen.shape[0], int(self.base.center)))
        return ones if self.basis is None else np.hstack([ones, self.basis])

    def eta(self, fits: ClassFits) -> Cube:
        """Return the linear predictor of every row by every fit."""
        return self.seen(fits.coef) + fits.intercept + self.known(fits.free)

    def losses(self, eta: Any) -> Any:
        """Return minus the log-likelihood of each row; ``eta`` is (n, ..., q)."""
        own = np.einsum("i...q,iq->i...", eta, self.chosen)
        return np.maximum(logsumexp(eta, axis=-1) - own, 0.0)

    def left_out(self, eta: Cube) -> Matrix:
        """Return what the fits that have not seen them say of the rows: in the order of `Sets.tested`."""
        rows, folds = self.base.tested
        return np.asarray(eta[rows, folds])

    def tested_losses(self, predicted: Matrix) -> Vector:
        """Return minus the log-likelihood of the rows that were left out."""
        rows, _ = self.base.tested
        own = np.einsum("iq,iq->i", predicted, self.chosen[rows])
        return np.asarray(np.maximum(logsumexp(predicted, axis=-1) - own, 0.0))

    @lazy
    def alone(self) -> tuple[Matrix, Cube]:
        """The intercepts (T, q), and what is always in (r, T, q), of every set without any other column."""
        sets, q = self.base.n_sets, self.size
        if self.basis is not None:
            return self.beside(np.zeros((self.chosen.shape[0], sets, q)))
        if not self.base.center:
            return np.zeros((sets, q)), np.zeros((0, sets, q))
        return np.asarray(apart(np.log(self.base.weights.T @ self.chosen))), np.zeros((0, sets, q))

    def beside(self, seen: Cube) -> tuple[Matrix, Cube]:
        """Return the best intercepts and what is always in beside what other columns explain."""
        found = []
        for t, weights in enumerate(self.base.weights.T):
            rows = weights > 0.0
            found.append(best_flat(self.chosen[rows], seen[rows, t], weights[rows], self.flat[rows]))
        return self._split(np.stack(found, axis=1))

    def _split(self, flat: Cube) -> tuple[Matrix, Cube]:
        """Return intercepts, and what is always in."""
        return (flat[0], flat[1:]) if self.base.center else (np.zeros(flat.shape[1:]), flat)

    def drop_intercepts(self, fits: ClassFits) -> ClassFits:
        """Return fits in which what is always in is at its best."""
        if self.basis is None:
            return fits
        level, free = self.beside(self.seen(fits.coef))
        return fits._replace(intercept=level, free=free)

    def linearised(self, eta: Cube, some: Any = slice(None)) -> tuple[Cube, Matrix]:
        """Return the targets (n, T, q) and weights (n, T) that stand for the likelihood of sets near eta."""
        share, told = shares(eta)
        targets = apart(eta + (self.chosen[:, None] - share) / told[..., None])
        return targets, self.base.weights[:, some] * told

    def stack(self, targets: Cube, weights: Matrix, some: Any = slice(None)) -> SharedBatch:
        """Return the regressions of some sets."""
        base = self.base
        return SharedBatch(base.columns, targets, weights, base.total[some], base.center)

    def levels(self, targets: Cube, weights: Matrix, coef: Cube) -> tuple[Matrix, Cube]:
        """Return the intercepts, and what is always in, that go with coefficients."""
        return self.levels_of(targets - self.seen(coef), weights)

    def levels_of(self, left: Cube, weights: Matrix) -> tuple[Matrix, Cube]:
        """Return the same from what coefficients leave of the targets."""
        sets, q = left.shape[1:]
        if self.basis is not None:
            each = [least_squares(self.flat, left[:, t], weights[:, t]) for t in range(sets)]
            return self._split(np.stack(each, axis=1))
        none = np.zeros((0, sets, q))
        if not self.base.center:
            return np.zeros((sets, q)), none
        return np.asarray(np.einsum("it,itq->tq", weights, left) / weights.sum(axis=0)[:, None]), none

    def part_of(self, before: Any, after: Any, eta: Cube, weights: Matrix) -> tuple[Cube, Matrix, Cube]:
        """Return coefficients, intercepts and what is always in as far on their way as is safe."""
        moved = np.abs(self.seen(after[0]) + after[1] + self.known(after[2]) - eta).max(axis=2)
        longest = np.where(weights > 0.0, moved, 0.0).max(axis=0)
        share = np.minimum(PART, LONGEST / np.maximum(longest, 1e-300))[:, None]
        coef, level, free = (old + share * (new - old) for old, new in zip(before, after, strict=True))
        return coef, level, free


def shares(eta: Any) -> tuple[Any, Any]:
    """Return the probability of each class, and what a row tells of a direction.

    Examples
    --------
    >>> share, told = shares(np.zeros((1, 2)))
    >>> share, told
    (array([[0.5, 0.5]]), array([0.5]))
    """
    share = np.exp(eta - logsumexp(eta, axis=-1, keepdims=True))
    told = (share * (1.0 - share)).sum(axis=-1) / (eta.shape[-1] - 1)
    return share, np.maximum(told, WEIGHT_FLOOR)


def apart(values: Any) -> Any:
    """Return what classes do not have in common: the last axis adds up to zero.

    Examples
    --------
    >>> apart(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    return values - values.mean(axis=-1, keepdims=True)


def least_squares(x: Matrix, targets: Matrix, weights: Vector) -> Matrix:
    """Return the coefficients of several weighted regressions on the same columns."""
    heavy = weights[:, None] * x
    return np.asarray(np.linalg.lstsq(x.T @ heavy, heavy.T @ targets, rcond=None)[0])


def best_flat(chosen: Matrix, eta: Matrix, weights: Vector, x: Matrix) -> Matrix:
    """Return the coefficients (s, q) of a softmax regression on ``x`` beside eta, without a prior.

    Newton's method. Where x tells a class apart without error, it ends where it gains nothing more.

    Examples
    --------
    >>> chosen = np.eye(2)[[0, 0, 0, 1]]
    >>> best_flat(chosen, np.zeros((4, 2)), np.ones(4), np.ones((4, 1))).round(3)  # half of log 3
    array([[ 0.549, -0.549]])
    """

    def loss(there: Matrix) -> float:
        return float(weights @ (logsumexp(there, axis=1) - np.einsum("iq,iq->i", there, chosen)))

    flat, here = np.zeros((x.shape[1], chosen.shape[1])), eta
    lost = loss(here)
    for _ in range(STEPS):
        step = _newton(chosen, here, weights, x)
        way = x @ step
        length = float(np.abs(way).max(initial=0.0))
        if not length > SMALL:
            flat = flat + step if length >= 0.0 else flat
            break
        for share in min(LONGEST / length, 1.0) * HALVED:
            less = loss(here + share * way)
            if less <= lost + NO_GAIN * (1.0 + lost):  # the last steps gain less than rounding
                break
        else:
            break
        gain, lost = lost - less, less
        flat, here = flat + share * step, here + share * way
        if gain <= NO_GAIN * (1.0 + lost):
            break
    return np.asarray(apart(flat))


def _newton(chosen: Matrix, eta: Matrix, weights: Vector, x: Matrix) -> Matrix:
    """Return a step of Newton's method; nothing is told of what classes have in common."""
    share = np.exp(eta - logsumexp(eta, axis=1, keepdims=True))
    slope = (weights[:, None] * (chosen - share)).T @ x
    found = np.linalg.lstsq(curvature(share, weights, x), slope.ravel(), rcond=None)[0]
    return np.asarray(found.reshape(slope.shape).T)


def curvature(share: Matrix, weights: Vector, x: Matrix) -> Matrix:
    """Return what rows tell of the coefficients of ``x``, class by class, by the softmax likelihood.

    Examples
    --------
    >>> curvature(np.array([[0.5, 0.5]]), np.ones(1), np.ones((1, 1)))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    (n, s), q = x.shape, share.shape[1]
    each = (share[:, :, None] * x[:, None]).reshape(n, q * s)
    inner = -(weights[:, None] * each).T @ each
    for k in range(q):
        own = slice(k * s, (k + 1) * s)
        inner[own, own] += x.T @ ((weights * share[:, k])[:, None] * x)
    return np.asarray(inner)
