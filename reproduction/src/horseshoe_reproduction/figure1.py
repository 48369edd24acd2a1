"""Figure 1: how lasso, horseshoe and horseshoe-like shrink a least squares estimate, in one dimension.

One observation b_LS ~ N(b, 1), and tau such that all three estimators are zero within the same distance of
the origin. The paper puts that at about 1, where its own Eq. (16), the mode of lambda2, cannot be: under it
the horseshoe is zero up to at least 1 + sqrt(2) whatever tau is, and jumps there. As the mode of lambda
(lambda power 1) it is zero up to sqrt(1 + 2 / tau2) and leaves zero without a jump, which is what the paper
describes: that is the horseshoe's curve here, and Eq. (16) at the same tau is drawn beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from horseshoe_reproduction.arrays import Vector
from horseshoe_reproduction.files import csv_text, write_picture
from horseshoe_reproduction.report import Block, Report
from horseshoe_reproduction.shrinkage import (
    horseshoe,
    horseshoe_like,
    horseshoe_like_jump,
    horseshoe_threshold,
    soft_threshold,
    solve_tau,
)

# The distance within which all are zero; the axes; how many points a curve has.
THRESHOLD, REACH, POINTS = 1.05, 5.0, 1001
LABELS = {
    "lasso": "lasso",
    "horseshoe": "horseshoe, mode of lambda",
    "horseshoe_lambda2": "horseshoe, mode of lambda2, Eq. (16)",
    "horseshoe_like": "horseshoe-like",
}
NOTE = """The lasso translates, the horseshoe firm-thresholds, the horseshoe-like jumps. The paper matches the
three within about 1 unit of the origin. No tau does that for its own Eq. (16), the mode of lambda2: with unit
noise it is zero up to at least 1 + sqrt(2), and jumps there. The mode of lambda does, without a jump; the
released code for normal means computes that one. Both are drawn."""
BLUE, GREY = "#1b4965", "#9a9a9a"


class Profiles(NamedTuple):
    """The curves: estimates at each ``b_ls``, and the tau of each estimator."""

    b_ls: Vector
    lasso: Vector
    horseshoe: Vector
    horseshoe_lambda2: Vector
    horseshoe_like: Vector
    tau: dict[str, float]


def profiles(n_points: int = POINTS, threshold: float = THRESHOLD) -> Profiles:
    """Compute the curves, with every tau such that the estimate is zero for |b_LS| up to ``threshold``.

    Examples
    --------
    >>> curves = profiles(n_points=11)
    >>> curves.lasso[-2:].round(2), curves.horseshoe[-2:].round(2), curves.horseshoe_like[-2:].round(2)
    (array([2.95, 3.95]), array([3.58, 4.63]), array([3.84, 4.86]))
    """
    tau = {
        "lasso": solve_tau(lambda tau: 1.0 / tau, threshold),
        "horseshoe": solve_tau(lambda tau: horseshoe_threshold(tau, lambda_power=1.0), threshold),
        "horseshoe_like": solve_tau(lambda tau: horseshoe_like_jump(tau)[0], threshold),
    }
    b_ls = np.linspace(-REACH, REACH, n_points)
    return Profiles(
        b_ls,
        soft_threshold(b_ls, 1.0 / tau["lasso"]),
        horseshoe(b_ls, tau["horseshoe"], lambda_power=1.0),
        horseshoe(b_ls, tau["horseshoe"], lambda_power=2.0),
        horseshoe_like(b_ls, tau["horseshoe_like"]),
        tau,
    )


def table(curves: Profiles) -> list[dict[str, float]]:
    """Return the curves as rows for a file.

    Examples
    --------
    >>> list(table(profiles(n_points=3))[0])
    ['b_ls', 'lasso', 'horseshoe', 'horseshoe_lambda2', 'horseshoe_like']
    """
    names = curves._fields[:-1]
    columns = [getattr(curves, name).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def table_csv(curves: Profiles) -> str:
    """Return the curves as CSV.

    Examples
    --------
    >>> print(table_csv(profiles(n_points=3)).splitlines()[2])
    0,0,0,0,0
    """
    rows = table(curves)
    return csv_text(list(rows[0]), ([f"{value:.6g}" for value in row.values()] for row in rows))


def report(curves: Profiles, about: dict[str, str]) -> Report:
    """Return what the curves show."""
    header = ["", "tau", "zero up to", "first estimate", "below the identity at 2", "at 3", "at 5"]
    rows = [
        [label, f"{curves.tau.get(name, curves.tau['horseshoe']):.3f}", *_shape(curves.b_ls, values)]
        for (name, label), values in zip(LABELS.items(), curves[1:-1], strict=True)
    ]
    return Report(
        "Figure 1: how three estimators shrink",
        f"One observation of unit variance; tau such that each is zero up to {THRESHOLD:g}.",
        [Block("The curves", header, rows)],
        [],
        (NOTE,),
        "horseshoe reproduce figure1",
        about,
    )


def _shape(b_ls: Vector, values: Vector) -> list[str]:
    """Return where a curve leaves zero, at which height, and how far below the identity it is further out."""
    first = int(np.flatnonzero((values > 0.0) & (b_ls > 0.0))[0])
    gaps = [x - float(np.interp(x, b_ls, values)) for x in (2.0, 3.0, 5.0)]
    return [f"{value:.2f}" for value in (b_ls[first - 1], values[first], *gaps)]


def draw_figure(path: Path, curves: Profiles) -> Path:
    """Draw the three panels; the end of the name says in which format. Needs matplotlib.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     draw_figure(Path(folder) / "figure1.svg", profiles(n_points=101)).name
    'figure1.svg'
    """
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    panels = {"lasso": "(a) Lasso", "horseshoe": "(b) Horseshoe", "horseshoe_like": "(c) Horseshoe-like"}
    for ax, (name, title) in zip(axes, panels.items(), strict=True):
        _panel(ax, curves, name, f"{title}, $\\tau$ = {curves.tau[name]:.3g}")
    axes[0].set_ylabel(r"posterior mode $\hat\beta$")
    _beside(axes[1], curves)
    return write_picture(path, figure)


def _panel(ax: Any, curves: Profiles, name: str, title: str) -> None:
    """Draw one curve beside the identity."""
    ends = [-REACH, REACH]
    ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1.0, zorder=1)
    ax.plot(*broken(curves.b_ls, getattr(curves, name)), color=BLUE, linewidth=2.0, zorder=3)
    ax.set(
        title=title, xlim=ends, ylim=ends, aspect="equal", xlabel=r"least squares $\hat\beta_{\mathrm{LS}}$"
    )
    ax.spines[["top", "right"]].set_visible(False)


def broken(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return the points of a curve with a gap where it jumps from zero or to it.

    Examples
    --------
    >>> broken(np.array([1.0, 2.0]), np.array([0.0, 1.5]))
    (array([ 1., nan,  2.]), array([0. , nan, 1.5]))
    """
    jumps = np.flatnonzero(((y[1:] == 0.0) != (y[:-1] == 0.0)) & (np.abs(np.diff(y)) > 0.2)) + 1
    return np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan)


def _beside(ax: Any, curves: Profiles) -> None:
    """Add Eq. (16) to the horseshoe's panel, and say which curve is which."""
    x, y = broken(curves.b_ls, curves.horseshoe_lambda2)
    ax.plot(x, y, color="#e07a5f", linewidth=1.2, zorder=2, label=r"mode of $\lambda^2$, Eq. (16)")
    ax.lines[1].set_label(r"mode of $\lambda$")
    ax.legend(handles=[ax.lines[1], ax.lines[2]], loc="upper left", frameon=False, fontsize="small")
