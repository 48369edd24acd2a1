"""A promise of the run, and whether it was kept."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.peers.methods import OURS
from benchmarks.tasks.task import Case


def verdict(passed: bool | None) -> str:
    """PASS, FAIL or NOT MEASURED."""
    return {True: "PASS", False: "FAIL", None: "NOT MEASURED"}[passed]


@dataclass(frozen=True)
class Check:
    """One promise of a method of ours; ``passed`` is None when the run did not measure it."""

    text: str
    measured: str
    passed: bool | None
    case: Case | None = None
    method: str = OURS

    @property
    def verdict(self) -> str:
        """PASS, FAIL or NOT MEASURED."""
        return verdict(self.passed)
