"""Training sets that are small, or grow: they judge, and the fit to all rows answers."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from average_sets import make_sets
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, load_model
from horseshoe.average.components import Fitting
from horseshoe.average.weights import average

N = 60
GROUPS = np.arange(N) // 6
ONE_LARGE = np.where(np.arange(N) < 40, 0, np.arange(N) // 5)
EVEN = {
    "KFold": (KFold(7), None),
    "halves": (KFold(2), None),
    "RepeatedKFold": (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), None),
    "ShuffleSplit": (ShuffleSplit(4, test_size=0.2, random_state=0), None),
    "GroupKFold": (GroupKFold(4), GROUPS),
    "LeaveOneGroupOut": (LeaveOneGroupOut(), GROUPS),
}
UNEVEN = {
    "TimeSeriesSplit": (TimeSeriesSplit(5), None),
    "a small training set": (ShuffleSplit(4, test_size=0.7, random_state=0), None),
    "a large group": (LeaveOneGroupOut(), ONE_LARGE),
}


def sets_of(splitter, groups):
    return make_sets("gaussian", N, 4, tuple(splitter.split(np.zeros((N, 1)), groups=groups)))


@pytest.mark.parametrize("name", EVEN)
def test_folds_stand_for_all_rows(name):
    sets = sets_of(*EVEN[name])
    assert sets.even
    assert sets.like.all()


@pytest.mark.parametrize("name", UNEVEN)
def test_folds_do_not_stand_for_all_rows(name):
    sets = sets_of(*UNEVEN[name])
    assert not sets.even
    assert np.count_nonzero(sets.like) >= min(40, sets.like.size)


def test_rows_like_new_ones_are_those_of_the_largest_training_sets():
    sets = make_sets("gaussian", 600, 4, tuple(TimeSeriesSplit(5).split(np.zeros((600, 1)))))
    np.testing.assert_array_equal(sets.tested[0][sets.like], np.arange(400, 600))


@pytest.mark.parametrize("family", ["gaussian", "student_t", "poisson"])
def test_each_component_is_its_fit_to_all_rows(family):
    sets = make_sets(family, N, 4, tuple(TimeSeriesSplit(3).split(np.zeros((N, 1)))))
    fitting = Fitting(sets)
    components = tuple(fitting.component(name) for name in ("null", "ridge", "mixture_horseshoe"))
    (found,) = average(sets, components)
    each = [weight * fits.coef[:, -1] for weight, fits in zip(found.weights, components, strict=True)]
    assert found.slope > 0.5
    np.testing.assert_allclose(found.coef, found.slope * np.sum(each, axis=0))
    assert np.abs(found.coef - found.slope * np.mean(found.fold_coef / found.slope, axis=1)).max() > 1e-3


def draw(n, seed, effect=1.0):
    """Return rows of which the first third has other effects than those that come after, and new ones."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + 500, 8))
    eta = effect * (X[:, 0] - X[:, 1])
    eta[: n // 3] = effect * 3.0 * X[: n // 3, 2]
    return X, eta, rng


def test_intervals_of_a_series_are_those_of_recent_rows():
    covered = []
    for seed in range(8):
        X, eta, rng = draw(300, seed)
        y = eta + rng.standard_normal(800)
        model = AdaptiveRegressor(cv=TimeSeriesSplit(5)).fit(X[:300], y[:300])
        interval = model.predict_interval(X[300:], 0.9)
        np.testing.assert_allclose(interval.mean(axis=1), model.predict(X[300:]))
        covered.append(np.mean((interval[:, 0] <= y[300:]) & (y[300:] <= interval[:, 1])))
    assert 0.85 < np.mean(covered) < 0.95


@pytest.mark.parametrize("unpenalized", [None, [0]])
def test_intervals_are_saved(tmp_path, unpenalized):
    X, eta, rng = draw(120, 1)
    y = rng.poisson(np.exp(0.3 * eta)) * 1.0
    model = AdaptiveRegressor("poisson", cv=TimeSeriesSplit(4), unpenalized=unpenalized).fit(X[:120], y[:120])
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_interval(X[120:]), model.predict_interval(X[120:]))


def test_the_first_rows_of_a_series_do_not_halve_what_is_said_of_classes():
    X, eta, rng = draw(300, 2, effect=1.5)
    labels = np.digitize(eta + rng.logistic(size=800), [-1.0, 1.0])
    series = AdaptiveClassifier(cv=TimeSeriesSplit(5), multi_class="multinomial").fit(X[:300], labels[:300])
    usual = AdaptiveClassifier(cv=5, multi_class="multinomial").fit(X[:300], labels[:300])
    np.testing.assert_allclose(series.coef_, usual.coef_, atol=0.15 * np.abs(usual.coef_).max())


def test_a_predictor_of_exchangeable_rows_is_as_good_as_with_usual_folds():
    worse = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((300, 20))
        b = np.r_[1.0, -0.8, 0.6, 0.4, 0.3, 0.05 * rng.standard_normal(15)]
        y = X @ b + 1.2 * rng.standard_normal(300)
        series = AdaptiveRegressor(cv=TimeSeriesSplit(5)).fit(X, y)
        usual = AdaptiveRegressor().fit(X, y)
        worse.append([np.square(model.coef_ - b).sum() for model in (series, usual)])
    series, usual = np.mean(worse, axis=0)
    assert series < 1.1 * usual
