"""Pictures of rows beside their predictions: observed against predicted, and what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._checks import check_level
from horseshoe._types import Matrix, Vector
from horseshoe.families import Predictive
from horseshoe.report.figure import MODE, SELECTED, ZERO, axes_of, finish, percent
from horseshoe.report.parts import is_average
from horseshoe.report.predictions import (
    HELD_OUT,
    MOST_POINTS,
    Predictions,
    check_numbers,
    held_out_interval,
    predictions_of,
    thin_out,
)

# Groups of rows with like predictions, at most, and the rows of one at least.
GROUPS, LEAST = 12, 8
# Inches of a picture, and of an entry of its legend.
WIDTH, HEIGHT, ENTRY = 6.0, 4.8, 2.1

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
    rows = predictions_of(model, X, y, "plot_observed", offset, exposure, sample_weight)
    check_numbers(rows, "plot_observed")
    averaged = is_average(model)
    if rows.source == HELD_OUT:
        interval = held_out_interval(rows, level)
    else:
        options = {"offset": offset, "exposure": exposure, "method": method}
        if method is None and not averaged:
            options["method"] = "mode"
        given = {name: value for name, value in options.items() if value is not None}
        interval = np.asarray(model.predict_interval(X, level, **given))
    ax = axes_of(ax, WIDTH, HEIGHT)
    of_mean = not (averaged or isinstance(rows.family, Predictive))
    _draw_band(ax, rows, interval, f"{percent(level)} intervals{' of the mean' if of_mean else ''}")
    drawn = thin_out(rows.mean)
    _draw_points(ax, rows, None if of_mean else interval, drawn)
    ax.set(xlabel="predicted", ylabel="observed")
    return _finish(ax, "observed against predicted", rows, rows.y[drawn], rows.mean[drawn])


def _finish(ax: Any, title: str, rows: Predictions, *heights: Any) -> Any:
    """Put caption and legend to a picture of rows; ``heights`` are those of all that is drawn."""
    every = np.concatenate([np.ravel(part) for part in heights])
    low, high = float(every.min()), float(every.max())
    room = 0.04 * (high - low) if high > low else max(abs(high), 1.0)
    drawn, n_rows = min(MOST_POINTS, rows.y.size), rows.y.size
    note = "" if drawn == n_rows else f"{drawn:,} of {n_rows:,} are drawn"
    return finish(ax, title, rows.source, note, legend=(low - room, high + room), entry=ENTRY)


def _draw_band(ax: Any, rows: Predictions, interval: Matrix, label: str) -> None:
    """Draw the intervals as a band, which is their mean among rows of like predictions, and the diagonal."""
    finite = np.isfinite(interval).all(axis=1)
    if finite.any():
        mean, low, high = rows.mean[finite], *interval[finite].T
        first, last = np.argmin(mean), np.argmax(mean)
        middle = [group_means(mean, ends, rows.weights[finite]) for ends in (low, high)]
        at = np.concatenate([mean[[first]], middle[0][0], mean[[last]]])
        lower, upper = (
            np.concatenate([ends[[first]], groups, ends[[last]]])
            for ends, (_, groups) in zip((low, high), middle, strict=True)
        )
        band = {"color": ZERO, "alpha": 0.35, "linewidth": 0.0, "label": label}
        ax.fill_between(at, lower, upper, **band)
    ends = np.array([rows.mean.min(), rows.mean.max()])
    ax.plot(ends, ends, "--", color=ZERO, linewidth=1.2, label="observed = predicted")


def _draw_points(ax: Any, rows: Predictions, interval: Matrix | None, drawn: NDArray[np.intp]) -> None:
    """Draw some rows; those outside their interval, if it is one of y, with another mark."""
    if interval is None:
        ax.plot(rows.mean[drawn], rows.y[drawn], label="row", **POINT)
        return
    inside = (interval[:, 0] <= rows.y) & (rows.y <= interval[:, 1])
    share = float(rows.weights @ inside) / float(rows.weights.sum())
    kinds = ((inside, share, POINT, "within"), (~inside, 1.0 - share, CROSS, "outside"))
    for which, part, style, label in kinds:
        if which.any():
            digits = 1 if 0.0 < part < 1.0 else 0
            at = drawn[which[drawn]]
            ax.plot(rows.mean[at], rows.y[at], label=f"{label} ({100.0 * part:.{digits}f}%)", **style)


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
    rows = predictions_of(model, X, y, "plot_residuals", offset, exposure, sample_weight)
    check_numbers(rows, "plot_residuals")
    left = (rows.y - rows.mean) / rows.deviation
    ax, drawn = axes_of(ax, WIDTH, HEIGHT), thin_out(rows.mean)
    ax.axhline(0.0, color=ZERO, linewidth=1.2, linestyle="--")
    ax.plot(rows.mean[drawn], left[drawn], label="row", **POINT)
    at, middle = group_means(rows.mean, left, rows.weights)
    ax.plot(at, middle, color=MODE, linewidth=2.0, label="mean of like predictions")
    what = "observed - predicted"
    if not rows.family.is_location:
        what += ",\nin standard deviations"
    ax.set(xlabel="predicted", ylabel=what)
    return _finish(ax, "what is left", rows, left[drawn], middle, 0.0)


def group_means(mean: Vector, values: Vector, weights: Vector, most: int = GROUPS) -> tuple[Vector, Vector]:
    """Return the mean prediction and the mean value of groups of rows with like predictions.

    Examples
    --------
    >>> x = np.arange(10.0)
    >>> group_means(x, 2.0 * x, np.ones(10))
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
