"""What is too large to be held at once, as a table in parts: memory maps, and arrays that live on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier.data.parts import ArrayParts, Parts

HELD = 256 << 20
"""What takes no more bytes than this as float64 is read at once."""
NUMBERS = "biuf"


def as_parts(x: Any) -> Parts | None:
    """Return what users hand in as a table in parts, if it is one or should be; otherwise None.

    A memory map, a Zarr array or an HDF5 data set is cut along its longer side.

    Examples
    --------
    >>> as_parts(np.eye(3)) is None
    True
    """
    if hasattr(x, "each") and hasattr(x, "edges"):
        found: Parts = x
        return found
    if not (isinstance(x, np.memmap) or hasattr(x, "chunks")) or len(getattr(x, "shape", ())) != 2:
        return None
    n, p = x.shape
    if np.dtype(x.dtype).kind not in NUMBERS or 8 * n * p <= HELD:
        return None
    return ArrayParts(x, axis=0 if n >= p else 1)
