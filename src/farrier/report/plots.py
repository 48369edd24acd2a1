"""Pictures of a fit. Needs matplotlib, which the extra ``farrier[plot]`` installs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farrier._types import Vector
from farrier.report.axes import (
    SELECTED,
    ZERO,
    at_least_one,
    coefficient_axes,
    finish,
    how_many,
    largest,
    percent,
    told_apart,
    unit_of,
)
from farrier.report.model import FittedModel
from farrier.report.path_plot import plot_path
from farrier.report.tables import feature_names

__all__ = ["plot_coefficients", "plot_path"]


def plot_coefficients(
    model: FittedModel,
    level: float = 0.95,
    *,
    standardized: bool = True,
    most: int = 30,
    ax: Any = None,
) -> Any:
    """Draw the coefficients with their intervals, the largest at the top; zeros are hollow.

    The intervals take the selection as given, and the title says so; `plot_forest` of the posterior does not.

    Parameters
    ----------
    model : HorseshoeRegressor or HorseshoeClassifier
        A fitted model; of more than two classes, one of its ``estimators_``.
    level : float, default=0.95
        The coverage of the intervals.
    standardized : bool, default=True
        Draw the effect of one standard deviation of each column, so that sizes can be compared.
    most : int, default=30
        If there are more columns than this, draw those that are not zero, and no more than this many: the
        strongest by the effect of one standard deviation. The title says so.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> plot_coefficients(model).get_xlabel()
    'change of y for one standard deviation'
    """
    if not hasattr(model, "scale_"):
        raise TypeError(f"{type(model).__name__} has no mode to draw: its summary() has every coefficient")
    if model.coef_.ndim > 1:
        raise ValueError(
            f"the model has {len(model.coef_)} classes, one against the rest: "
            "draw one of them, as in plot_coefficients(model.estimators_[0])"
        )
    per, unit = "one standard deviation", model.scale_
    if not standardized:
        per, unit = "one unit of the column", np.ones_like(model.coef_)
    coef, interval = model.coef_ * unit, model.coef_interval(level, method="mode") * unit[:, None]
    order, note = _chosen(model.coef_ * model.scale_, coef, at_least_one("most", most))
    names = feature_names(model)
    label = unit_of(model.family_, getattr(model, "classes_", None), per)
    ax = coefficient_axes(ax, told_apart([names[j] for j in order], order), label)
    rows, chosen = np.arange(order.size), model.support_[order]
    if chosen.any():
        ax.hlines(rows[chosen], *interval[order[chosen]].T, color=SELECTED, linewidth=2.0)
        ax.plot(coef[order[chosen]], rows[chosen], "o", color=SELECTED, label="selected")
    if not chosen.all():
        hollow = {"color": ZERO, "fillstyle": "none", "label": "exactly zero"}
        ax.plot(np.zeros((~chosen).sum()), rows[~chosen], "o", **hollow)
    title = f"posterior mode and {percent(level)} intervals,"
    return finish(ax, order.size, title, "given the selection", note)


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
