"""Columns of which some rows are read at a time: tall data that are passed over."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Compressed, Spread, varies
from horseshoe.data.dense import Dense, mirrored
from horseshoe.data.parted import ROOM, Parted
from horseshoe.data.parts import Picked
from horseshoe.data.products import CrossProducts, cross_products
from horseshoe.linalg import syrk, triangle


class RowChunks(Parted):
    """Rows in chunks; a Gaussian fit passes over them once, most others once for each set of weights.

    Columns that are taken from the others are held in memory as soon as they are few enough.

    Examples
    --------
    >>> from horseshoe.data.parts import ArrayParts
    >>> x = RowChunks(ArrayParts(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0, step=1))
    >>> x.rmatvec(np.ones(2)), x.matvec(np.ones(2))
    (array([4., 6.]), array([3., 7.]))
    """

    axis = 0

    def matvec(self, coef: Any) -> Any:
        """Return X b; the last one is remembered, for it is asked for again."""
        if self._fit is None or not np.array_equal(self._fit[0], coef):
            self._fit = coef.copy(), self._product(coef)
        return self._fit[1].copy()

    def _product(self, coef: Any) -> Any:
        found = list(self._each(partial(_times, coef), np.float64))
        return np.concatenate(found) if found else np.zeros((0, *coef.shape[1:]))

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r."""
        found = self._summed(_times_rows, np.float64, rows)
        return np.zeros((self.shape[1], *rows.shape[1:])) if found is None else found

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)'."""
        here = self if center is None else self.reweighted(np.ones(self.shape[0]), center)
        each = np.ones(self.shape[0]) if weights is None else np.sqrt(weights)
        return mirrored(here._summed(_gram, np.float64, each))

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2."""
        return self._summed(_squares, np.float64, np.ones(self.shape[0]) if weights is None else weights)

    def scaled(self, root: Vector, dtype: Any = np.float64) -> Any:
        """Return the columns times ``root``: where columns outnumber rows, these are few enough to hold."""
        return Dense(self.dense()).scaled(root, dtype)

    def take(self, keep: Mask) -> Any:
        """Return the columns in ``keep``; in memory, if they take little of it."""
        out, which = self._copy(), np.flatnonzero(keep)
        out._across = which if self._across is None else self._across[which]
        out._some(keep)
        return Dense(out.dense()) if 8 * self.shape[0] * which.size <= ROOM else out

    def rows(self, which: Any) -> Any:
        """Return some of the rows; in memory, if they take little of it."""
        n, k = self.shape
        keep = np.zeros(n, dtype=np.bool_)
        keep[which] = True
        out = self._copy(Picked(self._parts, keep))
        out._root = None if self._root is None else self._root[keep]
        if 8 * int(keep.sum()) * k > ROOM and np.asarray(which).dtype == np.bool_:
            return out
        place = np.cumsum(keep)[np.arange(n)[which]] - 1
        held = Dense(np.asfortranarray(out.dense()[place]))
        held.names = self.names
        return held

    def single(self) -> RowChunks:
        """Return the columns as they are: passes take longer than the arithmetic."""
        return self

    def compressed(self, targets: Vector) -> Compressed:
        """Return R and Q'z, X = QR, from some rows at a time."""
        n, k = self.shape
        if n <= k:
            return Compressed(self.dense(), targets, 0.0)
        triangle = self._summed(_triangle, np.float64, targets, add=_joined)
        rest = float(triangle[k, k] ** 2) if len(triangle) > k else 0.0
        return Compressed(triangle[:k, :k], triangle[:k, k], rest)

    def summed(self, targets: Vector, weights: Vector | None) -> CrossProducts:
        """Return the cross-products of columns and targets, in one pass."""
        along = (targets,) if weights is None else (targets, weights)
        found: CrossProducts = self._summed(cross_products, np.float64, *along, add=CrossProducts.plus)
        return found

    def summed_by(
        self, part: Any, k: int, targets: Vector, weights: Vector | None
    ) -> tuple[CrossProducts, ...]:
        """Return the cross-products of the rows of each of k parts, in one pass."""
        along = (part, targets) if weights is None else (part, targets, weights)
        found: tuple[CrossProducts, ...] = self._summed(
            partial(_products_by, k), np.float64, *along, add=_plus_each
        )
        return found

    def ahead(self, coef: Any, look: Any, *along: Vector) -> tuple[Any, CrossProducts]:
        """Return X b, and the cross-products of columns and targets that ``look`` sees there, in one pass."""
        work = partial(_ahead, coef, look)
        found, sums = self._each_and_summed(work, np.float64, *along, add=CrossProducts.plus)
        return np.concatenate(found), sums

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Any, Spread]:
        """Return the columns that vary, centred and scaled when they are read."""
        n, k = self.shape
        each = np.ones(n) if weights is None else weights
        sums: Sums = self._summed(sums_of, np.float64, each, add=Sums.plus)
        self._refuse_extremes(sums.largest)
        mean = sums.mean if center else np.zeros(k)
        squares = sums.squares if center else sums.squares + sums.weight * sums.mean**2
        spread = np.sqrt(squares / sums.weight)
        found = Spread(mean, spread, varies(spread, mean, n))
        out = self._copy()
        out._mean = mean if self._mean is None else self._mean + mean
        out._unit = np.divide(1.0, spread, out=np.ones(k), where=found.varies) if scale else None
        return (out if found.varies.all() else out.take(found.varies)), found


