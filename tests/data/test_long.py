"""Many rows in memory: the answers of a copy, and no copy."""

import numpy as np
import pytest

from horseshoe import AdaptiveClassifier, HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data import dense
from horseshoe.data.dense import Dense
from registry import LongDense


def data(far=0.0, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((6_000, 9)) * np.geomspace(0.01, 100.0, 9) + far
    eta = (x[:, :3] - x[:, :3].mean(axis=0)) / x[:, :3].std(axis=0) @ np.array([1.0, -1.0, 0.5])
    return x, (rng.random(6_000) < 1.0 / (1.0 + np.exp(-eta))).astype(float), rng


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("family", ["binomial", "poisson", "negative_binomial", "student_t", "huber"])
def test_fits_are_those_of_a_copy(family, order, monkeypatch):
    x, y, rng = data()
    x = np.asarray(x, order=order)
    known = {"sample_weight": rng.uniform(0.5, 2.0, len(y)), "offset": rng.uniform(-0.3, 0.3, len(y))}
    theirs = HorseshoeRegressor(family=family).fit(x, y, **known)
    monkeypatch.setattr(dense, "LONG_BYTES", 0)
    ours = HorseshoeRegressor(family=family).fit(x, y, **known)
    seen = ours._training.rows.columns.standardised(None, True, True)[0]
    assert np.shares_memory(seen.storage.dense(), x)
    assert np.array_equal(ours.support_, theirs.support_)
    scale = x.std(axis=0)
    np.testing.assert_allclose(scale * ours.coef_, scale * theirs.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(scale * ours.coef_std_, scale * theirs.coef_std_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x), rtol=1e-8)


def test_an_average_is_that_of_a_copy(monkeypatch):
    x, y, _ = data()
    theirs = AdaptiveClassifier(cv=3).fit(x, y)
    monkeypatch.setattr(dense, "LONG_BYTES", 0)
    ours = AdaptiveClassifier(cv=3).fit(x, y)
    np.testing.assert_allclose(ours.coef_ * x.std(axis=0), theirs.coef_ * x.std(axis=0), rtol=0, atol=1e-8)
    assert np.array_equal(ours.support_, theirs.support_)


def test_nothing_is_copied_before_few_columns_are_left(monkeypatch):
    monkeypatch.setattr(dense, "LONG_BYTES", 0)
    copied = []
    monkeypatch.setattr(dense, "by_column", lambda x: copied.append(x.shape))
    x, y, _ = data()
    model = HorseshoeClassifier().fit(x, y)
    assert model.support_.sum() == 3
    assert not copied


def test_columns_far_from_zero_are_copied():
    """Products by algebra would lose six digits of them."""
    x, _, _ = data(far=1e6)
    (ours, found), (theirs, other) = (home(x).standardised(None, True, True) for home in (LongDense, Dense))
    assert type(ours) is Dense
    assert np.array_equal(ours.dense(), theirs.dense())
    assert np.array_equal(found.spread, other.spread)


def test_small_and_wide_arrays_and_other_types_are_plain():
    for x in (np.ones((100, 3)), np.ones((10_000_000, 1), dtype=np.float32)):
        assert Dense(x).standardised(None, False, False)[0].storage.dense() is not x
