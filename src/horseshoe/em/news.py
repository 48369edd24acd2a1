"""What a callback is told of a long fit: the iteration, passes over the data, and the time that is left."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

from horseshoe._types import Callback, Iteration, Step

LOOK_BACK = 10
"""Iterations over which the change must have fallen for a word on the time that is left."""
SLOWEST = 1e-3
"""By which its logarithm must have fallen in each of them, on average."""


class Teller:
    """Tells the callback, if there is one.

    Parameters
    ----------
    callback : callable or None
        Who is told; returning False asks to stop.
    tol : float
        The change at which the fit ends.
    columns : Columns
        Which may count the passes over them.
    """

    def __init__(self, callback: Callback | None, tol: float, columns: Any = None) -> None:
        self._callback, self._tol, self._columns = callback, tol, columns
        self._start = time.perf_counter()
        self._seen: deque[tuple[float, float]] = deque(maxlen=LOOK_BACK + 1)

    def asks_to_stop(self, number: int, line: Iteration) -> bool:
        """Tell of an iteration; return whether to stop."""
        if self._callback is None:
            return False
        now = time.perf_counter()
        self._seen.append((now, line.change))
        left = seconds_left(list(self._seen), self._tol)
        passes = getattr(self._columns, "passes", None)
        return self._callback(Step.of(line, number, passes, now - self._start, left)) is False


def seconds_left(seen: list[tuple[float, float]], tol: float) -> float | None:
    """Return how long the change takes to fall to ``tol``, if it goes on to fall as it did; None if unknown.

    ``seen`` are times and changes of the last iterations. It is a guess: columns that leave make iterations
    cheaper, and a jump to the end of the tail makes them fewer.

    Examples
    --------
    >>> seen = [(float(k), 10.0**-k) for k in range(11)]
    >>> round(seconds_left(seen, 1e-13), 6), seconds_left(seen[:5], 1e-13)
    (3.0, None)
    """
    if len(seen) <= LOOK_BACK:
        return None
    (begun, before), (now, change) = seen[0], seen[-1]
    if not (0.0 < change < math.inf and 0.0 < before < math.inf):
        return None
    fall = math.log(before / change) / LOOK_BACK
    if fall < SLOWEST or tol <= 0.0:
        return None
    iterations = max(math.log(change / tol), 0.0) / fall
    return iterations * (now - begun) / LOOK_BACK
