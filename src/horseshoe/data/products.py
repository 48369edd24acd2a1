"""Rows summed up: their means and centred cross-products, which add up over chunks and lose no digits.

All that a Gaussian fit asks of many rows are their number, their means and
sum_i w_i (x_i - mean)(x_i - mean)', the response among the x. Those of two chunks add up by the pairwise
update of Chan, Golub and LeVeque (1983),

    S = S_a + S_b + w_a w_b / (w_a + w_b) (mean_a - mean_b)(mean_a - mean_b)',

in which nothing cancels, wherever the columns lie. `horseshoe.data.compressed` makes rows of them again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from horseshoe._types import Matrix, Vector
from horseshoe.linalg import syrk

# Rows that are centred at a time: few enough to stay in the cache.
BLOCK_ROWS = 2048
# Sums of squares outside these are not used: they may have been out of range on the way.
SMALLEST_SQUARE, LARGEST_SQUARE = 2.0**-800, 2.0**800


class CrossProducts(NamedTuple):
    """What rows come to: number, total weight, and the means and centred cross-products of (x, y).

    The mean is ``origin + shift``: where it is large, that has more digits than one number. ``products`` is
    the lower triangle, Fortran-ordered.

    Examples
    --------
    >>> x, y = np.array([[1.0], [2.0], [6.0]]), np.array([0.0, 1.0, 5.0])
    >>> both = cross_products(x[:1], y[:1]).plus(cross_products(x[1:], y[1:]))
    >>> both.mean, both.products[1, 0].item()
    (array([3., 2.]), 14.0)
    """

    n_rows: int
    weight: float
    origin: Vector
    shift: Vector
    products: Matrix

    @property
    def mean(self) -> Vector:
        """The means of the columns and of the response."""
        return self.origin + self.shift

    @property
    def n_columns(self) -> int:
        """Number of columns, without the response."""
        return int(self.origin.size) - 1

    @property
    def is_usable(self) -> bool:
        """Whether nothing was out of range on the way; columns that do not vary do no harm."""
        squares = self.products.diagonal()
        squares = squares[squares > 0.0]
        small = squares.size == 0 or float(squares.min()) > SMALLEST_SQUARE
        return small and bool(np.all(squares < LARGEST_SQUARE) and np.isfinite(self.products[-1]).all())

    def times(self, factor: float) -> CrossProducts:
        """Return those of rows whose weights are so many times as large."""
        return self._replace(weight=factor * self.weight, products=factor * self.products)

    def around_zero(self) -> CrossProducts:
        """Return the same without an intercept: cross-products that are not centred."""
        mean = self.mean
        whole = self.products + np.tril(self.weight * np.outer(mean, mean))
        return self._replace(origin=np.zeros_like(mean), shift=np.zeros_like(mean), products=whole)

    def plus(self, other: CrossProducts) -> CrossProducts:
        """Return those of both chunks; neither is modified."""
        few, many = sorted((self, other), key=lambda part: part.weight)
        if few.weight == 0.0:
            return many._replace(n_rows=few.n_rows + many.n_rows)
        weight, gap = few.weight + many.weight, (few.origin - many.origin) + (few.shift - many.shift)
        share, products = few.weight / weight, few.products + many.products
        products = blas.dsyr(share * many.weight, gap, a=products, lower=1, overwrite_a=1)
        return many._replace(
            n_rows=few.n_rows + many.n_rows, weight=weight, shift=many.shift + share * gap, products=products
        )


def cross_products(x: Any, y: Vector, weights: Vector | None = None) -> CrossProducts:
    """Return those of some rows, a block at a time: x is read once, and not copied.

    Examples
    --------
    >>> cross_products(np.array([[1.0], [3.0]]), np.array([1.0, 2.0]), np.array([1.0, 3.0])).mean
    array([2.5 , 1.75])
    """
    n, p = x.shape
    order: Any = "C" if x.flags.c_contiguous else "F"
    origin = np.append(x[:1].sum(axis=0, dtype=np.float64), y[:1].sum())
    total, mean, lower = 0.0, np.zeros(p + 1), np.zeros((p + 1, p + 1), order="F")
    for start in range(0, n, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, n))
        block = np.empty((rows.stop - start, p + 1), order=order)
        np.subtract(x[rows], origin[:p], out=block[:, :p])
        np.subtract(y[rows], origin[p], out=block[:, p])
        counts = None if weights is None else weights[rows]
        weight = float(rows.stop - start) if counts is None else float(counts.sum())
        if weight == 0.0:
            continue
        here = np.asarray(block.mean(axis=0) if counts is None else counts @ block / weight)
        block -= here
        if counts is not None:
            block *= np.sqrt(counts)[:, None]
        lower = add_squares(block, lower)
        gap, share = here - mean, weight / (total + weight)
        lower = blas.dsyr(share * total, gap, a=lower, lower=1, overwrite_a=1)
        total, mean = total + weight, mean + share * gap
    return CrossProducts(n, total, origin, mean, lower)


def add_squares(block: Any, lower: Matrix) -> Matrix:
    """Return lower + block' block, in place; whatever the order of the block.

    Examples
    --------
    >>> add_squares(np.array([[1.0], [2.0]]), np.ones((1, 1), order="F"))
    array([[6.]])
    """
    across = block.flags.c_contiguous
    return np.asarray(syrk(block.T if across else block, lower, trans=not across))
