"""Everything that one run of the benchmark measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.harness.measure import Result, ratio
from benchmarks.harness.sampled import Sampled
from benchmarks.peers.methods import OURS
from benchmarks.tasks.task import Case


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

    def ratio(self, case: Case, method: str) -> float | None:
        """How many times our CPU a method takes, compared round by round."""
        return ratio(self.results.get((case, method)), self.ours(case))

    def dsyrk_ratio(self, case: Case) -> float | None:
        """How many symmetric products our fit takes, compared round by round."""
        return ratio(self.ours(case), self.dsyrk.get(case))
