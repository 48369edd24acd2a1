"""Many rows of a Gaussian response as few: the average is the same."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, TimeSeriesSplit

from horseshoe import AdaptiveRegressor
from horseshoe.average import fit as driver
from horseshoe.average.compressed import compress_folds
from horseshoe.average.sets import Sets
from horseshoe.data.dense import Dense
from horseshoe.families import Gaussian, StudentT

N = 6000
SAID = (
    *("intercept_", "sparse_intercept_", "inclusion_", "cv_error_", "sigma2_", "scale_"),
    *("cv_prediction_", "component_weights_"),
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 6)) * [1.0, 1.0, 1e-5, 1e5, 1.0, 1.0] + [0.0, 1e6, 0.0, 0.0, 3.0, 0.0]
    y = X[:, 0] - 0.3 * X[:, 1] + 0.05 * X[:, 4] + rng.standard_normal(N)
    return X, y


def same(one, other, X):
    for name in SAID:
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-8, atol=1e-9, err_msg=name
        )
    for name in ("coef_", "sparse_coef_"):  # of a standard deviation of a column: units are 1e-5 to 1e6
        ours, theirs = (getattr(model, name) * model.scale_ for model in (one, other))
        rounding = 1e-10 + 1e-14 * float(np.abs(ours).max())  # without an intercept an effect is 3e5
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=rounding, err_msg=name)
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.predict_interval(X[:9]), other.predict_interval(X[:9]), rtol=1e-8)
    np.testing.assert_allclose(one.coef_interval(), other.coef_interval(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({}, ()),
        ({}, ("sample_weight", "offset")),
        ({"fit_intercept": False}, ("sample_weight",)),
        ({"selection": "paired", "unpenalized": [4], "feature_groups": [0, 0, 1, 1, 2, 3]}, ()),
        ({"cv": KFold(4)}, ()),
    ],
)
def test_the_average_is_that_of_the_rows(rows, options, given, monkeypatch):
    X, y = rows
    rng = np.random.default_rng(8)
    extra = {"sample_weight": rng.integers(1, 4, N).astype(float), "offset": rng.standard_normal(N)}
    known = {name: extra[name] for name in given}
    seen = []
    monkeypatch.setattr(driver, "compress_folds", lambda sets: seen.append(compress_folds(sets)) or seen[-1])
    few = AdaptiveRegressor(**options).fit(X, y, **known)
    assert seen[0].condensed
    assert seen[0].y.size < 100
    monkeypatch.setattr(driver, "compress_folds", lambda sets: sets)
    same(few, AdaptiveRegressor(**options).fit(X, y, **known), X)


def halves(n):
    fold = np.arange(n) % 2
    return tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(2))


def test_rows_stay_where_sums_would_not_do(rows):
    X, y = rows
    left = X[:, :2] - X[:, :2].mean(axis=0)
    sets = Sets(Dense(left), y, np.zeros(N), np.ones(N), halves(N), Gaussian())
    assert compress_folds(sets) is not sets
    as_they_are = [
        Sets(Dense(left), y, np.zeros(N), np.ones(N), halves(N), StudentT()),
        Sets(Dense(left[:4000]), y[:4000], np.zeros(4000), np.ones(4000), halves(4000), Gaussian()),
        Sets(Dense(left), left[:, 0] + 1e-9 * y, np.zeros(N), np.ones(N), halves(N), Gaussian()),
        Sets(Dense(left), y, np.zeros(N), np.ones(N), tuple(TimeSeriesSplit(3).split(left)), Gaussian()),
    ]
    for sets in as_they_are:
        assert compress_folds(sets) is sets
