"""Pictures of the columns of a fit: coefficients, how sure each is in, how far each is shrunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._checks import check_level
from horseshoe._types import Mask, Vector
from horseshoe.report.axes import (
    MODE,
    SELECTED,
    ZERO,
    at_least_one,
    coefficient_axes,
    finish,
    hide_spines,
    how_many,
    largest,
    percent,
    told_apart,
    unit_of,
)
from horseshoe.report.model import one_part
from horseshoe.report.tables import feature_names

BESIDE = (1.03, 0.0, 0.16, 1.0)
"""Where the inclusion stands beside the coefficients, in units of their axes."""
HATCH = "////"
"""Of bars that are not selected: seen without colour."""


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
    part, most, level = one_part(model, "plot_coefficients"), at_least_one("most", most), check_level(level)
    per, unit = "one standard deviation", part.scale_
    if not standardized:
        per, unit = "one unit of the column", np.ones_like(part.coef_)
    label = unit_of(part.family_, getattr(model, "classes_", None), per)
    draw = _draw_average if hasattr(part, "inclusion_") else _draw_mode
    return draw(part, level, unit, label, most, ax)


def _draw_mode(part: Any, level: float, unit: Vector, label: str, most: int, ax: Any) -> Any:
    coef, interval = part.coef_ * unit, part.coef_interval(level, method="mode") * unit[:, None]
    order, note = _chosen(part.coef_ * part.scale_, coef, most)
    ax = coefficient_axes(ax, _names(part, order), label)
    rows, chosen = np.arange(order.size), part.support_[order]
    if chosen.any():
        ax.hlines(rows[chosen], *interval[order[chosen]].T, color=SELECTED, linewidth=2.0)
        ax.plot(coef[order[chosen]], rows[chosen], "o", color=SELECTED, label="selected")
    if not chosen.all():
        hollow = {"color": ZERO, "fillstyle": "none", "label": "exactly zero"}
        ax.plot(np.zeros((~chosen).sum()), rows[~chosen], "o", **hollow)
    title = f"posterior mode and {percent(level)} intervals,"
    return finish(ax, order.size, title, "given the selection", note)


def _draw_average(part: Any, level: float, unit: Vector, label: str, most: int, ax: Any) -> Any:
    coef, interval = part.coef_ * unit, part.coef_interval(level) * unit[:, None]
    order = _sparse_first(part, most)
    order = order[largest(coef[order], most)]
    ax = coefficient_axes(ax, _names(part, order), label, 1.0 / (BESIDE[0] + BESIDE[2]))
    rows, chosen = np.arange(order.size), part.support_[order]
    ax.hlines(rows, *interval[order].T, color=SELECTED, linewidth=1.5, zorder=1)
    ax.plot(coef[order], rows, "o", color=SELECTED, markerfacecolor="white", label="average", zorder=2)
    if chosen.any():
        few = (part.sparse_coef_ * unit)[order[chosen]]
        ax.plot(few, rows[chosen], "D", color=MODE, markersize=5.0, label="sparse answer", zorder=3)
    note = how_many(order.size, coef.size)
    finish(ax, order.size, f"average and {percent(level)} intervals", note)
    _draw_beside(ax, part.inclusion_[order], chosen)
    return ax


def _draw_beside(ax: Any, inclusion: Vector, chosen: Mask) -> None:
    """Draw how sure each column is in, in a narrow strip at the right."""
    strip = ax.inset_axes(BESIDE)
    _bars(strip, inclusion, chosen, labels=False)
    strip.set_ylim(ax.get_ylim())
    strip.set_yticks([])
    strip.set_xlim(0.0, 1.15)  # the layout may put the last of it beyond the edge of the picture
    strip.set_xticks([0, 1], ["0", "1"])
    strip.set_xlabel("inclusion", fontsize="small")
    hide_spines(strip, "top", "right")


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
    if not hasattr(part, "inclusion_"):
        raise ValueError(
            f"{type(model).__name__} is a single mode and does not say how sure each column is in: "
            "fit AdaptiveRegressor or AdaptiveClassifier, or look at plot_shrinkage"
        )
    order = largest(part.inclusion_, at_least_one("most", most))
    ax = coefficient_axes(ax, _names(part, order), "inclusion: how sure the column is in")
    _bars(ax, part.inclusion_[order], part.support_[order])
    ax.set_xlim(0.0, 1.0)
    return finish(ax, order.size, "", how_many(order.size, part.coef_.size, "surest"))


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
    if hasattr(part, "inclusion_"):
        raise ValueError(
            f"{type(model).__name__} averages fits that shrink in different ways and has no factor for each "
            "column: look at plot_inclusion, or at a HorseshoeRegressor or HorseshoeClassifier"
        )
    order = largest(1.0 - part.kappa_, at_least_one("most", most))
    ax = coefficient_axes(ax, _names(part, order), "shrinkage factor: 0 not at all, 1 to zero")
    rows, values, chosen = np.arange(order.size), part.kappa_[order], part.support_[order]
    ax.hlines(rows, 0.0, values, color=ZERO, linewidth=1.0, zorder=1)
    if chosen.any():
        ax.plot(values[chosen], rows[chosen], "o", color=SELECTED, label="selected")
    if not chosen.all():
        hollow = {"color": ZERO, "fillstyle": "none", "label": "exactly zero"}
        ax.plot(values[~chosen], rows[~chosen], "o", **hollow)
    ax.set_xlim(0.0, 1.04)
    return finish(ax, order.size, "", how_many(order.size, part.coef_.size, "least shrunk"))


def _bars(ax: Any, values: Vector, chosen: Mask, labels: bool = True) -> None:
    """Draw bars: filled for the sparse answer, hatched for the others."""
    rows = np.arange(values.size)
    if chosen.any():
        label = "in the sparse answer" if labels else None
        ax.barh(rows[chosen], values[chosen], 0.6, color=SELECTED, edgecolor=SELECTED, label=label)
    if not chosen.all():
        label = "not in it" if labels else None
        hatched = {"color": "white", "edgecolor": ZERO, "hatch": HATCH, "linewidth": 0.8, "label": label}
        ax.barh(rows[~chosen], values[~chosen], 0.6, **hatched)


def _names(part: Any, order: NDArray[np.intp]) -> list[str]:
    names = feature_names(part)
    return told_apart([names[j] for j in order], order)


def _sparse_first(part: Any, most: int) -> NDArray[np.intp]:
    """Return the columns to draw of an average: the sparse answer, then the strongest of the others."""
    strength = np.abs(part.coef_ * part.scale_)
    first = np.where(part.support_, np.inf, 0.0)
    return np.lexsort((-strength, -first))[:most]


def _chosen(strength: Vector, values: Vector, most: int) -> tuple[NDArray[np.intp], str]:
    """Return which columns to draw, the largest value last, and what to say of it."""
    if values.size <= most:
        return largest(values, most), ""
    selected = int((strength != 0.0).sum())
    kept = largest(strength, min(most, selected))
    if selected > most:
        note = how_many(most, values.size)
    else:
        note = how_many(selected, values.size, "selected") if selected else f"none of {values.size:,} columns"
    return kept[largest(values[kept], most)], note
