"""A picture of the fits along a path. Needs matplotlib, which the extra ``horseshoe[plot]`` installs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.report.figure import (
    CHAINS,
    CHARACTER,
    LINE_STYLES,
    ZERO,
    axes_of,
    check_count,
    fold_label,
    log_ticks,
    plot_label,
    scaled_unit,
    size_in_inches,
    strongest,
    unique_labels,
)

# Inches that a name takes at the right edge.
LABELS = {
    "tau": "tau, the global scale",
    "tau_max": "tau_max, the upper bound of the global scale",
    "lambda_power": "lambda_power",
    "slab": "slab, in units of the noise",
    "sigma2": "sigma2, the variance of the noise, in squared units of y",
}
LOGARITHMIC = ("tau", "tau_max", "slab", "sigma2")
LINE = 0.18
# How many numbers of selected columns stand above the picture, at most.
COUNTS = 6


def plot_path(
    path: Any,
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
    most, coef = check_count("most", most), _coef_of_class(path, of_class)
    first = path.estimators[0]
    strength = np.abs(coef * first.scale_).max(axis=0)
    scale, unit = scaled_unit(standardized, first.scale_, first.family_, getattr(first, "classes_", None))
    coef = coef * scale
    ax = axes_of(ax, 8.0, 5.0)
    room = max(1, int(0.85 * size_in_inches(ax)[1] / LINE))  # the titles may take some of it
    named = strongest(strength, min(most, room, int((strength > 0.0).sum())))[::-1]
    others = np.setdiff1d(np.flatnonzero(strength > 0.0), named)
    _draw_lines(ax, path, coef, named, others)
    _label_axes(ax, path, unit if of_class is None else f"{unit},\nclass {plot_label(of_class)}")
    _draw_counts(ax, path.values, (coef != 0.0).sum(axis=1))
    _draw_names(ax, path, coef[0], named)
    ax.set_title(_title(path, named.size, others.size), fontsize="small")
    return ax


def _coef_of_class(path: Any, of_class: Any) -> Matrix:
    """Return the coefficients along the path, of one class if there are several."""
    coef: Matrix = path.coef
    if coef.ndim == 2:
        if of_class is not None:
            raise ValueError(f"of_class={of_class!r} is for more than two classes: leave it out")
        return coef
    labels = path.estimators[0].classes_.tolist()
    if of_class not in labels:
        few = ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")
        raise ValueError(f"of_class={of_class!r} must be one of the {len(labels)} classes: {few}")
    return np.asarray(coef[:, labels.index(of_class)])


def _draw_lines(ax: Any, path: Any, coef: Matrix, named: Any, others: Any) -> None:
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
        ax.plot(path.values, coef[:, j], marker=marker, zorder=3.0 - place / named.size, **_line_style(place))


def _line_style(place: int) -> dict[str, Any]:
    """Return colour, dashes and width: after six lines thinner ones, so that twelve differ without colour."""
    return {
        "color": CHAINS[place % len(CHAINS)],
        "linestyle": LINE_STYLES[(place + 3 * (place // len(CHAINS))) % len(LINE_STYLES)],
        "linewidth": 2.0 if place < len(CHAINS) else 1.1,
    }


def _label_axes(ax: Any, path: Any, unit: str) -> None:
    """Put the axes to the lines: the richest fit at the right."""
    width, height = size_in_inches(ax)
    label = LABELS.get(path.over, f"{plot_label(path.over)}, a parameter of the prior")
    if path.over in LOGARITHMIC:
        ax.set_xscale("log")
        log_ticks(ax.xaxis, path.values)
    if path.values.size == 1:
        ax.set_xticks(path.values, [f"{path.values[0]:g}"])
        ax.set_xticks([], minor=True)
    else:
        ax.set_xlim(path.values[-1], path.values[0])
        gap = "\n" if (len(label) + 28) * CHARACTER > width else " "
        label = f"{label}{gap}(richest fit at the right)"
    ax.set(xlabel=label, ylabel=fold_label(unit, height))
    ax.spines[["top", "right"]].set_visible(False)


def _draw_counts(ax: Any, values: Vector, counts: Any) -> None:
    """Write above the picture how many columns are selected, at a few values evenly over it."""
    at = np.log(values) if ax.get_xscale() == "log" else values
    wanted = np.linspace(at[0], at[-1], min(COUNTS, at.size))
    places = sorted({int(np.argmin(np.abs(at - one))) for one in wanted})
    above = ax.secondary_xaxis("top")
    above.set_xticks(values[places], [f"{counts[i]:,}" for i in places])
    above.set_xticks([], minor=True)
    above.set_xlabel("columns selected", fontsize="small")
    above.tick_params(labelsize="small", length=2.0)
    above.spines["top"].set_visible(False)


def _draw_names(ax: Any, path: Any, ends: Vector, named: NDArray[np.intp]) -> None:
    """Write the names at the right edge, apart from each other, each with a line to where its own ends."""
    if not named.size:
        return
    low, high = ax.get_ylim()
    order = np.argsort(ends[named], kind="stable")
    at = (ends[named] - low) / (high - low)
    places = np.empty_like(at)
    places[order] = spread_out(at[order], LINE / (0.85 * size_in_inches(ax)[1]))
    for rank, name in enumerate(unique_labels([path.feature_names[j] for j in named], named)):
        style = {"color": _line_style(rank)["color"], "linewidth": 0.7, "clip_on": False}
        ax.plot((1.0, 1.03), (at[rank], places[rank]), transform=ax.transAxes, **style)
        ax.text(1.035, places[rank], name, transform=ax.transAxes, va="center", fontsize="small")
    ax.set_ylim(low, high)


def spread_out(at: Vector, gap: float) -> Vector:
    """Return places within 0 and 1, in the same order, at least ``gap`` apart and near those given.

    Those that are too near each other share the room around their mean: the isotonic regression of the places
    less what the gaps before them take.

    Examples
    --------
    >>> spread_out(np.array([0.5, 0.5, 0.9]), gap=0.1).round(2)
    array([0.45, 0.55, 0.9 ])
    """
    from sklearn.isotonic import isotonic_regression  # imported here: it is slow to import

    steps, half = gap * np.arange(at.size), 0.5 * gap
    level = isotonic_regression(at - steps)
    return np.asarray(np.clip(level, half, max(half, 1.0 - half - steps[-1])) + steps)


def _title(path: Any, named: int, others: int) -> str:
    how = "each started at the one before" if path.warm_start else "each on its own"
    ever = "is" if named + others == 1 else "are"
    lines = [f"posterior modes, {how}"]
    lines += [f"{named + others:,} of {len(path.feature_names):,} columns {ever} selected somewhere"]
    lines += [f"the {named} strongest have names"] if others else []
    return "\n".join(lines)
