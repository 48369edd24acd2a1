"""What is no table and no vector, refused by its name before NumPy or scikit-learn stumble over it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from horseshoe.data.sources.cluster import gathered

# Characters of a value that an error quotes.
LONGEST = 60


def read_array(name: str, value: Any) -> Any:
    """Return ``value`` as NumPy reads it, or say from which row on its entries differ in shape.

    Examples
    --------
    >>> read_array("X", [[1.0, 2.0], [3.0]])
    Traceback (most recent call last):
    ValueError: X has 2 entries in row 0 and 1 in row 1: give one number for each row and column
    """
    value = gathered(name, value)
    try:
        return np.asarray(value)
    except ValueError as error:
        sizes = [len(row) if hasattr(row, "__len__") else 1 for row in value]
        row = next((i for i, size in enumerate(sizes) if size != sizes[0]), 0)
        told = f"{sizes[0]} entries in row 0 and {sizes[row]} in row {row}" if row else "arrays in its rows"
        advice = "one number for each row and column" if name == "X" else "a 1d array, one value for each row"
        raise ValueError(f"{name} has {told}: give {advice}") from error


def refuse_no_table(given: Any) -> None:
    """Refuse an X that has no rows and columns.

    Examples
    --------
    >>> refuse_no_table("data")
    Traceback (most recent call last):
    ValueError: Expected 2D array, but X is 'data': give a table of numbers, with rows and columns
    """
    values = given if hasattr(given, "shape") else read_array("X", given)
    if np.ndim(values) == 0:
        raise ValueError(
            f"Expected 2D array, but X is {_quoted(given)}: give a table of numbers, with rows and columns"
        )
    _refuse_fields("X", values, ", or a data frame")
    refuse_no_rows(values)


def refuse_no_rows(values: Any) -> None:
    """Refuse an X without rows, sparse or not.

    Examples
    --------
    >>> refuse_no_rows(np.zeros((0, 3)))
    Traceback (most recent call last):
    ValueError: X has no rows: 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required; give some
    """
    if values.shape[0] == 0:
        raise ValueError(
            f"X has no rows: 0 sample(s) (shape={values.shape}) while a minimum of 1 is required; give some"
        )


def refuse_no_vector(values: Any) -> None:
    """Refuse a y that has not one value for each row.

    Examples
    --------
    >>> refuse_no_vector(np.asarray({1.0}))
    Traceback (most recent call last):
    ValueError: y is {1.0}, but must be a 1d array: give one value for each row of X
    """
    if np.ndim(values) == 0:
        raise ValueError(f"y is {_quoted(values)}, but must be a 1d array: give one value for each row of X")
    _refuse_fields("y", values)


def refuse_several(labels: Any) -> None:
    """Refuse labels that are arrays or lists themselves.

    Examples
    --------
    >>> refuse_several(["a", ["b", "c"]])
    Traceback (most recent call last):
    ValueError: y holds ['b', 'c'] in row 1: give one label for each row
    """
    for row, label in enumerate(labels):
        if isinstance(label, np.ndarray | list | set | dict):
            raise ValueError(f"y holds {_quoted(label)} in row {row}: give one label for each row")


def naming(name: str, error: Exception) -> str:
    """Return what another library says of an argument, with its name.

    Examples
    --------
    >>> naming("X", ValueError("Found array with dim 3"))
    'X cannot be used: Found array with dim 3'
    """
    told = str(error)
    return told if re.search(rf"\b{name}\b", told) else f"{name} cannot be used: {told}"


def _refuse_fields(name: str, values: Any, instead: str = "") -> None:
    fields = getattr(getattr(values, "dtype", None), "names", None)
    if fields:
        raise TypeError(
            f"{name} is a structured array with the fields {', '.join(fields)}: pass a plain array of "
            f"numbers, as numpy.lib.recfunctions.structured_to_unstructured makes one{instead}"
        )


def _quoted(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
