"""Sentences on the evidence: intervals, inclusion, what chance would give, and how the fit ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from horseshoe._types import Status
from horseshoe.report.number_text import format_share
from horseshoe.report.page.answer import SURE
from horseshoe.report.page.content import Fact
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.phrases import (
    counted,
    list_or_count,
    listed,
    named,
    numeral,
    percent_of,
)
from horseshoe.report.parts import is_average

# A weight of ridge from which effects are said to be spread over many columns.
DENSE = 0.5


def how_sure(effects: Sequence[Effects], level: float, method: str = "auto") -> tuple[str, ...]:
    """Return paragraphs: what the intervals are, what inclusion means, and what chance would give.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> found = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)))
    >>> print(how_sure(found, 0.95)[-1][:74])
    If no column had an effect, about 0.0135 columns would be selected from as
    """
    if is_average(effects[0].model):
        found = [_held_out(effects), _average_intervals(effects, level)]
        found += [_includes_null(effects, level), _inclusion(effects), _spread(effects)]
    else:
        found = [_mode_intervals(effects, level, method), _mode_outside(effects)]
        found += [_includes_null(effects, level), _by_chance(effects)]
    return tuple(paragraph for paragraph in found if paragraph)


def _average_intervals(effects: Sequence[Effects], level: float) -> str:
    p = len(effects[0].names) * len(effects)
    chance = (1.0 - level) * p
    beyond = (
        f" Each interval is for one column at a time: of {counted(p, 'column')} without any effect, about "
        f"{numeral(chance)} would by chance have an interval that does not hold zero."
        if chance >= 1.0
        else ""
    )
    return (
        f"The intervals are those of the averaged model, meant to hold the true effect in "
        f"{percent_of(level)} of cases. The average shrinks effects; the intervals are corrected for that "
        f"by what is left of rows that the fits had not seen.{beyond}"
    )


def _mode_intervals(effects: Sequence[Effects], level: float, method: str) -> str:
    if interval_method(effects[0], method) == "posterior":
        return (
            f"The {percent_of(level)} intervals are quantiles of draws from the whole posterior: given the "
            "model and its prior, the effect is in them with that probability. They do not take the "
            "selection as known, so a column that was left out has an interval too."
        )
    return (
        f"The {percent_of(level)} intervals are those of a normal distribution at the posterior mode. They "
        "take the selection as given, so they are narrower than they would be if it were not known which "
        "columns matter; a column that was left out has no interval of its own."
    )


def _mode_outside(effects: Sequence[Effects]) -> str:
    """Name the selected columns whose mode is not in its interval, as happens with draws."""
    odd = [
        named(one.names[j])
        for one in effects
        for j in one.ranked(one.selected & ~((one.lower <= one.coef) & (one.coef <= one.upper)))
    ]
    if not odd:
        return ""
    return (
        f"For {list_or_count(odd, 'columns')} the mode is not within the interval. The posterior is wide and "
        "lopsided there; where the two differ, the interval is the safer guide."
    )


def _includes_null(effects: Sequence[Effects], level: float) -> str:
    """Name the selected columns whose intervals include the null value."""
    weak = [
        named(one.names[j]) + ("" if one.label is None else f" ({named(one.label)})")
        for one in effects
        for j in one.ranked(one.uncertain)
    ]
    if not weak:
        return ""
    many, told = len(weak) > 1, list_or_count(weak, "selected columns")
    return (
        f"The {percent_of(level)} {'intervals' if many else 'interval'} of {told} "
        f"{'hold' if many else 'holds'} {effects[0].null}, which is no effect: "
        f"{'their directions are' if many else 'its direction is'} not sure."
    )


def _inclusion(effects: Sequence[Effects]) -> str:
    values = np.array([one.inclusion for one in effects]).max(axis=0)
    sure, open_ = int((values >= SURE).sum()), int(((values >= 0.5) & (values < SURE)).sum())
    more = f", and {open_:,} more one half" if open_ else ""
    return (
        "Inclusion says how sure it is that a column has an effect. It is the weighted share of fits that "
        "have the column, on a scale on which it was right on average in simulations; on other data it can "
        f"be off. Here {counted(sure, 'column')} {'reaches' if sure == 1 else 'reach'} {format_share(SURE)}"
        f"{more}. A column that is not selected need not be without effect: others may stand for it."
    )


def _spread(effects: Sequence[Effects]) -> str:
    weights = [
        next((float(row.weight) for row in one.model.components_ if row.name == "ridge"), 0.0)
        for one in effects
    ]
    if min(weights) < DENSE or not any(one.selected.any() for one in effects):
        return ""
    return (
        f"Ridge regression, which keeps every column, has most of the weight ({format_share(min(weights))} "
        "or more of 1): the effects look spread over many columns. Then inclusion is an order at best, and "
        "the selected columns stand for others too."
    )


def _held_out(effects: Sequence[Effects]) -> str:
    """Say how well rows are predicted that the fits had not seen."""
    shares = [one.model.statistics().cv_explained for one in effects]
    if any(found is None for found in shares):
        return ""
    what = "variance" if effects[0].family.squared_error else "deviance"
    said = [
        f"{percent_of(max(found or 0.0, 0.0))}" + ("" if one.label is None else f" for {named(one.label)}")
        for one, found in zip(effects, shares, strict=True)
    ]
    return f"Of rows that the fits had not seen, the average explains {listed(said)} of the {what}."


def _by_chance(effects: Sequence[Effects]) -> str:
    expected = sum(float(one.model.expected_by_chance_) for one in effects)
    found = sum(int(one.selected.sum()) for one in effects)
    are = "is" if found == 1 else "are"
    return (
        f"If no column had an effect, about {numeral(expected)} columns would be selected from as many rows "
        f"and columns; {found:,} {are}. That number is for columns that are not correlated, and a guide for "
        "others."
    )


def convergence(effects: Sequence[Effects]) -> tuple[str, ...]:
    """Return how each fit ended.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> found = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)))
    >>> print(convergence(found)[0])
    The fit converged: the coefficients changed by less than tol (9 iterations of EM).
    """
    said = []
    for one in effects:
        status = _ended(one.model)
        steps = getattr(one.model, "n_iter_", None)
        after = "" if steps is None else f" ({counted(int(steps), 'iteration')} of EM)"
        who = "The fit" if one.label is None else f"{named(one.label)} against the rest"
        said.append(f"{who} {status}{after}.")
        if getattr(one.model, "tau_at_bound_", False):
            said.append("The global scale tau stands at an end of its range: the data did not estimate it.")
    return tuple(dict.fromkeys(said))


def interval_method(one: Effects, method: str) -> str:
    """Return how the intervals of a mode were made: "mode" or "posterior".

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> fit = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> interval_method(effects_of(fit)[0], "auto")
    'mode'
    """
    return method if method != "auto" else one.family.interval


def _ended(model: Any) -> str:
    if is_average(model) and model.status_ is Status.CONVERGED:
        return f"is an average of {counted(len(model.components_), 'method')}, all of which could be fitted"
    text = str(model.status_)
    return text if text.startswith(("converged", "stopped")) else f"ended so: {text}"


def components(effects: Sequence[Effects]) -> tuple[Fact, ...]:
    """Return the components of an average with weight and error; nothing for a single mode.

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> found = effects_of(AdaptiveRegressor(cv=5).fit(x[:, None], x + np.sin(x)))
    >>> components(found)[0].label
    'null'
    """
    if not is_average(effects[0].model):
        return ()
    return tuple(
        Fact(
            row.name if one.label is None else f"{row.name} ({named(one.label)})",
            f"weight {format_share(row.weight)}, error on rows left out {numeral(row.error)}: {row.what}",
        )
        for one in effects
        for row in one.model.components_
    )
