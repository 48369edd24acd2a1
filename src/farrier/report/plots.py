"""Pictures of a fit. Needs matplotlib, which the extra ``farrier[plot]`` installs."""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier.report.axes import SELECTED, ZERO, at_least_one, coefficient_axes, finish, largest, percent
from farrier.report.model import FittedModel
from farrier.report.tables import feature_names


def plot_coefficients(
    model: FittedModel,
    level: float = 0.95,
    *,
    standardized: bool = True,
    most: int = 40,
    ax: Any = None,
) -> Any:
    """Draw the coefficients with their intervals, the largest at the top; zeros are hollow.

    Parameters
    ----------
    model : HorseshoeRegressor or HorseshoeClassifier
        A fitted model; of more than two classes, one of its ``estimators_``.
    level : float, default=0.95
        The coverage of the intervals.
    standardized : bool, default=True
        Draw the effect of one standard deviation of each column, so that sizes can be compared.
    most : int, default=40
        Draw no more coefficients than this; the smallest are left out, and the axis says how many.
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
    'effect of one standard deviation'
    """
    if model.coef_.ndim > 1:
        raise ValueError(
            f"the model has {len(model.coef_)} classes, one against the rest: "
            "draw one of them, as in plot_coefficients(model.estimators_[0])"
        )
    unit = model.scale_ if standardized else np.ones_like(model.coef_)
    coef, interval = model.coef_ * unit, model.coef_interval(level) * unit[:, None]
    order = largest(coef, at_least_one("most", most))
    names = feature_names(model)
    ax = coefficient_axes(ax, [names[j] for j in order], standardized)
    rows, chosen = np.arange(order.size), model.support_[order]
    ax.hlines(rows[chosen], *interval[order[chosen]].T, color=SELECTED, linewidth=2.0)
    ax.plot(coef[order[chosen]], rows[chosen], "o", color=SELECTED, label="selected")
    ax.plot(np.zeros((~chosen).sum()), rows[~chosen], "o", color=ZERO, fillstyle="none", label="exactly zero")
    return finish(ax, f"posterior mode and {percent(level)} intervals", coef.size - order.size)
