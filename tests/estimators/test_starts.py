"""Where a fit of classes or counts starts decides what it finds in wide data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.starts import count, simulate

from horseshoe import HorseshoeClassifier, HorseshoeRegressor

WIDE = 10_000


def test_the_start_of_the_paper_loses_classes_in_wide_data_and_ours_does_not() -> None:
    paper, ours = (count("binomial", WIDE, 1.5, start, replicates=2) for start in ("paper", "auto"))
    assert paper.found <= 5.0
    assert ours.found >= 8.0
    assert ours.false <= 2.0


def test_weak_effects_on_counts() -> None:
    paper, ours = (count("poisson", WIDE, 0.2, start, replicates=2) for start in ("paper", "auto"))
    assert paper.found <= 1.0
    assert ours.found >= paper.found + 2.0


@pytest.mark.parametrize(("family", "name"), [("poisson", "marginal"), ("negative_binomial", "marginal")])
def test_auto_is_marginal_for_counts(family: str, name: str) -> None:
    X, y, _ = simulate(family, 400, 0.5, seed=1)
    same(HorseshoeRegressor(family=family).fit(X, y), HorseshoeRegressor(family=family, start=name).fit(X, y))


def test_auto_is_linear_for_classes() -> None:
    X, y, _ = simulate("binomial", 400, 1.0, seed=1)
    same(HorseshoeClassifier().fit(X, y), HorseshoeClassifier(start="linear").fit(X, y))


@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace"])
@pytest.mark.parametrize("name", ["auto", "linear", "marginal"])
def test_families_with_a_noise_variance_have_one_start(family: str, name: str) -> None:
    X, y, _ = simulate(family, 60, 1.0, seed=1)
    same(HorseshoeRegressor(family=family).fit(X, y), HorseshoeRegressor(family=family, start=name).fit(X, y))


@pytest.mark.parametrize("start", ["linear", "marginal"])
@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_weights_count_rows_wherever_a_fit_starts(family: str, start: str) -> None:
    X, y, _ = simulate(family, 30, 0.4, seed=2)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    offset = np.random.default_rng(1).standard_normal(len(y))
    model = HorseshoeRegressor(family=family, start=start, tol=1e-9)
    weighted = model.fit(X, y, sample_weight=times.astype(float), offset=offset).coef_
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times), offset=np.repeat(offset, times))
    np.testing.assert_allclose(weighted, repeated.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("prior", ["ridge", "lasso"])
def test_a_prior_that_does_not_select_starts_at_the_ridge(prior: str) -> None:
    X, y, _ = simulate("binomial", 20, 1.0, seed=3)
    same(
        HorseshoeClassifier(prior=prior).fit(X, y), HorseshoeClassifier(prior=prior, start="paper").fit(X, y)
    )


def same(one: Any, other: Any) -> None:
    """Check that two fits are the same."""
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.n_iter_ == other.n_iter_


def test_a_fit_without_an_intercept_begins_at_one_that_has_it():
    """The intercept of the earlier fit stayed in the linear predictor: no step led anywhere."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = rng.poisson(np.exp(2.0 + 0.5 * X[:, 0]))
    earlier = HorseshoeRegressor(family="poisson").fit(X, y)
    options = {"family": "poisson", "fit_intercept": False, "tol": 1e-9}
    fresh = HorseshoeRegressor(**options).fit(X, y)
    again = HorseshoeRegressor(**options, start=earlier).fit(X, y)
    assert again.status_ is fresh.status_
    np.testing.assert_allclose(again.coef_, fresh.coef_, rtol=1e-6)
