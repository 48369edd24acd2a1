"""Whether the arrays of a model fit each other."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_shapes(value: Any, shapes: dict[str, str], sizes: dict[str, int], place: str) -> dict[str, int]:
    """Refuse arrays whose sizes do not fit each other, and return the size that each letter stands for.

    Parameters
    ----------
    value : object
        What has the arrays as attributes, and attributes of attributes.
    shapes : dict
        For the path to each array, such as "covariance.factor", a letter for each axis; where something on
        the way is None there is nothing to check.
    sizes : dict
        The sizes of letters that are known.
    place : str
        Where the object is, for the error.

    Examples
    --------
    >>> from farrier._types import Covariance
    >>> found = Covariance(np.zeros(2), np.zeros((5, 3)), 1.0)
    >>> check_shapes(found, {"diagonal": "s", "factor": "rs"}, {}, "c")
    Traceback (most recent call last):
    ValueError: c.factor has the shape (5, 3), where (5, 2) belongs
    """
    known = dict(sizes)
    for path, letters in shapes.items():
        array = _at(value, path)
        if array is None:
            continue
        found = array.shape if isinstance(array, np.ndarray) else (len(array),)
        fits = len(found) == len(letters) and all(
            known.setdefault(letter, size) == size for letter, size in zip(letters, found, strict=True)
        )
        if not fits:
            wanted = ", ".join(str(known.get(letter, letter)) for letter in letters)
            raise ValueError(f"{place}.{path} has the shape {found}, where ({wanted}) belongs")
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


def check_finite(value: Any, paths: tuple[str, ...], place: str) -> None:
    """Refuse numbers that are not finite where a prediction needs them.

    Examples
    --------
    >>> from farrier._types import Scales
    >>> check_finite(Scales(np.ones(1), np.nan, 1.0), ("tau2",), "scales")
    Traceback (most recent call last):
    ValueError: scales.tau2 is not finite
    """
    for path in paths:
        if not np.isfinite(_at(value, path)).all():
            raise ValueError(f"{place}.{path} is not finite")


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if value is None:
            return None
        value = value[int(name)] if name.isdecimal() else getattr(value, name)
    return value
