"""Effective samples a CPU second: the samplers of a problem in turns, and what their draws are worth.

All draws are judged here, in our own interpreter and by one estimator that is neither ours nor the peer's:
the rank-normalised bulk effective sample size of ArviZ. The workers only leave the draws in files.
"""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.arrays import Array
from benchmarks.harness.entrants import Entrant, enter, say
from benchmarks.harness.environments import Environment, place_of
from benchmarks.harness.sampled import Chains, Sampled
from benchmarks.peers.samplers import Sampler
from benchmarks.tasks.posterior import POSTERIOR, Problem
from benchmarks.tasks.task import Case


def _of_chains(what: str, method: str, coef: Array) -> Array:
    """Return one of ArviZ's diagnostics for each coefficient."""
    diagnostic = getattr(import_module("arviz_stats.base").array_stats, what)
    return np.asarray(diagnostic(coef, chain_axis=0, draw_axis=1, method=method), dtype=float)


def _listed(values: ArrayLike) -> list[float]:
    """Return numbers with the digits that the report can use."""
    return [float(f"{value:.6g}") for value in np.asarray(values)]


def _chains(cpu: float, coef: Array) -> Chains:
    """Judge one run."""
    together = _of_chains("ess", "bulk", coef)
    alone = sum(_of_chains("ess", "bulk", chain[None]) for chain in coef)
    return Chains(cpu, _listed(together), _listed(alone), _listed(_of_chains("rhat", "rank", coef)))


def _judge(sampled: Sampled, sampler: Sampler, folder: Path) -> None:
    """Judge the draws of all turns; those of a sampler that goes by chain are one run."""
    seconds = [turn for turns in sampled.rounds for turn in turns]
    coefs = [np.load(folder / f"{sampler.name}-{k}.npy") for k, _ in enumerate(seconds, 1)]
    if not coefs:
        return
    pooled = np.concatenate(coefs)
    runs = [(sum(seconds), pooled)] if sampler.by_chain else list(zip(seconds, coefs, strict=True))
    sampled.runs = [_chains(cpu, coef) for cpu, coef in runs]
    sampled.means = _listed(pooled.mean(axis=(0, 1)))
    sampled.sd = _listed(pooled.std(axis=(0, 1)))
    sampled.error = _listed(_of_chains("mcse", "mean", pooled))


def _play(entrants: list[Entrant], problem: Problem) -> None:
    """Let every sampler take its turns, one at a time."""
    for k in range(problem.rounds):
        say(f"{POSTERIOR} {problem.name}: round {k + 1} of {problem.rounds}")
        for entrant in entrants:
            entrant.result.rounds.append([])
            entrant.take_turn()


def measure_problem(problem: Problem, environments: dict[str, Environment]) -> dict[str, Sampled]:
    """Measure the samplers of one problem."""
    case = Case(POSTERIOR, problem.name)
    measured: dict[str, Sampled] = {}
    with TemporaryDirectory() as folder:
        with ExitStack() as stack:
            entrants: list[Entrant] = []
            for name, sampler in problem.samplers.items():
                measured[name] = Sampled(case, name, label=sampler.label, size=sampler.size)
                place = place_of(sampler.environment, environments)
                entrants.append(enter(measured[name], place, ["sample", problem.name, name, folder], stack))
            _play(entrants, problem)
        for name, sampled in measured.items():
            _judge(sampled, problem.samplers[name], Path(folder))
    return measured
