"""Newton's method for the few coefficients that a training set fits without shrinkage, beside the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horseshoe.average.sets import HALVED

# The most steps, and a step so small that the next would change nothing.
STEPS, SMALL = 50, 1e-9


def newton(
    point: Any,
    at: Callable[[Any, Any], tuple[float, Any]],
    step: Callable[[Any], Any],
    basis: Any,
    longest: float,
    no_gain: float,
    steps: int = STEPS,
) -> tuple[Any, Any]:
    """Return the point where a loss is least, and what is known there.

    Where the columns separate the data completely no point is best: then it ends where it gains nothing more.

    Parameters
    ----------
    point : array of shape (..., r)
        Where to start.
    at : callable
        The loss at a point, and what ``step`` needs to know there; it is given what was known before.
    step : callable
        A step of Newton's method from there.
    basis : array of shape (n, r)
        The columns: a step takes no row of the linear predictor farther than ``longest``.
    no_gain : float
        A relative gain of the loss that is none.

    Examples
    --------
    >>> at = lambda point, known: (float((point[0] - 3.0) ** 2), point)
    >>> newton(np.zeros(1), at, lambda here: 3.0 - here, np.ones((1, 1)), 2.0, 1e-12)[0]
    array([3.])
    """
    loss, known = at(point, None)
    for _ in range(steps if point.size else 0):
        way = step(known)
        length = float(np.abs(basis @ way.T).max(initial=0.0))
        if not length > SMALL:
            return point + way if length >= 0.0 else point, known
        for share in min(longest / length, 1.0) * HALVED:
            less, there = at(point + share * way, known)
            if less <= loss + no_gain * (1.0 + loss):  # the last steps gain less than rounding
                break
        else:
            return point, known
        gain, loss = loss - less, less
        point, known = point + share * way, there
        if gain <= no_gain * (1.0 + loss):
            break
    return point, known
