"""Pictures of a posterior. Needs matplotlib, which the extra ``farrier[plot]`` installs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from farrier._checks import check_level, check_number
from farrier._extras import require
from farrier._types import Matrix, Vector
from farrier.families import Binomial
from farrier.report.plots import SELECTED, ZERO
from farrier.sampling import diagnostics

if TYPE_CHECKING:
    from farrier.posterior.draws import Posterior

MODE = "#c8553d"
CHAINS = (SELECTED, MODE, "#5fa8a0", "#e0a030", "#7a5c99", "#6b8e23")
SCALARS = ("intercept", "tau2", "sigma2", "nuisance")
"""Quantities that have a picture beside the coefficients; a column of the same name comes first."""
LOGARITHMIC = ("tau2", "sigma2", "nuisance")
INNER = 0.5
"""The probability in the thick part of an interval."""
BINS, RANK_BINS, MOST_BARS = 40, 20, 40
LONGEST = 30
"""Characters of a name; of a longer one the beginning and the end are shown."""
HEADROOM = 1.2
"""How much higher than the bars their axis is, for the legend."""
GRID, REACH = 512, 4.0
"""Points at which a density is computed, and how many bandwidths it reaches beyond the data."""


def plot_forest(
    posterior: Posterior,
    level: float = 0.95,
    *,
    kind: str = "equal_tailed",
    standardized: bool = True,
    most: int = 40,
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
    most : int, default=40
        Draw no more coefficients than this; the smallest are left out, and the title says how many.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from farrier import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> plot_forest(posterior).get_title()
    '50% and 95% intervals'
    """
    level, most = check_level(level), _at_least_one("most", most)
    wide, inner = (posterior.interval(probability, kind) for probability in (level, INNER))
    pyplot = require("matplotlib.pyplot", extra="plot")
    unit = posterior.mode.scale if standardized else np.ones_like(posterior.mode.scale)
    median, mode = posterior.median() * unit, posterior.mode.coef * unit
    order = np.argsort(-np.abs(median), kind="stable")[:most][::-1]
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7.0, 1.4 + 0.3 * order.size), layout="constrained")
    rows = np.arange(order.size)
    ax.axvline(0.0, color=ZERO, linewidth=1.0, zorder=0)
    for ends, width in ((wide, 1.2), (inner, 3.5)):
        ax.hlines(rows, *(ends * unit[:, None])[order].T, color=SELECTED, linewidth=width)
    ax.plot(median[order], rows, "o", color=SELECTED, label="posterior median")
    _draw_modes(ax, mode[order], rows - 0.3)
    ax.set_yticks(rows, [_shown(posterior.feature_names[j]) for j in order])
    ax.set_ylim(-0.8, order.size - 0.4)
    ax.set_xlabel("effect of one standard deviation" if standardized else "coefficient")
    left_out = median.size - order.size
    more = f" ({left_out} more not shown)" if left_out else ""
    ax.set_title(f"{_percent(INNER)} and {_percent(level)} intervals{more}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="best")
    return ax


def plot_trace(posterior: Posterior, names: Any = None, most: int = 5, axes: Any = None) -> Any:
    """Draw the path of every chain, and beside it the distribution of its draws.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    names : list of str, optional
        Columns of X, or "intercept", "tau2", "sigma2", "nuisance". If left out, the coefficients with the
        worst R-hat, and tau2 and sigma2 where they vary.
    most : int, default=5
        How many coefficients to draw if ``names`` is left out.
    axes : array of matplotlib.axes.Axes, optional
        Where to draw: two for each quantity.

    Returns
    -------
    array of matplotlib.axes.Axes, of shape (quantities, 2)

    Examples
    --------
    >>> from farrier import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> axes = plot_trace(posterior)
    >>> [str(left.get_title(loc="left")).split(":")[0] for left, _ in axes]
    ['x0', 'tau2', 'sigma2']
    """
    drawn = _quantities(posterior, names, _at_least_one("most", most), ("tau2", "sigma2"))
    pyplot = require("matplotlib.pyplot", extra="plot")
    if axes is None:
        size = (9.0, 0.3 + 1.7 * len(drawn))
        _, axes = pyplot.subplots(len(drawn), 2, figsize=size, squeeze=False, layout="constrained")
    axes = np.asarray(axes, dtype=object)
    if axes.size != 2 * len(drawn):
        raise ValueError(
            f"axes has shape {axes.shape}, but {len(drawn)} quantities are to be drawn: "
            f"two for each are needed, as in subplots({len(drawn)}, 2)"
        )
    axes = axes.reshape(-1, 2)
    for quantity, (left, right) in zip(drawn, axes, strict=True):
        _draw_trace(left, quantity)
        _draw_distribution(right, quantity)
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
    >>> from farrier import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> plot_rank(posterior, ["x0", "sigma2"]).shape
    (2,)
    """
    drawn = _quantities(posterior, names, _at_least_one("most", most), ())
    pyplot = require("matplotlib.pyplot", extra="plot")
    across = min(3, len(drawn))
    down = -(-len(drawn) // across)
    size = (0.4 + 3.2 * across, (0.8 + 0.4 * posterior.coef.shape[0]) * down)
    figure, grid = pyplot.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for unused in grid.ravel()[len(drawn) :]:
        unused.remove()
    axes = grid.ravel()[: len(drawn)]
    for quantity, ax in zip(drawn, axes, strict=True):
        _draw_ranks(ax, quantity)
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
    >>> from farrier import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), random_state=0)
    >>> len(plot_predictive(posterior, n_draws=20).lines)
    21
    """
    simulated = posterior.simulate(n_draws=_at_least_one("n_draws", n_draws))
    pyplot = require("matplotlib.pyplot", extra="plot")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7.0, 4.0), layout="constrained")
    ax.set_xlabel("y")
    observed, counts = posterior.rows.y, posterior.rows.counts
    if isinstance(posterior.family, Binomial):
        labels = (0, 1) if posterior.classes is None else posterior.classes
        _draw_classes(ax, np.vstack([observed, simulated]), counts, labels)
    elif posterior.family.discrete:
        _draw_counts(ax, np.vstack([observed, simulated]), counts)
    else:
        _draw_densities(ax, observed, simulated, counts)
        ax.legend(frameon=False, loc="best")
    ax.set_title("observed and simulated data")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


