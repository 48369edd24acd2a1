"""Pictures of the columns of a fit: coefficients, inclusion, and how far each is shrunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._checks import check_level
from horseshoe._types import Mask, Vector
from horseshoe.report.figure import (
    MODE,
    SELECTED,
    ZERO,
    check_count,
    coefficient_axes,
    draw_marks,
    finish_coefficients,
    percent,
    scaled_unit,
    strongest,
    subset_note,
)
from horseshoe.report.parts import feature_names, is_average, one_part

# Where the inclusion stands beside the coefficients, in units of their axes.
BESIDE = (1.06, 0.0, 0.16, 1.0)
# Of bars that are not selected: seen without colour.
HATCH = "////"
SELECTED_OR_ZERO = ("selected", "exactly zero")


def plot_coefficients(
    model: Any,
    level: float = 0.95,
    *,
    standardized: bool = True,
    most: int = 30,
    ax: Any = None,
) -> Any:
    """Draw the coefficients with their intervals, the largest at the top; zeros are hollow.

    Of a single mode the intervals take the selection as given, and the title says so; `plot_forest` of the
    posterior does not. Of an average the sparse answer is drawn beside it, and at the right how sure each
    column is in.

    Parameters
    ----------
    model : HorseshoeRegressor, HorseshoeClassifier, or an Adaptive one
        A fitted model; of more than two classes, one of its ``estimators_``.
    level : float, default=0.95
        The coverage of the intervals.
    standardized : bool, default=True
        Draw the effect of one standard deviation of each column, so that sizes can be compared.
    most : int, default=30
        If there are more columns than this, draw those that are not zero, and no more than this many: the
        strongest by the effect of one standard deviation. Of an average, where hardly any is zero, those of
        the sparse answer come first. The title says so.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> plot_coefficients(model).get_xlabel()
    'change of y for one standard deviation'
    """
    part, most, level = one_part(model, "plot_coefficients"), check_count("most", most), check_level(level)
    unit, label = scaled_unit(standardized, part.scale_, part.family_, getattr(model, "classes_", None))
    draw = _draw_average if is_average(part) else _draw_mode
    return draw(part, level, unit, label, most, ax)


def _draw_mode(part: Any, level: float, unit: Vector, label: str, most: int, ax: Any) -> Any:
    coef, interval = part.coef_ * unit, part.coef_interval(level, method="mode") * unit[:, None]
    order, note = _mode_order(part.coef_ * part.scale_, coef, most)
    ax, heights = coefficient_axes(ax, feature_names(part), order, label)
    chosen = part.support_[order]
    if chosen.any():
        ax.hlines(heights[chosen], *interval[order[chosen]].T, color=SELECTED, linewidth=2.0)
    draw_marks(ax, coef[order], heights, chosen, SELECTED_OR_ZERO)
    title = f"posterior mode and {percent(level)} intervals,"
    return finish_coefficients(ax, order.size, title, "given the selection", note)


def _mode_order(strength: Vector, values: Vector, most: int) -> tuple[NDArray[np.intp], str]:
    """Return which columns to draw, the largest value last, and a note on the others."""
    if values.size <= most:
        return strongest(values, most), ""
    selected = int((strength != 0.0).sum())
    kept = strongest(strength, min(most, selected))
    if selected > most:
        note = subset_note(most, values.size)
    elif selected:
        note = subset_note(selected, values.size, "selected")
    else:
        note = f"none of {values.size:,} columns"
    return kept[strongest(values[kept], most)], note


def _draw_average(part: Any, level: float, unit: Vector, label: str, most: int, ax: Any) -> Any:
    coef, interval = part.coef_ * unit, part.coef_interval(level) * unit[:, None]
    # of too many columns the selected ones, then the strongest of the others
    order = np.lexsort((-np.abs(part.coef_ * part.scale_), ~part.support_))[:most]
    order = order[strongest(coef[order], most)]
    ax, heights = coefficient_axes(ax, feature_names(part), order, label, 1.0 / (BESIDE[0] + BESIDE[2]))
    chosen = part.support_[order]
    ax.hlines(heights, *interval[order].T, color=SELECTED, linewidth=1.5, zorder=1)
    ax.plot(coef[order], heights, "o", color=SELECTED, markerfacecolor="white", label="average", zorder=2)
    if chosen.any():
        few = (part.sparse_coef_ * unit)[order[chosen]]
        ax.plot(few, heights[chosen], "D", color=MODE, markersize=5.0, label="sparse answer", zorder=3)
    title = f"average and {percent(level)} intervals"
    finish_coefficients(ax, order.size, title, subset_note(order.size, coef.size))
    _draw_inclusion_strip(ax, part.inclusion_[order], chosen)
    return ax


def _draw_inclusion_strip(ax: Any, inclusion: Vector, chosen: Mask) -> None:
    """Draw the inclusion in a narrow strip at the right."""
    strip = ax.inset_axes(BESIDE)
    _draw_bars(strip, inclusion, chosen, (None, None))
    strip.set_ylim(ax.get_ylim())
    strip.set_yticks([])
    strip.set_xlim(0.0, 1.05)
    strip.set_xticks([0, 1], ["0", "1"])
    strip.set_xlabel("inclusion", fontsize="small")
    strip.spines[["top", "right"]].set_visible(False)
    layout = ax.figure.get_layout_engine()
    if layout is not None:  # it has room for the strip only once it knows how wide the axes are
        layout.execute(ax.figure)


def plot_inclusion(model: Any, *, most: int = 30, ax: Any = None) -> Any:
    """Draw how sure each column is in, the surest at the top; those of the sparse answer are filled.

    Parameters
    ----------
    model : AdaptiveRegressor or AdaptiveClassifier
        A fitted model; of more than two classes, one of its ``estimators_``.
    most : int, default=30
        Draw no more columns than this, the surest.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> x = np.arange(20.0)
    >>> ax = plot_inclusion(AdaptiveRegressor(cv=5).fit(x[:, None], x + np.sin(x)))
    >>> ax.get_xlabel()
    'inclusion: how sure the column is in'
    """
    part = one_part(model, "plot_inclusion")
    if not is_average(part):
        raise ValueError(
            f"{type(model).__name__} is a single mode and does not say how sure each column is in: "
            "fit AdaptiveRegressor or AdaptiveClassifier, or look at plot_shrinkage"
        )
    order = strongest(part.inclusion_, check_count("most", most))
    ax, _ = coefficient_axes(ax, feature_names(part), order, "inclusion: how sure the column is in")
    _draw_bars(ax, part.inclusion_[order], part.support_[order], ("in the sparse answer", "not in it"))
    ax.set_xlim(0.0, 1.0)
    return finish_coefficients(ax, order.size, subset_note(order.size, part.coef_.size, "surest"))


def plot_shrinkage(model: Any, *, most: int = 30, ax: Any = None) -> Any:
    """Draw the shrinkage factor of each column: 0 where the data speak, 1 where the prior does.

    Parameters
    ----------
    model : HorseshoeRegressor or HorseshoeClassifier
        A fitted model; of more than two classes, one of its ``estimators_``.
    most : int, default=30
        Draw no more columns than this, those that are shrunk the least.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> plot_shrinkage(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x))).get_xlabel()
    'shrinkage factor: 0 not at all, 1 to zero'
    """
    part = one_part(model, "plot_shrinkage")
    if is_average(part):
        raise ValueError(
            f"{type(model).__name__} averages fits that shrink in different ways and has no factor for each "
            "column: look at plot_inclusion, or at a HorseshoeRegressor or HorseshoeClassifier"
        )
    order = strongest(1.0 - part.kappa_, check_count("most", most))
    ax, heights = coefficient_axes(
        ax, feature_names(part), order, "shrinkage factor: 0 not at all, 1 to zero"
    )
    values = part.kappa_[order]
    ax.hlines(heights, 0.0, values, color=ZERO, linewidth=1.0, zorder=1)
    draw_marks(ax, values, heights, part.support_[order], SELECTED_OR_ZERO)
    ax.set_xlim(0.0, 1.04)
    return finish_coefficients(ax, order.size, subset_note(order.size, part.coef_.size, "least shrunk"))


def _draw_bars(ax: Any, values: Vector, chosen: Mask, labels: tuple[str | None, str | None]) -> None:
    """Draw bars: filled for the sparse answer, hatched for the others."""
    heights, hatched = np.arange(values.size), {"color": "white", "hatch": HATCH, "linewidth": 0.8}
    looks: tuple[dict[str, Any], ...] = (
        {"color": SELECTED, "edgecolor": SELECTED},
        hatched | {"edgecolor": ZERO},
    )
    for which, label, look in zip((chosen, ~chosen), labels, looks, strict=True):
        if which.any():
            ax.barh(heights[which], values[which], 0.6, label=label, **look)
