"""Text of the answer: which variables matter, by how much, and what to be careful with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from horseshoe._types import Status
from horseshoe.families import Ordered
from horseshoe.report.number_text import format_ratios
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.phrases import (
    FEW,
    counted,
    list_or_count,
    listed,
    named,
    numerals,
    percent_of,
    typeset,
)
from horseshoe.report.page.uncertain import none_stands_out, uncertain_sentence
from horseshoe.report.parts import is_average

# Of an interval, in a sentence; the table has one more.
DIGITS = 2
# A ratio beyond it, or below its inverse, is told for one standard deviation: a unit is too much.
LARGE = 100.0
# Columns with less than this share of the largest effect take no part in what reproduces a response.
STRONGEST = 3
NEGLIGIBLE = 1e-3
# The inclusion from which a column that was left out is mentioned.
SURE = 0.9
# Endings that need no word of caution.
PLAIN = (Status.CONVERGED, Status.NOTHING_SELECTED, Status.NONE_STANDS_OUT)
# Endings that are the answer themselves.
EMPTY = (Status.CONSTANT_RESPONSE, Status.NO_COLUMNS, Status.BOUNDARY)


def answer(
    effects: Sequence[Effects], level: float, target: str, classes: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the answer: which columns matter, by how much, and what to be careful with.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> X = np.column_stack([x, np.sin(x * x)])
    >>> found = effects_of(HorseshoeRegressor().fit(X, 3.0 * x + np.cos(x)))
    >>> print(*answer(found, 0.95, "y"))
    1 of 2 variables matters for y: x0 (+3.00 per unit, 95 % interval from 2.94 to 3.06).
    """
    caution = cautions(effects)
    if not any(one.selected.any() for one in effects):
        return (_nothing(effects, target), *caution)
    if len(effects) > 1:
        return (*caution, *_classes(effects, target))
    one = effects[0]
    sure = replace(one, selected=one.selected & ~one.uncertain)
    said = ""
    if sure.selected.any():
        said = (
            _ratio_sentence(sure, level, target, classes)
            if one.is_ratio
            else _effect_sentence(sure, level, target)
        )
    found = (*caution, said, uncertain_sentence(one, target), _left_out(one))
    return tuple(sentence for sentence in found if sentence)


def cautions(effects: Sequence[Effects]) -> list[str]:
    """Return what the ending of the fits asks the reader to be careful with.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 300))
    >>> model = HorseshoeRegressor().fit(X, rng.standard_normal(100))
    >>> cautions(effects_of(model))[0][:60]
    'Be careful: this selection is no clearer than what noise alo'
    """
    found = []
    for status in dict.fromkeys(one.model.status_ for one in effects):
        if status in (*PLAIN, *EMPTY):
            continue
        where = [named(one.label) for one in effects if one.model.status_ is status and one.label is not None]
        of = f" (of {listed(where)})" if where else ""
        if status is Status.REPRODUCED:
            found += [_reproduced(one) for one in effects if one.model.status_ is status]
        else:
            found.append(_caution(status) + of + ".")
    return found


def _reproduced(one: Effects) -> str:
    """Name the selected columns that reproduce the response; others may be selected beside them."""
    order = one.ranked(one.selected)
    least = NEGLIGIBLE * abs(float(one.per_sd[order[0]]))
    found = [named(one.names[j]) for j in order if abs(float(one.per_sd[j])) > least]
    told = list_or_count(found, f"variables, {found[0]} the strongest,")
    what = "the response" if one.label is None else named(one.label)
    verb, them, they = ("reproduces", "it", "it is") if len(found) == 1 else ("reproduce", "them", "they are")
    return (
        f"Be careful: {told} {verb} {what} to rounding. Drop {them} if {they} computed from the response, or "
        f"the response from {them}."
    )


def _caution(status: Status) -> str:
    if status is Status.CHANCE:
        return "Be careful: this selection is no clearer than what noise alone would give"
    if status is Status.SEPARATED:
        return (
            "Be careful: the fit separates the classes perfectly, so that the prior and not the data decides "
            "how large the effects are"
        )
    if not status.converged:
        return "Be careful: the fit did not converge, and the numbers may change when it does"
    said = str(status).removeprefix("converged, but ")
    return f"Be careful: {said}"


