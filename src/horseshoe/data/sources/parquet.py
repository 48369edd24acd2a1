"""Parquet files as a table in parts: only columns that are asked for are read, and never all at once."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Vector
from horseshoe.data.sources.parts import PART_BYTES, Reading, Watch, Work, reduced


class ParquetTable(NamedTuple):
    """X, which is read when it is needed, y and the weights of a table on disk."""

    X: ParquetParts
    y: Vector
    sample_weight: Vector | None


def open_parquet(path: Any, target: str, weights: str | None = None, columns: Any = None) -> ParquetTable:
    """Return a table on disk for `fit`: y and weights in memory, X in parts that are read when needed.

    Needs pyarrow, which the extra ``horseshoe[parquet]`` installs.

    Parameters
    ----------
    path : str or path-like
        A Parquet file, or a folder of them with the same columns, taken in the order of their names.
    target : str
        The column of the response.
    weights : str, optional
        The column of the weights.
    columns : list of str, optional
        Those of X; all others if left out.

    Returns
    -------
    ParquetTable
        Named ``X``, ``y`` and ``sample_weight``: ``model.fit(*open_parquet("rows.parquet", "y"))``.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow, pyarrow.parquet
    >>> file = tempfile.mkdtemp() + "/rows.parquet"
    >>> x = np.arange(20.0)
    >>> pyarrow.parquet.write_table(pyarrow.table({"x": x, "y": 3.0 * x + np.cos(x)}), file)
    >>> from horseshoe import HorseshoeRegressor
    >>> HorseshoeRegressor().fit(*open_parquet(file, "y")).coef_.round(2)
    array([3.])
    """
    files = _files(Path(path))
    names = _names(files[0])
    known = [target] if weights is None else [target, weights]
    chosen = [name for name in names if name not in known] if columns is None else list(columns)
    for name in (*known, *chosen):
        if name not in names:
            raise ValueError(f"{files[0]} has no column {name!r}: it has {', '.join(map(repr, names[:10]))}")
    if not chosen:
        raise ValueError(f"{files[0]} has no column beside {', '.join(map(repr, known))}: give a wider table")
    own = np.concatenate(list(ParquetParts(files, known, axis=0).each(np.asarray)))
    return ParquetTable(
        ParquetParts(files, chosen), own[:, 0].copy(), None if weights is None else own[:, 1].copy()
    )


class ParquetParts(Reading):
    """The rows of Parquet files, some at a time, or where columns outnumber rows some columns at a time."""

    def __init__(self, files: list[Path], names: list[str], axis: int | None = None) -> None:
        self._files = files
        self.names: Any = np.array(names, dtype=object)
        self._watch = [Watch(path) for path in files]
        sizes = [_row_groups(path, names) for path in files]
        n, p = sum(map(sum, sizes)), len(names)
        self.shape, self.axis = (n, p), int(n < p) if axis is None else axis
        step = max(1, PART_BYTES // (8 * max(1, self.shape[1 - self.axis])))
        self.edges = [*range(0, p, step), p] if self.axis else [0]
        self._batches: list[tuple[int, int, int]] = []  # file, row group, rows
        for file, groups in enumerate(sizes if self.axis == 0 else []):
            for group, rows in enumerate(groups):
                for start in range(0, rows, step):
                    self._batches.append((file, group, min(step, rows - start)))
                    self.edges.append(self.edges[-1] + self._batches[-1][2])
        self._step = step

    def read(self, part: int, across: Any) -> Any:
        """Return some columns, of all rows or of those in ``across``."""
        names = self.names[self.edges[part] : self.edges[part + 1]].tolist()
        found = np.concatenate([self._whole(file, names) for file in range(len(self._files))])
        return found if across is None else found[across]

    def each(self, work: Work, *along: Any, across: Any = None, which: Any = None) -> Iterator[Any]:
        """Yield work(part, *pieces) of each part; rows are read as they come, and pyarrow has the threads."""
        if self.axis == 1:
            yield from super().each(work, *along, across=across, which=which)
            return
        names = (self.names if across is None else self.names[across]).tolist()
        wanted = None if which is None else set(which)
        for part, block in enumerate(self._rows(names, wanted)):
            if block is not None:
                span = slice(self.edges[part], self.edges[part + 1])
                yield work(block, *(values[span] for values in along))

    def summed(
        self, work: Work, *along: Any, across: Any = None, which: Any = None, add: Work = operator.add
    ) -> Any:
        """Return the sum over the parts of what `each` yields."""
        return reduced(add, self.each(work, *along, across=across, which=which))

    def _rows(self, names: list[str], wanted: set[int] | None) -> Iterator[Any]:
        """Yield every part in order, None for those that are not wanted; row groups of these are skipped."""
        part = 0
        while part < len(self._batches):
            file, group, _ = self._batches[part]
            last = part
            while last < len(self._batches) and self._batches[last][:2] == (file, group):
                last += 1
            if wanted is not None and not wanted.intersection(range(part, last)):
                yield from (None for _ in range(part, last))
            else:
                yield from self._group(file, group, names, [b[2] for b in self._batches[part:last]])
            part = last

    def _group(self, file: int, group: int, names: list[str], sizes: list[int]) -> Iterator[Any]:
        """Yield the parts of a row group."""
        self._watch[file].check()
        path = self._files[file]
        try:
            batches = _open(path).iter_batches(self._step, row_groups=[group], columns=names or None)
            for size in sizes:
                batch = next(batches)
                if batch.num_rows != size:
                    raise ValueError(f"a row group has {batch.num_rows} rows where {size} were said to be")
                yield _numbers(batch, names)
        except (OSError, ValueError, StopIteration) as error:
            raise _broken(path, error) from error

    def _whole(self, file: int, names: list[str]) -> Any:
        """Return all rows of some columns of a file."""
        self._watch[file].check()
        try:
            return _numbers(_open(self._files[file]).read(columns=names), names)
        except (OSError, ValueError) as error:
            raise _broken(self._files[file], error) from error


def _numbers(table: Any, names: list[str]) -> Any:
    """Return columns as floats, with NaN for what is missing."""
    out = np.empty((table.num_rows, len(names)), order="F")
    for j, name in enumerate(names):
        out[:, j] = table.column(name).to_numpy(zero_copy_only=False)
    return out


def _open(path: Path) -> Any:
    try:
        return require("pyarrow.parquet", "parquet").ParquetFile(path)
    except (OSError, ValueError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: BaseException) -> ValueError:
    told = str(error) or type(error).__name__
    return ValueError(f"{path} cannot be read as Parquet ({told}): it may not be whole, so write it again")


def _files(path: Path) -> list[Path]:
    found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not found or not found[0].exists():
        raise FileNotFoundError(f"{path} is no Parquet file, nor a folder with any")
    return found


def _names(path: Path) -> list[str]:
    return list(_open(path).schema_arrow.names)


def _row_groups(path: Path, names: list[str]) -> list[int]:
    """Return the rows of each row group, once every column is there and holds numbers."""
    types = require("pyarrow", "parquet").types
    file = _open(path)
    schema = file.schema_arrow
    for name in names:
        places = schema.get_all_field_indices(name)
        if len(places) != 1:
            raise ValueError(f"{path} has {len(places)} columns of the name {name!r}, where one is wanted")
        kind = schema.field(places[0]).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"column {name!r} of {path} holds {kind}, and not numbers: encode it before")
    meta = file.metadata
    return [int(meta.row_group(group).num_rows) for group in range(meta.num_row_groups)]
