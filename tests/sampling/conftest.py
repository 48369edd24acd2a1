"""What the tests of a run share: runs in small steps, a good checkpoint, no processes left over."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from horseshoe.sampling import chains
from horseshoe.store import checkpoint
from posterior_runs import run


@pytest.fixture
def in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten sweeps, then one at a time; every piece is told of and written."""
    monkeypatch.setattr(chains, "PIECE_SECONDS", 1e-9)
    monkeypatch.setattr(chains, "LOOK_SHARE", 1e9)
    monkeypatch.setattr(checkpoint, "WRITE_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "WRITE_SHARE", math.inf)


@pytest.fixture(scope="module")
def no_processes_stay() -> Any:
    """Stop the processes that the tests of a module started."""
    yield
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a good checkpoint."""
    path = tmp_path_factory.mktemp("written") / "run"
    run("gaussian", checkpoint=path)
    return path


@pytest.fixture
def good(written: Path, tmp_path: Path) -> Path:
    """Return a copy of a good checkpoint."""
    shutil.copy(written, tmp_path / "run")
    return tmp_path / "run"
