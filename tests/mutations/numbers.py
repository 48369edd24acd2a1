"""Numbers of a model file, one after the other, with something else in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

NOT_FINITE = ("NaN", "Infinity", "-Infinity")


class Number(NamedTuple):
    """A number or an array of numbers in JSON: where it is, by names, and what holds it under which key."""

    path: str
    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def numbers_of(value: Any, path: str = "") -> Iterator[Number]:
    """Yield all numbers and arrays in an object or a list; items of lists have a star in their path."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in items:
        if isinstance(one, dict) and "class" in one:
            place = f"{path}.{key}<{one['class']}>"
        else:
            place = f"{path}.{key}" if isinstance(value, dict) else f"{path}.*"
        if _is_number(one) or _is_array(one):
            yield Number(place, value, key)
        elif isinstance(one, dict | list):
            yield from numbers_of(one, place)


def _is_number(value: Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)) or value in NOT_FINITE


def _is_array(value: Any) -> bool:
    if isinstance(value, dict):
        return "shape" in value and "values" in value
    simple = isinstance(value, list) and all(isinstance(one, bool) or _is_number(one) for one in value)
    return simple and len(value) > 0


def plain(value: Any) -> dict[str, Any]:
    """Return an array with all of its entries, along one axis or several."""
    if isinstance(value, list):
        return {"shape": [len(value)], "values": list(value)}
    return {**value, "values": list(value["values"])}


def with_entry(entry: Any) -> Callable[[Any], Any]:
    """Return what puts an entry in the place of a number, or of the last one of an array."""

    def change(value: Any) -> Any:
        if not _is_array(value):
            return entry
        out = plain(value)
        return {**out, "values": [*out["values"][:-1], entry]} if out["values"] else None

    return change


def longer(value: Any) -> Any:
    """Return an array with another row."""
    if not _is_array(value):
        return None
    out = plain(value)
    rows, *others = out["shape"]
    more = [out["values"][0] if out["values"] else 0.0] * _product(others)
    return {"shape": [rows + 1, *others], "values": [*out["values"], *more]}


def shorter(value: Any) -> Any:
    """Return an array without its last row."""
    if not _is_array(value) or plain(value)["shape"][0] == 0:
        return None
    out = plain(value)
    rows, *others = out["shape"]
    return {"shape": [rows - 1, *others], "values": out["values"][: (rows - 1) * _product(others)]}


def _product(sizes: list[int]) -> int:
    out = 1
    for size in sizes:
        out *= size
    return out


CHANGES: dict[str, Callable[[Any], Any]] = {
    **{entry: with_entry(entry) for entry in NOT_FINITE},
    "longer": longer,
    "shorter": shorter,
}
"""What is done to a number or an array: None where that cannot be done to it."""
