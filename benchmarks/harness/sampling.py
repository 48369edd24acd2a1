"""The job of a worker that draws from a posterior."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from pkgutil import resolve_name

import numpy as np

from benchmarks.harness.clocks import cpu_of, peak_bytes
from benchmarks.harness.serving import Job, Record
from benchmarks.peers.samplers import Sample
from benchmarks.tasks.posterior import PROBLEMS


class SampleJob(Job):
    """Turns of one sampler at one problem; each turn leaves its draws in a file of the folder."""

    def __init__(self, problem: str, sampler: str, folder: str) -> None:
        self.problem = PROBLEMS[problem]
        self.sampler = self.problem.samplers[sampler]
        self.folder = Path(folder)
        self.sample: Sample | None = None
        self.turns: dict[str, list[object]] = {"messages": []}

    def first(self) -> Record:
        """Import the library, make the data and prepare; compilation is here."""
        import_cpu, _ = cpu_of(lambda: [resolve_name(name) for name in self.sampler.modules])
        data_cpu, (X, y) = cpu_of(self.problem.data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first_cpu, self.sample = cpu_of(lambda: self.sampler.prepare(X, y))
        cold_cpu = time.process_time() - data_cpu
        return {"cold_cpu": cold_cpu, "import_cpu": import_cpu, "first_cpu": first_cpu}

    def time(self) -> Record:
        """Draw once with a new seed, and say what that took and what the library warned of."""
        sample, turn = self.sample, len(self.turns["messages"]) + 1
        assert sample is not None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seconds, drawn = cpu_of(lambda: sample(turn))
        peak = peak_bytes()
        np.save(self.folder / f"{self.sampler.name}-{turn}.npy", drawn.coef)
        said = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
        for name, value in {**drawn.counts, "messages": list(said)}.items():
            self.turns.setdefault(name, []).append(value)
        return {"seconds": seconds, "peak": peak, **self.turns}