class Quantity(NamedTuple):
    """Something that has draws, of shape (chains, draws)."""

    name: str
    draws: Matrix
    logarithmic: bool = False


def _quantities(posterior: Posterior, names: Any, most: int, beside: tuple[str, ...]) -> list[Quantity]:
    """Return those that are named, or else the worst of the coefficients that vary and what is beside."""
    if names is not None:
        wanted = [names] if isinstance(names, str) else list(names)
        found = [quantity for name in wanted for quantity in _named(posterior, name)]
    else:
        vary = np.flatnonzero(np.ptp(posterior.coef, axis=(0, 1)))
        worst = vary[np.argsort(-posterior.rhat()[vary], kind="stable")[:most]]
        found = [Quantity(posterior.feature_names[j], posterior.coef[:, :, j]) for j in worst]
        scalars = (_scalar(posterior, name) for name in beside)
        found += [quantity for quantity in scalars if np.ptp(quantity.draws) > 0.0]
    if not found:
        raise ValueError("there is nothing to draw: names is empty, or no draw differs from another")
    return found


def _named(posterior: Posterior, name: Any) -> Iterable[Quantity]:
    """Return the columns of that name, or else the quantity beside them."""
    columns = [j for j, known in enumerate(posterior.feature_names) if known == name]
    if columns:
        return [Quantity(name, posterior.coef[:, :, j]) for j in columns]
    scalars = [scalar for scalar in SCALARS if getattr(posterior, scalar) is not None]
    if name in scalars:
        return [_scalar(posterior, name)]
    few = ", ".join(map(repr, posterior.feature_names[:5]))
    more = ", ..." if len(posterior.feature_names) > 5 else ""
    raise ValueError(
        f"names has {name!r}, which is no column: use names such as {few}{more}, "
        f"or one of {', '.join(map(repr, scalars))}"
    )


