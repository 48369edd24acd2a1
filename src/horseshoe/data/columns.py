"""Facts about the columns of X: their spread, their labels, and the units in which squares are in range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector

# Columns whose spread is between these can be squared, weighted and added up without loss or overflow.
SQUARABLE = 2.0**-400, 2.0**400


class Spread(NamedTuple):
    """Of all columns: means (zero if not centred), root mean squares around them, which vary at all."""

    mean: Vector
    spread: Vector
    varies: Mask


class Compressed(NamedTuple):
    """At most k rows with the same least squares as n: ||z - X b||^2 = ||targets - x b||^2 + left_over."""

    x: Matrix
    targets: Vector
    left_over: float


def within(values: Any, low: float, high: float) -> bool:
    """Tell whether all values are between low and high; NaN is not. Cheaper than comparing each.

    Examples
    --------
    >>> within(np.array([1.0, 2.0]), 1.0, 3.0), within(np.array([1.0, np.nan]), 1.0, 3.0)
    (True, False)
    """
    if values.size == 0:
        return True
    flat = values.ravel()
    return bool(np.minimum.reduce(flat) >= low and np.maximum.reduce(flat) <= high)


def column_label(columns: Any, column: int) -> str:
    """Return what a column is called in an error: its place, and its name if the user gave it one.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> column_label(Dense(np.eye(2)), 1)
    'column 1'
    """
    names = columns.names
    return f"column {column}" if names is None else f"column {names[column]!r} ({column})"


def extreme_units(spread: Vector, largest: Callable[[], Vector]) -> Any:
    """Return the powers of two to take out of each column before it is squared, or None where none is needed.

    ``spread`` is what was found without that: zero, infinite or NaN, if the squares were out of range.
    ``largest`` returns max |x_ij| of each column; it is asked only then. Ordinary columns get 0, so that they
    stay as they are to the last bit.

    Examples
    --------
    >>> extreme_units(np.array([1.0, 0.0, np.inf]), lambda: np.array([3.0, 0.0, 2.0**600]))
    array([  0,   0, 601], dtype=int32)
    """
    low, high = SQUARABLE
    if within(spread, low, high):
        return None
    top = largest()
    extreme = (top > high) | ((top < low) & (top > 0.0))
    return np.where(extreme, np.frexp(top)[1], 0) if extreme.any() else None


def varies(spread: Vector, mean: Vector, n_rows: int) -> Mask:
    """Tell which columns vary: by more than the rounding error of their mean.

    Examples
    --------
    >>> varies(np.array([1e-12, 1.0]), np.array([1e6, 1e6]), n_rows=4)
    array([False,  True])
    """
    rounding = 10.0 * np.sqrt(n_rows) * np.finfo(np.float64).eps
    return np.asarray(spread > rounding * np.abs(mean))
