"""JSON for people and for programs: one line a field, one line an array, and a strict reader."""

from __future__ import annotations

import json
import math
from typing import Any

# Levels of lists and objects inside each other; our own files have some ten.
DEEPEST = 40
# Objects that are indented by less have a line for each field.
OUTER = 4
# Whole numbers are below it in size: all that NumPy can hold.
LARGEST_WHOLE = 2**64


def to_text(content: Any, indent: int = 0) -> str:
    r"""Return JSON with a line for each field of the outer two levels, and for each array and small object.

    Examples
    --------
    >>> print(to_text({"coef": [1.5, -0.0], "parameters": {"tol": 1e-05, "priors": [{"class": "Lasso"}]}}))
    {
      "coef": [1.5, -0.0],
      "parameters": {
        "tol": 1e-05,
        "priors": [
          {"class": "Lasso"}
        ]
      }
    }
    """
    named = isinstance(content, dict)
    parts = list(content.values()) if named else content if isinstance(content, list) else []
    small = not any(isinstance(part, dict | list) for part in parts)
    if small and not (named and parts and indent < OUTER):
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in content] if named else [""] * len(parts)
    lines = (
        f"{' ' * (indent + 2)}{name}{to_text(part, indent + 2)}"
        for name, part in zip(names, parts, strict=True)
    )
    first, last = "{}" if named else "[]"
    return f"{first}\n" + ",\n".join(lines) + f"\n{' ' * indent}{last}"


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
    _check_depth(found)
    return found


def check_json(content: Any, place: str) -> None:
    """Refuse what JSON would not return as it is: other than None, bool, int, finite float, str, list, dict.

    Examples
    --------
    >>> check_json({"medians": [1.5, (2,)]}, "recipe")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: recipe={'medians': [1.5, (2,)]}: a model file takes None, bool, int, ...
    """
    try:
        same, why = from_text(to_text(content)) == content, ""
    except (TypeError, ValueError, RecursionError) as error:
        same, why = False, f" ({error})"
    if not same:
        raise TypeError(
            f"{place}={content!r:.200}: a model file takes None, bool, int, finite float, str, list and dict "
            f"with names of str only{why}"
        )


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


def _check_depth(content: Any) -> None:
    """Refuse lists and objects that are nested too deeply; level by level, not by recursion."""
    level = [content]
    for _ in range(DEEPEST + 1):
        inside = [part for part in level if isinstance(part, list | dict)]
        if not inside:
            return
        level = [value for part in inside for value in (part.values() if isinstance(part, dict) else part)]
    raise ValueError(f"lists and objects are nested more than {DEEPEST} levels deep")
