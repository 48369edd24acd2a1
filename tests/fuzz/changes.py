"""What must not change the answer: the order of rows and columns, their units, the container, the hour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fuzz.cases import SEEDED, Case, structure
from fuzz.data import Data

JITTER = 1e-8
"""By how much the data are shaken to see whether rounding decides the answer: far more than rounding does."""


class Changed(NamedTuple):
    """The data changed: row ``rows[i]`` is the i-th now, column ``columns[j]`` the j-th, and the factors."""

    case: Case
    data: Data
    rows: np.ndarray
    columns: np.ndarray
    x: np.ndarray
    y: float = 1.0


def unchanged(case: Case, data: Data) -> Changed:
    """Return the data as they are."""
    n, p = data.X.shape
    return Changed(case, data, np.arange(n), np.arange(p), np.ones(p))


def applies(case: Case) -> bool:
    """Tell whether the change must leave the answer as it is."""
    options, change = case.options, case.change
    if change == "none" or case.flaw is not None:
        return False
    if case.call == "means" and change in ("x2", "x3", "columns", "plain"):
        return False
    if change in ("x2", "x3") and not options.get("standardize", True):
        return False
    if change in ("y2", "y3") and not (case.is_location or case.is_survival):
        return False
    drawn = case.call == "sampler" or case.ask == "posterior" or options.get("expectation") in SEEDED
    return not drawn or change in ("x2", "y2", "again")


def is_exact(case: Case) -> bool:
    """Tell whether the change leaves every digit: powers of two only move the exponents."""
    return case.change in ("x2", "y2", "again")


def changed(case: Case, data: Data) -> Changed:
    """Return the data changed as the case says."""
    rng = np.random.default_rng([case.seed, 1])
    same = unchanged(case, data)
    n, p = data.X.shape
    if case.change == "columns":
        order = rng.permutation(p)
        case = case.but(options=structure(case.options, p, order))
        return same._replace(case=case, data=data._replace(X=data.X[:, order]), columns=order)
    if case.change == "rows":
        order = rng.permutation(n)
        return same._replace(data=_take(data, order), rows=order)
    if case.change in ("x2", "x3"):
        return _scaled_x(case, data, same, rng)
    if case.change in ("y2", "y3"):
        return _scaled_y(case, data, same)
    if case.change == "plain":
        return same._replace(case=case.but(container="c", dtype="float64", y_container="array"))
    return same


def jittered(case: Case, data: Data, seed: int, ties: bool = True) -> Data:
    """Return the data shaken: the units of the columns, and y, or the weights if it has no units.

    Constant columns stay constant, and ties ties up to rounding; without ``ties`` every value is shaken by
    itself.
    """
    rng = np.random.default_rng([case.seed, seed])
    shake = 1.0 + JITTER * rng.uniform(-1.0, 1.0, data.y.size)
    units = 1.0 + JITTER * rng.uniform(-1.0, 1.0, data.X.shape[1])
    if not ties:
        varies = data.X.max(axis=0) > data.X.min(axis=0)
        units = np.where(varies, 1.0 + JITTER * rng.uniform(-1.0, 1.0, data.X.shape), units)
    data = data._replace(X=data.X * units)
    if case.is_location:
        return data._replace(y=data.y * shake)
    return data._replace(weights=shake * (1.0 if data.weights is None else data.weights))


def _take(data: Data, order: np.ndarray) -> Data:
    def take(values: Any) -> Any:
        return values if values is None or np.ndim(values) == 0 else values[order]

    return data._replace(
        X=data.X[order],
        y=data.y[order],
        weights=take(data.weights),
        offset=take(data.offset),
        exposure=take(data.exposure),
        event=take(data.event),
        entry=take(data.entry),
        strata=take(data.strata),
    )


def _scaled_x(case: Case, data: Data, same: Changed, rng: np.random.Generator) -> Changed:
    """Multiply each column by a factor of its own, as far as it stays within 1e-150 and 1e150."""
    top, base = abs(case.power), _base(case)
    powers = rng.integers(-top, top + 1, data.X.shape[1])
    powers = np.array([_within(int(k), column, base) for k, column in zip(powers, data.X.T, strict=True)])
    factors = base ** (powers if base == 2.0 else np.clip(powers, -20, 20))
    case = case.but(dtype="float64")  # whole numbers and short floats have no room
    return same._replace(case=case, data=data._replace(X=data.X * factors), x=factors)


def _scaled_y(case: Case, data: Data, same: Changed) -> Changed:
    base = _base(case)
    power = _within(case.power, data.y, base, ROOM)
    factor = base ** (power if base == 2.0 else float(np.clip(power, -20, 20)))
    offset = None if data.offset is None else data.offset * factor
    if case.is_survival:  # of times only the order matters
        entry = None if data.entry is None else data.entry * factor
        return same._replace(data=data._replace(y=data.y * factor, entry=entry))
    scaled = data._replace(y=data.y * factor, offset=offset, unit=data.unit * factor)
    return same._replace(data=scaled, y=factor)


ROOM = 28.0
"""Beside a row that has all the weight the spread of y, which is refused, is a millionth of its size."""


def _base(case: Case) -> float:
    """Return whose powers the units are multiplied by."""
    return 2.0 if is_exact(case) else 3.0


def _within(power: int, values: np.ndarray, base: float, room: float = 0.0) -> int:
    """Return the power nearer to zero, until ``base`` to it leaves the values between 1e-150 and 1e150.

    ``room`` is how many powers of two the smallest of them keep away from there.
    """
    sizes = np.abs(values[values != 0.0])
    if sizes.size == 0 or not np.isfinite(sizes).all():
        return 0
    low, high = (room - 498.0 - np.log2(sizes.min())), (498.0 - np.log2(sizes.max()))
    low, high = low / np.log2(base), high / np.log2(base)
    return int(np.clip(power, min(low, 0.0), max(high, 0.0)))
