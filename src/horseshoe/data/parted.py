"""What columns in parts have in common: how a part is centred, scaled and weighted when it is read."""

from __future__ import annotations

import hashlib
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from horseshoe._checks import check_memory
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import SQUARABLE, Compressed, column_label
from horseshoe.data.dense import Dense
from horseshoe.data.less import Less
from horseshoe.data.parts import Parts

ROOM = 256 << 20
"""Columns that take no more bytes than this are held in memory once they are taken from the others."""


class Parted:
    """Columns that are read in parts: ((x - mean) * unit - center) * root, of which x is read.

    ``mean``, ``unit`` and ``center`` have one entry for each column, ``root`` one for each row; None stands
    for 0 and 1.
    ``across`` are the rows (of blocks of columns) or columns (of chunks of rows) in use, as numbers.

    Parameters
    ----------
    parts : Parts
        The table, along the axis of the subclass.
    """

    orthogonal = False
    remote = True
    axis: int
    _fit: Any = None

    def __init__(self, parts: Parts) -> None:
        if parts.axis != self.axis:
            raise ValueError(f"parts along axis {parts.axis} cannot be {type(self).__name__}")
        self._parts, self.names = parts, parts.names
        self._mean: Any = None
        self._unit: Any = None
        self._center: Any = None
        self._root: Any = None
        self._across: Any = None
        self._dtype: Any = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        size, other = self._parts.shape[self.axis], self._parts.shape[1 - self.axis]
        other = other if self._across is None else int(self._across.size)
        return (size, other) if self.axis == 0 else (other, size)

    def reweighted(self, root: Vector, center: Vector | None = None) -> Self:
        """Return diag(root) (X - 1 center'): nothing is computed before it is read."""
        out = self._copy()
        if center is not None:
            out._center = center if self._center is None else self._center + center
        out._root = root if self._root is None else self._root * root
        return out

    def stretched(self, factor: Vector) -> Self:
        """Return the columns times ``factor``."""
        out = self._copy()
        out._unit = factor if self._unit is None else self._unit * factor
        out._center = None if self._center is None else self._center * factor
        return out

    def less(self, rows: Matrix, loads: Matrix) -> Less:
        """Return X - C M', by algebra."""
        here: Any = self
        return Less(here, rows, loads)

    def dense(self) -> Matrix:
        """Return the array."""
        n, k = self.shape
        check_memory(
            float(self._dtype().itemsize) * n * k,
            f"reading all of {n:,} x {k:,} at once",
            "expectation='conjugate_gradient' needs none of it, for a sparse X",
        )
        out: Any = np.empty((n, k), self._dtype, order="F")
        place = 0
        for block in self._blocks(self._dtype):
            stop = place + block.shape[self.axis]
            out[(slice(None),) * self.axis + (slice(place, stop),)] = block
            place = stop
        return np.asarray(out)

    def compressed(self, targets: Vector) -> Compressed:
        """Return R and Q'z, X = QR, from some rows at a time."""
        return Dense(self.dense()).compressed(targets)

    @property
    def passes(self) -> int:
        """How often the data were passed over."""
        return self._parts.passes

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

    def _copy(self, parts: Parts | None = None) -> Self:
        out = copy(self)
        out._fit = None
        if parts is not None:
            out._parts = parts
        return out

    def _blocks(self, dtype: Any) -> Any:
        return self._each(_itself, dtype)

    def _each(self, work: Any, dtype: Any, *along: Any) -> Any:
        """Yield work(part, *pieces) of each part, standardised and weighted."""
        fixed, cut = self._cut()
        return self._parts.each(partial(_read, work, dtype, fixed), *cut, *along, across=self._across)

    def _summed(self, work: Any, dtype: Any, *along: Any, **options: Any) -> Any:
        fixed, cut = self._cut()
        work = partial(_read, work, dtype, fixed)
        return self._parts.summed(work, *cut, *along, across=self._across, **options)

    def _each_and_summed(self, work: Any, dtype: Any, *along: Any, **options: Any) -> tuple[list[Any], Any]:
        fixed, cut = self._cut()
        work = partial(_read, work, dtype, fixed)
        return self._parts.each_and_summed(work, *cut, *along, across=self._across, **options)

    def _cut(self) -> tuple[Fixed, tuple[Any, ...]]:
        """Return what is the same for all parts, and what is cut into pieces with them."""
        n, k = self.shape
        mean, center = (np.zeros(k) if value is None else value for value in (self._mean, self._center))
        unit, root = np.ones(k) if self._unit is None else self._unit, self._root
        plain = self._mean is None and self._unit is None and self._center is None
        columns = (mean, unit, center)
        if self.axis == 0:
            return Fixed(columns, None, plain, root is None), (np.ones(n) if root is None else root,)
        return Fixed(None, root, plain, root is None), columns

    def _some(self, keep: Mask) -> None:
        """Keep what is known of some columns only."""
        for name in ("_mean", "_unit", "_center", "names"):
            value = getattr(self, name)
            setattr(self, name, None if value is None else np.asarray(value)[keep])

    def _refuse_extremes(self, largest: Vector) -> None:
        """Refuse columns in units in which squares are out of range: these cannot be read anew again."""
        extreme = (largest > 0.0) & ~((largest >= SQUARABLE[0]) & (largest <= SQUARABLE[1]))
        if not extreme.any():
            return
        j = int(np.argmax(extreme))
        raise ValueError(
            f"{column_label(self, j)} of X has values up to {largest[j]:.3g} in size, which is out of range "
            "for data that are read in parts: change its unit"
        )


class Fixed(NamedTuple):
    """What is not cut into pieces with the parts, None where it is; and whether there is anything to do."""

    columns: Any
    root: Any
    plain: bool
    unweighted: bool


def _read(work: Any, dtype: Any, fixed: Fixed, part: Any, *pieces: Any) -> Any:
    """Return what ``work`` says of a part, standardised and weighted."""
    if fixed.columns is None:
        (mean, unit, center, *rest), root = pieces, fixed.root
    else:
        (root, *rest), (mean, unit, center) = pieces, fixed.columns
    block = densified(part)
    if not fixed.plain:
        block = np.subtract(block, mean, dtype=np.float64)
        block *= unit
        block -= center
    if not fixed.unweighted:
        block = block * root[:, None]
    return work(np.asarray(block, dtype=dtype), *rest)


def densified(part: Any) -> Any:
    """Return a part as an array, whatever it was read as.

    Examples
    --------
    >>> densified(np.zeros((1, 2))).shape
    (1, 2)
    """
    return part.toarray() if hasattr(part, "toarray") else np.asarray(part)


def _itself(block: Any) -> Any:
    return block


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
