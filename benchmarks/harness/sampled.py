"""What is measured for one sampler at one problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.harness.measure import Result


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


def disagreement(a: Sampled, b: Sampled) -> Rate | None:
    """How far two posterior means are apart, in standard errors of the difference: the worst, the median."""
    if not (a.runs and b.runs):
        return None
    apart = np.abs(np.subtract(a.means, b.means)) / np.hypot(a.error, b.error)
    return Rate(float(apart.max()), float(np.median(apart)))
