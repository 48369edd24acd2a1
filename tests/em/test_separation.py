"""Columns that are not shrunk and have no finite estimate: when it is known, and what is waited for."""

from __future__ import annotations

import numpy as np
import pytest

from horseshoe._types import Status
from horseshoe.data.adjusted import Free
from horseshoe.em.separation import DRIFT, Separation
from horseshoe.families import Binomial, Gaussian, Ordinal

LEVELS = np.repeat([0.0, 1.0, 2.0], 4)
CLASSES = (LEVELS == 2.0).astype(float)
APART, SOME, NONE = np.arange(12.0), (LEVELS == 2.0) * 1.0, np.tile([0.0, 1.0], 6)


def free(*columns: np.ndarray) -> Free:
    """Return columns that were rotated, as those of a fit are."""
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])[: len(columns), : len(columns)]
    basis = np.column_stack(columns) @ turn
    q = len(columns)
    return Free(basis, turn, np.zeros((q, 0)), np.zeros(q), 12.0, np.zeros(q))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_column_that_tells_all_rows_apart_is_found_among_others(sign: float) -> None:
    for family, y in ((Binomial(), CLASSES), (Ordinal().learn(LEVELS), LEVELS)):
        found = Separation(family, y, free(NONE, sign * APART))
        assert found.status is Status.SEPARATED
        assert found.finite_change(0.5 * DRIFT, NONE) == 0.0
        assert found.finite_change(2.0 * DRIFT, NONE) == 2.0 * DRIFT


def test_a_column_that_tells_some_rows_apart_is_not_waited_for() -> None:
    for family, y in ((Binomial(), CLASSES * NONE), (Ordinal().learn(LEVELS), LEVELS)):
        found = Separation(family, y, free(NONE, SOME))
        assert found.status is None
        assert found.finite_change(0.5 * DRIFT, NONE) == 0.0


def test_what_has_a_finite_estimate_is_waited_for() -> None:
    level = 0.5 * DRIFT
    for family, y in ((Binomial(), CLASSES), (Ordinal().learn(LEVELS), LEVELS), (Gaussian(), LEVELS)):
        found = Separation(family, y, free(NONE, np.cos(APART)))
        assert found.status is None
        assert found.finite_change(level, NONE) == level
        assert Separation(family, y, None).finite_change(level, 0.0) == level


def test_what_is_not_shrunk_may_tell_rows_apart_together() -> None:
    found = Separation(Binomial(), CLASSES, free(NONE + APART, 1.5 * NONE))
    assert found.finite_change(0.5 * DRIFT, APART) == 0.0
