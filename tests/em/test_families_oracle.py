"""Sparse fits of two classes and of counts against a plain EM: from the text, with explicit inverses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.families import Binomial, Poisson

KINDS = {
    "polya_gamma": Binomial(augmentation="polya_gamma"),
    "irls": Binomial(augmentation="irls"),
    "poisson": Poisson(),
}
SHAPES = {"long": (150, 12), "square": (60, 60), "wide": (60, 110)}
CLIP = 1e-10, 1e10


class PlainFit(NamedTuple):
    """A fixed point of EM, in the user's units; ``lambda2`` and ``variance`` on standardised columns."""

    coef: Any
    intercept: float
    lambda2: Any
    variance: Any
    support: Any


def working(kind: str, y: Any, eta: Any) -> tuple[Any, Any]:
    """Return weights and adjusted targets as section 5 of the paper has them."""
    if kind == "polya_gamma":
        near_zero = np.abs(eta) < 1e-8
        safe = np.where(near_zero, 1.0, eta)
        w = np.where(near_zero, 0.25, np.tanh(safe / 2) / (2 * safe))
        return w, (y - 0.5) / w
    mu = np.exp(eta) if kind == "poisson" else 1 / (1 + np.exp(-eta))
    w = mu if kind == "poisson" else mu * (1 - mu)
    return w, eta + (y - mu) / w


def horseshoe_mode(w: Any) -> Any:
    """Eq. (16), with the sum that does not cancel."""
    root = np.sqrt(1 + 6 * w + w**2)
    return np.where(w < 1, 2 * w / (root + 1 - w), (w - 1 + root) / 4)


def plain_em(
    X: Any,
    y: Any,
    kind: str,
    approximate: bool = False,
    tau2: float = 1.0,
    counts: Any = None,
    offset: Any = 0.0,
    tol: float = 1e-12,
) -> PlainFit:
    """Algorithm 1 with the weights of a GLM: lambda2, then weights and targets at eta, then the moments.

    The intercept is one more column, with a flat prior. tau2 is held, as the M-step holds it at its bound.
    """
    counts = np.ones(len(y)) if counts is None else counts
    n, p = counts.sum(), X.shape[1]
    x_mean = counts @ X / n
    x_sd = np.sqrt(counts @ (X - x_mean) ** 2 / n)
    D = np.column_stack([np.ones(len(y)), (X - x_mean) / x_sd])

    def moments(eta: Any, precision: Any) -> tuple[Any, Any, Any]:
        w, z = working(kind, y, eta)
        information = D.T @ ((counts * w)[:, None] * D)
        inverse = np.linalg.inv(information + np.diag(np.append(0.0, precision)))
        theta = inverse @ (D.T @ (counts * w * (z - offset)))
        apart = 1 / (np.diag(information)[1:] + precision)
        return theta, np.diag(inverse)[1:], apart

    # the start: a ridge of precision 1
    eta = np.log(y + 0.5) if kind == "poisson" else np.log((y + 0.5) / (1.5 - y))
    coef, change = np.zeros(p), np.inf
    while change > 1e-3:
        theta, variance, _ = moments(eta, np.ones(p))
        change = np.abs(theta[1:] - coef).sum() / (1 + np.abs(theta[1:]).sum())
        coef, eta = theta[1:], D @ theta + offset
    second, iteration, change = coef**2 + variance, 0, np.inf
    lambda2 = np.ones(p)
    while change > tol:
        assert iteration < 50_000
        iteration += 1
        lambda2 = np.clip(horseshoe_mode(second / (2 * tau2)), *CLIP)
        theta, exact, apart = moments(eta, 1 / (tau2 * lambda2))
        variance = apart if approximate and iteration > 9 else exact
        second = theta[1:] ** 2 + variance
        change = np.abs(theta[1:] - coef).sum() / (1 + np.abs(theta[1:]).sum())
        coef, eta = theta[1:], D @ theta + offset
    if kind == "polya_gamma":  # the spread at the mode is that of the expected information
        mu = 1 / (1 + np.exp(-eta))
        information = D.T @ ((counts * mu * (1 - mu))[:, None] * D)
        variance = np.diag(np.linalg.inv(information + np.diag(np.append(0.0, 1 / (tau2 * lambda2)))))[1:]
    coef = np.where(np.abs(coef) < 1 / (5 * np.sqrt(n)), 0.0, coef)
    return PlainFit(coef / x_sd, theta[0] - x_mean @ (coef / x_sd), lambda2, variance / x_sd**2, coef != 0.0)


