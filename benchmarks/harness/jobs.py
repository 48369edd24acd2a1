"""The jobs of a worker that fits a method to data, or multiplies the data by themselves."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict
from importlib import import_module
from pkgutil import resolve_name

import numpy as np

from benchmarks.arrays import Array
from benchmarks.harness.clocks import cpu_of, peak_bytes, timed
from benchmarks.harness.serving import Job, Record
from benchmarks.peers.methods import Fitted, Method
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case

SEEDS = (1, 2, 3, 4, 5)
"""Seed of the timed data first; the others are for quality alone."""


def first_fit(method: Method, X: Array, y: Array) -> tuple[float, Fitted, list[str]]:
    """CPU seconds, the answer and the kinds of warning of the first fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("once")
        seconds, answer = cpu_of(lambda: method.fit(X, y))
    return seconds, answer, sorted({w.category.__name__ for w in caught})


class FitJob(Job):
    """Fits of one method to one data set."""

    def __init__(self, case: Case, method: Method) -> None:
        self.method = method
        self.simulation = TASKS[case.task].simulation
        self.size = case.size
        self.data: tuple[Array, Array] | None = None
        self.before = 0

    def first(self) -> Record:
        """Import the library, make the data, fit once and check the answer."""
        import_cpu, _ = cpu_of(lambda: [resolve_name(name) for name in self.method.modules])
        data_cpu, (X, y) = cpu_of(lambda: self.simulation.make_data(*self.size, SEEDS[0]))
        self.data = X, y
        self.before = peak_bytes()
        first_cpu, answer, kinds = first_fit(self.method, X, y)
        cold_cpu = time.process_time() - data_cpu
        whole = peak_bytes()
        self.simulation.check(X, y, answer)
        warnings.simplefilter("ignore")
        return {
            "cold_cpu": cold_cpu,
            "import_cpu": import_cpu,
            "first_cpu": first_cpu,
            "warnings": kinds,
            "peak": whole - self.before,
            "whole": whole,
            "quality": [asdict(self.simulation.quality(answer, SEEDS[0]))],
        }

    def time(self) -> Record:
        """Time a fit and say how far the peak memory has grown."""
        assert self.data is not None
        X, y = self.data
        measured = timed(lambda: self.method.fit(X, y))
        whole = peak_bytes()
        return {**measured, "peak": whole - self.before, "whole": whole}

    def quality(self) -> Record:
        """Fit the data of the other seeds; the timed data are given up first."""
        self.data = None
        found = []
        for seed in SEEDS[1:]:
            answer = self.method.fit(*self.simulation.make_data(*self.size, seed))
            found.append(asdict(self.simulation.quality(answer, seed)))
        return {"quality": found}


class DsyrkJob(Job):
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
