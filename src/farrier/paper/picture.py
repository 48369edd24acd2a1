"""A table as a picture: ours and the printed figures side by side, with error bars."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from farrier._extras import require
from farrier.files import write_picture
from farrier.paper.cells import Cell
from farrier.paper.core import Experiment
from farrier.paper.methods import METHODS

OURS, PRINTED = "#1f4e79", "#c55a11"
MOST = 5
"""Panels beside each other."""
LOGARITHMIC = 15.0
"""A panel whose values span more than this factor has a logarithmic axis."""


def draw(experiment: Experiment, methods: tuple[str, ...], cells: list[Cell], path: Path) -> Path:
    """Draw a panel for each setting and metric; two standard errors each way."""
    lines = [(setting, part) for setting in experiment.settings for part in _parts(experiment.metrics)]
    width = len(lines[0][1])
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(2.6 * width + 1.6, 0.9 + len(lines) * _height(methods)), layout="constrained"
    )
    axes = figure.subplots(len(lines), width, squeeze=False, sharey=True)
    for row, (setting, metrics) in zip(axes, lines, strict=True):
        for axis, metric in zip(row, metrics, strict=False):
            _draw_panel(axis, [c for c in cells if c.setting == setting and c.metric == metric])
            axis.set_title(metric, fontsize=9)
        for axis in row[len(metrics) :]:
            axis.set_axis_off()
        if metrics[0] == experiment.metrics[0]:
            row[0].set_ylabel(experiment.settings[setting], fontsize=9)
        row[0].set_yticks(range(len(methods)), [METHODS[m].label for m in methods], fontsize=8)
        row[0].set_ylim(len(methods) - 0.5, -0.5)
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower right", ncols=2, frameon=False, fontsize=9)
    figure.suptitle(experiment.heading, fontsize=11, x=0.01, ha="left")
    return write_picture(path, figure)


def _parts(metrics: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Cut the metrics into lines of panels."""
    return [metrics[i : i + MOST] for i in range(0, len(metrics), MOST)]


def _height(methods: tuple[str, ...]) -> float:
    return 0.55 + 0.21 * len(methods)


def _draw_panel(axis: Any, panel: list[Cell]) -> None:
    """Draw one metric: a line for each method."""
    here = [(c.mean, _width(c.error), row - 0.13) for row, c in enumerate(panel)]
    there = [
        (c.printed.mean, _width(c.printed_error), row + 0.13) for row, c in enumerate(panel) if c.printed
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


def _width(error: float) -> float:
    return 0.0 if math.isnan(error) else 2.0 * error
