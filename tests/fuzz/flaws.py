"""Mistakes that users make: each must be refused with a sentence that names it, or have a sound answer."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

NAN, INF = float("nan"), float("inf")

OPTIONS: list[tuple[str, Any]] = [
    *(("tau", value) for value in (0.0, -1.0, NAN, INF, 1e200, 1e-200, "large", None)),
    *(("tau_max", value) for value in (0.0, -1.0, NAN, INF, 1e200, 1e-10, 1e-200, "large")),
    *(("slab", value) for value in (0.0, -1.0, NAN, INF, 1e200, 1e-10, "wide", True)),
    ("prior", "cauchy"),
    ("prior", None),
]
KNOWN: list[tuple[str, Any]] = [
    *(
        ("feature_groups", value)
        for value in ("ab", 3, [0] * 999, {"a": []}, {"a": ["nobody"]}, {"a": [0], "b": [0]})
    ),
    *(("unpenalized", value) for value in (["nobody"], [999], [-1], 1.5, [None], "age")),
    *(
        ("prior_scale", value)
        for value in ([1.0] * 999, -1.0, {0: 0.0}, {0: NAN}, {0: INF}, "wide", {0: 1e9})
    ),
]
LOOP: list[tuple[str, Any]] = [
    *(("lambda_power", value) for value in (0.0, 2.5, -1.0, NAN, 0.01, 1e-200, "two", None)),
    *(("tol", value) for value in (-1.0, NAN, INF, 1e300, "small", None)),
    *(("max_iter", value) for value in (0, -1, 2.5, "ten", None, True)),
    *(("zero_threshold", value) for value in (-1.0, NAN, INF, 1e300, "none", None)),
]
VARIANCE: list[tuple[str, Any]] = [
    ("sigma2", value) for value in (0.0, -1.0, NAN, INF, 1e-300, 1e300, 1e-20, 1e20, "known", None)
]
SEARCH: list[tuple[str, Any]] = [
    *(("expectation", value) for value in ("fast", None, 1)),
    *(("random_state", value) for value in (-1, 1.5, "seed", 2**70)),
    ("start", "nowhere"),
    ("start", None),
    ("start", "unfitted"),
    ("start", "other columns"),
    ("callback", 3),
    ("warm_start", None),
]
FAMILY: list[tuple[str, Any]] = [("family", value) for value in ("binomial", "gama", None, 3)]
CLASSES: list[tuple[str, Any]] = [
    ("weights", "newton"),
    ("weights", None),
    *(("class_weight", value) for value in ("even", 3, {"a": 1.0}, {0: -1.0}, {0: NAN}, {0: 1e200})),
]
RUN: list[tuple[str, Any]] = [
    *(("n_draws", value) for value in (0, -1, 2.5, None, 1)),
    *(("n_warmup", value) for value in (-1, 0, "many")),
    *(("n_chains", value) for value in (0, -2, True)),
    *(("thin", value) for value in (0, 3, None)),
    *(("random_state", value) for value in (-1, 1.5, "seed", 2**70)),
    ("n_jobs", 0),
    ("n_jobs", "two"),
    ("max_memory", 10.0),
    ("max_memory", -1.0),
]
AVERAGE: list[tuple[str, Any]] = [
    *(("cv", value) for value in (0, 1, -3, 2.5, "ten", None, True, 1000, [], [1, 2])),
    *(
        ("components", value)
        for value in ("lasso", [], None, 3, ["horseshoe", "horseshoe"], ["horseshoe", 3])
    ),
    *(("selection", value) for value in ("2se", None, 1)),
    *(("random_state", value) for value in (-1, 1.5, "seed", 2**70)),
    *(("n_jobs", value) for value in (0, "two")),
    ("callback", 3),
]
LEVEL: list[tuple[str, Any]] = [
    ("level", value) for value in (0.0, 1.0, -1.0, NAN, 1.0 - 1e-16, 1e-300, "high")
]
X_WAYS = [
    *("nan", "inf", "none", "text", "number as text", "complex", "date", "timedelta", "masked", "category"),
    *("1d", "3d", "no rows", "no columns", "scalar", "nothing", "word", "ragged", "arrays inside", "decimal"),
    *("missing", "same names", "mixed names", "one huge", "all huge", "one subnormal", "set", "structured"),
    *("sparse nan", "sparse complex", "sparse 1d", "dict"),
]
Y_WAYS = [
    *("nan", "inf", "none", "text", "complex", "date", "timedelta", "masked", "two columns", "longer"),
    *(
        "no rows",
        "nothing",
        "scalar",
        "sparse",
        "one huge",
        "all huge",
        "negative",
        "fraction",
        "arrays inside",
    ),
    *("decimal", "mixed", "subnormal"),
]
WEIGHT_WAYS = [
    *("nan", "inf", "negative", "longer", "all zero", "text", "2d", "huge", "tiniest", "none", "complex"),
    *("one positive", "masked", "date"),
]
OFFSET_WAYS = ["nan", "inf", "longer", "text", "2d", "huge", "hundreds", "none", "complex", "masked", "date"]
EXPOSURE_WAYS = [
    "nan",
    "inf",
    "negative",
    "longer",
    "all zero",
    "text",
    "2d",
    "huge",
    "tiniest",
    "none",
    "complex",
]
ENTRY_WAYS = ["nan", "inf", "longer", "text", "2d", "huge", "none", "complex", "masked", "date"]
STRATA_WAYS = ["nan", "none", "longer", "2d", "no rows", "complex", "masked", "mixed", "arrays inside"]
EVENT_WAYS = ["nan", "inf", "none", "text", "fraction", "negative", "all zero", "2d", "longer"]
NEW_WAYS = ["fewer columns", "nan", "other names", "reversed names", "no rows", "1d", "huge", "unfitted"]

DATA = [
    *(("X", way) for way in X_WAYS),
    *(("y", way) for way in Y_WAYS),
    *(("sample_weight", way) for way in WEIGHT_WAYS),
    *(("offset", way) for way in OFFSET_WAYS),
    *(("new", way) for way in NEW_WAYS),
]
EXPOSURE = [("exposure", way) for way in EXPOSURE_WAYS]
LIVES = [
    *(("entry", way) for way in ENTRY_WAYS),
    *(("strata", way) for way in STRATA_WAYS),
    *(("event", way) for way in EVENT_WAYS),
    *(("ties", value) for value in ("exact", None, 3)),
]
FLAWS: dict[str, list[tuple[str, Any]]] = {
    "regressor": [*OPTIONS, *KNOWN, *LOOP, *VARIANCE, *SEARCH, *FAMILY, *LEVEL, *DATA, *DATA, *EXPOSURE],
    "classifier": [*OPTIONS, *KNOWN, *LOOP, *SEARCH, *CLASSES, *LEVEL, *DATA, *DATA],
    "sampler": [*OPTIONS, *KNOWN, *VARIANCE, *FAMILY, *RUN, *LEVEL, *DATA, *DATA, *EXPOSURE],
    "regressor cv": [*KNOWN, *AVERAGE, *AVERAGE, *FAMILY, *LEVEL, *DATA, *EXPOSURE],
    "classifier cv": [*KNOWN, *AVERAGE, *AVERAGE, *CLASSES[2:], *LEVEL, *DATA],
    "survival cv": [*KNOWN, *AVERAGE, *LIVES, *LEVEL, *DATA],
    "survival": [*OPTIONS, *LOOP, *SEARCH, *LIVES, *LIVES, *LEVEL, *DATA],
    "means": [
        *(flaw for flaw in OPTIONS if flaw[0] != "slab"),
        *LOOP,
        *VARIANCE,
        *(("y", way) for way in Y_WAYS),
    ],
}


def spoil_x(way: str, X: Any) -> Any:
    """Return X spoiled; ``X`` is an array of floats."""
    n, p = X.shape
    row, column = n // 2, p - 1
    spoiled = X.astype(object)
    entries: dict[str, Any] = {
        "nan": NAN,
        "inf": INF,
        "none": None,
        "text": "blue",
        "number as text": "1.5",
        "complex": 1j,
        "date": datetime.date(2020, 1, 1),
        "arrays inside": np.zeros(2),
        "decimal": decimal.Decimal("1.5"),
        "one huge": 1e300,
        "one subnormal": 5e-324,
    }
    if way in entries:
        spoiled[row, column] = entries[way]
        plain = way in ("nan", "inf", "one huge", "one subnormal")
        return spoiled.astype(complex if way == "complex" else float if plain else object)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(p)])
    whole: dict[str, Any] = {
        "timedelta": lambda: frame.assign(c0=pd.to_timedelta(np.arange(n), unit="D")),
        "masked": lambda: np.ma.masked_array(X, mask=np.arange(n * p).reshape(n, p) == p - 1),
        "category": lambda: frame.assign(c0=pd.Categorical(["a", "b"] * n)[:n]),
        "1d": lambda: X[:, 0],
        "3d": lambda: X[None],
        "no rows": lambda: X[:0],
        "no columns": lambda: X[:, :0],
        "scalar": lambda: 3.0,
        "nothing": lambda: None,
        "word": lambda: "data",
        "ragged": lambda: [[1.0] * (p + i % 2) for i in range(max(n, 2))],
        "missing": lambda: frame.astype("Float64").assign(c0=pd.array([pd.NA] * n, dtype="Float64")),
        "same names": lambda: frame.set_axis(["a"] * p, axis=1),
        "mixed names": lambda: frame.set_axis(["a", *range(p - 1)], axis=1),
        "all huge": lambda: X * 1e300,
        "set": lambda: {1.0, 2.0},
        "structured": lambda: np.zeros(n, dtype=[("a", float), ("b", float)]),
        "sparse nan": lambda: sparse.csr_array(np.where(np.arange(p) == p - 1, NAN, X)),
        "sparse complex": lambda: sparse.csr_array(X * 1j),
        "sparse 1d": lambda: sparse.coo_array(X[:, 0]),
        "dict": lambda: {"a": X[:, 0]},
    }
    with np.errstate(over="ignore"):
        return whole[way]()


def spoil_vector(way: str, y: Any) -> Any:
    """Return y, weights or an offset spoiled; ``y`` is an array."""
    n = len(y)
    spoiled = np.asarray(y).astype(object)
    entries: dict[str, Any] = {
        "nan": NAN,
        "inf": INF,
        "none": None,
        "text": "blue",
        "complex": 1j,
        "mixed": "3",
        "negative": -2.0,
        "fraction": 0.25,
        "one huge": 1e300,
        "hundreds": 800.0,
        "arrays inside": np.zeros(2),
        "decimal": decimal.Decimal("1.5"),
        "subnormal": 5e-324,
    }
    if way in entries:
        spoiled[n // 2] = entries[way]
        try:
            return spoiled.astype(complex if way == "complex" else float) if way != "mixed" else spoiled
        except (TypeError, ValueError):
            return spoiled
    one = np.zeros(n)
    one[0] = 1.0
    whole: dict[str, Any] = {
        "date": lambda: np.arange(n).astype("datetime64[D]"),
        "timedelta": lambda: np.arange(n).astype("timedelta64[D]"),
        "masked": lambda: np.ma.masked_array(np.asarray(y), mask=np.arange(n) == 0),
        "two columns": lambda: np.column_stack([y, y]),
        "2d": lambda: np.column_stack([y, y]),
        "longer": lambda: np.r_[y, y[:1]],
        "no rows": lambda: y[:0],
        "nothing": lambda: None,
        "scalar": lambda: 3.0,
        "sparse": lambda: sparse.csr_array(np.ones((n, 1))),
        "all huge": lambda: np.linspace(-1e300, 1e300, n),
        "all zero": lambda: np.zeros(n),
        "huge": lambda: np.linspace(1e150, 2e150, n),
        "tiniest": lambda: np.full(n, 1e-300),
        "one positive": lambda: one,
    }
    return whole[way]()
