"""X in chunks of rows or columns that are read when they are needed: memory maps, files, clusters.

Tall data are passed over by rows: a Gaussian fit passes once, most others once for each set of weights. Wide
data are read by columns, with no more in memory than n x n and a few blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from horseshoe._checks import check_memory
from horseshoe._types import Vector
from horseshoe.data.columns import SQUARABLE, Spread, column_label
from horseshoe.data.dense import Dense
from horseshoe.data.products import CrossProducts
from horseshoe.data.sources.parts import Parts, Picked
from horseshoe.data.view import (
    PLAIN,
    Storage,
    Transform,
    View,
    Work,
    are_near,
    multiplied,
    spread_of,
    when_read,
)

# Columns that take no more bytes than this are held in memory once they are taken from the others.
ROOM = 256 << 20


class Chunked(Storage):
    """Columns less ``origin`` in chunks along one axis; chunks of which nothing is left are not read again.

    Columns, or rows, that are taken from the others are held in memory as soon as they are few enough.

    Parameters
    ----------
    parts : Parts
        The table.

    Examples
    --------
    >>> from horseshoe.data.sources.parts import ArrayParts
    >>> x = Chunked(ArrayParts(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0, step=1))
    >>> x.rmatvec(np.ones(2)), x.matvec(np.ones(2))
    (array([4., 6.]), array([3., 7.]))
    """

    remote = True
    _across: Any = None  # the rows (of chunks of columns) or columns (of chunks of rows) in use, as numbers
    _origin: Any = None  # what is taken off each column as it is read: no digit is lost where it is large
    _last: Any = None

    def __init__(self, parts: Parts) -> None:
        self._parts, self.axis, self.sums_rows = parts, parts.axis, parts.axis == 0
        self.shape, self.names = parts.shape, parts.names

    @property
    def passes(self) -> int:
        """How often the data were passed over."""
        return self._parts.passes

    def matvec(self, coef: Any) -> Any:
        """Return X b; the last one is remembered where that takes a pass over the rows: it is asked again."""
        if self.axis == 1:
            found = self.total(multiplied, 1, PLAIN, self._dtype, coef.astype(self._dtype, copy=False))
            return np.zeros((self.shape[0], *coef.shape[1:]), self._dtype) if found is None else found
        if self._last is None or not np.array_equal(self._last[0], coef):
            found = self.each(partial(multiplied, coef=coef), 0, PLAIN, np.float64)
            self._last = coef.copy(), np.concatenate([*found, np.zeros((0, *coef.shape[1:]))])
        return self._last[1].copy()

    def rmatvec(self, values: Any) -> Any:
        """Return X' r."""
        more, values = values.shape[1:], values.astype(self._dtype, copy=False)
        if self.axis == 0:
            found = self.total(_transposed, 0, PLAIN, np.float64, values)
            return np.zeros((self.shape[1], *more)) if found is None else found
        found = self.each(partial(_transposed, values=values), 1, PLAIN, self._dtype)
        return np.concatenate([*found, np.zeros((0, *more), self._dtype)])

    def each(self, work: Work, axis: int, transform: Transform, dtype: Any, *along: Any) -> Iterator[Any]:
        """Yield work(block, *pieces) of each transformed chunk; across the chunks, of what fits in memory."""
        if axis != self.axis:
            whole = Dense(self.dense_of(transform, dtype))
            return whole.each(work, axis, PLAIN, dtype, *along)
        here, pieces = self._read(work, transform, dtype)
        return self._parts.each(here, *pieces, *along, across=self._across)

    def total(
        self, work: Work, axis: int, transform: Transform, dtype: Any, *along: Any, **options: Any
    ) -> Any:
        """Return the sum of the same over the chunks, added up where they are."""
        if axis != self.axis:
            return super().total(work, axis, transform, dtype, *along, **options)
        here, pieces = self._read(work, transform, dtype)
        return self._parts.summed(here, *pieces, *along, across=self._across, **options)

    def fused(self, work: Work, transform: Transform, *along: Any) -> tuple[Any, CrossProducts]:
        """Return of work that yields pairs the first ones, joined, and the sum of the second ones."""
        here, pieces = self._read(work, transform, np.float64)
        found, sums = self._parts.each_and_summed(
            here, *pieces, *along, across=self._across, add=CrossProducts.plus
        )
        return np.concatenate(found), sums

    def _read(self, work: Work, transform: Transform, dtype: Any) -> tuple[Work, list[Any]]:
        """Return the work on a chunk as it is stored, and what is cut into pieces with the chunks."""
        fixed, cut = transform.along(self.axis)
        origin = None if self._origin is None or self.axis == 1 else self._origin
        names, pieces = list(cut), list(cut.values())
        if self._origin is not None and self.axis == 1:
            names, pieces = ["origin", *names], [self._origin, *pieces]
        return partial(_seen, work, dtype, fixed, origin, tuple(names)), pieces

    def some(self, axis: int, which: Any) -> Storage:
        """Return some of the rows or columns; in memory, if they take little of it."""
        out, index = copy(self), np.arange(self.shape[axis])[which]
        order: Any = slice(None)
        if axis != self.axis:
            out._across = index if self._across is None else self._across[index]
        else:
            keep = np.zeros(self.shape[axis], dtype=np.bool_)
            keep[index] = True
            out._parts, order = Picked(self._parts, keep), np.cumsum(keep)[index] - 1
            index = np.flatnonzero(keep)
        out._last, out.shape = None, (index.size, self.shape[1])
        if axis == 1:
            out.shape = self.shape[0], index.size
            out._origin = None if self._origin is None else self._origin[index]
            out.names = None if self.names is None else np.asarray(self.names)[index]
        large = np.dtype(self._dtype).itemsize * out.shape[0] * out.shape[1] > ROOM
        if (axis == 0 < self.axis) or (large and (axis != self.axis or np.asarray(which).dtype == np.bool_)):
            return out
        held = out.dense_of(PLAIN, self._dtype)
        return Dense(np.asfortranarray(held[order] if axis == 0 else held[:, order]))

    def single(self) -> Storage:
        """Return the columns in single precision; rows as they are: passes take longer than arithmetic."""
        if self.axis == 0:
            return self
        out = copy(self)
        out._parts, out._dtype = self._parts.single(), np.float32
        return out

    def dense_of(self, transform: Transform, dtype: Any, order: Any = "K") -> Any:
        """Return the transformed array."""
        n, k = self.shape
        check_memory(
            float(np.dtype(dtype).itemsize) * n * k,
            f"reading all of {n:,} x {k:,} at once",
            "expectation='conjugate_gradient' needs none of it, for a sparse X",
        )
        return super().dense_of(transform, dtype)

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[View, Spread]:
        """Return the columns that vary, centred and scaled when they are read."""
        sums = self.moments(weights)
        extreme = (sums.largest > 0.0) & ~((sums.largest >= SQUARABLE[0]) & (sums.largest <= SQUARABLE[1]))
        if extreme.any():
            j = int(np.argmax(extreme))
            raise ValueError(
                f"{column_label(self, j)} of X has values up to {sums.largest[j]:.3g} in size, which is "
                "out of range for data that are read in parts: change its unit"
            )
        found = spread_of(sums, center, self.shape[0])
        if not center or are_near(found):
            return when_read(self, found.mean if center else None, found, scale), found
        far = copy(self)
        far._last, far._origin = None, found.mean if self._origin is None else self._origin + found.mean
        return when_read(far, None, found, scale), found

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return a fingerprint of each part, or of the first and the last alone."""
        which = sorted({0, len(self._parts.edges) - 2}) if brief and len(self._parts.edges) > 1 else None
        parts = self._parts.each(_fingerprint, which=which)
        found = [np.frombuffer(part, dtype=np.uint8) for part in parts]
        return (np.array(self.shape), np.concatenate([*found, np.zeros(0, dtype=np.uint8)]))

    def refuse_nonfinite(self, refuse: Any) -> None:
        """Call ``refuse`` with the value, row and column of the first entry that is no finite number."""
        for part, found in enumerate(self._parts.each(_not_finite, across=self._across)):
            if found is not None:
                value, *place = found
                place[self.axis] += self._parts.edges[part]
                refuse(value, place[0], place[1])


def _seen(
    work: Work, dtype: Any, fixed: Transform, origin: Any, names: tuple[str, ...], part: Any, *pieces: Any
) -> Any:
    """Return the work on a chunk, less its origin and transformed."""
    given = dict(zip(names, pieces, strict=False))
    origin = given.pop("origin", origin)
    block = densified(part)
    if origin is not None:
        block = np.subtract(block, origin, dtype=np.float64)
    here = fixed._replace(**given) if given else fixed
    return work(here.apply(block, dtype), *pieces[len(names) :])


def densified(part: Any) -> Any:
    """Return a part as an array, whatever it was read as.

    Examples
    --------
    >>> densified(np.zeros((1, 2))).shape
    (1, 2)
    """
    return part.toarray() if hasattr(part, "toarray") else np.asarray(part)


def _transposed(block: Any, values: Any) -> Any:
    return block.T @ values


def _fingerprint(part: Any) -> bytes:
    array = np.ascontiguousarray(densified(part), dtype=np.float64)
    return hashlib.sha256(repr(array.shape).encode() + array.tobytes()).digest()


def _not_finite(part: Any) -> tuple[float, int, int] | None:
    array = densified(part)
    if array.dtype.kind != "f":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum(dtype=np.float64)) or (finite := np.isfinite(array)).all():
            return None
    row, column = np.argwhere(~finite)[0]
    return float(array[row, column]), int(row), int(column)
