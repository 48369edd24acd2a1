"""Pictures of how a fit was found: the steps of EM, the components of an average, what the prior shrinks."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import Iteration
from horseshoe.em.m_step import Hyper
from horseshoe.model.profile import shrinkage_profile
from horseshoe.priors import LocalPrior, resolve_global, resolve_known
from horseshoe.report.figure import (
    CHAINS,
    LINE_STYLES,
    MODE,
    SELECTED,
    ZERO,
    axes_of,
    break_at_jumps,
    finish,
    plot_label,
)
from horseshoe.report.number_text import format_number
from horseshoe.report.parts import one_part, part_labels, parts_of

# How far from zero a profile goes, in standard errors, and how many points it has.
ENTRY = 2.0
REACH, POINTS = 8.0, 801


def plot_convergence(model: Any, ax: Any = None) -> Any:
    """Draw the change of the coefficients at each iteration of EM, and how many columns are still in.

    Parameters
    ----------
    model : HorseshoeRegressor or HorseshoeClassifier
        A fitted model; of several classes each has a line.
    ax : matplotlib.axes.Axes, optional
        Where to draw; the number of columns has an axis of its own at the right.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> ax = plot_convergence(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)))
    >>> ax.get_xlabel(), ax.get_yscale()
    ('iteration', 'log')
    """
    parts = parts_of(model)
    if not hasattr(parts[0], "trace_"):
        raise ValueError(
            f"{type(model).__name__} averages many fits and has no single trace: look at plot_components"
        )
    traces = [part.trace_ for part in parts]
    if not any(traces):
        raise ValueError(f"there was nothing to iterate: {parts[0].status_}")
    ax = axes_of(ax, 6.5, 4.0)
    for place, (label, trace) in enumerate(zip(part_labels(model), traces, strict=True)):
        changes = np.array([line.change for line in trace])
        at, seen = np.arange(1, changes.size + 1), changes > 0.0  # nothing else has a logarithm
        style = {"color": CHAINS[place % len(CHAINS)], "linestyle": LINE_STYLES[place % len(LINE_STYLES)]}
        marker, name = "o" if changes.size <= 60 else None, "change" if label is None else plot_label(label)
        ax.plot(at[seen], changes[seen], marker=marker, markersize=3.5, label=name, **style)
    tol = float(model.tol)
    ax.axhline(tol, color=ZERO, linewidth=1.0, linestyle=":", label="tol")
    ax.set_yscale("log")
    ax.set(xlabel="iteration", ylabel="change of the coefficients")
    ax.xaxis.get_major_locator().set_params(integer=True)
    _draw_active(ax, traces)
    heights = [tol, *(line.change for trace in traces for line in trace if line.change > 0.0)]
    low, high = min(heights), max(heights)
    room = 10.0**0.1 * (high / low) ** 0.05
    n_iter = max(len(trace) for trace in traces)
    title = f"{n_iter:,} iteration{'' if n_iter == 1 else 's'}"
    return finish(ax, title, _ended(parts), legend=(low / room, high * room), entry=ENTRY, hide=("top",))


def _draw_active(ax: Any, traces: list[tuple[Iteration, ...]]) -> None:
    """Draw how many columns are still in, as steps with an axis at the right."""
    right = ax.twinx()
    for trace in traces:
        active = [line.n_active for line in trace]
        right.step(np.arange(1, len(active) + 1), active, where="post", color=MODE, linewidth=1.2, alpha=0.8)
    top = max(line.n_active for trace in traces for line in trace)
    right.set_ylim(0.0, 1.35 * max(top, 1))
    right.set_ylabel("columns still in (steps)", color=MODE)
    right.yaxis.get_major_locator().set_params(integer=True)
    right.tick_params(axis="y", labelcolor=MODE)
    right.spines["top"].set_visible(False)


def _ended(parts: list[Any]) -> str:
    """Return the first words of how the fits ended, if all ended alike."""
    found = {str(part.status_).split(":")[0].split(",")[0] for part in parts}
    return found.pop() if len(found) == 1 else ""


def plot_components(model: Any, ax: Any = None) -> Any:
    """Draw how well each component of an average predicts rows that it has not seen, and how much it counts.

    Parameters
    ----------
    model : AdaptiveRegressor or AdaptiveClassifier
        A fitted model; of more than two classes, one of its ``estimators_``.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> x = np.arange(20.0)
    >>> ax = plot_components(AdaptiveRegressor(cv=5).fit(x[:, None], x + np.sin(x)))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['average', 'mixture_forward', 'mixture_horseshoe', 'ridge', 'null']
    """
    if not hasattr(parts_of(model)[0], "components_"):
        raise ValueError(
            f"{type(model).__name__} is a single mode and averages nothing: look at plot_convergence"
        )
    part = one_part(model, "plot_components")
    if not part.components_:
        raise ValueError(f"plot_components has nothing to draw: {part.status_}")
    rows = [*part.components_][::-1]
    names = ["average", *(row.name for row in rows)]
    errors = np.array([part.cv_error_, *(row.error for row in rows)])
    ax = axes_of(ax, 6.5, 1.4 + 0.35 * len(names))
    at = np.arange(len(names))
    ax.hlines(at, errors.min(), errors, color=ZERO, linewidth=1.0)
    ax.plot(errors[1:], at[1:], "o", color=SELECTED)
    ax.plot(errors[:1], at[:1], "D", color=MODE)
    ax.set_yticks(at, names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    weights = ax.secondary_yaxis("right")
    weights.set_yticks(at, ["", *(f"weight {row.weight:.2f}" for row in rows)])
    weights.tick_params(length=0.0, labelsize="small")
    weights.spines["right"].set_visible(False)
    what = "mean squared error" if part.family_.squared_error else "mean deviance, up to a constant,"
    ax.set_xlabel(f"{what} of rows left out")
    return finish(ax, "what is averaged")


def plot_shrinkage_profile(
    prior: Any = "horseshoe",
    lambda_power: float = 2.0,
    tau: float = 1.0,
    n: float = 100.0,
    *,
    ax: Any = None,
) -> Any:
    """Draw what becomes of a least-squares estimate, as a function of its size in standard errors.

    The column is on its own, or orthogonal to the others. Below some size the estimate is zero; how far above
    it is pulled towards zero is the distance to the diagonal.

    Parameters
    ----------
    prior : str, LocalPrior, or a fitted HorseshoeRegressor or HorseshoeClassifier, default="horseshoe"
        The prior; a model has the other arguments too.
    lambda_power : float, default=2.0
        As in `HorseshoeRegressor`.
    tau : float, default=1.0
        The global scale.
    n : float, default=100.0
        The number of rows.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> plot_shrinkage_profile("lasso", n=50).get_xlabel()
    'least-squares estimate, in standard errors'
    """
    hyper, size, what = _prior_of(prior, lambda_power, tau, n)
    z = np.linspace(-REACH, REACH, POINTS)
    estimate = shrinkage_profile(hyper, size, z)
    ax = axes_of(ax, 5.2, 5.2)
    ax.plot((-REACH, REACH), (-REACH, REACH), "--", color=ZERO, linewidth=1.2)
    ax.axhline(0.0, color=ZERO, linewidth=0.8)
    ax.plot(*break_at_jumps(z, estimate), color=SELECTED, linewidth=2.0)
    zero = float(np.abs(z[estimate == 0.0]).max(initial=0.0))
    note = "" if zero == 0.0 else f"zero up to {format_number(zero, 2)} standard errors"
    ax.set(xlabel="least-squares estimate, in standard errors", ylabel="posterior mode, in the same unit")
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
    return finish(ax, what, note)


def _prior_of(prior: Any, lambda_power: Any, tau: Any, n: Any) -> tuple[Hyper, float, str]:
    """Return the prior, n tau2, and what to call it."""
    if isinstance(prior, str | LocalPrior):
        tau = check_number("tau", tau)
        hyper = Hyper(
            resolve_known(prior),
            check_number("lambda_power", lambda_power, high=2.0),
            resolve_global(tau, 1.0),
        )
        size = check_number("n", n) * tau * tau
        name = prior if isinstance(prior, str) else type(prior).__name__
        return hyper, size, f"{name}, lambda power {lambda_power:g}, tau {tau:g}, n {n:g}"
    parts = parts_of(prior)
    if len(parts) > 1 or not hasattr(parts[0], "trace_"):
        raise ValueError(
            f"{type(prior).__name__} has no single prior: give a HorseshoeRegressor, a HorseshoeClassifier "
            "of two classes, or the name of a prior"
        )
    part = parts[0]
    result, hyper = part._fitted.result, part._fitted.hyper
    if hyper is None or result.intercept_variance <= 0.0:
        raise ValueError(f"plot_shrinkage_profile has nothing to draw: {part.status_}")
    rows = result.scales.sigma2 / result.intercept_variance
    name = type(hyper.local).__name__
    tau = float(np.sqrt(part.tau2_))
    text = f"{name}, lambda power {hyper.lambda_power:g}, tau {format_number(tau)}, n {format_number(rows)}"
    return hyper, rows * part.tau2_, text
