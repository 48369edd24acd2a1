"""Many rows in memory, standardised as they are read: a copy would cost more than several passes."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.chunks import Sums, sums_of
from horseshoe.data.columns import SQUARABLE, Spread, varies, within
from horseshoe.data.dense import Dense, by_column, mirrored
from horseshoe.data.products import BLOCK_ROWS, CrossProducts, add_squares, cross_products

LONG_BYTES, LONG_ROWS = 64 << 20, 10
"""An array of so many bytes, with so many rows for each column, is not copied."""
NEAREST = 8.0
"""Means of no more than so many standard deviations cost products less than two digits."""
WORTH_A_COPY = 0.4
"""Columns are copied from the others once no more than this share is left."""


class Long(Dense):
    """(x - mean) * unit of some columns of an array: of which nothing is stored.

    Where the columns lie so far from zero that products by algebra would lose digits, they are copied after
    all; and so they are for anything that is seldom asked of many rows.

    Examples
    --------
    >>> x, _ = Long(np.array([[1.0, 0.0], [3.0, 4.0]])).standardised(None, center=True, scale=True)
    >>> x.matvec(np.array([1.0, 2.0])), x.take(np.array([False, True])).gram()
    (array([-3.,  3.]), array([[2.]]))
    """

    def __init__(self, x: Any, which: Any = None, mean: Any = None, unit: Any = None) -> None:
        self._base, self._which, self._mean, self._unit = x, which, mean, unit

    @lazy
    def _x(self) -> Any:
        """The columns, copied."""
        if self._mean is None:
            return self._base
        out = by_column(self._base) if self._which is None else self._base.T[self._which].T
        out -= self._mean
        out *= self._unit
        return out

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, p = self._base.shape
        return int(n), int(p if self._which is None else self._which.size)

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        if self._mean is None:
            return super().matvec(coef)
        scaled = (self._unit * coef.T).T
        return self._base @ self._wide(scaled) - self._mean @ scaled

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r."""
        if self._mean is None:
            return super().rmatvec(rows)
        found = self._narrow(self._base.T @ rows)
        return (self._unit * (found.T - np.multiply.outer(rows.sum(axis=0), self._mean))).T

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)', some rows at a time."""
        if self._mean is None:
            return super().gram(weights, center)
        n, k = self.shape
        mean = self._mean if center is None else self._mean + center / self._unit
        root, lower = None if weights is None else np.sqrt(weights), np.zeros((k, k), order="F")
        for start in range(0, n if k else 0, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = self._part(rows) - mean
            if root is not None:
                block *= root[rows, None]
            lower = add_squares(block, lower)
        return mirrored(lower * self._unit * self._unit[:, None])

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2, some rows at a time."""
        if self._mean is None:
            return super().squares(weights)
        n, k = self.shape
        out = np.zeros((k, *np.shape(weights)[1:]))
        for start in range(0, n, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = self._part(rows) - self._mean
            block *= block
            out += block.sum(axis=0) if weights is None else block.T @ weights[rows]
        return (self._unit**2 * out.T).T

    def summed(self, targets: Vector, weights: Vector | None) -> CrossProducts:
        """Return the cross-products of columns and targets."""
        found = cross_products(self._base, targets, weights)
        if self._mean is None:
            return found
        p = self._base.shape[1]
        which = np.append(np.arange(p) if self._which is None else self._which, p)
        mean, unit = np.append(self._mean, 0.0), np.append(self._unit, 1.0)
        return found._replace(
            origin=(found.origin[which] - mean) * unit,
            shift=found.shift[which] * unit,
            products=np.asfortranarray(found.products[np.ix_(which, which)] * unit * unit[:, None]),
        )

    def stretched(self, factor: Vector) -> Dense:
        """Return the columns times ``factor``."""
        if self._mean is None:
            return super().stretched(factor)
        return Long(self._base, self._which, self._mean, self._unit * factor)

    def take(self, keep: Mask) -> Dense:
        """Return the columns in ``keep``: as they are, or copied if they are few."""
        which = np.flatnonzero(keep) if self._which is None else self._which[keep]
        if self._mean is None:
            return super().take(keep)
        out = Long(self._base, which, self._mean[keep], self._unit[keep])
        return out if which.size > WORTH_A_COPY * self._base.shape[1] else Dense(out._x)

    def rows(self, which: Any) -> Dense:
        """Return some of the rows."""
        if self._mean is None:
            return super().rows(which)
        out = Dense(np.asfortranarray((self._part(which) - self._mean) * self._unit))
        out.names = self.names
        return out

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Dense, Spread]:
        """Return the columns that vary, centred and scaled whenever they are read."""
        n, k = self.shape
        blocks = range(0, n, BLOCK_ROWS)
        each = np.ones(n) if weights is None else weights
        sums = reduce(
            Sums.plus, (sums_of(self._base[i : i + BLOCK_ROWS], each[i : i + BLOCK_ROWS]) for i in blocks)
        )
        spread = np.sqrt(sums.squares / sums.weight)
        if not within(spread, *SQUARABLE) or np.any(np.abs(sums.mean) > NEAREST * spread):
            return super().standardised(weights, center, scale)
        mean = sums.mean if center else np.zeros(k)
        spread = spread if center else np.sqrt(spread**2 + sums.mean**2)
        found = Spread(mean, spread, varies(spread, mean, n))
        return Long(self._base, None, mean, 1.0 / spread if scale else np.ones(k)), found

    def _part(self, rows: Any) -> Any:
        block = self._base[rows]
        return block if self._which is None else np.take(block, self._which, axis=1)

    def _wide(self, values: Any) -> Any:
        if self._which is None:
            return values
        out = np.zeros((self._base.shape[1], *values.shape[1:]))
        out[self._which] = values
        return out

    def _narrow(self, values: Any) -> Any:
        return values if self._which is None else values[self._which]


def in_memory(x: Any) -> Dense:
    """Return an array as columns.

    Examples
    --------
    >>> type(in_memory(np.zeros((3, 2)))).__name__
    'Dense'
    """
    n, p = x.shape
    is_long = x.dtype == np.float64 and x.nbytes >= LONG_BYTES and n >= LONG_ROWS * p
    return Long(x) if is_long else Dense(x)
