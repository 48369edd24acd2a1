"""Columns less what a few vectors of rows explain of them, by algebra: X - C M', wherever X lives.

A product costs what one with X costs, and a little more; what is sparse stays sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Columns, Compressed, Scaled, Spread
from horseshoe.data.dense import Dense
from horseshoe.linalg import half_solved, is_single, triangle

CHUNK = 1 << 22
"""Entries that are made dense at a time."""


class Less:
    """Columns X - C M'.

    Parameters
    ----------
    columns : Columns
        X.
    rows : array of shape (n, q)
        C.
    loads : array of shape (k, q)
        M.

    Examples
    --------
    >>> x = Less(Dense(np.array([[1.0], [3.0]])), np.ones((2, 1)), np.array([[2.0]]))
    >>> x.dense().ravel(), x.squares(), x.gram()
    (array([-1.,  1.]), array([2.]), array([[2.]]))
    """

    orthogonal = False
    remote = False
    names: Any = None

    def __init__(self, columns: Columns, rows: Matrix, loads: Matrix) -> None:
        self._columns, self._rows, self._loads = columns, rows, loads
        self.shape = columns.shape

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        return self._columns.matvec(coef) - self._rows @ (self._loads.T @ coef.astype(self._loads.dtype))

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r."""
        return self._columns.rmatvec(rows) - self._loads @ (self._rows.T @ rows.astype(self._rows.dtype))

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)'."""
        if center is not None:
            return self.less(np.ones((self.shape[0], 1)), center[:, None]).gram(weights)
        heavy = self._rows if weights is None else weights[:, None] * self._rows
        cross = self._columns.rmatvec(heavy) @ self._loads.T
        inner = self._loads @ (self._rows.T @ heavy) @ self._loads.T
        return np.asarray(self._columns.gram(weights) - cross - cross.T + inner)

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2."""
        if weights is not None and weights.ndim > 1:
            return np.column_stack([self.squares(column) for column in weights.T])
        heavy = self._rows if weights is None else weights[:, None] * self._rows
        cross = self._columns.rmatvec(heavy) - 0.5 * (self._loads @ (self._rows.T @ heavy))
        seen = 2.0 * np.einsum("ij,ij->i", self._loads, cross)
        return np.maximum(self._columns.squares(weights) - seen, 0.0)

    def scaled(self, root: Vector, dtype: Any = np.float64) -> ScaledLess:
        """Return the columns times ``root``."""
        loads = (self._loads * root[:, None]).astype(dtype)
        return ScaledLess(self._columns.scaled(root, dtype), self._rows.astype(dtype), loads)

    def stretched(self, factor: Vector) -> Less:
        """Return the columns times ``factor``."""
        return Less(self._columns.stretched(factor), self._rows, self._loads * factor[:, None])

    def less(self, rows: Matrix, loads: Matrix) -> Less:
        """Return the columns less C M'."""
        return Less(self._columns, np.hstack([self._rows, rows]), np.hstack([self._loads, loads]))

    def take(self, keep: Mask) -> Less:
        """Return the columns in ``keep``."""
        return Less(self._columns.take(keep), self._rows, self._loads[keep])

    def rows(self, which: Any) -> Less:
        """Return some of the rows."""
        return Less(self._columns.rows(which), self._rows[which], self._loads)

    def reweighted(self, root: Vector, center: Vector | None = None) -> Less:
        """Return diag(root) (X - 1 center')."""
        heavy = (root[:, None] * self._rows).astype(self._rows.dtype)
        return Less(self._columns.reweighted(root, center), heavy, self._loads)

    def single(self) -> Less:
        """Return the columns in single precision."""
        half = np.float32
        return Less(self._columns.single(), self._rows.astype(half), self._loads.astype(half))

    def compressed(self, targets: Vector) -> Compressed:
        """Return R and Q'z, X = QR, from some rows at a time."""
        n, k = self.shape
        if n <= k:
            return Compressed(self.dense(), targets, 0.0)
        root, step = np.zeros((0, k + 1)), max(k + 1, CHUNK // (k + 1))
        for start in range(0, n, step):
            some = slice(start, start + step)
            block = np.column_stack([self.rows(some).dense(), targets[some]])
            root = triangle(np.vstack([root, block]))
        rest = float(root[k, k] ** 2) if len(root) > k else 0.0
        return Compressed(root[:k, :k], root[:k, k], rest)

    def summed(self, targets: Vector, weights: Vector | None) -> None:
        """Return None: nothing asks it of columns that are standardised already."""

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Dense, Spread]:
        """Return the columns that vary, centred and scaled, as an array."""
        return Dense(self.dense()).standardised(weights, center, scale)

    def dense(self) -> Matrix:
        """Return the array."""
        return np.asarray(self._columns.dense() - self._rows @ self._loads.T)

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return the arrays of which the columns are made."""
        return (*self._columns.digest(brief), self._rows, self._loads)


class ScaledLess:
    """(X - C M') D^1/2."""

    def __init__(self, scaled: Scaled, rows: Any, loads: Any) -> None:
        self._scaled, self._rows, self._loads = scaled, rows, loads

    def outer(self, base: Any = None) -> Any:
        """Return base + X D X': the lower triangle."""
        out = self._scaled.outer(base)
        pull = self._scaled.matvec(self._loads) - 0.5 * (self._rows @ (self._loads.T @ self._loads))
        out -= pull @ self._rows.T + self._rows @ pull.T
        return out

    def leverages(self, factor: Any) -> Vector:
        """Return d_j x_j'M^-1 x_j."""
        potrs = lapack.spotrs if is_single(factor) else lapack.dpotrs
        seen = potrs(factor, np.asfortranarray(self._rows), lower=1)[0]
        cross = self._scaled.rmatvec(seen) - 0.5 * (self._loads @ (self._rows.T @ seen))
        taken = 2.0 * np.einsum("ij,ij->i", self._loads, cross)
        return np.asarray(np.maximum(self._scaled.leverages(factor) - taken, 0.0), dtype=np.float64)

    def half_solved(self, factor: Any) -> Matrix:
        """Return L^-1 X D^1/2."""
        seen = half_solved(factor, np.asfortranarray(self._rows, dtype=np.float64))
        return np.asarray(self._scaled.half_solved(factor) - seen @ self._loads.T)

    def matvec(self, coef: Any) -> Any:
        """Return X D^1/2 b."""
        return self._scaled.matvec(coef) - self._rows @ (self._loads.T @ coef)

    def rmatvec(self, rows: Any) -> Any:
        """Return D^1/2 X' r."""
        return self._scaled.rmatvec(rows) - self._loads @ (self._rows.T @ rows)
