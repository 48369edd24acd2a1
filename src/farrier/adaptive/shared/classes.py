"""Classes that are fitted together, in all training sets: softmax regression as several weighted regressions.

Near eta a row tells of the q - 1 directions in which classes differ, on average, w = (1 - sum_k p_k^2) /
(q - 1). With this weight and the targets eta + (chosen - p) / w all classes are regressions on the same
weighted columns with the noise variance 1, and share what several responses share; where they end, the
gradient is that of the softmax likelihood, whatever w is. Steps may overshoot where what a row tells is not
the same in all directions, so that only a part of each is taken. Arrays have the sets before the classes on
their last axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from farrier._lazy import lazy
from farrier._types import Matrix, Vector
from farrier.adaptive.sets import Sets
from farrier.adaptive.shared.stack import Cube, SharedStack
from farrier.families.base import WEIGHT_FLOOR

PART, LONGEST = 0.7, 2.0
"""The part of a step that is taken, and how far the linear predictor of a row goes at most."""


class ClassFits(NamedTuple):
    """One fit to each training set: ``coef`` (p, T, q), ``intercept`` (T, q), ``inclusion`` (p, T).

    They add up to zero over the classes. ``inclusion`` is as in `farrier.adaptive.sets.Fits`.
    """

    coef: Cube
    intercept: Matrix
    inclusion: Matrix


@dataclass(frozen=True, eq=False)
class ClassSets:
    """The training sets: ``base`` has the columns and the rows, ``chosen`` (n, q) the classes."""

    base: Sets
    chosen: Matrix

    @lazy
    def size(self) -> int:
        """The number of classes."""
        return int(self.chosen.shape[1])

    def seen(self, coef: Cube) -> Cube:
        """Return X b: (n, T, q)."""
        p, sets, q = coef.shape
        return np.asarray(self.base.columns.matvec(coef.reshape(p, sets * q))).reshape(-1, sets, q)

    def eta(self, fits: ClassFits) -> Cube:
        """Return the linear predictor of every row by every fit."""
        return self.seen(fits.coef) + fits.intercept

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

    def alone(self) -> Matrix:
        """Return the intercepts alone of every set: (T, q)."""
        if not self.base.center:
            return np.zeros((self.base.n_sets, self.size))
        return np.asarray(apart(np.log(self.base.weights.T @ self.chosen)))

    def linearised(self, eta: Cube, some: Any = slice(None)) -> tuple[Cube, Matrix]:
        """Return the targets (n, T, q) and weights (n, T) that stand for the likelihood of sets near eta."""
        share, told = shares(eta)
        targets = apart(eta + (self.chosen[:, None] - share) / told[..., None])
        return targets, self.base.weights[:, some] * told

    def stack(self, targets: Cube, weights: Matrix, some: Any = slice(None)) -> SharedStack:
        """Return the regressions of some sets."""
        base = self.base
        return SharedStack(base.columns, targets, weights, base.total[some], base.center)

    def levels(self, targets: Cube, weights: Matrix, coef: Cube) -> Matrix:
        """Return the intercepts that go with coefficients."""
        if not self.base.center:
            return np.zeros((coef.shape[1], self.size))
        left = targets - self.seen(coef)
        return np.asarray(np.einsum("it,itq->tq", weights, left) / weights.sum(axis=0)[:, None])

    def part_of(self, before: Any, after: Any, eta: Cube, weights: Matrix) -> tuple[Cube, Matrix]:
        """Return coefficients and intercepts as far on their way as is safe."""
        moved = np.abs(self.seen(after[0]) + after[1] - eta).max(axis=2)
        longest = np.where(weights > 0.0, moved, 0.0).max(axis=0)
        share = np.minimum(PART, LONGEST / np.maximum(longest, 1e-300))[:, None]
        coef, level = (old + share * (new - old) for old, new in zip(before, after, strict=True))
        return coef, level


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
