"""The answer in a sentence or two, computed from the fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from horseshoe._types import Status
from horseshoe.families import Ordered
from horseshoe.report.digits import ratios
from horseshoe.report.page.effects import Effects, is_average
from horseshoe.report.page.numbers import alike, counted, listed, named, percent_of, pretty
from horseshoe.report.page.short import FEW, clearly, none_stands_out, together

DIGITS = 2
"""Of an interval, in a sentence; the table has one more."""
LARGE = 100.0
"""A ratio beyond it, or below its inverse, is told for one standard deviation: a unit is too much."""
STRONGEST = 3
NEGLIGIBLE = 1e-3
"""Columns with less than this share of the largest effect take no part in what reproduces a response."""
SURE = 0.9
"""The inclusion from which a column that was left out is mentioned."""
PLAIN = (Status.CONVERGED, Status.NOTHING_SELECTED, Status.NONE_STANDS_OUT)
"""Endings that need no word of caution."""
EMPTY = (Status.CONSTANT_RESPONSE, Status.NO_COLUMNS, Status.BOUNDARY)
"""Endings that are the answer themselves."""


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
    one, sure = effects[0], clearly(effects[0])
    said = ""
    if sure.selected.any():
        ratio = one.is_ratio
        said = (
            _ratio_sentence(sure, level, target, classes) if ratio else _plain_sentence(sure, level, target)
        )
    found = (*caution, said, together(one, null(one), target), _left_out(one))
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
    order = [j for j in one.strongest().tolist() if one.selected[j]]
    least = NEGLIGIBLE * abs(float(one.per_sd[order[0]]))
    found = [named(one.names[j]) for j in order if abs(float(one.per_sd[j])) > least]
    told = listed(found) if len(found) <= FEW else f"{len(found):,} variables, {found[0]} the strongest,"
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


def terms_of(effects: Iterable[Effects]) -> tuple[list[str], list[str]]:
    """Return the user's columns, and those of them that are selected in any regression.

    Examples
    --------
    >>> v, some = np.zeros(3), np.array([False, True, True])
    >>> terms_of([Effects(None, None, ["a", "b=1", "b=2"], ["a", "b", "b"], v, v, v, v, some)])
    (['a', 'b'], ['b'])
    """
    parts = list(effects)
    terms = list(dict.fromkeys(parts[0].terms))
    chosen = {term for one in parts for term, kept in zip(one.terms, one.selected, strict=True) if kept}
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
    ranked = list(dict.fromkeys(one.terms[j] for j in one.strongest() if one.selected[j]))
    verb = _verb(len(chosen), sure=status is not Status.CHANCE and status.converged)
    all_told = len(ranked) <= FEW
    first = f"{len(chosen):,} of {counted(len(terms), 'variable')} {verb} for {named(target)}"
    return first, ranked if all_told else ranked[:STRONGEST], all_told


def _verb(number: int, sure: bool) -> str:
    if not sure:
        return "is selected" if number == 1 else "are selected"
    return "matters" if number == 1 else "matter"


def _places(one: Effects, term: str) -> list[int]:
    """Return the selected columns that stand for a column of the user's, the strongest first."""
    return [j for j in one.strongest().tolist() if one.selected[j] and one.terms[j] == term]


def _plain_sentence(one: Effects, level: float, target: str) -> str:
    first, told, all_told = _opening(one, target)
    said = [_plain_term(one, term, level, number == 0) for number, term in enumerate(told)]
    return f"{first}{': ' if all_told else '; the strongest are '}{listed(said)}."


def _plain_term(one: Effects, term: str, level: float, first: bool) -> str:
    places = _places(one, term)
    j = places[0]
    coef, lower, upper = alike((float(one.coef[j]), float(one.lower[j]), float(one.upper[j])), digits=DIGITS)
    single = one.names[j] == term
    per = " per unit" if first and single else ""
    sure = f", {percent_of(level)} interval from {lower} to {upper}" if first else f", {lower} to {upper}"
    value = f"{pretty(coef, sign=True)}{per}{sure}"
    return (
        f"{named(term)} ({value})" if single else f"{named(term)} ({_level(one, j)} {value}{_others(places)})"
    )


def _level(one: Effects, j: int) -> str:
    """Return the name of a level of a factor, without that of the factor where that comes first."""
    name = one.names[j]
    short = name.removeprefix(one.terms[j]).strip(" =:[]")
    return named(short or name)


