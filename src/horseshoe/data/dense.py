"""X as a NumPy array, or as the identity matrix, which is never formed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.data.columns import SQUARABLE, Spread, extreme_units, varies, within
from horseshoe.data.view import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    PLAIN,
    Storage,
    Transform,
    View,
    Work,
    are_near,
    spread_of,
    when_read,
)
from horseshoe.threads import call_threads

# Rows that are copied to another order at a time.
COPIED_ROWS = 512
# An array of so many bytes, with so many rows for each column, is standardised as it is read: a copy would
# take longer than several passes.
LONG_BYTES, LONG_ROWS = 64 << 20, 10
# Columns of such an array are copied from the others once no more than this share is left.
WORTH_A_COPY = 0.4


class Dense(Storage):
    """Columns in an array, which is never modified; products are fastest if it is Fortran-ordered.

    Examples
    --------
    >>> Dense(np.array([[1.0, 2.0], [3.0, 4.0]])).take(np.array([False, True])).rmatvec(np.array([1.0, 1.0]))
    array([6.])
    """

    sums_rows = True

    def __init__(self, x: Any, which: Any = None) -> None:
        self._x, self._which = x, which
        self.shape = int(x.shape[0]), int(x.shape[1] if which is None else which.size)

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        coef = coef.astype(self._x.dtype, copy=False)
        if self._which is not None:
            some, coef = coef, np.zeros((self._x.shape[1], *coef.shape[1:]))
            coef[self._which] = some
        with call_threads(2.0 * self.shape[0] * coef.size):
            return self._x @ coef

    def rmatvec(self, values: Any) -> Any:
        """Return X' r."""
        with call_threads(2.0 * self._x.shape[1] * values.size):
            found = self._x.T @ values.astype(self._x.dtype, copy=False)
        return found if self._which is None else found[self._which]

    def each(self, work: Work, axis: int, transform: Transform, dtype: Any, *along: Any) -> Iterator[Any]:
        """Yield work(block, *pieces) of each transformed block; of all at once, where nothing is done."""
        size, whole = self.shape[axis], transform is PLAIN and not self._is_long
        step = max(1, BLOCK_BYTES // (8 * max(1, self.shape[0]))) if axis else size if whole else BLOCK_ROWS
        for start in range(0, size, max(1, step)):
            span = slice(start, start + step)
            here = transform if step >= size else transform.part(axis, span)
            block = here.apply(self._rows_or_columns(axis, span), dtype, "F" if axis else "K")
            yield work(block, *(values[span] for values in along))

    def _rows_or_columns(self, axis: int, span: slice) -> Any:
        if axis == 0:
            block = self._x[span]
            return block if self._which is None else np.take(block, self._which, axis=1)
        return self._x[:, span if self._which is None else self._which[span]]

    def some(self, axis: int, which: Any) -> Dense:
        """Return some of the rows or columns; most columns of a long array stay where they are."""
        if axis == 0:
            part = self._rows_or_columns(0, which)
            return Dense(np.asfortranarray(part) if self._x.flags.f_contiguous else part)
        if not (self._which is not None or self._is_long):
            return Dense(self._x.T[which].T)
        left = np.flatnonzero(which) if self._which is None else self._which[which]
        few = left.size <= WORTH_A_COPY * self._x.shape[1]
        return Dense(self._x.T[left].T) if few else Dense(self._x, left)

    def single(self) -> Dense:
        """Return the columns in single precision."""
        return self if self._x.itemsize == 4 else Dense(self.dense().astype(np.float32))

    def dense(self) -> Matrix:
        """Return the array as it is."""
        return np.asarray(self._rows_or_columns(0, slice(None)))

    def dense_of(self, transform: Transform, dtype: Any, order: Any = "K") -> Any:
        """Return the transformed array."""
        return transform.apply(self._rows_or_columns(0, slice(None)), dtype, order)

    @property
    def is_small(self) -> bool:  # type: ignore[override]
        """Whether a transformed copy takes less than several passes."""
        return not self._is_long and self._which is None

    @property
    def _is_long(self) -> bool:
        n, p = self._x.shape
        return bool(self._x.itemsize == 8 and self._x.nbytes >= LONG_BYTES and n >= LONG_ROWS * p)

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[View, Spread]:
        """Return the columns that vary, centred and scaled: the one copy of the data, unless it is long."""
        if self._is_long and self._which is None:
            found = spread_of(self.moments(weights), center, self.shape[0])
            if within(found.spread, *SQUARABLE) and are_near(found):
                return when_read(self, found.mean if center else None, found, scale), found
        with np.errstate(over="ignore", invalid="ignore"):  # then units are taken out, exactly
            part, seen = self._standardised(weights, center, scale)
            powers = extreme_units(seen.spread, lambda: np.asarray(np.abs(self._x).max(axis=0)))
            if powers is None:
                return part, seen
            part, seen = Dense(np.ldexp(self._x, -powers))._standardised(weights, center, scale)
        if not scale:
            part = Dense(np.ldexp(part._x, powers[seen.varies]))
        mean, spread = np.ldexp(seen.mean, powers), np.ldexp(seen.spread, powers)
        return part, Spread(mean, spread, seen.varies)

    def _standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Dense, Spread]:
        x = by_column(self.dense())
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

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return the array."""
        return (self.dense(),)


class Identity(Dense):
    """The normal means problem: one column for each of ``n`` rows; few columns are taken as an array.

    Examples
    --------
    >>> Identity(2).rmatvec(np.array([3.0, 4.0]))
    array([3., 4.])
    """

    orthogonal = True

    def __init__(self, n: int) -> None:
        self.shape, self._which = (n, n), None

    @property
    def _x(self) -> Any:
        return np.eye(self.shape[0])

    def matvec(self, coef: Any) -> Any:
        """Return b."""
        return coef

    def rmatvec(self, values: Any) -> Any:
        """Return r."""
        return values

    def squares_of(self, transform: Transform, weights: Any = None) -> Any:
        """Return ones, or the weights."""
        if transform is not PLAIN:
            return super().squares_of(transform, weights)
        return np.ones(self.shape[0]) if weights is None else weights


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
