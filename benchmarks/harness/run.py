"""Everything that one run of the benchmark measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.harness.measure import Result, ratio
from benchmarks.harness.sampled import Sampled
from benchmarks.peers.methods import OURS
from benchmarks.tasks.task import Case


class Fastest(NamedTuple):
    """The rival with the least CPU, how many times the CPU of ours it takes, and who was not measured."""

    name: str
    times: float
    missing: tuple[str, ...]

    @property
    def note(self) -> str:
        """Who was not measured, to be put behind a number."""
        return f"; not measured: {', '.join(self.missing)}" if self.missing else ""

    def judged(self, kept: bool) -> bool | None:
        """Return the verdict: the rivals that ran can refute a promise, but only all of them confirm it."""
        return None if kept and self.missing else kept


@dataclass
class Run:
    """What was measured, and when and where."""

    about: dict[str, Any]
    results: dict[tuple[Case, str], Result] = field(default_factory=dict)
    dsyrk: dict[Case, Result] = field(default_factory=dict)
    imports: dict[str, float] | None = None
    posterior: dict[tuple[str, str], Sampled] = field(default_factory=dict)

    def ours(self, case: Case) -> Result | None:
        """Return what was measured for our default, if it ran."""
        return self.results.get((case, OURS))

    def ratio(self, case: Case, method: str, to: str = OURS) -> float | None:
        """How many times our CPU a method takes, compared round by round; ours is the default or another."""
        return ratio(self.results.get((case, method)), self.results.get((case, to)))

    def fastest(self, case: Case, rivals: list[str], to: str = OURS) -> Fastest | None:
        """Return the fastest of some methods, compared round by round; nothing if none of them ran."""
        ratios = {name: self.ratio(case, name, to) for name in rivals}
        known = {name: times for name, times in ratios.items() if times is not None}
        if not known:
            return None
        name = min(known, key=lambda name: known[name])
        return Fastest(name, known[name], tuple(rival for rival in rivals if rival not in known))

    def dsyrk_ratio(self, case: Case) -> float | None:
        """How many symmetric products our fit takes, compared round by round."""
        return ratio(self.ours(case), self.dsyrk.get(case))
