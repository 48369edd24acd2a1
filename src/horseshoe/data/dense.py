"""Columns in a NumPy array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Compressed, Spread, extreme_units, varies
from horseshoe.data.products import CrossProducts, cross_products
from horseshoe.linalg import half_solved, syrk, triangle
from horseshoe.threads import call_threads

BLOCK_ROWS = 4096
"""Rows that are weighted at a time: few enough to stay in the cache."""
COPIED_ROWS = 512
"""Rows that are copied to another order at a time."""
BLOCK_BYTES = 64 << 20
"""Size of the scaled copy of the columns that the dual form works through at a time."""


class Dense:
    """Columns in an array, which is never modified; products are fastest if it is Fortran-ordered.

    Examples
    --------
    >>> Dense(np.array([[1.0, 2.0], [3.0, 4.0]])).take(np.array([False, True])).rmatvec(np.array([1.0, 1.0]))
    array([6.])
    """

    orthogonal = False
    remote = False
    names: Any = None

    def __init__(self, x: Any) -> None:
        self._x = x

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, k = self._x.shape
        return int(n), int(k)

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        with call_threads(2.0 * self._x.shape[0] * coef.size):
            return self._x @ coef.astype(self._x.dtype, copy=False)

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r."""
        with call_threads(2.0 * self._x.shape[1] * rows.size):
            return self._x.T @ rows.astype(self._x.dtype, copy=False)

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)'; weighted rows a block at a time."""
        if weights is None and center is None:
            return mirrored(syrk(self._x.astype(np.float64, copy=False), trans=True))
        n, k = self.shape
        root = np.ones(n) if weights is None else np.sqrt(weights)
        lower = np.zeros((k, k), order="F")
        for start in range(0, n if k else 0, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = self._x[rows] if center is None else self._x[rows] - center
            block = np.asfortranarray(block * root[rows, None])
            lower = syrk(block, lower, trans=True)
        return mirrored(lower)

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2; some columns at a time."""
        if weights is None:
            return np.asarray(np.einsum("ij,ij->j", self._x, self._x))
        n, k = self.shape
        out, step = np.empty((k, *weights.shape[1:])), max(1, BLOCK_BYTES // (8 * max(1, n)))
        for start in range(0, k, step):
            part = self._x[:, start : start + step]
            out[start : start + step] = (part * part).T @ weights
        return out

    def scaled(self, root: Vector, dtype: Any = np.float64) -> Blocks:
        """Return the columns times ``root``."""
        return Blocks(self._x, root, dtype)

    def stretched(self, factor: Vector) -> Dense:
        """Return the columns times ``factor``."""
        return Dense(self._x * factor)

    def less(self, rows: Matrix, loads: Matrix) -> Dense:
        """Return X - C M'."""
        taken = rows @ loads.T
        return Dense(np.asfortranarray(self._x - taken.astype(self._x.dtype, copy=False)))

    def take(self, keep: Mask) -> Dense:
        """Return the columns in ``keep``, Fortran-ordered: contiguous to read and to write."""
        return Dense(self._x.T[keep].T)

    def rows(self, which: Any) -> Dense:
        """Return some of the rows."""
        part = self._x[which]
        out = Dense(np.asfortranarray(part) if self._x.flags.f_contiguous else part)
        out.names = self.names
        return out

    def reweighted(self, root: Vector, center: Vector | None = None) -> Dense:
        """Return diag(root) (X - 1 center')."""
        dtype = self._x.dtype
        out = self._x.copy(order="K") if center is None else self._x - center.astype(dtype, copy=False)
        out *= root.astype(dtype, copy=False)[:, None]
        return Dense(np.asfortranarray(out))

    def single(self) -> Dense:
        """Return the columns in single precision."""
        return self if self._x.itemsize == 4 else Dense(self._x.astype(np.float32))

    def compressed(self, targets: Vector) -> Compressed:
        """Return R and Q'z, X = QR."""
        if self._x.shape[0] <= self._x.shape[1]:
            return Compressed(self._x, targets, 0.0)
        root: Any = triangle(np.column_stack([self._x, targets]))
        return Compressed(root[:-1, :-1], root[:-1, -1], float(root[-1, -1] ** 2))

    def summed(self, targets: Vector, weights: Vector | None) -> CrossProducts:
        """Return the cross-products of columns and targets."""
        return cross_products(self._x, targets, weights)

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Dense, Spread]:
        """Return the columns that vary, centred and scaled: the one copy of the data."""
        with np.errstate(over="ignore", invalid="ignore"):  # then units are taken out, exactly
            part, found = self._standardised(weights, center, scale)
            powers = extreme_units(found.spread, lambda: np.asarray(np.abs(self._x).max(axis=0)))
            if powers is None:
                return part, found
            part, found = Dense(np.ldexp(self._x, -powers))._standardised(weights, center, scale)
        if not scale:
            part = Dense(np.ldexp(part._x, powers[found.varies]))
        mean, spread = np.ldexp(found.mean, powers), np.ldexp(found.spread, powers)
        return part, Spread(mean, spread, found.varies)

    def _standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Dense, Spread]:
        x = by_column(self._x)
        n, k = x.shape
        total, mean = (n if weights is None else weights.sum()), np.zeros(k)
        if center:
            mean = x.mean(axis=0) if weights is None else weights @ x / total
            x -= mean
        squares = np.einsum("ij,ij->j", x, x) if weights is None else np.einsum("ij,ij,i->j", x, x, weights)
        found = Spread(mean, np.sqrt(squares / total), np.empty(0, dtype=np.bool_))
        found = found._replace(varies=varies(found.spread, mean, n))
        if not found.varies.all():
            x = x.T[found.varies].T
        if scale:
            x *= 1.0 / found.spread[found.varies]
        return Dense(x), found

    def dense(self) -> Matrix:
        """Return the array."""
        return np.asarray(self._x)

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return the array."""
        return (self._x,)


def by_column(x: Any) -> Any:
    """Return a copy in Fortran's order, some rows at a time: then both it and the array stay in the cache.

    Examples
    --------
    >>> by_column(np.ones((2, 3))).flags.f_contiguous
    True
    """
    out = np.empty(x.shape, x.dtype, order="F")
    for start in range(0, len(x), COPIED_ROWS):
        rows = slice(start, start + COPIED_ROWS)
        out[rows] = x[rows]
    return out


def mirrored(lower: Any) -> Matrix:
    """Return a symmetric matrix from its lower triangle; above it are zeros.

    Examples
    --------
    >>> mirrored(np.array([[1.0, 0.0], [2.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    whole = lower + lower.T
    whole.ravel(order="K")[:: lower.shape[0] + 1] *= 0.5
    return np.asarray(whole)


def _all_ones(root: Vector) -> bool:
    return root.size == 0 or bool(root[0] == 1.0 and (root == 1.0).all())


class Blocks:
    """The columns times ``root``, in blocks of bounded size; a single block is scaled only once."""

    def __init__(self, x: Any, root: Vector, dtype: Any) -> None:
        self._x, self._dtype = x, np.dtype(dtype)
        self._root: Any = root.astype(dtype)
        self._step = max(1, BLOCK_BYTES // (self._dtype.itemsize * max(1, x.shape[0])))
        self._plain = self._dtype == x.dtype and _all_ones(root)  # then nothing is copied ...
        self._only: Any = None

    def outer(self, base: Any = None) -> Any:
        """Return base + X D X'."""
        n, k = self._x.shape
        if base is None and 0 < k <= self._step:
            return syrk(self._block(slice(0, k)))
        out = np.zeros((n, n), self._dtype, "F") if base is None else base.astype(self._dtype, order="F")
        for _, block in self._blocks():
            out = syrk(block, out)
        return out

    def leverages(self, factor: Any) -> Vector:
        """Return d_j x_j'M^-1 x_j."""
        out = np.empty(self._x.shape[1])
        for columns, block in self._blocks():
            half = half_solved(factor, block, overwrite=not self._plain)  # ... or overwritten
            out[columns] = np.einsum("ij,ij->j", half, half)
        self._only = None  # it was overwritten
        return out

    def half_solved(self, factor: Any) -> Matrix:
        """Return L^-1 X D^1/2."""
        return np.asarray(half_solved(factor, np.asfortranarray(self._x * self._root)))

    def matvec(self, coef: Any) -> Any:
        """Return X D^1/2 b."""
        if self._only is not None:
            return self._only @ coef
        return sum(block @ coef[columns] for columns, block in self._blocks())

    def rmatvec(self, rows: Any) -> Any:
        """Return D^1/2 X' r."""
        if self._only is not None:
            return self._only.T @ rows
        return np.concatenate([block.T @ rows for _, block in self._blocks()])

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        for start in range(0, self._x.shape[1], self._step):
            columns = slice(start, start + self._step)
            yield columns, self._block(columns)

    def _block(self, columns: slice) -> Any:
        if self._only is not None:
            return self._only
        part = self._x[:, columns]
        if self._plain and part.flags.f_contiguous:
            return part
        out: Any = np.empty(part.shape, dtype=self._dtype, order="F")
        np.multiply(part, self._root[columns], out=out, casting="same_kind")
        if self._x.shape[1] <= self._step:
            self._only = out
        return out
