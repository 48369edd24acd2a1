"""Columns that are never shrunk beside the thresholds of ordered levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_array
from scipy.special import expit

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status
from horseshoe.priors import GammaScale

ALWAYS = [0, 2, 7]


def make(n: int = 150, p: int = 12, levels: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p) + rng.uniform(-1.0, 1.0, p)
    X[:, 3:6] += 0.6 * X[:, [0]]
    eta = X[:, [0, 4 % p, 5 % p]] @ [0.8, -0.9, 0.7] + rng.logistic(size=n)
    return X, np.digitize(eta, np.linspace(-1.5, 1.5, levels - 1))


def ordinal(**options: Any) -> HorseshoeRegressor:
    return HorseshoeRegressor("ordinal", **options)


@pytest.mark.parametrize(("n", "p", "levels"), [(150, 12, 4), (150, 12, 2), (60, 12, 9)])
def test_always_is_a_huge_prior_variance(n: int, p: int, levels: int) -> None:
    X, y = make(n, p, levels)
    options = {"prior": "ridge", "tau": 0.2, "standardize": False, "tol": 1e-9}
    ours = ordinal(unpenalized=ALWAYS, **options).fit(X, y)
    huge = ordinal(prior_scale=dict.fromkeys(ALWAYS, 1e6), **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, huge.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.coef_std_, huge.coef_std_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.thresholds_, huge.thresholds_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.thresholds_std_, huge.thresholds_std_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), huge.predict_proba(X), rtol=0, atol=1e-6)
    for mine, other in zip(ours.predict(X, return_std=True), huge.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5)


def test_with_more_columns_than_rows() -> None:
    X, y = make(40, 50, 3)
    options = {"prior": "ridge", "tau": 0.2, "standardize": False, "tol": 1e-9}
    ours = ordinal(unpenalized=[0, 2], **options).fit(X, y)
    huge = ordinal(prior_scale={0: 1e4, 2: 1e4}, max_iter=40, **options)
    with pytest.warns(UserWarning, match="not converged"):  # rounding: variances of 1e8 beside others of 1
        huge.fit(X, y)
    np.testing.assert_allclose(ours.coef_, huge.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.thresholds_, huge.thresholds_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.thresholds_std_, huge.thresholds_std_, rtol=0, atol=1e-6)


def test_with_all_columns_always_in_a_fit_is_that_of_the_likelihood() -> None:
    """Proportional odds by a general optimiser, and the inverse of their information by differences."""
    X, y = make(p=3)
    model = ordinal(unpenalized=range(3), tol=1e-10).fit(X, y)

    def loss(point: Any) -> float:
        ends = np.concatenate([[-np.inf], point[3:], [np.inf]])
        return -float(np.log(expit(ends[y + 1] - X @ point[:3]) - expit(ends[y] - X @ point[:3])).sum())

    there = np.append(model.coef_, model.thresholds_)
    best = minimize(loss, there, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(there, best.x, rtol=1e-5, atol=1e-6)
    step = 1e-4 * np.eye(6)
    hessian = [
        [loss(there + a + b) - loss(there + a - b) - loss(there - a + b) + loss(there - a - b) for b in step]
        for a in step
    ]
    std = np.sqrt(np.diag(np.linalg.inv(np.array(hessian) / 4e-8)))
    np.testing.assert_allclose(np.append(model.coef_std_, model.thresholds_std_), std, rtol=1e-3)
    assert model.status_ is Status.CONVERGED


def test_weights_offset_sparse_columns_and_groups() -> None:
    X, y = make(n=80)
    X = np.where(np.random.default_rng(5).random(X.shape) < 0.6, X, 0.0)
    weights, offset = np.random.default_rng(1).integers(1, 3, 80), np.linspace(-0.2, 0.2, 80)
    model = ordinal(unpenalized=[0, 1], feature_groups=[0, 1, *np.repeat(np.arange(2, 7), 2)], tol=1e-10)
    coef = model.fit(X, y, sample_weight=weights, offset=offset).coef_.copy()
    std = model.thresholds_std_.copy()
    sparse = model.fit(csc_array(X), y, sample_weight=weights, offset=offset)
    np.testing.assert_allclose(sparse.coef_, coef, rtol=1e-6, atol=1e-8)
    rows = np.repeat(np.arange(80), weights)
    repeated = model.fit(X[rows], y[rows], offset=offset[rows])
    np.testing.assert_allclose(repeated.coef_, coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(repeated.thresholds_std_, std, rtol=1e-6)


def test_the_table_a_start_and_what_cannot_be() -> None:
    X, y = make()
    model = ordinal(unpenalized=ALWAYS, tol=1e-8).fit(X, y)
    table = model.summary(method="mode").set_index("feature")
    assert table.loc[["x0", "x2", "x7"], ["unpenalized", "selected"]].all(axis=None)
    assert not table.loc["x1", "unpenalized"]
    again = ordinal(unpenalized=ALWAYS, tol=1e-8, start=model).fit(X, y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="column 12 of X is always in, but constant"):
        ordinal(unpenalized=[12]).fit(np.column_stack([X, np.ones(150)]), y)
    with pytest.raises(ValueError, match=r"column 12 .* combination of others that are, column 0"):
        ordinal(unpenalized=[0, 12]).fit(np.column_stack([X, 2.0 * X[:, 0] + 1.0]), y)


def test_draws_have_a_flat_prior_too() -> None:
    pytest.importorskip("polyagamma")
    X, y = make(n=100, p=4, levels=3)
    options = {"prior": "ridge", "tau": 0.3, "standardize": False}
    run = {"n_draws": 1000, "n_warmup": 300, "random_state": 1}
    flat = ordinal(unpenalized=[0, 3], **options).fit(X, y).sample_posterior(**run)
    wide = ordinal(prior_scale={0: 30.0, 3: 30.0}, **options).fit(X, y).sample_posterior(**run)
    error = flat.std() * np.sqrt(1.0 / flat.ess() + 1.0 / wide.ess())
    assert (np.abs(flat.mean() - wide.mean()) < 4.5 * error).all()
    np.testing.assert_allclose(flat.std(), wide.std(), rtol=0.12)
    gap = flat.nuisance.mean(axis=(0, 1)) - wide.nuisance.mean(axis=(0, 1))
    assert (np.abs(gap) < 0.2 * flat.nuisance.std(axis=(0, 1))).all()


def test_a_column_without_a_finite_estimate_is_refused():
    y = np.repeat([0, 1, 2], [3, 4, 3])
    X = np.random.default_rng(1).standard_normal((10, 194))
    X[:, 0] = y == 2
    with pytest.raises(ValueError, match="unpenalized has column 0, and there is no finite estimate"):
        HorseshoeRegressor(family="ordinal", prior=GammaScale(2.0, 1.0), unpenalized=[0]).fit(X, y)


@pytest.mark.parametrize("prior", ["ridge", "student_t", "lasso"])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (60, 200)])
def test_a_column_that_separates_all_levels_ends_the_fit(prior: str, n: int, p: int) -> None:
    X = np.random.default_rng(n + p).standard_normal((n, p))
    model = ordinal(unpenalized=[0], prior=prior).fit(
        X, np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    )
    assert model.status_ is Status.SEPARATED
    assert model.n_iter_ < 100


@pytest.mark.parametrize("prior", ["ridge", "student_t"])
@pytest.mark.parametrize(("n", "p"), [(10, 5), (60, 50), (60, 200)])
def test_a_column_that_separates_two_classes_ends_the_fit(prior: str, n: int, p: int) -> None:
    X = np.random.default_rng(n + p).standard_normal((n, p))
    model = HorseshoeClassifier(unpenalized=[0], prior=prior).fit(X, X[:, 0] > np.quantile(X[:, 0], 0.3))
    assert model.status_ is Status.SEPARATED
    assert model.n_iter_ < 300


def test_a_column_that_is_sure_of_some_rows_only_does_not_hold_up_the_fit() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    X[:, 0] = np.arange(60) < 20
    y = (X[:, 0] == 1.0) | (X[:, 1] + rng.logistic(size=60) > 0.0)
    model = HorseshoeClassifier(unpenalized=[0], prior="ridge", tau=0.3).fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert model.n_iter_ < 15
    others = HorseshoeClassifier(prior="ridge", tau=0.3, standardize=False)
    rest = (X / X.std(axis=0))[20:, 1:]
    np.testing.assert_allclose(model.coef_[1:] * X.std(axis=0)[1:], others.fit(rest, y[20:]).coef_, atol=0.01)
