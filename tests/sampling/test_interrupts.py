"""Ctrl-C and kills: the draws that there are, are kept, and the next run goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe.sampling import chains
from posterior_runs import CASES, SHORT, SOURCE, assert_same_draws, at, files_in, heard, on_linux, run

pytestmark = pytest.mark.usefixtures("no_processes_stay")

# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("which", ["gaussian", "gaussian, p > n", "poisson"])
def test_ctrl_c_returns_the_draws_that_there_are(which: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "run", run(which)
    found, said = heard(lambda: run(which, checkpoint=path, progress=at(17, KeyboardInterrupt)))
    assert said == ["interrupted: 5 of 9 draws of each chain are returned"]
    assert found.coef.shape[:2] == (4, 5)
    assert_same_draws(found, whole, first=5)
    assert_same_draws(found, run(which, n_draws=5))
    assert files_in(tmp_path) == ["run"]
    assert_same_draws(run(which, checkpoint=path), whole)


@pytest.mark.usefixtures("in_steps")
def test_ctrl_c_during_the_warm_up_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run("gaussian", progress=at(10, KeyboardInterrupt), checkpoint=path)
    assert files_in(tmp_path) == ["run"]
    assert_same_draws(run("gaussian", checkpoint=path), run("gaussian"))


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize(
    ("owner", "name"), [(chains, "advance"), (chains.Run, "_store"), (np, "savez"), (os, "replace")]
)
@pytest.mark.parametrize("call", [5, 8])
def test_ctrl_c_at_any_moment(
    owner: Any, name: str, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While sweeping, while draws are stored, while they are written: nothing that is no draw is returned."""
    path, whole = tmp_path / "run", run("gaussian")
    there, calls = getattr(owner, name), []

    def interrupt(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) == call:
            raise KeyboardInterrupt
        return there(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupt)
        found, said = heard(lambda: run("gaussian", checkpoint=path))
    kept = found.coef.shape[1]
    assert said == [f"interrupted: {kept} of 9 draws of each chain are returned"]
    written = name in ("savez", "replace")
    assert kept == call - 4 + written  # ten sweeps in the first piece, one in each other
    assert_same_draws(found, whole, first=kept)
    assert files_in(tmp_path) == ["run"]
    assert_same_draws(run("gaussian", checkpoint=path), whole)


# --- processes that are killed --------------------------------------------------------------------

SCRIPT = """
import os, sys, time
import numpy as np
from horseshoe import sample_posterior
from horseshoe.sampling import chains
from horseshoe.store import checkpoint

chains.PIECE_SECONDS, chains.LOOK_SHARE, checkpoint.WRITE_INTERVAL = {piece}, 1e9, 0.1
folder = sys.argv[1]
with np.load(os.path.join(folder, "data.npz")) as data:
    X, y = data["X"], data["y"]

def tell(news):
    print(news.sweeps, news.n_draws, flush=True)
    {then}

found = sample_posterior(X, y, progress=tell, **{options})
np.save(os.path.join(folder, "coef.npy"), found.coef)
"""


class Child:
    """A run in a process of its own, in a group of its own."""

    def __init__(self, folder: Path, given: dict[str, Any], piece: float, then: str, **options: Any) -> None:
        np.savez(folder / "data.npz", X=given["X"], y=given["y"])
        options = {"family": given["family"], "n_jobs": 1, **SHORT, **options}
        code = SCRIPT.format(piece=piece, then=then, options=options)
        environment = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: Any) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def signal(self, number: int) -> None:
        """Send a signal to the process and to those that it started, as a terminal does."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return

    def wait_for(self, sweeps: int, n_draws: int = 0) -> None:
        """Read what it tells until it has come so far."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told = line.split()
            if int(told[0]) >= sweeps and int(told[1]) >= n_draws:
                return
        raise AssertionError(f"ended with {self.process.wait()}")

    def descendants(self) -> list[int]:
        """Return the processes that it started, and those that they did."""
        parent = {int(p.name): _parent(p) for p in Path("/proc").iterdir() if p.name.isdigit()}
        found, level = [], [self.process.pid]
        while level:
            level = [pid for pid, above in parent.items() if above in level]
            found += level
        return found


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return -1


