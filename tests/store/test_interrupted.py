"""A model file that is being overwritten stays what it was until the new one is whole."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from horseshoe import HorseshoeRegressor, load_model
from saved_models import CASES

KILLED = """
import os, sys
from pathlib import Path
import horseshoe.files
from horseshoe import HorseshoeRegressor

when, path = sys.argv[1], Path(sys.argv[2])
model = HorseshoeRegressor().fit([[k / 7.0, k % 3] for k in range(40)], [float(k % 5) for k in range(40)])
opened = Path.open

class Slow:
    def __init__(self, file):
        self.file = file
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.file.close()
    def __getattr__(self, name):
        return getattr(self.file, name)
    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        os._exit(9)

if when == "write":
    Path.open = lambda self, *mode: Slow(opened(self, *mode)) if "draft" in self.name else opened(self, *mode)
elif when == "sync":
    os.fsync = lambda number: os._exit(9)
else:
    os.replace = lambda draft, path: os._exit(9)
model.save(path)
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    CASES["cv gaussian"]()[0].save(path)
    return path


@pytest.mark.parametrize("when", ["write", "sync", "rename"])
def test_a_killed_process_leaves_the_old_file(old: Path, when: str) -> None:
    before = old.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, when, old], check=False)
    assert done.returncode == 9
    assert old.read_bytes() == before
    load_model(old)
    drafts = [path for path in old.parent.iterdir() if path != old]
    assert len(drafts) == 1
    with pytest.raises(ValueError, match="cut off") if when == "write" else nullcontext():
        load_model(drafts[0])
    HorseshoeRegressor().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.5]).save(old)  # which clears up
    assert list(old.parent.iterdir()) == [old]
    assert load_model(old).n_features_in_ == 1


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_leaves_the_old_file(
    old: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    before = old.read_bytes()

    def fail(*args: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(OSError, match=r"could not be written \(.*what was there before") as caught:
            CASES["gaussian"]()[0].save(old)
    assert caught.value.errno == number
    assert caught.value.filename == str(old)
    assert old.read_bytes() == before
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here, which takes nothing")
def test_a_disk_that_takes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, opened = old.read_bytes(), Path.open

    def on_the_full_disk(path: Path, *mode: Any, **options: Any) -> Any:
        return opened(Path("/dev/full") if "draft" in path.name else path, *mode, **options)

    model = CASES["gaussian"]()[0]
    monkeypatch.setattr(Path, "open", on_the_full_disk)
    with pytest.raises(OSError, match="could not be written"):
        model.save(old)
    monkeypatch.undo()
    assert old.read_bytes() == before
