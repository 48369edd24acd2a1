"""What is asked of the columns of X, wherever they live: nothing outside this folder sees the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from horseshoe._types import Mask, Matrix, Vector

SQUARABLE = 2.0**-400, 2.0**400
"""Columns whose spread is between these can be squared, weighted and added up without loss or overflow."""


class Spread(NamedTuple):
    """Of all columns: means (zero if not centred), root mean squares around them, which vary at all."""

    mean: Vector
    spread: Vector
    varies: Mask


class Compressed(NamedTuple):
    """At most k rows that say the same as n: ||z - X b||^2 = ||targets - x b||^2 + left_over."""

    x: Matrix
    targets: Vector
    left_over: float


class Scaled(Protocol):
    """The columns times ``root``: what the dual form works on, at one value of the scales."""

    def outer(self, base: Any = None) -> Any:
        """Return base + X D X', D = diag(root^2): the lower triangle, Fortran-ordered."""

    def leverages(self, factor: Any) -> Vector:
        """Return d_j x_j'M^-1 x_j from the Cholesky factor of M."""

    def half_solved(self, factor: Any) -> Matrix:
        """Return L^-1 X D^1/2, dense: as many rows as observations."""

    def matvec(self, coef: Any) -> Any:
        """Return X D^1/2 b, for a vector or for each column of a matrix."""

    def rmatvec(self, rows: Any) -> Any:
        """Return D^1/2 X' r, for a vector or for each column of a matrix."""


class Columns(Protocol):
    """X: n rows that fit in memory as vectors, k columns that may live anywhere."""

    names: Any
    """Those that the user gave, for errors; None if there are none."""

    remote: bool
    """Whether a pass over the columns takes longer than the arithmetic: then all sums are taken in one."""

    @property
    def orthogonal(self) -> bool:
        """Whether X'X is diagonal by construction: then nothing else is asked than what `Identity` has."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def matvec(self, coef: Any) -> Any:
        """Return X b, for a vector or for each column of a matrix."""

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r, for a vector or for each column of a matrix."""

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)', both triangles."""

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2 for a vector of weights or for each column of a matrix."""

    def scaled(self, root: Vector, dtype: Any = np.float64) -> Scaled:
        """Return the columns times ``root``, in single or double precision."""

    def stretched(self, factor: Vector) -> Columns:
        """Return the columns times ``factor``, as columns."""

    def less(self, rows: Matrix, loads: Matrix) -> Columns:
        """Return X - C M', C of shape (n, q) and M of shape (k, q)."""

    def take(self, keep: Mask) -> Columns:
        """Return the columns in ``keep``."""

    def rows(self, which: Any) -> Columns:
        """Return some of the rows."""

    def reweighted(self, root: Vector, center: Vector | None = None) -> Columns:
        """Return diag(root) (X - 1 center')."""

    def single(self) -> Columns:
        """Return the columns in single precision."""

    def compressed(self, targets: Vector) -> Compressed:
        """Return as few rows as say the same of the coefficients, if n > k; else the rows as they are."""

    def summed(self, targets: Vector, weights: Vector | None) -> Any:
        """Return the `CrossProducts` of columns and targets; None where that is no shorter than the rows."""

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Columns, Spread]:
        """Return the columns that vary, centred and scaled by the weights, and what they were before."""

    def dense(self) -> Matrix:
        """Return the array: for a few columns, or rows."""

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return arrays that tell these columns from others; ``brief`` where a pass over them is dear."""


@runtime_checkable
class Passing(Protocol):
    """Columns over which a pass can do two things at once."""

    def ahead(self, coef: Any, look: Callable[..., tuple[Vector, Vector]], *along: Vector) -> tuple[Any, Any]:
        """Return X b, and the `CrossProducts` of columns and targets that ``look`` sees there, in one pass.

        ``look`` takes X b of some rows, that of the last column if b is a matrix, and their parts of
        ``along``; it returns their targets and weights.
        """

    def summed_by(self, part: Any, k: int, targets: Vector, weights: Vector | None) -> Any:
        """Return the `CrossProducts` of each of k parts of the rows, in one pass; ``part`` says which."""


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
