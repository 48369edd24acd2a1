"""The table of coefficients of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress

import numpy as np

from horseshoe.families import Ordered
from horseshoe.report.number_text import format_ratios, format_share
from horseshoe.report.page.content import PER_SD, SELECTED_ONLY, Heading, Number, Row, Table
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.phrases import (
    counted,
    listed,
    named,
    numeral,
    numerals,
    percent_of,
)

# What infinite ends of intervals are sorted as.
LARGEST = 1e300
NOTHING = Number(None, "")


def table_of(effects: Sequence[Effects], level: float) -> Table:
    """Return the table of a model: a row for each column, and for each class of several.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> found = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)))
    >>> [number.text for number in table_of(found, 0.95).rows[0].numbers]
    ['3.001', '2.944', '3.057', '17.3', '<0.01']
    """
    class_ = Heading("Class", "the class whose odds against all others are explained")
    term = Heading("Belongs to", "the column of the data that the row stands for")
    there = (True, len(effects) > 1, any(one.names != one.terms for one in effects))
    names = compress((Heading("Column", ""), class_, term), there)
    rows = [
        Row(
            tuple(compress((one.names[j], str(one.label), one.terms[j]), there)),
            bool(one.selected[j]),
            _numbers(one, j),
        )
        for one in effects
        for j in one.ranked()
    ]
    rows.sort(key=lambda row: not row.selected)  # of several classes too the selected come first
    return Table(tuple(names), _headings(effects[0], level), tuple(rows), _note(effects))


def _headings(one: Effects, level: float) -> tuple[Heading, ...]:
    what, meaning = _effect_words(one)
    sure = f"of the {percent_of(level)} interval"
    found = [
        Heading(what, f"{meaning} when the column rises by one unit and the others stay"),
        Heading("From", f"the lower end {sure}"),
        Heading("To", f"the upper end {sure}"),
        Heading(PER_SD, "the same for one standard deviation of the column, so that sizes can be compared"),
    ]
    if one.inclusion is not None:
        found.append(Heading("Inclusion", "how sure the column is in: 0 surely not, 1 surely"))
    if one.shrinkage is not None:
        found.append(Heading("Shrinkage", "how far the prior pulls: 0 not at all, 1 to zero"))
    if one.sparse is not None:
        found.append(Heading(SELECTED_ONLY, "the effect in the model of the selected variables alone"))
    return tuple(found)


def _effect_words(one: Effects) -> tuple[str, str]:
    if isinstance(one.family, Ordered):
        return "Odds ratio", "what the odds of a higher level are multiplied by"
    if one.family.is_binary:
        return "Odds ratio", "what the odds are multiplied by"
    if one.family.ratio == "hazard_ratio":
        return "Hazard ratio", "what the hazard is multiplied by"
    if one.family.log_link:
        return "Rate ratio", "what the expected count is multiplied by"
    return "Effect", "the change of the response"


def _numbers(one: Effects, j: int) -> tuple[Number, ...]:
    ends = (float(one.coef[j]), float(one.lower[j]), float(one.upper[j]))
    write = _ratios if one.is_ratio else _together
    if ends == (0.0, 0.0, 0.0):  # exactly zero, without an interval
        found = [*write(ends[:1]), NOTHING, NOTHING, NOTHING]
    else:
        found = [*write(ends), *write((float(one.per_sd[j]),))]
    shares = [float(values[j]) for values in (one.inclusion, one.shrinkage) if values is not None]
    found += [_number(value, format_share(value)) for value in shares]
    if one.sparse is not None:
        found += write((float(one.sparse[j]),)) if one.sparse[j] else [NOTHING]
    return tuple(found)


def _together(values: Sequence[float]) -> list[Number]:
    return [_number(*pair) for pair in zip(values, numerals(values), strict=True)]


def _ratios(logs: Sequence[float]) -> list[Number]:
    with np.errstate(over="ignore"):
        values = np.exp(np.asarray(logs)).tolist()
    return [_number(*pair) for pair in zip(values, numerals(values, format_ratios), strict=True)]


def _number(value: float, text: str) -> Number:
    if math.isnan(value):
        return Number(None, text)
    return Number(float(f"{min(max(value, -LARGEST), LARGEST):.6g}"), text)


def _note(effects: Sequence[Effects]) -> str:
    """Say which column stands for which tied ones, and what the intercept is."""
    one, note = effects[0], "Selected columns are marked and stand first."
    if len(effects) == 1 and one.family.has_intercept and not isinstance(one.family, Ordered):
        unit = "log odds" if one.family.is_binary else "log of the mean"
        scale = f" (the {unit} where every column is 0)" if one.is_ratio else ""
        note += f" The intercept{scale} is {numeral(float(one.model.intercept_))}."
    tied = {
        (str(first), tuple(map(str, others)))
        for one in effects
        for first, others in getattr(one.model, "aliases_", {}).items()
    }
    if not tied:
        return note
    said = [f"{named(first)} stands for {listed(list(map(named, others)))}" for first, others in sorted(tied)]
    more = f", and so on for {counted(len(said) - 3, 'column')} more" if len(said) > 3 else ""
    return f"{note} Columns that are the same but for their unit: {'; '.join(said[:3])}{more}."
