"""Bad data are refused with a message that says what was wrong, where, and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from horseshoe import HorseshoeRegressor
from refusals import NAMES, NUMBER, assert_says, at_column, at_row, refused
from refused_data import N, P, make_data

pytestmark = pytest.mark.filterwarnings("error")


def fit_message(X: Any, y: Any, **kwargs: Any) -> str:
    return refused(lambda: HorseshoeRegressor().fit(X, y, **kwargs))


# --- values that are not finite -------------------------------------------------------------------

NOT_FINITE = {"nan": (np.nan, "nan|missing"), "inf": (np.inf, "inf"), "-inf": (-np.inf, "inf")}


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize(("row", "column"), [(0, 0), (17, 3), (N - 1, P - 1)])
def test_a_value_of_x_that_is_not_finite(value: str, row: int, column: int) -> None:
    X, y = make_data()
    X[row, column] = NOT_FINITE[value][0]
    assert_says(fit_message(X, y), r"\bX\b", NOT_FINITE[value][1], at_row(row), at_column(column))


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_dtype_and_layout_of_x_that_is_not_finite(value: str, dtype: type, order: str) -> None:
    X, y = make_data()
    X[17, 3] = NOT_FINITE[value][0]
    given = np.asarray(X, dtype=dtype, order=order)
    assert_says(fit_message(given, y), r"\bX\b", NOT_FINITE[value][1], at_row(17), at_column(3))


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("to_frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_of_a_frame_goes_by_its_name(value: str, to_frame: Callable[..., Any]) -> None:
    X, y = make_data()
    X[17, 3] = NOT_FINITE[value][0]
    frame = to_frame({name: X[:, j] for j, name in enumerate(NAMES)})
    assert_says(fit_message(frame, y), r"\bX\b", NOT_FINITE[value][1], at_row(17), r"\bweight_kg\b")


def test_a_missing_value_of_a_nullable_column() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES).astype("Float64")
    frame.loc[17, "weight_kg"] = pd.NA
    assert_says(fit_message(frame, y), r"\bX\b", "nan|missing", at_row(17), r"\bweight_kg\b")


def test_a_missing_value_of_a_polars_column() -> None:
    X, y = make_data()
    columns = {name: X[:, j].tolist() for j, name in enumerate(NAMES)}
    columns["weight_kg"][17] = None
    assert_says(fit_message(pl.DataFrame(columns), y), r"\bX\b", "nan|missing", at_row(17), r"\bweight_kg\b")


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize(
    "to_vector", [np.asarray, list, pd.Series, pl.Series], ids=["array", "list", "pandas", "polars"]
)
def test_a_value_of_y_that_is_not_finite(value: str, to_vector: Callable[..., Any]) -> None:
    X, y = make_data()
    y[12] = NOT_FINITE[value][0]
    assert_says(fit_message(X, to_vector(y)), r"\by\b", NOT_FINITE[value][1], at_row(12))


@pytest.mark.parametrize("value", NOT_FINITE)
def test_a_weight_that_is_not_finite(value: str) -> None:
    X, y = make_data()
    weights = np.ones(N)
    weights[8] = NOT_FINITE[value][0]
    assert_says(fit_message(X, y, sample_weight=weights), r"sample_weight", NOT_FINITE[value][1], at_row(8))


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("method", ["predict", "predict_interval"])
def test_new_data_that_are_not_finite(value: str, method: str) -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(pd.DataFrame(X, columns=NAMES), y)
    X[17, 3] = NOT_FINITE[value][0]
    message = refused(lambda: getattr(est, method)(pd.DataFrame(X, columns=NAMES)))
    assert_says(message, r"\bX\b", NOT_FINITE[value][1], at_row(17), r"\bweight_kg\b")


# --- values that are not real numbers -------------------------------------------------------------


def test_a_column_of_strings_in_a_frame() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    frame["income"] = ["low", "high"] * (N // 2)
    assert_says(fit_message(frame, y), r"\bincome\b", NUMBER)


def test_a_column_of_strings_in_a_polars_frame() -> None:
    X, y = make_data()
    frame = pl.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})
    frame = frame.with_columns(pl.Series("income", ["low", "high"] * (N // 2)))
    assert_says(fit_message(frame, y), r"\bincome\b", NUMBER)


def test_a_categorical_column_in_a_frame() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    frame["income"] = pd.Categorical(["low", "high"] * (N // 2))
    assert_says(fit_message(frame, y), r"\bincome\b", NUMBER)


def test_a_column_of_dates_in_a_frame() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    frame["income"] = pd.date_range("2020-01-01", periods=N)
    assert_says(fit_message(frame, y), r"\bincome\b", NUMBER)


@pytest.mark.parametrize(
    "entry",
    ["low", "", None, {"a": 1}, [1, 2], object()],
    ids=["word", "empty", "None", "dict", "list", "object"],  # the same in every test process
)
def test_an_object_in_x_that_is_not_a_number(entry: Any) -> None:
    X, y = make_data()
    given = X.astype(object)
    given[17, 3] = entry
    assert_says(fit_message(given, y), r"\bX\b", at_column(3), at_row(17))


@pytest.mark.parametrize("kind", [str, bytes])
def test_an_array_of_strings(kind: type) -> None:
    _, y = make_data()
    assert_says(fit_message(np.full((N, P), "low").astype(kind), y), r"\bX\b", NUMBER)


@pytest.mark.parametrize("kind", [str, bytes])
def test_strings_that_look_like_numbers_are_strings(kind: type) -> None:
    X, y = make_data()
    assert_says(fit_message(X.astype(kind), y), r"\bX\b", NUMBER)
    assert_says(fit_message(X, y.astype(kind)), r"\by\b", NUMBER)


def test_a_column_of_strings_that_look_like_numbers() -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    frame["income"] = frame["income"].astype(str)
    assert_says(fit_message(frame, y), r"\bincome\b", NUMBER)


@pytest.mark.parametrize("entry", ["low", {"a": 1}], ids=str)
def test_an_object_in_y_that_is_not_a_number(entry: Any) -> None:
    X, y = make_data()
    given = y.astype(object)
    given[12] = entry
    assert_says(fit_message(X, given), r"\by\b", NUMBER)


def test_a_y_of_strings() -> None:
    X, _ = make_data()
    assert_says(fit_message(X, ["low", "high"] * (N // 2)), r"\by\b", NUMBER)


def test_a_y_of_none() -> None:
    X, _ = make_data()
    assert_says(fit_message(X, None), r"\by\b")


def test_complex_x() -> None:
    X, y = make_data()
    assert_says(fit_message(X + 1j, y), r"\bX\b", "complex")


def test_complex_y() -> None:
    X, y = make_data()
    assert_says(fit_message(X, y + 1j), r"\by\b", "complex|real")


def test_complex_weights() -> None:
    X, y = make_data()
    assert_says(fit_message(X, y, sample_weight=np.ones(N) + 1j), "sample_weight", "complex|real")


FORMATS = ["csr_matrix", "csc_array", "coo_array", "lil_matrix"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_sparse_x_with_a_bad_entry(kind: str, value: float, word: str) -> None:
    X, y = make_data()
    X[np.abs(X) < 0.5] = 0.0
    X[7, 2] = value
    assert_says(fit_message(getattr(sparse, kind)(X), y), word, "column 2", "row 7", "impute|remove")
    good = HorseshoeRegressor().fit(sparse.csr_array(np.nan_to_num(X, posinf=1.0, neginf=1.0)), y)
    assert_says(refused(lambda: good.predict(getattr(sparse, kind)(X))), word, "column 2", "row 7")


def test_sparse_x_that_is_not_of_numbers() -> None:
    X, y = make_data()
    assert_says(fit_message(sparse.csr_array(X + 1j), y), "Complex", "X", "number")
    words = sparse.coo_array(X)
    words.data = words.data.astype(object)
    assert_says(fit_message(words, y), "X", "object", "convert")


def test_sparse_x_of_the_wrong_shape() -> None:
    X, y = make_data()
    assert_says(fit_message(sparse.coo_array(X[:, 0]), y), "2D", "rows and columns")
    assert_says(fit_message(sparse.csr_array(X[:5]), y), "inconsistent", "5", str(N))
    est = HorseshoeRegressor().fit(sparse.csr_array(X), y)
    assert_says(refused(lambda: est.predict(sparse.csr_array(X[:, :2]))), "2 features", str(X.shape[1]))


@pytest.mark.parametrize("kind", FORMATS)
def test_sparse_y(kind: str) -> None:
    X, y = make_data()
    assert_says(fit_message(X, getattr(sparse, kind)(y[:, None])), r"\by\b", "sparse", "toarray")


# --- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [N - 1, N + 1])
def test_y_of_another_length(length: int) -> None:
    X, _ = make_data()
    assert_says(
        fit_message(X, np.arange(float(length))),
        r"\bX\b|input",
        r"\by\b|input",
        rf"\b{N}\b",
        rf"\b{length}\b",
    )


@pytest.mark.parametrize("length", [N - 1, N + 1])
def test_weights_of_another_length(length: int) -> None:
    X, y = make_data()
    message = fit_message(X, y, sample_weight=np.ones(length))
    assert_says(message, "sample_weight", rf"\b{N}\b", rf"\b{length}\b")


def test_weights_of_two_dimensions() -> None:
    X, y = make_data()
    assert_says(fit_message(X, y, sample_weight=np.ones((N, 2))), r"sample.weight", r"1d|one|dimension|shape")


def test_one_row() -> None:
    X, y = make_data()
    assert_says(fit_message(X[:1], y[:1]), r"\b(1|one)\b (row|sample)", r"\b(2|two)\b")


def test_no_rows() -> None:
    X, y = make_data()
    assert_says(fit_message(X[:0], y[:0]), r"\b(0|no)\b (row|sample)", r"minimum|at least|need")


def test_no_columns() -> None:
    X, y = make_data()
    assert_says(fit_message(X[:, :0], y), r"\b(0|no)\b (column|feature)", r"\b(1|one)\b")


@pytest.mark.parametrize("dimensions", [0, 1, 3])
def test_x_that_is_not_a_matrix(dimensions: int) -> None:
    X, y = make_data()
    given = {0: X[0, 0], 1: X[:, 0], 3: X[:, :, None]}[dimensions]
    assert_says(fit_message(given, y), r"\bX\b|array", r"2d|two|dim")


def test_ragged_x() -> None:
    X, y = make_data()
    rows = X.tolist()
    rows[17] = rows[17][:-1]
    assert_says(fit_message(rows, y), r"\bX\b|sequence|shape")


@pytest.mark.parametrize("to_frame", [np.asarray, pd.DataFrame], ids=["array", "pandas"])
def test_y_with_two_columns(to_frame: Callable[..., Any]) -> None:
    X, y = make_data()
    both = to_frame(np.abs(np.round(np.column_stack([y, y]))))
    message = refused(lambda: HorseshoeRegressor(family="poisson").fit(X, both))
    assert_says(message, r"\by\b", r"\b(2|two)\b|multi.?output", r"one|1d|single|each|separate")


@pytest.mark.parametrize("columns", [P - 1, P + 1])
@pytest.mark.parametrize("method", ["predict", "predict_interval"])
def test_new_data_with_another_number_of_columns(columns: int, method: str) -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(X, y)
    message = refused(lambda: getattr(est, method)(np.ones((4, columns))))
    assert_says(message, r"\bX\b", rf"\b{columns}\b", rf"\b{P}\b")


def test_new_data_of_one_dimension() -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(X, y)
    assert_says(refused(lambda: est.predict(X[0])), r"\bX\b|array", r"2d|two|dim")


def test_new_data_with_other_names() -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(pd.DataFrame(X, columns=NAMES), y)
    renamed = pd.DataFrame(X, columns=["age", "height", "income", "weight_lb", "shoe"])
    assert_says(refused(lambda: est.predict(renamed)), "weight_lb", "weight_kg")


# --- weights --------------------------------------------------------------------------------------


def test_a_negative_weight() -> None:
    X, y = make_data()
    weights = np.ones(N)
    weights[8] = -0.5
    assert_says(fit_message(X, y, sample_weight=weights), "sample_weight", "negative", at_row(8))


def test_weights_that_are_all_zero() -> None:
    X, y = make_data()
    assert_says(fit_message(X, y, sample_weight=np.zeros(N)), "sample_weight", "zero|positive")


def test_weights_that_leave_one_row() -> None:
    X, y = make_data()
    weights = np.zeros(N)
    weights[3] = 1.0
    assert_says(fit_message(X, y, sample_weight=weights), "weight", r"at least (2|two)|\b(1|one)\b")


def test_weights_of_strings() -> None:
    X, y = make_data()
    assert_says(fit_message(X, y, sample_weight=["heavy"] * N), "sample_weight", NUMBER)


# --- what is no table, and no vector ---------------------------------------------------------------

FIELDS = np.zeros(N, dtype=[("height", float), ("age", float)])


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ("data", ["'data'", "rows and columns"]),
        ({1.0, 2.0}, ["1.0", "rows and columns"]),
        (None, ["None", "rows and columns"]),
        ([[1.0, 2.0], [3.0, 4.0], [5.0]], ["2 entries in row 0", "1 in row 2"]),
        (FIELDS, ["structured", "height", "age", "structured_to_unstructured"]),
        (np.zeros((0, P)), ["no rows", "0 sample"]),
        (sparse.csr_array((0, P)), ["no rows", "0 sample"]),
        (sparse.csr_array((N, 0)), [r"0 feature\(s\)"]),
        (np.zeros((2, N, P)), ["dim"]),
    ],
    ids=["word", "set", "None", "ragged", "fields", "no rows", "sparse rows", "sparse columns", "3d"],
)
def test_what_is_no_table(X: Any, says: list[str]) -> None:
    assert_says(fit_message(X, make_data()[1]), r"\bX\b", *says)


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ("data", ["'data'", "one value for each row"]),
        ({1.0, 2.0}, ["1.0", "one value for each row"]),
        (3.0, ["3.0", "one value for each row"]),
        ([[1.0, 2.0], [3.0]], ["2 entries in row 0", "1 in row 1"]),
        (FIELDS, ["structured", "height"]),
        (np.zeros(0), [f"X has {N} rows", "y has 0"]),
    ],
    ids=["word", "set", "number", "ragged", "fields", "no rows"],
)
def test_what_is_no_vector(y: Any, says: list[str]) -> None:
    assert_says(fit_message(make_data()[0], y), r"\by\b", *says)


@pytest.mark.parametrize("kind", [float, pd.SparseDtype(float, 0.0)], ids=["dense", "sparse"])
def test_columns_that_share_a_name(kind: Any) -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=["age", "height", "age", *NAMES[3:]]).astype(kind)
    assert_says(fit_message(frame, y), r"\bX\b", "'age'", r"\b0 and 2\b")
