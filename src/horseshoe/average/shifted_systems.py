"""Symmetric matrices plus multiples of the identity: many shifts for the price of one reduction.

A = Q T Q' with T tridiagonal costs a fifth of an eigendecomposition, and does as well: A + s I is Q (T + s I)
Q', and a tridiagonal system is solved in as many steps as it has rows. These are taken for all matrices and
shifts side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from horseshoe._types import Matrix, Vector
from horseshoe.threads import call_threads


class Shifted(NamedTuple):
    """(A + s I)^-1 b, log det (A / s + I) and tr A (A + s I)^-1 of each matrix A and each shift s.

    With T matrices and L shifts, ``solution`` has shape (p, T, L), and the others (T, L).
    """

    solution: Any
    log_det: Matrix
    trace: Matrix


class _Reduced(NamedTuple):
    """A = Q T Q': the reflectors that Q is made of, the diagonals of T, and Q'b."""

    reflectors: Any
    tau: Any
    diagonal: Vector
    beside: Vector
    target: Vector

    def rotated(self, values: Any, transposed: bool) -> Any:
        """Return Q values, or Q' values: all but the first row changes."""
        if self.tau.size == 0:
            return values
        below = np.array(values[1:], order="F")
        kind, work = "T" if transposed else "N", 64 * below.shape[1]
        with call_threads(4.0 * len(below) * below.size):
            below = lapack.dormqr("L", kind, self.reflectors, self.tau, below, work, overwrite_c=1)[0]
        return np.concatenate([values[:1], below])


def shifted(matrices: Sequence[Matrix], targets: Sequence[Vector], shifts: Vector) -> Shifted:
    """Solve (A + s I) x = b for positive semidefinite matrices of one size, each with its b, and all shifts.

    Examples
    --------
    >>> found = shifted([np.diag([1.0, 3.0])], [np.array([2.0, 4.0])], np.array([1.0]))
    >>> found.solution[:, 0, 0], found.log_det.round(4), found.trace
    (array([1., 1.]), array([[2.0794]]), array([[1.25]]))
    """
    reduced = [_reduced(matrix, target) for matrix, target in zip(matrices, targets, strict=True)]
    diagonal, beside, target = (np.stack([one[k] for one in reduced], axis=1)[..., None] for k in (2, 3, 4))
    p = diagonal.shape[0]
    x = np.empty((p, len(reduced), shifts.size))
    pivots = np.empty_like(x)
    rate, inverse_trace = np.ones(x.shape[1:]), np.zeros(x.shape[1:])  # rate: d pivot / d shift
    for i in range(p):
        pivot, x[i] = diagonal[i] + shifts, target[i]
        if i:
            share = beside[i - 1] / pivots[i - 1]
            pivot -= beside[i - 1] * share
            x[i] -= share * x[i - 1]
            rate = 1.0 + share * share * rate
        pivots[i] = np.maximum(pivot, shifts)  # by rounding alone A has eigenvalues below zero
        inverse_trace += rate / pivots[i]
    x /= pivots
    for i in range(p - 2, -1, -1):
        x[i] -= beside[i] / pivots[i] * x[i + 1]
    for t, one in enumerate(reduced):
        x[:, t] = one.rotated(x[:, t], transposed=False)
    return Shifted(x, np.log(pivots / shifts).sum(axis=0), p - shifts * inverse_trace)


def _reduced(matrix: Matrix, target: Vector) -> _Reduced:
    p = target.size
    if p < 2:
        return _Reduced(None, np.zeros(0), matrix.diagonal(), np.zeros(0), target)
    work = int(lapack.dsytrd_lwork(p, lower=1)[0])
    with call_threads(4.0 * p**3 / 3.0):
        reflectors, diagonal, beside, tau, _ = lapack.dsytrd(matrix, lower=1, lwork=work)
    found = _Reduced(np.asfortranarray(reflectors[1:, :-1]), tau, diagonal, beside, target)
    return found._replace(target=found.rotated(target[:, None], transposed=True)[:, 0])