def is_running(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition: Any, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def sweeps_in(path: Path) -> int:
    """Return how far the run in a checkpoint is."""
    if not path.exists():
        return 0
    with np.load(path) as file:
        return int(json.loads(str(file["header"]))["sections"][""]["state"]["sweeps"])


def test_a_run_that_is_killed_goes_on(tmp_path: Path) -> None:
    given, path = CASES["gaussian"], tmp_path / "run"
    options = {"n_warmup": 250, "n_draws": 2000}
    slowly = {"piece": 1e-9, "then": "time.sleep(0.002)", **options, "checkpoint": str(path)}
    with Child(tmp_path, given, **slowly) as child:
        assert until(path.exists)
        child.signal(signal.SIGKILL)
        assert child.process.wait() == -signal.SIGKILL
    assert 0 < sweeps_in(path) < 250
    with Child(tmp_path, given, **slowly) as child:
        assert until(lambda: sweeps_in(path) > 250)
        child.signal(signal.SIGKILL)
        assert child.process.wait() == -signal.SIGKILL
    assert 250 < sweeps_in(path) < 2250
    copy = tmp_path / "copy"
    shutil.copy(path, copy)
    whole = run(given, **options)
    assert_same_draws(run(given, **options, checkpoint=path, n_jobs=2), whole)
    assert_same_draws(run(given, **options, checkpoint=copy), whole)
    assert files_in(tmp_path) == ["copy", "data.npz", "run"]


def test_a_run_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    path, given = tmp_path / "run", CASES["gaussian"]
    run(given, checkpoint=path)
    before = path.read_bytes()
    die = "os.fsync = lambda file: os.kill(os.getpid(), 9)"
    with Child(tmp_path, given, 1e-9, die, n_draws=40_000, checkpoint=str(path)) as child:
        assert child.process.wait() == -signal.SIGKILL
    assert path.read_bytes() != before or sweeps_in(path) == 21
    draft = [name for name in files_in(tmp_path) if "draft" in name]
    assert len(draft) == 1  # nobody can clear up after a kill; the next run does
    assert_same_draws(run(given, checkpoint=path, n_draws=30), run(given, n_draws=30))
    assert files_in(tmp_path) == ["data.npz", "run"]


def test_a_real_ctrl_c(tmp_path: Path) -> None:
    given = CASES["gaussian, p > n"]
    with Child(tmp_path, given, 0.01, "time.sleep(0.01)", n_draws=10**5, n_chains=2) as child:
        child.wait_for(30, 30)
        child.signal(signal.SIGINT)
        child.process.communicate(timeout=60)
        assert child.process.returncode == 0
    found = np.load(tmp_path / "coef.npy")
    assert 30 <= found.shape[1] < 10**5
    np.testing.assert_array_equal(found, run(given, n_chains=2, n_draws=found.shape[1]).coef)


@on_linux
def test_a_real_ctrl_c_of_two_processes(tmp_path: Path) -> None:
    given = CASES["gaussian, p > n"]
    with Child(tmp_path, given, 0.01, "time.sleep(0.01)", n_draws=10**5, n_chains=2, n_jobs=2) as child:
        child.wait_for(20, 8)
        started = child.descendants()
        assert len(started) >= 2
        child.signal(signal.SIGINT)
        child.process.communicate(timeout=60)
        assert child.process.returncode == 0
        assert until(lambda: not any(is_running(pid) for pid in started), 20.0), started
    found = np.load(tmp_path / "coef.npy")
    assert found.shape[1] >= 8
    np.testing.assert_array_equal(found, run(given, n_chains=2, n_draws=found.shape[1]).coef)
