"""How long importing horseshoe takes beyond the libraries it needs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from benchmarks.harness.processes import ONE_THREAD

PAIRS = 21

PACKAGE = "import horseshoe"
ESTIMATORS = "from horseshoe import HorseshoeRegressor, HorseshoeClassifier"
"""The package loads a name when it is asked for, so a fit needs this one."""

_CLOCK = "clocks.append((time.perf_counter(), time.process_time()))\n"
_START = "import time\nclocks = []\n"
_BASE = "import numpy, scipy.linalg, sklearn.base\n"
_PRINT = "print(*(end - start for clock in clocks[:2] for start, end in zip(clock, clocks[2])))\n"


@dataclass(frozen=True)
class Seconds:
    """Wall and CPU of all the imports of a process, and of those after the base alone."""

    wall: float
    cpu: float
    last_wall: float
    last_cpu: float


def run_imports(statement: str, cache: str) -> Seconds | None:
    """Time the imports in a new process that keeps its bytecode; nothing if they failed."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    code = _START + _CLOCK + _BASE + _CLOCK + statement + "\n" + _CLOCK + _PRINT
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode else Seconds(*(float(part) for part in done.stdout.split()))


def _pair(with_us_first: bool, cache: str) -> tuple[Seconds, Seconds] | None:
    """Time a process with the import and one without it, in either order."""
    measured = {
        with_us: run_imports(ESTIMATORS if with_us else "", cache)
        for with_us in (with_us_first, not with_us_first)
    }
    longer, shorter = measured[True], measured[False]
    return None if longer is None or shorter is None else (longer, shorter)


def _summary(pairs: list[tuple[Seconds, Seconds]]) -> dict[str, float]:
    """Quartiles of the differences, and medians of the statement alone."""
    wall = statistics.quantiles([longer.wall - shorter.wall for longer, shorter in pairs])
    cpu = statistics.quantiles([longer.cpu - shorter.cpu for longer, shorter in pairs])
    return {
        "wall": wall[1],
        "cpu": cpu[1],
        "wall_low": wall[0],
        "wall_high": wall[2],
        "cpu_low": cpu[0],
        "cpu_high": cpu[2],
        "statement_wall": statistics.median(longer.last_wall for longer, _ in pairs),
        "statement_cpu": statistics.median(longer.last_cpu for longer, _ in pairs),
    }


def measure_import() -> dict[str, float] | None:
    """Median over pairs of processes of what importing the estimators adds, after a pair that is not counted.

    The first pair compiles everything to bytecode, as an installation does. The two processes of a pair run
    one after the other, and which of them runs first alternates, so that a
    steady drift of the machine's speed cancels.
    """
    print(f"{ESTIMATORS}: {PAIRS} pairs of processes", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as cache:
        measured = [_pair(k % 2 == 0, cache) for k in range(PAIRS + 1)]
    pairs = [pair for pair in measured[1:] if pair is not None]
    return _summary(pairs) if len(pairs) == PAIRS else None
