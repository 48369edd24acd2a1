"""Bad input is refused with a message that says what was wrong, where, and what is allowed."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from farrier import HorseshoeRegressor, normal_means
from farrier.priors import InvertedBeta

pytestmark = pytest.mark.filterwarnings("error")

N, P = 30, 5
NAMES = ["age", "height", "income", "weight_kg", "shoe"]

POSITIVE = r"positive|greater than 0|> ?0|above 0|\(0(\.0)?,"
NOT_NEGATIVE = r"non.?negative|not negative|at least 0|>= ?0|zero or|0 or|\[0(\.0)?,"


def make_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(99)
    X = rng.standard_normal((N, P))
    return X, 3.0 * X[:, 1] + 0.2 * rng.standard_normal(N)


def refused(action: Callable[[], Any]) -> str:
    """Return the message of the ValueError or TypeError that `action` must raise, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError)) as caught:
            action()
    return str(caught.value)


def assert_says(message: str, *patterns: str) -> None:
    for pattern in patterns:
        assert re.search(pattern, message, re.IGNORECASE | re.DOTALL), f"{pattern!r} is not in: {message}"


def at_row(row: int) -> str:
    return rf"row[^.\n]{{0,20}}\b{row}\b"


def at_column(column: int | str) -> str:
    return rf"(column|feature)[^.\n]{{0,20}}\b{column}\b"


def fit_message(X: Any, y: Any, **kwargs: Any) -> str:
    return refused(lambda: HorseshoeRegressor().fit(X, y, **kwargs))


def option_message(**options: Any) -> str:
    X, y = make_data()
    return refused(lambda: HorseshoeRegressor(**options).fit(X, y))


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

NUMBER = r"number|numeric|float"


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


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array"])
def test_sparse_x(kind: str) -> None:
    X, y = make_data()
    given = getattr(sparse, kind)(X)
    assert_says(fit_message(given, y), "sparse", "dense|toarray")


def test_sparse_new_data() -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(X, y)
    assert_says(refused(lambda: est.predict(sparse.csr_array(X))), "sparse", "dense|toarray")


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
    message = fit_message(X, to_frame(np.column_stack([y, y])))
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


# --- options --------------------------------------------------------------------------------------

BAD_OPTIONS = [
    *(("tau", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "auto", None, [1.0], 1 + 1j)),
    *(("tau_max", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, "auto", None)),
    *(
        ("coordinate", value, r"0\b.*\b2\b")
        for value in (0, 0.0, -1.0, 2.0001, 3, np.nan, np.inf, "two", None)
    ),
    *(("sigma2", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "auto", None)),
    *(("tol", value, f"{NOT_NEGATIVE}|{POSITIVE}") for value in (-1e-5, np.nan, "small", None)),
    *(
        ("max_iter", value, rf"{POSITIVE}|at least (1|one)|>= ?1|\[1,")
        for value in (0, -1, 1.5, "many", None)
    ),
    *(("zero_threshold", value, f"auto|{NOT_NEGATIVE}") for value in (-0.1, np.nan, "small", None)),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD_OPTIONS, ids=lambda v: repr(v)[:20])
def test_a_number_out_of_range(name: str, value: Any, allowed: str) -> None:
    assert_says(option_message(**{name: value}), rf"\b{name}\b", allowed)


@pytest.mark.parametrize("name", ["tau", "sigma2"])
def test_an_unknown_word_for_a_number(name: str) -> None:
    assert_says(option_message(**{name: "guess"}), rf"\b{name}\b", "guess", "estimate", POSITIVE)


UNKNOWN_NAMES = [
    ("family", "gausian", ["gaussian"]),
    ("prior", "horsehoe", ["horseshoe"]),
    ("expectation", "exakt", ["exact", "approximate", "stochastic"]),
    ("start", "papier", ["paper", "variance"]),
]


@pytest.mark.parametrize(("name", "value", "allowed"), UNKNOWN_NAMES)
def test_an_unknown_name_lists_the_known_ones(name: str, value: str, allowed: list[str]) -> None:
    assert_says(option_message(**{name: value}), rf"\b{name}\b", value, *(rf"\b{word}\b" for word in allowed))


