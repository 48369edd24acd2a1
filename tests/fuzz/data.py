"""The data of a case: first as plain arrays of floats, then in the container that the user holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from fuzz.cases import Case
from fuzz.homes import HOMES

DTYPES = {"big-endian": ">f8", "longdouble": np.longdouble, "object": object, "bool": bool}
SMALL = {"float32": 30, "float16": 2}
"""The largest exponents of the short floats, squares included for the first."""


class Data(NamedTuple):
    """What a fit is given; ``unit`` is that of y."""

    X: np.ndarray
    y: np.ndarray
    weights: Any = None
    offset: Any = None
    unit: float = 1.0
    exposure: Any = None
    event: Any = None
    entry: Any = None
    strata: Any = None


def build(case: Case) -> Data:
    """Return the data of a case, the same at every call."""
    rng = np.random.default_rng([case.seed, case.n, case.p])
    X = _cast(_scale(_twist(_design(rng, case), case, rng), case, rng), case.dtype)
    unit = 10.0**case.y_exponent if case.is_location else 1.0
    with np.errstate(all="ignore"):
        y, weights = _response(case, X, rng, unit), _weights(case, rng)
        found = Data(X, y, weights, _offset(case, rng, unit), unit, _exposure(case, rng))
        return _lives(case, found, rng) if case.is_survival else found


def _design(rng: np.random.Generator, case: Case) -> np.ndarray:
    n, p = case.n, case.p
    Z = rng.standard_normal((n, p))
    if case.design == "correlated":
        Z[:, 1:] = 0.2 * Z[:, 1:] + Z[:, :1]
    if case.design == "binary" or case.dtype == "bool":
        return (Z > 0.3).astype(float)
    if case.design == "integers" or case.dtype in ("int8", "uint8", "int64"):
        return np.round(np.abs(2.0 * Z))
    if case.design == "skewed":
        return np.exp(1.5 * Z)
    if case.design == "zeros":
        return np.where(rng.random((n, p)) < 0.8, 0.0, Z)
    return Z + 1000.0 if case.design == "shifted" else Z


def _twist(X: np.ndarray, case: Case, rng: np.random.Generator) -> np.ndarray:
    """Spoil the last column, or all."""
    first, last = X[:, 0], X[:, -1]
    if case.twist == "constant":
        last[:] = 7.0
    elif case.twist == "zero":
        last[:] = 0.0
    elif case.twist == "copy":
        last[:] = first
    elif case.twist == "negated":
        last[:] = -first
    elif case.twist == "near copy":
        last[:] = first / 3.0 * 3.0
    elif case.twist == "sum" and case.p > 2:
        last[:] = X[:, 0] + X[:, 1]
    elif case.twist == "one-hot":
        levels = min(case.p, 3)
        codes = rng.integers(0, levels, case.n)
        X[:, :levels] = codes[:, None] == np.arange(levels)
    elif case.twist == "all constant":
        X[:] = X[0]
    elif case.twist == "outlier":
        X[-1] = 1e4 * X[-1]
    return X


def _scale(X: np.ndarray, case: Case, rng: np.random.Generator) -> np.ndarray:
    """Bring columns to other units; the short floats have fewer of them."""
    limit = SMALL.get(case.dtype, 150)
    exponent = int(np.clip(case.x_exponent, -limit, limit))
    if case.x_scale == "none" or case.dtype in ("bool", "int8", "uint8", "int64"):
        return X
    at = np.zeros(case.p, dtype=int)
    if case.x_scale == "all":
        at[:] = exponent
    elif case.x_scale == "one":
        at[rng.integers(case.p)] = exponent
    else:
        at = rng.integers(-abs(exponent), abs(exponent) + 1, case.p)
    return X * 10.0 ** at.astype(float)


def _cast(X: np.ndarray, dtype: str) -> np.ndarray:
    """Return what is left of the numbers in another type, as floats again."""
    if dtype in ("int8", "uint8", "int64"):
        X = np.clip(X, 0 if dtype == "uint8" else -128, 127)
    with np.errstate(all="ignore"):
        if dtype == "float16":
            X = np.clip(X, -6e4, 6e4)
        return X.astype(DTYPES.get(dtype, dtype)).astype(np.float64)


def unit_columns(X: np.ndarray) -> np.ndarray:
    """Return the columns with a largest deviation of 1, whatever their units; zeros where constant."""
    size = np.abs(X).max(axis=0)
    shrunk = X / np.where(size > 0.0, size, 1.0)
    away = shrunk - shrunk[:1]
    largest = np.abs(away).max(axis=0)
    return away / np.where(largest > 0.0, largest, 1.0)


def _response(case: Case, X: np.ndarray, rng: np.random.Generator, unit: float) -> np.ndarray:
    eta = _signal(case, X)
    noise = rng.standard_normal(case.n)
    if case.y == "noise":
        eta = np.zeros(case.n)
    if case.is_binary:
        return _labels(case, eta, noise, rng)
    if case.is_count:
        return _counts(case, eta, rng)
    if case.is_amount:
        return _amounts(case, eta, rng)
    y = eta + (0.0 if case.y == "exact" else 0.3) * noise
    if case.y == "constant":
        y[:] = 3.0
    elif case.y == "outlier":
        y[-1] = 1e3
    elif case.y == "tied" or (case.family == "ordinal" and case.y != "exact"):
        y = np.round(y)
    return unit * (y + 2.0)


def _lives(case: Case, data: Data, rng: np.random.Generator) -> Data:
    """Return times, events, and late entries and strata if there are any."""
    lived = rng.standard_exponential(case.n) if case.y != "exact" else 1.0
    time = np.full(case.n, 3.0) if case.y == "constant" else np.exp(-data.y) * lived
    time = np.ceil(4.0 * time) if case.y == "tied" else time
    event = rng.random(case.n) < 0.7
    late = case.lives in ("entry", "both")
    entry = time * np.where(rng.random(case.n) < 0.5, rng.random(case.n), 0.0) - 1e-3 if late else None
    strata = np.where(rng.random(case.n) < 0.6, "a", "b") if case.lives in ("strata", "both") else None
    return data._replace(y=time, event=event, entry=entry, strata=strata)


def _signal(case: Case, X: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        units = np.nan_to_num(unit_columns(X), nan=0.0, posinf=0.0, neginf=0.0)
    coef = np.zeros(case.p)
    coef[: min(case.p, 2)] = (2.0, -1.5)[: min(case.p, 2)]
    return units @ coef


def _labels(case: Case, eta: np.ndarray, noise: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return codes: a whole number a class."""
    if case.y == "constant":
        return np.zeros(case.n)
    if case.y == "tied" and not case.is_classifier:
        return np.round(rng.random(case.n), 1)  # proportions
    latent = 2.0 * eta + (0.0 if case.y == "exact" else 1.0) * noise
    ranks = latent.argsort().argsort()
    return np.minimum(ranks * case.classes // case.n, case.classes - 1).astype(float)


def _counts(case: Case, eta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if case.y == "constant":
        return np.zeros(case.n)
    large = 10.0 ** min(abs(case.y_exponent), 15)
    counts = rng.poisson(np.exp(eta) * large).astype(float)
    if case.y == "outlier":
        counts[-1] = 1e6
    return counts + 0.5 if case.y == "tied" else counts


def _amounts(case: Case, eta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    unit = 10.0 ** int(np.clip(case.y_exponent, -12, 12))
    if case.y == "constant":
        return np.full(case.n, 3.0 * unit)
    noise = 1.0 if case.y == "exact" else rng.standard_gamma(2.0, case.n) / 2.0
    amounts = np.exp(eta) * noise
    if case.family.lower().startswith("tweedie") and case.family != "Tweedie(2)":
        amounts = np.where(rng.random(case.n) < 0.3, 0.0, amounts)
    if case.y == "outlier":
        amounts[-1] = 1e6
    return unit * (np.round(amounts) + 1.0 if case.y == "tied" else amounts)


def _weights(case: Case, rng: np.random.Generator) -> Any:
    n = case.n
    some = rng.random(n)
    kinds: dict[str, Any] = {
        "none": None,
        "ones": np.ones(n),
        "counts": np.floor(3.0 * some) + 1.0,
        "uniform": some + 0.1,
        "some zero": np.where(some < 0.3, 0.0, 1.0),
        "dominant": np.where(np.arange(n) == 0, 1e6, 1.0),
        "tiny": 1e-6 * (some + 0.1),
        "large": 1e6 * (some + 0.1),
        "scalar": 2.0,
    }
    return kinds[case.weights]


def _offset(case: Case, rng: np.random.Generator, unit: float) -> Any:
    normal = rng.standard_normal(case.n)
    kinds: dict[str, Any] = {
        "none": None,
        "normal": unit * normal,
        "constant": np.full(case.n, 2.0 * unit),
        "large": 30.0 * unit * normal,
        "exposure": None,
    }
    return kinds[case.offset]


def _exposure(case: Case, rng: np.random.Generator) -> Any:
    """Return how long each row was watched, some a thousand times as long as others."""
    return 10.0 ** rng.uniform(-1.0, 2.0, case.n) if case.offset == "exposure" else None


def wrap_x(case: Case, X: np.ndarray) -> Any:
    """Return X as the user holds it."""
    typed = X.astype(DTYPES.get(case.dtype, case.dtype)) if case.dtype != "float64" else X.copy()
    kind = case.container
    if kind.endswith(("_array", "_matrix")):
        plain = typed.astype(float) if case.dtype in ("object", "float16", "longdouble") else typed
        return getattr(sparse, kind)(plain.astype(plain.dtype.newbyteorder("=")))
    if kind in HOMES:
        return HOMES[kind](np.ascontiguousarray(_native(typed)))
    wrappers: dict[str, Any] = {
        "c": np.ascontiguousarray,
        "fortran": np.asfortranarray,
        "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
        "read-only": _frozen,
        "list": lambda a: a.tolist(),
        "tuples": lambda a: tuple(map(tuple, a.tolist())),
        "pandas": _frame,
        "mixed pandas": lambda a: _frame(a).astype({"c0": "float32" if a.dtype == bool else float}),
        "nullable pandas": lambda a: _frame(a.astype(float)).astype("Float64"),
        "polars": lambda a: pl.DataFrame(_native(a), schema=[f"c{j}" for j in range(a.shape[1])]),
        "sparse pandas": lambda a: _frame(_native(a)).astype(pd.SparseDtype(float, 0.0)),
    }
    return wrappers[kind](typed)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _native(array: np.ndarray) -> np.ndarray:
    return array if array.dtype.kind in "biu" else array.astype(float)


def _frame(array: np.ndarray) -> pd.DataFrame:
    native = array.astype(array.dtype.newbyteorder("=")) if array.dtype.kind == "f" else array
    return pd.DataFrame(native, columns=[f"c{j}" for j in range(array.shape[1])])


def wrap_lives(case: Case, y: np.ndarray, event: np.ndarray) -> Any:
    """Return times and events as the user holds them."""
    both = np.column_stack([y, event])
    fields = np.empty(y.size, dtype=[("event", bool), ("time", float)])
    fields["event"], fields["time"] = event, y
    wrappers: dict[str, Any] = {
        "array": lambda: fields,
        "list": both.tolist,
        "pandas": lambda: pd.DataFrame({"time": y, "event": event}),
        "polars": lambda: pl.DataFrame({"time": y, "event": event.astype(int)}),
        "column": lambda: np.asfortranarray(both),
        "strided": lambda: np.repeat(fields, 2)[::2],
        "object": lambda: both.astype(object),
    }
    return wrappers[case.y_container]()


def wrap_y(case: Case, y: np.ndarray) -> Any:
    """Return y as the user holds it; labels are numbers, words or truth values."""
    if case.is_classifier:
        y = y.astype(int)
        if case.seed % 3 == 1:
            y = np.array(["none", "some", "many", "most", "all"])[y]
        elif case.seed % 3 == 2 and case.classes == 2:
            y = y == 1
    wrappers: dict[str, Any] = {
        "array": np.array,
        "list": lambda v: v.tolist(),
        "pandas": pd.Series,
        "polars": lambda v: pl.Series(v.tolist()),
        "column": lambda v: v[:, None],
        "strided": lambda v: np.repeat(v, 2)[::2],
        "object": lambda v: v.astype(object),
    }
    return wrappers[case.y_container](y)
