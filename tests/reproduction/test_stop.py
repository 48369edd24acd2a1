"""Ctrl-C, at any moment: one sentence, no traceback, nothing half-written, nobody left; the run goes on."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from horseshoe.cli.app import app
from posterior_runs import on_linux

DRIVER = """
import os, signal, sys

event, what = sys.argv.pop(1).split("=")
import horseshoe.__main__ as program


def press(name, arguments):
    global event
    if name == event and any(what in str(argument) for argument in arguments[:2]):
        event = None
        os.killpg(0, signal.SIGINT)  # to all of the terminal's processes, as Ctrl-C does


sys.addaudithook(press)
program.main()
"""
METHODS = "visu-shrink,bayes-shrink,hs-em"
MOMENTS = (
    "import=typer",
    "import=numpy",
    "import=sklearn.base",
    "open=table2-seed1000.lock",
    "open=table2-seed1000.jsonl.",
    "subprocess.Popen=python",
    "open=table2-seed1000.jsonl",
    "os.rename=.csv",
    "open=.png.",
)
"""The first time that something is imported, started, opened or renamed."""


def command(out, *more):
    return ["reproduce", "table2", "--replicates", "2", "--methods", METHODS, "--out", str(out), *more]


def start(*arguments, mark="", **options):
    found = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", "HORSESHOE_MARK": mark}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | found,
        start_new_session=True,
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def assert_only_told(stderr, *said):
    lines = [line for line in stderr.splitlines() if " done" not in line and "do not count" not in line]
    assert len(lines) == 1, stderr
    for part in ("horseshoe: stopped.", "What was computed is kept", "to go on: horseshoe reproduce", *said):
        assert part in lines[0]


def finish(out):
    done = CliRunner().invoke(app, command(out, "--jobs", "1"))
    assert done.exit_code == 0, done.output
    (table,) = out.glob("*.csv")
    return [line for line in table.read_text().splitlines() if ",Time," not in line]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return finish(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(
    "moment",
    [*MOMENTS[::3], *(pytest.param(m, marks=pytest.mark.slow) for m in MOMENTS if m not in MOMENTS[::3])],
)
def test_ctrl_c_at_any_moment(moment, tmp_path, whole):
    out = tmp_path / "a folder"
    jobs = "2" if "Popen" in moment or "jsonl" in moment else "1"
    with start("-c", DRIVER, moment, *command(out, "--jobs", jobs)) as run:
        stdout, stderr = run.communicate(timeout=120)
    assert run.returncode == -signal.SIGINT, (stdout, stderr)
    assert_only_told(stderr, f"--out '{out}'", f"--jobs {jobs}")
    assert not list(tmp_path.rglob("*.draft"))
    assert out.exists() != moment.startswith("import")
    if out.exists():
        assert finish(out) == whole


def processes(mark):
    """Return the processes with a mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"HORSESHOE_MARK={mark}".encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:  # it has ended, or is not ours
            continue
    return found


def wait_until(condition):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@on_linux
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_nobody_goes_on_working(ending, tmp_path):
    mark = uuid4().hex
    journal = tmp_path / "journal" / "table2-seed1000.jsonl"
    long = ["reproduce", "table2", "--methods", "hs-em,posterior-mean", "--out", str(tmp_path), "--jobs", "2"]
    with start("-m", "horseshoe", *long, mark=mark) as run:
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 4)
        assert len(processes(mark)) == 3
        (os.killpg if ending == signal.SIGINT else os.kill)(run.pid, ending)  # Ctrl-C reaches the group
        stdout, stderr = run.communicate(timeout=60)
    assert run.returncode == -ending
    assert stdout == ""
    if ending == signal.SIGINT:
        assert_only_told(stderr, "--methods hs-em,posterior-mean")
    wait_until(lambda: not processes(mark))
    assert "Traceback" not in stderr


def test_in_a_terminal_the_cursor_comes_back(tmp_path):
    ours, theirs = pty.openpty()
    journal = tmp_path / "journal" / "table2-seed1000.jsonl"
    options = [
        "reproduce",
        "table2",
        "--methods",
        "hs-em,posterior-mean",
        "--out",
        str(tmp_path),
        "--jobs",
        "1",
    ]
    with start("-m", "horseshoe", *options, stderr=theirs) as run:
        os.close(theirs)
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 2)
        os.killpg(run.pid, signal.SIGINT)
        shown = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end was closed
                break
            if not more:
                break
            shown += more
        run.communicate(timeout=60)
    os.close(ours)
    assert run.returncode == -signal.SIGINT
    text = shown.decode()
    assert "Traceback" not in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # shown after it was hidden
    assert "What was computed is kept; to go on: horseshoe reproduce table2" in text.replace("\r\n", "")


def test_fresh_is_not_said_again_once_results_come_in(tmp_path):
    said = {}
    for moment in ("import=typer", "subprocess.Popen=python"):
        with start("-c", DRIVER, moment, *command(tmp_path, "--jobs", "2", "--fresh")) as run:
            _, said[moment] = run.communicate(timeout=120)
        assert_only_told(said[moment])
    assert ["--fresh" in text for text in said.values()] == [True, False]


def test_progress_in_a_pipe_is_a_line_now_and_then(tmp_path):
    with start("-m", "horseshoe", *command(tmp_path, "--replicates", "20", "--jobs", "1")) as run:
        stdout, stderr = run.communicate(timeout=120)
    assert run.returncode == 0, stderr
    lines = stderr.splitlines()
    assert lines[0] == "table2: 0 of 40 done"
    assert lines[-1].startswith("table2: 40 of 40 done after 0:")
    assert len(lines) < 12
    for sign in ("\r", "\x1b", "━"):
        assert sign not in stderr
        assert sign not in stdout
