"""A recipe as plain data and back; what comes back is checked in every part, for it may come from anyone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from horseshoe.families.names import FAMILIES
from horseshoe.intake.formula import parse_formula
from horseshoe.intake.missing_values import WAYS
from horseshoe.intake.numerals import SIGNS

KINDS = ("number", "truth", "category")
KNOWN = (*FAMILIES, "classes", "survival")
OF_TABLE = ("weights", "offset", "exposure")
OF_SURVIVAL = ("event", "entry", "strata")
"""Only recipes of survival have these keys."""

KEYS = (
    "target", "family", "ingredients", "encoded", "missing", "formula", *OF_TABLE, "classes", "fit_intercept",
    *OF_SURVIVAL,
)  # fmt: skip
LATER: dict[str, Any] = {"missing_values": [], "decimal": None, "ranges": {}, "missing_in": {}}
"""Keys that older recipes do not have, and what they stand for there."""


def to_plain(recipe: Any) -> dict[str, Any]:
    """Return a recipe as dicts, lists, texts and numbers.

    Examples
    --------
    >>> from horseshoe.intake.recipe import Recipe
    >>> to_plain(Recipe("y", "gaussian", (), ()))["missing"]
    'error'
    """
    absent = OF_SURVIVAL if recipe.event is None else ()
    plain = {key: value for key, value in asdict(recipe).items() if key not in absent}
    lists = {key: list(plain[key]) for key in ("encoded", "classes", "missing_values")}
    ingredients = [{**each, "levels": list(each["levels"])} for each in plain["ingredients"]]
    ranges = {name: list(ends) for name, ends in plain["ranges"].items()}
    return {**plain, **lists, "ingredients": ingredients, "ranges": ranges}


def from_plain(plain: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the fields of a recipe and its ingredients, or say what is wrong with them.

    Examples
    --------
    >>> from_plain([])
    Traceback (most recent call last):
    ValueError: recipe: a dictionary is needed, not list
    """
    if isinstance(plain, Mapping):
        plain = {**dict.fromkeys(OF_SURVIVAL), **LATER, **plain}
    _check_keys(plain, (*KEYS, *LATER), "recipe")
    check_rules(plain, RULES)
    survives = (plain["family"] == "survival") == (plain["event"] is not None)
    check(survives, "event", plain["event"], "the column of the event for survival, and null for others")
    ingredients = [_ingredient(each) for each in plain["ingredients"]]
    _check_formula(plain, [each["name"] for each in ingredients])
    fields = {key: plain[key] for key in (*KEYS, *LATER) if key != "ingredients"}
    lists = {key: tuple(plain[key]) for key in ("encoded", "classes", "missing_values")}
    ranges = {name: (float(low), float(high)) for name, (low, high) in plain["ranges"].items()}
    return {**fields, **lists, "ranges": ranges, "missing_in": dict(plain["missing_in"])}, ingredients


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_text(value: Any) -> bool:
    """Tell whether a value is a text.

    Examples
    --------
    >>> is_text("a"), is_text(None)
    (True, False)
    """
    return isinstance(value, str)


def _is_text_or_null(value: Any) -> bool:
    return value is None or is_text(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value)) and len(set(value)) == len(value)


def _are_labels(value: Any) -> bool:
    return isinstance(value, list) and all(is_text(each) or _is_number(each) for each in value)


def _are_ways(value: Any) -> bool:
    return isinstance(value, Mapping) and all(is_text(key) and value[key] in WAYS for key in value)


def _is_range(ends: Any) -> bool:
    return isinstance(ends, list) and len(ends) == 2 and all(map(_is_number, ends)) and ends[0] <= ends[1]


def _are_ranges(value: Any) -> bool:
    return isinstance(value, Mapping) and all(is_text(key) and _is_range(value[key]) for key in value)


Rules = Mapping[str, tuple[Callable[[Any], bool], str]]
RULES: Rules = {
    "target": (is_text, "a text"),
    "family": (lambda value: value in KNOWN, f"one of {', '.join(KNOWN)}"),
    "missing": (lambda value: value in WAYS, f"one of {', '.join(WAYS)}"),
    **dict.fromkeys(("formula", *OF_TABLE, *OF_SURVIVAL), (_is_text_or_null, "a text or null")),
    "fit_intercept": (lambda value: isinstance(value, bool), "true or false"),
    "encoded": (_are_texts, "a list of different texts"),
    "missing_values": (_are_texts, "a list of different texts"),
    "missing_in": (_are_ways, f"one of {', '.join(WAYS)} for each column"),
    "decimal": (lambda value: value in (None, *SIGNS), f"null or one of {', '.join(SIGNS)}"),
    "classes": (_are_labels, "a list of texts or numbers"),
    "ranges": (_are_ranges, "two numbers in order for each column"),
    "ingredients": (lambda value: isinstance(value, list), "a list"),
}
OF_INGREDIENT: Rules = {
    "name": (is_text, "a text"),
    "kind": (lambda value: value in KINDS, f"one of {', '.join(KINDS)}"),
    "levels": (_are_texts, "a list of different texts"),
}


def check_rules(plain: Mapping[str, Any], rules: Rules) -> None:
    """Refuse plain data of which some part is not what a rule asks for.

    Examples
    --------
    >>> check_rules({"target": 1}, {"target": RULES["target"]})
    Traceback (most recent call last):
    ValueError: recipe: target=1 should be a text
    """
    for key, (right, wanted) in rules.items():
        check(right(plain[key]), key, plain[key], wanted)


def check(right: bool, key: str, value: Any, wanted: str) -> None:
    """Refuse a part of plain data unless it is right.

    Examples
    --------
    >>> check(True, "target", "y", "a text")
    """
    if not right:
        raise ValueError(f"recipe: {key}={repr(value)[:80]} should be {wanted}")


def _ingredient(plain: Any) -> dict[str, Any]:
    _check_keys(plain, (*OF_INGREDIENT, "fill"), "an ingredient of the recipe")
    check_rules(plain, OF_INGREDIENT)
    levels, fill = tuple(plain["levels"]), plain["fill"]
    check(plain["kind"] != "number" or not levels, "levels", plain["levels"], "empty for a number")
    check(plain["kind"] != "category" or bool(levels), "levels", plain["levels"], "the levels of a category")
    if levels:
        check(fill is None or fill in levels, "fill", fill, "one of the levels")
    else:
        check(fill is None or _is_number(fill), "fill", fill, "a number or null")
    return {**plain, "levels": levels, "fill": fill if levels or fill is None else float(fill)}


def _check_formula(plain: Mapping[str, Any], names: list[str]) -> None:
    check(len(set(names)) == len(names), "ingredients", names[:3], "columns that are each there once")
    if plain["formula"] is not None:
        unknown = set(parse_formula(plain["formula"]).names) - set(names)
        check(not unknown, "formula", plain["formula"], "made of the ingredients")


def _check_keys(plain: Any, keys: tuple[str, ...], what: str) -> None:
    if not isinstance(plain, Mapping):
        raise ValueError(f"{what}: a dictionary is needed, not {type(plain).__name__}")
    wrong = {"missing": set(keys) - set(plain), "unknown": set(plain) - set(keys)}
    parts = [f"{how} {', '.join(sorted(map(str, some))[:5])}" for how, some in wrong.items() if some]
    if parts:
        raise ValueError(f"{what}: the keys are not those of a recipe: {'; '.join(parts)}")
