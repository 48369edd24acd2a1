"""Pictures of rows beside their predictions: observed against predicted, and what is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._checks import check_level
from horseshoe._types import Matrix, Vector
from horseshoe.families import Predictive
from horseshoe.report.axes import (
    MODE,
    SELECTED,
    ZERO,
    hide_spines,
    new_axes,
    percent,
    plain_ticks,
    put_legend,
    put_title,
)
from horseshoe.report.rows import Predicted, few, interval_of, predicted, refuse_classes

GROUPS, LEAST = 12, 8
"""Groups of rows with like predictions, at most, and the rows of one at least."""
WIDTH, HEIGHT, ENTRY = 6.0, 4.8, 2.1
"""Inches of a picture, and of an entry of its legend."""

POINT = {
    "marker": "o",
    "linestyle": "none",
    "color": SELECTED,
    "markersize": 3.5,
    "markerfacecolor": "none",
    "alpha": 0.7,
}
CROSS = {"marker": "x", "linestyle": "none", "color": MODE, "markersize": 5.0, "alpha": 0.7}


def plot_observed(
    model: Any,
    X: Any = None,
    y: Any = None,
    level: float = 0.95,
    ax: Any = None,
    *,
    offset: Any = None,
    exposure: Any = None,
    sample_weight: Any = None,
    method: str | None = None,
) -> Any:
    """Draw observed against predicted responses, with the intervals in which they are expected.

    Parameters
    ----------
    model : HorseshoeRegressor or AdaptiveRegressor
        A fitted model.
    X, y : array-like, optional
        Rows and their responses. Left out, the rows that an Adaptive model was fitted to, each predicted by
        fits that have not seen it, which is the honest picture of them.
    level : float, default=0.95
        The coverage of the intervals.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    offset, exposure, sample_weight : array-like, optional
        As in `fit`, for the rows given.
    method : str, optional
        Of the intervals, as in `predict_interval`; of a single mode "mode" if left out.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> x = np.arange(20.0)
    >>> ax = plot_observed(AdaptiveRegressor(cv=5).fit(x[:, None], x + np.sin(x)))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted', 'observed')
    """
    level = check_level(level)
    rows = predicted(model, X, y, "plot_observed", offset, exposure, sample_weight)
    refuse_classes(rows, "plot_observed")
    if rows.is_left_out:
        interval = interval_of(rows, level)
    else:
        known = {"offset": offset, "exposure": exposure}
        given = {name: value for name, value in known.items() if value is not None}
        default = {} if hasattr(model, "inclusion_") else {"method": "mode"}
        options = default if method is None else {"method": method}
        interval = np.asarray(model.predict_interval(X, level, **given, **options))
    ax = new_axes(WIDTH, HEIGHT) if ax is None else ax
    of_mean = not (hasattr(model, "inclusion_") or isinstance(rows.family, Predictive))
    _draw_band(ax, rows, interval, f"{percent(level)} intervals{' of the mean' if of_mean else ''}")
    _draw_points(ax, rows, None if of_mean else interval)
    ax.set(xlabel="predicted", ylabel="observed")
    hide_spines(ax, "top", "right")
    shown = few(rows.mean)
    low, high = _ends(rows.y[shown], rows.mean[shown])
    put_title(ax, "observed against predicted", rows.source, _part(shown.size, rows.y.size))
    put_legend(ax, low, high, ENTRY)
    plain_ticks(ax.xaxis, ax.yaxis)
    return ax


def _draw_band(ax: Any, rows: Predicted, interval: Matrix, label: str) -> None:
    """Draw the intervals as a band, which is their mean among rows of like predictions, and the diagonal."""
    finite = np.isfinite(interval).all(axis=1)
    if finite.any():
        mean, low, high = rows.mean[finite], *interval[finite].T
        first, last = np.argmin(mean), np.argmax(mean)
        middle = [grouped(mean, ends, rows.weights[finite]) for ends in (low, high)]
        at = np.concatenate([mean[[first]], middle[0][0], mean[[last]]])
        lower, upper = (
            np.concatenate([ends[[first]], groups, ends[[last]]])
            for ends, (_, groups) in zip((low, high), middle, strict=True)
        )
        band = {"color": ZERO, "alpha": 0.35, "linewidth": 0.0, "label": label}
        ax.fill_between(at, lower, upper, **band)
    ends = np.array([rows.mean.min(), rows.mean.max()])
    ax.plot(ends, ends, "--", color=ZERO, linewidth=1.2, label="observed = predicted")


def _draw_points(ax: Any, rows: Predicted, interval: Matrix | None) -> None:
    """Draw the rows; those outside their interval, if it is one of y, with another mark."""
    shown = np.zeros(rows.y.size, dtype=bool)
    shown[few(rows.mean)] = True
    if interval is None:
        ax.plot(rows.mean[shown], rows.y[shown], label="row", **POINT)
        return
    inside = (interval[:, 0] <= rows.y) & (rows.y <= interval[:, 1])
    share = float(rows.weights @ inside) / float(rows.weights.sum())
    for which, style, label in ((inside, POINT, "within"), (~inside, CROSS, "outside")):
        if which.any():
            part = share if label == "within" else 1.0 - share
            at = which & shown
            ax.plot(rows.mean[at], rows.y[at], label=f"{label} ({_rounded(part)})", **style)


def plot_residuals(
    model: Any,
    X: Any = None,
    y: Any = None,
    offset: Any = None,
    exposure: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw what predictions leave of the responses, against the predictions.

    The line is the mean among rows of like predictions: where it leaves zero, the model misses something.
    Where the spread of y depends on its mean, residuals are divided by its standard deviation (Pearson's).

    Parameters
    ----------
    model, X, y, offset, exposure, sample_weight, ax
        As in `plot_observed`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(x[:, None], x + np.sin(x))
    >>> plot_residuals(model, x[:, None], x + np.sin(x)).get_ylabel()
    'observed - predicted'
    """
    rows = predicted(model, X, y, "plot_residuals", offset, exposure, sample_weight)
    refuse_classes(rows, "plot_residuals")
    left = (rows.y - rows.mean) / rows.deviation
    ax = new_axes(WIDTH, HEIGHT) if ax is None else ax
    shown = few(rows.mean)
    ax.axhline(0.0, color=ZERO, linewidth=1.2, linestyle="--")
    ax.plot(rows.mean[shown], left[shown], label="row", **POINT)
    at, middle = grouped(rows.mean, left, rows.weights)
    ax.plot(at, middle, color=MODE, linewidth=2.0, label="mean of like predictions")
    what = "observed - predicted"
    if not rows.family.is_location:
        what += ",\nin standard deviations"
    ax.set(xlabel="predicted", ylabel=what)
    hide_spines(ax, "top", "right")
    low, high = _ends(left[shown], middle, 0.0)
    put_title(ax, "what is left", rows.source, _part(shown.size, left.size))
    put_legend(ax, low, high, ENTRY)
    plain_ticks(ax.xaxis, ax.yaxis)
    return ax


