"""The report of the experiment "adaptive": the verdict, every error, what is found, calibration."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from horseshoe_reproduction.adaptive_criteria import DIAGONAL, criteria
from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.comparison import OURS, OVERALL, Index, cells_of, index, rival_auc, verdicts_of
from horseshoe_reproduction.experiment import Experiment
from horseshoe_reproduction.files import write_picture
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.picture import OURS as COLOUR
from horseshoe_reproduction.report import Block, Presentation, number
from horseshoe_reproduction.scores import BINS

FOUND = ("True", "False", "Empty", "AUC", "Rows covered", "Effects covered")
EXPLANATION = (
    "Means over data sets with their standard errors in parentheses. The error is, of a simulated Gaussian "
    "response, what the expected squared error of a prediction is above the noise, in closed form; of "
    "simulated classes and counts the log loss and the Poisson deviance above those of the truth, on fresh "
    "rows; of real data the squared error or the log loss on the rows that were left out (eye: times 100). "
    "The best of the others is the one with the least mean; the difference to it is paired, data set by data "
    'set. "Of a prediction": in per cent of its whole error, which has the noise that the truth itself has.'
)


def blocks(experiment: Experiment, methods: tuple[str, ...], cells: list[Cell]) -> list[Block]:
    """Return the blocks of the report."""
    found = index(cells)
    return [
        _verdict_block(experiment, cells),
        _error_block(experiment, methods, found),
        _found_block(experiment, found),
        _calibration_block(found),
    ]


def _verdict_block(experiment: Experiment, cells: list[Cell]) -> Block:
    rows = [
        [
            experiment.settings[verdict.ours.setting],
            text(verdict.ours),
            METHODS[verdict.best.method].label,
            text(verdict.best),
            text(verdict.difference),
            f"{verdict.z:+.1f}",
            f"{verdict.percent:+.1f} %",
            f"{verdict.of_prediction:+.1f} %",
            "within one s.e. or better" if verdict.within else "NOT within one s.e.",
        ]
        for verdict in verdicts_of(experiment, cells)
    ]
    header = [
        "",
        "Adaptive",
        "Best of the others",
        "its error",
        "difference",
        "z",
        "",
        "of a prediction",
        "verdict",
    ]
    return Block("Against the best of the others, row by row; rows that fail first", header, rows)


def _error_block(experiment: Experiment, methods: tuple[str, ...], found: Index) -> Block:
    shown = [name for name in methods if name != "stability"]
    rows = [
        [heading, *(text(found.get((setting, "Error", name))) for name in shown)]
        for setting, heading in experiment.settings.items()
    ]
    return Block("Mean errors", ["", *(METHODS[name].label for name in shown)], rows)


def _found_block(experiment: Experiment, found: Index) -> Block:
    header = [
        "",
        "true columns",
        "false columns",
        "nothing selected",
        "AUC of inclusion",
        "new rows covered",
        "effects covered",
        "AUC of stability selection",
    ]
    rows = []
    for setting, heading in experiment.settings.items():
        ours = [text(found.get((setting, metric, OURS))) for metric in FOUND]
        theirs = text(rival_auc(found, setting))
        rows += [[heading, *ours, theirs]] if any((*ours, theirs)) else []
    return Block("What the adaptive estimator selects, and what its intervals of 95 % cover", header, rows)


def _calibration_block(found: Index) -> Block:
    rows = [
        [f"{k / BINS:g} to {(k + 1) / BINS:g}", f"{share.replicates:,}", number(inclusion.mean), text(share)]
        for k, inclusion, share in bins(found)
    ]
    return Block(
        "Inclusion over all truths but the dense ones",
        ["", "columns", "mean inclusion", "share that is true"],
        rows,
    )


def bins(found: Index) -> list[tuple[int, Cell, Cell]]:
    """Return of each bin that is not empty its number, the mean inclusion and the share of true columns."""
    keys = [
        (k, (OVERALL, f"Inclusion, bin {k}", OURS), (OVERALL, f"True, bin {k}", OURS)) for k in range(BINS)
    ]
    return [(k, found[mean], found[share]) for k, mean, share in keys if mean in found]


def text(cell: Cell | None) -> str:
    """Return the mean with its standard error; nothing of a cell that is not there.

    Examples
    --------
    >>> text(Cell("a", "Error", "mcp", 2.5, 0.25, 2.5, 9, None)), text(None)
    ('2.5 (0.25)', '')
    """
    if cell is None:
        return ""
    return number(cell.mean) if math.isnan(cell.error) else f"{number(cell.mean)} ({cell.error:.2g})"


def draw_calibration(experiment: Experiment, methods: tuple[str, ...], cells: list[Cell], path: Path) -> Path:
    """Draw the share of true columns in each bin of inclusion, two standard errors each way."""
    figure = Figure(figsize=(5.6, 5.4), layout="constrained")
    axis = figure.subplots()
    axis.plot([0.0, 1.0], [0.0, 1.0], color="0.6", lw=1.0, ls="--")
    axis.fill_between(
        [0.0, 1.0], [-DIAGONAL, 1.0 - DIAGONAL], [DIAGONAL, 1.0 + DIAGONAL], color="0.94", lw=0.0
    )
    points = bins(index(cells))
    if points:
        _draw_points(axis, points)
    else:
        axis.text(0.5, 0.5, "no method with inclusion was run", ha="center")
    axis.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    axis.set(xlabel="inclusion, mean of its bin", ylabel="share of columns that are true")
    axis.set_title(
        "Is a column in as often as it is said to be? Simulated truths but the dense ones", fontsize=10
    )
    axis.spines[["top", "right"]].set_visible(False)
    return write_picture(path, figure)


def _draw_points(axis: Any, points: list[tuple[int, Cell, Cell]]) -> None:
    x, y = [mean.mean for _, mean, _ in points], [share.mean for _, _, share in points]
    bars = [2.0 * share.error for _, _, share in points]
    axis.errorbar(x, y, yerr=bars, fmt="o", color=COLOUR, ms=4.0, lw=1.2, capsize=2, clip_on=False)
    for _, mean, share in points:
        place = {"textcoords": "offset points", "xytext": (6, -10), "fontsize": 7, "color": "0.35"}
        axis.annotate(f"{share.replicates:,}", (mean.mean, share.mean), **place)


PRESENTATION = Presentation(cells_of, blocks, criteria, draw_calibration)
