"""The program where its packages, or the package of one of its commands, are not installed."""

import sys

import pytest
import typer
from typer.testing import CliRunner

from horseshoe import __version__
from horseshoe.__main__ import main
from horseshoe.cli.app import add_commands
from horseshoe.cli.interrupt import INTERRUPT


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 0, "Usage: horseshoe"),
        (["--help"], 0, "typer is needed here: pip install 'horseshoe[cli]'"),
        (["--version"], 0, f"horseshoe {__version__}"),
        (["fit", "diabetes"], 2, "horseshoe: typer is needed here: pip install 'horseshoe[cli]'"),
    ],
)
def test_without_the_packages_of_the_commands(arguments, code, words, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.setattr(sys, "argv", ["horseshoe", *arguments])
    monkeypatch.setattr(INTERRUPT, "install", lambda arguments: None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code
    shown = capsys.readouterr()
    assert words in (shown.err if code else shown.out)
    assert not (shown.out if code else shown.err)


@pytest.mark.parametrize("arguments", [["table3"], ["table3", "--jobs", "2"], []])
def test_a_reproduction_that_is_not_installed_is_named_with_the_way_to_it(arguments, monkeypatch):
    monkeypatch.setattr("horseshoe.cli.app.entry_points", lambda group: ())
    app = typer.Typer()
    app.command("other")(lambda: None)
    add_commands(app)
    done = CliRunner().invoke(app, ["reproduce", *arguments])
    assert done.exit_code == 2
    assert done.stderr.startswith("horseshoe: horseshoe reproduce needs the package horseshoe-reproduction")
    assert "pip install ./reproduction" in done.stderr