@pytest.mark.parametrize("name", ["family", "prior", "expectation", "start"])
@pytest.mark.parametrize("value", [3, None, object()], ids=["number", "None", "object"])
def test_something_else_in_place_of_a_name(name: str, value: Any) -> None:
    assert_says(option_message(**{name: value}), rf"\b{name}\b")


@pytest.mark.parametrize("callback", [3, "print"])
def test_a_callback_that_cannot_be_called(callback: Any) -> None:
    assert_says(option_message(callback=callback), "callback", "call")


@pytest.mark.parametrize(
    ("a", "b", "name"), [(0.0, 0.5, "a"), (-1.0, 0.5, "a"), (0.5, 0.0, "b"), (0.5, np.nan, "b")]
)
def test_a_prior_with_a_shape_out_of_range(a: float, b: float, name: str) -> None:
    X, y = make_data()
    message = refused(lambda: HorseshoeRegressor(prior=InvertedBeta(a=a, b=b)).fit(X, y))
    assert_says(message, rf"\b{name}\b", POSITIVE)


def test_options_are_checked_by_fit_and_not_before() -> None:
    """scikit-learn's contract: the constructor stores, `fit` checks."""
    est = HorseshoeRegressor(tau=-1.0, coordinate=7, prior="horsehoe")
    assert est.get_params()["tau"] == -1.0
    assert est.set_params(tau=0.5).tau == 0.5


# --- after the fit --------------------------------------------------------------------------------

AFTER_FIT: dict[str, Callable[[HorseshoeRegressor, np.ndarray], Any]] = {
    "predict": lambda est, X: est.predict(X),
    "predict_interval": lambda est, X: est.predict_interval(X),
    "coef_interval": lambda est, X: est.coef_interval(),
    "summary": lambda est, X: est.summary(),
}


@pytest.mark.parametrize("method", AFTER_FIT)
def test_before_the_fit(method: str) -> None:
    X, _ = make_data()
    with pytest.raises(NotFittedError, match=r"(?i)fit"):
        AFTER_FIT[method](HorseshoeRegressor(), X)


@pytest.mark.parametrize("level", [0, 0.0, 1, 1.0, -0.1, 1.5, 95, np.nan, np.inf, "95%", None])
@pytest.mark.parametrize("method", ["coef_interval", "predict_interval", "summary"])
def test_a_level_out_of_range(method: str, level: Any) -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(X, y)
    arguments = (X,) if method == "predict_interval" else ()
    message = refused(lambda: getattr(est, method)(*arguments, level=level))
    assert_says(message, r"\blevel\b", r"\b0\b.*\b1\b")


# --- what is a fit with no variables, not an error ------------------------------------------------


def assert_no_variables(est: HorseshoeRegressor, X: np.ndarray, expected: float) -> None:
    np.testing.assert_array_equal(est.coef_, np.zeros(X.shape[1]))
    np.testing.assert_array_equal(est.coef_std_, np.zeros(X.shape[1]))
    np.testing.assert_array_equal(est.support_, np.zeros(X.shape[1], dtype=bool))
    np.testing.assert_allclose(est.predict(X), np.full(len(X), expected), rtol=1e-12, atol=1e-15)
    mean, std = est.predict(X, return_std=True)
    np.testing.assert_allclose(mean, np.full(len(X), expected), rtol=1e-12, atol=1e-15)
    assert np.all(np.isfinite(std))
    assert np.all(std >= 0)
    np.testing.assert_array_equal(np.asarray(est.coef_interval(), dtype=float), 0.0)
    assert np.all(np.isfinite(est.predict_interval(X)))
    assert len(est.summary()) == X.shape[1]
    assert not np.any(np.asarray(est.summary()["selected"]))


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e8 / 3, 1e-300])
@pytest.mark.parametrize("wide", [False, True])
def test_constant_y(value: float, wide: bool) -> None:
    """0.1 and 1e8/3 are here because their rounded mean need not be the value itself."""
    X, _ = make_data()
    X = np.random.default_rng(4).standard_normal((N, 2 * N)) if wide else X
    est = HorseshoeRegressor().fit(X, np.full(N, value))
    assert_no_variables(est, X, value)
    assert_says(str(est.status_), r"\by\b|response|target", "constant")
    np.testing.assert_allclose(est.sigma2_, 0.0, rtol=0, atol=1e-20 * max(1.0, value**2))


