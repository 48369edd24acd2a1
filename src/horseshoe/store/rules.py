"""What the numbers of a model must be: how many, between which bounds, finite, rising."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np


class Rule(NamedTuple):
    """What a field must be; where it is None, or something on the way to it is, there is nothing to check.

    Attributes
    ----------
    axes : str or None
        A letter for each axis: arrays with the same letter are as long. None for a single number.
    low, high : float
        The bounds of its numbers.
    above : bool
        Whether they must be more than ``low``.
    infinite : bool
        Whether they may be infinite.
    missing : bool
        Whether they may be NaN.
    rising, ties : bool
        Whether each must be more than the one before, or may be as much.
    optional : bool
        Whether the array may be empty instead.

    Examples
    --------
    >>> Rule("p", low=0.0).axes
    'p'
    """

    axes: str | None = None
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    infinite: bool = False
    missing: bool = False
    rising: bool = False
    ties: bool = False
    optional: bool = False


def check_rules(
    value: Any, rules: Mapping[str, Rule], sizes: Mapping[str, int], place: str
) -> dict[str, int]:
    """Refuse a field that breaks its rule, and return the size that each letter stands for.

    Parameters
    ----------
    value : object
        What has the fields as attributes, and attributes of attributes.
    rules : mapping
        For the path to each field, such as "covariance.factor", its rule; a star stands for each item of a
        tuple.
    sizes : mapping
        The sizes of letters that are known.
    place : str
        Where the object is, for the error.

    Examples
    --------
    >>> from horseshoe._types import Covariance
    >>> found = Covariance(np.array([1.0, -2.0]), np.zeros((5, 3)), 1.0)
    >>> check_rules(found, {"diagonal": Rule("s", low=0.0)}, {}, "c")
    Traceback (most recent call last):
    ValueError: c.diagonal has the number -2, where 0 or more belongs
    >>> check_rules(found, {"diagonal": Rule("s"), "factor": Rule("rs")}, {}, "c")
    Traceback (most recent call last):
    ValueError: c.factor has the shape (5, 3), where (5, 2) belongs
    """
    known = dict(sizes)
    for path, rule in rules.items():
        for where, found in _fields(value, path.split("."), place):
            _check_shape(found, rule, known, where)
            _check_numbers(found, rule, where)
    return known


def check_places(places: Any, size: int, place: str) -> None:
    """Refuse numbers of columns or rows that are not below ``size``.

    Examples
    --------
    >>> check_places([0, 3], 3, "fitted.order")
    Traceback (most recent call last):
    ValueError: fitted.order has the number 3, where 0 to 2 belong
    """
    for number in np.asarray(places, dtype=np.int64).ravel():
        if not 0 <= number < size:
            raise ValueError(f"{place} has the number {number}, where 0 to {size - 1} belong")


def check_different(numbers: Any, place: str) -> None:
    """Refuse numbers that are there twice.

    Examples
    --------
    >>> check_different([0, 3, 0], "fitted.order")
    Traceback (most recent call last):
    ValueError: fitted.order has a number twice
    """
    if np.unique(numbers).size < len(numbers):
        raise ValueError(f"{place} has a number twice")


def _fields(value: Any, names: list[str], place: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields at a path with their places, unless there are none."""
    for step, name in enumerate(names):
        if value is None:
            return
        if name == "*":
            for number, one in enumerate(value):
                yield from _fields(one, names[step + 1 :], f"{place}[{number}]")
            return
        value = value[int(name)] if name.isdecimal() else getattr(value, name)
        place = f"{place}[{name}]" if name.isdecimal() else f"{place}.{name}"
    if value is not None:
        yield place, value


def _check_shape(found: Any, rule: Rule, known: dict[str, int], where: str) -> None:
    if rule.axes is None:
        return
    shape = found.shape if isinstance(found, np.ndarray) else (len(found),)
    if rule.optional and 0 in shape:
        return
    fits = len(shape) == len(rule.axes) and all(
        known.setdefault(letter, size) == size for letter, size in zip(rule.axes, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join(str(known.get(letter, letter)) for letter in rule.axes)
        raise ValueError(f"{where} has the shape {shape}, where ({wanted}) belongs")


def _check_numbers(found: Any, rule: Rule, where: str) -> None:
    numbers = np.asarray(found) if isinstance(found, np.ndarray | float | int) else np.zeros(0)
    if numbers.dtype.kind not in "fi":
        return
    if not rule.missing and np.isnan(numbers).any():
        raise ValueError(f"{where} is not finite" if not rule.infinite else f"{where} is not a number")
    if not rule.infinite and np.isinf(numbers).any():
        raise ValueError(f"{where} is not finite")
    wrong = (numbers <= rule.low) if rule.above else (numbers < rule.low)
    wrong |= numbers > rule.high
    if wrong.any():
        raise ValueError(f"{where} has the number {numbers[wrong].flat[0]:g}, where {_range(rule)} belongs")
    if rule.rising:
        before, after = numbers[:-1], numbers[1:]
        falls = after < before if rule.ties else after <= before
        if falls.any():
            raise ValueError(
                f"{where} has the number {after[falls][0]:g} after {before[falls][0]:g}, where numbers rise"
            )


def _range(rule: Rule) -> str:
    least = f"more than {rule.low:g}" if rule.above else f"{rule.low:g} or more"
    if rule.high == math.inf:
        return least
    return f"{rule.low:g} to {rule.high:g}" if not rule.above else f"{least} and up to {rule.high:g}"
