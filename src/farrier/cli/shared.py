"""What the commands have in common: errors, progress, and where they print."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
def progress_bar(name: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much is done, and the time left, on standard error: call what is given with done and total.

    Examples
    --------
    >>> with progress_bar("table3") as progress:
    ...     progress(1, 4)
    """
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
