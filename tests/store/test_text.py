"""JSON as it is written and read: every bit of a float, and nothing that is not JSON."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horseshoe.store.arrays import decode_array, decode_number, encode_array, encode_number
from horseshoe.store.text import DEEPEST, check_json, from_text, to_text

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


def same(one: Any, other: Any) -> bool:
    """Tell whether values are the same in type and to the bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return type(other) is float and one.hex() == other.hex()
    return type(one) is type(other) and one == other


@settings(max_examples=50)
@given(PLAIN)
def test_plain_data_come_back(value: Any) -> None:
    check_json(value, "value")
    assert same(from_text(to_text(value)), value)
    assert same(json.loads(to_text(value)), value)


@given(st.lists(st.floats(width=64), max_size=40), st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf]))
def test_every_bit_of_an_array_comes_back(values: list[float], common: float) -> None:
    for array in (np.array(values), np.array(values + [common] * 4 * len(values))):
        text = to_text(encode_array(array))
        again = decode_array(from_text(text), np.dtype(np.float64))
        assert again.dtype == np.float64
        nan = np.isnan(array)
        np.testing.assert_array_equal(np.isnan(again), nan)
        assert again[~nan].tobytes() == array[~nan].tobytes()


def test_shapes_and_orders_come_back() -> None:
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (0, 3), (3, 0), (1, 1), (5,), (0,), (2, 3, 2)]
    dtypes = (np.float64, np.int64, np.int32, np.bool_)
    for case in product(("C", "F"), dtypes, shapes, (False, True)):
        order, dtype, shape, zeros = case
        array: Any = np.asarray(rng.integers(-9, 9, size=shape), dtype=dtype, order=order)  # type: ignore[call-overload]
        array = array * 0 if zeros and dtype is not np.bool_ else array
        again = decode_array(from_text(to_text(encode_array(array))), np.dtype(dtype))
        assert again.dtype == array.dtype, case
        np.testing.assert_array_equal(again, array, err_msg=str(case))
        assert again.flags.c_contiguous == array.flags.c_contiguous, case
        assert again.flags.f_contiguous == array.flags.f_contiguous, case


def test_a_slice_comes_back_as_an_array_of_its_own() -> None:
    array = np.arange(12.0).reshape(3, 4)[:, :-1]
    np.testing.assert_array_equal(decode_array(encode_array(array), array.dtype), array)


def test_numbers_that_json_lacks() -> None:
    for value in (math.inf, -math.inf, 0.5, -0.0, 5):
        assert same(decode_number(from_text(to_text(encode_number(value)))), value)
    assert math.isnan(decode_number(encode_number(np.float64("nan"))))


REFUSED_TEXT = [
    ("NaN", "NaN is no number"),
    ("[-Infinity]", "-Infinity is no number"),
    ("1e999", "beyond the range of a float"),
    ("-1e999", "beyond the range of a float"),
    ("9" * 30, "has too many digits"),
    ("9" * 6000, "has too many digits"),
    (str(2**64), "has too many digits"),
    ('{"a": 1, "b": {"c": 1, "c": 2}}', "the name 'c' stands twice"),
    ("{'a': 1}", "it is not JSON"),
    ("[1,]", "it is not JSON"),
    ("[1] 2", "it is not JSON"),
    ("// no\n1", "it is not JSON"),
    ('"\t"', "it is not JSON"),
    ("", "it is not JSON"),
    ("[" * 41 + "]" * 41, "nested more than 40 levels"),
    ('{"a":' * 50 + "1" + "}" * 50, "nested more than 40 levels"),
    ("[" * 10**6 + "]" * 10**6, "nested more than 40 levels"),
]


def test_refused_text() -> None:
    for text, sentence in REFUSED_TEXT:
        with pytest.raises(ValueError, match=sentence):
            from_text(text)


def test_the_deepest_that_is_allowed() -> None:
    assert from_text("[" * DEEPEST + "]" * DEEPEST)


