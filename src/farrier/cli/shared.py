"""What the commands have in common: errors, progress, and where they print."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

WIDE = 150
"""Columns of what is printed into a file or a pipe."""
EVERY = 30.0
"""Seconds from one line of progress in a file or a pipe to the next, at least."""


def standard_output() -> Console:
    """Return the console on standard output.

    Examples
    --------
    >>> standard_output().width > 0
    True
    """
    return Console() if sys.stdout.isatty() else Console(width=WIDE)


def notice(text: str) -> None:
    """Tell the user something on standard error."""
    typer.echo(text, err=True)


@contextmanager
def told(*errors: type[Exception]) -> Iterator[None]:
    """Turn what the user can mend into a message without a traceback.

    What is not installed and what cannot be read or written is of that kind everywhere.

    Examples
    --------
    >>> try:
    ...     with told(ValueError):
    ...         raise ValueError("replicates=0 must be at least 1")
    ... except typer.Exit as end:
    ...     end.exit_code
    2
    """
    mendable: tuple[type[Exception], ...] = (ImportError, OSError, *errors)
    try:
        yield
    except mendable as error:
        notice(f"farrier: {error}")
        raise typer.Exit(code=2) from error


@contextmanager
def progress_on(name: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much is done, and the time left, on standard error: call what is given with done and total.

    In a terminal that is a bar; in a file or a pipe a line now and then.

    Examples
    --------
    >>> with progress_on("table3") as progress:
    ...     progress(1, 4)
    """
    if not sys.stderr.isatty():
        yield Lines(name, notice)
        return
    bar = Progress(
        TextColumn(name),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class Lines:
    """Progress as lines: at the start, at the end, and in between not before some time is over.

    Examples
    --------
    >>> seconds = iter([0.0, 15.0, 30.0, 45.0, 60.0])
    >>> show = Lines("table3", print, lambda: next(seconds))
    >>> for done in range(5):
    ...     show(done, 4)
    table3: 0 of 4 done
    table3: 2 of 4 done after 0:00:30, about 0:00:30 left
    table3: 4 of 4 done after 0:01:00
    """

    def __init__(
        self, name: str, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name, self.say, self.clock = name, say, clock
        self.start = self.last = -math.inf

    def __call__(self, done: int, total: int) -> None:
        """Say how much is done, or nothing."""
        now = self.clock()
        first, finished = math.isinf(self.start), done == total
        if first:
            self.start = now
        elif not finished and now - self.last < EVERY:
            return
        self.last = now
        past = now - self.start
        text = f"{self.name}: {done} of {total} done" if total else f"{self.name}: nothing is left to do"
        if not first:
            text += f" after {_clock(past)}"
            text += "" if finished or not done else f", about {_clock(past / done * (total - done))} left"
        self.say(text)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
