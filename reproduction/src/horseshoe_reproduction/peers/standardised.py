"""Standardised columns and back, for methods that need them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from horseshoe_reproduction.arrays import Mask, Matrix, Vector
from horseshoe_reproduction.experiment import Fit


class ColumnScale(NamedTuple):
    """Of each column its mean and standard deviation, and whether it varies beyond rounding."""

    mean: Vector
    std: Vector
    varies: Mask


def column_scale(X: Matrix) -> ColumnScale:
    """Return what columns are standardised by.

    Examples
    --------
    >>> column_scale(np.array([[1.0, 0.1], [2.0, 0.1], [3.0, 0.1]])).varies
    array([ True, False])
    """
    mean, std = X.mean(axis=0), X.std(axis=0)
    return ColumnScale(mean, std, np.asarray(std > 1e-12 * (np.abs(mean) + std)))


def standardised(X: Matrix) -> tuple[Matrix, Vector, Vector]:
    """Return the columns with mean 0 and standard deviation 1, their means and standard deviations.

    Examples
    --------
    >>> standardised(np.array([[1.0, 5.0], [3.0, 5.0]]))[0]
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    shift, std, varies = column_scale(X)
    scale = np.where(varies, std, 1.0)
    return np.asfortranarray(np.where(varies, X - shift, 0.0) / scale), shift, scale


def standardised_fit(X: Matrix, y: Vector, unit: float, solve: Callable[[Matrix, Vector], Vector]) -> Fit:
    """Solve for standardised columns and centred y over ``unit``, and return to the units of the data.

    A constant column is left out: its coefficient is zero.

    Examples
    --------
    >>> X, y = np.array([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]]), np.array([3.0, 5.0, 13.0])
    >>> fit = standardised_fit(X, y, 1.0, lambda Z, centred: np.linalg.lstsq(Z, centred, rcond=None)[0])
    >>> fit.coef.round(6), round(fit.intercept, 6)
    (array([2., 0.]), 1.0)
    """
    mean, std, varies = column_scale(X)
    level = float(y.mean())
    coef = np.zeros(X.shape[1])
    Z = (X[:, varies] - mean[varies]) / std[varies]
    coef[varies] = solve(Z, (y - level) / unit) * unit / std[varies]
    return Fit(coef, float(level - mean @ coef))
