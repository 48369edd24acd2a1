"""A worker of one tree, started as ``python -m benchmarks.against.worker SHAPE SOURCE FOLDER``.

The data and the clock are those of this tree, the library is that of the source folder, by the name in the
pyproject.toml beside it. The answer of the first run is left in the folder.
"""

from __future__ import annotations

import statistics
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.against.packages import NAME, package_of
from benchmarks.against.shapes import IMPORTS, Action, action_of
from benchmarks.harness.clocks import cpu_of, timed
from benchmarks.harness.serving import Job, Record, serve_process
from benchmarks.tasks.importing import run_imports

ANSWER = "answer.npy"
PROCESSES = 3
"""New processes in one turn of an import."""


class TreeJob(Job):
    """Fits, or posterior runs, of one shape."""

    def __init__(self, shape: str, folder: Path) -> None:
        self.shape = shape
        self.folder = folder
        self.action: Action | None = None

    def first(self) -> Record:
        """Make the data, run once and keep the answer."""
        warnings.simplefilter("ignore")
        self.action = action_of(self.shape)
        first_cpu, answer = cpu_of(self.action)
        np.save(self.folder / ANSWER, answer)
        return {"first_cpu": first_cpu}

    def time(self) -> Record:
        """Time one run, or as many as are long enough to time."""
        assert self.action is not None
        return timed(self.action)


class ImportJob(Job):
    """Imports in new processes; the bytecode is kept in the folder."""

    def __init__(self, shape: str, folder: Path, package: str) -> None:
        self.statement = IMPORTS[shape].replace(NAME, package)
        self.cache = str(folder)

    def first(self) -> Record:
        """Import once, which compiles."""
        return {"first_cpu": self._seconds()}

    def time(self) -> Record:
        """Time the statement after the libraries it needs, in a few processes."""
        return {"seconds": statistics.fmean(self._seconds() for _ in range(PROCESSES))}

    def _seconds(self) -> float:
        measured = run_imports(self.statement, self.cache)
        if measured is None:
            raise RuntimeError(f"could not {self.statement}")
        return measured.last_cpu


def job_of(shape: str, source: str, folder: str) -> Job:
    """Return the job of a shape, once it is certain which tree it is for.

    Tasks ask for the package by the name that it has in this tree.
    """
    name = package_of(Path(source).parent)
    package = import_module(name)
    if not Path(str(package.__file__)).resolve().is_relative_to(Path(source).resolve()):
        raise RuntimeError(f"{name} was imported from elsewhere")
    sys.modules[NAME] = package
    return ImportJob(shape, Path(folder), name) if shape in IMPORTS else TreeJob(shape, Path(folder))


if __name__ == "__main__":
    serve_process(lambda: job_of(*sys.argv[1:]))
