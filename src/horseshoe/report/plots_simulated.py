"""The distribution of y beside those of simulated data: bars for classes and counts, densities otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.report.figure import SELECTED, ZERO, count_edges, plot_label

# How much higher than the bars their axis is, for the legend.
HEADROOM = 1.2
# Points at which a density is computed, and how many bandwidths it reaches beyond the data.
GRID, REACH = 512, 4.0


def draw_simulated(ax: Any, posterior: Any, simulated: Matrix) -> tuple[str, ...]:
    """Draw the distribution of y over those of simulated data; return which more lines around it to hide."""
    y, counts = np.vstack([posterior.rows.y, simulated]), posterior.rows.counts
    if posterior.family.is_binary:
        _draw_classes(ax, y, counts, (0, 1) if posterior.classes is None else posterior.classes)
    elif posterior.family.discrete:
        _draw_counts(ax, y, counts)
    else:
        _draw_densities(ax, y[0], simulated, counts)
        return ("left",)
    return ()


def _draw_classes(ax: Any, y: Matrix, counts: Vector, labels: Any) -> None:
    """Draw a bar for each of two classes; the first line of ``y`` is observed, the others are simulated."""
    second = y @ counts / counts.sum()
    _draw_bars(ax, np.arange(2.0), 0.5, np.column_stack([1.0 - second, second]))
    ax.set_xticks([0, 1], [plot_label(label) for label in labels])
    ax.set_xlim(-0.6, 1.6)


def _draw_counts(ax: Any, y: Matrix, counts: Vector) -> None:
    """Draw bars for the counts up to nearly the largest, as wide as it takes for them not to be too many."""
    edges = count_edges(y[0], y[1:], low=float(np.floor(y.min())))
    last, width = edges[-2] + 0.5, float(edges[1] - edges[0])
    shares = np.array([_shares(np.minimum(each, last), counts, edges) for each in y])
    _draw_bars(ax, 0.5 * (edges[1:] + edges[:-1]), 0.85 * width, shares)
    if y.max() > edges[-1]:
        ax.set_xlabel(f"y (last bar: {last:.0f} and more)")


def _draw_bars(ax: Any, middle: Vector, width: float, shares: Matrix) -> None:
    """Draw the shares in the first line as bars, and those in the others as points with intervals."""
    low, median, high = np.quantile(shares[1:], (0.05, 0.5, 0.95), axis=0)
    bars = ax.bar(middle, shares[0], width, color=ZERO, label="observed")
    ax.vlines(middle, low, high, color=SELECTED, linewidth=2.0)
    style = {"color": SELECTED, "markersize": 4.0, "label": "simulated, median and 90%"}
    (points,) = ax.plot(middle, median, "o", **style)
    ax.set_ylim(0.0, HEADROOM * max(shares[0].max(), high.max()))
    ax.set_ylabel("share of the rows")
    ax.legend(handles=[bars, points], frameon=False, loc="upper right", ncols=2)


def _shares(y: Vector, counts: Vector, edges: Vector) -> Vector:
    return np.asarray(np.histogram(y, edges, weights=counts)[0] / counts.sum())


def _draw_densities(ax: Any, observed: Vector, simulated: Matrix, counts: Vector) -> None:
    """Draw the density of the observed data over those of the simulated ones."""
    width = _bandwidth(observed, counts)
    ends = np.array([np.quantile(y, (0.002, 0.998)) for y in (observed, simulated)])
    grid = np.linspace(ends[:, 0].min() - REACH * width, ends[:, 1].max() + REACH * width, GRID)
    for draw, y in enumerate(simulated):
        label = "simulated" if draw == 0 else None
        ax.plot(grid, _density(y, counts, grid, width), color=ZERO, linewidth=0.7, alpha=0.7, label=label)
    ax.plot(grid, _density(observed, counts, grid, width), color=SELECTED, linewidth=2.0, label="observed")
    ax.set_yticks([])
    ax.set_ylim(bottom=0.0)
    ax.set_ylabel("density")
    ax.legend(frameon=False, loc="best")


def _bandwidth(y: Vector, counts: Vector) -> float:
    """Return Silverman's bandwidth."""
    quarter, three = np.quantile(y, (0.25, 0.75))
    spread = min(np.std(y), (three - quarter) / 1.349) if three > quarter else np.std(y)
    return 0.9 * float(spread) * float(counts.sum() ** -0.2)


def _density(y: Vector, counts: Vector, grid: Vector, width: float) -> Vector:
    """Return a Gaussian kernel estimate of a fine histogram: its time does not grow with the rows."""
    from scipy.stats import gaussian_kde  # imported here: it is slow to import

    half = 0.5 * (grid[1] - grid[0])
    shares = _shares(y, counts, np.append(grid - half, grid[-1] + half))
    unit = np.sqrt(np.cov(grid, aweights=shares))  # of which `gaussian_kde` wants the bandwidth to be a share
    return np.asarray(shares.sum() * gaussian_kde(grid, width / unit, weights=shares)(grid))
