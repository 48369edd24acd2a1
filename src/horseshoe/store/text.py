"""JSON for people and for programs: one line a field, one line an array, and a reader that trusts nothing."""

from __future__ import annotations

import json
import math
from typing import Any

DEEPEST = 40
"""Levels of lists and objects inside each other; our own files have some ten."""
LARGEST_WHOLE = 2**64
"""Whole numbers are below it in size: all that NumPy can hold."""
LONGEST_LINE = 160
"""Small objects, and short lists of short lists, are written on one line up to here."""


def to_text(content: Any, indent: int = 0) -> str:
    r"""Return JSON in which each field of an object and each array of numbers has a line of its own.

    Examples
    --------
    >>> print(to_text({"coef": [1.5, -0.0], "family": {"class": "Gaussian"}}))
    {
      "coef": [1.5, -0.0],
      "family": {"class": "Gaussian"}
    }
    """
    inner, outer = " " * (indent + 2), " " * indent
    if not isinstance(content, dict | list) or _is_short(content, indent):
        return _plain(content)
    if isinstance(content, dict):
        lines = [f"{inner}{_plain(name)}: {to_text(value, indent + 2)}" for name, value in content.items()]
        return "{\n" + ",\n".join(lines) + f"\n{outer}}}"
    lines = [inner + to_text(value, indent + 2) for value in content]
    return "[\n" + ",\n".join(lines) + f"\n{outer}]"


def _is_short(content: Any, indent: int) -> bool:
    """Tell whether a list or an object has one line: all lists of numbers or text, and what is small."""
    parts = content.values() if isinstance(content, dict) else content
    nested = [part for part in parts if isinstance(part, dict | list)]
    if isinstance(content, list) and not nested:
        return True
    if indent == 0 or any(isinstance(part, dict) or len(part) > 8 for part in nested) or len(parts) > 8:
        return False
    return len(_plain(content)) <= LONGEST_LINE


def _plain(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def from_text(text: str) -> Any:
    """Read JSON strictly: no NaN, no number beyond the range of a float, no name twice in an object.

    Examples
    --------
    >>> from_text('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the name 'a' stands twice in one object
    """
    try:
        found = json.loads(
            text,
            parse_float=_read_float,
            parse_int=_read_whole,
            parse_constant=_refuse_constant,
            object_pairs_hook=_read_object,
        )
    except RecursionError:
        raise ValueError(f"lists and objects are nested more than {DEEPEST} levels deep") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"it is not JSON ({error.msg} at {where})") from None
    refuse_depth(found)
    return found


def _read_float(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise ValueError(f"the number {token:.40} is beyond the range of a float")
    return value


def _read_whole(token: str) -> int:
    if len(token) > 21 or abs(int(token)) >= LARGEST_WHOLE:
        raise ValueError(f"the whole number {token:.40} has too many digits")
    return int(token)


def _refuse_constant(token: str) -> Any:
    raise ValueError(f"{token} is no number of JSON")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r:.60} stands twice in one object")
    return found


def refuse_depth(content: Any) -> None:
    """Refuse lists and objects that are nested too deeply; goes level by level, not by recursion.

    Examples
    --------
    >>> refuse_depth([[1.0], {"a": []}])
    """
    level = [content]
    for _ in range(DEEPEST + 1):
        inside = [part for part in level if isinstance(part, list | dict)]
        if not inside:
            return
        level = [value for part in inside for value in (part.values() if isinstance(part, dict) else part)]
    raise ValueError(f"lists and objects are nested more than {DEEPEST} levels deep")


def refuse_unplain(content: Any, place: str, level: int = 0) -> None:
    """Refuse what is not plain data: None, bool, int, finite float, str, and lists and dicts of these.

    Examples
    --------
    >>> refuse_unplain({"medians": [1.5, (2,)]}, "recipe")
    Traceback (most recent call last):
    TypeError: recipe.medians[1] is a tuple: a model file takes None, bool, int, float, str, list, dict only
    """
    kind = type(content)
    if level > DEEPEST - 5:
        raise ValueError(f"{place:.60}... is nested too deeply for a model file")
    if isinstance(content, float):
        if not math.isfinite(content):
            raise ValueError(f"{place} is {content}, which JSON cannot say: write None or a text instead")
    elif kind is int and abs(content) >= LARGEST_WHOLE:
        raise ValueError(f"{place} is a whole number of 2^64 or more, which a model file does not take")
    elif kind is dict:
        for name, value in content.items():
            if type(name) is not str:
                raise TypeError(f"{place} has the name {name!r}: names in a model file are str")
            refuse_unplain(value, f"{place}.{name}", level + 1)
    elif kind is list:
        for number, value in enumerate(content):
            refuse_unplain(value, f"{place}[{number}]", level + 1)
    elif kind not in (int, bool, str, type(None)):
        raise TypeError(
            f"{place} is a {kind.__name__}: a model file takes None, bool, int, float, str, list, dict only"
        )
