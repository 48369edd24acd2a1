"""What is too large to be held at once, as a table in parts: memory maps, arrays on disk, Dask, genotypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe.data.chunked import Chunked
from horseshoe.data.sources.cluster import is_dask
from horseshoe.data.sources.dask import Read, dask_parts
from horseshoe.data.sources.genotypes import Genotypes, check_bed, is_bed, snps_of
from horseshoe.data.sources.parts import ArrayParts, Parts

# What takes no more bytes than this as float64 is read at once.
HELD = 256 << 20
NUMBERS = "biuf"


def as_parts(x: Any, read: Read) -> Parts | None:
    """Return what users hand in as a table in parts, if it is one or should be; otherwise None.

    A memory map, a Zarr array or an HDF5 data set is cut along its longer side. ``read`` checks what has no
    other way to be checked: the chunks of Dask, where they are.

    Examples
    --------
    >>> as_parts(np.eye(3), np.asarray) is None
    True
    """
    if is_dask(x):
        return dask_parts(x, read)
    if is_bed(x):
        check_bed(x)
        genotypes = Genotypes(x)
        genotypes.names = snps_of(x).names
        return genotypes
    if hasattr(x, "each") and hasattr(x, "edges"):
        found: Parts = x
        return found
    if not (isinstance(x, np.memmap) or hasattr(x, "chunks")) or len(getattr(x, "shape", ())) != 2:
        return None
    n, p = x.shape
    if np.dtype(x.dtype).kind not in NUMBERS or 8 * n * p <= HELD:
        return None
    return ArrayParts(x, axis=0 if n >= p else 1)


def header_of(x: Any) -> Any:
    """Return what has the names of the columns: of a data frame of Dask one of pandas without rows, else x.

    Examples
    --------
    >>> header_of([[1.0, 2.0]])
    [[1.0, 2.0]]
    """
    return x._meta if is_dask(x) and hasattr(x, "divisions") and x.ndim == 2 else x


def own_names(x: Any) -> Any:
    """Return the names of columns in parts, which scikit-learn does not know of; None if there are none.

    Examples
    --------
    >>> own_names([[1.0, 2.0]]) is None
    True
    """
    if is_bed(x):
        return snps_of(x).names
    return x.names if isinstance(x, Chunked) or hasattr(x, "edges") else None
