"""A response that the selected columns reproduce to rounding has a status of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from horseshoe import AdaptiveRegressor, HorseshoeRegressor, Status
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.model.final_status import reproduces

ESTIMATORS = [HorseshoeRegressor, AdaptiveRegressor]
RNG = np.random.default_rng(0)
X, NOISE = RNG.standard_normal((120, 8)), RNG.standard_normal(120)
WIDE = RNG.standard_normal((60, 200))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("family", ["gaussian", "student_t", "huber", "laplace"])
def test_a_copy_is_told(estimator: Any, family: str) -> None:
    model = estimator(family=family).fit(X, 7.0 - 0.1 * X[:, 3])
    assert model.status_ is Status.REPRODUCED
    assert model.support_[3]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_difference_of_columns_is_told(estimator: Any) -> None:
    weight = 70.0 + 10.0 * X[:, 0]
    later = weight + 3.0 * NOISE
    model = estimator().fit(np.column_stack([weight, X[:, 1:], later]), later - weight)
    assert model.status_ is Status.REPRODUCED
    assert model.support_[0]
    assert model.support_[-1]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_shrinkage_of_wide_data_does_not_hide_it(estimator: Any) -> None:
    model = estimator().fit(WIDE, WIDE[:, 3] - 2.0 * WIDE[:, 7])
    assert np.abs(model.predict(WIDE) - WIDE[:, 3] + 2.0 * WIDE[:, 7]).max() > 1e-7  # the fit itself shrinks
    assert model.status_ is Status.REPRODUCED


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_offset_and_weights_are_taken_into_account(estimator: Any) -> None:
    counts = 1.0 + np.arange(120) % 3
    counts[0] = 0.0
    y = X[:, 2] + NOISE
    y[0] = 50.0  # of a row without weight nothing is asked
    model = estimator().fit(X, y, sample_weight=counts, offset=NOISE)
    assert model.status_ is Status.REPRODUCED


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("size", [1e-5, 1e-2, 1.0])
def test_noise_of_any_size_above_rounding_is_noise(estimator: Any, size: float) -> None:
    assert estimator().fit(X, X[:, 3] + size * NOISE).status_ is Status.CONVERGED


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_of_several_responses_each_has_its_own(estimator: Any) -> None:
    model = estimator().fit(X, np.column_stack([X[:, 3], X[:, 3] + 0.3 * NOISE]))
    assert [one.status_ for one in model.estimators_] == [Status.REPRODUCED, Status.CONVERGED]
    assert model.status_ is Status.REPRODUCED


def test_as_many_columns_as_rows_say_nothing() -> None:
    x = RNG.standard_normal((9, 8))
    rows = Rows(Dense(x), RNG.standard_normal(9), None, np.zeros(9))
    exact = np.linalg.lstsq(np.column_stack([np.ones(9), x]), rows.y, rcond=None)[0]
    assert not reproduces(rows, exact[1:], True)
    fewer = np.where(np.arange(8) < 7, exact[1:], 0.0)
    assert not reproduces(rows, fewer, True)


def test_values_whose_squares_overflow() -> None:
    rows = Rows(Dense(1e200 * X), -3e250 * X[:, 1] + 1e250, None, np.zeros(120))
    coef = np.where(np.arange(8) == 1, -3e50, 0.0)
    assert reproduces(rows, coef, True)
