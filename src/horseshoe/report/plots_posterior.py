"""Pictures of a posterior. Needs matplotlib, which the extra ``horseshoe[plot]`` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from horseshoe._checks import check_level
from horseshoe._extras import require
from horseshoe.report.figure import (
    MODE,
    SELECTED,
    axes_of,
    check_count,
    coefficient_axes,
    draw_marks,
    finish,
    finish_coefficients,
    percent,
    scaled_unit,
    strongest,
    subset_note,
)
from horseshoe.report.plots_chains import draw_distribution, draw_ranks, draw_trace, quantities
from horseshoe.report.plots_simulated import draw_simulated

if TYPE_CHECKING:
    from horseshoe.posterior.draws import Posterior

# The probability in the thick part of an interval.
INNER = 0.5


def plot_forest(
    posterior: Posterior,
    level: float = 0.95,
    *,
    kind: str = "equal_tailed",
    standardized: bool = True,
    most: int = 30,
    ax: Any = None,
) -> Any:
    """Draw the posterior medians with their intervals, the largest at the top, and the mode below each.

    The thick part of an interval has a probability of one half. Where the mode is exactly zero it is hollow.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    level : float, default=0.95
        The probability in the intervals.
    kind : {"equal_tailed", "highest_density"}, default="equal_tailed"
        Which intervals.
    standardized : bool, default=True
        Draw the effect of one standard deviation of each column, so that sizes can be compared.
    most : int, default=30
        Draw no more coefficients than this: the strongest by the effect of one standard deviation. The title
        says so.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> plot_forest(posterior).get_title()
    '50% and 95% intervals of the posterior'
    """
    level, most = check_level(level), check_count("most", most)
    family, scale = posterior.family, posterior.mode.scale
    unit, label = scaled_unit(standardized, scale, family, posterior.classes)
    median, mode = posterior.median() * unit, posterior.mode.coef * unit
    order = np.arange(median.size) if median.size <= most else strongest(posterior.median() * scale, most)
    order = order[strongest(median[order], most)]
    intervals = [posterior.interval(probability, kind) * unit[:, None] for probability in (level, INNER)]
    ax, heights = coefficient_axes(ax, posterior.feature_names, order, label)
    for ends, width in zip(intervals, (1.2, 3.5), strict=True):
        ax.hlines(heights, *ends[order].T, color=SELECTED, linewidth=width)
    ax.plot(median[order], heights, "o", color=SELECTED, label="posterior median")
    modes, labels = mode[order], ("mode", "mode, exactly zero")
    draw_marks(ax, modes, heights - 0.3, modes != 0.0, labels, "D", color=MODE, markersize=4.0)
    title = f"{percent(INNER)} and {percent(level)} intervals of the posterior"
    return finish_coefficients(ax, order.size, title, subset_note(order.size, median.size))


def plot_trace(posterior: Posterior, names: Any = None, most: int = 5, axes: Any = None) -> Any:
    """Draw the path of every chain, and beside it the distribution of its draws.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    names : list of str, optional
        Columns of X, or "intercept", "tau2", "sigma2", "nuisance", "a", "b". If left out, the coefficients
        with the worst R-hat, and tau2 and sigma2 where they vary.
    most : int, default=5
        How many coefficients to draw if ``names`` is left out.
    axes : array of matplotlib.axes.Axes, optional
        Where to draw: two for each quantity.

    Returns
    -------
    array of matplotlib.axes.Axes, of shape (quantities, 2)

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> axes = plot_trace(posterior)
    >>> [str(left.get_title(loc="left")).split(":")[0] for left, _ in axes]
    ['x0', 'tau2', 'sigma2']
    """
    drawn = quantities(posterior, names, check_count("most", most), ("tau2", "sigma2"))
    pyplot = require("matplotlib.pyplot", extra="plot")
    if axes is None:
        size = (10.0, 0.3 + 1.7 * len(drawn))
        _, axes = pyplot.subplots(len(drawn), 2, figsize=size, squeeze=False, layout="constrained")
    axes = np.asarray(axes, dtype=object)
    if axes.size != 2 * len(drawn):
        raise ValueError(
            f"axes has shape {axes.shape}, but {len(drawn)} quantities are to be drawn: "
            f"two for each are needed, as in subplots({len(drawn)}, 2)"
        )
    axes = axes.reshape(-1, 2)
    for quantity, (left, right) in zip(drawn, axes, strict=True):
        draw_trace(left, quantity)
        draw_distribution(right, quantity)
    axes[-1, 0].set_xlabel("draw")
    return axes


def plot_rank(posterior: Posterior, names: Any = None, most: int = 6) -> Any:
    """Draw, for each chain, the histogram of the ranks of its draws among those of all chains.

    Chains that agree have flat histograms, near the dotted line.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    names : list of str, optional
        As in `plot_trace`. If left out, the coefficients with the worst R-hat.
    most : int, default=6
        How many of them.

    Returns
    -------
    array of matplotlib.axes.Axes, one for each quantity

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> plot_rank(posterior, ["x0", "sigma2"]).shape
    (2,)
    """
    drawn = quantities(posterior, names, check_count("most", most), ())
    pyplot = require("matplotlib.pyplot", extra="plot")
    across = min(3, len(drawn))
    down = -(-len(drawn) // across)
    size = (0.4 + 3.2 * across, (0.8 + 0.4 * posterior.coef.shape[0]) * down)
    figure, grid = pyplot.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for unused in grid.ravel()[len(drawn) :]:
        unused.remove()
    axes = grid.ravel()[: len(drawn)]
    for quantity, ax in zip(drawn, axes, strict=True):
        draw_ranks(ax, quantity)
    figure.supxlabel("rank among the draws of all chains", fontsize="medium")
    figure.supylabel("chain", fontsize="medium")
    return axes


def plot_predictive(posterior: Posterior, n_draws: int = 50, ax: Any = None) -> Any:
    """Draw the distribution of y beside those of data that the posterior simulates for the same rows.

    Densities where y is continuous; of counts and of two classes bars, with the median and the 90% interval
    of the simulated ones, the largest counts in the last bar. Rows count with their sample weights.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    n_draws : int, default=50
        How many data sets to simulate.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> len(plot_predictive(posterior, n_draws=20).lines)
    21
    """
    simulated = posterior.simulate(n_draws=check_count("n_draws", n_draws))
    ax = axes_of(ax, 7.0, 4.0)
    ax.set_xlabel("y")
    hide = draw_simulated(ax, posterior, simulated)
    return finish(ax, "observed and simulated data", hide=("top", "right", *hide))
