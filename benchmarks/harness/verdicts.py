"""A promise of the run, and whether it was kept."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.tasks.task import Case


def verdict(passed: bool | None) -> str:
    """PASS, FAIL or NOT MEASURED."""
    return {True: "PASS", False: "FAIL", None: "NOT MEASURED"}[passed]


@dataclass(frozen=True)
class Check:
    """One promise; ``passed`` is None when the run did not measure it."""

    text: str
    measured: str
    passed: bool | None
    case: Case | None = None

    @property
    def verdict(self) -> str:
        """PASS, FAIL or NOT MEASURED."""
        return verdict(self.passed)
