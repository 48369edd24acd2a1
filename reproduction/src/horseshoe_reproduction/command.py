"""The command ``horseshoe reproduce``, which horseshoe finds by the entry point of this distribution."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from horseshoe_reproduction import FIGURES, MORE, RESULTS, SEED, TABLES, load

if TYPE_CHECKING:
    from horseshoe_reproduction.report import Report


def reproduce(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=f"One of {', '.join((*TABLES, *FIGURES, *MORE))}.")],
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
    settings: Annotated[
        list[str] | None,
        typer.Option(
            help="Blocks or rows of the table, separated by commas, or one each time; all by default."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder of the results.")] = RESULTS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute anew what an earlier run has left.")
    ] = False,
) -> None:
    """Reproduce a table or figure of the paper, with our figures beside the printed ones.

    Results are kept as they come: a run that was stopped goes on where it was when it is started again.
    """
    tools = context.obj  # how commands of horseshoe print, show progress and are interrupted
    tools.interrupt.folder = out
    from horseshoe_reproduction.datasets import WrongDataError  # late: the help comes at once
    from horseshoe_reproduction.experiment import RequestError
    from horseshoe_reproduction.reproduce import reproduce as run
    from horseshoe_reproduction.runner import FitError
    from horseshoe_reproduction.workers import WorkerError

    chosen = None if methods is None else split_names(methods)
    with (
        tools.exit_with_message(RequestError, FitError, WorkerError, WrongDataError),
        tools.show_progress(name) as show,
    ):

        def progress(done: int, total: int) -> None:
            tools.interrupt.results_begun()
            show(done, total, "")

        wanted = None if settings is None else split_settings(name, settings)
        outcome = run(name, replicates, jobs, seed, chosen, out, fresh, progress, tools.notice, wanted)
    _show(tools, outcome.report, outcome.files)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas.

    Examples
    --------
    >>> split_names("hs-em, mcp,")
    ('hs-em', 'mcp')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def split_settings(name: str, texts: list[str]) -> tuple[str, ...]:
    """Return the settings in what was given: names, or lists of names with commas.

    Examples
    --------
    >>> split_settings("table3", ["rho=0,sigma2=1"]), split_settings("adaptive", ["dense, none", "one"])
    (('rho=0,sigma2=1',), ('dense', 'none', 'one'))
    """
    known = load(name).settings if name in (*TABLES, *MORE) else ()
    parts = [(text,) if text in known else split_names(text) for text in texts]
    return tuple(part for some in parts for part in some)


def _show(tools: Any, report: Report, files: list[Path]) -> None:
    """Print a report, and where it was written."""
    console, line = tools.standard_output(), tools.line
    console.print(line(report.heading, "bold"), line(report.explanation, keep="\n"), "", sep="\n")
    for block in report.blocks:
        table = Table(title=block.heading, title_justify="left", box=SIMPLE_HEAD, show_lines=True)
        for name in block.header:
            table.add_column(tools.cell(name), vertical="top")
        for row in block.rows:
            table.add_row(*(line(each, keep="\n") for each in row))
        console.print(table)
    for text in (*report.verdicts, *report.notes):
        console.print(line(text, keep="\n"))
    console.print(line("Written: " + ", ".join(map(str, files))), soft_wrap=True)