class Sums(NamedTuple):
    """Weight, means, centred squares and largest sizes of some rows."""

    weight: float
    mean: Vector
    squares: Vector
    largest: Vector

    @np.errstate(over="ignore", invalid="ignore")  # units that are refused
    def plus(self, other: Sums) -> Sums:
        """Return those of both chunks."""
        weight, gap = self.weight + other.weight, other.mean - self.mean
        share = other.weight / weight if weight else 0.0
        squares = self.squares + other.squares + share * self.weight * gap * gap
        return Sums(weight, self.mean + share * gap, squares, np.maximum(self.largest, other.largest))


@np.errstate(over="ignore", invalid="ignore")
def sums_of(block: Matrix, weights: Vector) -> Sums:
    """Return weight, means, centred squares and largest sizes of some rows.

    Examples
    --------
    >>> sums_of(np.array([[1.0], [-3.0]]), np.ones(2))
    Sums(weight=2.0, mean=array([-1.]), squares=array([8.]), largest=array([3.]))
    """
    total = float(weights.sum())
    mean = weights @ block / total if total else np.zeros(block.shape[1])
    around = block - mean
    squares = np.asarray(np.einsum("ij,ij,i->j", around, around, weights))
    return Sums(total, mean, squares, np.abs(block).max(axis=0, initial=0.0))


def _times(coef: Any, block: Matrix) -> Any:
    return block @ coef


def _ahead(coef: Any, look: Any, block: Matrix, *along: Vector) -> tuple[Any, CrossProducts]:
    fit = block @ coef
    return fit, cross_products(block, *look(fit if fit.ndim == 1 else fit[:, -1], *along))


def _products_by(
    k: int, block: Matrix, part: Any, targets: Vector, weights: Vector | None = None
) -> tuple[CrossProducts, ...]:
    each = [np.flatnonzero(part == number) for number in range(k)]
    counts = [None if weights is None else weights[rows] for rows in each]
    return tuple(
        cross_products(block[rows], targets[rows], some) for rows, some in zip(each, counts, strict=True)
    )


def _plus_each(one: tuple[CrossProducts, ...], other: tuple[CrossProducts, ...]) -> tuple[CrossProducts, ...]:
    return tuple(mine.plus(theirs) for mine, theirs in zip(one, other, strict=True))


def _times_rows(block: Matrix, rows: Any) -> Any:
    return block.T @ rows


def _gram(block: Matrix, root: Vector) -> Matrix:
    weighted = np.ascontiguousarray(block * root[:, None])
    return np.asarray(syrk(weighted.T))


def _squares(block: Matrix, weights: Any) -> Any:
    return (block * block).T @ weights


def _triangle(block: Matrix, targets: Vector) -> Matrix:
    return triangle(np.column_stack([block, targets]))


def _joined(one: Matrix, other: Matrix) -> Matrix:
    return triangle(np.vstack([one, other]))
