"""Arrays as JSON: a list of numbers, or the shape with what differs from the most frequent value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""How numbers that JSON does not have are written: as text."""
BASE, EACH_BYTE = 1_000_000, 100
"""The arrays of a file may have so many entries, and so many more for each byte of it: a short file cannot
ask for all the memory there is."""
KINDS: dict[str, tuple[type, ...]] = {"f": (float,), "i": (int,), "b": (bool,)}
"""What the entries of an array are in JSON, by the kind of its type."""


class Budget:
    """How many entries the arrays of a file may still have.

    Examples
    --------
    >>> Budget(10).spend(10**12)
    Traceback (most recent call last):
    ValueError: it asks for arrays of more than 1001000 entries, too many for a file of 10 bytes
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes, self.all = n_bytes, BASE + EACH_BYTE * n_bytes
        self.left = self.all

    def spend(self, entries: int) -> None:
        """Take so many from what is left, or refuse."""
        self.left -= entries
        if self.left < 0:
            raise ValueError(
                f"it asks for arrays of more than {self.all} entries, too many for a file of "
                f"{self.n_bytes} bytes"
            )


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


def encode_array(array: Any) -> Any:
    """Return an array as a list, or as an object where it has several axes or mostly one value.

    Entries are in the order of the memory, which the last bit of a matrix product may hang on.

    Examples
    --------
    >>> encode_array(np.array([1.5, np.nan]))
    [1.5, 'NaN']
    >>> encode_array(np.array([0.0, 0.0, 0.0, 0.0, 2.0, 0.0]))
    {'shape': [6], 'fill': 0.0, 'at': [4], 'values': [2.0]}
    """
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    flat = array.ravel(order=order)
    head: dict[str, Any] = {"shape": list(array.shape)} | ({"order": "F"} if order == "F" else {})
    fill = _most_frequent(flat)
    if fill is not None:
        other = np.flatnonzero(_bits(flat) != _bits(fill))
        return head | {"fill": _entries(fill)[0], "at": other.tolist(), "values": _entries(flat[other])}
    return _entries(flat) if array.ndim == 1 else head | {"values": _entries(flat)}


def _bits(array: Any) -> Any:
    """Return floats as the whole numbers they are stored as: so -0.0 is not 0.0, and NaN is itself."""
    return array.view(np.int64) if array.dtype == np.float64 else array


def _most_frequent(flat: Any) -> Any:
    """Return the value that two thirds of the entries have, as an array of one; None if there is none."""
    if flat.size < 6:
        return None
    middle = np.partition(_bits(flat), flat.size // 2)[flat.size // 2]  # it must be the median
    same = _bits(flat) == middle
    return flat[same][:1] if 3 * int(same.sum()) >= 2 * flat.size else None


def _entries(flat: Any) -> list[Any]:
    listed: list[Any] = flat.tolist()
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        return [encode_number(value) for value in listed]
    return listed


def decode_number(value: Any) -> Any:
    """Return a number of JSON, or one of the three that it does not have.

    Examples
    --------
    >>> decode_number("-Infinity")
    -inf
    """
    if type(value) in (int, float):
        return value
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    raise ValueError(f"{value!r:.60} is not a number")


def decode_array(content: Any, dtype: Any, budget: Budget) -> Any:
    """Return an array of this type.

    Examples
    --------
    >>> decode_array({"shape": [2, 2], "fill": 0.0, "at": [3], "values": [1.5]}, np.dtype(float), Budget(0))
    array([[0. , 0. ],
           [0. , 1.5]])
    """
    if isinstance(content, list):
        budget.spend(len(content))
        return _values(content, dtype)
    if not isinstance(content, dict):
        raise ValueError(f"{content!r:.60} is not an array")
    shape, order = _layout(content)
    size = math.prod(shape)
    budget.spend(size)
    values = _values(content["values"], dtype)
    if "fill" in content or "at" in content:
        values = _filled(content, size, values)
    elif values.size != size:
        raise ValueError(f"an array of shape {shape} has {size} entries, but {values.size} are there")
    return values.reshape(shape, order=order)


def _layout(content: dict[str, Any]) -> tuple[list[int], Any]:
    unknown = set(content) - {"shape", "order", "fill", "at", "values"}
    if unknown or not {"shape", "values"} <= set(content):
        raise ValueError(f"an array has shape, values, and perhaps order, fill and at, not {sorted(content)}")
    shape, order = content["shape"], content.get("order", "C")
    if not isinstance(shape, list) or not 1 <= len(shape) <= 3:
        raise ValueError(f"the shape of an array is a list of one to three sizes, not {shape!r:.60}")
    if any(type(size) is not int or not 0 <= size < 2**40 for size in shape):
        raise ValueError(f"the shape of an array has whole numbers, not {shape!r:.60}")
    if order not in ("C", "F"):
        raise ValueError(f"the order of an array is 'C' or 'F', not {order!r:.60}")
    return shape, order


def _values(content: Any, dtype: Any) -> Any:
    """Return a list of JSON as a vector, if every entry is of the right kind."""
    if not isinstance(content, list):
        raise ValueError(f"the values of an array are a list, not {content!r:.60}")
    allowed, kinds = KINDS[dtype.kind], set(map(type, content))
    if dtype.kind == "f" and str in kinds and kinds <= {float, str}:
        content = [decode_number(value) for value in content]
    elif not kinds <= set(allowed):
        wrong = next(value for value in content if type(value) not in allowed)
        raise ValueError(f"{wrong!r:.60} is in an array of {allowed[0].__name__}")
    try:
        return np.array(content, dtype=dtype)
    except OverflowError:
        raise ValueError(f"a whole number is beyond the range of {dtype}") from None


def _filled(content: dict[str, Any], size: int, values: Any) -> Any:
    if not {"fill", "at"} <= set(content):
        raise ValueError("an array with fill has at, and the other way round")
    fill = _values([content["fill"]], values.dtype)
    at = _values(content["at"], np.dtype(np.int64))
    if at.size != values.size:
        raise ValueError(f"an array has {at.size} places, but {values.size} values for them")
    if at.size and (at[0] < 0 or at[-1] >= size or (np.diff(at) <= 0).any()):
        raise ValueError(f"the places of an array must rise from 0 to {size - 1} at most")
    zero = not fill.tobytes().strip(b"\0")  # and not -0.0; memory for zeros is not even touched
    found = np.zeros(size, dtype=values.dtype) if zero else np.full(size, fill[0], dtype=values.dtype)
    found[at] = values
    return found
