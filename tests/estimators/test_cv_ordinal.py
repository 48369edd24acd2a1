"""The average over ordered levels: thresholds of each training set, and what must not change the answer."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

from horseshoe import AdaptiveRegressor, HorseshoeRegressor
from horseshoe.families import Ordinal

LEVELS = ("none", "mild", "severe")


def data(n=150, p=20, effects=(1.3, -1.0), seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.geomspace(0.5, 20.0, p) + 2.0
    eta = (X - 2.0)[:, : len(effects)] / np.geomspace(0.5, 20.0, p)[: len(effects)] @ np.asarray(effects)
    return X, np.digitize(eta + rng.logistic(size=n), [-1.5, 0.0, 1.0]) * 1.0


def fit(X, y, **options):
    known = {name: options.pop(name) for name in ("sample_weight", "offset") if name in options}
    return AdaptiveRegressor(**{"family": "ordinal", "cv": 4, **options}).fit(X, y, **known)


def same(one, two, within, columns=slice(None), factor=1.0):
    for name in ("coef_", "sparse_coef_"):
        ours, theirs = getattr(one, name)[columns], getattr(two, name) * factor
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=within * max(np.abs(ours).max(), 1e-3))
    np.testing.assert_allclose(two.inclusion_, one.inclusion_[columns], atol=within)
    np.testing.assert_allclose(two.cv_error_, one.cv_error_, rtol=within)
    assert two.support_.tolist() == one.support_[columns].tolist()


@pytest.mark.parametrize("p", [20, 250])
def test_effects_are_found(p):
    X, y = data(p=p)
    model = fit(X, y)
    assert np.flatnonzero(model.support_).tolist() == [0, 1]
    truth = np.array([1.3, -1.0]) / np.geomspace(0.5, 20.0, p)[:2]
    np.testing.assert_allclose(model.coef_[:2], truth, rtol=0.4)
    assert model.components_[0].what == "the thresholds alone"
    assert model.components_[0].error > model.cv_error_ + 0.3
    assert not fit(*data(p=p, effects=(0.0,))).support_.any()


def test_the_answer_is_that_of_its_coefficients_and_the_best_thresholds():
    X, y = data()
    model = fit(X, y)
    eta = X @ model.coef_
    again = HorseshoeRegressor(family="ordinal", prior="ridge", tau=1e-8, zero_threshold=0)
    again.fit(X, y, offset=eta)  # as good as no coefficients: thresholds alone
    np.testing.assert_allclose(model.thresholds_, again.thresholds_, atol=1e-4)
    assert model.intercept_ == pytest.approx(0.0, abs=1e-9)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(proba, again.predict_proba(X, offset=eta), atol=1e-4)
    assert set(np.unique(model.predict(X))) <= {0.0, 1.0, 2.0, 3.0}
    assert model.score(X, y) > 0.15
    table = model.summary(exponentiate=True)
    assert table["feature"].tolist()[:4] == ["0 | 1", "1 | 2", "2 | 3", "x0"]
    np.testing.assert_allclose(table["coef"][:3], model.thresholds_)
    interval = model.predict_interval(X)
    assert np.isin(interval, [0.0, 1.0, 2.0, 3.0]).all()
    assert np.mean((interval[:, 0] <= y) & (y <= interval[:, 1])) > 0.9


def test_rows_left_out_are_judged_at_the_thresholds_of_their_training_set():
    X, y = data()
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    model = fit(X, y, cv=folds)
    total = 0.0
    for (train, test), coef in zip(folds, model._fitted.average.fold_coef.T, strict=True):
        eta = X @ model._fitted.units.coef(coef)
        family = Ordinal().learn(y).at_best(y[train], eta[train], np.ones(train.size))
        chances = family.probabilities(eta[test])
        total -= 2.0 * np.log(chances[np.arange(test.size), y[test].astype(int)]).sum()
    assert model.cv_error_ == pytest.approx(total / y.size, rel=1e-9)


def test_no_fold_sees_the_levels_it_will_predict():
    X, y = data(90, 6)
    folds = list(KFold(3).split(X))
    few, changed = folds[0][1][:4], y.copy()
    changed[few] = 3.0 - y[few]
    for name in ("horseshoe", "mixture_horseshoe", "mixture_forward"):  # ridge has one penalty for all sets
        first, second = (
            fit(X, levels, cv=folds, components=[name])._fitted.average for levels in (y, changed)
        )
        own, other = (found.fold_coef[:, 0] / found.slope for found in (first, second))
        np.testing.assert_allclose(other, own, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("p", [6, 90])
def test_order_units_and_weights(p):
    X, y = data(70, p)
    want = fit(X, y)
    rows = np.random.default_rng(0).permutation(70)
    same(want, fit(X[rows], y[rows]), 1e-5)
    same(want, fit(X[:, ::-1], y), 1e-5, slice(None, None, -1))
    same(want, fit(1024.0 * X + 3.0, y), 1e-5, factor=1024.0)
    same(want, fit(X, 2.0**y), 1e-12)
    same(want, fit(sparse.csr_array(X), y, n_jobs=2), 1e-7)
    weights = np.random.default_rng(1).integers(0, 4, 70)
    again = np.repeat(np.arange(70), weights)
    same(fit(X, y, sample_weight=weights), fit(X[again], y[again]), 1e-5)


def test_labels_have_their_order():
    X, y = data()
    names = np.array(LEVELS, dtype=object)[np.minimum(y, 2.0).astype(int)]
    model = fit(X, names, family=Ordinal(levels=LEVELS))
    ordered = fit(X, pd.Series(pd.Categorical(names, LEVELS, ordered=True)))
    np.testing.assert_array_equal(ordered.coef_, model.coef_)
    assert model.levels_.tolist() == list(LEVELS)
    assert set(model.predict(X)) <= set(LEVELS)
    assert set(model.predict_interval(X).ravel()) <= set(LEVELS)
    np.testing.assert_allclose(fit(X, np.minimum(y, 2.0)).coef_, model.coef_)
    with pytest.raises(ValueError, match="nothing tells their order"):
        fit(X, names)


@pytest.mark.parametrize("p", [20, 250])
def test_numbers_of_which_no_two_are_the_same_are_levels_too(p):
    """No training set has seen the levels that it is to predict: each counts as half a row."""
    X, _ = data(p=p)
    Z = (X[:, :2] - 2.0) / np.geomspace(0.5, 20.0, p)[:2]
    latent = Z @ [1.3, -1.0] + np.random.default_rng(5).logistic(size=150)
    model = fit(X, latent)
    assert np.flatnonzero(model.support_).tolist() == [0, 1]
    assert model.components_[0].what == "the thresholds alone"
    assert model.components_[0].error > model.cv_error_ + 0.2
    np.testing.assert_allclose(fit(X, np.exp(latent)).coef_, model.coef_, rtol=1e-6, atol=1e-12)
    again = HorseshoeRegressor(family="ordinal", prior="ridge", tau=1e-8, zero_threshold=0)
    again.fit(X, latent, offset=X @ model.coef_)
    np.testing.assert_allclose(model.thresholds_, again.thresholds_, atol=1e-3)
    assert np.isin(model.predict(X), latent).all()
    low, high = model.predict_interval(X).T
    assert np.mean((low <= latent) & (latent <= high)) > 0.9
    shuffled = fit(X, np.random.default_rng(1).permutation(latent))
    assert not shuffled.support_.any()


def test_measurements_with_a_few_ties_are_levels_too():
    X, _ = data(p=20)
    y = X[:, 0] / X[:, 0].std() + np.random.default_rng(5).logistic(size=150)
    y[10], y[20] = y[11], y[21]
    folds = list(KFold(3).split(X))
    weights = np.ones(150)
    weights[[3, 4, 5]] = 2.0
    rows = np.r_[np.arange(150), [3, 4, 5]]
    again = [tuple(np.flatnonzero(np.isin(rows, part)) for part in pair) for pair in folds]
    want = AdaptiveRegressor(family="ordinal", cv=folds).fit(X, y, sample_weight=weights)
    repeated = AdaptiveRegressor(family="ordinal", cv=again).fit(X[rows], y[rows])
    np.testing.assert_allclose(repeated.coef_, want.coef_, atol=1e-6)


@pytest.mark.parametrize("unit", [2.0**-27, 2.0**530])
def test_intervals_have_the_unit_of_the_levels(unit):
    X, _ = data(60, 5)
    y = X[:, 0] / X[:, 0].std() + np.random.default_rng(5).logistic(size=60)
    want, found = fit(X, y).predict_interval(X), fit(X, unit * y).predict_interval(X)
    np.testing.assert_allclose(found / unit, want, rtol=1e-12)


def test_no_fold_sees_which_of_the_levels_it_will_predict():
    X, _ = data(90, 6)
    y = 3.0 * X[:, 0] / X[:, 0].std() + np.random.default_rng(0).logistic(size=90)
    folds = list(KFold(3).split(X))
    changed = y.copy()
    changed[folds[0][1]] = y[folds[0][1][::-1]]
    for name in ("horseshoe", "mixture_horseshoe", "mixture_forward"):
        first, second = (
            fit(X, levels, cv=folds, components=[name])._fitted.average for levels in (y, changed)
        )
        own, other = (found.fold_coef[:, 0] / found.slope for found in (first, second))
        np.testing.assert_allclose(other, own, atol=1e-9, err_msg=name)


def errors(effects):
    """Return the squared error of the mode and of the average on each of twenty data sets."""
    found, scale = [], np.geomspace(0.5, 20.0, 100)
    truth = np.r_[effects, np.zeros(100 - len(effects))]
    for seed in range(20):
        X, y = data(200, 100, effects, seed)
        models = HorseshoeRegressor(family="ordinal").fit(X, y), fit(X, y, cv=10)
        found.append([((model.coef_ * scale - truth) ** 2).sum() for model in models])
    return np.array(found).T


@pytest.mark.slow
def test_the_average_is_better_than_the_mode_where_effects_are_many_and_as_good_where_they_are_few():
    mode, average = errors(tuple(0.2 * (-1.0) ** j for j in range(60)))
    gained = mode - average
    assert gained.mean() > 2.0 * gained.std() / np.sqrt(20)
    mode, average = errors((1.0, -0.8, 0.5))
    lost = average - mode
    assert lost.mean() < 2.0 * lost.std() / np.sqrt(20)