def test_y_constant_where_the_weights_are_not_zero() -> None:
    X, y = make_data()
    weights = np.zeros(N)
    weights[:20] = 1.5
    y[:20] = 0.1
    est = HorseshoeRegressor().fit(X, y, sample_weight=weights)
    assert_no_variables(est, X, 0.1)
    assert_says(str(est.status_), "constant")


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e8 / 3])
@pytest.mark.parametrize("columns", [1, P, 2 * N])
def test_constant_x(value: float, columns: int) -> None:
    _, y = make_data()
    X = np.full((N, columns), value)
    est = HorseshoeRegressor().fit(X, y)
    assert_no_variables(est, X, float(y.mean()))
    assert_says(str(est.status_), r"\bX\b|column|feature|variable", "constant")
    np.testing.assert_allclose(est.sigma2_, y.var(), rtol=1e-12)


def test_one_constant_column_is_an_exact_zero() -> None:
    X, y = make_data()
    want = HorseshoeRegressor(tol=1e-10).fit(X, y)
    given = np.insert(X, 3, 0.1, axis=1)
    est = HorseshoeRegressor(tol=1e-10).fit(given, y)
    assert est.coef_[3] == 0.0
    assert est.coef_std_[3] == 0.0
    np.testing.assert_array_equal(np.asarray(est.coef_interval(), dtype=float).reshape(-1, 2)[3], [0.0, 0.0])
    np.testing.assert_allclose(np.delete(est.coef_, 3), want.coef_, rtol=1e-10, atol=0)
    np.testing.assert_array_equal(np.flatnonzero(want.coef_), [1])


def test_nothing_to_find_is_a_fit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 4)), rng.standard_normal(200)
    est = HorseshoeRegressor().fit(X, y)
    assert_no_variables(est, X, float(y.mean()))
    assert_says(str(est.status_), r"no variable|nothing")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(50, 6), (20, 20), (30, 80)], ids=["long", "square", "wide"])
def test_data_without_noise_are_a_fit(shape: tuple[int, int], seed: int) -> None:
    """sigma2 goes to zero and lambda2 to infinity: the fit has to stop before they overflow."""
    X = np.random.default_rng(seed).standard_normal(shape)
    y = 2.0 * X[:, 0] - X[:, 1]
    est = HorseshoeRegressor(max_iter=500).fit(X, y)
    assert np.all(np.isfinite(est.coef_))
    assert np.all(np.isfinite(est.coef_std_))
    assert 0.0 <= est.sigma2_ < 0.1 * y.var()
    np.testing.assert_allclose(est.predict(X), y, rtol=0, atol=0.5 * y.std())


# --- a failed fit -------------------------------------------------------------------------------------


def bad_fits() -> dict[str, Callable[[HorseshoeRegressor], Any]]:
    X, y = make_data()
    with_nan = X.copy()
    with_nan[17, 3] = np.nan
    wider = np.column_stack([X, X])
    renamed = pd.DataFrame(with_nan[:, :4], columns=["a", "b", "c", "d"])
    return {
        "NaN in X": lambda est: est.fit(with_nan, y),
        "NaN in X of another width and names": lambda est: est.fit(renamed, y),
        "NaN in y and X of another width": lambda est: est.fit(wider, np.full(N, np.nan)),
        "another length": lambda est: est.fit(wider, y[:-1]),
        "two columns of y": lambda est: est.fit(wider, np.column_stack([y, y])),
        "negative weight": lambda est: est.fit(wider, y, sample_weight=-np.ones(N)),
        "strings": lambda est: est.fit(np.full((N, 2), "low"), y),
        "bad option": lambda est: est.set_params(tau=-1.0).fit(wider, y),
        "bad name": lambda est: est.set_params(prior="horsehoe").fit(wider, y),
        "bad coordinate": lambda est: est.set_params(coordinate=3.0).fit(wider, y),
    }


