"""An average tells signal from noise, from noise of a thousandth of the signal to ten times it.

Where the normal mixture explains half of the deviance of held-out rows, the null model has next to no weight,
and where it explains most, the average is not shrunk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import (
    d2_absolute_error_score,
    d2_log_loss_score,
    d2_pinball_score,
    d2_tweedie_score,
    r2_score,
)
from sksurv.util import Surv

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, AdaptiveSurvival
from horseshoe.families import Quantile, Tweedie
from registry import AVERAGED

N, P, CV = 150, 8, 5
EFFECTS = np.array([0.6, -0.5, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
NOISES = [1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0]
COUNTS = ("poisson", "negative_binomial")
"""Their noise is that of means of 1 / noise^2: a mean of .01 is next to no data."""
MOST_NULL = 0.01
"""The most weight that the null model has where half of the deviance is explained."""


def logistic(rng: np.random.Generator, eta: np.ndarray, noise: float) -> np.ndarray:
    return np.asarray(eta + noise * rng.logistic(size=N))


def levels(score: np.ndarray, shares: list[float]) -> np.ndarray:
    return np.digitize(score, np.quantile(score, np.cumsum(shares)[:-1]))


def smallest(y: np.ndarray) -> np.ndarray:
    return np.maximum(y, 1e-40)  # less is no number that a unit can be taken of


DRAWS: dict[str, Callable[[np.random.Generator, np.ndarray, float], np.ndarray]] = {
    "gaussian": lambda rng, eta, noise: eta + noise * rng.standard_normal(N),
    "student_t": lambda rng, eta, noise: eta + noise * rng.standard_t(4.0, N),
    "laplace": lambda rng, eta, noise: eta + noise * rng.laplace(size=N),
    "quantile": lambda rng, eta, noise: eta + noise * rng.laplace(size=N),
    "huber": lambda rng, eta, noise: eta + noise * rng.standard_t(5.0, N),
    "gamma": lambda rng, eta, noise: smallest(np.exp(eta) * rng.gamma(noise**-2, noise**2, N)),
    "tweedie": lambda rng, eta, noise: Tweedie(power=1.5, unit=1.0).simulate(eta, noise**2, rng),
    "poisson": lambda rng, eta, noise: rng.poisson(np.exp(eta) / noise**2) * 1.0,
    "negative_binomial": lambda rng, eta, noise: (
        rng.poisson(np.exp(eta) / noise**2 * rng.gamma(noise**-2, noise**2, N)) * 1.0
    ),
    "binomial": lambda rng, eta, noise: (logistic(rng, eta, noise) > 0.0) * 1.0,
    "ordinal": lambda rng, eta, noise: levels(logistic(rng, eta, noise), [0.3, 0.4, 0.3]) * 1.0,
}
D2: dict[str, Callable[..., float]] = {
    "laplace": d2_absolute_error_score,
    "quantile": lambda y, seen: d2_pinball_score(y, seen, alpha=0.4),
    "gamma": lambda y, seen: d2_tweedie_score(y, seen, power=2.0),
    "tweedie": lambda y, seen: d2_tweedie_score(y, seen, power=1.5),
    "poisson": lambda y, seen: d2_tweedie_score(y, seen, power=1.0),
    "negative_binomial": lambda y, seen: d2_tweedie_score(y, seen, power=1.0),
    "binomial": lambda y, seen: d2_log_loss_score(y, np.column_stack([1.0 - seen, seen])),
}
"""The share of the deviance that is explained; of other families that of the squared error."""
GIVEN = {"quantile": Quantile(level=0.4), "tweedie": Tweedie(power=1.5)}


def linear_predictor(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P))
    return X, X @ EFFECTS, rng


def null_weight(model: Any) -> float:
    weights = {
        row.name: weight for row, weight in zip(model.components_, model.component_weights_, strict=True)
    }
    return float(weights["null"])


CASES = [
    (family, noise)
    for family in [*AVERAGED, "ordinal"]
    for noise in NOISES
    if noise < 10.0 or family not in COUNTS
]


@pytest.mark.parametrize(("family", "noise"), CASES)
def test_noise_of_any_size(family: str, noise: float) -> None:
    X, eta, rng = linear_predictor(5)
    y = DRAWS[family](rng, eta, noise)
    given = GIVEN.get(family, family)
    whole = AdaptiveRegressor(family=given, cv=CV).fit(X, y)
    mixture = AdaptiveRegressor(family=given, cv=CV, components=["mixture_horseshoe"]).fit(X, y)
    null = AdaptiveRegressor(family=given, cv=CV, components=["null"]).fit(X, y)
    share = D2.get(family, r2_score)
    explained = share(y, mixture.cv_prediction_)
    assert explained > 0.5 or noise >= 0.3
    assert share(y, whole.cv_prediction_) > share(y, null.cv_prediction_) - 0.1  # noise does little harm
    if explained > 0.5:
        assert null_weight(whole) < MOST_NULL
    if noise <= 0.1 and family not in ("binomial", "ordinal"):  # there noise is the unit of coefficients
        np.testing.assert_allclose(whole.coef_, EFFECTS, atol=0.1)


@pytest.mark.parametrize("noise", NOISES)
def test_hazards_of_any_size(noise: float) -> None:
    X, eta, rng = linear_predictor(6)
    times = np.argsort(np.argsort(noise * np.log(rng.exponential(size=N)) - eta)) + 1.0
    model = AdaptiveSurvival(cv=CV).fit(X, Surv.from_arrays(np.ones(N, dtype=bool), times))
    if noise < 0.5:
        assert null_weight(model) < MOST_NULL
    else:  # effects are in units of the noise
        np.testing.assert_allclose(model.coef_, EFFECTS / noise, atol=0.4)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("shares", [[0.4, 0.6], [0.3, 0.4, 0.3]], ids=["two", "three"])
def test_classes_of_any_size(shares: list[float], noise: float) -> None:
    X, eta, rng = linear_predictor(7)
    labels = levels(logistic(rng, eta, noise), shares)
    model = AdaptiveClassifier(cv=CV, multi_class="multinomial").fit(X, labels)
    if noise < 0.2:
        assert null_weight(model) < MOST_NULL
    else:
        held_out = np.log(np.clip(model.cv_prediction_[np.arange(N), labels], 1e-300, 1.0))
        share = np.bincount(labels) / N
        assert -held_out.mean() < 1.1 * -(share @ np.log(share))
