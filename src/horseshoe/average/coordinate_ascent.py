"""Visits of columns, one at a time: the loop in which the exact sweeps spend their time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import Local

SAFE_EXPONENT = 600.0
"""Exponents up to here need not be brought down before they are taken."""

Visitor = Callable[[Local, Vector, Vector, Matrix], "Vector | list[float]"]
"""From columns, their sums of squares, coefficients and slabs to their pulls; moves r if ``work`` is the
residual, and leaves X'r as it is."""


def one_at_a_time(local: Local, squares: Vector, b: Vector, slabs: Matrix) -> list[float]:
    """Visit columns in turn and return their pulls.

    ``slabs[j, k]`` has log(pi_k / pi_0 (1 + d s_k)^(-1/2)), c_k / (2 sigma2) and c_k. Numbers of Python, not
    arrays: the exponentials of a few slabs are nothing beside one call of NumPy.
    """
    vectors, work, products = local
    exp, pulls, moved, first = math.exp, [], np.zeros(b.size), [] if products else work.tolist()
    safe = (SAFE_EXPONENT - slabs[..., 0].max()) / slabs[..., 1].max()
    columns = zip(vectors, squares.tolist(), b.tolist(), slabs.tolist(), strict=True)
    for i, (vector, square, old, own) in enumerate(columns):
        pulled = float(vector.dot(work)) if products else first[i] - float(vector.dot(moved))
        u = pulled + square * old
        u2 = u * u
        top = 0.0 if u2 < safe else max(0.0, *(a + h * u2 for a, h, _ in own))
        total, mean = exp(-top), 0.0
        for a, h, c in own:
            weight = exp(a + h * u2 - top)
            total += weight
            mean += weight * c
        pulls.append(u)
        change = u * mean / total - old
        if not products:
            moved[i] = change
        elif change:
            work -= change * vector
    return pulls
