"""Intervals from the fold fits.

**Of new rows: CV+** (Barber, Candes, Ramdas and Tibshirani 2021). Row i was predicted by the fit without
its fold with an error R_i. For a new row x each i says mu_i(x) - R_i and mu_i(x) + R_i, mu_i being that
same fit; the interval runs from a low quantile of the former to a high one of the latter. Whatever the
model, it covers with probability at least 1 - 2 alpha - sqrt(2/n) if rows are exchangeable and the fit has
not seen them (the weights of the components and the slope have), and about 1 - alpha in practice. Where the
spread of y depends on its mean, errors are measured in units of it.

**Of coefficients.** The average shrinks, so it is corrected by what its predictions leave of rows that they
have not seen: b_j + (M X'r / n)_j / (M S)_jj with S = X'X / n and M = (X'X / n + RIDGE)^-1, which undoes
shrinkage as far as other columns can be told apart. The interval runs around both b and the corrected b. Its
standard error is that of the correction, or that of b by the jackknife over the folds if it is larger: fits
that jump are not sure of their columns, whatever the rows say within each. Of classes and counts the two add
up: the former takes the linear predictor for known, on which the weights of the rows hang.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Matrix, Vector
from horseshoe.average.ridge_path import outer
from horseshoe.average.sets import Sets
from horseshoe.linalg import eigen
from horseshoe.posterior.predictive import half_width

# New rows times training rows that are worked on at a time.
CHUNK = 1 << 22
# What is added to the correlation matrix of the columns before it is inverted.
RIDGE = 0.1
# No column keeps less of itself than this, or its interval would not be finite.
LEAST_KEPT = 1e-9


def cv_plus(
    mean: Matrix,
    unit: Matrix,
    folds: NDArray[np.int64],
    errors: Vector,
    level: float,
    counts: Vector | None = None,
) -> Matrix:
    """Return the CV+ intervals of new rows.

    Parameters
    ----------
    mean, unit : arrays of shape (m, K)
        What the fit without each fold predicts of each new row, and the unit of its error.
    folds : int array of shape (n,)
        The fold in which each row was left out.
    errors : array of shape (n,)
        The size of the error then, in its unit.
    level : float
        1 - alpha.
    counts : array of shape (n,), optional
        How often each row counts; once if not given.

    Returns
    -------
    array of shape (m, 2)

    Examples
    --------
    >>> errors = np.arange(1.0, 20.0)
    >>> cv_plus(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(19, dtype=int), errors, 0.9)
    array([[-18.,  18.]])
    """
    counts = np.ones(errors.size) if counts is None else counts
    rank = math.floor((1.0 - level) * (float(counts.sum()) + 1.0) + 1e-9)  # of the end among the values
    found = np.empty((mean.shape[0], 2))
    if rank < 1:
        found[:] = (-np.inf, np.inf)
        return found
    step = max(1, CHUNK // errors.size)
    for start in range(0, mean.shape[0], step):
        rows = slice(start, start + step)
        middle, reach = mean[rows][:, folds], unit[rows][:, folds] * errors
        found[rows, 0] = _smallest(middle - reach, counts, rank)
        found[rows, 1] = -_smallest(-middle - reach, counts, rank)
    return found


def _smallest(values: Matrix, counts: Vector, rank: int) -> Vector:
    """Return the value of this rank, from 1, in each row; each counts so often."""
    if np.all(counts == 1.0):
        return np.asarray(np.partition(values, rank - 1, axis=1)[:, rank - 1])
    order = np.argsort(values, axis=1)
    reached = np.cumsum(counts[order], axis=1) >= rank - 1e-9
    place = np.take_along_axis(order, np.argmax(reached, axis=1)[:, None], axis=1)
    return np.asarray(np.take_along_axis(values, place, axis=1)[:, 0])


class FoldErrors(NamedTuple):
    """What CV+ needs of held-out rows: the fold of each, the size of its error, its count.

    The number after the last fold stands for the fit to all rows: intervals run around its prediction where
    training sets are small or grow.
    """

    folds: NDArray[np.int64]
    errors: Vector
    counts: Vector


class Corrected(NamedTuple):
    """The corrected coefficients and their standard errors."""

    coef: Vector
    std: Vector


def corrected(sets: Sets, coef: Vector, residual: Vector, weights: Vector, sigma2: float) -> Corrected:
    """Correct coefficients by the residuals of rows that were left out (zero where a row never was).

    ``weights`` are those of the rows, times the information of each about eta; ``sigma2`` is the mean squared
    residual.
    """
    total = float(weights.sum())
    pull = sets.columns.rmatvec(weights * residual) / total
    n, p = sets.columns.shape
    root = np.sqrt(weights / total)
    if p > n:
        values, U = eigen(outer(sets) * root[:, None] * root)
        values = np.maximum(values, 0.0)
        inverse = 1.0 / (values + RIDGE)
        Q = np.asarray(sets.columns.rmatvec(root[:, None] * U))  # V s
        moved = (pull - Q @ (inverse * (Q.T @ pull))) / RIDGE
        kept = np.einsum("jk,jk,k->j", Q, Q, inverse)
        variance = np.einsum("jk,jk,k->j", Q, Q, inverse**2)
    else:
        values, V = eigen(sets.columns.gram(weights / total))
        values = np.maximum(values, 0.0)
        inverse = 1.0 / (values + RIDGE)
        moved = V @ (inverse * (V.T @ pull))
        kept = np.einsum("jk,jk,k->j", V, V, values * inverse)
        variance = np.einsum("jk,jk,k->j", V, V, values * inverse**2)
    kept = np.maximum(kept, LEAST_KEPT)
    return Corrected(coef + moved / kept, np.sqrt(sigma2 * variance / total) / kept)


def between(fold_coef: Matrix) -> Vector:
    """Return the standard errors of coefficients by the jackknife over folds; ``fold_coef`` is (p, K).

    Examples
    --------
    >>> rows = np.array([1.0, 2.0, 6.0])
    >>> without = (rows.sum() - rows) / 2  # the mean without each
    >>> between(without[None]).round(6), round(float(rows.std(ddof=1)) / 3**0.5, 6)
    (array([1.527525]), 1.527525)
    """
    folds = fold_coef.shape[1]
    away = fold_coef - fold_coef.mean(axis=1, keepdims=True)
    return np.asarray(np.sqrt((folds - 1.0) / folds * (away**2).sum(axis=1)))


def coef_interval(coef: Vector, found: Corrected, level: float) -> Matrix:
    """Return the interval of each coefficient: around it and its corrected value.

    Examples
    --------
    >>> coef_interval(np.array([0.0]), Corrected(np.array([1.0]), np.array([0.5])), 0.95).round(2)
    array([[-0.98,  1.98]])
    """
    reach = half_width(level) * found.std
    return np.column_stack([np.minimum(coef, found.coef) - reach, np.maximum(coef, found.coef) + reach])