def grouped(mean: Vector, values: Vector, weights: Vector, most: int = GROUPS) -> tuple[Vector, Vector]:
    """Return the mean prediction and the mean value of groups of rows with like predictions.

    Examples
    --------
    >>> x = np.arange(10.0)
    >>> grouped(x, 2.0 * x, np.ones(10))
    (array([4.5]), array([9.]))
    """
    order = np.argsort(mean, kind="stable")
    groups = np.array_split(order, max(1, min(most, mean.size // LEAST)))
    pairs = [
        (np.average(mean[group], weights=weights[group]), np.average(values[group], weights=weights[group]))
        for group in groups
        if weights[group].sum() > 0.0
    ]
    found = np.array(pairs)
    return found[:, 0], found[:, 1]


def _ends(*values: Any) -> tuple[float, float]:
    """Return the lowest and the highest of all, with a little room."""
    every = np.concatenate([np.ravel(part) for part in values])
    low, high = float(every.min()), float(every.max())
    room = 0.04 * (high - low) if high > low else max(abs(high), 1.0)
    return low - room, high + room


def _part(shown: int, of: int) -> str:
    return "" if shown == of else f"{shown:,} of {of:,} are drawn"


def _rounded(share: float) -> str:
    return f"{100.0 * share:.1f}%" if 0.0 < share < 1.0 else f"{100.0 * share:.0f}%"
