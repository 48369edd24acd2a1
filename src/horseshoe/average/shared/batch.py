"""Several targets for each training set, side by side: what `Batch` is for one.

In set t every row has one weight for all q targets, so that columns are centred, and their products formed,
once for all of them. Arrays have the sets before the targets on their last axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.batch import Block, Index
from horseshoe.data.columns import Columns

Cube = Any
"""An array of three axes: of shape (n, T, q) or (p, T, q)."""


class Padded(NamedTuple):
    """Some columns of each set, padded to the same number: X'X (T, k, k), X'r (T, k, q), and which they are.

    ``places`` (T, k) has column 0 where a set has fewer, ``known`` tells where it does not; there all
    products are zero.
    """

    gram: Any
    work: Any
    places: Any
    known: Any


class SharedBatch:
    """Targets (n, T, q) with weights (n, T), and their residuals r, weighted, kept up to date.

    Parameters
    ----------
    columns : Columns
        Of all sets.
    targets : array of shape (n, T, q)
        Those of all regressions.
    weights : array of shape (n, T)
        Of the rows in each set; zero where a set does not have a row.
    n : array of shape (T,)
        How many observations each has.
    center : bool
        Whether there are intercepts.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> x = Dense(np.array([[1.0], [3.0], [8.0]]))
    >>> z = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0]])[:, None]
    >>> data = SharedBatch(x, z, np.array([[1.0], [1.0], [0.0]]), np.array([2.0]))
    >>> data.squares, data.total
    (array([[2.]]), array([[0.5, 4.5]]))
    """

    def __init__(
        self, columns: Columns, targets: Cube, weights: Matrix, n: Vector, center: bool = True
    ) -> None:
        self.columns, self.n, self._w, self._centered = columns, n, weights, center
        self._root, self._information = np.sqrt(weights), weights.sum(axis=0)
        self._z = self._centre(targets)
        self.total: Matrix = np.einsum("it,itq,itq->tq", weights, self._z, self._z)
        self.squares = np.asarray(columns.squares(weights))
        self._mean = np.zeros_like(self.squares)
        if center:
            self._mean = np.asarray(columns.rmatvec(weights)) / self._information
            self.squares = np.maximum(self.squares - self._information * self._mean**2, 0.0)
        self._blocks: dict[int, Block] = {}
        self._numbers = np.arange(weights.shape[1])

    def only(self, keep: Mask | Index) -> SharedBatch:
        """Return some of the sets, with their residuals."""
        part = object.__new__(SharedBatch)
        part.__dict__.update(self.__dict__)
        for name in ("_w", "_root", "_mean", "squares", "n", "_information", "_numbers"):
            part.__dict__[name] = self.__dict__[name][..., keep]
        part._z, part._r, part.total = self._z[:, keep], self._r[:, keep], self.total[keep]
        return part

    def _centre(self, rows: Cube) -> Cube:
        if not self._centered:
            return rows
        return rows - np.einsum("it,itq->tq", self._w, rows) / self._information[:, None]

    def fit(self, coef: Cube) -> Cube:
        """Return X coef, weighted and centred."""
        p, sets, q = coef.shape
        seen = self.columns.matvec(coef.reshape(p, sets * q)).reshape(-1, sets, q)
        return self._root[..., None] * self._centre(seen)

    def begin(self, coef: Cube) -> None:
        """Set r = z - X coef."""
        self._r = self.targets()
        if coef.any():
            self._r -= self.fit(coef)

    def targets(self) -> Cube:
        """Return z, weighted and centred."""
        return self._root[..., None] * self._z

    def pull_of(self, rows: Cube) -> Cube:
        """Return X'r of weighted residuals: (p, T, q)."""
        n, sets, q = rows.shape
        flat = (self._root[..., None] * rows).reshape(n, sets * q)
        return np.asarray(self.columns.rmatvec(flat)).reshape(self.columns.shape[1], sets, q)

    def pull(self) -> Cube:
        """Return X'r."""
        return self.pull_of(self._r)

    def rss(self) -> Matrix:
        """Return r'r of every target: (T, q)."""
        return np.asarray(np.einsum("itq,itq->tq", self._r, self._r))

    def subtract_fit(self, shift: Cube) -> None:
        """Take a shift from the residuals."""
        self._r -= shift

    def padded(self, where: list[Index]) -> Padded:
        """Return some columns of each set: those of set t are ``where[t]``, in this order."""
        most, sets, q = max(len(some) for some in where), len(where), self._r.shape[2]
        gram, work = np.zeros((sets, most, most)), np.zeros((sets, most, q))
        places, known = np.zeros((sets, most), dtype=int), np.zeros((sets, most), dtype=np.bool_)
        for t, some in enumerate(where):
            k = some.size
            if k:
                block = self._block(t, some)
                gram[t, :k, :k], work[t, :k] = block.gram, block.x @ self._r[:, t]
                places[t, :k], known[t, :k] = some, True
        return Padded(gram, work, places, known)

    def update_residual(self, where: list[Index], change: Any) -> None:
        """Bring r up to date with the changes (T, k, q) of these columns."""
        for t, some in enumerate(where):
            if some.size:
                self._r[:, t] -= self._block(t, some).x.T @ change[t, : some.size]

    def one_each(self, which: Index) -> Matrix:
        """Return one column of each set, weighted and centred: (n, T)."""
        keep = np.zeros(self.columns.shape[1], dtype=np.bool_)
        keep[which] = True
        x = self.columns.take(keep).dense()[:, np.searchsorted(np.flatnonzero(keep), which)]
        return np.asarray(self._root * (x - self._mean[which, np.arange(which.size)]))

    def normal(self, t: int, where: Index) -> tuple[Matrix, Matrix]:
        """Return X'X and X'z of a few columns of a set."""
        block = self._block(t, where)
        return np.asarray(block.gram), block.x @ (self._root[:, t, None] * self._z[:, t])

    def _block(self, t: int, where: Index) -> Block:
        number = int(self._numbers[t])
        known = self._blocks.get(number)
        if known is not None and np.array_equal(known.where, where):
            return known
        order = np.argsort(where)
        keep = np.zeros(self.columns.shape[1], dtype=np.bool_)
        keep[where] = True
        x = np.empty((where.size, self._w.shape[0]))
        x[order] = self.columns.take(keep).dense().T
        x -= self._mean[where, t][:, None]
        x *= self._root[:, t]
        self._blocks[number] = Block(where, x, x @ x.T)
        return self._blocks[number]
