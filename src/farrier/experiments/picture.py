"""A table as a picture: ours and the printed figures side by side, with error bars."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from farrier._extras import require
from farrier.experiments.cells import Cell
from farrier.experiments.core import Experiment
from farrier.experiments.files import write_picture
from farrier.experiments.methods import METHODS

OURS, PRINTED = "#1f4e79", "#c55a11"
LOGARITHMIC = 15.0
"""A panel whose values span more than this factor has a logarithmic axis."""


def draw(experiment: Experiment, methods: tuple[str, ...], cells: list[Cell], path: Path) -> Path:
    """Draw a panel for each setting and metric; two standard errors each way."""
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(2.6 * len(experiment.metrics) + 1.6, 0.9 + len(experiment.settings) * _height(methods)),
        layout="constrained",
    )
    axes = figure.subplots(len(experiment.settings), len(experiment.metrics), squeeze=False, sharey=True)
    for i, (setting, heading) in enumerate(experiment.settings.items()):
        for j, metric in enumerate(experiment.metrics):
            panel = [c for c in cells if c.setting == setting and c.metric == metric]
            _draw_panel(axes[i, j], panel)
            axes[i, j].set_title(metric, fontsize=9)
        axes[i, 0].set_ylabel(heading, fontsize=9)
        axes[i, 0].set_yticks(range(len(methods)), [METHODS[m].label for m in methods], fontsize=8)
        axes[i, 0].set_ylim(len(methods) - 0.5, -0.5)
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    figure.suptitle(experiment.heading, fontsize=11, x=0.01, ha="left")
    return write_picture(path, figure)


def _height(methods: tuple[str, ...]) -> float:
    return 0.55 + 0.21 * len(methods)


def _draw_panel(axis: Any, panel: list[Cell]) -> None:
    """Draw one metric: a line for each method."""
    here = [(c.mean, _width(c.error), row - 0.13) for row, c in enumerate(panel)]
    there = [
        (c.printed.mean, _width(c.printed.error), row + 0.13) for row, c in enumerate(panel) if c.printed
    ]
    for points, colour, marker, label in (
        (here, OURS, "o", "here, two standard errors each way"),
        (there, PRINTED, "s", "printed"),
    ):
        if points:
            x, width, y = zip(*points, strict=True)
            axis.errorbar(x, y, xerr=width, fmt=marker, color=colour, ms=3.5, lw=1.2, capsize=2, label=label)
    values = [abs(x) for x, _, _ in here + there if x != 0.0]
    if values and max(values) > LOGARITHMIC * min(values) and all(x >= 0.0 for x, _, _ in here + there):
        axis.set_xscale("symlog" if any(x == 0.0 for x, _, _ in here + there) else "log")
    axis.tick_params(axis="x", labelsize=7)
    axis.grid(axis="x", color="0.9", lw=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def _width(error: float | None) -> float:
    return 0.0 if error is None or math.isnan(error) else 2.0 * error
