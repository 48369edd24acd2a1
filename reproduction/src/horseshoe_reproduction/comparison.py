"""One method against all others, row by row, on the same data sets: differences, and what they come to."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

from horseshoe_reproduction.cells import Cell, cell_of
from horseshoe_reproduction.experiment import Experiment
from horseshoe_reproduction.journal import Record
from horseshoe_reproduction.scores import BINS

# Methods that are no rivals: they are there to be compared with in one respect.
OURS = "adaptive"
REFERENCES = ("mean", "stability")
# The setting of what is counted over all simulated truths but the dense ones.
DIFFERENCE = "Ours minus this"
OVERALL = "all truths"
BIN_METRICS = ("columns", "inclusion", "true")

Index = dict[tuple[str, str, str], Cell]


def cells_of(experiment: Experiment, methods: tuple[str, ...], records: list[Record]) -> list[Cell]:
    """Return the cells of every row, the paired differences among them, and the calibration over all rows.

    Examples
    --------
    >>> from horseshoe_reproduction import load
    >>> pairs = [("adaptive", 0, 3.0), ("adaptive", 1, 5.0), ("mean", 0, 1.0), ("mean", 1, 2.0)]
    >>> records = [Record("none", k, method, {"Error": error}) for method, k, error in pairs]
    >>> found = cells_of(load("adaptive"), ("adaptive", "mean"), records)
    >>> [(c.metric, c.method, c.mean, c.error) for c in found if c.metric == DIFFERENCE]
    [('Ours minus this', 'mean', 2.5, 0.5)]
    """
    values: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    for record in records:
        for metric, value in record.metrics.items():
            if _shown(record.method, metric):
                values[record.setting, metric, record.method][record.replicate] = value
    for setting in experiment.settings:
        ours = values.get((setting, "Error", OURS), {})
        for method in methods:
            theirs = values.get((setting, "Error", method), {})
            shared = {k: error - theirs[k] for k, error in ours.items() if k in theirs}
            if shared and method != OURS:
                values[setting, DIFFERENCE, method] = shared
    order = {name: k for k, name in enumerate([*experiment.settings, *methods])}
    keys = sorted(values, key=lambda key: (order[key[0]], key[1], order[key[2]]))
    return [cell_of(*key, [*values[key].values()], {}) for key in keys] + _calibration(records)


def _shown(method: str, metric: str) -> bool:
    """Tell whether a metric has cells: stability selection ranks columns, and does nothing else."""
    first = metric.split(" ")[0]
    return first in ("AUC", "Time") if method == "stability" else first not in BIN_METRICS


def _calibration(records: list[Record]) -> list[Cell]:
    """Return of each bin of inclusion the share of true columns, and the mean inclusion.

    Dense truths do not count: there every column is true, and nothing can be in or out.
    """
    totals: dict[str, float] = defaultdict(float)
    for record in records:
        for metric, value in record.metrics.items():
            if (
                record.method == OURS
                and metric.split(" ")[0] in BIN_METRICS
                and not _is_dense(record.setting)
            ):
                totals[metric] += value
    found = []
    for k in range(BINS):
        count = int(totals[f"columns {k}"])
        if count:
            share, inclusion = totals[f"true {k}"] / count, totals[f"inclusion {k}"] / count
            error = math.sqrt(share * (1.0 - share) / count)
            found.append(Cell(OVERALL, f"True, bin {k}", OURS, share, error, math.nan, count, None))
            found.append(
                Cell(OVERALL, f"Inclusion, bin {k}", OURS, inclusion, math.nan, math.nan, count, None)
            )
    return found


def _is_dense(setting: str) -> bool:
    return setting.split("-")[-1] == "dense"


def index(cells: list[Cell]) -> Index:
    """Return the cells by setting, metric and method."""
    return {(cell.setting, cell.metric, cell.method): cell for cell in cells}


class Verdict(NamedTuple):
    """A row: ours, the best of the others by its mean, and the mean of the paired differences to it.

    ``noise`` is what the truth itself loses, where errors do not have it.

    Examples
    --------
    >>> ours, best = (Cell("a", "Error", m, e, 0.1, e, 9, None) for m, e in (("adaptive", 2.1), ("mcp", 2.0)))
    >>> verdict = Verdict(ours, best, Cell("a", DIFFERENCE, "mcp", 0.1, 0.05, 0.1, 9, None))
    >>> verdict.within, verdict.z, round(verdict.percent, 6)
    (False, 2.0, 5.0)
    >>> round(verdict._replace(noise=3.0).of_prediction, 6)
    2.0
    """

    ours: Cell
    best: Cell
    difference: Cell
    noise: float = 0.0

    @property
    def z(self) -> float:
        """The difference in its standard errors; not a number if there are none."""
        if self.difference.error == 0.0:
            return 0.0 if self.difference.mean == 0.0 else math.copysign(math.inf, self.difference.mean)
        return self.difference.mean / self.difference.error

    @property
    def percent(self) -> float:
        """By how many percent ours is above the best of the others."""
        return 100.0 * self.difference.mean / self.best.mean if self.best.mean else math.nan

    @property
    def of_prediction(self) -> float:
        """The same of the whole error of a prediction, noise included."""
        whole = self.best.mean + self.noise
        return 100.0 * self.difference.mean / whole if whole else math.nan

    @property
    def within(self) -> bool:
        """Whether ours is within one standard error of the best, or better."""
        return self.z <= 1.0


def verdicts_of(experiment: Experiment, cells: list[Cell]) -> list[Verdict]:
    """Return the verdict of each row that has ours and another: those that fail first, the worst at the top.

    A row with one replicate has no standard error, and no verdict.
    """
    found = index(cells)
    verdicts = []
    for setting in experiment.settings:
        ours = found.get((setting, "Error", OURS))
        others = [
            cell
            for (at, metric, name), cell in found.items()
            if at == setting and metric == "Error" and name != OURS and name not in REFERENCES
        ]
        if ours is not None and others:
            best = min(others, key=lambda cell: cell.mean)
            truth = found.get((setting, "Truth", OURS))
            noise = 0.0 if truth is None else truth.mean
            verdict = Verdict(ours, best, found[setting, DIFFERENCE, best.method], noise)
            verdicts += [] if math.isnan(verdict.z) else [verdict]
    return sorted(verdicts, key=lambda verdict: (verdict.within, 0.0 if verdict.within else -verdict.z))


def rival_auc(found: Index, setting: str) -> Cell | None:
    """Return the AUC of stability selection at the penalty that is best for it in this row."""
    cells = [c for (at, metric, _), c in found.items() if at == setting and metric.startswith("AUC ")]
    return max(cells, key=lambda cell: cell.mean, default=None)
