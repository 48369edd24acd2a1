"""CPU seconds and memory of the process that asks."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

FAST_FIT = 0.1
BATCH_SECONDS = 0.3


def peak_bytes() -> int:
    """Return the largest resident size this process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def cpu_of(action: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds that an action takes, and what it returns."""
    start = time.process_time()
    value = action()
    return time.process_time() - start, value


def timed(action: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> dict[str, Any]:
    """CPU seconds of an action: once, or if it is fast the mean over as many as fill a batch."""
    start = clock()
    action()
    spent, count = clock() - start, 1
    while spent < BATCH_SECONDS and spent < count * FAST_FIT:
        action()
        spent, count = clock() - start, count + 1
    return {"seconds": spent / count, "fits_per_turn": count}
