"""Bad means are refused with a message that says what was wrong, where, and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from horseshoe import normal_means
from loops import each
from refusals import NUMBER, POSITIVE, assert_says, at_row, refused

pytestmark = pytest.mark.filterwarnings("error")


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
    "sparse": (sparse.csr_array(MEANS[:, None]), (r"\by\b", "sparse", "HorseshoeRegressor")),
}


@pytest.mark.parametrize("case", BAD_MEANS)
def test_normal_means_data(case: str) -> None:
    y, patterns = BAD_MEANS[case]
    assert_says(refused(lambda: normal_means(y)), *patterns)
    assert_says(refused(lambda: normal_means(y, sigma2=1.0)), *patterns)


BAD_MEANS_OPTIONS = [
    *(("sigma2", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "guess", None)),
    *(("tau", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "guess", None)),
    *(("lambda_power", value, r"0\b.*\b2\b") for value in (0, -1.0, 2.0001, np.nan, "two", None)),
    ("prior", "horsehoe", r"\bhorseshoe\b"),
    ("prior", 3, "prior"),
    ("prior", None, "prior"),
]


@each(("name", "value", "allowed"), BAD_MEANS_OPTIONS, ids=lambda v: repr(v)[:20])
def test_normal_means_options(name: str, value: Any, allowed: str) -> None:
    assert_says(refused(lambda: normal_means(MEANS, **{name: value})), rf"\b{name}\b", allowed)


@pytest.mark.parametrize("sigma2", [1.0, "estimate"])
def test_normal_means_of_zeros(sigma2: Any) -> None:
    result = normal_means(np.zeros(20), sigma2=sigma2)
    np.testing.assert_array_equal(result.coef, np.zeros(20))
    assert_says(str(result.status), r"constant|zero|no variable|nothing")


def test_normal_means_of_masked_values() -> None:
    y = np.ma.array(MEANS, mask=np.arange(len(MEANS)) == 2)
    assert_says(refused(lambda: normal_means(y)), r"\by\b", "masked", "row 2")