def fitted_state(est: HorseshoeRegressor) -> dict[str, Any]:
    parameters = est.get_params()
    return {name: value for name, value in vars(est).items() if name not in parameters}


@pytest.mark.parametrize("which", bad_fits())
def test_a_failed_fit_leaves_the_earlier_fit_alone(which: str) -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    est = HorseshoeRegressor().fit(frame, y)
    before, predicted = copy.deepcopy(fitted_state(est)), est.predict(frame)
    refused(lambda: bad_fits()[which](est))
    after = fitted_state(est)
    assert set(after) == set(before)
    assert list(est.feature_names_in_) == NAMES
    for name, value in before.items():
        if isinstance(value, np.ndarray | float | int | str | tuple):
            np.testing.assert_array_equal(after[name], value, err_msg=name)
    np.testing.assert_array_equal(est.predict(frame), predicted)


def test_a_failed_first_fit_is_no_fit() -> None:
    X, y = make_data()
    est = HorseshoeRegressor()
    refused(lambda: est.fit(X, y[:-1]))
    assert fitted_state(est) == {}
    with pytest.raises(NotFittedError):
        est.predict(X)


# --- normal means ---------------------------------------------------------------------------------

MEANS = np.r_[9.0, -8.0, np.random.default_rng(6).standard_normal(40)]


def with_value(value: Any, dtype: Any = float) -> np.ndarray:
    y = MEANS.astype(dtype)
    y[12] = value
    return y


BAD_MEANS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "two dimensions": (np.column_stack([MEANS, MEANS]), (r"\by\b", r"1d|one|dimension|shape")),
    "a scalar": (3.0, (r"\by\b", r"1d|one|dimension|shape|vector|array")),
    "empty": (np.array([]), (r"\by\b|sample", r"empty|\b0\b|at least|no ")),
    "NaN": (with_value(np.nan), (r"\by\b", "nan|missing", at_row(12))),
    "inf": (with_value(np.inf), (r"\by\b", "inf", at_row(12))),
    "complex": (MEANS + 1j, (r"\by\b", "complex|real")),
    "strings": (["low", "high"], (r"\by\b", NUMBER)),
    "an object": (with_value({"a": 1}, object), (r"\by\b", NUMBER)),
    "None": (None, (r"\by\b",)),
    "sparse": (sparse.csr_array(MEANS[:, None]), (r"\by\b", "sparse|dimension")),
}


@pytest.mark.parametrize("case", BAD_MEANS)
def test_normal_means_data(case: str) -> None:
    y, patterns = BAD_MEANS[case]
    assert_says(refused(lambda: normal_means(y)), *patterns)
    assert_says(refused(lambda: normal_means(y, sigma2=1.0)), *patterns)


BAD_MEANS_OPTIONS = [
    *(("sigma2", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "guess", None)),
    *(("tau", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "guess", None)),
    *(("coordinate", value, r"0\b.*\b2\b") for value in (0, -1.0, 2.0001, np.nan, "two", None)),
    ("prior", "horsehoe", r"\bhorseshoe\b"),
    ("prior", 3, "prior"),
    ("prior", None, "prior"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD_MEANS_OPTIONS, ids=lambda v: repr(v)[:20])
def test_normal_means_options(name: str, value: Any, allowed: str) -> None:
    assert_says(refused(lambda: normal_means(MEANS, **{name: value})), rf"\b{name}\b", allowed)


@pytest.mark.parametrize("sigma2", [1.0, "estimate"])
def test_normal_means_of_zeros(sigma2: Any) -> None:
    result = normal_means(np.zeros(20), sigma2=sigma2)
    np.testing.assert_array_equal(result.coef, np.zeros(20))
    assert_says(str(result.status), r"constant|zero|no variable|nothing")
