"""Noise is called noise, and effects are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status
from horseshoe.data.rows import Rows
from horseshoe.data.validation import check_x
from horseshoe.em.m_step import Hyper
from horseshoe.families import Gaussian
from horseshoe.model.final_status import gains, threshold
from horseshoe.model.spec import ModelSpec
from horseshoe.priors import FixedScale, HalfCauchy, Horseshoe, Lasso

SHAPES = ((300, 100), (300, 1000), (300, 5000), (100, 20_000))
EFFECTS = np.array([4.0, -3.5, 3.0, -2.5, 2.0])
NOISE = (Status.CHANCE, Status.NOTHING_SELECTED)


def data(n: int, p: int, seed: int, effects: bool) -> tuple[Any, Any]:
    """Return noise, with five strong effects or none."""
    rng = np.random.default_rng([seed, n, p])
    X = rng.standard_normal((n, p))
    return X, rng.standard_normal(n) + (X[:, :5] @ EFFECTS if effects else 0.0)


@pytest.mark.parametrize("shape", SHAPES[:2])
@pytest.mark.parametrize("effects", [False, True])
def test_the_status_tells_noise_from_effects(shape: tuple[int, int], effects: bool) -> None:
    for seed in range(3):
        status = HorseshoeRegressor().fit(*data(*shape, seed, effects)).status_
        assert (status in NOISE) != effects


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_no_more_columns_are_judged_than_can_be_held(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(300, 100, 0, True)
    model = HorseshoeRegressor().fit(form(X), y)
    spec, rows, fitted = (
        ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()),
        Rows(check_x(form(X)), y, None, 0.0 * y),
        model._fitted,
    )
    every = list(gains(spec, rows, fitted))
    assert len(every) == model.support_.sum() > 4
    monkeypatch.setattr("horseshoe.model.final_status.HELD", 8 * 300 * 3)
    np.testing.assert_allclose(list(gains(spec, rows, fitted)), every[:3])


@pytest.mark.slow
@pytest.mark.parametrize("effects", [False, True])
def test_the_status_over_ten_data_sets_of_each_shape(effects: bool) -> None:
    said = [
        HorseshoeRegressor().fit(*data(n, p, seed, effects)).status_ in NOISE
        for n, p in SHAPES
        for seed in range(10)
    ]
    assert sum(word != effects for word in said) >= 38


@pytest.mark.parametrize("tau", [1.0, 0.1, 0.01])
def test_the_threshold_is_the_closed_form(tau: float) -> None:
    """min over s of (1+s)^2/s [2(k+2s)/(k+s) - 1/(1+s)], k = n tau2, for the horseshoe in lambda power 2."""
    k = 300.0 * tau**2

    def square(log_s: float) -> float:
        s = np.exp(log_s)
        return float((1 + s) ** 2 / s * (2 * (k + 2 * s) / (k + s) - 1 / (1 + s)))

    least = min(minimize_scalar(square, bounds=(a, a + 3), method="bounded").fun for a in range(-6, 9))
    found = threshold(Hyper(Horseshoe(), 2.0, HalfCauchy()), k, 0.2)
    assert found == pytest.approx(np.sqrt(least), rel=1e-3)


def test_orthogonal_noise_is_selected_as_often_as_expected() -> None:
    """With known noise and orthogonal columns the count is binomial, with the share of the threshold."""
    rng = np.random.default_rng(0)
    n, p, total, expected = 512, 400, 0, 0.0
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, p))]))[0][:, 1:]
    for _ in range(12):
        model = HorseshoeRegressor(sigma2=1.0, tau=1.0).fit(basis * np.sqrt(n), rng.standard_normal(n))
        total, expected = total + int(model.support_.sum()), expected + model.expected_by_chance_
    assert abs(total - expected) < 4.0 * np.sqrt(expected)


def test_expected_by_chance_by_prior() -> None:
    X, y = data(100, 40, 0, effects=True)
    at = {tau: HorseshoeRegressor(tau=tau).fit(X, y).expected_by_chance_ for tau in (1.0, 0.1, 0.01)}
    assert at[1.0] > at[0.1] > at[0.01] > 0.0
    assert HorseshoeRegressor(prior="ridge").fit(X, y).expected_by_chance_ == 40.0
    lasso = threshold(Hyper(Lasso(), 2.0, FixedScale(0.01)), 1.0, 0.2)
    assert 0.0 < lasso < 3.0


@pytest.mark.parametrize("family", ["poisson", "negative_binomial", "student_t", "laplace", "binomial"])
def test_every_family(family: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 400))
    for effects in (False, True):
        eta = (1.5 if family != "poisson" else 0.8) * (X[:, 0] - X[:, 1]) * effects
        y = {
            "poisson": lambda e: rng.poisson(np.exp(e)),
            "negative_binomial": lambda e: rng.poisson(np.exp(e) * rng.gamma(4.0, 0.25, 200)),
            "student_t": lambda e: e + rng.standard_t(4, 200),
            "laplace": lambda e: e + rng.laplace(size=200),
            "binomial": lambda e: rng.random(200) < 1.0 / (1.0 + np.exp(-e)),
        }[family](eta)
        status = HorseshoeRegressor(family=family).fit(X, np.asarray(y, dtype=float)).status_
        assert (status in NOISE) != effects


def test_shuffled_data_tell_noise_from_effects() -> None:
    for effects in (False, True):
        X, y = data(100, 300, 1, effects)
        found = HorseshoeRegressor().chance_selection(X, y, n_permutations=6)
        assert found.is_noise != effects
        assert found.shuffled.shape == (6,)
        assert found.n_selected == HorseshoeRegressor().fit(X, y).support_.sum()
        assert ("clearly more" in str(found)) == effects


def test_shuffles_are_seeded_and_the_same_for_any_number_of_jobs() -> None:
    X, y = data(60, 100, 2, effects=True)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    model = HorseshoeRegressor()
    one, two, other = (
        model.chance_selection(X, y, 4, n_jobs=jobs, random_state=seed, sample_weight=weights)
        for jobs, seed in ((1, 0), (2, 0), (1, 7))
    )
    np.testing.assert_array_equal(one.shuffled, two.shuffled)
    np.testing.assert_array_equal(one.shuffled_evidence, two.shuffled_evidence)
    assert not np.array_equal(one.shuffled, other.shuffled)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("form", [pd.DataFrame, csr_array, lambda x: x.tolist()])
def test_shuffles_of_every_container(form: Any) -> None:
    X, y = data(60, 20, 3, effects=True)
    found = HorseshoeRegressor().chance_selection(form(X), y, n_permutations=3)
    plain = HorseshoeRegressor().chance_selection(X, y, n_permutations=3)
    np.testing.assert_array_equal(found.shuffled, plain.shuffled)


@pytest.mark.parametrize("classes", [2, 3])
def test_shuffles_of_classes(classes: int) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((150, 60))
    y = np.digitize(2.0 * X[:, 0] + rng.standard_normal(150), [-1.0, 1.0][: classes - 1])
    assert not HorseshoeClassifier().chance_selection(X, y, n_permutations=3).is_noise
    assert HorseshoeClassifier().chance_selection(X, rng.permutation(y), n_permutations=3).is_noise
    model = HorseshoeClassifier().fit(X, y)
    assert np.shape(model.expected_by_chance_) == (() if classes == 2 else (3,))


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "many"])
def test_a_wrong_number_of_shuffles_is_refused(count: Any) -> None:
    with pytest.raises(ValueError, match="n_permutations"):
        HorseshoeRegressor().chance_selection(*data(20, 5, 0, effects=True), n_permutations=count)
