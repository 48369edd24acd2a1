"""How sure columns are in: a probability, which groups share, and which noise does not get."""

from types import SimpleNamespace

import numpy as np
import pytest

from farrier import HorseshoeRegressorCV
from farrier.adaptive.inclusion import SHARED, SHARES, TRUE, inclusion


def found(included, slope=1.0):
    return SimpleNamespace(inclusion=np.asarray(included, dtype=float), slope=slope)


def ridge(coef):
    """Return ridge fits to two folds and all rows."""
    return SimpleNamespace(coef=np.repeat(np.asarray(coef, dtype=float)[:, None], 3, axis=1))


def meant(shares):
    """Return what shares of fits have been found to mean."""
    return np.interp(shares, SHARES, TRUE)


def test_what_a_share_means_rises_from_never_to_always():
    assert (np.diff(SHARES) > 0.0).all()
    assert (np.diff(TRUE) > 0.0).all()
    assert SHARES[0] == TRUE[0] == 0.0
    assert SHARES[-1] == TRUE[-1] == 1.0


def test_a_share_of_what_is_left_goes_by_the_size_of_ridge():
    said = inclusion(found([0.5, 0.0, 0.0, 1.0]), ridge([2.0, -1.0, 0.0, 4.0]))
    by_hand = [1 - 0.5 * (1 - SHARED / 2), SHARED / 4, 0.0, 1.0]
    np.testing.assert_allclose(said, meant(by_hand))


@pytest.mark.parametrize("slope", [0.0, 0.4])
def test_the_share_is_shrunk_with_the_average(slope):
    said = inclusion(found([0.0, 0.3], slope), ridge([3.0, 0.0]))
    np.testing.assert_allclose(said, meant([slope * SHARED, 0.3]))


def test_without_a_ridge_nothing_is_shared():
    np.testing.assert_allclose(inclusion(found([0.2, 0.0]), ridge([0.0, 0.0])), meant([0.2, 0.0]))
    assert inclusion(found([]), ridge([])).shape == (0,)


def test_it_is_a_probability_in_the_order_of_what_is_found():
    rng = np.random.default_rng(0)
    included, coef = rng.random(50), rng.standard_normal(50)
    said = inclusion(found(included), ridge(coef))
    assert ((said >= meant(included)) & (said <= 1.0)).all()
    same = inclusion(found(included), ridge(np.ones(50)))
    assert np.array_equal(np.argsort(same), np.argsort(included))


def test_effects_stand_above_noise_and_a_group_above_the_rest():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 40))
    X[:, 1:4] = X[:, :1] + 0.2 * rng.standard_normal((80, 3))
    y = 2.0 * X[:, 0] - 1.5 * X[:, 10] + rng.standard_normal(80)
    said = HorseshoeRegressorCV(cv=5).fit(X, y).inclusion_
    noise = np.delete(said, [0, 1, 2, 3, 10])
    assert said[10] > 0.9
    assert said[:4].max() > 0.5
    assert np.median(said[:4]) > np.quantile(noise, 0.9)
    assert noise.mean() < 0.2