def _scalar(posterior: Posterior, name: str) -> Quantity:
    return Quantity(name, getattr(posterior, name), name in LOGARITHMIC)


def _draw_modes(ax: Any, mode: Vector, rows: Any) -> None:
    chosen, size = mode != 0.0, 4.0
    if chosen.any():
        ax.plot(mode[chosen], rows[chosen], "D", color=MODE, markersize=size, label="mode")
    if not chosen.all():
        hollow = {"color": ZERO, "fillstyle": "none", "label": "mode, exactly zero"}
        ax.plot(mode[~chosen], rows[~chosen], "D", markersize=size, **hollow)


def _draw_trace(ax: Any, quantity: Quantity) -> None:
    for chain, draws in enumerate(quantity.draws):
        ax.plot(draws, color=CHAINS[chain % len(CHAINS)], linewidth=0.5, alpha=0.8)
    if quantity.logarithmic:
        ax.set_yscale("log")
        _tick_logarithm(ax.yaxis, quantity.draws)
    rhat, ess = float(diagnostics.rhat(quantity.draws)), float(diagnostics.ess_bulk(quantity.draws))
    ax.set_title(f"{_shown(quantity.name)}: R-hat {rhat:.3f}, ESS {ess:.0f}", loc="left", fontsize="medium")
    ax.margins(x=0.0)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_distribution(ax: Any, quantity: Quantity) -> None:
    """Draw a histogram of each chain, without the outermost draws, which would squeeze the rest."""
    values = np.log(quantity.draws) if quantity.logarithmic else quantity.draws
    edges = np.histogram_bin_edges(values, BINS, range=tuple(np.quantile(values, (0.002, 0.998))))
    ends = np.exp(edges) if quantity.logarithmic else edges
    for chain, draws in enumerate(values):
        height = np.histogram(draws, edges)[0] / (draws.size * np.diff(edges))
        ax.stairs(height, ends, color=CHAINS[chain % len(CHAINS)], linewidth=1.2)
    if quantity.logarithmic:
        ax.set_xscale("log")
        _tick_logarithm(ax.xaxis, ends)
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)


