"""A picture of ordered levels: what is predicted of the rows of each level."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.report.figure import MODE, axes_of, finish, plot_label

# Levels at most: more bars tell nothing.
WIDTH, HEAD, STEP = 6.5, 1.7, 0.42
MOST = 12
DARKEST, LIGHTEST = np.array([0x1B, 0x49, 0x65]) / 255.0, np.array([0xDC, 0xE9, 0xF0]) / 255.0


def plot_levels(
    model: Any, X: Any, y: Any, offset: Any = None, sample_weight: Any = None, ax: Any = None
) -> Any:
    """Draw the mean probability of every level in the rows of each level, as bars from 0 to 1.

    A model that tells the levels apart has most of each bar in the colour of its own level, which is framed.

    Parameters
    ----------
    model : HorseshoeRegressor or AdaptiveRegressor
        A fitted model of ``family="ordinal"``.
    X, y, offset, sample_weight
        The rows to look at.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> X, y = [[k / 5.0] for k in range(20)], [int(k) for k in "11212122322323323333"]
    >>> ax = plot_levels(HorseshoeRegressor(family="ordinal").fit(X, y), X, y)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1', '2', '3']
    """
    names = _names(model)
    codes = model.family_.encode(np.asarray(y)).values
    places = np.searchsorted(model.family_.points_, codes)
    weights = np.ones(codes.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    shares = level_shares(model.predict_proba(X, offset=offset), places, weights)
    ax = axes_of(ax, WIDTH, HEAD + STEP * len(names))
    _draw(ax, shares, names)
    ax.set(xlim=(0.0, 1.0), ylim=(len(names) - 0.4, -0.6), xlabel="mean probability of each level")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylabel("observed level")
    title = "levels observed, and the probability of each"
    return finish(ax, title, hide=("top", "right", "left"))


def _names(model: Any) -> list[str]:
    """Return the levels as a picture shows them; refuse models without any, and too many."""
    if not hasattr(model, "predict_proba") or not hasattr(model, "levels_"):
        raise ValueError("plot_levels is for ordered levels: look at plot_observed, or at plot_calibration")
    found = model.levels_.tolist()
    if len(found) > MOST:
        raise ValueError(f"there are {len(found)} levels, and at most {MOST} are drawn")
    return [f"{each:g}" if isinstance(each, float) else plot_label(each) for each in found]


def level_shares(probabilities: Matrix, places: Any, weights: Vector) -> Matrix:
    """Return the mean probability of every level (columns) in the rows of each level (rows).

    Examples
    --------
    >>> chances = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
    >>> level_shares(chances, np.array([0, 0, 1]), np.ones(3))
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    size = probabilities.shape[1]
    which = (places[:, None] == np.arange(size)) * weights[:, None]
    return np.asarray((which.T @ probabilities) / np.maximum(which.sum(axis=0), 1e-300)[:, None])


def _draw(ax: Any, shares: Matrix, names: list[str]) -> None:
    """Draw a stacked bar for each level, its own share framed."""
    start, places = np.zeros(len(names)), np.arange(len(names))
    for k, name in enumerate(names):
        depth = k / max(1, len(names) - 1)
        colour = tuple(LIGHTEST + depth * (DARKEST - LIGHTEST))
        ax.barh(places, shares[:, k], 0.72, start, color=colour, label=name)
        ax.barh(k, shares[k, k], 0.72, start[k], fill=False, edgecolor=MODE, linewidth=1.6, zorder=3)
        start = start + shares[:, k]
    ax.legend(
        title="level",
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        ncols=1 + (len(names) > 6),
    )
