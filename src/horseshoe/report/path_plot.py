"""A picture of the fits along a path. Needs matplotlib, which the extra ``horseshoe[plot]`` installs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.report.axes import (
    CHAINS,
    CHARACTER,
    ZERO,
    at_least_one,
    fold,
    hide_spines,
    inches,
    largest,
    new_axes,
    shown,
    tick_logarithm,
    told_apart,
    unit_of,
)
from horseshoe.report.model import FittedPath

LABELS = {
    "tau": "tau, the global scale",
    "tau_max": "tau_max, the upper bound of the global scale",
    "lambda_power": "lambda_power",
    "slab": "slab, in units of the noise",
    "sigma2": "sigma2, the variance of the noise, in squared units of y",
}
LOGARITHMIC = ("tau", "tau_max", "slab", "sigma2")
STYLES = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (10, 2)),
    (0, (4, 1, 1, 1, 1, 1)),
)
"""One for each colour; the next six lines are thinner, so that twelve differ without colour too."""
LINE = 0.18
"""Inches that a name takes at the right edge."""
COUNTS = 6
"""How many numbers of selected columns stand above the picture, at most."""


def plot_path(
    path: FittedPath,
    *,
    standardized: bool = True,
    most: int = 12,
    of_class: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the coefficients along a path: the richest fit at the right, the sparsest at the left.

    The strongest columns have their names at the right edge, and those that are selected nowhere are left
    out. How many columns are selected stands above.

    Parameters
    ----------
    path : Path
        What `horseshoe_path` returned.
    standardized : bool, default=True
        Draw the effect of one standard deviation of each column, so that sizes can be compared.
    most : int, default=12
        Name no more columns than this: the strongest anywhere along the path, by the effect of one standard
        deviation; fewer where the picture is low. The others are thin and grey.
    of_class : object, optional
        The label of the class to draw, if there are more than two.
    ax : matplotlib.axes.Axes, optional
        Where to draw; the names take room at its right.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import horseshoe_path
    >>> x = np.arange(10.0)
    >>> path = horseshoe_path(x[:, None], 3.0 * x + np.sin(7.0 * x), values=[1.0, 0.1, 0.01])
    >>> ax = plot_path(path)
    >>> ax.get_ylabel(), [text.get_text() for text in ax.texts]
    ('change of y for one standard deviation', ['x0'])
    """
    most, coef = at_least_one("most", most), _of_class(path, of_class)
    first, per = path.estimators[0], "one standard deviation"
    strength = np.abs(coef * first.scale_).max(axis=0)
    if standardized:
        coef = coef * first.scale_
    else:
        per = "one unit of the column"
    ax = new_axes(8.0, 5.0) if ax is None else ax
    room = max(1, int(0.85 * inches(ax)[1] / LINE))  # the titles may take some of it
    named = largest(strength, min(most, room, int((strength > 0.0).sum())))[::-1]
    others = np.setdiff1d(np.flatnonzero(strength > 0.0), named)
    _draw_lines(ax, path, coef, named, others)
    unit = unit_of(first.family_, getattr(first, "classes_", None), per)
    _draw_frame(ax, path, unit if of_class is None else f"{unit},\nclass {shown(of_class)}")
    _draw_counts(ax, path.values, (coef != 0.0).sum(axis=1))
    _draw_names(ax, path, coef[0], named)
    ax.set_title(_title(path, named.size, others.size), fontsize="small")
    return ax


def _of_class(path: FittedPath, of_class: Any) -> Matrix:
    """Return the coefficients along the path, of one class if there are several."""
    if path.coef.ndim == 2:
        if of_class is not None:
            raise ValueError(f"of_class={of_class!r} is for more than two classes: leave it out")
        return path.coef
    labels = path.estimators[0].classes_.tolist()
    if of_class not in labels:
        few = ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")
        raise ValueError(f"of_class={of_class!r} must be one of the {len(labels)} classes: {few}")
    chosen: Matrix = path.coef[:, labels.index(of_class)]
    return chosen


def _draw_lines(ax: Any, path: FittedPath, coef: Matrix, named: Any, others: Any) -> None:
    """Draw the lines that have names above the others, the strongest on top."""
    ax.axhline(0.0, color=ZERO, linewidth=1.0, zorder=0)
    marker = "o" if path.values.size == 1 else None
    if others.size and marker is None:
        lines = require("matplotlib.collections", extra="plot").LineCollection
        points = [np.column_stack([path.values, coef[:, j]]) for j in others]
        ax.add_collection(lines(points, colors=ZERO, linewidths=0.7, zorder=1))
        ax.autoscale_view()
    elif others.size:
        ax.plot(np.repeat(path.values, others.size), coef[0, others], "o", color=ZERO, zorder=1)
    for place, j in enumerate(named):
        ax.plot(path.values, coef[:, j], marker=marker, zorder=3.0 - place / named.size, **_style(place))


