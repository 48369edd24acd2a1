"""What a message of refusal has to say, and bad input to be refused."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

NAMES = ["age", "height", "income", "weight_kg", "shoe"]
POSITIVE = r"positive|greater than 0|> ?0|above 0|\(0(\.0)?,"
NOT_NEGATIVE = r"non.?negative|not negative|at least 0|>= ?0|zero or|0 or|\[0(\.0)?,"
NUMBER = r"number|numeric|float"
ROW = 12
"""Where something is wrong: row 12 of the user's data, whatever the weights of the rows before it."""


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


def frozen(values: Any, dtype: Any = None) -> np.ndarray:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def put(values: Any, value: Any, dtype: Any = None, row: Any = ROW) -> np.ndarray:
    """Return a copy, with ``value`` in one row."""
    array = np.array(values, dtype=dtype)
    array[row] = value
    return frozen(array)


class Bad(NamedTuple):
    """What is handed in instead of good data or options, and what the message has to say."""

    says: tuple[str, ...]
    options: dict[str, Any]
    arguments: dict[str, Any]


def bad(*says: str, options: dict[str, Any] | None = None, **arguments: Any) -> Bad:
    return Bad(says, options or {}, arguments)


def told(action: Callable[[], Any], *says: str) -> None:
    """Assert that `action` is refused in words for people: 7, not np.int64(7)."""
    message = refused(action)
    assert_says(message, *says)
    assert "np." not in message, message


def missing(action: Callable[[], Any]) -> str:
    """Return the message of the ImportError that ``action`` must raise, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ImportError) as caught:
            action()
    return str(caught.value)
