"""Several weighted problems with the same columns, side by side: the data as sweeps over columns see them.

Problem t explains the targets z_t with row weights w_t; rows that it does not have weigh nothing. Products
with X serve all of them at once. With an intercept everything is centred by w_t: the residual is, and then X
need not be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Columns

Index = NDArray[np.intp]


class Local(NamedTuple):
    """Some columns of one problem, to be visited one at a time.

    A change of column i takes change * ``vectors[i]`` from what ``work`` is. With ``products`` these are x_i
    and r, and x_i'r is their product; without, rows of X'X and X'r, which are shorter for few columns.
    """

    vectors: Matrix
    work: Vector
    products: bool


class Block(NamedTuple):
    """Some columns of one problem, weighted and centred, a row each; their Gram matrix if they are few.

    Few are no more than there are observations, of which a row of weight 2 is two.
    """

    where: Index
    x: Matrix
    gram: Matrix | None


class Batch:
    """Targets and weights of each problem, and its residual r, weighted, kept up to date.

    Parameters
    ----------
    columns : Columns
        Of all problems.
    targets, weights : arrays of shape (n, T)
        One column for each problem.
    n : array of shape (T,)
        How many observations each has; the sums of the weights if not given.
    center : bool
        Whether there are intercepts.
    share : array of shape (T,), optional
        The `noise_share` of the family of each problem.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> x = Dense(np.array([[1.0], [3.0], [8.0]]))
    >>> data = Batch(x, np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 6.0]]), np.array([[1.0, 1], [1, 1], [0, 1]]))
    >>> data.squares, data.total
    (array([[ 2., 26.]]), array([ 0.5, 14. ]))
    """

    def __init__(
        self,
        columns: Columns,
        targets: Matrix,
        weights: Matrix,
        n: Vector | None = None,
        center: bool = True,
        share: Vector | None = None,
    ) -> None:
        if not targets.shape == weights.shape == (columns.shape[0], targets.shape[-1]):
            shapes = f"the columns have {columns.shape[0]} rows, targets have shape {targets.shape}"
            raise ValueError(f"{shapes} and weights {weights.shape}: give a row of each for each row")
        self.columns, self._w, self._root = columns, weights, np.sqrt(weights)
        self._information = weights.sum(axis=0)
        self.n = self._information if n is None else n
        self._centered = center
        self.share = np.ones(weights.shape[1]) if share is None else share
        self._mean = np.zeros((columns.shape[1], weights.shape[1]))
        self._z = self._centre(targets)
        self.total: Vector = np.einsum("it,it,it->t", weights, self._z, self._z)
        self.squares = np.asarray(columns.squares(weights))
        if center:
            self._mean = np.asarray(columns.rmatvec(weights)) / self._information
            self.squares = np.maximum(self.squares - self._information * self._mean**2, 0.0)
        self._blocks: dict[int, Block] = {}
        self._numbers = np.arange(weights.shape[1])

    @property
    def n_problems(self) -> int:
        """How many problems there are."""
        return int(self._w.shape[1])

    def only(self, keep: Mask | Index) -> Batch:
        """Return some of the problems, with their residuals."""
        part = object.__new__(Batch)
        part.__dict__.update(self.__dict__)
        for name in (
            "_w",
            "_root",
            "_z",
            "_r",
            "_mean",
            "squares",
            "n",
            "total",
            "_information",
            "_numbers",
            "share",
        ):
            part.__dict__[name] = self.__dict__[name][..., keep]
        return part

    def _centre(self, rows: Matrix) -> Matrix:
        if not self._centered:
            return rows
        return np.asarray(rows - np.einsum("it,it->t", self._w, rows) / self._information)

    def begin(self, coef: Matrix) -> None:
        """Set r = z - X coef."""
        r = self._z - self._centre(self.columns.matvec(coef)) if coef.any() else self._z
        self._r = self._root * r

    def pull(self) -> Matrix:
        """Return X'r of all columns and problems."""
        return np.asarray(self.columns.rmatvec(self._root * self._r))

    def rss(self) -> Vector:
        """Return r'r, over the share of it that is noise."""
        return np.asarray(np.einsum("it,it->t", self._r, self._r)) / self.share

    def shift(self, change: Matrix) -> tuple[Matrix, Vector]:
        """Return what a change of all coefficients would take from the residual, and |X change|^2."""
        shift = self._root * self._centre(self.columns.matvec(change))
        return shift, np.asarray(np.einsum("it,it->t", shift, shift))

    def subtract_fit(self, shift: Matrix) -> None:
        """Take a shift from the residual."""
        self._r -= shift

    def local(self, t: int, where: Index) -> Local:
        """Return columns and r of a problem if these are more than its rows, else their X'X and X'r."""
        block, r = self._block(t, where), self._r[:, t].copy()
        return Local(block.x, r, True) if block.gram is None else Local(block.gram, block.x @ r, False)

    def update_residual(self, t: int, where: Index, change: Vector) -> None:
        """Bring r up to date with the changes of some columns of a problem."""
        self._r[:, t] -= change @ self._block(t, where).x

    def targets(self) -> Matrix:
        """Return z, weighted and centred."""
        return np.asarray(self._root * self._z)

    def pull_of(self, rows: Matrix) -> Matrix:
        """Return X'r of weighted residuals."""
        return np.asarray(self.columns.rmatvec(self._root * rows))

    def one_each(self, which: Index) -> Matrix:
        """Return one column of each problem, weighted and centred."""
        keep = np.zeros(self.columns.shape[1], dtype=np.bool_)
        keep[which] = True
        x = self.columns.take(keep).dense()[:, np.searchsorted(np.flatnonzero(keep), which)]
        return np.asarray(self._root * (x - self._mean[which, np.arange(which.size)]))

    def some(self, t: int, where: Index) -> Matrix:
        """Return some columns of a problem, weighted and centred, a row each."""
        return self._block(t, where).x

    def normal(self, t: int, where: Index) -> tuple[Matrix, Vector, float]:
        """Return X'X and X'z of a few columns of a problem, and z'z."""
        block, z = self._block(t, where), self._root[:, t] * self._z[:, t]
        gram = block.x @ block.x.T if block.gram is None else block.gram
        return gram, block.x @ z, float(z @ z)

    def _block(self, t: int, where: Index) -> Block:
        number = int(self._numbers[t])
        known = self._blocks.get(number)
        if known is not None and (known.where is where or np.array_equal(known.where, where)):
            return known
        order = np.argsort(where)
        keep = np.zeros(self.columns.shape[1], dtype=np.bool_)
        keep[where] = True
        x = np.empty((where.size, self._w.shape[0]))
        x[order] = self.columns.take(keep).dense().T
        x -= self._mean[where, t][:, None]
        x *= self._root[:, t]
        gram: Any = x @ x.T if where.size <= self.n[t] else None
        self._blocks[number] = Block(where, x, gram)
        return self._blocks[number]
