"""The sparse answer against every subset of few columns, and against least squares."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csc_array

from horseshoe import AdaptiveRegressor
from horseshoe.average.submodel import summarise
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse

N, P = 25, 6


def problem(seed=0, n=N, p=P, rho=0.6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X, rng.standard_normal(p) * rng.choice([0.2, 2.0], p), rng.integers(1, 4, n).astype(float)


def projected(X, fit, weights, chosen, center):
    """Return the least-squares fit to the averaged fit, and the mean squared distance left."""
    root = np.sqrt(weights)
    design = X[:, list(chosen)]
    if center:
        design = np.column_stack([np.ones(len(X)), design])
    if not design.shape[1]:
        return np.zeros(0), weights @ fit**2 / weights.sum()
    coef = np.linalg.lstsq(root[:, None] * design, root * fit, rcond=None)[0]
    return coef, weights @ (fit - design @ coef) ** 2 / weights.sum()


def greedy(X, fit, weights, tolerance, center):
    """Return the columns in the order in which each brings the fit closest, and the distances."""
    chosen, distances = [], [projected(X, fit, weights, [], center)[1]]
    while distances[-1] > tolerance:
        left = {
            j: projected(X, fit, weights, [*chosen, j], center)[1]
            for j in range(X.shape[1])
            if j not in chosen
        }
        best = min(left, key=left.get)
        chosen.append(best)
        distances.append(left[best])
    return chosen, distances


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("tolerance", [3.0, 0.3, 0.01])
@pytest.mark.parametrize("seed", range(4))
def test_columns_enter_as_brute_force_says(seed, tolerance, center):
    X, coef, weights = problem(seed)
    fit = X @ coef
    found = summarise(Dense(np.asfortranarray(X)), coef, 0.7, weights, tolerance, center)
    chosen, distances = greedy(X, fit, weights, tolerance, center)
    assert found.order.tolist() == chosen
    np.testing.assert_allclose(found.distance, distances, atol=1e-12)
    slow, _ = projected(X, fit, weights, chosen, center)
    level, slow = (slow[0], slow[1:]) if center else (0.0, slow)
    np.testing.assert_allclose(found.coef[chosen], slow)
    np.testing.assert_allclose(found.intercept, 0.7 + level, atol=1e-12)
    assert np.array_equal(np.flatnonzero(found.coef), np.sort(chosen))  # the others are exactly zero
    said = weights @ (fit + 0.7 - X @ found.coef - found.intercept) ** 2 / weights.sum()
    np.testing.assert_allclose(said, found.distance[-1], atol=1e-12)


def test_distances_fall_until_the_tolerance_is_met_and_no_sooner():
    X, coef, weights = problem(5, n=40, p=100)
    found = summarise(Dense(np.asfortranarray(X)), coef, 0.0, weights, 0.5)
    assert (np.diff(found.distance) < 0.0).all()
    assert found.distance[-1] <= 0.5 < found.distance[-2]
    assert len(found.order) == len(set(found.order.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_of_few_columns_hardly_any_other_set_of_the_size_is_closer(seed):
    """Greedy choice is not the best of all, but here never by much."""
    X, coef, weights = problem(seed, rho=0.2)
    found = summarise(Dense(np.asfortranarray(X)), coef, 0.0, weights, 0.2)
    size = len(found.order)
    best = min(projected(X, X @ coef, weights, some, True)[1] for some in combinations(range(P), size))
    assert best - 1e-9 <= found.distance[-1] <= 2.0 * best + 0.05


def test_nothing_is_chosen_where_nothing_is_said():
    X, coef, weights = problem()
    for said, tolerance in ((0.0 * coef, 0.0), (coef, 1e9)):
        found = summarise(Dense(np.asfortranarray(X)), said, 0.4, weights, tolerance)
        assert found.order.size == 0
        assert not found.coef.any()
        np.testing.assert_allclose(found.intercept, 0.4 + weights @ (X @ said) / weights.sum())


def test_all_that_is_said_is_chosen_at_tolerance_zero():
    X, coef, weights = problem()
    coef[[1, 4]] = 0.0
    found = summarise(Dense(np.asfortranarray(X)), coef, 0.4, weights, 1e-20)
    np.testing.assert_allclose(found.coef, coef, atol=1e-9)
    np.testing.assert_allclose(found.intercept, 0.4, atol=1e-9)
    assert not found.coef[[1, 4]].any()


def test_copies_of_a_column_enter_once():
    X, coef, weights = problem()
    both = np.column_stack([X, X, X @ np.ones(P)])
    found = summarise(Dense(np.asfortranarray(both)), np.r_[coef, coef, 1.0], 0.0, weights, 1e-12)
    assert len(found.order) <= P
    assert np.isfinite(found.coef).all()
    assert found.distance[-1] < 1e-8


def test_columns_no_more_than_rows_are_chosen_from_very_many():
    X, coef, weights = problem(1, n=10, p=200)
    found = summarise(Dense(np.asfortranarray(X)), coef, 0.0, weights[:10], 0.0)
    assert len(found.order) <= 10
    assert found.distance[-1] < 1e-6 * found.distance[0]


def test_a_sparse_home_says_the_same():
    X, coef, weights = problem()
    shift = np.median(X, axis=0)
    one = summarise(Dense(np.asfortranarray(X)), coef, 0.3, weights, 0.1)
    far = Sparse(csc_array(X - shift)).less(np.ones((len(X), 1)), -shift[:, None])
    two = summarise(far, coef, 0.3, weights, 0.1)
    assert one.order.tolist() == two.order.tolist()
    for ours, theirs in zip(one[1:], two[1:], strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-10)


def test_little_that_is_certain_has_an_answer_too():
    """Many rows, much noise: one standard error is more than all that the columns explain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 6))
    y = 0.2 * X[:, 1] + 0.2 * X[:, 4] + rng.standard_t(3, 5000)
    model = AdaptiveRegressor().fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 4]
    assert model.score(X, y) < 0.05


def test_where_all_columns_gain_the_same_the_strongest_enters():
    """Five rows have four directions: the last one is the same of all columns that are left."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, coef = rng.standard_normal((5, 9)), rng.standard_normal(9)
        found = summarise(Dense(X), coef, 0.0, np.ones(5), 0.0)
        *first, last = found.order.tolist()
        assert len(first) == 3
        assert last == max(set(range(9)) - set(first), key=lambda j: abs(coef[j]))
