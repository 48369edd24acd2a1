"""A picture of counts: how many of each there are, and how many the model expects."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.families import Predictive
from horseshoe.report.figure import MODE, SELECTED, ZERO, axes_of, count_edges, finish
from horseshoe.report.predictions import Predictions, predictions_of

WIDTH, HEIGHT, ENTRY = 6.5, 4.4, 1.9


def plot_rootogram(
    model: Any,
    X: Any = None,
    y: Any = None,
    offset: Any = None,
    exposure: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw how often each count is observed, hung from how often it is expected: a hanging rootogram.

    Bars that end at zero are as many as expected; those that hang below it are too many, those that do not
    reach it too few. Square roots make differences alike whatever the count (Kleiber and Zeileis 2016).

    Parameters
    ----------
    model : HorseshoeRegressor or AdaptiveRegressor
        A fitted model of counts.
    X, y, offset, exposure, sample_weight, ax
        As in `plot_observed`; without X and y the rows left out by cross-validation.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 2))
    >>> y = rng.poisson(np.exp(X[:, 0]))
    >>> plot_rootogram(HorseshoeRegressor(family="poisson").fit(X, y), X, y).get_ylabel()
    'square root of the number of rows'
    """
    rows = predictions_of(model, X, y, "plot_rootogram", offset, exposure, sample_weight)
    _check_counts(rows)
    edges = count_edges(rows.y)
    observed = np.histogram(np.minimum(rows.y, edges[-1]), edges, weights=rows.weights)[0]
    expected = expected_counts(rows, edges)
    top, hung = np.sqrt(expected), np.sqrt(expected) - np.sqrt(observed)
    middle, width = 0.5 * (edges[1:] + edges[:-1]), float(edges[1] - edges[0])
    ax = axes_of(ax, WIDTH, HEIGHT)
    bars = {"color": ZERO, "edgecolor": "white", "linewidth": 0.5, "label": "observed"}
    ax.bar(middle, top - hung, 0.85 * width, bottom=hung, **bars)
    ax.plot(middle, top, "o-", color=MODE, markersize=4.0, linewidth=1.5, label="expected")
    ax.axhline(0.0, color=SELECTED, linewidth=1.2)
    beyond = rows.y.max() > edges[-1]
    last = f" (last bar: {np.ceil(edges[-2]):,.0f} and more)" if beyond else ""
    ax.set(xlabel=f"count{last}", ylabel="square root of the number of rows")
    low, high = float(min(hung.min(), 0.0)), float(max(top.max(), (top - hung).max()))
    heights, title = (low - 0.04 * (high - low), high * 1.02), "counts observed, hung from those expected"
    return finish(ax, title, rows.source, legend=heights, entry=ENTRY, hide=("top", "right", "bottom"))


def _check_counts(rows: Predictions) -> None:
    """Refuse responses that are no counts."""
    if not (rows.family.discrete and isinstance(rows.family, Predictive)):
        raise ValueError(
            f"plot_rootogram is for counts, and {type(rows.family).__name__} is no family of counts: look at "
            "plot_observed, or for classes at plot_calibration"
        )
    if (rows.y != np.floor(rows.y)).any():
        row = int(np.argmax(rows.y != np.floor(rows.y)))
        raise ValueError(f"plot_rootogram is for whole counts, and y in row {row} is {rows.y[row]:g}")


def expected_counts(rows: Predictions, edges: Vector) -> Vector:
    """Return how many rows are expected between the edges; the last bar has all that is beyond.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> rows = Predictions(np.zeros(2), np.array([1.0, 1.0]), np.ones(2), Poisson(), "")
    >>> expected_counts(rows, np.array([-0.5, 0.5, 1.5])).round(2)
    array([0.74, 1.26])
    """
    assert isinstance(rows.family, Predictive)
    eta, total = rows.family.link(rows.mean), float(rows.weights.sum())
    below = [
        float(rows.weights @ rows.family.cdf(np.full_like(eta, np.floor(edge)), eta, 1.0))
        for edge in edges[1:-1]
    ]
    return np.diff(np.concatenate([[0.0], below, [total]]))
