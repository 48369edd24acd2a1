"""The ``horseshoe`` program: its version, and its commands."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from horseshoe._version import __version__
from horseshoe.cli import fit, predict, sample
from horseshoe.cli.once import Once
from horseshoe.cli.reproduce import reproduce
from horseshoe.cli.show import show

app = typer.Typer(
    help="Sparse horseshoe regression: which few columns matter, by how much, and how sure that is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"horseshoe {__version__}")
        raise typer.Exit


@app.callback()
def root(
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


app.command(cls=Once, epilog=fit.EXAMPLES)(fit.fit)
app.command(cls=Once, epilog=predict.EXAMPLES)(predict.predict)
app.command(cls=Once)(show)
app.command(cls=Once, epilog=sample.EXAMPLES)(sample.sample)
app.command()(reproduce)
