"""Exposures: their logarithm is an offset; either may be one number."""

import inspect

import numpy as np
import pytest

import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.families import Poisson
from refusals import ROW, at_row, put, told

COUNTS = ("poisson", "negative_binomial")
SHORT = {"n_draws": 60, "n_warmup": 60, "n_chains": 2, "random_state": 0}
N = 90
X, Y, _ = simulate.glm("poisson", N, 4, n_signals=2)
TIME = np.random.default_rng(0).uniform(0.5, 4.0, N)
KNOWN = np.random.default_rng(1).normal(0.0, 0.3, N)
pytestmark = pytest.mark.filterwarnings("ignore:R-hat")


def fitted(family="poisson"):
    return HorseshoeRegressor(family=family).fit(X, Y, exposure=TIME)


@pytest.fixture(scope="module")
def posterior():
    return sample_posterior(X, Y, "poisson", exposure=TIME, **SHORT)


@pytest.mark.parametrize("family", COUNTS)
def test_an_exposure_is_an_offset_of_its_logarithm(family):
    one = HorseshoeRegressor(family=family).fit(X, Y, exposure=TIME)
    other = HorseshoeRegressor(family=family).fit(X, Y, offset=np.log(TIME))
    assert np.array_equal(one.coef_, other.coef_)
    assert one.intercept_ == other.intercept_
    for method in ("predict", "linear_predictor", "predict_interval"):
        quick = {"method": "mode"} if method == "predict_interval" else {}
        found = getattr(one, method)(X, exposure=TIME, **quick)
        assert np.array_equal(found, getattr(other, method)(X, offset=np.log(TIME), **quick))
        assert not np.array_equal(found, getattr(one, method)(X, **quick))
    for method in ("score", "log_likelihood"):
        assert getattr(one, method)(X, Y, exposure=TIME) == getattr(other, method)(X, Y, offset=np.log(TIME))


def test_offset_and_exposure_add_up():
    both = HorseshoeRegressor(family="poisson").fit(X, Y, offset=KNOWN, exposure=TIME)
    other = HorseshoeRegressor(family="poisson").fit(X, Y, offset=KNOWN + np.log(TIME))
    np.testing.assert_allclose(both.coef_, other.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        both.predict(X, offset=KNOWN, exposure=TIME), other.predict(X, offset=KNOWN + np.log(TIME)), rtol=1e-9
    )


def test_one_number_is_for_every_row():
    plain = HorseshoeRegressor(family="poisson", tol=1e-10).fit(X, Y)
    for given in (
        {"exposure": 2.0},
        {"offset": np.log(2.0)},
        {"exposure": 4, "offset": np.array(-np.log(2.0))},
    ):
        model = HorseshoeRegressor(family="poisson", tol=1e-10).fit(X, Y, **given)
        np.testing.assert_allclose(model.intercept_, plain.intercept_ - np.log(2.0), rtol=1e-6)
        np.testing.assert_allclose(model.predict(X, **given), plain.predict(X), rtol=1e-6)
    np.testing.assert_allclose(plain.predict(X, exposure=3.0), 3.0 * plain.predict(X), rtol=1e-12)


def test_one_number_as_the_offset_of_classes_and_of_numbers():
    rows, labels, _ = simulate.glm("binomial", N, 4, n_signals=2)
    classifier = HorseshoeClassifier(tol=1e-10).fit(rows, labels, offset=1.5)
    plain = HorseshoeClassifier(tol=1e-10).fit(rows, labels)
    np.testing.assert_allclose(classifier.intercept_, plain.intercept_ - 1.5, rtol=1e-6)
    np.testing.assert_allclose(
        classifier.predict_proba(rows, offset=1.5), plain.predict_proba(rows), rtol=1e-6
    )
    regressor = HorseshoeRegressor().fit(rows, rows[:, 0])
    np.testing.assert_allclose(regressor.predict(rows, offset=2), regressor.predict(rows) + 2.0)


@pytest.mark.parametrize("family", COUNTS)
def test_the_posterior_with_exposures(family):
    one = sample_posterior(X, Y, family, exposure=TIME, **SHORT)
    other = sample_posterior(X, Y, family, offset=np.log(TIME), **SHORT)
    assert np.array_equal(one.coef, other.coef)
    for method in ("predict", "predict_interval", "simulate"):
        found = getattr(one, method)(X, exposure=TIME)
        assert np.array_equal(found, getattr(other, method)(X, offset=np.log(TIME)))
    assert np.array_equal(
        one.log_likelihood(X, Y, exposure=TIME), other.log_likelihood(X, Y, offset=np.log(TIME))
    )
    model = fitted(family)
    draws = model.sample_posterior(**SHORT)
    found = model.predict_interval(X, method="posterior", exposure=2.0, **SHORT)
    assert np.array_equal(found, draws.predict_interval(X, offset=np.full(N, np.log(2.0))))


BAD = {
    "zero": (put(TIME, 0.0), "exposure", at_row(ROW), "positive"),
    "negative": (put(TIME, -1.0), "exposure", at_row(ROW), "positive"),
    "one negative": (-2.0, "exposure", "positive"),
    "NaN": (put(TIME, np.nan), "exposure", "nan", at_row(ROW)),
    "short": (TIME[1:], "exposure", rf"\b{N - 1}\b", rf"\b{N}\b"),
    "a matrix": (np.ones((N, 2)), "exposure", "shape"),
    "text": (["long"] * N, "exposure", "not a number", at_row(0)),
}


@pytest.mark.parametrize("which", BAD)
def test_bad_exposures_are_refused(which, posterior):
    exposure, *says = BAD[which]
    model = fitted()
    for action in (
        lambda: HorseshoeRegressor(family="poisson").fit(X, Y, exposure=exposure),
        lambda: model.predict(X, exposure=exposure),
        lambda: model.predict_interval(X, exposure=exposure),
        lambda: model.score(X, Y, exposure=exposure),
        lambda: sample_posterior(X, Y, "poisson", exposure=exposure),
        lambda: posterior.predict(X, exposure=exposure),
    ):
        told(action, *says, "^(?!.*offset)")


@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace", "binomial"])
def test_families_without_a_log_link_have_no_exposure(family):
    y = (Y > 1).astype(float)
    told(lambda: HorseshoeRegressor(family=family).fit(X, y, exposure=TIME), "exposure", "log link", "offset")
    told(lambda: sample_posterior(X, y, family, exposure=TIME), "exposure", "log link", "offset")
    model = HorseshoeRegressor(family=family).fit(X, y)
    told(lambda: model.predict(X, exposure=TIME), "exposure", "log link", "offset")


def test_the_data_of_the_posterior_have_their_own_exposure(posterior):
    told(lambda: posterior.simulate(exposure=TIME), "exposure", "leave it out")
    told(lambda: posterior.log_likelihood(exposure=TIME), "exposure", "leave it out")
    assert posterior.simulate(n_draws=3).shape == (3, N)


def test_whatever_takes_an_offset_takes_an_exposure(posterior):
    levels = {"predict_proba"}  # their link is not the logarithm
    for owner in (HorseshoeRegressor(), posterior):
        for name, method in inspect.getmembers(owner, inspect.ismethod):
            known = inspect.signature(method).parameters
            if not name.startswith("_") and name not in levels and "offset" in known:
                assert "exposure" in known, name


def test_a_family_of_ones_own_says_whether_its_link_is_the_logarithm():
    class Other(Poisson):
        log_link = False

    told(lambda: HorseshoeRegressor(family=Other()).fit(X, Y, exposure=TIME), "exposure", "Other", "log link")