def terms_of(effects: Sequence[Effects]) -> tuple[list[str], list[str]]:
    """Return the user's columns, and those of them that are selected in any regression.

    Examples
    --------
    >>> v, some = np.zeros(3), np.array([False, True, True])
    >>> terms_of([Effects(None, None, ["a", "b=1", "b=2"], ["a", "b", "b"], v, v, v, v, some)])
    (['a', 'b'], ['b'])
    """
    terms = list(dict.fromkeys(effects[0].terms))
    chosen = {term for one in effects for term in one.terms_of(one.ranked(one.selected))}
    return terms, [term for term in terms if term in chosen]


def _nothing(effects: Sequence[Effects], target: str) -> str:
    terms, _ = terms_of(effects)
    statuses = {one.model.status_ for one in effects}
    for status in EMPTY:
        if statuses == {status}:
            why = str(status).removeprefix("nothing to explain: ").removeprefix("nothing to fit: ")
            return f"There is nothing to say of {named(target)}: {why}."
    if Status.NONE_STANDS_OUT in statuses:
        return none_stands_out(effects, target)
    of, for_target = f"none of the {counted(len(terms), 'variable')}", f"for {named(target)}"
    if not is_average(effects[0].model):
        return (
            f"The mode selects {of} {for_target}. That does not show that none matters: with more variables "
            "than rows, where the fit starts may decide it."
        )
    if all(one.model.calibration_slope_ == 0.0 for one in effects):
        better = "No method predicts held-out rows better than the null model"
        return f"{better}, so {of} can be told from chance {for_target}."
    return f"The average selects {of} {for_target}."


def _opening(one: Effects, target: str) -> tuple[str, list[str], bool]:
    """Return how the answer begins, the terms it goes on with, and whether these are all."""
    terms, chosen = terms_of([one])
    status = one.model.status_
    ranked = one.terms_of(one.ranked(one.selected))
    verb = _verb(len(chosen), sure=status is not Status.CHANCE and status.converged)
    first = f"{len(chosen):,} of {counted(len(terms), 'variable')} {verb} for {named(target)}"
    return first, *_strongest(ranked)


def _strongest(ranked: list[str]) -> tuple[list[str], bool]:
    """Return the terms that are told, all if they are few, and whether these are all."""
    return (ranked, True) if len(ranked) <= FEW else (ranked[:STRONGEST], False)


def _verb(number: int, sure: bool) -> str:
    if not sure:
        return "is selected" if number == 1 else "are selected"
    return "matters" if number == 1 else "matter"


def _places(one: Effects, term: str) -> list[int]:
    """Return the selected columns that stand for a column of the user's, the strongest first."""
    return [j for j in one.ranked(one.selected) if one.terms[j] == term]


def _effect_sentence(one: Effects, level: float, target: str) -> str:
    first, told, all_told = _opening(one, target)
    said = [_effect_of(one, term, level, number == 0) for number, term in enumerate(told)]
    return f"{first}{': ' if all_told else '; the strongest are '}{listed(said)}."


def _effect_of(one: Effects, term: str, level: float, first: bool) -> str:
    places = _places(one, term)
    j, single = places[0], one.names[places[0]] == term
    coef, lower, upper = numerals(
        (float(one.coef[j]), float(one.lower[j]), float(one.upper[j])), digits=DIGITS
    )
    per = " per unit" if first and single else ""
    name = "" if single else f"{_level(one, j)} "
    interval = _interval(lower, upper, level, first, places)
    return f"{named(term)} ({name}{typeset(coef, sign=True)}{per}, {interval})"


def _interval(lower: str, upper: str, level: float, first: bool, places: list[int]) -> str:
    """Return an interval, the first with its level, and how many other levels a factor has."""
    sure = f"{percent_of(level)} interval from {lower} to {upper}" if first else f"{lower} to {upper}"
    more = len(places) - 1
    return f"{sure}; and {counted(more, 'other level')}" if more else sure


def _level(one: Effects, j: int) -> str:
    """Return the name of a level of a factor, without that of the factor where that comes first."""
    name = one.names[j]
    short = name.removeprefix(one.terms[j]).strip(" =:[]")
    return named(short or name)


