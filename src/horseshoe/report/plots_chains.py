"""Which quantities of a posterior to draw, and the panels that show their draws chain by chain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix
from horseshoe.report.figure import CHAINS, log_ticks, unique_labels, unit_of
from horseshoe.sampling import diagnostics

if TYPE_CHECKING:
    from horseshoe.posterior.draws import Posterior

# Quantities that have a picture beside the coefficients; a column of the same name comes first.
SCALARS = ("intercept", "tau2", "sigma2", "nuisance", "a", "b")
UNITS = {
    "intercept": "linear predictor where every column is 0",
    "tau2": "squared global scale",
    "sigma2": "squared scale of the noise, in squared units of y",
    "a": "shape of the prior at zero",
    "b": "shape of the prior in the tail",
}
LOGARITHMIC = ("tau2", "sigma2", "nuisance", "a", "b")
BINS, RANK_BINS = 40, 20


class Quantity(NamedTuple):
    """Something that has draws, of shape (chains, draws)."""

    name: str
    draws: Matrix
    unit: str
    logarithmic: bool = False


def quantities(posterior: Posterior, names: Any, most: int, beside: tuple[str, ...]) -> list[Quantity]:
    """Return those that are named, or else the worst of the coefficients that vary and what is beside."""
    if names is not None:
        wanted = [names] if isinstance(names, str) else list(names)
        found = [quantity for name in wanted for quantity in _named(posterior, name)]
    else:
        vary = np.flatnonzero(np.ptp(posterior.coef, axis=(0, 1)))
        worst = vary[np.argsort(-posterior.rhat()[vary], kind="stable")[:most]]
        found = _coefficients(posterior, worst)
        scalars = (_scalar(posterior, name) for name in beside)
        found += [quantity for quantity in scalars if np.ptp(quantity.draws) > 0.0]
    if not found:
        raise ValueError("there is nothing to draw: names is empty, or no draw differs from another")
    return found


def _named(posterior: Posterior, name: Any) -> Iterable[Quantity]:
    """Return the columns of that name, or else the quantity beside them."""
    columns = [j for j, known in enumerate(posterior.feature_names) if known == name]
    if columns:
        return _coefficients(posterior, columns)
    scalars = [scalar for scalar in SCALARS if getattr(posterior, scalar) is not None]
    if name in scalars:
        return [_scalar(posterior, name)]
    few = ", ".join(map(repr, posterior.feature_names[:5]))
    more = ", ..." if len(posterior.feature_names) > 5 else ""
    raise ValueError(
        f"names has {name!r}, which is no column: use names such as {few}{more}, "
        f"or one of {', '.join(map(repr, scalars))}"
    )


def _coefficients(posterior: Posterior, columns: Any) -> list[Quantity]:
    names = unique_labels([posterior.feature_names[j] for j in columns], columns)
    unit = unit_of(posterior.family, posterior.classes, "one unit")
    return [Quantity(name, posterior.coef[:, :, j], unit) for name, j in zip(names, columns, strict=True)]


def _scalar(posterior: Posterior, name: str) -> Quantity:
    unit = UNITS.get(name, "")
    if name == "nuisance":
        unit = f"{posterior.family.nuisance} of {type(posterior.family).__name__}".replace("_ ", " ")
    return Quantity(name, getattr(posterior, name), unit, name in LOGARITHMIC)


def draw_trace(ax: Any, quantity: Quantity) -> None:
    """Draw the path of each chain, with R-hat and the effective sample size above."""
    for chain, draws in enumerate(quantity.draws):
        ax.plot(draws, color=CHAINS[chain % len(CHAINS)], linewidth=0.5, alpha=0.8)
    if quantity.logarithmic:
        ax.set_yscale("log")
        log_ticks(ax.yaxis, quantity.draws)
    rhat, ess = float(diagnostics.rhat(quantity.draws)), float(diagnostics.ess_bulk(quantity.draws))
    ax.set_title(f"{quantity.name}: R-hat {rhat:.3f}, ESS {ess:.0f}", loc="left", fontsize="small")
    ax.margins(x=0.0)
    ax.spines[["top", "right"]].set_visible(False)


def draw_distribution(ax: Any, quantity: Quantity) -> None:
    """Draw a histogram of each chain, without the outermost draws, which would squeeze the rest."""
    values = np.log(quantity.draws) if quantity.logarithmic else quantity.draws
    edges = np.histogram_bin_edges(values, BINS, range=tuple(np.quantile(values, (0.002, 0.998))))
    ends = np.exp(edges) if quantity.logarithmic else edges
    for chain, draws in enumerate(values):
        height = np.histogram(draws, edges)[0] / (draws.size * np.diff(edges))
        ax.stairs(height, ends, color=CHAINS[chain % len(CHAINS)], linewidth=1.2)
    if quantity.logarithmic:
        ax.set_xscale("log")
        log_ticks(ax.xaxis, ends)
    else:
        ax.locator_params(axis="x", nbins=5)
    ax.set_title(quantity.unit, loc="left", fontsize="small")
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)


def draw_ranks(ax: Any, quantity: Quantity) -> None:
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
    ax.set_title(quantity.name, fontsize="medium")
    ax.margins(x=0.0)
    ax.spines[["top", "right", "left"]].set_visible(False)