def _style(place: int) -> dict[str, Any]:
    return {
        "color": CHAINS[place % len(CHAINS)],
        "linestyle": STYLES[(place + 3 * (place // len(CHAINS))) % len(STYLES)],
        "linewidth": 2.0 if place < len(CHAINS) else 1.1,
    }


def _draw_frame(ax: Any, path: FittedPath, unit: str) -> None:
    """Put the axes to the lines: the richest fit at the right."""
    width, height = inches(ax)
    label = LABELS.get(path.over, f"{shown(path.over)}, a parameter of the prior")
    if path.over in LOGARITHMIC:
        ax.set_xscale("log")
        tick_logarithm(ax.xaxis, path.values)
    if path.values.size == 1:
        ax.set_xticks(path.values, [f"{path.values[0]:g}"])
        ax.set_xticks([], minor=True)
    else:
        ax.set_xlim(path.values[-1], path.values[0])
        gap = "\n" if (len(label) + 28) * CHARACTER > width else " "
        label = f"{label}{gap}(richest fit at the right)"
    ax.set_xlabel(label)
    ax.set_ylabel(fold(unit, height))
    hide_spines(ax, "top", "right")


def _draw_counts(ax: Any, values: Vector, counts: Any) -> None:
    """Write above the picture how many columns are selected."""
    above = ax.secondary_xaxis("top")
    places = _spread(ax, values)
    above.set_xticks(values[places], [f"{counts[i]:,}" for i in places])
    above.set_xticks([], minor=True)
    above.set_xlabel("columns selected", fontsize="small")
    above.tick_params(labelsize="small", length=2.0)
    above.spines["top"].set_visible(False)


def _spread(ax: Any, values: Vector) -> list[int]:
    """Return the places of a few values, evenly over the picture."""
    at = np.log(values) if ax.get_xscale() == "log" else values
    if at.size == 1:
        return [0]
    wanted = np.linspace(at[0], at[-1], min(COUNTS, at.size))
    return sorted({int(np.argmin(np.abs(at - one))) for one in wanted})


def _draw_names(ax: Any, path: FittedPath, ends: Vector, named: NDArray[np.intp]) -> None:
    """Write the names at the right edge, apart from each other, each with a line to where its own ends."""
    if not named.size:
        return
    low, high = ax.get_ylim()
    gap = LINE / (0.85 * inches(ax)[1])
    order = np.argsort(ends[named], kind="stable")
    at = (ends[named] - low) / (high - low)
    places = np.empty_like(at)
    places[order] = apart(at[order], gap)
    names = told_apart([path.feature_names[j] for j in named], named)
    for place, name in enumerate(names):
        color, style = _style(place)["color"], {"linewidth": 0.7, "clip_on": False}
        ax.plot((1.0, 1.03), (at[place], places[place]), transform=ax.transAxes, color=color, **style)
        ax.text(1.035, places[place], name, transform=ax.transAxes, va="center", fontsize="small")
    ax.set_ylim(low, high)


def apart(at: Vector, gap: float) -> Vector:
    """Return places within 0 and 1, in the same order, at least ``gap`` apart and near those given.

    Those that are too near each other share the room around their mean.

    Examples
    --------
    >>> apart(np.array([0.5, 0.5, 0.9]), gap=0.1).round(2)
    array([0.45, 0.55, 0.9 ])
    """
    steps = gap * np.arange(at.size)
    blocks: list[tuple[float, int]] = []  # mean and size: the isotonic regression of the places less steps
    for value in at - steps:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, n = blocks.pop()
            mean, size = (before * n + mean * size) / (n + size), n + size
        blocks.append((mean, size))
    level = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    half = 0.5 * gap
    return np.asarray(np.clip(level, half, max(half, 1.0 - half - steps[-1])) + steps)


def _title(path: FittedPath, named: int, others: int) -> str:
    how = "each started at the one before" if path.warm_start else "each on its own"
    ever = "is" if named + others == 1 else "are"
    lines = [f"posterior modes, {how}"]
    lines += [f"{named + others:,} of {len(path.feature_names):,} columns {ever} selected somewhere"]
    lines += [f"the {named} strongest have names"] if others else []
    return "\n".join(lines)
