"""Data frames as arrays of floats, whatever mixture of numbers and truth values their columns are.

A frame of several dtypes would become an array of Python objects on the way, which takes far longer than the
numbers do. So each column is converted from its own dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# The kinds of NumPy's dtypes; those of pandas have the same letters.
NUMBERS, DATES = "biuf", "mM"


def is_pandas(x: Any) -> bool:
    """Tell whether ``x`` is a data frame of pandas, which need not be installed."""
    return hasattr(x, "dtypes") and hasattr(x, "iloc") and getattr(x, "ndim", 0) == 2


def is_polars(x: Any) -> bool:
    """Tell whether ``x`` is a data frame of polars, which need not be installed."""
    return hasattr(x, "get_columns") and hasattr(x, "schema")


def date_column(x: Any) -> int | None:
    """Return the first column of a frame that holds dates, times or durations; None if there is none.

    Examples
    --------
    >>> date_column([[1.0, 2.0]]) is None
    True
    """
    if is_pandas(x):
        dates = [dtype.kind in DATES or str(dtype).startswith("period") for dtype in x.dtypes]
    elif is_polars(x):
        dates = [dtype.is_temporal() for dtype in x.dtypes]
    else:
        return None
    return dates.index(True) if True in dates else None


def frame_values(x: Any) -> Any:
    """Return the numbers of a frame as an array, with NaN for what is missing.

    Whatever else is handed in, or a frame in which not every column holds numbers, is returned as it is.

    Examples
    --------
    >>> frame_values([[1, 2]])
    [[1, 2]]
    """
    if is_pandas(x):
        return _pandas_values(x)
    return _polars_values(x) if is_polars(x) else x


def _pandas_values(x: Any) -> Any:
    dtypes = set(x.dtypes)
    if not dtypes:
        return np.empty(x.shape)
    if any(dtype.kind not in NUMBERS for dtype in dtypes):
        return x
    if all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return x.to_numpy(dtype=np.float64)
    return _filled(x.shape, (x.iloc[:, j] for j in range(x.shape[1])), na_value=np.nan)


def _polars_values(x: Any) -> Any:
    dtypes = set(x.dtypes)
    numbers = all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in dtypes)
    if not numbers or (len(dtypes) == 1 and next(iter(dtypes)).is_float()):  # these have a quicker way
        return x
    from polars import Float64  # whoever has a frame of polars has polars

    return _filled(x.shape, (column.cast(Float64) for column in x.get_columns()))


def _filled(shape: tuple[int, int], columns: Any, **options: Any) -> Any:
    """Return the columns in a Fortran-ordered array."""
    out = np.empty(shape, order="F")
    for j, column in enumerate(columns):
        out[:, j] = column.to_numpy(**({"dtype": np.float64, **options} if options else {}))
    return out
