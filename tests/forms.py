"""Every form that data come in: containers, dtypes, memory layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

N, P = 80, 9
NAMES = [f"x{j}" for j in range(P)]


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Small integers stored as float64: every dtype tried below holds them exactly."""
    rng = np.random.default_rng(20240611)
    X = rng.integers(-20, 20, size=(N, P)).astype(np.float64)
    y = np.rint(3.0 * X[:, 1] - 2.0 * X[:, 4] + X[:, 7] + 40 + 6.0 * rng.standard_normal(N))
    return X, y


def strided(A: np.ndarray) -> np.ndarray:
    """View A inside a larger array, with gaps along every axis."""
    big = np.full(tuple(3 * size for size in A.shape), np.nan)
    view = big[tuple(slice(1, None, 3) for _ in A.shape)]
    view[...] = A
    return view


def reversed_strides(A: np.ndarray) -> np.ndarray:
    """View with negative strides along every axis, the same values."""
    backwards = tuple(slice(None, None, -1) for _ in A.shape)
    return np.ascontiguousarray(A[backwards])[backwards]


def read_only(A: np.ndarray) -> np.ndarray:
    B = A.copy()
    B.flags.writeable = False
    return B


ARRAY_FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "int64": lambda A: A.astype(np.int64),
    "int32": lambda A: A.astype(np.int32),
    "int16": lambda A: A.astype(np.int16),
    "float32": lambda A: A.astype(np.float32),
    "float16": lambda A: A.astype(np.float16),
    "longdouble": lambda A: A.astype(np.longdouble),
    "other byte order": lambda A: A.astype(np.dtype(np.float64).newbyteorder()),
    "object of numbers": lambda A: A.astype(object),
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed strides": reversed_strides,
    "read-only": read_only,
    "read-only Fortran": lambda A: read_only(np.asfortranarray(A)),
    "lists": lambda A: A.tolist(),
    "lists of ints": lambda A: A.astype(int).tolist(),
}

X_FORMS = ARRAY_FORMS | {
    "tuple of tuples": lambda A: tuple(tuple(row) for row in A.tolist()),
    "list of arrays": lambda A: list(A),
    "pandas": lambda A: pd.DataFrame(A, columns=NAMES),
    "pandas of ints": lambda A: pd.DataFrame(A.astype(int), columns=NAMES),
    "pandas of float32": lambda A: pd.DataFrame(A.astype(np.float32), columns=NAMES),
    "pandas of mixed dtypes": lambda A: pd.DataFrame(
        {name: A[:, j].astype([np.float64, np.int32, np.float32][j % 3]) for j, name in enumerate(NAMES)}
    ),
    "pandas of nullable dtypes": lambda A: pd.DataFrame(A, columns=NAMES).astype(
        {name: ["Float64", "Int64", "Float32"][j % 3] for j, name in enumerate(NAMES)}
    ),
    "pandas with a shuffled index": lambda A: pd.DataFrame(A, columns=NAMES, index=range(N, 0, -1)),
    "polars": lambda A: pl.DataFrame(A, schema=NAMES),
    "polars of mixed dtypes": lambda A: pl.DataFrame(
        {name: A[:, j].astype([np.float64, np.int32, np.float32][j % 3]) for j, name in enumerate(NAMES)}
    ),
}

VECTOR_FORMS = ARRAY_FORMS | {
    "tuple": lambda a: tuple(a.tolist()),
    "pandas": lambda a: pd.Series(a, name="target"),
    "pandas of ints": lambda a: pd.Series(a.astype(int)),
    "pandas of nullable ints": lambda a: pd.Series(a.astype(int), dtype="Int64"),
    "pandas with a shuffled index": lambda a: pd.Series(a, index=range(N, 0, -1)),
    "polars": lambda a: pl.Series("target", a),
}