def _ratio_sentence(one: Effects, level: float, target: str, classes: Sequence[str]) -> str:
    first, told, all_told = _opening(one, target)
    what = _multiplied(one, target, classes)
    said = [_ratio_of(one, term, level, number == 0) for number, term in enumerate(told)]
    strongest = "" if all_told else "For the strongest, "
    sentence = f"{what} multiplied {listed(said)}."
    return f"{first}. {strongest}{sentence[0].lower() if strongest else sentence[0]}{sentence[1:]}"


def _multiplied(one: Effects, target: str, classes: Sequence[str]) -> str:
    if one.family.is_binary:
        of = classes[1] if len(classes) == 2 else target
        return f"The odds of {named(of)} are"
    if isinstance(one.family, Ordered):
        return f"The odds of a higher {named(target)} are"
    return "The hazard is" if one.family.ratio == "hazard_ratio" else f"The mean of {named(target)} is"


def _ratio_of(one: Effects, term: str, level: float, first: bool) -> str:
    places = _places(one, term)
    j, single = places[0], one.names[places[0]] == term
    by_sd = single and abs(float(one.coef[j])) > np.log(LARGE)
    unit = float(one.per_sd[j] / one.coef[j]) if by_sd else 1.0
    with np.errstate(over="ignore"):
        values = np.exp([unit * one.coef[j], unit * one.lower[j], unit * one.upper[j]]).tolist()
    ratio, lower, upper = numerals(values, format_ratios, DIGITS)
    if single:
        what = f"per {'standard deviation' if by_sd else 'unit'} of {named(term)}"
    else:
        what = f"where {named(term)} is {_level(one, j)}"
    return f"by {ratio} {what} ({_interval(lower, upper, level, first, places)})"


def _left_out(one: Effects) -> str:
    """Say which variables have an effect by their intervals, although they are not selected."""
    if one.inclusion is None:
        return ""
    clear = ~one.selected & ((one.lower > 0.0) | (one.upper < 0.0)) & (one.inclusion >= SURE)
    _, chosen = terms_of([one])
    names = [named(term) for term in one.terms_of(one.ranked(clear)) if term not in chosen]
    if not names:
        return ""
    if len(names) > STRONGEST:
        return (
            f"{counted(len(names), 'variable')} that are not selected, {names[0]} the strongest, have "
            f"intervals that exclude {one.null}."
        )
    if len(names) == 1:
        return f"{names[0]} is not selected, but has an interval that excludes {one.null}."
    return f"{listed(names)} are not selected, but have intervals that exclude {one.null}."


def _classes(effects: Sequence[Effects], target: str) -> list[str]:
    sure = [replace(one, selected=one.selected & ~one.uncertain) for one in effects]
    terms, chosen = terms_of(sure)
    said = [_classes_told_apart(sure, terms, chosen, target)] if chosen else []
    uncertain = [named(term) for term in terms_of(effects)[1] if term not in chosen]
    if uncertain:
        told, are = list_or_count(uncertain, "more"), "is" if len(uncertain) == 1 else "are"
        every = f"every interval includes {effects[0].null}"
        none = "" if chosen else f"No variable is sure to tell apart the classes of {named(target)}: "
        said.append(f"{none}{told} {are} selected{' too' if chosen else ''}, but {every}.")
    return said


def _classes_told_apart(
    effects: Sequence[Effects], terms: Sequence[str], chosen: Sequence[str], target: str
) -> str:
    """Say which columns tell which classes apart."""
    places = {term: [(one, found) for one in effects if (found := _places(one, term))] for term in chosen}
    largest = {
        term: max(abs(float(one.per_sd[found[0]])) for one, found in each) for term, each in places.items()
    }
    told, all_told = _strongest(sorted(chosen, key=lambda term: -largest[term]))
    said = [
        f"{named(term)} (for {listed([named(str(one.label)) for one, _ in places[term]])})" for term in told
    ]
    verb = _verb(len(chosen), sure=not cautions(effects))
    first = f"{len(chosen):,} of {counted(len(terms), 'variable')} {verb}"
    apart = f"for telling apart the classes of {named(target)}"
    return f"{first} {apart}{': ' if all_told else '; the strongest are '}{listed(said)}."
