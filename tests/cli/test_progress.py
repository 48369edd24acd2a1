"""How far a fit is, on standard error: a bar in a terminal, lines in a pipe, nothing with ``--quiet``."""

import os
import pty
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from horseshoe.cli import progress
from horseshoe.cli.app import app
from posterior_runs import SOURCE, on_linux

ASKED = ("fit", "diabetes", "--target", "progression")


@pytest.fixture
def impatient(monkeypatch):
    """Say each news."""
    monkeypatch.setattr(progress, "INTERVAL", -1.0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("more", "words"), [(["--estimator", "mode"], ["iteration 1,", "columns"]), ([], ["fit: 1 of 4 done"])]
)
def test_lines_in_a_pipe(more, words):
    found = CliRunner().invoke(app, [*ASKED, *more])
    assert found.exit_code == 0
    for word in words:
        assert word in found.stderr
    assert "iteration" not in found.stdout.split("What the average")[0].split("iterations")[0]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("command", [[*ASKED, "--estimator", "mode"], list(ASKED)])
def test_nothing_if_it_is_to_be_quiet(command):
    for flag in ("--quiet", "-q"):
        found = CliRunner().invoke(app, [*command, flag])
        assert found.exit_code == 0
        assert found.stderr == ""


def test_a_quick_fit_says_nothing_in_a_pipe():
    assert CliRunner().invoke(app, [*ASKED, "--estimator", "mode"]).stderr == ""


@on_linux
@pytest.mark.parametrize(("more", "shown"), [([], True), (["--quiet"], False)])
def test_a_bar_in_a_terminal(more, shown):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TERM": "xterm", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "horseshoe", *ASKED, "--estimator", "mode", "--json", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            said += part
        assert process.stdout.read().startswith(b"{")
    os.close(ours)
    assert (b"fit" in said) is shown
    assert process.returncode == 0
