"""What users hand in, checked once: each error names the argument, the column or the row, and the way out."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import _get_feature_names, check_array, column_or_1d

from horseshoe._types import Matrix, Vector
from horseshoe.data.checks import (
    naming,
    read_array,
    refuse_no_rows,
    refuse_no_table,
    refuse_no_vector,
    refuse_several,
)
from horseshoe.data.chunked import Chunked
from horseshoe.data.columns import column_label
from horseshoe.data.dense import Dense
from horseshoe.data.frames import DATES, date_column, frame_values, is_pandas
from horseshoe.data.sources.cluster import gathered
from horseshoe.data.sources.parts import Parts
from horseshoe.data.sources.tables import as_parts
from horseshoe.data.sparse import Sparse
from horseshoe.data.view import View

# Weights add up to something between these: sums of squares of as many rows fit in single precision.
TOTAL_WEIGHT = 1e-20, 1e20
# What is said of words for y, beside that they are no numbers.
WHEN = (date, time, timedelta, np.datetime64, np.timedelta64)
CLASSES = ", or use HorseshoeClassifier for labels"
DAYS = "convert them to numbers, such as days since the first"


def check_x(x: Any) -> View:
    """Return ``x`` as columns of finite floats; those of a sparse matrix stay sparse.

    Examples
    --------
    >>> check_x([[1, 2], [3, 4]]).dense()
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(x, View):
        return x
    if _is_plain(x, 2):
        return Dense(_finite(x, x))
    if issparse(x):
        return _check_sparse(x, x)
    parts = as_parts(x, check_x)
    if parts is not None:
        return check_parts(parts)
    _refuse_same_names(x)
    if hasattr(x, "dtypes") and hasattr(x, "sparse") and x.shape[1]:  # a data frame of sparse columns
        return _with_names(_check_sparse(x.sparse.to_coo(), x), x)
    refuse_masked("X", x)
    _refuse_date_columns(x)
    values = frame_values(x)
    refuse_no_table(values)
    _refuse_words(values, x)
    try:
        array = check_array(values, dtype=np.float64, ensure_all_finite=False, input_name="X")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{naming('X', error)}{_where_not_a_number(x)}") from error
    return _with_names(Dense(_finite(x, np.asarray(array))), x)


def check_parts(parts: Parts) -> View:
    """Return a table in parts as columns, once every entry has been seen to be a finite number.

    Parts that check themselves do so when they are first read.

    Examples
    --------
    >>> from horseshoe.data.sources.parts import ArrayParts
    >>> check_parts(ArrayParts(np.array([[1.0, np.nan]]), axis=1))
    Traceback (most recent call last):
    ValueError: Input X contains NaN in column 1, row 0: impute or remove such values before fitting
    """
    columns = Chunked(parts)
    if not getattr(parts, "checks_itself", False):
        columns.refuse_nonfinite(lambda value, row, column: _refuse_entry(columns, value, row, column))
    return columns


def _refuse_entry(columns: View, value: float, row: int, column: int) -> None:
    raise ValueError(_not_finite(value, row, column_label(columns, column)))


def _not_finite(value: float, row: int, where: str) -> str:
    kind = _kind(value)
    return f"Input X contains {kind} in {where}, row {row}: impute or remove such values before fitting"


def _with_names(columns: Dense | Sparse, x: Any) -> Dense | Sparse:
    """Return the columns with the names that they have in a frame, for errors to come."""
    try:
        columns.names = _get_feature_names(x)
    except TypeError:  # names of several types: whoever needs them says so
        columns.names = None
    return columns


def _is_plain(x: Any, ndim: int) -> bool:
    """Tell whether ``x`` is an array of floats already, so that scikit-learn need not look at it for long."""
    return type(x) is np.ndarray and x.dtype == np.float64 and x.ndim == ndim and x.size > 0


