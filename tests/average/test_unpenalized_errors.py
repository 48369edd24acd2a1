"""Standard errors of unpenalised covariates beside an average: those that the likelihood gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from sksurv.util import Surv
from statsmodels.duration.hazard_regression import PHReg

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, AdaptiveSurvival, HorseshoeRegressor
from horseshoe.families import Tweedie

N, EFFECT = 240, 0.6


def design(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Return columns of which the first is to be unpenalised, and their linear predictor."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 5))
    return X, EFFECT * X[:, 0] - 0.5 * X[:, 1], rng


DRAWS = {
    "gaussian": lambda rng, eta, noise: eta + noise * rng.standard_normal(N),
    "student_t": lambda rng, eta, noise: eta + noise * rng.standard_t(4.0, N),
    "laplace": lambda rng, eta, noise: eta + noise * rng.laplace(size=N),
    "quantile": lambda rng, eta, noise: eta + noise * rng.laplace(size=N),
    "huber": lambda rng, eta, noise: eta + noise * rng.standard_t(5.0, N),
    "gamma": lambda rng, eta, noise: np.exp(eta) * rng.gamma(noise**-2, noise**2, N),
    "tweedie": lambda rng, eta, noise: Tweedie(power=1.5, unit=1.0).simulate(eta, noise**2, rng),
}


def always_std(model: Any) -> np.ndarray:
    """Return the standard errors of what is unpenalised, from the width of intervals."""
    interval = np.diff(model.coef_interval(0.95), axis=-1)[..., 0]
    return np.asarray(interval / (2.0 * 1.959963984540054))


@pytest.mark.parametrize("family", DRAWS)
@pytest.mark.parametrize("noise", [0.5, 1.0, 1.5])
def test_errors_are_those_of_the_single_mode(family: str, noise: float) -> None:
    X, eta, rng = design()
    y = DRAWS[family](rng, eta, noise)
    given = Tweedie(power=1.5) if family == "tweedie" else family
    average = AdaptiveRegressor(family=given, cv=5, unpenalized=[0]).fit(X, y)
    mode = HorseshoeRegressor(family=given, unpenalized=[0]).fit(X, y)
    assert 0.9 < always_std(average)[0] / mode.coef_std_[0] < 1.15


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_errors_of_positive_responses_are_those_of_a_glm(noise: float) -> None:
    X, eta, rng = design(1)
    y = DRAWS["gamma"](rng, eta, noise)
    model = AdaptiveRegressor(family="gamma", cv=5, unpenalized=[0]).fit(X, y)
    chosen = sm.add_constant(X[:, [0, 1]])
    peer = sm.GLM(y, chosen, family=sm.families.Gamma(sm.families.links.Log())).fit()
    assert always_std(model)[0] == pytest.approx(peer.bse[1], rel=0.15)


def test_errors_of_hazards_are_those_of_the_partial_likelihood() -> None:
    X, eta, rng = design(2)
    life, followed = rng.exponential(np.exp(-eta)), rng.uniform(0.0, 3.0, N)
    time, event = np.minimum(life, followed), life <= followed
    X[:, 0] = 60.0 + 10.0 * X[:, 0]  # an age: far from zero
    model = AdaptiveSurvival(cv=5, unpenalized=[0]).fit(X, Surv.from_arrays(event, time))
    chosen = [0, *np.flatnonzero(model.support_[1:]) + 1]
    peer = PHReg(time, X[:, chosen], status=event, ties="efron").fit()
    assert always_std(model)[0] == pytest.approx(peer.bse[0], rel=0.1)


def test_errors_of_hazards_are_taken_within_strata() -> None:
    X, eta, rng = design(3)
    stratum = rng.integers(0, 12, N)
    life = rng.exponential(np.exp(0.5 * stratum - eta))
    X[:, 0] += stratum  # most of its spread is between strata, where nobody is compared
    model = AdaptiveSurvival(cv=5, unpenalized=[0])
    model.fit(X, Surv.from_arrays(np.ones(N, dtype=bool), life), strata=stratum)
    chosen = [0, *np.flatnonzero(model.support_[1:]) + 1]
    peer = PHReg(life, X[:, chosen], strata=stratum, ties="efron").fit()
    assert always_std(model)[0] == pytest.approx(peer.bse[0], rel=0.1)


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "multinomial"])
def test_errors_of_classes_do_not_depend_on_where_a_column_has_its_zero(multi_class: str) -> None:
    X, eta, rng = design(4)
    X = np.round(X * 1024.0) / 1024.0
    y = np.digitize(eta + rng.logistic(size=N), [-0.7, 0.7])
    far = X.copy()
    far[:, 0] += 2.0**20  # like a time stamp
    model = AdaptiveClassifier(cv=5, unpenalized=[0], multi_class=multi_class)
    want = always_std(model.fit(X, y))[:, 0]
    got = always_std(model.fit(far, y))[:, 0]
    assert (want > 0.05).all()
    np.testing.assert_allclose(got, want, rtol=1e-5)
