"""Columns that are always in, where no other is left: the fit is the one without a prior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array
from sklearn.linear_model import LogisticRegression, QuantileRegressor

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status, sample_posterior
from horseshoe.families import Quantile
from horseshoe.families.pinball import pinball

LEVELS = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]


def make(seed: int, n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -1.0]
    return X, X @ [0.5, -0.02, 3.0, 0.0] + rng.standard_t(3, n)


def excess(model: Any, X: Any, y: Any, level: float, weights: Any = None, intercept: bool = True) -> float:
    """Return by which share the loss is above that of the linear program of scikit-learn."""
    other = QuantileRegressor(quantile=level, alpha=0.0, solver="highs", fit_intercept=intercept)
    weights = np.ones(y.size) if weights is None else weights
    wanted = pinball(y - other.fit(X, y, weights).predict(X), weights, level)
    return pinball(y - model.predict(X), weights, level) / wanted - 1.0


@pytest.mark.parametrize("level", LEVELS)
def test_a_quantile_is_the_linear_program(level: float) -> None:
    for seed in range(10):
        X, y = make(seed)
        model = HorseshoeRegressor(Quantile(level=level), unpenalized=[0, 1, 2, 3]).fit(X, y)
        assert abs(excess(model, X, y, level)) < 1e-8
        assert model.status_ is Status.CONVERGED


def test_the_median_is_the_linear_program() -> None:
    for seed in range(10):
        X, y = make(seed)
        model = HorseshoeRegressor("laplace", unpenalized=[0, 1, 2, 3]).fit(X, y)
        assert abs(excess(model, X, y, 0.5)) < 1e-8


def test_the_noise_is_the_mean_loss() -> None:
    X, y = make(0)
    for level in (0.1, 0.5, 0.8):
        model = HorseshoeRegressor(Quantile(level=level), unpenalized=[0, 1, 2, 3]).fit(X, y)
        loss = 2.0 * pinball(y - model.predict(X), np.ones(200), level) / 196.0
        assert model.sigma2_ == pytest.approx(loss**2, rel=1e-3)


def test_a_looser_tol_is_a_looser_fit() -> None:
    X, y = make(55)
    found = [
        excess(
            HorseshoeRegressor(Quantile(level=0.95), unpenalized=[0, 1, 2, 3], tol=tol).fit(X, y), X, y, 0.95
        )
        for tol in (0.1, 1e-2, 1e-9)
    ]
    assert 1e-2 > found[0] > found[2]
    assert found[1] < 1e-4
    assert abs(found[2]) < 1e-10


@pytest.mark.parametrize("family", ["laplace", Quantile(level=0.9)], ids=str)
def test_other_columns_at_zero_do_not_matter(family: Any) -> None:
    X, y = make(1)
    more = np.column_stack([X, np.random.default_rng(2).standard_normal((200, 3))])
    alone = HorseshoeRegressor(family, unpenalized=[0, 1, 2, 3]).fit(X, y)
    beside = HorseshoeRegressor(family, unpenalized=[0, 1, 2, 3], tau=1e-6).fit(more, y)
    np.testing.assert_allclose(beside.coef_, [*alone.coef_, 0.0, 0.0, 0.0], rtol=1e-6)
    assert beside.intercept_ == pytest.approx(alone.intercept_, rel=1e-6)


def test_weights_offset_and_no_intercept() -> None:
    X, y = make(3)
    weights, known = np.random.default_rng(1).integers(1, 4, 200) * 1.0, X[:, 0] ** 2
    for intercept in (True, False):
        model = HorseshoeRegressor(Quantile(level=0.7), unpenalized=[0, 1, 2, 3], fit_intercept=intercept)
        model.fit(csc_array(X), y + known, sample_weight=weights, offset=known)
        assert abs(excess(model, X, y, 0.7, weights, intercept)) < 1e-8


@pytest.mark.filterwarnings("ignore:R-hat")
def test_intervals_and_draws_are_finite() -> None:
    X, y = make(4)
    model = HorseshoeRegressor(Quantile(level=0.9), unpenalized=[0, 1, 2, 3]).fit(X, y)
    low, high = model.coef_interval(method="mode").T
    assert np.all(low < model.coef_)
    assert np.all(model.coef_ < high)
    few: dict[str, Any] = {"n_draws": 50, "n_warmup": 50, "n_chains": 2, "random_state": 0}
    draws = sample_posterior(X, y, family=Quantile(level=0.9), unpenalized=[0, 1, 2], **few)
    assert np.isfinite(draws.coef).all()


@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
def test_strong_effects_on_classes_are_those_of_maximum_likelihood(weights: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 3))
    y = rng.random(300) < 1.0 / (1.0 + np.exp(-X @ [12.0, -6.0, 2.0]))
    model = HorseshoeClassifier(augmentation=weights, unpenalized=[0, 1, 2], tol=1e-9).fit(X, y)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_.ravel(), other.coef_.ravel(), rtol=1e-4)


@pytest.mark.parametrize("family", ["student_t", "huber"])
def test_tol_is_that_of_what_is_always_in(family: str) -> None:
    X, y = make(6)
    close = HorseshoeRegressor(family, unpenalized=[0, 1, 2, 3], tol=1e-10).fit(X, y)
    flat = HorseshoeRegressor(family, prior="ridge", tau=1e8, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(close.coef_, flat.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("unpenalized", [[0], [0, 1, 2]])
def test_what_separates_the_classes_is_said_to(unpenalized: list[int]) -> None:
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = HorseshoeClassifier(unpenalized=unpenalized).fit(X, X[:, 0] > 0.0)
    assert model.status_ is Status.SEPARATED