def test_what_json_would_change_is_refused() -> None:
    circle: dict[str, Any] = {}
    circle["a"] = [circle, circle]
    values = (math.nan, [math.inf], {1: "a"}, (1,), {1}, np.arange(3), np.bool_(True), 2**64, b"", object())
    for value in (*values, circle, [[1.0, {"b": (2,)}]]):
        with pytest.raises(TypeError, match=r"^recipe=.*a model file takes None, bool, int, finite float"):
            check_json({"a": value}, "recipe")
    with pytest.raises(TypeError, match=r"Out of range float values|nan"):
        check_json({"a": math.nan}, "recipe")


REFUSED_ARRAYS: list[tuple[Any, str]] = [
    (3, "is not an array"),
    ([1.0, 2], "2 is in an array of float"),
    ([1.0, True], "True is in an array of float"),
    ([1.0, None], "None is in an array of float"),
    ([1.0, [2.0]], "is in an array of float"),
    ([1.0, "nan"], "'nan' is not a number"),
    ({"shape": [2], "values": [1.0]}, "has 2 entries, but 1 are there"),
    ({"shape": [2]}, "shape, values and perhaps order"),
    ({"shape": [2], "values": [1.0, 2.0], "x": 1}, "shape, values and perhaps order"),
    ({"shape": [], "values": []}, "one to three sizes"),
    ({"shape": [1] * 40, "values": [1.0]}, "one to three sizes"),
    ({"shape": [-1], "values": []}, "whole numbers"),
    ({"shape": [2.0], "values": []}, "whole numbers"),
    ({"shape": [True], "values": [1.0]}, "whole numbers"),
    ({"shape": [1], "order": "K", "values": [1.0]}, "'C' or 'F'"),
    ({"shape": [1], "order": ["C"], "values": [1.0]}, "'C' or 'F'"),
    ({"shape": [9], "fill": 0.0, "at": [], "values": []}, "shape, values and perhaps order"),
    ({"shape": [2**63], "values": []}, "whole numbers"),
    ({"size": 10**12, "fill": 0.0, "places": [], "values": []}, "whole number to 100,000,000"),
    ({"size": 40.0, "fill": 0.0, "places": [], "values": []}, "whole number to 100,000,000"),
    ({"size": 40, "fill": None, "places": [], "values": []}, "None is in an array"),
    ({"size": 40, "fill": 0.0, "places": [1], "values": []}, "1 places in 40 entries for 0 values"),
    ({"size": 40, "fill": 0.0, "places": [40], "values": [1.0]}, "1 places in 40 entries for 1 values"),
    ({"size": 40, "fill": 0.0, "places": [-1], "values": [1.0]}, "1 places in 40 entries for 1 values"),
    ({"size": 40, "fill": 0.0, "places": [3, 3], "values": [1.0, 2.0]}, "must rise"),
]


def test_vectors_of_mostly_one_value_are_short_and_come_back_bit_for_bit() -> None:
    few = {7: 2.5, 9: -0.0, 11: np.nan, 30: np.inf}
    for fill, dtype in (
        (0.0, float),
        (-0.0, float),
        (np.nan, float),
        (1.0, float),
        (0, np.int64),
        (False, bool),
    ):
        vector = np.full(40, fill, dtype=dtype)
        for place, value in few.items():
            vector[place] = value if dtype is float else 1
        content = json.loads(json.dumps(encode_array(vector)))
        assert content["places"] == [j for j in few if vector[j : j + 1].tobytes() != vector[:1].tobytes()]
        assert decode_array(content, vector.dtype).tobytes() == vector.tobytes()
    assert isinstance(encode_array(np.arange(40.0)), list)
    assert isinstance(encode_array(np.zeros(8)), list)


def test_refused_arrays() -> None:
    for content, sentence in REFUSED_ARRAYS:
        with pytest.raises(ValueError, match=sentence):
            decode_array(content, np.dtype(np.float64))
