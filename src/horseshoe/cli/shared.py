"""What the commands have in common: errors, progress, and where they print."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Protocol

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
from rich.text import Text

from horseshoe._visible import UNSAFE, visible
from horseshoe.cli.stop import STOP as STOP

WIDE = 150
"""Columns of what is printed into a file or a pipe."""
UNREAD = 141
"""The exit code of a program whose output nobody reads any more, as shells have it."""
ISOLATES = "\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}"
"""What the words of an answer put around a name that is read from the right."""
EVERY = 30.0
"""Seconds from one line of progress in a file or a pipe to the next, at least."""


class Output(Console):
    """A console whose reader may have seen enough, as `head` does: then the program ends without a word."""

    def on_broken_pipe(self) -> None:
        """End as a program does that nobody reads."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(UNREAD)


def standard_output() -> Console:
    """Return the console on standard output: as wide as the terminal or COLUMNS say, else as `WIDE`.

    Examples
    --------
    >>> standard_output().width > 0
    True
    """
    wide = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Output(width=WIDE if wide else None)


def line(text: str, style: str = "", keep: str = ISOLATES) -> Text:
    r"""Return a text for the console: what stands in names of users is shown, never obeyed.

    Examples
    --------
    >>> line("\x1b[31mred\tage", "dim").plain
    '\\x1b[31mred\\tage'
    """
    return Text(visible(text, keep), style=style)


def cell(text: str) -> Text:
    r"""Return a name or a number for a cell of a table.

    Examples
    --------
    >>> cell("\N{RIGHT-TO-LEFT OVERRIDE}age").plain
    '\\u202eage'
    """
    return line(text, keep="")


def notice(text: str) -> None:
    """Tell the user something on standard error; nothing is lost where nobody reads it."""
    with suppress(BrokenPipeError):
        typer.echo(visible(text, keep="\n"), err=True)


def write_data(text: str) -> None:
    """Write data to standard output as they are; in a terminal nothing in them is obeyed."""
    sys.stdout.write(visible(text, keep="\n") if sys.stdout.isatty() else text)


def json_text(value: Any) -> str:
    """Return data as JSON that every reader takes: no NaN, letters as they are, and no control characters.

    Examples
    --------
    >>> print(json_text({"a": [1, 2.5, None]}))
    {
     "a": [
      1,
      2.5,
      null
     ]
    }
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def command_line() -> str:
    """Return the command that runs, as one would type it."""
    return shlex.join(["horseshoe", *STOP.arguments])


PYTHON = {
    "ask for more n_draws, or for method='mode'": "see horseshoe sample with more --draws",
    "ask for about n_draws=": "ask for about --draws ",
}
"""Advice for Python, and what it is on the command line."""


def as_options(text: str) -> str:
    """Return advice with the options of the program in place of those of Python.

    Examples
    --------
    >>> as_options("the chains do not agree; ask for about n_draws=1000")
    'the chains do not agree; ask for about --draws 1000'
    """
    for python, option in PYTHON.items():
        text = text.replace(python, option)
    return text


@contextmanager
def said_warnings() -> Iterator[None]:
    """Pass the warnings of the library on as sentences, each once, without the code they come from.

    Examples
    --------
    >>> with said_warnings():
    ...     pass
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for text in dict.fromkeys(as_options(str(warning.message)) for warning in caught):
                notice(f"horseshoe: {text}")


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
    except BrokenPipeError:
        raise
    except mendable as error:
        notice(f"horseshoe: {error}")
        raise typer.Exit(code=2) from error


@contextmanager
def progress_on(name: str, patient: bool = False, quiet: bool = False) -> Iterator[Show]:
    """Show how much is done, and the time left, on standard error: call what is given with done and total.

    In a terminal that is a bar; in a file or a pipe a line now and then, and with ``patient`` none unless it
    takes long. The total may not be known; a text says more. With ``quiet`` nothing is shown.

    Examples
    --------
    >>> with progress_on("table3") as progress:
    ...     progress(1, 4)
    """
    if quiet:
        yield lambda done, total, text="": None
        return
    if not sys.stderr.isatty():
        yield Lines(name, notice, patient=patient)
        return
    bar = Progress(
        TextColumn("{task.description}"),
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
        yield lambda done, total, text="": bar.update(
            task, completed=done, total=total, description=f"{name} {text}".strip()
        )


class Show(Protocol):
    """Shows how much of a total is done, with a word on it."""

    def __call__(self, done: int, total: int | None, text: str = "") -> None:
        """Show it."""


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
        self,
        name: str,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        patient: bool = False,
    ) -> None:
        self.name, self.say, self.clock = name, say, clock
        self.start = self.last = clock() if patient else -math.inf
        self.patient = patient

    def __call__(self, done: int, total: int | None, text: str = "") -> None:
        """Say how much is done, or nothing; a text of one's own says it all."""
        now = self.clock()
        first, finished = math.isinf(self.start), done == total
        if first:
            self.start = now
        elif (self.patient or not finished) and now - self.last < EVERY:
            return
        self.last = now
        past = now - self.start
        if text or total is None:
            self.say(f"{self.name}: {text or done}")
            return
        text = f"{self.name}: {done} of {total} done" if total else f"{self.name}: nothing is left to do"
        if not first:
            text += f" after {_clock(past)}"
            text += "" if finished or not done else f", about {_clock(past / done * (total - done))} left"
        self.say(text)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
