"""Columns that are read a block at a time: wide data, with no more in memory than n x n and a few blocks."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Spread, varies
from horseshoe.data.dense import Dense
from horseshoe.data.parted import ROOM, Parted, densified
from horseshoe.data.parts import Picked
from horseshoe.linalg import half_solved, syrk

FAR = 10.0
"""A column whose mean is more than so many times its spread is centred entry by entry; others by algebra."""


class ColumnBlocks(Parted):
    """Columns in blocks; blocks none of whose columns are left are not read again.

    Examples
    --------
    >>> from horseshoe.data.parts import ArrayParts
    >>> x = ColumnBlocks(ArrayParts(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1, step=1))
    >>> x.rmatvec(np.ones(2)), x.matvec(np.ones(2))
    (array([4., 6.]), array([3., 7.]))
    """

    axis = 1
    _near = False  # whether every mean is small beside its spread

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        return self._product(coef.astype(self._dtype, copy=False), self._dtype)

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r."""
        return self._across_product(rows.astype(self._dtype, copy=False), self._dtype)

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)': of few columns."""
        return Dense(np.asfortranarray(self.dense(), dtype=np.float64)).gram(weights, center)

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2."""
        each = np.ones(self.shape[0]) if weights is None else weights
        return self._joined(self._each(partial(_squares, each), np.float64), each.shape[1:], np.float64)

    def scaled(self, root: Vector, dtype: Any = np.float64) -> ScaledBlocks:
        """Return the columns times ``root``: nothing is computed before it is read."""
        return ScaledBlocks(self, root, np.dtype(dtype))

    def take(self, keep: Mask) -> Any:
        """Return the columns in ``keep``; in memory, if they take little of it."""
        out = self._copy(Picked(self._parts, keep))
        out._some(keep)
        few = np.dtype(self._dtype).itemsize * self.shape[0] * int(keep.sum()) <= ROOM
        return Dense(out.dense()) if few else out

    def rows(self, which: Any) -> ColumnBlocks:
        """Return some of the rows."""
        out, rows = self._copy(), np.arange(self.shape[0])[which]
        out._across = rows if self._across is None else self._across[rows]
        out._root = None if self._root is None else self._root[rows]
        return out

    def single(self) -> ColumnBlocks:
        """Return the columns in single precision."""
        out = self._copy(self._parts.single())
        out._dtype = np.float32
        return out

    def summed(self, targets: Vector, weights: Vector | None) -> None:
        """Return None: columns outnumber rows."""

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Any, Spread]:
        """Return the columns that vary, centred and scaled when they are read."""
        n, k = self.shape
        found = list(self._each(partial(_moments, weights, center), np.float64))
        mean, spread, largest = (np.concatenate(values) for values in zip(*found, strict=True))
        self._refuse_extremes(largest)
        out, moves = self._copy(), varies(spread, mean, n)
        out._mean = mean if self._mean is None else self._mean + mean
        out._unit = np.divide(1.0, spread, out=np.ones(k), where=moves) if scale else None
        out._near = bool(np.all(np.abs(mean[moves]) <= FAR * spread[moves]))
        return (out if moves.all() else out.take(moves)), Spread(mean, spread, moves)

    def reweighted(self, root: Vector, center: Vector | None = None) -> ColumnBlocks:
        """Return diag(root) (X - 1 center'), centred entry by entry."""
        out = super().reweighted(root, center)
        out._near = False
        return out

    def _product(self, coef: Any, dtype: Any, scale: Any = None) -> Any:
        """Return X D b."""
        coef = coef if scale is None else (coef.T * scale).T
        if not self._near:
            found = self._summed(_times, dtype, coef)
            return np.zeros((self.shape[0], *coef.shape[1:]), dtype) if found is None else found
        coef = (coef.T * self._units()).T.astype(dtype, copy=False)
        found = self._parts.summed(partial(_raw_times, dtype), coef, across=self._across)
        return found - (self._mean @ coef).astype(dtype)

    def _across_product(self, rows: Any, dtype: Any) -> Any:
        """Return X' r."""
        if not self._near:
            return self._joined(self._each(partial(_times_rows, rows), dtype), rows.shape[1:], dtype)
        found = self._parts.each(partial(_raw_times_rows, dtype, rows), across=self._across)
        found = self._joined(found, rows.shape[1:], dtype)
        found -= np.multiply.outer(self._mean, rows.sum(axis=0)).astype(dtype)
        return (found.T * self._units().astype(dtype)).T

    def _units(self) -> Vector:
        return np.ones(self.shape[1]) if self._unit is None else np.asarray(self._unit)

    def _joined(self, found: Any, more: tuple[int, ...], dtype: Any) -> Any:
        return np.concatenate([*found, np.zeros((0, *more), dtype)])


class ScaledBlocks(NamedTuple):
    """Columns in blocks times ``root``."""

    columns: ColumnBlocks
    root: Vector
    dtype: Any

    def outer(self, base: Any = None) -> Any:
        """Return base + X D X'."""
        n = self.columns.shape[0]
        found = self.columns._summed(_outer, self.dtype, self.root)
        found = np.zeros((n, n), self.dtype, order="F") if found is None else found
        return found if base is None else np.asfortranarray(found + base, dtype=self.dtype)

    def leverages(self, factor: Any) -> Vector:
        """Return d_j x_j'M^-1 x_j."""
        found = self.columns._each(partial(_leverages, factor), self.dtype, self.root)
        return np.concatenate([*found, np.zeros(0)])

    def half_solved(self, factor: Any) -> Matrix:
        """Return L^-1 X D^1/2, dense."""
        return Dense(self.columns.dense()).scaled(self.root, self.dtype).half_solved(factor)

    def matvec(self, coef: Any) -> Any:
        """Return X D^1/2 b."""
        return self.columns._product(coef, self.dtype, self.root)

    def rmatvec(self, rows: Any) -> Any:
        """Return D^1/2 X' r."""
        found = self.columns._across_product(rows, self.dtype)
        return (found.T * self.root.astype(self.dtype)).T


@np.errstate(over="ignore", invalid="ignore")  # units that are refused
def _moments(weights: Vector | None, center: bool, block: Matrix) -> tuple[Vector, Vector, Vector]:
    """Return means, zero if not to be taken off, root mean squares around them, and largest sizes."""
    each = np.ones(len(block)) if weights is None else weights
    total = float(each.sum())
    mean = each @ block / total if center else np.zeros(block.shape[1])
    around = block - mean
    spread = np.sqrt(np.einsum("ij,ij,i->j", around, around, each) / total)
    return mean, spread, np.abs(block).max(axis=0, initial=0.0)


def _times(block: Any, coef: Any) -> Any:
    return block @ coef.astype(block.dtype, copy=False)


def _times_rows(rows: Any, block: Any) -> Any:
    return block.T @ rows.astype(block.dtype, copy=False)


def _raw_times(dtype: Any, part: Any, coef: Any) -> Any:
    return _times(np.asarray(densified(part), dtype=dtype), coef)


def _raw_times_rows(dtype: Any, rows: Any, part: Any) -> Any:
    return _times_rows(rows, np.asarray(densified(part), dtype=dtype))


def _squares(weights: Any, block: Matrix) -> Any:
    return (block * block).T @ weights


def _scaled(block: Any, root: Vector) -> Any:
    return np.asfortranarray(block * root.astype(block.dtype))


def _outer(block: Any, root: Vector) -> Any:
    return syrk(_scaled(block, root))


def _leverages(factor: Any, block: Any, root: Vector) -> Vector:
    half = half_solved(factor, _scaled(block, root), overwrite=True)
    return np.asarray(np.einsum("ij,ij->j", half, half), dtype=np.float64)
