"""Several responses, checked: one column of y for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import _get_feature_names

from horseshoe._types import Matrix, Vector
from horseshoe.data.checks import read_array
from horseshoe.data.dense import Dense
from horseshoe.data.frames import frame_values
from horseshoe.data.standardise import standardise
from horseshoe.data.validation import check_y

# Tails are as long as each other where the sum of cubes is below this share of that of their sizes.
ALONE = "fit each column on its own; several share their scales with family='gaussian' only"
EVEN = 1e-9


class Responses(NamedTuple):
    """A column of ``values`` for each response, and what they are called."""

    values: Matrix
    names: tuple[str, ...]


def check_responses(y: Any, n_rows: int) -> Responses | None:
    """Return several responses, or None if ``y`` is one: a vector, or a table of one column.

    Examples
    --------
    >>> check_responses([[1, 2], [3, 5]], n_rows=2)
    Responses(values=array([[1., 2.],
           [3., 5.]]), names=('y0', 'y1'))
    >>> check_responses([1.0, 2.0], n_rows=2) is None
    True
    >>> check_responses([[1.0, np.nan], [3.0, 5.0]], n_rows=2)
    Traceback (most recent call last):
    ValueError: Input y contains NaN in row 0: impute or remove such rows before fitting; look at \
column 1 of y
    """
    if y is None or issparse(y) or (type(y) is np.ndarray and y.ndim != 2):
        return None
    table = frame_values(y) if hasattr(y, "columns") else y
    table = table if hasattr(table, "dtype") else read_array("y", table)
    if np.ndim(table) != 2 or table.shape[1] < 2 or isinstance(table, np.ma.MaskedArray):
        return None
    names = _get_feature_names(y)
    names = [f"y{k}" for k in range(table.shape[1])] if names is None else [str(name) for name in names]
    found = []
    for k in range(table.shape[1]):
        try:
            found.append(check_y(np.asarray(table)[:, k], n_rows))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{error}; look at column {k} of y") from None
    return Responses(np.column_stack(found), tuple(names))


def leading(values: Matrix, counts: Vector) -> Vector:
    """Return what several responses have in common: their first principal component, each in its own unit.

    ``counts`` says how often each row counts. The longer tail of the component is that of large values: it
    has no sign of its own, and the order of the rows must not choose it.

    Examples
    --------
    >>> np.abs(leading(np.array([[1.0, 20.0], [2.0, 40.0], [3.0, 60.0]]), np.ones(3))).round(3)
    array([1.732, 0.   , 1.732])
    >>> np.abs(leading(np.array([[1.0, 20.0], [3.0, 60.0]]), np.array([3.0, 1.0]))).round(3)
    array([0.816, 2.449])
    """
    units = standardise(Dense(values), counts, center=True, scale=True).columns.dense()
    if not units.shape[1]:
        return np.asarray(values[:, 0])
    _, _, right = np.linalg.svd(np.sqrt(counts)[:, None] * units, full_matrices=False)
    found = units @ right[0]
    leans = lean(found, counts) or float(right[0, np.argmax(np.round(np.abs(right[0]), 9))])
    return np.asarray(found if leans > 0.0 else -found)


def lean(values: Vector, counts: Vector) -> float:
    """Return on which side centred values have the longer tail: positive, negative, or 0 where even.

    Examples
    --------
    >>> lean(np.array([-1.0, -1.0, 2.0]), np.ones(3)) > 0.0, lean(np.array([-1.0, 1.0]), np.ones(2))
    (True, 0.0)
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not largest > 0.0:
        return 0.0
    cubes = (values / largest) ** 3  # cubes of the user's y may be no floats
    found = float(counts @ cubes)
    return found if abs(found) > EVEN * float(counts @ np.abs(cubes)) else 0.0


def refuse_several_responses(y: Any, n_rows: int, what: str, instead: str = "") -> None:
    """Refuse a y of several columns, and say what explains only one, and what to do.

    Examples
    --------
    >>> refuse_several_responses([[1, 2], [3, 5]], 2, "family 'poisson'")
    Traceback (most recent call last):
    ValueError: y has 2 columns, but family 'poisson' explains one response: fit each column on its own; \
several share their scales with family='gaussian' only
    """
    found = check_responses(y, n_rows)
    if found is not None:
        raise ValueError(
            f"y has {len(found.names)} columns, but {what} explains one response: {instead or ALONE}"
        )
