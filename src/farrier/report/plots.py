"""Pictures of a fit. Needs matplotlib, which the extra ``farrier[plot]`` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from farrier._extras import require
from farrier.report.tables import feature_names

if TYPE_CHECKING:
    from farrier.estimators.classifier import HorseshoeClassifier
    from farrier.estimators.regressor import HorseshoeRegressor

SELECTED, ZERO = "#1b4965", "#b0b0b0"


def plot_coefficients(
    model: HorseshoeRegressor | HorseshoeClassifier,
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
    pyplot = require("matplotlib.pyplot", extra="plot")
    unit = model.scale_ if standardized else np.ones_like(model.coef_)
    coef, interval = model.coef_ * unit, model.coef_interval(level) * unit[:, None]
    order = np.argsort(-np.abs(coef), kind="stable")[:most][::-1]
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7.0, 1.2 + 0.3 * order.size), layout="constrained")
    rows = np.arange(order.size)
    names, chosen = np.array(feature_names(model), dtype=object)[order], model.support_[order]
    ax.axvline(0.0, color=ZERO, linewidth=1.0, zorder=0)
    ax.hlines(rows[chosen], *interval[order[chosen]].T, color=SELECTED, linewidth=2.0)
    ax.plot(coef[order[chosen]], rows[chosen], "o", color=SELECTED, label="selected")
    ax.plot(np.zeros((~chosen).sum()), rows[~chosen], "o", color=ZERO, fillstyle="none", label="exactly zero")
    ax.set_yticks(rows, [str(name).replace("$", r"\$") for name in names])
    ax.set_xlabel("effect of one standard deviation" if standardized else "coefficient")
    left_out = coef.size - order.size
    ax.set_title(
        f"posterior mode and {level:.0%} intervals" + (f" ({left_out} more not shown)" if left_out else "")
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="best")
    return ax
