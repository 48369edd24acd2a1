"""``horseshoe fit --checkpoint``: killed by a signal, the same command goes on to the same answer."""

import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from horseshoe.cli.app import app
from horseshoe.cli.interrupt import Interrupt
from posterior_runs import SOURCE, on_linux

ASKED = ("fit", "diabetes", "--target", "progression", "--json")
DRIVER = """
import os, signal, sys
from horseshoe.store import checkpoint as store

number, times, save = int(sys.argv.pop(1)), [], store.CheckpointSection.save
store.WRITE_INTERVAL, store.WRITE_SHARE = 0.0, float("inf")


def stop(self, state):
    save(self, state)
    times.append(state)
    if len(times) == 6:
        os.kill(os.getpid(), number)


store.CheckpointSection.save = stop
import horseshoe.__main__ as program

program.main()
"""


def answer(*arguments):
    found = CliRunner().invoke(app, [*ASKED, *arguments])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def killed(number, *arguments):
    environment = {**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}
    program = [sys.executable, "-c", DRIVER, str(int(number)), *ASKED, *arguments]
    return subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120)


@on_linux
@pytest.mark.parametrize(
    ("number", "more"),
    [
        (signal.SIGKILL, ["--estimator", "mode"]),
        (signal.SIGKILL, []),
        (signal.SIGINT, ["--estimator", "mode"]),
    ],
)
def test_a_command_that_was_killed_goes_on(number, more, tmp_path):
    path = str(tmp_path / "fit.npz")
    dead = killed(number, *more, "--checkpoint", path)
    assert dead.returncode == -number
    assert dead.stdout == ""
    assert os.listdir(tmp_path) == ["fit.npz"]
    if number == signal.SIGINT:
        assert f"to go on: horseshoe {' '.join(ASKED)} --estimator mode --checkpoint {path}" in dead.stderr
    assert answer(*more, "--checkpoint", path) == answer(*more)


@pytest.mark.parametrize("given", [["--checkpoint", "fit.npz"], ["--checkpoint=fit.npz"]])
def test_ctrl_c_says_how_to_go_on(given):
    stop = Interrupt()
    stop.arguments = ["fit", "a.csv", *given]
    assert "What was computed is kept; to go on: horseshoe fit a.csv --checkpoint" in stop.message()


def test_a_checkpoint_of_another_command_is_one_sentence(tmp_path):
    path = str(tmp_path / "fit.npz")
    answer("--estimator", "mode", "--checkpoint", path)
    found = CliRunner().invoke(app, [*ASKED, "--estimator", "mode", "--checkpoint", path, "--drop", "age"])
    assert found.exit_code == 2
    assert "belongs to other data" in " ".join(found.output.split())


@pytest.mark.parametrize("path", ["no/such/folder/fit.npz", "."])
def test_a_path_that_cannot_be_written(path):
    found = CliRunner().invoke(app, [*ASKED, "--checkpoint", path])
    assert found.exit_code == 2
    assert "folder" in found.output
