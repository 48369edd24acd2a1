"""Pictures of two classes: whether probabilities are right, and tell the classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv

from horseshoe._checks import check_level
from horseshoe._types import Vector
from horseshoe.report.figure import (
    SELECTED,
    ZERO,
    axes_of,
    check_count,
    finish,
    percent,
    plot_label,
    size_in_inches,
    wrap_label,
)
from horseshoe.report.number_text import format_number
from horseshoe.report.predictions import Predictions, check_two_classes, predictions_of

# Height of the bars that say how many rows have each probability.
WIDTH, HEIGHT = 5.2, 5.2
BARS = 0.14


def plot_calibration(
    model: Any,
    X: Any = None,
    y: Any = None,
    offset: Any = None,
    exposure: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
    *,
    n_groups: int = 10,
    level: float = 0.95,
) -> Any:
    """Draw how often rows are of the second class against the probability that was predicted.

    Rows are put in groups of like probabilities. Points on the diagonal are right. The bars at the bottom say
    how many rows have each probability.

    Parameters
    ----------
    model : HorseshoeClassifier or AdaptiveClassifier
        A fitted model of two classes, or a regressor of zeros and ones.
    X, y, offset, exposure, sample_weight, ax
        As in `plot_observed`; without X and y the rows left out by cross-validation.
    n_groups : int, default=10
        The number of groups, as far as the rows can be told apart.
    level : float, default=0.95
        The coverage of the intervals of the shares.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import AdaptiveClassifier
    >>> X = [[k / 10.0] for k in range(40)]
    >>> model = AdaptiveClassifier(cv=5).fit(X, list("aaaaaaabab" * 2 + "bbbbbbabab" * 2))
    >>> plot_calibration(model).get_xlabel()
    'predicted probability of b'
    """
    n_groups, level = check_count("n_groups", n_groups), check_level(level)
    rows = predictions_of(model, X, y, "plot_calibration", offset, exposure, sample_weight)
    check_two_classes(rows, "plot_calibration")
    at, share, counts = calibration(rows, n_groups)
    ends = _shares_interval(share * counts, counts, level)
    what = "y = 1" if rows.classes is None else plot_label(rows.classes[1])
    ax = _unit_square(ax, f"predicted probability of {what}", f"share that is {what}", -BARS)
    ax.vlines(at, *ends, color=SELECTED, linewidth=1.5)
    ax.plot(at, share, "o-", color=SELECTED, linewidth=1.0, markersize=6.0)
    _draw_bars(ax, rows)
    ax.set_yticks(np.linspace(0.0, 1.0, 6))
    return finish(ax, f"calibration with {percent(level)} intervals", rows.source)


def calibration(rows: Predictions, n_groups: int) -> tuple[Vector, Vector, Vector]:
    """Return the mean probability, the share of the second class, and the rows of each group.

    Examples
    --------
    >>> from horseshoe.families import Binomial
    >>> y, mean = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.1, 0.1, 0.7, 0.9])
    >>> calibration(Predictions(y, mean, np.ones(4), Binomial(), ""), 2)
    (array([0.1, 0.8]), array([0., 1.]), array([2., 2.]))
    """
    order = np.argsort(rows.mean, kind="stable")
    reached = np.cumsum(rows.weights[order]) - 0.5 * rows.weights[order]
    group = np.minimum((n_groups * reached / rows.weights.sum()).astype(int), n_groups - 1)
    group = np.maximum.accumulate(_ties(rows.mean[order], group))
    weights = rows.weights[order]
    counts = np.bincount(group, weights).astype(float)
    kept = counts > 0.0
    at = np.bincount(group, weights * rows.mean[order])[kept] / counts[kept]
    share = np.bincount(group, weights * rows.y[order])[kept] / counts[kept]
    return at, share, counts[kept]


def _ties(values: Vector, group: Any) -> Any:
    """Put rows of the same probability into the same group."""
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    return group[first][which]


def _shares_interval(successes: Vector, counts: Vector, level: float) -> tuple[Vector, Vector]:
    """Return Jeffreys' interval of shares, which is open where none or all are successes."""
    tail, failures = 0.5 - 0.5 * level, np.maximum(counts - successes, 0.0)
    low = betaincinv(successes + 0.5, failures + 0.5, tail)
    high = betaincinv(successes + 0.5, failures + 0.5, 1.0 - tail)
    return np.where(successes <= 0.0, 0.0, low), np.where(failures <= 0.0, 1.0, high)


def _draw_bars(ax: Any, rows: Predictions) -> None:
    """Draw below the picture how many rows have each probability."""
    counts, edges = np.histogram(rows.mean, 20, (0.0, 1.0), weights=rows.weights)
    heights = BARS * 0.9 * counts / counts.max()
    ax.bar(0.5 * (edges[1:] + edges[:-1]), heights, 0.045, bottom=-BARS - 0.02, color=ZERO)


def _unit_square(ax: Any, below: str, beside: str, bottom: float = 0.0) -> Any:
    """Return axes from 0 to 1 with the diagonal, their labels on two lines where classes have long names."""
    ax = axes_of(ax, WIDTH, HEIGHT)
    width, height = size_in_inches(ax)
    ax.plot((0.0, 1.0), (0.0, 1.0), "--", color=ZERO, linewidth=1.2)
    ax.set(xlabel=wrap_label(below, width), ylabel=wrap_label(beside, height))
    ax.set(xlim=(-0.02, 1.02), ylim=(bottom - 0.02, 1.02))
    return ax


def plot_roc(
    model: Any,
    X: Any = None,
    y: Any = None,
    offset: Any = None,
    exposure: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw how many rows of the second class are found against how many of the first are taken for it.

    The area under the curve is the probability that of two rows, one of each class, the right one has the
    higher probability; a half is chance.

    Parameters
    ----------
    model, X, y, offset, exposure, sample_weight, ax
        As in `plot_calibration`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import AdaptiveClassifier
    >>> X = [[k / 10.0] for k in range(40)]
    >>> model = AdaptiveClassifier(cv=5).fit(X, list("aaaaaaabab" * 2 + "bbbbbbabab" * 2))
    >>> plot_roc(model).get_title().splitlines()[0].split(" 0")[0]
    'area under the curve'
    """
    from sklearn.metrics import auc, roc_curve  # imported here: it is slow to import

    rows = predictions_of(model, X, y, "plot_roc", offset, exposure, sample_weight)
    check_two_classes(rows, "plot_roc")
    false, found, _ = roc_curve(rows.y, rows.mean, sample_weight=rows.weights, drop_intermediate=False)
    first, second = ("0", "1") if rows.classes is None else map(plot_label, rows.classes)
    ax = _unit_square(ax, f"share of {first} taken for {second}", f"share of {second} found")
    ax.plot(false, found, color=SELECTED, linewidth=2.0)
    ax.fill_between(false, 0.0, found, color=SELECTED, alpha=0.08, linewidth=0.0)
    return finish(ax, f"area under the curve {format_number(float(auc(false, found)))}", rows.source)
