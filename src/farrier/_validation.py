"""What users hand in, checked once: each error names the argument, the column or the row, and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names, check_array, column_or_1d

from farrier._types import Matrix, Vector


def check_x(x: Any) -> Matrix:
    """Return ``x`` as a finite float array of two dimensions.

    Examples
    --------
    >>> check_x([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    try:
        array = check_array(x, dtype=np.float64, ensure_all_finite=False, input_name="X")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}{_where_not_a_number(x)}") from error
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(array.sum())
    if suspect and not (finite := np.isfinite(array)).all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"Input X contains {_kind(array[row, column])} in {_column_name(x, int(column))}, row {row}: "
            "impute or remove such values before fitting"
        )
    return np.asarray(array)


def check_y(y: Any, n_rows: int) -> Vector:
    """Return ``y`` as a finite float vector of the right length.

    Examples
    --------
    >>> check_y([1, 2], n_rows=2)
    array([1., 2.])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    array = check_array(y, dtype=None, ensure_2d=False, ensure_all_finite=False, input_name="y")
    if array.ndim == 2 and array.shape[1] > 1:
        raise ValueError(
            f"y has {array.shape[1]} columns, but this estimator explains one response: "
            "pass a 1d array (y.shape = (n_rows,)) and fit each column on its own"
        )
    vector = column_or_1d(array, warn=True)
    if vector.size != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {vector.size}"
        )
    return check_finite("y", _as_float("y", vector))


def check_weights(weights: Any, n_rows: int) -> Vector | None:
    """Return the weights as non-negative floats that do not all vanish, or None.

    Examples
    --------
    >>> check_weights([1, 2], n_rows=2)
    array([1., 2.])
    """
    if weights is None:
        return None
    vector = np.asarray(weights)
    if vector.ndim == 0:
        vector = np.full(n_rows, vector)
    vector = _as_float("sample_weight", vector)
    if vector.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {vector.shape}, but X has {n_rows} rows: give one weight for each row"
        )
    check_finite("sample_weight", vector)
    if (vector < 0).any():
        row = int(np.argmax(vector < 0))
        raise ValueError(
            f"sample_weight is negative in row {row} ({vector[row]:g}): weights must not be negative"
        )
    if not vector.any():
        raise ValueError("sample_weight is zero for every row: at least two rows need a positive weight")
    return None if (vector == 1.0).all() else vector


def check_finite(name: str, vector: Vector) -> Vector:
    """Return ``vector``, or say in which row it is not finite.

    Examples
    --------
    >>> check_finite("y", np.array([1.0, np.nan]))
    Traceback (most recent call last):
    ValueError: Input y contains NaN in row 1: impute or remove such rows before fitting
    """
    finite = np.isfinite(vector)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(
            f"Input {name} contains {_kind(vector[row])} in row {row}: "
            "impute or remove such rows before fitting"
        )
    return vector


def check_number(
    name: str, value: Any, *, low: float = 0.0, high: float = np.inf, low_allowed: bool = False
) -> float:
    """Return ``value`` as a float within its range.

    Examples
    --------
    >>> check_number("level", 1.5, high=1.0)
    Traceback (most recent call last):
    ValueError: level=1.5 must be a finite number above 0 and below 1
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name}={value!r} must be a number")
    if not np.isfinite(value) or value > high or value < low or (value == low and not low_allowed):
        lower = f"of at least {low:g}" if low_allowed else f"above {low:g}"
        upper = "" if np.isinf(high) else f" and at most {high:g}"
        raise ValueError(f"{name}={value!r} must be a finite number {lower}{upper}")
    return float(value)


def check_level(level: Any) -> float:
    """Return the coverage of an interval, strictly between 0 and 1.

    Examples
    --------
    >>> check_level(0.95)
    0.95
    """
    value = check_number("level", level, high=1.0)
    if value == 1.0:
        raise ValueError("level=1.0 must be below 1: an interval that covers everything is infinite")
    return value


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the names allowed.

    Examples
    --------
    >>> check_choice("start", "paper", ("paper", "variance"))
    'paper'
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is not known: use one of {', '.join(map(repr, allowed))}")
    return value


def _as_float(name: str, vector: Any) -> Vector:
    if np.iscomplexobj(vector):
        raise ValueError(f"Complex data not supported: {name} must be real")
    try:
        return np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError):
        row = next(i for i, v in enumerate(np.ravel(vector)) if not _is_number(v))
        raise ValueError(
            f"{name} holds {np.ravel(vector)[row]!r} in row {row}, which is not a number: "
            "this is a regression; encode labels as numbers or use a classifier"
        ) from None


def _where_not_a_number(x: Any) -> str:
    """Return a hint at the first entry that is not a number, or nothing."""
    values = np.asarray(x, dtype=object) if not hasattr(x, "nnz") else np.empty(0)
    if values.ndim != 2:
        return ""
    for row, column in np.ndindex(values.shape):
        if not _is_number(values[row, column]):
            where = _column_name(x, column)
            return f"; look at {where}, row {row} of X: encode or remove what is not a number"
    return ""


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _kind(value: float) -> str:
    return "NaN" if np.isnan(value) else "infinity"


def _column_name(x: Any, column: int) -> str:
    names = _get_feature_names(x)
    return f"column {column}" if names is None else f"column {names[column]!r} ({column})"
