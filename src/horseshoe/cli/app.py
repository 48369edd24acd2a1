"""The ``horseshoe`` program: its version, and its commands."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Annotated

import typer

from horseshoe._version import __version__
from horseshoe.cli import fit, predict, sample, terminal
from horseshoe.cli.command import Command
from horseshoe.cli.interrupt import INTERRUPT
from horseshoe.cli.progress import show_progress
from horseshoe.cli.show import show

app = typer.Typer(
    help="Sparse horseshoe regression: which few columns matter, by how much, and how sure that is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

# What commands of other distributions print with, and how they are interrupted.
TOOLS = SimpleNamespace(
    interrupt=INTERRUPT,
    show_progress=show_progress,
    exit_with_message=terminal.exit_with_message,
    standard_output=terminal.standard_output,
    line=terminal.line,
    cell=terminal.cell,
    notice=terminal.notice,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"horseshoe {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    no_color: Annotated[
        bool, typer.Option("--no-color", help="Without colours; as with NO_COLOR in the environment.")
    ] = False,
) -> None:
    """Sparse horseshoe regression."""
    if no_color:
        os.environ["NO_COLOR"] = "1"
    context.obj = TOOLS


def _reproduce_is_missing(context: typer.Context) -> None:
    """Reproduce a table or figure of the paper: needs the package horseshoe-reproduction."""
    with terminal.exit_with_message(ValueError):
        raise ValueError(
            "horseshoe reproduce needs the package horseshoe-reproduction, which is in a checkout of "
            "horseshoe: pip install ./reproduction"
        )


def add_commands(group: typer.Typer) -> None:
    """Add the commands that installed distributions offer by the entry points "horseshoe.commands".

    Each is a function as typer has them, whose ``context.obj`` is `TOOLS`.
    """
    found = {point.name: point for point in entry_points(group="horseshoe.commands")}
    for name in sorted(found):
        group.command(name)(found[name].load())
    if "reproduce" not in found:
        anything = {"allow_extra_args": True, "ignore_unknown_options": True}
        group.command("reproduce", context_settings=anything)(_reproduce_is_missing)


app.command(cls=Command, epilog=fit.EXAMPLES)(fit.fit)
app.command(cls=Command, epilog=predict.EXAMPLES)(predict.predict)
app.command(cls=Command)(show)
app.command(cls=Command, epilog=sample.EXAMPLES)(sample.sample)
add_commands(app)