def _tick_logarithm(axis: Any, values: Any) -> None:
    """Put few and plain numbers at a logarithmic axis; Matplotlib's own run into each other."""
    ticker = require("matplotlib.ticker", extra="plot")
    decades = float(np.log10(values.max() / values.min()))
    few = (
        ticker.MaxNLocator(4)
        if decades < 1.0
        else ticker.LogLocator(subs=(1, 2, 5)[: 3 if decades < 2.0 else 1])
    )
    axis.set_major_locator(few)
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def _draw_ranks(ax: Any, quantity: Quantity) -> None:
    """Draw a row of bars for each chain, the first at the top."""
    chains, length = quantity.draws.shape
    ordered = np.sort(quantity.draws, axis=None)
    below, up_to = (np.searchsorted(ordered, quantity.draws, side) for side in ("left", "right"))
    bins = int(np.clip(length // 10, 2, RANK_BINS))
    edges = np.linspace(0.0, ordered.size, bins + 1)
    counts = np.array([np.histogram(rank, edges)[0] for rank in 0.5 * (below + up_to)])
    unit = 0.9 / counts.max()
    for chain, count in enumerate(counts):
        base, color = chains - 1 - chain, CHAINS[chain % len(CHAINS)]
        ax.bar(edges[:-1], count * unit, np.diff(edges), base, align="edge", color=color, alpha=0.75)
        ax.axhline(base + length / bins * unit, color="black", linestyle=":", linewidth=0.8)
    ax.set_yticks(np.arange(chains) + 0.4, [str(chains - base) for base in range(chains)])
    ax.tick_params(axis="y", length=0.0)
    ax.set_title(_shown(quantity.name), fontsize="medium")
    ax.margins(x=0.0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _draw_classes(ax: Any, y: Matrix, counts: Vector, labels: Any) -> None:
    second = y @ counts / counts.sum()
    _draw_bars(ax, np.arange(2.0), 0.5, np.column_stack([1.0 - second, second]))
    ax.set_xticks([0, 1], [_shown(label) for label in labels])
    ax.set_xlim(-0.6, 1.6)


def _draw_counts(ax: Any, y: Matrix, counts: Vector) -> None:
    """Draw bars for the counts up to nearly the largest, as wide as it takes for them not to be too many."""
    low, high = np.floor(y.min()), np.ceil(max(np.quantile(y[0], 0.99), np.quantile(y[1:], 0.99)))
    width = max(1.0, np.ceil((high - low + 1.0) / MOST_BARS))
    edges = np.arange(low - 0.5, high + 0.5 + width, width)
    last = edges[-2] + 0.5
    shares = np.array([_shares(np.minimum(each, last), counts, edges) for each in y])
    _draw_bars(ax, 0.5 * (edges[1:] + edges[:-1]), 0.85 * width, shares)
    if y.max() > edges[-1]:
        ax.set_xlabel(f"y (last bar: {last:.0f} and more)")


def _draw_bars(ax: Any, middle: Vector, width: float, shares: Matrix) -> None:
    """Draw the shares in the first line as bars, and those in the others as points with intervals."""
    low, median, high = np.quantile(shares[1:], (0.05, 0.5, 0.95), axis=0)
    bars = ax.bar(middle, shares[0], width, color=ZERO, label="observed")
    ax.vlines(middle, low, high, color=SELECTED, linewidth=2.0)
    (points,) = ax.plot(
        middle, median, "o", color=SELECTED, markersize=4.0, label="simulated, median and 90%"
    )
    ax.set_ylim(0.0, HEADROOM * max(shares[0].max(), high.max()))
    ax.set_ylabel("share of the rows")
    ax.legend(handles=[bars, points], frameon=False, loc="upper right", ncols=2)


def _shares(y: Vector, counts: Vector, edges: Vector) -> Vector:
    return np.asarray(np.histogram(y, edges, weights=counts)[0] / counts.sum())


def _draw_densities(ax: Any, observed: Vector, simulated: Matrix, counts: Vector) -> None:
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
    ax.spines["left"].set_visible(False)


def _bandwidth(y: Vector, counts: Vector) -> float:
    """Return Silverman's bandwidth."""
    quarter, three = np.quantile(y, (0.25, 0.75))
    spread = min(np.std(y), (three - quarter) / 1.349) if three > quarter else np.std(y)
    return 0.9 * float(spread) * float(counts.sum() ** -0.2)


def _density(y: Vector, counts: Vector, grid: Vector, width: float) -> Vector:
    """Return a Gaussian kernel estimate: a fine histogram, smoothed."""
    step = grid[1] - grid[0]
    edges = np.append(grid - 0.5 * step, grid[-1] + 0.5 * step)
    reach = int(np.ceil(REACH * width / step))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    return np.asarray(np.convolve(_shares(y, counts, edges) / step, kernel / kernel.sum(), "same"))


def _at_least_one(name: str, value: Any) -> int:
    return int(check_number(name, value, low=1.0, low_allowed=True))


def _percent(level: float) -> str:
    return f"{100.0 * level:.6g}%"


def _shown(name: Any) -> str:
    """Return the name as it is written: not too long, and no dollar sign that would start mathematics."""
    text = str(name)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 13]}...{text[-10:]}"
    return text.replace("$", r"\$")
