"""What is measured for one method in one case, and how two methods compare round by round."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.tasks.task import Case

SLOW_FIT = 20.0
"""A method whose fit takes more CPU seconds than this is timed once."""


@dataclass
class Result:
    """Everything measured for one method in one case.

    ``rounds`` has one list for each round: the CPU seconds of a fit at each of the method's turns in that
    round. A round in which the method was not timed is an empty list, so that the rounds of the methods of
    a case match one to one. ``whole`` is the peak resident size of the process in bytes, ``peak`` how far
    it is above the data.
    """

    case: Case
    method: str
    reason: str = ""
    cold_cpu: float | None = None
    import_cpu: float | None = None
    first_cpu: float | None = None
    warnings: list[str] = field(default_factory=list)
    rounds: list[list[float]] = field(default_factory=list)
    fits_per_turn: int | None = None
    peak: int | None = None
    whole: int | None = None
    quality: list[dict[str, float]] = field(default_factory=list)

    @property
    def fits(self) -> list[float]:
        """CPU seconds of a fit in each round that timed one."""
        return [statistics.fmean(turns) for turns in self.rounds if turns]

    @property
    def cpu(self) -> float | None:
        """Median CPU seconds of a fit over the rounds."""
        fits = self.fits
        return statistics.median(fits) if fits else None

    @property
    def failed(self) -> bool:
        """Whether no fit was timed because something went wrong."""
        return self.cpu is None and bool(self.reason)

    @property
    def slow(self) -> bool:
        """Whether a timed fit took so long that there is no second one."""
        return any(seconds > SLOW_FIT for turns in self.rounds for seconds in turns)

    def mean(self, what: str) -> float:
        """Average of one measure of quality over the seeds."""
        return statistics.fmean(q[what] for q in self.quality)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for the JSON file."""
        return {**asdict(self), "cpu": self.cpu}


def ratios(above: Result | None, below: Result | None) -> list[float]:
    """Ratio of their CPU within each round that timed both."""
    if above is None or below is None:
        return []
    pairs = zip(above.rounds, below.rounds, strict=False)
    return [statistics.fmean(a) / statistics.fmean(b) for a, b in pairs if a and b]


def ratio(above: Result | None, below: Result | None) -> float | None:
    """Median of these ratios."""
    found = ratios(above, below)
    return statistics.median(found) if found else None
