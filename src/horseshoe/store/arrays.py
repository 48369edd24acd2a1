"""Numbers and arrays as JSON: a list, the shape with the entries, or what differs from the most frequent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from horseshoe.store.text import LARGEST_WHOLE

# How numbers that JSON does not have are written: as text.
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# What the entries of an array are in JSON, by the kind of its type.
ENTRIES: dict[str, type] = {"f": float, "i": int, "b": bool, "O": str}
# Entries of a vector that may be written by its most frequent value and the places of the others.
FEWEST, MOST = 32, 10**8


def encode_number(value: Any) -> Any:
    """Return a number as JSON has it; those that are not finite as text.

    Examples
    --------
    >>> encode_number(np.float64(-0.0)), encode_number(np.inf)
    (-0.0, 'Infinity')
    """
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0.0 else "-Infinity"


def decode_number(content: Any) -> Any:
    """Return a number of JSON, or one of the three that it does not have.

    Examples
    --------
    >>> decode_number("-Infinity")
    -inf
    """
    if type(content) in (int, float) and -LARGEST_WHOLE < content < LARGEST_WHOLE:
        return content
    if type(content) is float and math.isfinite(content):
        return content
    if isinstance(content, str) and content in NOT_FINITE:
        return NOT_FINITE[content]
    raise ValueError(f"{content!r:.60} is not a number")


def encode_array(array: Any) -> Any:
    """Return a vector as a list or by what differs from its most frequent value; else shape and entries.

    The last bit of a matrix product may depend on the order of the memory, which therefore stays.

    Examples
    --------
    >>> encode_array(np.array([1.5, np.nan]))
    [1.5, 'NaN']
    >>> encode_array(np.eye(2))
    {'shape': [2, 2], 'values': [1.0, 0.0, 0.0, 1.0]}
    >>> encode_array(np.where(np.arange(40) == 7, 2.5, 0.0))
    {'size': 40, 'fill': 0.0, 'places': [7], 'values': [2.5]}
    """
    if array.ndim == 1 and array.dtype.kind != "O" and (others := _differing(array)) is not None:
        fill, values = (_entries(part) for part in (np.delete(array, others)[:1], array[others]))
        return {"size": array.size, "fill": fill[0], "places": others.tolist(), "values": values}
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    values = _entries(array.ravel(order=order))
    if array.ndim == 1:
        return values
    return {"shape": list(array.shape)} | ({"order": "F"} if order == "F" else {}) | {"values": values}


def _entries(vector: Any) -> list[Any]:
    """Return the entries as JSON has them."""
    listed: list[Any] = vector.tolist()
    if vector.dtype.kind == "f" and not np.isfinite(vector).all():
        return [encode_number(value) for value in listed]
    return listed


def _differing(array: Any) -> Any:
    """Return the places of entries other than the value that two thirds have; None if there is none."""
    if not FEWEST <= array.size <= MOST:
        return None
    bits = np.ascontiguousarray(array).view(f"u{array.itemsize}")  # -0.0 is not 0.0, and NaN is itself
    others = np.flatnonzero(bits != np.partition(bits, bits.size // 2)[bits.size // 2])
    return others if 3 * others.size <= array.size else None


def decode_array(content: Any, dtype: Any) -> Any:
    """Return an array of this type.

    Examples
    --------
    >>> decode_array({"shape": [2, 2], "values": [0.0, 0.0, 0.0, 1.5]}, np.dtype(float))
    array([[0. , 0. ],
           [0. , 1.5]])
    """
    if isinstance(content, list):
        return _vector(content, dtype)
    if isinstance(content, dict) and content.keys() == {"size", "fill", "places", "values"}:
        return _filled(**content, dtype=dtype)
    if not isinstance(content, dict) or not {"shape", "values"} <= {*content} <= {"shape", "order", "values"}:
        raise ValueError(f"{content!r:.60} is not an array: a list, or shape, values and perhaps order")
    shape, order, values = content["shape"], content.get("order", "C"), _vector(content["values"], dtype)
    if not isinstance(shape, list) or not 1 <= len(shape) <= 3:
        raise ValueError(f"the shape of an array is a list of one to three sizes, not {shape!r:.60}")
    if any(type(size) is not int or not 0 <= size < 2**40 for size in shape):
        raise ValueError(f"the shape of an array has whole numbers, not {shape!r:.60}")
    if order not in ("C", "F"):
        raise ValueError(f"the order of an array is 'C' or 'F', not {order!r:.60}")
    if math.prod(shape) != values.size:
        raise ValueError(
            f"an array of shape {shape} has {math.prod(shape)} entries, but {values.size} are there"
        )
    return values.reshape(shape, order=order)


def _vector(content: Any, dtype: Any) -> Any:
    """Return a list of JSON as a vector, if every entry is of the right kind."""
    if not isinstance(content, list):
        raise ValueError(f"the values of an array are a list, not {content!r:.60}")
    entry = ENTRIES[dtype.kind]
    if entry is float:
        content = [decode_number(value) if type(value) is str else value for value in content]
    wrong = [value for value in content if type(value) is not entry]
    if wrong:
        raise ValueError(f"{wrong[0]!r:.60} is in an array of {entry.__name__}")
    try:
        return np.array(content, dtype=dtype)
    except OverflowError:
        raise ValueError(f"a whole number is beyond the range of {dtype}") from None


def _filled(size: Any, fill: Any, places: Any, values: Any, dtype: Any) -> Any:
    """Return a vector by its most frequent value and what is at other places."""
    if type(size) is not int or not FEWEST <= size <= MOST:
        raise ValueError(f"the size of a vector with fill is a whole number to {MOST:,}, not {size!r:.60}")
    places, values = _vector(places, np.dtype(np.int64)), _vector(values, dtype)
    if places.size != values.size or (places.size and not 0 <= places[0] <= places[-1] < size):
        raise ValueError(f"a vector has {places.size} places in {size} entries for {values.size} values")
    if (np.diff(places) <= 0).any():
        raise ValueError("the places of a vector must rise")
    found = np.full(size, _vector([fill], dtype)[0], dtype=dtype)
    found[places] = values
    return found
