"""Every experiment runs and prints what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"


def run(name, *arguments):
    command = [sys.executable, "-W", "error", str(EXPERIMENTS / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def numbers(line):
    return [float(cell) for cell in line.strip("| ").split(" | ")[1:] if cell != "."]


def test_table_4_has_ours_beside_the_printed():
    lines = run("table4.py", "--draws", "3000")
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 3 * 3 + 2 + 1
    assert all(line.count("|") == 12 for line in table)
    mode = next(line for line in table if "mode**" in line)
    assert mode.count(" . ") == 5
    assert numbers(mode) == pytest.approx([-17.55, 5.741, 1.021, -0.9094, 43.56], rel=1e-3)


def test_table_4_refuses_runs_too_short_to_judge():
    with pytest.raises(AssertionError, match="at least 2000"):
        run("table4.py", "--draws", "100")


@pytest.mark.slow
def test_table_4_agrees_with_bayesreg_and_with_the_paper():
    lines = run("table4.py")
    verdicts = [line for line in lines if line.startswith(("PASS", "FAIL"))]
    assert len(verdicts) == 3
    assert all(line.startswith("PASS") for line in verdicts), verdicts
