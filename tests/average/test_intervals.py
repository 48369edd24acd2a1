"""CV+ against its definition, and corrected coefficients against dense matrices; what both cover."""

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.stats import binom, norm

from average_sets import make_sets
from horseshoe import AdaptiveRegressor
from horseshoe.average import intervals
from horseshoe.average.intervals import Corrected, coef_interval, corrected, cv_plus
from horseshoe.average.sets import Sets
from horseshoe.data.sparse import Sparse


def slow_cv_plus(mean, folds, errors, level):
    """Return the interval of one new row as Barber, Candes, Ramdas and Tibshirani (2021) define it.

    The upper end is the ceil((1 - alpha)(n + 1))-th smallest of mu + R, the lower one minus that of R - mu.
    """

    def quantile(values):
        place = int(np.ceil(round(level * (len(values) + 1), 9)))
        return sorted(values)[place - 1] if place <= len(values) else np.inf

    upper = quantile([mean[k] + error for k, error in zip(folds, errors, strict=True)])
    return -quantile([error - mean[k] for k, error in zip(folds, errors, strict=True)]), upper


def predicted(m=7, n=43, k=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)), rng.integers(0, k, n), rng.exponential(size=n)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.97, 0.99])
@pytest.mark.parametrize("n", [19, 20, 43, 99, 200])
def test_ends_are_those_of_the_paper(n, level):
    mean, folds, errors = predicted(n=n)
    found = cv_plus(mean, np.ones_like(mean), folds, errors, level)
    for row, ends in zip(mean, found, strict=True):
        np.testing.assert_allclose(ends, slow_cv_plus(row, folds, errors, level))


def test_errors_are_in_units_of_the_spread():
    mean, folds, errors = predicted()
    unit = np.random.default_rng(1).uniform(0.5, 2.0, mean.shape)
    found = cv_plus(mean, unit, folds, errors, 0.8)
    for row, units, (low, high) in zip(mean, unit, found, strict=True):
        lows = np.sort([row[k] - units[k] * r for k, r in zip(folds, errors, strict=True)])
        highs = np.sort([row[k] + units[k] * r for k, r in zip(folds, errors, strict=True)])
        place = int(0.2 * 44)
        assert (low, high) == (lows[place - 1], highs[-place])


@pytest.mark.parametrize("level", [0.6, 0.9, 0.97])
def test_a_row_of_weight_two_is_two_rows(level):
    mean, folds, errors = predicted()
    counts = np.random.default_rng(2).integers(1, 4, errors.size)
    one = cv_plus(mean, np.ones_like(mean), folds, errors, level, counts.astype(float))
    two = cv_plus(mean, np.ones_like(mean), np.repeat(folds, counts), np.repeat(errors, counts), level)
    np.testing.assert_array_equal(one, two)


def test_rows_are_worked_on_in_parts(monkeypatch):
    mean, folds, errors = predicted()
    whole = cv_plus(mean, np.ones_like(mean), folds, errors, 0.9)
    monkeypatch.setattr(intervals, "CHUNK", 2 * errors.size)
    np.testing.assert_array_equal(cv_plus(mean, np.ones_like(mean), folds, errors, 0.9), whole)
    assert cv_plus(mean[:0], mean[:0], folds, errors, 0.9).shape == (0, 2)


def test_too_few_rows_for_a_level_say_so_by_being_infinite():
    mean, folds, errors = predicted(n=10)
    found = cv_plus(mean, np.ones_like(mean), folds, errors, 0.95)
    assert np.array_equal(found, np.tile([-np.inf, np.inf], (7, 1)))


def simulated(rng, n, p, noise):
    X = rng.standard_normal((n, p))
    return X, X[:, 0] - X[:, 1] + noise(rng, n)


@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_new_rows_are_covered(noise):
    """About as often as is said; rows of one fit are not independent, so a fit counts as ten of them."""
    draw = {
        "normal": lambda rng, n: rng.standard_normal(n),
        "heavy": lambda rng, n: rng.standard_t(2, n),
    }[noise]
    rng, inside = np.random.default_rng(3), []
    for _ in range(12):
        X, y = simulated(rng, 50, 8, draw)
        model = AdaptiveRegressor(cv=5).fit(X, y)
        new, truth = simulated(rng, 200, 8, draw)
        low, high = model.predict_interval(new, 0.9).T
        inside.append(np.mean((low <= truth) & (truth <= high)))
    covered = round(120 * np.mean(inside))
    assert binom.cdf(covered, 120, 0.9) > 1e-3
    assert np.mean(inside) < 0.99


# --- coefficients -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(30, 8), (20, 45)])
@pytest.mark.parametrize("counts", [False, True])
def test_corrected_coefficients_are_those_of_dense_matrices(shape, counts):
    sets = make_sets("gaussian", *shape, counts=counts)
    X, rng = sets.columns.dense(), np.random.default_rng(0)
    n, p = X.shape
    coef, residual = rng.standard_normal(p), rng.standard_normal(n)
    weights = sets.counts * rng.uniform(0.2, 1.0, n)
    found = corrected(sets, coef, residual, weights, 0.7)
    total = weights.sum()
    S = X.T @ (weights[:, None] * X) / total
    M = np.linalg.inv(S + intervals.RIDGE * np.eye(p))
    kept = np.diag(M @ S)
    slow = coef + M @ X.T @ (weights * residual) / total / kept
    variance = 0.7 * np.diag(M @ S @ M.T) / total / kept**2
    np.testing.assert_allclose(found.coef, slow, rtol=1e-8)
    np.testing.assert_allclose(found.std, np.sqrt(variance), rtol=1e-8)
    shift = np.median(X, axis=0)
    home = Sparse(csc_array(X - shift)).less(np.ones((len(X), 1)), -shift[:, None])
    other = Sets(home, *(getattr(sets, name) for name in Sets.__match_args__[1:]))
    for ours, theirs in zip(found, corrected(other, coef, residual, weights, 0.7), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-8)


def test_a_column_of_zeros_has_a_finite_interval():
    sets = make_sets("gaussian", 20, 3)
    X = sets.columns.dense().copy()
    X[:, 1] = 0.0
    other = Sets(
        type(sets.columns)(np.asfortranarray(X)), *(getattr(sets, n) for n in Sets.__match_args__[1:])
    )
    found = corrected(other, np.zeros(3), np.ones(20), np.ones(20), 1.0)
    assert np.isfinite(found.coef).all()
    assert np.isfinite(found.std).all()


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_an_interval_is_around_both_values(level):
    coef, found = np.array([1.0, 2.0, 0.0]), Corrected(np.array([2.0, -1.0, 0.0]), np.array([0.1, 0.5, 1.0]))
    reach = norm.ppf(0.5 + level / 2) * found.std
    low, high = coef_interval(coef, found, level).T
    np.testing.assert_allclose(low, np.array([1.0, -1.0, 0.0]) - reach)
    np.testing.assert_allclose(high, np.array([2.0, 2.0, 0.0]) + reach)


def test_effects_are_covered():
    rng, inside = np.random.default_rng(5), []
    truth = np.r_[1.0, -1.0, np.zeros(13)]
    for _ in range(15):
        X = rng.standard_normal((60, 15))
        model = AdaptiveRegressor(cv=5).fit(X, X @ truth + rng.standard_normal(60))
        low, high = model.coef_interval(0.9).T
        inside.append((low <= truth) & (truth <= high))
    effects = np.array(inside)[:, :2]
    assert binom.cdf(effects.sum(), effects.size, 0.9) > 1e-3
    assert np.mean(inside) > 0.88