def make_data(kind: str, shape: str, seed: int = 0) -> tuple[Any, Any]:
    """Three signals among columns that are correlated, off centre and of several scales."""
    n, p = SHAPES[shape]
    rng = np.random.default_rng([seed, n, p])
    Z = rng.standard_normal((n, p))
    Z[:, 1:] = 0.9 * Z[:, 1:] + 0.4 * Z[:, :-1]
    eta = 0.3 + (0.8 if kind == "poisson" else 2.5) * (Z[:, 0] - 0.8 * Z[:, 3] + 0.6 * Z[:, 7])
    X = Z * rng.uniform(0.5, 2.0, p) + rng.uniform(-1.0, 1.0, p)
    if kind == "poisson":
        return X, rng.poisson(np.exp(np.minimum(eta, 4.0))).astype(float)
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-eta))).astype(float)


def assert_same(model: Any, plain: PlainFit) -> None:
    np.testing.assert_array_equal(model.support_, plain.support)
    np.testing.assert_allclose(model.coef_, plain.coef, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, plain.intercept, rtol=1e-6, atol=1e-6)
    on = plain.support
    np.testing.assert_allclose(model.lambda2_[on], plain.lambda2[on], rtol=1e-5)
    np.testing.assert_allclose(model.coef_std_[on], np.sqrt(plain.variance[on]), rtol=1e-5)
    assert np.all(model.coef_std_[~on] == 0.0)


@pytest.mark.parametrize("expectation", ["exact", "approximate"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_fixed_point_is_that_of_plain_em(kind: str, shape: str, expectation: str) -> None:
    X, y = make_data(kind, shape)
    plain = plain_em(X, y, kind, approximate=expectation == "approximate")
    assert 1 <= plain.support.sum() < 12
    model = HorseshoeRegressor(family=KINDS[kind], expectation=expectation, start="paper", tol=1e-10).fit(
        X, y
    )
    assert_same(model, plain)


@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
@pytest.mark.parametrize("shape", SHAPES)
def test_classifier_is_that_of_plain_em(weights: str, shape: str) -> None:
    X, y = make_data(weights, shape, seed=1)
    model = HorseshoeClassifier(augmentation=weights, start="paper", tol=1e-10).fit(
        X, np.where(y > 0, "yes", "no")
    )
    assert_same(model, plain_em(X, y, weights))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tau", [0.3, 0.05])
def test_a_fixed_tau_is_that_of_plain_em(kind: str, tau: float) -> None:
    X, y = make_data(kind, "long", seed=2)
    model = HorseshoeRegressor(family=KINDS[kind], tau=tau, start="paper", tol=1e-10).fit(X, y)
    assert_same(model, plain_em(X, y, kind, tau2=tau**2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["long", "wide"])
def test_weights_and_offsets_are_those_of_plain_em(kind: str, shape: str) -> None:
    X, y = make_data(kind, shape, seed=3)
    rng = np.random.default_rng(4)
    counts, offset = rng.uniform(0.5, 2.0, len(y)), rng.normal(0.0, 0.5, len(y))
    model = HorseshoeRegressor(family=KINDS[kind], start="paper", tol=1e-10)
    model.fit(X, y, sample_weight=counts, offset=offset)
    assert_same(model, plain_em(X, y, kind, counts=counts, offset=offset))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_starts_where_it_ended(kind: str) -> None:
    X, y = make_data(kind, "long", seed=5)
    first = HorseshoeRegressor(family=KINDS[kind], start="paper", tol=1e-10).fit(X, y)
    again = HorseshoeRegressor(family=KINDS[kind], tol=1e-10, start=first).fit(X, y)
    np.testing.assert_allclose(again.coef_, first.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(again.intercept_, first.intercept_, rtol=1e-7, atol=1e-9)
    assert again.trace_[0].change < first.trace_[0].change  # it begins nearer to the end
