"""Commands: ``farrier reproduce``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from farrier._version import __version__
from farrier.paper import FIGURES, RESULTS, SEED, TABLES

if TYPE_CHECKING:
    from farrier.paper.report import Report

app = typer.Typer(
    help="Sparse horseshoe regression: which few columns matter, by how much, and how sure that is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
WIDE = 150
"""Columns of what is printed into a file or a pipe."""


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"farrier {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Sparse horseshoe regression."""


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join((*TABLES, *FIGURES))}.")],
    replicates: Annotated[
        int | None, typer.Option(help="Data sets of each setting; the paper's number by default.", min=1)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores by default.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the data, the folds and the draws.", min=0)] = SEED,
    methods: Annotated[
        str | None, typer.Option(help="Names, separated by commas; all of the table by default.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder of the results.")] = RESULTS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute anew what an earlier run has left.")
    ] = False,
) -> None:
    """Reproduce a table or figure of the paper, with our figures beside the printed ones.

    Results are kept as they come: a run that was stopped goes on where it was when it is started again.
    """
    from farrier.paper.reproduce import reproduce as run

    chosen = None
    if methods is not None:
        chosen = tuple(part.strip() for part in methods.split(",") if part.strip())
    with _errors(), _progress(name) as progress:
        outcome = run(name, replicates, jobs, seed, chosen, out, fresh, progress, _notice)
    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    _show(console, outcome.report)
    console.print(Text("Written: " + ", ".join(str(path) for path in outcome.files)), soft_wrap=True)


def _notice(text: str) -> None:
    typer.echo(text, err=True)


def _show(console: Console, report: Report) -> None:
    """Print a report."""
    console.print(Text(report.heading, style="bold"), Text(report.explanation), "", sep="\n")
    for block in report.blocks:
        table = Table(title=block.heading, title_justify="left", box=SIMPLE_HEAD, show_lines=True)
        for name in block.header:
            table.add_column(Text(name), vertical="top")
        for row in block.rows:
            table.add_row(*map(Text, row))
        console.print(table)
    for line in (*report.verdicts, *report.notes):
        console.print(Text(line))


@contextmanager
def _errors() -> Iterator[None]:
    """Turn what the user can mend into a message without a traceback."""
    from farrier.paper.core import RequestError
    from farrier.paper.datasets import WrongDataError
    from farrier.paper.runner import FitError

    try:
        yield
    except (RequestError, FitError, WrongDataError, ImportError, OSError) as error:
        typer.echo(f"farrier: {error}", err=True)
        raise typer.Exit(code=2) from error


@contextmanager
def _progress(name: str) -> Iterator[Any]:
    """Show how many data sets are done, and the time left, on standard error."""
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
