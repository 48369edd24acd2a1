"""A table in parts, each of which fits in memory: rows after rows, or columns beside columns.

This is the seam between where data live and what is done with them. `RowChunks` (parts are rows) and
`ColumnBlocks` (parts are columns) ask for nothing but `each` and `summed`. A home of data on this machine is
a subclass of `Reading` with one method, ``read``; one that computes elsewhere has `each` and `summed` of its
own and sends the work there.
"""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, reduce
from typing import Any, Protocol

import numpy as np

from horseshoe._types import Mask
from horseshoe.linalg import scatter
from horseshoe.threads import available_threads, one_thread

# The size of a part as float64, where that is ours to choose.
PART_BYTES = 32 << 20
# A chunk of so many times that size is still read at once: twice would be dearer.
LARGEST_CHUNK = 4
# Takes a part, and the pieces of vectors along the axis that belong to it; plain enough to be sent away.
Work = Callable[..., Any]


class Parts(Protocol):
    """A table in parts along ``axis``, 0 where they are rows and 1 where they are columns."""

    # Those of the columns, for errors; None if there are none.
    names: Any
    axis: int

    @property
    def passes(self) -> int:
        """How often the table was passed over, in whole or in part."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def edges(self) -> list[int]:
        """Where each part begins along the axis, and where the last one ends."""

    def each(self, work: Work, *along: Any, across: Any = None, which: Any = None) -> Iterator[Any]:
        """Yield work(part, *pieces) of each part, in order.

        ``along`` are arrays as long as the axis, cut into pieces; ``across`` are the columns, or rows, of the
        other axis that are wanted, as an index; ``which`` are the numbers of the parts, if not all.
        """

    def summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> Any:
        """Return the sum over the parts of what `each` yields; None if there is no part."""

    def each_and_summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> tuple[list[Any], Any]:
        """Return of work that yields pairs the first ones, in order, and the sum of the second ones."""

    def single(self) -> Parts:
        """Return the table for work in single precision, which may be quicker to read."""


class Reading:
    """Parts that are read on this machine, in as many threads as BLAS has; the answer does not depend on it.

    A subclass has ``axis``, ``shape``, ``edges`` and ``read``.
    """

    names: Any = None
    # How often they were passed over, in whole or in part.
    passes = 0
    axis: int
    shape: tuple[int, int]
    edges: list[int]

    def read(self, part: int, across: Any) -> Any:
        """Return a part as an array: of the other axis only what ``across`` says, or all if it is None."""
        raise NotImplementedError

    def each(self, work: Work, *along: Any, across: Any = None, which: Any = None) -> Iterator[Any]:
        """Yield work(part, *pieces) of each part, in order."""
        parts = list(range(len(self.edges) - 1)) if which is None else list(which)
        self.passes += 1

        def one(part: int) -> Any:
            span = slice(self.edges[part], self.edges[part + 1])
            return work(self.read(part, across), *(values[span] for values in along))

        threads = min(available_threads(), len(parts))
        if threads <= 1:
            yield from map(one, parts)
            return
        with ThreadPoolExecutor(threads) as pool, one_thread(strict=True):
            yield from _in_order(pool, one, parts, threads + 1)

    def summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> Any:
        """Return the sum over the parts of what `each` yields; None if there is no part."""
        return self.added(add, self.each(work, *along, across=across, which=which))

    def each_and_summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> tuple[list[Any], Any]:
        """Return of work that yields pairs the first ones, in order, and the sum of the second ones."""
        first: list[Any] = []

        def second() -> Iterator[Any]:
            for one, other in self.each(work, *along, across=across, which=which):
                first.append(one)
                yield other

        total = self.added(add, second())
        return first, total

    @staticmethod
    def added(add: Work, values: Iterator[Any]) -> Any:
        """Return the sum of what the parts say; None of nothing."""
        return reduced(add, values)

    def single(self) -> Reading:
        """Return the table as it is."""
        return self


def _in_order(pool: ThreadPoolExecutor, one: Work, parts: list[int], ahead: int) -> Iterator[Any]:
    """Yield the results in order, with no more than so many parts in memory."""
    waiting: deque[Future[Any]] = deque()
    for part in parts:
        waiting.append(pool.submit(one, part))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def reduced(add: Work, values: Iterator[Any]) -> Any:
    """Return the sum of what an iterator yields, in order; None of nothing.

    Examples
    --------
    >>> reduced(operator.add, iter([1, 2, 3]))
    6
    """
    first = next(values, None)
    return None if first is None else reduce(add, values, first)


def paired(add: Work, values: Iterator[Any]) -> Any:
    """Return the sum of what an iterator yields, neighbours two by two; None of nothing.

    Examples
    --------
    >>> paired(lambda one, other: f"({one}{other})", iter("abcdefg"))
    '(((ab)(cd))((ef)g))'
    """
    sums: list[tuple[int, Any]] = []
    for value in values:
        sums.append((1, value))
        while len(sums) > 1 and sums[-1][0] == sums[-2][0]:
            (count, last), (_, before) = sums.pop(), sums.pop()
            sums.append((2 * count, add(before, last)))
    return reduced(lambda last, before: add(before, last), (value for _, value in reversed(sums)))


class Held(Reading):
    """Parts that are in memory; sums are taken as those of a cluster are, to the last bit.

    Examples
    --------
    >>> parts = Held([np.ones((2, 3)), np.ones((1, 3))], axis=0)
    >>> parts.shape, parts.summed(lambda part: part.sum(axis=0))
    ((3, 3), array([3., 3., 3.]))
    """

    added = staticmethod(paired)

    def __init__(self, blocks: list[Any], axis: int) -> None:
        self._blocks, self.axis = blocks, axis
        self.edges = [0, *np.cumsum([block.shape[axis] for block in blocks]).tolist()]
        other = int(blocks[0].shape[1 - axis])
        self.shape = (self.edges[-1], other) if axis == 0 else (other, self.edges[-1])

    def read(self, part: int, across: Any) -> Any:
        """Return a part."""
        block = self._blocks[part]
        if across is None:
            return block
        return block[:, across] if self.axis == 0 else block[across]


class ArrayParts(Reading):
    """The parts of anything that can be cut like an array: a memory map, Zarr, HDF5.

    Examples
    --------
    >>> parts = ArrayParts(np.arange(6.0).reshape(2, 3), axis=1, step=2)
    >>> [part.tolist() for part in parts.each(lambda part: part)]
    [[[0.0, 1.0], [3.0, 4.0]], [[2.0], [5.0]]]
    """

    def __init__(self, array: Any, axis: int, step: int | None = None) -> None:
        n, p = array.shape
        self.shape, self.axis, self._array = (int(n), int(p)), axis, array
        size, other = self.shape[axis], self.shape[1 - axis]
        step = step or _whole(max(1, PART_BYTES // (8 * max(1, other))), getattr(array, "chunks", None), axis)
        self.edges = [*range(0, size, step), size]
        self._watch = Watch(getattr(array, "filename", None))

    def read(self, part: int, across: Any) -> Any:
        """Return a part, a view where the array is in memory."""
        self._watch.check()
        span = slice(self.edges[part], self.edges[part + 1])
        found = np.asarray(self._array[span] if self.axis == 0 else self._array[:, span])
        if across is None:
            return found
        return found[:, across] if self.axis == 0 else found[across]


def _whole(step: int, chunks: Any, axis: int) -> int:
    """Return a step near ``step`` that cuts no chunk in two, for each is read and unpacked as a whole.

    Examples
    --------
    >>> _whole(100, (10, 30), axis=1), _whole(100, (10, 150), axis=1), _whole(100, None, axis=1)
    (90, 150, 100)
    """
    size = int(chunks[axis]) if chunks else 1
    if size <= step:
        return step - step % size
    return size if size <= LARGEST_CHUNK * step else step


class Watch:
    """Notices that a file is not what it was when it was opened."""

    def __init__(self, path: Any) -> None:
        self._path = None if path is None else os.fspath(path)
        self._seen = self._look()

    def check(self) -> None:
        """Refuse to read on in a file that changed: the answer would be of no data at all."""
        if self._look() != self._seen:
            raise ValueError(f"{self._path} changed while it was read: fit again once nobody writes to it")

    def _look(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)
        except OSError:
            return (0, 0)
        return found.st_size, found.st_mtime_ns


class Picked:
    """Some of the rows, or columns, along the axis of other parts; parts that have none of them are not read.

    Examples
    --------
    >>> parts = ArrayParts(np.arange(6.0).reshape(2, 3), axis=1, step=2)
    >>> picked = Picked(parts, np.array([False, True, False]))
    >>> picked.shape, [part.tolist() for part in picked.each(lambda part: part)]
    ((2, 1), [[[1.0], [4.0]]])
    """

    def __init__(self, parts: Parts, keep: Mask) -> None:
        self._parts, self._keep, self.axis = parts, keep, parts.axis
        counts = [int(keep[a:b].sum()) for a, b in zip(parts.edges[:-1], parts.edges[1:], strict=True)]
        self._left = [part for part, count in enumerate(counts) if count]
        self.edges = [0, *np.cumsum([counts[part] for part in self._left]).tolist()]
        n, p = parts.shape
        size = int(keep.sum())
        self.shape = (size, p) if self.axis == 0 else (n, size)
        self.names = parts.names

    @property
    def passes(self) -> int:
        """How often the table was passed over."""
        return self._parts.passes

    def each(self, work: Work, *along: Any, across: Any = None, which: Any = None) -> Iterator[Any]:
        """Yield work(part, *pieces) of each part that has any of them."""
        chosen, wide, which = self._wide(work, along, which)
        return self._parts.each(chosen, *wide, across=across, which=which)

    def summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> Any:
        """Return the sum over the parts that have any of them."""
        chosen, wide, which = self._wide(work, along, which)
        return self._parts.summed(chosen, *wide, across=across, which=which, add=add)

    def each_and_summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> tuple[list[Any], Any]:
        """Return both over the parts that have any of them."""
        chosen, wide, which = self._wide(work, along, which)
        return self._parts.each_and_summed(chosen, *wide, across=across, which=which, add=add)

    def _wide(self, work: Work, along: tuple[Any, ...], which: Any) -> tuple[Work, list[Any], list[int]]:
        """Return the work, what goes along, and the parts, as the whole table has them."""
        wide = [scatter(self._keep, np.asarray(values).T).T for values in along]
        which = self._left if which is None else [self._left[part] for part in which]
        return partial(_chosen, work, self.axis), [self._keep, *wide], which

    def single(self) -> Picked:
        """Return the same of the table for work in single precision."""
        return Picked(self._parts.single(), self._keep)


def _chosen(work: Work, axis: int, part: Any, keep: Mask, *pieces: Any) -> Any:
    some = part[keep] if axis == 0 else part[:, keep]
    return work(some, *(values[keep] for values in pieces))
