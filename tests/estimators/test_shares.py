"""Two classes as numbers, and shares of trials: the regression and the sampler agree on what they take."""

import numpy as np
import pytest

import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.families import FAMILIES, Binomial
from refusals import told

N = 120
X, Y, _ = simulate.glm("binomial", N, 5, n_signals=2)
RNG = np.random.default_rng(0)
TRIALS = RNG.integers(1, 20, N).astype(float)
SHARES = RNG.binomial(TRIALS.astype(int), 1.0 / (1.0 + np.exp(-X[:, 0]))) / TRIALS
SHORT = {"n_draws": 60, "n_warmup": 60, "n_chains": 2, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:R-hat")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_is_known_to_both(family):
    y = Y if family == "binomial" else np.abs(np.round(3.0 * X[:, 0])) + (family == "gamma")
    assert HorseshoeRegressor(family=family).fit(X, y).family_ is not None
    assert sample_posterior(X, y, family, **SHORT).coef.shape == (2, 60, 5)


@pytest.mark.parametrize("dtype", [float, int, bool])
def test_two_classes_as_numbers(dtype):
    model = HorseshoeRegressor(family="binomial").fit(X, Y.astype(dtype))
    classifier = HorseshoeClassifier().fit(X, Y)
    np.testing.assert_allclose(model.coef_, classifier.coef_)
    np.testing.assert_allclose(model.predict(X), classifier.predict_proba(X)[:, 1])
    assert 0.0 < model.score(X, Y) < 1.0


def test_shares_of_trials():
    by_name = HorseshoeRegressor(family="binomial").fit(X, SHARES, sample_weight=TRIALS)
    by_object = HorseshoeRegressor(family=Binomial()).fit(X, SHARES, sample_weight=TRIALS)
    assert np.array_equal(by_name.coef_, by_object.coef_)
    draws = by_name.sample_posterior(**SHORT)
    other = sample_posterior(X, SHARES, "binomial", sample_weight=TRIALS, tau_max=1.0, **SHORT)
    assert np.array_equal(draws.coef, other.coef)


def test_labels_are_sent_to_the_classifier():
    regressor = HorseshoeRegressor(family="binomial")
    told(lambda: regressor.fit(X, np.where(Y > 0, "yes", "no")), r"\by\b", "row 0", "HorseshoeClassifier")
    told(lambda: regressor.fit(X, Y + 1.0), r"\by\b", r"row \d+", "HorseshoeClassifier")
