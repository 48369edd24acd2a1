"""Training sets of classes that are fitted together: softmax regression as several weighted regressions.

Near eta a row has the information w = (1 - sum_k p_k^2) / (q - 1) about a direction in which classes differ,
on average. With this weight and the targets eta + (chosen - p) / w all classes are regressions on the same
weighted columns with the noise variance 1, and share what several responses share; where they end, the
gradient is that of the softmax likelihood, whatever w is. Steps may overshoot where the information is not
the same in all directions, so that only a part of each is taken. Arrays have the classes on their first
axis.

Unpenalised columns are treated as intercepts are: held while the others take a step, and fitted after it, by
the rows of the training set alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.average.newton import newton
from horseshoe.average.sets import Fits, Sets, summed
from horseshoe.families import Family
from horseshoe.families.base import WEIGHT_FLOOR

# How far a step of Newton's method takes the linear predictor of a row at most, and a gain that is none.
LONGEST, NO_GAIN = 2.0, 1e-12


@dataclass(frozen=True, eq=False)
class SoftmaxSets(Sets):
    """What the components of an average over classes are fitted to; ``y`` are the numbers of the classes.

    Attributes
    ----------
    chosen : array of shape (q, n)
        1 where a row is of a class, else 0.
    basis : array of shape (n, r), optional
        Unpenalised columns.
    """

    softmax: ClassVar[bool] = True
    step_share: ClassVar[float] = 0.7
    rounds: ClassVar[int] = 10
    sweep_tol: ClassVar[float] = 1e-2
    never_overshoots: ClassVar[bool] = False
    chosen: Any = None
    basis: Matrix | None = None

    @property
    def freedom(self) -> float:
        """The directions in which classes differ."""
        return len(self.chosen) - 1.0

    @lazy
    def flat(self) -> Matrix:
        """The columns that are not shrunk: that of the intercept, if there is one, and the basis."""
        ones = np.ones((self.counts.size, int(self.center)))
        return ones if self.basis is None else np.hstack([ones, self.basis])

    def explained(self, free: Any) -> Any:
        """Return what unpenalised columns explain: (q, n, T)."""
        return 0.0 if self.basis is None else np.einsum("ir,qrt->qit", self.basis, free)

    @lazy
    def null(self) -> tuple[Any, Any]:
        """The intercepts (q, T) and unpenalised coefficients (q, r, T) of the null model."""
        q, sets = len(self.chosen), self.n_sets
        if self.basis is not None:
            return self.unpenalized_beside(np.zeros((q, self.counts.size, sets)))
        none = np.zeros((q, 0, sets))
        if not self.center:
            return np.zeros((q, sets)), none
        return center_over_classes(np.log(self.chosen @ self.weights)), none

    def unpenalized_beside(self, fit: Any) -> tuple[Any, Any]:
        """Return the best intercepts and unpenalised coefficients beside what other columns explain."""
        found = []
        for t, weights in enumerate(self.weights.T):
            rows = weights > 0.0
            found.append(best_flat(self.chosen[:, rows], fit[:, rows, t], weights[rows], self.flat[rows]))
        return self._split(np.stack(found, axis=-1))

    def _split(self, flat: Any) -> tuple[Any, Any]:
        """Return intercepts, and unpenalised coefficients, of (q, s, ...)."""
        return (flat[:, 0], flat[:, 1:]) if self.center else (np.zeros_like(flat[:, 0]), flat)

    def drop_intercepts(self, fits: Fits) -> Fits:
        """Return fits that add up to zero over the classes, with unpenalised coefficients at their best."""
        coef, level, free = (center_over_classes(each) for each in (fits.coef, fits.intercept, fits.free))
        if self.basis is not None:
            level, free = self.unpenalized_beside(self.fit(coef))
        return fits._replace(coef=coef, intercept=level, free=free)

    def linearised(self, eta: Any, sigma2: Any, families: tuple[Family, ...]) -> tuple[Any, Matrix]:
        """Return the targets (q, n, T) and weights (n, T) that stand for the likelihood of sets near eta."""
        share, weight = softmax_and_weight(eta)
        targets = center_over_classes(eta + (self.chosen[..., None] - share) / weight)
        return targets, self.weights * weight

    def with_levels(self, fits: Fits, targets: Any, weights: Matrix) -> Fits:
        """Return fits with the intercepts and the unpenalised coefficients that go with the others."""
        level, free = self.levels_of(targets - self.fit(fits.coef), weights)
        return fits._replace(intercept=level, free=free)

    def levels_of(self, left: Any, weights: Matrix) -> tuple[Any, Any]:
        """Return the same from what coefficients leave of the targets."""
        q, _, sets = left.shape
        if self.basis is not None:
            each = [least_squares(self.flat, left[..., t], weights[:, t]) for t in range(sets)]
            return self._split(np.stack(each, axis=-1))
        level = np.zeros((q, sets))
        if self.center:
            level = np.einsum("it,qit->qt", weights, left) / weights.sum(axis=0)
        return level, np.zeros((q, 0, sets))

    def losses(self, eta: Any, chosen: Matrix | None = None) -> Vector:
        """Return minus the log-likelihood of each row; ``eta`` is (q, n)."""
        own = np.einsum("qi,qi->i", eta, self.chosen if chosen is None else chosen)
        return np.asarray(np.maximum(logsumexp(eta, axis=0) - own, 0.0))

    def row_losses(self, family: Family, eta: Any, sigma2: float) -> tuple[Vector, Vector]:
        """Return what each row left out loses, and how often it counts; ``eta`` is as `tested` has it."""
        rows, _ = self.tested
        return self.losses(eta, self.chosen[:, rows]), self.counts[rows]

    def left_out(self, family: Family, eta: Any, sigma2: float) -> float:
        """Return minus the log-likelihood of the rows by the fits that have not seen them."""
        rows, folds = self.tested
        losses, counts = self.row_losses(family, eta[:, rows, folds], sigma2)
        return summed(counts, losses)

    def along(self, base: Any, way: Any, sigma2: float) -> Callable[[float], float]:
        """Return `left_out` at base + slope * way, as a function of the slope."""
        rows, folds = self.tested
        base, way, chosen, counts = (
            base[:, rows, folds],
            way[:, rows, folds],
            self.chosen[:, rows],
            self.counts[rows],
        )
        return lambda slope: summed(counts, self.losses(base + slope * way, chosen))

    def information(self, family: Family, eta: Any, sigma2: float) -> Vector:
        """Return what each row counts times its information about a direction, on average."""
        return np.asarray(self.counts * softmax_and_weight(eta)[1])

    def of_class(self, k: int, offset: Vector) -> Sets:
        """Return the training sets of a class against the rest."""
        return Sets(self.columns, self.chosen[k].copy(), offset, *self._shared)

    @property
    def _shared(self) -> tuple[Any, ...]:
        return self.counts, self.folds, self.family, self.center, self.groups


def softmax_and_weight(eta: Any) -> tuple[Any, Any]:
    """Return the probability of each class, and the information of a row about a direction.

    Examples
    --------
    >>> softmax_and_weight(np.zeros((2, 1)))
    (array([[0.5],
           [0.5]]), array([0.5]))
    """
    share = np.exp(eta - logsumexp(eta, axis=0))
    weight = (share * (1.0 - share)).sum(axis=0) / (len(eta) - 1)
    return share, np.maximum(weight, WEIGHT_FLOOR)


def center_over_classes(values: Any) -> Any:
    """Return values less their mean over the first axis.

    Examples
    --------
    >>> center_over_classes(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    return values - values.mean(axis=0)


def least_squares(x: Matrix, targets: Matrix, weights: Vector) -> Matrix:
    """Return the coefficients (q, s) of several weighted regressions on the same columns."""
    heavy = weights[:, None] * x
    return np.asarray(np.linalg.lstsq(x.T @ heavy, heavy.T @ targets.T, rcond=None)[0].T)


def best_flat(chosen: Matrix, eta: Matrix, weights: Vector, x: Matrix) -> Matrix:
    """Return the coefficients (q, s) of a softmax regression on ``x`` beside eta, without a prior.

    Newton's method. Where x separates a class completely, it ends where it gains nothing more.

    Examples
    --------
    >>> chosen = np.eye(2)[:, [0, 0, 0, 1]]
    >>> best_flat(chosen, np.zeros((2, 4)), np.ones(4), np.ones((4, 1))).round(3).T  # half of log 3
    array([[ 0.549, -0.549]])
    """

    def at(flat: Matrix, known: Any) -> tuple[float, Matrix]:
        there = eta + flat @ x.T
        return float(weights @ (logsumexp(there, axis=0) - np.einsum("qi,qi->i", there, chosen))), there

    flat, _ = newton(
        np.zeros((len(chosen), x.shape[1])),
        at,
        lambda there: _newton(chosen, there, weights, x),
        x,
        LONGEST,
        NO_GAIN,
    )
    return np.asarray(center_over_classes(flat))


def _newton(chosen: Matrix, eta: Matrix, weights: Vector, x: Matrix) -> Matrix:
    """Return a step of Newton's method; what classes have in common has no information."""
    share = np.exp(eta - logsumexp(eta, axis=0))
    slope = (weights * (chosen - share)) @ x
    found = np.linalg.lstsq(information_matrix(share, weights, x), slope.ravel(), rcond=None)[0]
    return np.asarray(found.reshape(slope.shape))


def information_matrix(share: Matrix, weights: Vector, x: Matrix) -> Matrix:
    """Return the information of rows about the coefficients of ``x``, class by class.

    Examples
    --------
    >>> information_matrix(np.array([[0.5], [0.5]]), np.ones(1), np.ones((1, 1)))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    q, (n, s) = len(share), x.shape
    each = (share[:, :, None] * x).transpose(1, 0, 2).reshape(n, q * s)
    inner = -(weights[:, None] * each).T @ each
    for k in range(q):
        own = slice(k * s, (k + 1) * s)
        inner[own, own] += x.T @ ((weights * share[k])[:, None] * x)
    return np.asarray(inner)
