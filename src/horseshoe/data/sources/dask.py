"""X as a Dask array or data frame: parts that stay where they are, and to which the work is sent."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from horseshoe.data.checks import refuse_no_rows
from horseshoe.data.sources.cluster import call, refuse_delayed, run, tree, value
from horseshoe.data.sources.parts import PART_BYTES, Held, Work

# Chunks that take more bytes than this, as arrays, are cut.
TOO_LARGE = 256 << 20
# What takes no more bytes than the first, as float64, comes here after so many passes as the second.
HELD, OFTEN = 256 << 20, 100
# Checks what users hand in, and refuses what is no table of finite numbers.
Read = Callable[[Any], Any]


class Chunk(NamedTuple):
    """What a chunk is said to be: its number, where it begins in X, its shape, the names of its columns."""

    number: int
    corner: tuple[int, int]
    shape: tuple[int, int]
    names: Any


class DaskParts:
    """The chunks of a Dask collection along one axis; ``read`` checks them in the first pass.

    Parameters
    ----------
    tasks : callable
        From the columns that are wanted, as numbers or None for all, to one task a chunk; whoever returns
        fewer columns than there are says so by the second thing it returns.
    chunks : list of Chunk
        What they are said to be.
    axis : int
        0 where chunks are rows, 1 where they are columns.
    read : callable
        Checks one.
    """

    checks_itself = True

    def __init__(
        self, tasks: Callable[[Any], tuple[list[Any], bool]], chunks: list[Chunk], axis: int, read: Read
    ):
        self._tasks, self._chunks, self._read, self.axis = tasks, chunks, read, axis
        self.edges = [0, *np.cumsum([chunk.shape[axis] for chunk in chunks]).tolist()]
        other = chunks[0].shape[1 - axis]
        self.shape = (self.edges[-1], other) if axis == 0 else (other, self.edges[-1])
        self.names: Any = None
        self._passes, self._checked = 0, False
        self._held: Held | None = None

    @property
    def passes(self) -> int:
        """How often the table was passed over, in whole or in part."""
        return self._passes + (0 if self._held is None else self._held.passes)

    def each(self, work: Work, *along: Any, across: Any = None, which: Any = None) -> Iterator[Any]:
        """Yield work(part, *pieces) of each part, in order: what it says is all that travels."""
        here = self._here()
        if here is not None:
            yield from here.each(work, *along, across=across, which=which)
            return
        yield from self._run(self._each(work, along, across, which), across, which)

    def summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> Any:
        """Return the sum over the parts, two by two, where they are."""
        here = self._here()
        if here is not None:
            return here.summed(work, *along, across=across, which=which, add=add)
        parts = self._each(work, along, across, which)
        return self._run([tree(parts, add)], across, which)[0] if parts else None

    def each_and_summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> tuple[list[Any], Any]:
        """Return of work that yields pairs the first ones, in order, and the sum of the second ones."""
        here = self._here()
        if here is not None:
            return here.each_and_summed(work, *along, across=across, which=which, add=add)
        pairs = self._each(work, along, across, which)
        first, second = ([call(operator.itemgetter(i), pair) for pair in pairs] for i in (0, 1))
        *found, total = self._run([*first, tree(second, add)], across, which)
        return found, total

    def single(self) -> DaskParts:
        """Return the table as it is: chunks are what they are."""
        return self

    def _here(self) -> Held | None:
        """Return the table in memory, if it has room there and was asked for often.

        A prior that selects nothing never takes few columns from the others, and may ask thousands of times.
        """
        n, p = self.shape
        if self._held is None and self._checked and self._passes >= OFTEN and 8 * n * p <= HELD:
            self._held = Held(self._run(self._each(_itself, (), None, None), None, None), self.axis)
        return self._held

    def _each(self, work: Work, along: tuple[Any, ...], across: Any, which: Any) -> list[Any]:
        tasks, cut = self._tasks(across)
        read = None if self._checked else self._read
        shared = value((work, None if cut else across, self.axis, read))  # once, whatever the number of parts
        return [
            call(
                _work,
                shared,
                tasks[part],
                self._chunk(part, across if cut else None),
                *self._pieces(part, along),
            )
            for part in (range(len(tasks)) if which is None else which)
        ]

    def _pieces(self, part: int, along: tuple[Any, ...]) -> list[Any]:
        span = slice(self.edges[part], self.edges[part + 1])
        return [np.ascontiguousarray(values[span]) for values in along]

    def _chunk(self, part: int, across: Any) -> Chunk:
        chunk = self._chunks[part]
        if across is None:
            return chunk
        names = None if chunk.names is None else [chunk.names[j] for j in across]
        return chunk._replace(shape=(chunk.shape[0], len(across)), names=names)

    def _run(self, tasks: list[Any], across: Any, which: Any) -> list[Any]:
        self._passes += 1
        out = run(tasks)
        self._checked = self._checked or (across is None and which is None)
        return out


def _itself(part: Any) -> Any:
    return part


def _work(shared: Any, block: Any, chunk: Chunk, *pieces: Any) -> Any:
    """Return what is asked of a chunk, on the machine where it is."""
    work, across, axis, read = shared
    part = _array(block, chunk, read)
    if across is not None:
        part = part[:, across] if axis == 0 else part[across]
    return work(part, *pieces)


def _array(block: Any, chunk: Chunk, read: Read | None) -> Any:
    """Return a chunk as an array or a sparse one, or say what is wrong with which chunk."""
    where = f"chunk {chunk.number} of X, which begins at row {chunk.corner[0]}, column {chunk.corner[1]}"
    if block.shape != chunk.shape:
        raise ValueError(
            f"{where}, has {block.shape[0]} rows and {block.shape[1]} columns, where {chunk.shape[0]} and "
            f"{chunk.shape[1]} were announced: all need the same columns, and sizes must not change"
        )
    names = None if chunk.names is None else list(block.columns)
    if names is not None and names != chunk.names:
        other = next(new for new, old in zip(names, chunk.names, strict=True) if new != old)
        raise ValueError(
            f"{where}, has a column {other!r}, which others have not there: give all the same columns"
        )
    if read is None or 0 in block.shape:  # of a fit that selects nothing, no column is asked for
        return _plain(block)
    try:
        found = read(block)
    except (TypeError, ValueError) as error:
        raise type(error)(f"in {where}: {error}") from error
    return _plain(block) if hasattr(block, "tocsr") else found.dense()


def _plain(block: Any) -> Any:
    if hasattr(block, "tocsr"):
        return block.tocsr()
    if hasattr(block, "columns"):
        return block.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(block, dtype=np.float64)


def dask_parts(x: Any, read: Read) -> DaskParts:
    """Return a Dask array or data frame as a table in parts; for that only the sizes of chunks are asked.

    ``read`` checks a chunk when it is first asked for anything, wherever it lives.
    """
    refuse_delayed("X", x)
    if hasattr(x, "divisions") and x.ndim == 2:
        return _from_frame(x, read)
    if x.ndim != 2:
        raise ValueError(
            f"Expected 2D array, but X is a Dask array of shape {x.shape}: give rows and columns"
        )
    return _from_array(_known(x), read)


def _known(x: Any) -> Any:
    """Return the array with the sizes of all chunks known: where they are not, a pass finds them."""
    unknown = [any(math.isnan(size) for size in sizes) for sizes in x.chunks]
    if not any(unknown):
        return x
    if unknown[1]:
        raise ValueError(
            "X is a Dask array with an unknown number of columns: call X.compute_chunk_sizes() before"
        )
    counts = run([x[:, :1].map_blocks(_count, dtype=np.int64, chunks=(1, 1))])[0]
    out = x.copy()
    out._chunks = (tuple(int(count) for count in counts[:, 0]), x.chunks[1])
    return out


def _count(block: Any) -> Any:
    return np.array([[block.shape[0]]])


def _from_frame(x: Any, read: Read) -> DaskParts:
    names = list(x.columns)
    first = x[names[:1]] if names else x  # of a file, no other column is read
    counts = run([call(len, part) for part in _partitions(first)])
    n, p = sum(counts), len(names)
    if p > n:
        return _named(_from_array(x.to_dask_array(lengths=counts), read), names)
    refuse_no_rows(np.empty((n, p)))
    starts, full = np.cumsum([0, *counts]).tolist(), [part for part, count in enumerate(counts) if count]

    def tasks(across: Any) -> tuple[list[Any], bool]:
        some = x if across is None else x[[names[j] for j in across]]
        every = _partitions(some)
        return [every[part] for part in full], across is not None

    chunks = [Chunk(part, (starts[part], 0), (counts[part], p), names) for part in full]
    return _named(DaskParts(tasks, chunks, 0, read), names)


def _partitions(x: Any) -> list[Any]:
    """Return a task for each partition, always the same ones: of a file, only the columns of x are read.

    All that Dask optimises would join small partitions, and fewer columns make them smaller.
    """
    return list(x.simplify().to_delayed(optimize_graph=False))


def _named(parts: DaskParts, names: list[Any]) -> DaskParts:
    texts = all(isinstance(name, str) for name in names)
    parts.names = np.array(names, dtype=object) if texts else None
    return parts


def _from_array(x: Any, read: Read) -> DaskParts:
    refuse_no_rows(x)
    n, p = (int(size) for size in x.shape)
    axis = 0 if p <= n else 1
    most = 8 * max(x.chunks[axis]) * x.shape[1 - axis]
    if sum(size > 0 for size in x.chunks[1 - axis]) > 1 or most > TOO_LARGE:
        x = x.astype(np.float64).rechunk({axis: "auto", 1 - axis: -1}, block_size_limit=PART_BYTES)
    every, starts = x.to_delayed().ravel(), np.cumsum([0, *x.chunks[axis]]).tolist()
    full = [part for part, size in enumerate(x.chunks[axis]) if size]
    chunks = []
    for part in full:
        size = x.chunks[axis][part]
        corner, shape = ((starts[part], 0), (size, p)) if axis == 0 else ((0, starts[part]), (n, size))
        chunks.append(Chunk(part, corner, shape, None))
    return DaskParts(lambda across: ([every[part] for part in full], False), chunks, axis, read)
