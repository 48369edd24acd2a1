"""Linear algebra that every room needs: factors, products of BLAS in either precision, scattering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, blas, eigh, lapack

from horseshoe._types import Mask, Matrix
from horseshoe.threads import call_threads

# Triangular matrices up to this size are inverted at once.
WHOLE = 64
# Shares of the diagonal that are added to it, as few as are needed.
JITTERS = (0.0, 1e-14, 1e-11, 1e-8)


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
    with call_threads(len(matrix) ** 3 / 3.0):
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
    out = np.zeros_like(factor, order="F")
    out[:half, :half], out[half:, half:] = first, last
    with call_threads(float(half) ** 3):
        below = blas.dtrmm(-1.0, last, factor[half:, :half], lower=1)
        out[half:, :half] = blas.dtrmm(1.0, first, below, side=1, lower=1, overwrite_b=1)
    return out


def syrk(block: Any, lower: Any = None, trans: bool = False) -> Any:
    """Return the lower triangle of A A', or of A'A with ``trans``, added to ``lower`` in place.

    Examples
    --------
    >>> syrk(np.array([[1.0], [2.0]], order="F"), trans=True)
    array([[5.]])
    """
    call = blas.ssyrk if is_single(block) else blas.dsyrk
    with call_threads(float(block.size) * block.shape[1 if trans else 0]):
        if lower is None:
            return call(1.0, block, trans=trans, lower=1)
        return call(1.0, block, trans=trans, lower=1, beta=1.0, c=lower, overwrite_c=1)


def half_solved(factor: Any, block: Any, overwrite: bool = False) -> Any:
    """Return L^-1 B of a lower Cholesky factor, in single precision if both are; B may be overwritten.

    Examples
    --------
    >>> half_solved(np.array([[2.0]]), np.array([[3.0]]))
    array([[1.5]])
    """
    call = blas.strsm if is_single(factor) and is_single(block) else blas.dtrsm
    with call_threads(float(block.size) * len(factor)):
        return call(1.0, factor, block, lower=1, overwrite_b=overwrite)


def triangle(rows: Matrix) -> Matrix:
    """Return R, upper triangular, of A = QR.

    Examples
    --------
    >>> abs(triangle(np.array([[3.0], [4.0]])))
    array([[5.]])
    """
    with call_threads(2.0 * rows.size * min(rows.shape)):
        return np.asarray(np.linalg.qr(rows, mode="r"))


def eigen(matrix: Any) -> tuple[Any, Any]:
    """Return the eigenvalues, from the least, and the eigenvectors of a symmetric matrix.

    Examples
    --------
    >>> eigen(np.array([[4.0]]))
    (array([4.]), array([[1.]]))
    """
    with call_threads(4.0 * len(matrix) ** 3):
        values, vectors = eigh(matrix, driver="evd")
    return values, vectors


def inverse_trace(factor: Any) -> float:
    """Return tr A^-1 from the Cholesky factor of A.

    Examples
    --------
    >>> inverse_trace(np.diag([1.0, 2.0]))
    1.25
    """
    half = triangular_inverse(factor).ravel(order="K")
    return float(half @ half)


def mirrored(lower: Any) -> Matrix:
    """Return a symmetric matrix from its lower triangle; above it are zeros.

    Examples
    --------
    >>> mirrored(np.array([[1.0, 0.0], [2.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    whole = lower + lower.T
    whole.ravel(order="K")[:: lower.shape[0] + 1] *= 0.5
    return np.asarray(whole)


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


class Solved(NamedTuple):
    """The solutions, the norms of what is left of each right-hand side, and whether all are small."""

    values: Any
    left: Any
    solved: bool


def conjugate_gradients(
    times: Callable[[Any], Any],
    preconditioned: Callable[[Any], Any],
    target: Any,
    tol: float,
    most_steps: int,
    guess: Any = None,
    joint: bool = False,
) -> Solved:
    """Solve a positive definite system for each column of ``target`` by preconditioned conjugate gradients.

    Parameters
    ----------
    times, preconditioned : callable
        Take a matrix A V and, nearly, A^-1 V, for all columns at once.
    target : array of shape (n, m)
        The right-hand sides.
    tol : float
        The share of the norm of each right-hand side that may be left.
    most_steps : int
        The most iterations.
    guess : array of shape (n, m), optional
        Where to start; zero where that leaves more.
    joint : bool
        Whether the columns are one system, whose residual is measured by the preconditioner: r'P r, which
        does not depend on units.

    Examples
    --------
    >>> a = np.diag([1.0, 4.0])
    >>> conjugate_gradients(lambda v: a @ v, lambda v: v, np.ones((2, 1)), 1e-12, 10).values.ravel()
    array([1.  , 0.25])
    """
    dots: Callable[[Any, Any], Any] = np.vdot if joint else _column_dots
    out, left = np.zeros_like(target), target.copy()
    if guess is not None:
        gap = target - times(guess)
        if np.all(dots(gap, gap) < dots(target, target)):  # a guess worse than zero may lead anywhere
            out, left = guess.copy(), gap
    eased = preconditioned(left)
    way, power = eased.copy(), dots(left, eased)
    enough = tol * np.sqrt(abs(power) if joint else dots(target, target))
    for _ in range(most_steps):
        if np.all(np.sqrt(abs(power) if joint else dots(left, left)) <= enough):
            break
        seen = times(way)
        step = _ratio(power, dots(way, seen))
        out += step * way
        left -= step * seen
        eased = preconditioned(left)
        power, before = dots(left, eased), power
        way *= _ratio(power, before)
        way += eased
    size = np.sqrt(abs(power) if joint else dots(left, left))
    return Solved(out, size, bool(np.all(size <= enough)))


def _column_dots(one: Any, other: Any) -> Any:
    return np.einsum("ij,ij->j", one, other)


def _ratio(one: Any, other: Any) -> Any:
    """Return one / other; 0 where there is nothing left to do."""
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0.0)
