"""Progress on standard error: a bar in a terminal, a line now and then in a file or a pipe."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from horseshoe.cli.terminal import notice

if TYPE_CHECKING:
    from horseshoe._types import Step

# Seconds from one line of progress in a file or a pipe to the next, at least.
INTERVAL = 30.0

# Is called with how much is done, the total if that is known, and a text that says more.
Report = Callable[[int, int | None, str], None]


@contextmanager
def show_progress(name: str, patient: bool = False, quiet: bool = False) -> Iterator[Report]:
    """Show how much is done, and the time left, on standard error; with ``quiet`` nothing.

    In a terminal that is a bar; in a file or a pipe a line now and then, and with ``patient`` none unless it
    takes long.

    Examples
    --------
    >>> with show_progress("table3") as report:
    ...     report(1, 4, "")
    """
    if quiet:
        yield lambda done, total, text: None
    elif not sys.stderr.isatty():
        yield ProgressLines(name, notice, patient=patient)
    else:
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar:
            task = bar.add_task(name, total=None)
            yield lambda done, total, text: bar.update(
                task, completed=done, total=total, description=f"{name} {text}".strip()
            )


class ProgressLines:
    """Progress as lines: at the start, at the end, and in between at most one in `INTERVAL` seconds.

    Examples
    --------
    >>> seconds = iter([0.0, 15.0, 30.0, 45.0, 60.0])
    >>> report = ProgressLines("table3", print, lambda: next(seconds))
    >>> for done in range(5):
    ...     report(done, 4, "")
    table3: 0 of 4 done
    table3: 2 of 4 done after 0:00:30, about 0:00:30 left
    table3: 4 of 4 done after 0:01:00
    """

    def __init__(
        self,
        name: str,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        patient: bool = False,
    ) -> None:
        self.name, self.write, self.clock = name, write, clock
        self.start = self.last = clock() if patient else -math.inf
        self.patient = patient

    def __call__(self, done: int, total: int | None, text: str) -> None:
        """Write how much is done, or nothing; a text that is given replaces the count."""
        now = self.clock()
        first, finished = math.isinf(self.start), done == total
        if first:
            self.start = now
        elif (self.patient or not finished) and now - self.last < INTERVAL:
            return
        self.last = now
        seconds = now - self.start
        if text or total is None:
            self.write(f"{self.name}: {text or done}")
            return
        line = f"{self.name}: {done} of {total} done" if total else f"{self.name}: nothing is left to do"
        if not first:
            line += f" after {_clock(seconds)}"
            line += "" if finished or not done else f", about {_clock(seconds / done * (total - done))} left"
        self.write(line)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


class ComponentProgress:
    """Counts the steps of the components of an average, over several regressions.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> count = ComponentProgress(lambda done, total, text: print(done, total), regressions=2)
    >>> for _ in range(2):
    ...     count(SimpleNamespace(total=2))
    1 4
    2 4
    """

    def __init__(self, report: Report, regressions: int) -> None:
        self.report, self.regressions, self.done = report, regressions, 0

    def __call__(self, step: Any) -> None:
        """Add one step."""
        self.done += 1
        self.report(self.done, self.regressions * step.total, "")


class IterationProgress:
    """Shows the iterations of a single fit; their number is a guess, once the change falls.

    Examples
    --------
    >>> from horseshoe.results import Iteration, Step
    >>> show = IterationProgress(print)
    >>> line = Iteration(0.1, None, 1.0, 1.0, 1200)
    >>> _ = show(Step.of(line, 12, None, 6.0, None)), show(Step.of(line, 20, 31, 10.0, 5.0))
    12 None iteration 12, 1,200 columns
    20 30 iteration 20, 1,200 columns, 31 passes, about 0:00:05 left
    """

    def __init__(self, report: Report) -> None:
        self.report = report

    def __call__(self, step: Step) -> None:
        """Show an iteration."""
        left, seconds = step.seconds_left, max(step.seconds, 1e-9)
        total = None if left is None else step.number + round(step.number * left / seconds)
        self.report(step.number, total, str(step))
