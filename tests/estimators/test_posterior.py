"""The estimators' way to the whole posterior."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, sample_posterior

SHORT = {"n_draws": 200, "n_warmup": 100}


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="module")
def model(diabetes):
    return HorseshoeRegressor(random_state=3).fit(*diabetes)


def test_the_draws_are_those_of_sample_posterior_with_the_prior_of_the_mode(model, diabetes):
    expected = sample_posterior(*diabetes, tau_max=1.0, random_state=3)
    draws = model.sample_posterior()
    assert np.array_equal(draws.coef, expected.coef)
    assert draws.feature_names == expected.feature_names
    assert np.array_equal(draws.mode.coef, model.coef_)


def test_intervals_are_those_of_the_draws(model, diabetes):
    draws = model.sample_posterior()
    assert np.array_equal(model.coef_interval(0.9, method="posterior"), draws.interval(0.9))
    rows = diabetes[0][:5]
    assert np.array_equal(model.predict_interval(rows, method="posterior"), draws.predict_interval(rows))


@pytest.mark.filterwarnings("ignore:R-hat")
def test_the_same_question_is_answered_from_the_same_draws(model):
    assert model.sample_posterior() is model.sample_posterior()
    assert model.sample_posterior(**SHORT) is not model.sample_posterior()


@pytest.mark.filterwarnings("ignore:R-hat")
def test_a_new_fit_forgets_the_draws(diabetes):
    X, y = diabetes
    model = HorseshoeRegressor(random_state=3).fit(X, y)
    before = model.sample_posterior(**SHORT)
    assert model.fit(X, 2.0 * y).sample_posterior(**SHORT) is not before


def test_a_zero_of_the_mode_has_an_interval_and_a_clear_effect_has_about_the_same(model):
    mode, posterior = model.coef_interval(), model.coef_interval(method="posterior")
    zero = ~model.support_
    assert np.all(mode[zero] == 0.0)
    assert np.all(np.ptp(posterior[zero], axis=1) > 0.0)
    assert posterior[2] == pytest.approx(mode[2], abs=0.3)  # bmi


def test_copies_do_not_carry_the_data(model):
    model.sample_posterior()
    assert len(pickle.dumps(model)) < 50_000
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.coef_, model.coef_)
        with pytest.raises(ValueError, match="do not hold its data"):
            other.coef_interval(method="posterior")
    assert not hasattr(clone(model), "coef_")


@pytest.mark.filterwarnings("ignore:R-hat")
def test_data_that_were_changed_are_noticed(diabetes):
    X = diabetes[0].to_numpy(float).copy()
    y = diabetes[1].to_numpy(float).copy()
    model = HorseshoeRegressor(random_state=0).fit(X, y)
    y[:] = 0.0  # a copy was kept
    model.sample_posterior(**SHORT)
    X[:, 2] *= 2.0
    with pytest.raises(ValueError, match="X was changed since the fit"):
        model.sample_posterior(**SHORT | {"n_draws": 90})


@pytest.mark.filterwarnings("ignore:R-hat")
def test_one_model_is_not_taken_for_another_of_the_same_data(diabetes):
    options = {**SHORT, "random_state": 0}
    settings = [{}, {"tau_max": 0.1}, {"tau": 0.05}, {"prior": "lasso"}, {"sigma2": 3000.0}]
    draws = [sample_posterior(*diabetes, **options, **setting) for setting in settings]
    assert draws[1].tau2.max() <= 0.01
    assert np.all(draws[2].tau2 == 0.05**2)
    assert np.all(draws[4].sigma2 == pytest.approx(3000.0))
    means = {round(float(one.mean()[7]), 6) for one in draws}
    assert len(means) == len(settings)


@pytest.mark.parametrize("method", ["laplace", None, 3])
def test_unknown_methods_are_refused(model, diabetes, method):
    with pytest.raises(ValueError, match="'mode', 'posterior'"):
        model.coef_interval(method=method)
    with pytest.raises(ValueError, match="'mode', 'posterior'"):
        model.predict_interval(diabetes[0], method=method)


def test_options_without_draws_and_unknown_options_are_refused(model):
    with pytest.raises(TypeError, match="n_draws: options of sample_posterior go with"):
        model.coef_interval(n_draws=100)
    with pytest.raises(TypeError, match=r"n_drawz: not among the options.*n_draws"):
        model.coef_interval(method="posterior", n_drawz=100)


@pytest.mark.filterwarnings("ignore:R-hat")
def test_two_classes():
    X, y, where = simulate.glm("binomial", 200, 6, n_signals=2, size=1.5)
    model = HorseshoeClassifier(random_state=0).fit(X, np.where(y == 1.0, "yes", "no"))
    draws = model.sample_posterior(**SHORT)
    interval = model.coef_interval(method="posterior", **SHORT)
    assert np.array_equal(interval, draws.interval())
    assert np.all(np.sign(interval[where]).sum(axis=1) != 0)  # both ends on one side
    probability = model.predict_interval(X[:4], method="posterior", **SHORT)
    assert np.all((probability > 0.0) & (probability < 1.0))
    labels = np.where(y[:3] == 1.0, "yes", "no")
    expected = draws.log_likelihood()[..., :3]
    assert draws.log_likelihood(X[:3], labels) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"row 1 is 'maybe'.*none of \['no', 'yes'\]"):
        draws.log_likelihood(X[:3], ["yes", "maybe", "no"])


@pytest.mark.filterwarnings("ignore:R-hat")
def test_more_classes_are_sampled_one_by_one():
    X, y = load_iris(return_X_y=True)
    chosen = y != 0  # the first class is separated from the others
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(chosen.sum()) < 0.3, 0, y[chosen])
    model = HorseshoeClassifier(random_state=0).fit(X[chosen], labels)
    with pytest.raises(ValueError, match=r"3 classes.*estimators_\[0\]"):
        model.sample_posterior()
    interval = model.coef_interval(method="posterior", **SHORT)
    assert interval.shape == (3, 4, 2)
    assert np.array_equal(interval[1], model.estimators_[1].coef_interval(method="posterior", **SHORT))


@pytest.mark.filterwarnings("ignore:R-hat")  # short chains will do here
@pytest.mark.parametrize("family", ["student_t", "laplace", "poisson", "negative_binomial"])
def test_every_family_gives_intervals(family):
    X, y, where = simulate.glm(family, 150, 5, n_signals=2)
    model = HorseshoeRegressor(family=family, random_state=1).fit(X, y)
    interval = model.coef_interval(method="posterior", **SHORT)
    assert np.all(np.prod(np.sign(interval[where]), axis=1) > 0)
    covered = model.predict_interval(X, method="posterior", **SHORT)
    assert np.mean((y >= covered[:, 0]) & (y <= covered[:, 1])) > 0.9
