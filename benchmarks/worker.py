"""A persistent worker, started as ``worker.py JOB``.

The job is ``fit TASK SHAPE METHOD``, ``dsyrk TASK SHAPE`` or ``sample PROBLEM SAMPLER FOLDER``.

The caller sets one thread for every numerical library in the environment before the process starts. The
worker does everything up to the end of its first fit and says what that took; then it waits on standard
input for the commands ``time`` and ``quality``, until its input is closed. Every answer is one JSON line on
standard output; whatever a library prints goes to standard error.

There is no limit on CPU time here: on Linux, RLIMIT_CPU makes the process clock advance by ticks, which are
longer than a fit.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import Any, Protocol, TextIO

import numpy as np

from clocks import cpu_of, peak_bytes, timed
from data import Array
from methods import Fitted, Method
from sampling import SampleJob
from tasks import TASKS, Case

SEEDS = (1, 2, 3, 4, 5)
"""Seed of the timed data first; the others are for quality alone."""

Record = dict[str, Any]


def first_fit(method: Method, X: Array, y: Array) -> tuple[float, Fitted, list[str]]:
    """CPU seconds, the answer and the kinds of warning of the first fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("once")
        seconds, answer = cpu_of(lambda: method.fit(X, y))
    return seconds, answer, sorted({w.category.__name__ for w in caught})


class Job(Protocol):
    """What a worker can be asked for."""

    def first(self) -> Record:
        """Prepare, run once and say what that took."""

    def time(self) -> Record:
        """Time one run."""

    def quality(self) -> Record:
        """Compare the fits of further data with the truth."""


class FitJob:
    """Fits of one method to one data set."""

    def __init__(self, case: Case, method: Method) -> None:
        self.method = method
        self.simulation = TASKS[case.task].simulation
        self.size = case.size
        self.data: tuple[Array, Array] | None = None
        self.before = 0

    def first(self) -> Record:
        """Import the library, make the data, fit once and check the answer."""
        import_cpu, _ = cpu_of(lambda: [import_module(name) for name in self.method.modules])
        data_cpu, (X, y) = cpu_of(lambda: self.simulation.make_data(*self.size, SEEDS[0]))
        self.data = X, y
        self.before = peak_bytes()
        first_cpu, (coef, intercept), kinds = first_fit(self.method, X, y)
        cold_cpu = time.process_time() - data_cpu
        peak = peak_bytes() - self.before
        self.simulation.check(X, y, coef, intercept)
        warnings.simplefilter("ignore")
        return {
            "cold_cpu": cold_cpu,
            "import_cpu": import_cpu,
            "first_cpu": first_cpu,
            "warnings": kinds,
            "peak": peak,
            "quality": [asdict(self.simulation.quality(coef, SEEDS[0]))],
        }

    def time(self) -> Record:
        """Time a fit and say how far the peak memory has grown."""
        assert self.data is not None
        X, y = self.data
        return {**timed(lambda: self.method.fit(X, y)), "peak": peak_bytes() - self.before}

    def quality(self) -> Record:
        """Fit the data of the other seeds; the timed data are given up first."""
        self.data = None
        found = []
        for seed in SEEDS[1:]:
            coef, _ = self.method.fit(*self.simulation.make_data(*self.size, seed))
            found.append(asdict(self.simulation.quality(coef, seed)))
        return {"quality": found}


class DsyrkJob:
    """Symmetric products of the data, the smaller of ``X X'`` and ``X' X``."""

    def __init__(self, case: Case) -> None:
        n, p = case.size
        self.trans = 0 if p > n else 1
        self.dsyrk = import_module("scipy.linalg.blas").dsyrk
        self.X = np.asfortranarray(TASKS[case.task].simulation.make_data(n, p, SEEDS[0])[0])

    def product(self) -> None:
        """Compute one product."""
        self.dsyrk(1.0, self.X, trans=self.trans)

    def first(self) -> Record:
        """Compute a product that is not counted."""
        return {"first_cpu": cpu_of(self.product)[0]}

    def time(self) -> Record:
        """Time one product."""
        return timed(self.product)

    def quality(self) -> Record:
        """Return nothing: there is no truth to compare a product with."""
        return {}


def serve(job: Job, commands: TextIO, answers: TextIO) -> None:
    """Prepare, then obey every command until the input is closed."""
    actions: dict[str, Callable[[], Record]] = {"time": job.time, "quality": job.quality}
    print(json.dumps(job.first()), file=answers, flush=True)
    for line in iter(commands.readline, ""):
        print(json.dumps(actions[line.strip()]()), file=answers, flush=True)


def job_of(kind: str, *names: str) -> Job:
    """Return the job that the command line names."""
    if kind == "sample":
        return SampleJob(*names)
    case = Case(*names[:2])
    return FitJob(case, TASKS[case.task].methods[names[2]]) if kind == "fit" else DsyrkJob(case)


def main(arguments: list[str]) -> None:
    """Serve the job that the command line names."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(job_of(*arguments), sys.stdin, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
