"""Frames of several dtypes are converted column by column, never through Python objects."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from horseshoe import HorseshoeRegressor
from horseshoe.data.validation import check_x
from refusals import assert_says, at_column, at_row, refused

pytestmark = pytest.mark.filterwarnings("error")

VALUES = {
    "age": np.array([31.5, 40.0, 52.25, 18.0]),
    "smokes": np.array([True, False, False, True]),
    "visits": np.array([3, 0, 7, 2], dtype=np.int8),
    "dose": np.array([0.5, 0.25, 4.0, 1.0], dtype=np.float32),
}
ARRAY = np.column_stack([column.astype(float) for column in VALUES.values()])


class NoObjects(pd.DataFrame):
    """A frame that must not become one array of whatever all of its columns fit in."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the frame was made an array of objects")


def test_a_pandas_frame_of_several_dtypes() -> None:
    found = check_x(NoObjects(VALUES))
    np.testing.assert_array_equal(found.dense(), ARRAY)


@pytest.mark.parametrize("names", [["smokes", "visits"], ["age", "smokes", "visits", "dose"]])
def test_a_pandas_frame_of_nullable_dtypes(names: list[str]) -> None:
    frame = pd.DataFrame(VALUES)
    nullable = {"age": "Float64", "smokes": "boolean", "visits": "Int8", "dose": "Float32"}
    found = check_x(NoObjects(frame.astype({name: nullable[name] for name in names})))
    np.testing.assert_array_equal(found.dense(), ARRAY)


@pytest.mark.parametrize("names", [list(VALUES), ["age"], ["smokes"], ["smokes", "age"], ["visits", "dose"]])
def test_a_polars_frame(names: list[str]) -> None:
    found = check_x(pl.DataFrame(VALUES).select(names))
    np.testing.assert_array_equal(found.dense(), ARRAY[:, [list(VALUES).index(name) for name in names]])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(VALUES).astype({"smokes": "boolean"}),
        pd.DataFrame(VALUES).astype({"smokes": "boolean", "age": "Float64"}),
        pl.DataFrame(VALUES),
    ],
    ids=["pandas", "pandas nullable", "polars"],
)
def test_what_is_missing_goes_by_its_column(frame: Any) -> None:
    if isinstance(frame, pd.DataFrame):
        frame.loc[2, "smokes"] = pd.NA
    else:
        frame = frame.with_columns(smokes=pl.Series([True, False, None, True]))
    assert_says(refused(lambda: check_x(frame)), "NaN", at_column("smokes"), at_row(2))


def test_a_frame_of_sparse_and_other_columns() -> None:
    frame = pd.DataFrame(VALUES).assign(dose=pd.arrays.SparseArray(VALUES["dose"].astype(float)))
    np.testing.assert_array_equal(check_x(frame).dense(), ARRAY)


def test_a_frame_without_columns() -> None:
    assert_says(refused(lambda: check_x(pd.DataFrame(index=range(4)))), "0 feature")


def test_bool_and_float_columns_fit_as_floats_do() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((40, 3)), columns=["a", "b", "c"]).assign(d=rng.random(40) < 0.5)
    y = frame["a"] + 2.0 * frame["d"] + 0.1 * rng.standard_normal(40)
    mixed, plain = HorseshoeRegressor().fit(frame, y), HorseshoeRegressor().fit(frame.astype(float), y)
    np.testing.assert_array_equal(mixed.coef_, plain.coef_)
    assert mixed.support_[3]


# --- dates ----------------------------------------------------------------------------------------

DAYS = pd.date_range("2020-01-01", periods=4)
DATES = {
    "pandas dates": pd.DataFrame({"age": VALUES["age"], "when": DAYS}),
    "pandas dates alone": pd.DataFrame({"when": DAYS}),
    "pandas dates with a zone": pd.DataFrame({"age": VALUES["age"], "when": DAYS.tz_localize("UTC")}),
    "pandas durations": pd.DataFrame({"age": VALUES["age"], "when": DAYS - DAYS[0]}),
    "pandas periods": pd.DataFrame({"age": VALUES["age"], "when": DAYS.to_period("D")}),
    "pandas objects": pd.DataFrame({"age": VALUES["age"], "when": [date(2020, 1, i) for i in range(1, 5)]}),
    "polars dates": pl.DataFrame({"age": VALUES["age"], "when": [date(2020, 1, i) for i in range(1, 5)]}),
    "polars durations": pl.DataFrame({"age": VALUES["age"], "when": [timedelta(i) for i in range(4)]}),
    "polars times": pl.DataFrame({"age": VALUES["age"], "when": [time(i) for i in range(4)]}),
}


@pytest.mark.parametrize("kind", DATES)
def test_a_column_of_dates_goes_by_its_name(kind: str) -> None:
    message = refused(lambda: HorseshoeRegressor().fit(DATES[kind], VALUES["age"]))
    assert_says(message, r"\bX\b", "dates? or duration", at_column("when"), "numbers")


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
def test_an_array_of_dates(dtype: str) -> None:
    X = np.arange(8).reshape(4, 2).astype(dtype)
    message = refused(lambda: HorseshoeRegressor().fit(X, VALUES["age"]))
    assert_says(message, r"\bX\b", "dates or durations", at_column(0))


@pytest.mark.parametrize("value", [date(2020, 1, 1), np.datetime64("2020-01-01"), np.timedelta64(3, "s")])
def test_a_date_among_objects(value: Any) -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], dtype=object)
    X[2, 1] = value
    for given in (X, X.tolist()):
        message = refused(lambda given=given: HorseshoeRegressor().fit(given, VALUES["age"]))
        assert_says(message, "date or duration", at_column(1), at_row(2))


@pytest.mark.parametrize("name", ["sample_weight", "offset"])
def test_dates_elsewhere(name: str) -> None:
    X, given = ARRAY, {name: np.arange(4).astype("m8[D]")}
    message = refused(lambda: HorseshoeRegressor().fit(X, VALUES["age"], **given))
    assert_says(message, name, "dates or durations")


# --- masks ----------------------------------------------------------------------------------------


def masked(values: Any, *place: int) -> Any:
    out = np.ma.array(values)
    out[place] = np.ma.masked
    return out


def test_a_masked_value_of_x() -> None:
    message = refused(lambda: HorseshoeRegressor().fit(masked(ARRAY, 2, 1), VALUES["age"]))
    assert_says(message, r"\bX\b", "masked", at_column(1), at_row(2))


@pytest.mark.parametrize("name", ["y", "sample_weight", "offset"])
def test_a_masked_value_elsewhere(name: str) -> None:
    given = {"y": VALUES["age"], name: masked(np.ones(4) + VALUES["age"], 3)}
    message = refused(lambda: HorseshoeRegressor().fit(ARRAY, **given))
    assert_says(message, name, "masked", at_row(3))


def test_a_mask_that_hides_nothing_does_not_matter() -> None:
    model = HorseshoeRegressor().fit(np.ma.array(ARRAY), np.ma.array(VALUES["age"]))
    plain = HorseshoeRegressor().fit(ARRAY, VALUES["age"])
    np.testing.assert_array_equal(model.coef_, plain.coef_)
