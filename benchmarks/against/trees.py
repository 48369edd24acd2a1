"""Another revision of this repository, checked out for as long as it is needed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.processes import ROOT

SOURCE = "src"


class NoRevisionError(Exception):
    """There is no such revision; the text is what git says."""


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoRevisionError(done.stderr.strip())
    return done.stdout.strip()


def commit_of(revision: str) -> str:
    """Return the short name of the commit that a revision means."""
    return _git("rev-parse", "--verify", "--short", "--end-of-options", revision + "^{commit}")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder; it is removed however the work ends."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        try:
            _git("worktree", "add", "--quiet", "--detach", str(place), commit)
            yield place
        finally:
            if place.exists():
                _git("worktree", "remove", "--force", str(place))
