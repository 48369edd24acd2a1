"""The cells of a table: means over replicates, beside what is printed."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from horseshoe_reproduction.experiment import Experiment
from horseshoe_reproduction.journal import Record
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.printed import Printed, printed


class Cell(NamedTuple):
    """One metric of one method in one setting."""

    setting: str
    metric: str
    method: str
    mean: float
    error: float
    median: float
    replicates: int
    printed: Printed | None

    @property
    def printed_error(self) -> float:
        """The standard error of the printed mean.

        A number that is printed without one is one replicate, so the spread of ours is its error.
        """
        if self.printed is None:
            return math.nan
        alone = self.error * math.sqrt(self.replicates)
        return alone if self.printed.error is None else self.printed.error

    @property
    def difference(self) -> float | None:
        """How many combined standard errors ours is above the printed mean; None where nothing is printed."""
        return self.shifted(0.0)

    def shifted(self, shift: float) -> float | None:
        """Return the difference with something added to ours."""
        if self.printed is None or self.metric == "Time":
            return None
        combined = math.sqrt(self.error**2 + self.printed_error**2 + self.printed.rounding**2 / 3.0)
        return (self.mean + shift - self.printed.mean) / combined


def summarise(experiment: Experiment, methods: tuple[str, ...], records: list[Record]) -> list[Cell]:
    """Return all cells: by setting, metric and method, in the order of the table."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for record in records:
        for metric, value in record.metrics.items():
            values[record.setting, metric, record.method].append(value)
    theirs = printed(experiment.name)
    sizes = {len(values[s, m, k]) for s in experiment.settings for m in experiment.metrics for k in methods}
    if len(sizes) != 1:
        raise ValueError(f"{experiment.name}: some cells have {min(sizes)} results, others {max(sizes)}")
    return [
        cell_of(setting, metric, method, values[setting, metric, method], theirs)
        for setting in experiment.settings
        for metric in experiment.metrics
        for method in methods
    ]


def cell_of(
    setting: str, metric: str, method: str, values: list[float], theirs: dict[tuple[str, str, str], Printed]
) -> Cell:
    """Return the cell of some values, beside what is printed of it.

    Examples
    --------
    >>> cell = cell_of("a", "MSE", "mcp", [1.0, 3.0], {})
    >>> cell.mean, cell.error
    (2.0, 1.0)
    """
    sample = np.asarray(values)
    spread = float(sample.std(ddof=1)) if np.ptp(sample) else 0.0
    error = spread / math.sqrt(sample.size) if sample.size > 1 else math.nan
    column = METHODS[method].printed
    number = theirs.get((setting, metric, column)) if column else None
    return Cell(
        setting, metric, method, float(sample.mean()), error, float(np.median(sample)), sample.size, number
    )
