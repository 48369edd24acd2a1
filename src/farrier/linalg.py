"""Linear algebra that every room needs: a Cholesky factor that exists, scattering, how many threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack

from farrier._types import Mask, Matrix

WHOLE = 64
"""Triangular matrices up to this size are inverted at once."""
MANY_FLOPS = 2e9
"""Products of a full-width iteration, n^2 p, from which on more threads are likely to pay."""


JITTERS = (0.0, 1e-14, 1e-11, 1e-8)
"""Shares of the diagonal that are added to it, as few as are needed."""


def cholesky(matrix: Any, again: Callable[[], Any] | None = None) -> Any:
    """Return the lower Cholesky factor of a symmetric matrix I + K, in its own precision.

    Only the lower triangle of a Fortran-ordered matrix is read. Where rounding swallows the identity, as
    little more of it as is needed is added, to ``matrix`` itself. With ``again``, which makes the matrix anew
    where that happens, the factor takes its place. A matrix that is not finite has no factor: LinAlgError.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]])
    """
    potrf = lapack.spotrf if is_single(matrix) else lapack.dpotrf
    lower = matrix if matrix.flags.f_contiguous else matrix.T
    factor, info = potrf(lower, lower=1, overwrite_a=again is not None)
    if info != 0 and again is not None:
        return cholesky(again())
    jitter = np.finfo(matrix.dtype).eps * float(np.abs(matrix.diagonal()).max()) if info else 0.0
    while info != 0:
        if not np.isfinite(jitter):
            raise np.linalg.LinAlgError("a matrix to be factorised is not finite")
        add_identity(matrix, jitter)
        factor, info = potrf(lower, lower=1)
        jitter *= 4.0
    return factor


def is_single(matrix: Any) -> bool:
    """Tell whether an array of floats is in single precision; cheaper than a comparison of dtypes.

    Examples
    --------
    >>> is_single(np.zeros(2, dtype=np.float32))
    True
    """
    return bool(matrix.itemsize == 4)


def add_identity(matrix: Any, times: float = 1.0) -> Any:
    """Add a multiple of the identity to ``matrix`` itself, and return it.

    Examples
    --------
    >>> add_identity(np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    matrix.ravel(order="K")[:: matrix.shape[0] + 1] += times
    return matrix


def log_det(factor: Any) -> float:
    """Return log det A from the Cholesky factor of A.

    Examples
    --------
    >>> round(log_det(np.diag([1.0, np.e])), 6)
    2.0
    """
    return 2.0 * float(np.log(factor.diagonal()).sum())


def triangular_inverse(factor: Any) -> Any:
    """Return L^-1 of a lower Cholesky factor, by halves: LAPACK's own takes up to twice as long.

    Examples
    --------
    >>> triangular_inverse(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    size = factor.shape[0]
    if size <= WHOLE:
        return lapack.dtrtri(factor, lower=1)[0]
    half = size // 2
    first, last = triangular_inverse(factor[:half, :half]), triangular_inverse(factor[half:, half:])
    below = blas.dtrmm(-1.0, last, factor[half:, :half], lower=1)
    out = np.zeros_like(factor, order="F")
    out[:half, :half], out[half:, half:] = first, last
    out[half:, :half] = blas.dtrmm(1.0, first, below, side=1, lower=1, overwrite_b=1)
    return out


def inverse_trace(factor: Any) -> float:
    """Return tr A^-1 from the Cholesky factor of A.

    Examples
    --------
    >>> inverse_trace(np.diag([1.0, 2.0]))
    1.25
    """
    half = triangular_inverse(factor).ravel(order="K")
    return float(half @ half)


def both_triangles(lower: Matrix) -> Matrix:
    """Return a symmetric matrix from its lower triangle, in place.

    Examples
    --------
    >>> both_triangles(np.array([[1.0, 9.0], [2.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    lower += np.tril(lower, -1).T - np.triu(lower, 1)
    return lower


def scatter(where: Mask, values: Any) -> Any:
    """Return zeros, with ``values`` in the places where ``where`` is true; places are the last axis.

    Examples
    --------
    >>> scatter(np.array([True, False]), np.array([2.0]))
    array([2., 0.])
    """
    out = np.zeros((*values.shape[:-1], where.size), dtype=values.dtype)
    out[..., where] = values
    return out


class _Hold:
    """How many fits hold BLAS to one thread right now, and what they found."""

    lock = Lock()
    fits = 0
    found: tuple[tuple[Any, int], ...] = ()


@contextmanager
def fitting_threads(n_rows: int = 0, n_columns: int = 0) -> Iterator[None]:
    """Hold BLAS to one thread unless the problem is large; the last fit to end gives the threads back.

    A fit is a long chain of small operations. For most shapes the threads of BLAS spend more time on waiting
    for each other than on work, and on a busy machine far more: then one is faster. The number of threads
    belongs to the process, so fits in several threads share one hold.

    Examples
    --------
    >>> with fitting_threads(100, 1000):
    ...     max((pool.num_threads for pool in _blas_pools()), default=1)
    1
    """
    if _is_large(n_rows, n_columns):
        yield
        return
    with _Hold.lock:
        if _Hold.fits == 0:
            _Hold.found = tuple((pool, pool.num_threads) for pool in _blas_pools())
        _Hold.fits += 1
        _set_threads((pool, 1) for pool, _ in _Hold.found)
    try:
        yield
    finally:
        with _Hold.lock:
            _Hold.fits -= 1
            own = [item for item in _Hold.found if getattr(item[0], "threading_layer", "") == "openmp"]
            _set_threads(own if _Hold.fits else _Hold.found)  # OpenMP counts for each thread apart


def step_threads(n_rows: int, n_columns: int) -> Callable[[int, int], AbstractContextManager[None]]:
    """Return what holds BLAS to one thread once few columns of a large problem are left.

    Where the problem is not large, the whole fit does so already.

    Examples
    --------
    >>> with step_threads(10, 20)(10, 5):
    ...     pass
    """
    return fitting_threads if _is_large(n_rows, n_columns) else lambda *_: nullcontext()


def available_threads() -> int:
    """Return how many threads BLAS may use when no fit holds it to one.

    Examples
    --------
    >>> available_threads() >= 1
    True
    """
    with _Hold.lock:
        found = _Hold.found if _Hold.fits else tuple((pool, pool.num_threads) for pool in _blas_pools())
    return max((threads for _, threads in found), default=1)


def _is_large(n_rows: int, n_columns: int) -> bool:
    return float(min(n_rows, n_columns)) ** 2 * max(n_rows, n_columns) >= MANY_FLOPS


def _set_threads(wanted: Any) -> None:
    for pool, threads in wanted:
        if pool.num_threads != threads:
            pool.set_num_threads(threads)
            if hasattr(pool, "clear_controlling_thread"):  # or only one thread could ever set it
                pool.clear_controlling_thread(force=True)


@cache
def _blas_pools() -> tuple[Any, ...]:
    """Return the thread pools of the BLAS libraries that NumPy and SciPy have loaded."""
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return tuple(pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "blas")


def solve_banded(band: Matrix, rhs: Any) -> Any:
    """Solve a positive definite system of three diagonals: above the diagonal, and the diagonal.

    Examples
    --------
    >>> solve_banded(np.array([[0.0, 1.0], [2.0, 2.0]]), np.array([3.0, 3.0]))
    array([1., 1.])
    """
    if band.shape[1] == 1:  # LAPACK wants a neighbour
        with np.errstate(divide="ignore", invalid="ignore"):
            return rhs / band[1, 0]
    for jitter in JITTERS:
        _, _, found, wrong = lapack.dptsv((1.0 + jitter) * band[1], band[0, 1:], rhs)
        if wrong == 0 and np.isfinite(found).all():
            return found  # else singular, perhaps but for rounding
    raise LinAlgError("a matrix of three diagonals is not positive definite")
