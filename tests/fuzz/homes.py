"""X where it does not fit: on disk, in chunks, on many machines. Small ones, cut into a few parts."""

from __future__ import annotations

import atexit
import hashlib
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from horseshoe.data.sources.parts import ArrayParts

PARTS = 3
"""So many parts has each."""


def _step(x: np.ndarray, axis: int) -> int:
    return max(1, -(-x.shape[axis] // PARTS))


@cache
def _folder() -> Path:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _path(x: np.ndarray, ending: str) -> Path:
    """Return the file of an array: the same for the same, so that nothing changes while it is read."""
    digest = hashlib.sha256(repr((x.shape, x.dtype.str)).encode() + np.ascontiguousarray(x).tobytes())
    return _folder() / f"{digest.hexdigest()[:24]}{ending}"


def _parts(x: Any, axis: int) -> ArrayParts:
    return ArrayParts(x, axis=axis, step=_step(x, axis))


def memory_map(x: np.ndarray) -> Any:
    """Return a memory map: as large ones are, in parts."""
    path = _path(x, ".map")
    if not path.exists() and x.size:
        np.memmap(path, x.dtype, "w+", shape=x.shape)[:] = x
    mapped: Any = np.memmap(path, x.dtype, "r", shape=x.shape) if x.size else x
    return _parts(mapped, int(x.shape[1] > x.shape[0]))


def parquet(x: np.ndarray) -> Any:
    """Return a Parquet file of a few row groups."""
    import pyarrow
    import pyarrow.parquet

    from horseshoe.data.sources.parquet import open_parquet

    path = _path(x, ".parquet")
    if not path.exists():
        table = pyarrow.table({f"c{j}": column for j, column in enumerate(x.T)} | {"y": np.zeros(len(x))})
        pyarrow.parquet.write_table(table, path, row_group_size=_step(x, 0))
    return open_parquet(path, "y")[0]


def dask_array(x: np.ndarray, rows: bool, columns: bool) -> Any:
    """Return a Dask array in chunks of some rows, some columns, or both."""
    import dask.array

    dask.config.set(scheduler="synchronous")
    return dask.array.from_array(x, chunks=(_step(x, 0) if rows else -1, _step(x, 1) if columns else -1))


def dask_frame(x: np.ndarray) -> Any:
    """Return a Dask data frame of a few partitions."""
    import dask.dataframe

    dask.config.set(scheduler="synchronous")
    table = pd.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])])
    return dask.dataframe.from_pandas(table, npartitions=PARTS)


HOMES: dict[str, Any] = {
    "row parts": lambda x: _parts(x, 0),
    "column parts": lambda x: _parts(x, 1),
    "memory map": memory_map,
    "parquet": parquet,
    "dask rows": lambda x: dask_array(x, True, False),
    "dask columns": lambda x: dask_array(x, False, True),
    "dask both": lambda x: dask_array(x, True, True),
    "dask frame": dask_frame,
}