def _others(places: list[int]) -> str:
    more = len(places) - 1
    return f"; and {counted(more, 'other level')}" if more else ""


def _ratio_sentence(one: Effects, level: float, target: str, classes: Sequence[str]) -> str:
    first, told, all_told = _opening(one, target)
    what = _multiplied(one, target, classes)
    said = [_ratio_term(one, term, level, number == 0) for number, term in enumerate(told)]
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


def _ratio_term(one: Effects, term: str, level: float, first: bool) -> str:
    places = _places(one, term)
    j = places[0]
    single = one.names[j] == term
    by_sd = single and abs(float(one.coef[j])) > np.log(LARGE)
    unit = float(one.per_sd[j] / one.coef[j]) if by_sd else 1.0
    with np.errstate(over="ignore"):
        values = np.exp([unit * one.coef[j], unit * one.lower[j], unit * one.upper[j]]).tolist()
    ratio, lower, upper = alike(values, ratios, DIGITS)
    sure = f"{percent_of(level)} interval from {lower} to {upper}" if first else f"{lower} to {upper}"
    if single:
        what = f"per {'standard deviation' if by_sd else 'unit'} of {named(term)}"
    else:
        what = f"where {named(term)} is {_level(one, j)}"
    return f"by {ratio} {what} ({sure}{_others(places)})"


def null(one: Effects) -> str:
    """Return what no effect is, as it is written.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> null(effects_of(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]))[0])
    'zero'
    """
    return "1" if one.is_ratio else "zero"


def _left_out(one: Effects) -> str:
    """Say which variables have an effect by their intervals, although they are not selected."""
    if one.inclusion is None:
        return ""
    clear = ~one.selected & ((one.lower > 0.0) | (one.upper < 0.0)) & (one.inclusion >= SURE)
    _, chosen = terms_of([one])
    order = [j for j in one.strongest().tolist() if clear[j]]
    terms = [term for term in dict.fromkeys(one.terms[j] for j in order) if term not in chosen]
    if not terms:
        return ""
    if len(terms) > STRONGEST:
        return (
            f"{counted(len(terms), 'variable')} that are not selected, {named(terms[0])} the strongest, have "
            f"intervals that exclude {null(one)}."
        )
    names = listed([named(term) for term in terms])
    if len(terms) == 1:
        return f"{names} is not selected, but has an interval that excludes {null(one)}."
    return f"{names} are not selected, but have intervals that exclude {null(one)}."


def _classes(effects: Sequence[Effects], target: str) -> list[str]:
    sure = [clearly(one) for one in effects]
    terms, chosen = terms_of(sure)
    said = [_apart(sure, terms, chosen, target)] if chosen else []
    open_ones = [term for term in terms_of(effects)[1] if term not in chosen]
    if open_ones:
        told = (
            listed([named(term) for term in open_ones])
            if len(open_ones) <= FEW
            else f"{len(open_ones):,} more"
        )
        every = f"every interval includes {null(effects[0])}"
        said.append(
            f"{told} {'is' if len(open_ones) == 1 else 'are'} selected too, but {every}."
            if chosen
            else f"No variable is sure to tell apart the classes of {named(target)}: {told} "
            f"{'is' if len(open_ones) == 1 else 'are'} selected, but {every}."
        )
    return said


def _apart(effects: Sequence[Effects], terms: Sequence[str], chosen: Sequence[str], target: str) -> str:
    """Say which columns tell which classes apart."""
    used = {term: [str(one.label) for one in effects if _places(one, term)] for term in chosen}
    ranked = sorted(chosen, key=lambda term: -max(_size(one, term) for one in effects))
    told = ranked if len(ranked) <= FEW else ranked[:STRONGEST]
    said = [f"{named(term)} (for {listed([named(label) for label in used[term]])})" for term in told]
    verb = _verb(len(chosen), sure=not cautions(effects))
    first = f"{len(chosen):,} of {counted(len(terms), 'variable')} {verb}"
    apart = f"for telling apart the classes of {named(target)}"
    return f"{first} {apart}{': ' if len(told) == len(ranked) else '; the strongest are '}{listed(said)}."


def _size(one: Effects, term: str) -> float:
    places = _places(one, term)
    return abs(float(one.per_sd[places[0]])) if places else 0.0
