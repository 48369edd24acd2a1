"""Visits of columns, one at a time, of one target: the loop in which the exact sweeps spend their time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector

# Exponents up to here need not be brought down before they are taken.
SAFE_EXPONENT = 600.0


def visit_in_turn(
    parts: list[tuple[slice, Matrix, Matrix]],
    squares: Vector,
    b: Vector,
    base: Matrix,
    keep: Matrix,
    half: Vector,
) -> Vector:
    """Put the columns of each problem to their best in turn, and return their pulls.

    Parameters
    ----------
    parts : list of (slice, X'X, X'r)
        The places of each problem, the Gram matrix of its columns, and what they pull.
    squares, b : arrays of shape (m,)
        Their sums of squares and their coefficients.
    base, keep : arrays of shape (K, m)
        log(pi_k / pi_0 (1 + d s_k)^(-1/2)) and c_k of each.
    half : array of shape (m,)
        1 / (2 sigma2).
    """
    slabs, u = np.array([base, keep * half, keep]).T, np.empty(b.size)
    for part, gram, work in parts:
        u[part] = _pulls(gram, work[:, 0], squares[part], b[part], slabs[part])
    return u


def _pulls(gram: Matrix, work: Vector, squares: Vector, b: Vector, slabs: Any) -> list[float]:
    """Visit the columns of one problem.

    Numbers of Python, not arrays: the exponentials of a few slabs are nothing beside one call of NumPy.
    """
    exp, pulls, moved = math.exp, [], np.zeros(b.size)
    safe = (SAFE_EXPONENT - slabs[..., 0].max()) / slabs[..., 1].max()
    columns = zip(gram, work.tolist(), squares.tolist(), b.tolist(), slabs.tolist(), strict=True)
    for i, (row, first, square, old, own) in enumerate(columns):
        u = first - float(row.dot(moved)) + square * old
        u2 = u * u
        top = 0.0 if u2 < safe else max(0.0, *(a + h * u2 for a, h, _ in own))
        total, mean = exp(-top), 0.0
        for a, h, c in own:
            weight = exp(a + h * u2 - top)
            total += weight
            mean += weight * c
        pulls.append(u)
        moved[i] = u * mean / total - old
    return pulls
