"""How sure columns are in: a probability, which groups share, and which noise does not get."""

from types import SimpleNamespace

import numpy as np
import pytest

from horseshoe import AdaptiveRegressor
from horseshoe.average import inclusion as room
from horseshoe.average.inclusion import LEAST, NEIGHBOURS, POWER, SHARED, SHARES, TRUE, inclusion
from horseshoe.data.dense import Dense


def found(included, slope=1.0):
    return SimpleNamespace(inclusion=np.asarray(included, dtype=float), slope=slope)


def ridge(coef):
    """Return ridge fits to two folds and all rows."""
    return SimpleNamespace(coef=np.repeat(np.asarray(coef, dtype=float)[:, None], 3, axis=1))


def columns(x, counts=None):
    """Return what is known of the rows."""
    x = np.asarray(x, dtype=float)
    return SimpleNamespace(
        columns=Dense(np.asfortranarray(x)), counts=np.ones(len(x)) if counts is None else counts
    )


def unlike(p):
    """Return columns that have nothing in common: no neighbour has anything to give."""
    return columns(np.eye(p))


def meant(shares):
    """Return what shares of fits have been found to mean."""
    return np.interp(shares, SHARES, TRUE)


def test_what_a_share_means_rises_from_never_to_always():
    assert (np.diff(SHARES) > 0.0).all()
    assert (np.diff(TRUE) > 0.0).all()
    assert SHARES[0] == TRUE[0] == 0.0
    assert SHARES[-1] == TRUE[-1] == 1.0


def test_a_share_of_what_is_left_goes_by_the_size_of_ridge():
    said = inclusion(found([0.5, 0.0, 0.0, 1.0]), ridge([2.0, -1.0, 0.0, 4.0]), unlike(4))
    by_hand = [1 - 0.5 * (1 - SHARED / 2), SHARED / 4, 0.0, 1.0]
    np.testing.assert_allclose(said, meant(by_hand))


@pytest.mark.parametrize("slope", [0.0, 0.4])
def test_the_share_is_shrunk_with_the_average(slope):
    said = inclusion(found([0.0, 0.3], slope), ridge([3.0, 0.0]), unlike(2))
    np.testing.assert_allclose(said, meant([slope * SHARED, 0.3]))


def test_without_a_ridge_nothing_is_shared():
    said = inclusion(found([0.2, 0.0]), ridge([0.0, 0.0]), unlike(2))
    np.testing.assert_allclose(said, meant([0.2, 0.0]))
    assert inclusion(found([]), ridge([]), columns(np.zeros((5, 0)))).shape == (0,)


@pytest.mark.parametrize("counts", [False, True])
def test_a_column_gets_a_share_of_what_its_nearest_neighbour_has(counts):
    """Of the one that gives most, pair by pair; a row of weight two is two rows."""
    rng = np.random.default_rng(3)
    x, share = rng.standard_normal((30, 8)), np.array([0.9, 0.0, 0.5, 0.05, 0.0, 1.0, 0.2, 0.0])
    x[:, [1, 3]] = x[:, [0]] + 0.3 * rng.standard_normal((30, 2))
    x[:, 4] = -x[:, 2]  # the sign does not matter
    times = rng.integers(1, 4, 30) if counts else np.ones(30, dtype=int)
    rows = np.repeat(x, times, axis=0)
    by_hand = []
    for j in range(8):
        given = [0.0]
        for k in range(8):
            if k != j and share[k] > LEAST:
                cosine = rows[:, j] @ rows[:, k] / np.sqrt((rows[:, j] ** 2).sum() * (rows[:, k] ** 2).sum())
                given.append(abs(cosine) ** POWER * share[k])
        by_hand.append(1.0 - (1.0 - share[j]) * (1.0 - NEIGHBOURS * max(given)))
    said = inclusion(found(share), ridge(np.zeros(8)), columns(x, times.astype(float)))
    np.testing.assert_allclose(said, meant(by_hand))
    assert by_hand[1] > 0.1
    assert by_hand[4] == pytest.approx(NEIGHBOURS * 0.5)


def test_so_many_neighbours_give(monkeypatch):
    """Those that have most."""
    x = np.repeat(np.eye(3), 2, axis=1)  # three pairs of copies
    share = [0.3, 0.0, 0.9, 0.0, 0.6, 0.0]
    monkeypatch.setattr(room, "MOST", 2)
    said = inclusion(found(share), ridge(np.zeros(6)), columns(x))
    half = NEIGHBOURS
    np.testing.assert_allclose(said, meant([0.3, 0.0, 0.9, half * 0.9, 0.6, half * 0.6]))


def test_it_is_a_probability_in_the_order_of_what_is_found():
    rng = np.random.default_rng(0)
    included, coef = rng.random(50), rng.standard_normal(50)
    said = inclusion(found(included), ridge(coef), columns(rng.standard_normal((60, 50))))
    assert ((said >= meant(included)) & (said <= 1.0)).all()
    same = inclusion(found(included), ridge(np.ones(50)), unlike(50))
    assert np.array_equal(np.argsort(same), np.argsort(included))


def test_effects_stand_above_noise_and_a_group_above_the_rest():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 40))
    X[:, 1:4] = X[:, :1] + 0.2 * rng.standard_normal((80, 3))
    y = 2.0 * X[:, 0] - 1.5 * X[:, 10] + rng.standard_normal(80)
    said = AdaptiveRegressor(cv=5).fit(X, y).inclusion_
    noise = np.delete(said, [0, 1, 2, 3, 10])
    assert said[10] > 0.9
    assert said[:4].max() > 0.5
    assert np.median(said[:4]) > np.quantile(noise, 0.9)
    assert noise.mean() < 0.2
