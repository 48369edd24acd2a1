"""Numbers can be read: none but zero reads zero, none is longer than it must be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horseshoe.report.number_text import (
    MOST,
    format_count,
    format_number,
    format_ratios,
    format_share,
    format_together,
)

NUMBERS = st.floats(-1e308, 1e308)


def read(text: str) -> float:
    return float(text.replace(",", ""))


def digits_of(text: str) -> int:
    mantissa = text.replace(",", "").lstrip("-").partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("0"))


@given(NUMBERS)
def test_one_number_is_right_to_three_digits_and_no_longer_than_it_must_be(value: float) -> None:
    text = format_number(value)
    assert (read(text) == 0.0) == (value == 0.0)
    assert read(text) == pytest.approx(value, rel=0.006)
    assert digits_of(text) <= 7
    assert len(text) <= 11


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_numbers_that_belong_together_never_read_zero(values: list[float]) -> None:
    found = format_together(values)
    assert len(found) == len(values)
    for text, value in zip(found, values, strict=True):
        assert (read(text) == 0.0) == (value == 0.0)
        assert digits_of(text) <= MOST
        assert len(text) <= 17


@given(NUMBERS.filter(lambda x: 1e-250 < abs(x) < 1e250), st.floats(1e-5, 10.0))
def test_an_interval_can_be_told_from_its_middle(middle: float, spread: float) -> None:
    reach = abs(middle) * spread
    lower, center, upper = map(read, format_together([middle - reach, middle, middle + reach]))
    assert lower < center < upper
    assert upper - lower == pytest.approx(2.0 * reach, rel=0.02)


def test_the_ends_of_an_interval_have_the_same_decimals() -> None:
    assert format_together([5.741, 4.397, 7.0849]) == ["5.74", "4.40", "7.08"]
    assert format_together([0.00101, -0.00042, 0.00244]) == ["0.00101", "-0.00042", "0.00244"]
    assert format_together([1e-9, -30.0, 40.0]) == ["1e-9", "-30.0", "40.0"]
    assert format_together([1.5e12, 1.2e12, 1.8e12]) == ["1.500e12", "1.200e12", "1.800e12"]


def test_what_is_no_number() -> None:
    assert format_together([1.0, math.nan, math.inf, -math.inf]) == ["1.00", "", "inf", "-inf"]
    assert format_together([math.nan]) == [""]
    assert format_number(math.inf) == "inf"
    assert format_share(math.nan) == ""
    assert format_together([np.float64(2.0), 1]) == ["2.00", "1.00"]


def test_ratios_over_many_decades_have_digits_of_their_own() -> None:
    assert format_ratios([2.5e13, 120.4, 1.94e23]) == ["2.50e13", "120", "1.94e23"]
    assert format_ratios([1.25, 1.15, 1.36]) == ["1.250", "1.150", "1.360"]
    assert format_ratios([1.25, math.nan, math.nan]) == ["1.25", "", ""]
    assert format_ratios([0.0, 0.0, math.inf]) == ["0", "0", "inf"]


def test_shares_and_numbers_of_things() -> None:
    assert [format_share(value) for value in (0.0, 1e-9, 0.005, 0.994, 0.9999, 1.0)] == [
        *("0.00", "<0.01", "0.01", "0.99", ">0.99", "1.00")
    ]
    assert format_count(1234567) == "1,234,567"
