"""A batch of weighted least-squares problems with the same columns, as sweeps over columns see them.

Problem t has the row weights w_t, which are zero for rows that it does not have, and q targets: one of a
single regression, several of regressions or classes that share columns. Products with X serve all problems at
once. With an intercept everything is centred by w_t: the residual is, and then X need not be. Arrays have the
targets on their first axis and the problems on their last one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.view import View

# An array of three axes: targets, rows or columns, problems.
Index = NDArray[np.intp]
Cube = Any


class Block(NamedTuple):
    """Some columns of one problem, weighted and centred, a row each, and their Gram matrix if it is known."""

    where: Index
    x: Matrix
    gram: Matrix | None


class Batch:
    """Targets and weights of each problem, and its residuals r, weighted, kept up to date.

    Parameters
    ----------
    columns : View
        Of all problems.
    targets : array of shape (q, n, T), or (n, T) where q is 1
        Those of each problem.
    weights : array of shape (n, T)
        One column for each problem.
    n : array of shape (T,), optional
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
    (array([[ 2., 26.]]), array([[ 0.5, 14. ]]))
    """

    def __init__(
        self,
        columns: View,
        targets: Any,
        weights: Matrix,
        n: Vector | None = None,
        center: bool = True,
        share: Vector | None = None,
    ) -> None:
        targets = targets[None] if targets.ndim == 2 else targets
        if not targets.shape[1:] == weights.shape == (columns.shape[0], targets.shape[-1]):
            shapes = f"the columns have {columns.shape[0]} rows, targets have shape {targets.shape[1:]}"
            raise ValueError(f"{shapes} and weights {weights.shape}: give a row of each for each row")
        self.columns, self._w, self._root = columns, weights, np.sqrt(weights)
        self._information = weights.sum(axis=0)
        self.n = self._information if n is None else n
        self._centered = center
        self.share = np.ones(weights.shape[1]) if share is None else share
        self._z: Cube = self._centre(targets)
        self.total: Matrix = np.einsum("it,qit,qit->qt", weights, self._z, self._z)
        self.squares = np.asarray(columns.squares(weights))
        self._mean = np.zeros_like(self.squares)
        if center:
            self._mean = np.asarray(columns.rmatvec(weights)) / self._information
            self.squares = np.maximum(self.squares - self._information * self._mean**2, 0.0)
        self._blocks: dict[int, Block] = {}
        self._numbers = np.arange(weights.shape[1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of targets, of columns, and of problems: the shape of coefficients."""
        return (len(self._z), *self.squares.shape)

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

    def _centre(self, rows: Cube) -> Cube:
        if not self._centered:
            return rows
        return rows - (np.einsum("it,qit->qt", self._w, rows) / self._information)[:, None]

    def targets(self) -> Cube:
        """Return z, weighted and centred."""
        return self._root * self._z

    def fit(self, coef: Cube) -> Cube:
        """Return X coef, weighted and centred."""
        return self._root * self._centre(multiply_all(self.columns.matvec, coef))

    def begin(self, coef: Cube) -> None:
        """Set r = z - X coef."""
        self._r = self.targets()
        if coef.any():
            self._r -= self.fit(coef)

    def pull(self, rows: Cube | None = None) -> Cube:
        """Return X'r of all columns and problems, or of other weighted residuals."""
        return multiply_all(self.columns.rmatvec, self._root * (self._r if rows is None else rows))

    def rss(self) -> Matrix:
        """Return r'r of every target, over the share of it that is noise."""
        return np.asarray(np.einsum("qit,qit->qt", self._r, self._r) / self.share)

    def subtract_fit(self, shift: Cube) -> None:
        """Take what a change of coefficients fits from the residuals."""
        self._r -= shift

    def local(self, t: int, where: Index) -> tuple[Matrix, Matrix]:
        """Return X'X (k, k) and X'r (k, q) of some columns of a problem."""
        block = self._block(t, where, gram=True)
        return np.asarray(block.gram), block.x @ self._r[..., t].T

    def update_residual(self, t: int, where: Index, change: Matrix) -> None:
        """Bring r up to date with the changes (q, k) of some columns of a problem."""
        x = self._block(t, where).x
        for r, moved in zip(self._r[..., t], change, strict=True):
            r -= moved @ x

    def one_each(self, which: Index) -> Matrix:
        """Return one column of each problem, weighted and centred."""
        x = self._taken(which)[:, np.searchsorted(np.unique(which), which)]
        return np.asarray(self._root * (x - self._mean[which, np.arange(which.size)]))

    def some(self, t: int, where: Index) -> Matrix:
        """Return some columns of a problem, weighted and centred, a row each."""
        return self._block(t, where).x

    def normal(self, t: int, where: Index) -> tuple[Matrix, Matrix]:
        """Return X'X (k, k) and X'z (k, q) of a few columns of a problem."""
        block = self._block(t, where, gram=True)
        return np.asarray(block.gram), block.x @ (self._root[:, t] * self._z[..., t]).T

    def _taken(self, which: Index) -> Matrix:
        """Return some columns as they are, in the order of all."""
        keep = np.zeros(self.columns.shape[1], dtype=np.bool_)
        keep[which] = True
        return self.columns.take(keep).dense()

    def _block(self, t: int, where: Index, gram: bool = False) -> Block:
        """Return columns of a problem; the last ones are remembered, for sweeps ask for them again."""
        number = int(self._numbers[t])
        known = self._blocks.get(number)
        if known is None or not (known.where is where or np.array_equal(known.where, where)):
            x = np.empty((where.size, len(self._w)))
            x[np.argsort(where)] = self._taken(where).T
            x -= self._mean[where, t][:, None]
            x *= self._root[:, t]
            known = self._blocks[number] = Block(where, x, None)
        if gram and known.gram is None:
            known = self._blocks[number] = known._replace(gram=known.x @ known.x.T)
        return known


def multiply_all(product: Any, cube: Cube) -> Cube:
    """Return a product with a matrix of all targets and problems at once; two axes are one target.

    Examples
    --------
    >>> multiply_all(lambda columns: columns[:2], np.arange(6.0).reshape(2, 3, 1))[..., 0]
    array([[0., 1.],
           [3., 4.]])
    """
    if cube.ndim == 2:
        return np.asarray(product(cube))
    q, rows, problems = cube.shape
    flat = cube[0] if q == 1 else cube.transpose(1, 0, 2).reshape(rows, q * problems)
    return np.asarray(product(flat)).reshape(-1, q, problems).transpose(1, 0, 2)
