"""Effective samples a CPU second: the samplers of a problem in turns, and what their draws are worth.

All draws are judged here, in our own interpreter and by one estimator, the rank-normalised bulk effective
sample size. The workers only leave them in files.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from data import Array
from environments import Environment
from measure import Result
from methods import OURS
from posterior import POSTERIOR, Problem, Sampler
from rounds import Entrant, say
from tasks import Case


class Rate(NamedTuple):
    """Effective samples a CPU second, of the worst coefficient and the median over the coefficients."""

    worst: float
    median: float

    def over(self, other: Rate) -> Rate:
        """How many times the other's."""
        return Rate(self.worst / other.worst, self.median / other.median)


def rate_of(ess: ArrayLike, cpu: float) -> Rate:
    """Return the effective samples of each coefficient as a rate."""
    samples = np.asarray(ess, dtype=float)
    return Rate(float(samples.min()) / cpu, float(np.median(samples)) / cpu)


@dataclass(frozen=True)
class Chains:
    """One run: its CPU seconds, and what its chains say of each coefficient.

    ``alone`` adds up the effective samples of each chain without the others: more than ``ess`` if the chains
    disagree.
    """

    cpu: float
    ess: list[float]
    alone: list[float]
    rhat: list[float]


@dataclass
class Sampled(Result):
    """Everything measured for one sampler at one problem; lists have one entry for each turn.

    ``means``, ``sd`` and ``error`` are the posterior mean and standard deviation of each coefficient and the
    Monte Carlo standard error of the mean, from the draws of all turns.
    """

    label: str = ""
    size: str = ""
    messages: list[list[str]] = field(default_factory=list)
    divergences: list[int] = field(default_factory=list)
    deepest: list[int] = field(default_factory=list)
    runs: list[Chains] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    sd: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)

    @property
    def slow(self) -> bool:
        """A sampler takes all its turns, however long."""
        return False

    def rate(self, of: str = "ess") -> Rate | None:
        """Effective samples a CPU second, the median over the runs."""
        rates = [rate_of(getattr(run, of), run.cpu) for run in self.runs]
        return Rate(*(float(part) for part in np.median(rates, axis=0))) if rates else None

    def as_dict(self) -> dict[str, Any]:
        """Everything, for the JSON file."""
        rates = {of: rate._asdict() for of in ("ess", "alone") if (rate := self.rate(of)) is not None}
        return {**super().as_dict(), "rates": rates}

    @property
    def rhat(self) -> list[float]:
        """The largest R-hat of each run."""
        return [float(np.max(run.rhat)) for run in self.runs]


def _listed(values: ArrayLike) -> list[float]:
    """Return numbers with the digits that the report can use."""
    return [float(f"{value:.6g}") for value in np.asarray(values)]


def _chains(diagnostics: Any, cpu: float, coef: Array) -> Chains:
    """Judge one run."""
    alone = sum(diagnostics.ess_bulk(chain[None]) for chain in coef)
    return Chains(cpu, _listed(diagnostics.ess_bulk(coef)), _listed(alone), _listed(diagnostics.rhat(coef)))


def _judge(sampled: Sampled, sampler: Sampler, folder: Path) -> None:
    """Judge the draws of all turns; those of a sampler that goes by chain are one run."""
    diagnostics = import_module("farrier.diagnostics")
    seconds = [turn for turns in sampled.rounds for turn in turns]
    coefs = [np.load(folder / f"{sampler.name}-{k}.npy") for k, _ in enumerate(seconds, 1)]
    if not coefs:
        return
    pooled = np.concatenate(coefs)
    runs = [(sum(seconds), pooled)] if sampler.by_chain else list(zip(seconds, coefs, strict=True))
    sampled.runs = [_chains(diagnostics, cpu, coef) for cpu, coef in runs]
    sampled.means = _listed(pooled.mean(axis=(0, 1)))
    sampled.sd = _listed(pooled.std(axis=(0, 1)))
    sampled.error = _listed(diagnostics.mcse_mean(pooled))


def _enter(sampled: Sampled, environment: Environment, folder: str) -> Entrant:
    """Start one sampler; one without an interpreter has no turns."""
    entrant = Entrant(sampled)
    if environment.python is not None:
        say(f"{sampled.case.name} {sampled.method}: start")
        entrant.start(environment.python, ["sample", sampled.case.shape, sampled.method, folder])
    return entrant


def _play(entrants: list[Entrant], problem: Problem) -> None:
    """Let every sampler take its turns, one at a time."""
    for k in range(problem.rounds):
        say(f"{POSTERIOR} {problem.name}: round {k + 1} of {problem.rounds}")
        for entrant in entrants:
            entrant.result.rounds.append([])
            entrant.take_turn()


def measure_problem(problem: Problem, environments: dict[str, Environment]) -> dict[str, Sampled]:
    """Measure the samplers of one problem."""
    own = Environment(OURS, sys.executable)
    measured: dict[str, Sampled] = {}
    entrants: list[Entrant] = []
    with TemporaryDirectory() as folder:
        try:
            for name, sampler in problem.samplers.items():
                place = environments[sampler.environment] if sampler.environment else own
                case = Case(POSTERIOR, problem.name)
                measured[name] = Sampled(case, name, place.reason, label=sampler.label, size=sampler.size)
                entrants.append(_enter(measured[name], place, folder))
            _play(entrants, problem)
        finally:
            for entrant in entrants:
                entrant.close()
        for name, sampled in measured.items():
            _judge(sampled, problem.samplers[name], Path(folder))
    return measured


def disagreement(a: Sampled, b: Sampled) -> Rate | None:
    """How far two posterior means are apart, in standard errors of the difference: the worst, the median."""
    if not (a.runs and b.runs):
        return None
    apart = np.abs(np.subtract(a.means, b.means)) / np.hypot(a.error, b.error)
    return Rate(float(apart.max()), float(np.median(apart)))
