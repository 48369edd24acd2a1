"""What sample_weight means: numbers of rows, or only how much one row tells beside another."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status, sample_posterior

PRECISION = {"weight_type": "precision"}
SHORT = {"n_draws": 60, "n_warmup": 60, "n_chains": 2, "random_state": 0}
SAME = {"rtol": 1e-7, "atol": 1e-9}


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, scaled=False)


@pytest.fixture(scope="module")
def two_classes():
    X, y, _ = simulate.glm("binomial", 150, 5, n_signals=2)
    return X, y


def same(one, other):
    for part in ("coef_", "coef_std_", "intercept_"):
        np.testing.assert_allclose(getattr(one, part), getattr(other, part), **SAME)


def test_hardly_any_weight_is_said_and_not_blamed_on_the_data(diabetes):
    light = HorseshoeRegressor().fit(*diabetes, sample_weight=0.01)
    assert light.status_ is Status.LIGHT_WEIGHTS
    assert light.status_.converged
    assert "weight_type='precision'" in str(light.status_)
    assert "the data do not support" not in str(light.status_)


@pytest.mark.parametrize("share", [0.05, 0.099, 0.101, 0.5, 3.0])
def test_a_tenth_of_the_rows_is_the_limit(diabetes, share):
    weights = share * np.random.default_rng(0).permutation(np.linspace(0.5, 1.5, diabetes[1].size))
    status = HorseshoeRegressor().fit(*diabetes, sample_weight=weights).status_
    assert (status is Status.LIGHT_WEIGHTS) == (share < 0.1)


def test_rows_that_are_left_out_are_no_rows(diabetes):
    X, y = diabetes
    weights = np.zeros(y.size)
    weights[:30] = 1.0  # less than a tenth of all, but each of them counts
    assert HorseshoeRegressor().fit(X, y, sample_weight=weights).status_ is not Status.LIGHT_WEIGHTS


def test_what_is_worse_than_light_weights_is_said_first(diabetes):
    X, y = diabetes
    constant = HorseshoeRegressor().fit(X, np.ones(y.size), sample_weight=0.01)
    assert constant.status_ is Status.CONSTANT_RESPONSE


@pytest.mark.parametrize("size", [0.01, 7.0, 1e-200, 1e200])
def test_equal_precisions_are_no_weights(diabetes, size):
    weighted = HorseshoeRegressor(**PRECISION).fit(*diabetes, sample_weight=np.full(442, size))
    plain = HorseshoeRegressor().fit(*diabetes)
    assert np.array_equal(weighted.coef_, plain.coef_)
    assert weighted.status_ is plain.status_ is Status.CONVERGED


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("family", ["gaussian", "student_t"])
def test_only_the_proportions_of_precisions_matter(diabetes, size, family):
    X, y = diabetes
    weights = np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    weights[::5] = 0.0
    scaled = weights / weights[weights > 0.0].mean()
    model = HorseshoeRegressor(family=family, tol=1e-10, **PRECISION).fit(X, y, sample_weight=size * weights)
    counted = HorseshoeRegressor(family=family, tol=1e-10).fit(X, y, sample_weight=scaled)
    same(model, counted)
    for method in ("score", "log_likelihood"):
        found = getattr(model, method)(X, y, sample_weight=size * weights)
        assert found == pytest.approx(getattr(counted, method)(X, y, sample_weight=scaled), rel=1e-9)


def test_precisions_of_classes(two_classes):
    X, y = two_classes
    weights = np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    per_class = np.where(y > 0, 3.0, 1.0) * weights
    model = HorseshoeClassifier(class_weight={1.0: 0.03, 0.0: 0.01}, **PRECISION)
    model.fit(X, y, sample_weight=weights)
    same(model, HorseshoeClassifier().fit(X, y, sample_weight=per_class / per_class.mean()))
    light = HorseshoeClassifier(class_weight={1.0: 0.03, 0.0: 0.01}).fit(X, y)
    assert light.status_ is Status.LIGHT_WEIGHTS


def test_precisions_of_three_classes():
    X, y = load_iris(return_X_y=True)
    model = HorseshoeClassifier(**PRECISION).fit(X, y, sample_weight=np.full(150, 0.02))
    same(model, HorseshoeClassifier().fit(X, y))


@pytest.mark.filterwarnings("ignore:R-hat")
def test_precisions_of_the_sampler(diabetes):
    X, y = diabetes
    weights = np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    given = sample_posterior(X, y, sample_weight=1e-4 * weights, tau_max=1.0, **PRECISION, **SHORT)
    counted = sample_posterior(X, y, sample_weight=weights / weights.mean(), tau_max=1.0, **SHORT)
    np.testing.assert_allclose(given.coef, counted.coef, rtol=1e-6)
    model = HorseshoeRegressor(**PRECISION).fit(X, y, sample_weight=1e-4 * weights)
    np.testing.assert_allclose(model.sample_posterior(**SHORT).coef, counted.coef, rtol=1e-6)
    light = sample_posterior(X, y, sample_weight=0.05, **SHORT)
    assert light.mode.result.status is Status.LIGHT_WEIGHTS


def test_weights_too_light_for_the_sampler_are_sent_to_precisions(diabetes):
    with pytest.raises(ValueError, match=r"sample_weight adds up to 0\.442.*weight_type='precision'"):
        sample_posterior(*diabetes, sample_weight=0.001, **SHORT)


@pytest.mark.parametrize("weight", [1e-6, 1e-3, 0.9e-1 / 442])
def test_weights_too_light_without_an_intercept_either(diabetes, weight):
    """Draws of sigma2 with so few degrees of freedom are beyond the range of floats."""
    with pytest.raises(ValueError, match=r"sample_weight adds up to .*weight_type='precision'"):
        sample_posterior(*diabetes, sample_weight=weight * 0.1, fit_intercept=False, **SHORT)


@pytest.mark.filterwarnings("ignore:R-hat")
@pytest.mark.parametrize("family", ["student_t", "laplace"])
def test_a_row_that_counts_for_millions_is_still_one_row(family):
    """The latent precisions of rows that are the same are drawn as their sum: the fit goes through row 7."""
    X, y, _ = simulate.linear(30, 3, n_signals=1)
    weights = np.ones(30)
    weights[7] = 1e8
    found = sample_posterior(X, y, family=family, sample_weight=weights, **SHORT)
    assert found.log_likelihood().shape == (2, 60, 30)
    eta = found.coef @ X[7] + found.intercept
    np.testing.assert_allclose(eta, y[7], atol=1e-2)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_equal_precisions_of_classes_are_no_weights(two_classes, size):
    X, y = two_classes
    model = HorseshoeClassifier(**PRECISION).fit(X, y, sample_weight=np.full(y.size, size))
    same(model, HorseshoeClassifier().fit(X, y))
    assert model.score(X, y, sample_weight=np.full(y.size, size)) == pytest.approx(model.score(X, y))


@pytest.mark.parametrize("value", ["counts", None, 1])
def test_other_types_of_weights_are_refused(diabetes, value):
    for ask in (
        HorseshoeRegressor(weight_type=value).fit,
        lambda X, y: sample_posterior(X, y, weight_type=value),
    ):
        with pytest.raises(ValueError, match=r"weight_type=.*'count', 'precision'"):
            ask(*diabetes)
    with pytest.raises(ValueError, match=r"weight_type=.*'count', 'precision'"):
        HorseshoeClassifier(weight_type=value).fit(diabetes[0], diabetes[1] > 150.0)
