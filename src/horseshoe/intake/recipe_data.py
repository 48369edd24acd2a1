"""A recipe as plain data and back; what comes back is checked in every part, for it may come from anyone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from horseshoe.families.names import FAMILIES
from horseshoe.intake.formula import parse_formula
from horseshoe.intake.missing_values import WAYS
from horseshoe.intake.numerals import SIGNS

KINDS = ("number", "truth", "category")
KNOWN = (*FAMILIES, "classes", "survival")
KEYS = (
    "target", "family", "ingredients", "encoded", "missing", "formula", "weights", "offset", "exposure",
    "classes", "fit_intercept", "event", "entry", "strata",
)  # fmt: skip
OF_SURVIVAL = ("event", "entry", "strata")
"""Only recipes of survival have these keys."""

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
    plain = asdict(recipe)
    ingredients = [{**each, "levels": list(each["levels"])} for each in plain["ingredients"]]
    absent = OF_SURVIVAL if recipe.event is None else ()
    return {
        **{key: value for key, value in plain.items() if key not in absent},
        "ingredients": ingredients,
        "encoded": list(plain["encoded"]),
        "classes": list(plain["classes"]),
        "missing_values": list(plain["missing_values"]),
        "ranges": {name: list(ends) for name, ends in plain["ranges"].items()},
    }


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
    for key in ("target", "family", "missing"):
        _check(isinstance(plain[key], str), key, plain[key], "a text")
    _check(plain["family"] in KNOWN, "family", plain["family"], f"one of {', '.join(KNOWN)}")
    survives = (plain["family"] == "survival") == (plain["event"] is not None)
    _check(survives, "event", plain["event"], "the column of the event for survival, and null for others")
    _check(plain["missing"] in WAYS, "missing", plain["missing"], f"one of {', '.join(WAYS)}")
    for key in ("formula", "weights", "offset", "exposure", *OF_SURVIVAL):
        _check(plain[key] is None or isinstance(plain[key], str), key, plain[key], "a text or null")
    _check(isinstance(plain["fit_intercept"], bool), "fit_intercept", plain["fit_intercept"], "true or false")
    _check_texts("encoded", plain["encoded"])
    _check_texts("missing_values", plain["missing_values"])
    named = plain["missing_in"]
    right = isinstance(named, Mapping) and all(isinstance(each, str) for each in (*named, *named.values()))
    right = right and set(named.values()) <= set(WAYS)
    _check(right, "missing_in", named, f"one of {', '.join(WAYS)} for each column")
    known = plain["decimal"] is None or plain["decimal"] in tuple(SIGNS)
    _check(known, "decimal", plain["decimal"], f"null or one of {', '.join(SIGNS)}")
    _check(isinstance(plain["classes"], list), "classes", plain["classes"], "a list")
    for each in plain["classes"]:
        _check(
            isinstance(each, str | int | float) and not isinstance(each, bool) and _finite(each),
            "classes",
            each,
            "texts or numbers",
        )
    _check(isinstance(plain["ingredients"], list), "ingredients", plain["ingredients"], "a list")
    ingredients = [_ingredient(each) for each in plain["ingredients"]]
    _check_formula(plain, [each["name"] for each in ingredients])
    fields = {key: plain[key] for key in (*KEYS, *LATER) if key != "ingredients"}
    lists = {key: tuple(plain[key]) for key in ("encoded", "classes", "missing_values")}
    return {**fields, **lists, "ranges": _ranges(plain["ranges"]), "missing_in": dict(named)}, ingredients


def _ranges(plain: Any) -> dict[str, tuple[float, float]]:
    _check(isinstance(plain, Mapping), "ranges", plain, "a range for each column")
    for name, ends in plain.items():
        numbers = isinstance(ends, list) and len(ends) == 2 and all(_number(each) for each in ends)
        _check(
            isinstance(name, str) and numbers and ends[0] <= ends[1], "ranges", ends, "two numbers in order"
        )
    return {name: (float(low), float(high)) for name, (low, high) in plain.items()}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)


def _ingredient(plain: Any) -> dict[str, Any]:
    _check_keys(plain, ("name", "kind", "levels", "fill"), "an ingredient of the recipe")
    _check(isinstance(plain["name"], str), "name", plain["name"], "a text")
    _check(
        isinstance(plain["kind"], str) and plain["kind"] in KINDS,
        "kind",
        plain["kind"],
        f"one of {', '.join(KINDS)}",
    )
    _check_texts("levels", plain["levels"])
    levels, fill = tuple(plain["levels"]), plain["fill"]
    _check(plain["kind"] != "number" or not levels, "levels", plain["levels"], "empty for a number")
    _check(plain["kind"] != "category" or bool(levels), "levels", plain["levels"], "the levels of a category")
    if levels:
        _check(fill is None or fill in levels, "fill", fill, "one of the levels")
    else:
        _check(fill is None or _number(fill), "fill", fill, "a number or null")
    return {**plain, "levels": levels, "fill": fill if levels or fill is None else float(fill)}


def _check_formula(plain: Mapping[str, Any], names: list[str]) -> None:
    _check(len(set(names)) == len(names), "ingredients", names[:3], "columns that are each there once")
    if plain["formula"] is not None:
        formula = parse_formula(plain["formula"])
        unknown = [name for name in formula.names if name not in names]
        _check(not unknown, "formula", plain["formula"], "made of the ingredients")


def _check_keys(plain: Any, keys: tuple[str, ...], what: str) -> None:
    if not isinstance(plain, Mapping):
        raise ValueError(f"{what}: a dictionary is needed, not {type(plain).__name__}")
    missing, unknown = sorted(set(keys) - set(plain)), sorted(map(str, set(plain) - set(keys)))
    if missing or unknown:
        parts = [f"missing {', '.join(missing)}"] * bool(missing) + [
            f"unknown {', '.join(unknown[:5])}"
        ] * bool(unknown)
        raise ValueError(f"{what}: the keys are not those of a recipe: {'; '.join(parts)}")


def _check_texts(key: str, value: Any) -> None:
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    _check(texts and len(set(value)) == len(value), key, value, "a list of different texts")


def _check(right: bool, key: str, value: Any, wanted: str) -> None:
    if not right:
        raise ValueError(f"recipe: {key}={repr(value)[:80]} should be {wanted}")


def _finite(value: Any) -> bool:
    try:
        return isinstance(value, str) or math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False
