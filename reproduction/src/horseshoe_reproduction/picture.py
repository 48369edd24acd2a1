"""A table as a picture: ours and the printed figures side by side, with error bars."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib import ticker
from matplotlib.figure import Figure

from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.experiment import Experiment
from horseshoe_reproduction.files import write_picture
from horseshoe_reproduction.methods import METHODS

# Panels beside each other.
OURS, PRINTED = "#1f4e79", "#c55a11"
MOST = 5
# A panel whose values span more than this factor has a logarithmic axis.
LOGARITHMIC = 15.0
# Numbers under a panel, at most.
TICKS = 5
# The least length of an axis, beside what is on it: numbers that are nearly equal look nearly equal.
SAME = 0.02
# Inches: the width of a panel, of the names of the methods, and of the narrowest picture.
PANEL, LABELS, LEAST = 2.6, 1.6, 8.6
# Inches: the height of a heading, of the numbers under a panel, and of a method.
HEAD, FOOT, STEP = 0.25, 0.6, 0.21


def draw(experiment: Experiment, methods: tuple[str, ...], cells: list[Cell], path: Path) -> Path:
    """Draw a panel for each setting and metric; two standard errors each way."""
    lines = [(setting, part) for setting in experiment.settings for part in _parts(experiment.metrics)]
    headed = [metrics[0] == experiment.metrics[0] for _, metrics in lines]
    heights = [HEAD * head + FOOT + STEP * len(methods) for head in headed]
    width = max(len(metrics) for _, metrics in lines)
    figure = Figure(figsize=(max(PANEL * width + LABELS, LEAST), 0.9 + sum(heights)), layout="constrained")
    figure.suptitle(experiment.heading, fontsize=11, x=0.01, ha="left")
    rows = figure.subfigures(len(lines), 1, squeeze=False, height_ratios=heights)[:, 0]
    for row, (setting, metrics), head in zip(rows, lines, headed, strict=True):
        if head:
            row.suptitle(experiment.settings[setting], fontsize=9, fontweight="bold", x=0.01, ha="left")
        panels = [[c for c in cells if c.setting == setting and c.metric == metric] for metric in metrics]
        _draw_row(row.subplots(1, width, squeeze=False, sharey=True)[0], panels, experiment.signed)
    _legend(figure)
    return write_picture(path, figure)


def _draw_row(axes: Any, panels: list[list[Cell]], signed: bool) -> None:
    """Draw some metrics of one setting beside each other."""
    for axis, panel in zip(axes, panels, strict=False):
        _draw_panel(axis, panel, signed)
        axis.set_title(panel[0].metric, fontsize=9)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    names = [METHODS[cell.method].label for cell in panels[0]]
    axes[0].set_yticks(range(len(names)), names, fontsize=8)
    axes[0].set_ylim(len(names) - 0.5, -0.5)


def _legend(figure: Any) -> None:
    """Explain the colours, each once, whichever panels have them."""
    found: dict[str, Any] = {}
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    place = {"loc": "outside lower right", "ncols": 2, "frameon": False, "fontsize": 9}
    figure.legend(list(found.values()), list(found), **place)


def _parts(metrics: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Cut the metrics into lines of panels."""
    return [metrics[i : i + MOST] for i in range(0, len(metrics), MOST)]


class _Point(NamedTuple):
    """A number with the ends of its bar, and where it is drawn."""

    low: float
    mean: float
    high: float
    y: float


def _point(mean: float, error: float, y: float, signed: bool) -> _Point:
    """Return two standard errors each way; what cannot be negative has no bar below zero."""
    width = 0.0 if math.isnan(error) else 2.0 * error
    low = mean - width
    return _Point(low if signed else max(low, min(mean, 0.0)), mean, mean + width, y)


def _draw_panel(axis: Any, panel: list[Cell], signed: bool) -> None:
    """Draw one metric: a line for each method."""
    here = [_point(c.mean, c.error, row - 0.13, signed) for row, c in enumerate(panel)]
    there = [
        _point(c.printed.mean, c.printed_error, row + 0.13, signed)
        for row, c in enumerate(panel)
        if c.printed
    ]
    _scale(axis, [*here, *there], signed)
    for points, colour, marker, label in (
        (here, OURS, "o", "here, two standard errors each way"),
        (there, PRINTED, "s", "printed"),
    ):
        if points:
            x, y = [p.mean for p in points], [p.y for p in points]
            start = axis.get_xlim()[0]
            bars = [[p.mean - max(p.low, start) for p in points], [p.high - p.mean for p in points]]
            look = {"fmt": marker, "color": colour, "ms": 3.5, "lw": 1.2, "capsize": 2}
            axis.errorbar(x, y, xerr=bars, label=label, clip_on=False, **look)  # a zero is not cut in half
    axis.tick_params(axis="x", labelsize=7)
    axis.grid(axis="x", color="0.9", lw=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def _scale(axis: Any, points: list[_Point], signed: bool) -> None:
    """Choose the axis, its ends and its numbers: never below zero where nothing can be."""
    low, high = min(p.low for p in points), max(p.high for p in points)
    positive = [p.mean for p in points if p.mean > 0.0]
    if not signed and positive and max(positive) > LOGARITHMIC * min(positive):
        _logarithmic(axis, low, high * 1.15, min(positive), any(p.mean == 0.0 for p in points))
    else:
        room = SAME * max(abs(low), abs(high)) or 1.0
        margin = max(0.05 * (high - low), 0.5 * (room - (high - low)))
        axis.set_xlim(low - margin if signed else max(low - margin, 0.0), high + margin)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(TICKS - 1))
        axis.xaxis.set_major_formatter(ticker.ScalarFormatter(useOffset=False))


def _logarithmic(axis: Any, low: float, high: float, least: float, zero: bool) -> None:
    """Make an axis logarithmic; with a zero on it, it is linear up to the least that is not zero."""
    if zero:
        axis.set_xscale("symlog", linthresh=least)
        axis.set_xlim(0.0, high)
        ticks = [0.0, *log_ticks(least, high, TICKS - 1)]
    else:
        axis.set_xscale("log")
        start = max(low, least / 2.0) / 1.15  # a bar may reach down to zero
        axis.set_xlim(start, high)
        ticks = log_ticks(start, high)
    axis.xaxis.set_major_locator(ticker.FixedLocator(ticks))
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_locator(ticker.NullLocator())


def log_ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Return a few round numbers between two ends, evenly spread on a logarithmic axis.

    Examples
    --------
    >>> log_ticks(0.8, 40.0)
    [1.0, 2.0, 5.0, 10.0, 20.0]
    >>> log_ticks(0.0008, 4000.0)
    [0.001, 0.1, 10.0, 1000.0]
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        every = [float(f"{digit}e{decade}") for decade in decades for digit in digits]
        ticks = [value for value in every if low <= value <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]