def _finite(x: Any, array: Matrix) -> Matrix:
    """Return the array, or say where it is not finite; ``x`` may have names."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(array.sum())
    if suspect and not (finite := np.isfinite(array)).all():
        row, column = np.argwhere(~finite)[0]
        _refuse_value(x, array[row, column], int(row), int(column))
    return array


def _check_sparse(x: Any, given: Any) -> Sparse:
    """Return a sparse matrix, in any format and with any indices, as columns; ``given`` has their names."""
    if x.ndim != 2:
        raise ValueError(
            f"Expected 2D array, but X is a sparse array of shape {x.shape}: give rows and columns"
        )
    refuse_no_rows(x)
    if x.dtype.kind not in "biuf":
        kind = "Complex data not supported: " if x.dtype.kind == "c" else ""
        raise ValueError(
            f"{kind}X is sparse with dtype {x.dtype}, but must hold numbers: convert it to float"
        )
    try:
        matrix = check_array(
            x, accept_sparse="csc", dtype=np.float64, ensure_all_finite=False, input_name="X"
        )
    except ValueError as error:
        raise ValueError(naming("X", error)) from error
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    finite = np.isfinite(matrix.data)
    if not finite.all():
        entry = int(np.argmin(finite))
        column = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        _refuse_value(given, matrix.data[entry], int(matrix.indices[entry]), column)
    return Sparse(matrix)


def _refuse_value(x: Any, value: float, row: int, column: int) -> None:
    raise ValueError(_not_finite(value, row, _column_name(x, column)))


def refuse_sparse(name: str, value: Any) -> None:
    """Refuse a sparse matrix where only a plain array makes sense.

    Examples
    --------
    >>> refuse_sparse("y", np.zeros(3))
    """
    if issparse(value):
        raise TypeError(
            f"{name} is a sparse matrix, but must be a dense array of one dimension: pass {name}.toarray()"
            ".ravel(); X may be sparse in HorseshoeRegressor, HorseshoeClassifier and sample_posterior"
        )


def refuse_masked(name: str, value: Any) -> None:
    """Refuse a masked array in which something is masked: what is behind the mask is not to be used.

    Examples
    --------
    >>> refuse_masked("y", np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    ValueError: y is masked in row 1: remove such rows, or fill them in (y.filled), before fitting
    """
    if not isinstance(value, np.ma.MaskedArray) or not np.ma.is_masked(value):
        return
    place = [int(i) for i in np.argwhere(np.ma.getmaskarray(value))[0]]
    where = f"row {place[0]}" if len(place) == 1 else f"column {place[1]}, row {place[0]}" if place else "all"
    raise ValueError(
        f"{name} is masked in {where}: remove such rows, or fill them in ({name}.filled), before fitting"
    )


def check_y(y: Any, n_rows: int) -> Vector:
    """Return ``y`` as a finite float vector of the right length.

    Examples
    --------
    >>> check_y([1, 2], n_rows=2)
    array([1., 2.])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if _is_plain(y, 1) and y.size == n_rows:
        return check_finite("y", y)
    y = gathered("y", y)
    refuse_sparse("y", y)
    refuse_masked("y", y)
    given = y if hasattr(y, "dtype") else read_array("y", y)
    if np.iscomplexobj(given):
        raise ValueError("Complex data not supported: y must be real")
    refuse_no_vector(given)
    array = check_array(
        y, dtype=None, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0, input_name="y"
    )
    _refuse_dates("y", array)
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


def check_labels(y: Any, n_rows: int) -> Any:
    """Return ``y`` as an array of labels of the right length, none of them missing.

    Examples
    --------
    >>> check_labels(["no", "yes"], n_rows=2).tolist()
    ['no', 'yes']
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    y = gathered("y", y)
    refuse_sparse("y", y)
    refuse_masked("y", y)
    array = read_array("y", y)
    if array.dtype.kind in "US" and not hasattr(y, "dtype"):
        array = np.asarray(y, dtype=object)  # or NaN among words would be the word "nan"
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold labels")
    refuse_no_vector(array)
    if array.ndim == 2 and array.shape[1] > 1:
        raise ValueError(f"y has {array.shape[1]} columns, but a classifier explains one column of labels")
    if array.ndim not in (1, 2):
        raise ValueError(f"y has shape {array.shape}, but a classifier explains a 1d array of labels")
    labels = column_or_1d(array, warn=True)
    if labels.size != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {labels.size}"
        )
    if labels.dtype.kind == "f":
        return check_finite("y", labels)
    if labels.dtype.kind in "OmM":
        missing = [row for row, label in enumerate(labels) if _is_missing(label)]
        if missing:
            raise ValueError(
                f"y is missing (NaN or None) in row {missing[0]}: remove such rows before fitting"
            )
    if labels.dtype.kind == "O":
        refuse_several(labels)
        plain = np.array(labels.tolist())
        kinds = {isinstance(label, str) for label in labels}
        if len(kinds) > 1:
            row = next(i for i, v in enumerate(labels) if isinstance(v, str) != isinstance(labels[0], str))
            raise ValueError(
                f"y mixes text and numbers (Unknown label type), as in row {row}, {labels[row]!r}, "
                f"after {labels[0]!r}: use one kind of label"
            )
        if plain.ndim == 1 and (plain.dtype.kind in "biuf" or not hasattr(y, "dtype")):
            return plain  # labels of objects that are numbers after all
    return labels


def check_weights(weights: Any, n_rows: int, any_total: bool = False) -> Vector | None:
    """Return the weights as non-negative floats that do not all vanish, or None.

    ``any_total`` is for weights of which only the proportions matter: they may add up to anything.

    Examples
    --------
    >>> check_weights([1, 2], n_rows=2)
    array([1., 2.])
    """
    if weights is None:
        return None
    refuse_masked("sample_weight", weights)
    vector = read_array("sample_weight", weights)
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
    if (vector == 1.0).all():
        return None
    if not any_total:
        _refuse_extreme_weights(vector)
    return vector


def _refuse_extreme_weights(vector: Vector) -> None:
    """Refuse weights that no number of rows can be, and one beside which the others are lost in rounding."""
    row = int(np.argmax(vector))
    top, (low, high) = float(vector[row]), TOTAL_WEIGHT
    with np.errstate(over="ignore"):
        total = float(vector.sum())
    if not low <= total <= high:
        raise ValueError(
            f"sample_weight adds up to {total:g} (it is {top:g} in row {row}): weights are numbers of rows, "
            f"so scale them to add up to about {vector.size}"
        )
    others = total - top
    if others <= 4.0 * np.finfo(np.float64).eps * top and np.count_nonzero(vector) > 1:
        raise ValueError(
            f"sample_weight in row {row} is {top:g}, beside which all other rows count for nothing: "
            "lower it, or remove the others"
        )


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


def check_offset(offset: Any, n_rows: int) -> Vector | float:
    """Return the offset as finite floats, one for each row, or 0.

    Examples
    --------
    >>> check_offset(None, n_rows=2)
    0.0
    """
    if offset is None:
        return 0.0
    refuse_masked("offset", offset)
    vector = _as_float("offset", read_array("offset", offset))
    if vector.shape != (n_rows,):
        raise ValueError(f"offset has shape {vector.shape}, but X has {n_rows} rows: give one for each row")
    return check_finite("offset", vector)


def _as_float(name: str, vector: Any) -> Vector:
    if np.iscomplexobj(vector):
        raise ValueError(f"Complex data not supported: {name} must be real")
    vector = np.asarray(vector)
    _refuse_dates(name, vector)
    if vector.dtype.kind in "OUS":
        advice = "convert it to numbers" + (CLASSES if name == "y" else "")
        vector = vector.astype(object)
        for row, value in enumerate(vector.tolist()):
            if _is_missing(value):
                raise ValueError(
                    f"Input {name} contains NaN in row {row}: impute or remove such rows before fitting"
                )
            if isinstance(value, str | bytes) or not _is_number(value):
                raise ValueError(f"{name} holds {value!r} in row {row}, which is not a number: {advice}")
    return np.asarray(vector, dtype=np.float64)


def _refuse_dates(name: str, array: Any, where: str = "") -> None:
    if array.dtype.kind in DATES:
        raise ValueError(f"{name} holds dates or durations{where}: {DAYS}")


def _refuse_date_columns(x: Any) -> None:
    """Refuse columns of dates in a frame: the numbers behind them count from some day in some unit."""
    column = date_column(x)
    if column is not None:
        raise ValueError(f"X holds dates or durations in {_column_name(x, column)}: {DAYS}")


def _refuse_same_names(x: Any) -> None:
    """Refuse columns of a frame that share a name: nothing could be said of one of them alone."""
    if is_pandas(x) and not x.columns.is_unique:
        again = int(np.argmax(x.columns.duplicated()))
        name = x.columns[again]
        first = int(np.argmax(x.columns == name))
        raise ValueError(
            f"X has several columns of the name {name!r}, as columns {first} and {again}: give each its own"
        )


def _refuse_words(given: Any, x: Any) -> None:
    """Refuse text, even where it reads like a number, and dates: the signs of a column read wrongly.

    ``x`` is what ``given`` was made of, and may have names.
    """
    values: Any = given if isinstance(given, np.ndarray) else read_array("X", given)
    _refuse_dates("X", values, " in column 0")
    if values.ndim != 2 or values.dtype.kind not in "OUS":
        return
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        if isinstance(value, str | bytes):
            raise ValueError(
                f"X holds the text {value!r} in {_column_name(x, column)}, row {row}, and "
                "could not convert string to float: convert the column to numbers or encode it"
            )
        if isinstance(value, WHEN):
            raise ValueError(
                f"X holds the date or duration {value!r} in {_column_name(x, column)}, row {row}: {DAYS}"
            )


def _where_not_a_number(x: Any) -> str:
    """Return a hint at the first entry that is not a number, or nothing."""
    values = np.asarray(x, dtype=object)
    if values.ndim != 2:
        return ""
    for row, column in np.ndindex(values.shape):
        if not _is_number(values[row, column]):
            where = _column_name(x, column)
            return f"; look at {where}, row {row} of X: encode or remove what is not a number"
    return ""


def _is_missing(value: Any) -> bool:
    """Return whether ``value`` is None, NaN, NaT or pandas.NA, none of which equals itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA
        return True
    except ValueError:  # an array
        return False


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
