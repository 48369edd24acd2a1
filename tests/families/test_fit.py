"""What a fit of any family has to be: a fixed point of its equations, and the same in other units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from family_cases import FAMILIES, FamilyCase, count_families, every_family, noise_families
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status
from horseshoe.families import (
    Binomial,
    Gamma,
    Gaussian,
    Huber,
    Laplace,
    NegativeBinomial,
    Poisson,
    Quantile,
    StudentT,
    Tweedie,
)
from loops import each

SHAPES = {"long": (160, 8), "wide": (70, 90)}
every_shape = pytest.mark.parametrize("shape", SHAPES)


def make_data(case: FamilyCase, shape: str, seed: int = 0) -> tuple[Any, Any]:
    """Two signals that nobody could miss, on columns that are off centre and of several scales."""
    n, p = SHAPES[shape]
    rng = np.random.default_rng([seed, n, p])
    Z = rng.standard_normal((n, p))
    size = {"polya_gamma": 3.0, "irls": 3.0, "negative_binomial_0.3": 1.5}.get(case.name, 1.0)
    y = case.draw(0.4 + size * (Z[:, 0] - 0.8 * Z[:, 3]), rng, sigma2=0.2)
    return Z * rng.uniform(0.5, 2.0, p) + rng.uniform(-1.0, 1.0, p), y


def fit(case: FamilyCase, X: Any, y: Any, weights: Any = None, offset: Any = None, **options: Any) -> Any:
    options = {"tol": 1e-10, "max_iter": 50_000, **options}
    return HorseshoeRegressor(family=case.family, **options).fit(X, y, sample_weight=weights, offset=offset)


def close(got: Any, want: Any, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


def score(model: Any, y: Any, eta: Any) -> Any:
    """Return d log p(y_i | eta_i) / d eta_i, from the definition of each family."""
    family, sigma2 = model.family_, model.sigma2_
    if isinstance(family, Binomial):
        return y - special.expit(eta)
    if isinstance(family, Poisson):
        return y - np.exp(eta)
    if isinstance(family, NegativeBinomial):
        return (y - np.exp(eta)) / (1.0 + np.exp(eta) / family.size_)
    if isinstance(family, Gamma | Tweedie):
        power = getattr(family, "power", 2.0)
        return (y - np.exp(eta)) * np.exp((1.0 - power) * eta) / sigma2
    r = y - eta
    if isinstance(family, StudentT):
        return (family.df_ + 1.0) * r / (family.df_ * sigma2 + r**2)
    if isinstance(family, Laplace | Quantile):
        return (np.sign(r) + family.skew) / np.sqrt(sigma2)
    if isinstance(family, Huber):
        edge = family.threshold * np.sqrt(sigma2)
        return np.clip(r, -edge, edge) / sigma2
    return r / sigma2


def horseshoe_mode(w: Any) -> Any:
    """Eq. (16)."""
    root = np.sqrt(1.0 + 6.0 * w + w * w)
    return np.where(w < 1.0, 2.0 * w / (root + 1.0 - w), (w - 1.0 + root) / 4.0)


def assert_fixed_point(model: Any, X: Any, y: Any, weights: Any, offset: Any) -> None:
    """Check the equations of the mode on standardised columns; the fit must have kept every coefficient.

    The likelihood pulls at each coefficient as hard as its prior does, and not at the intercept; the local
    scales are the modes given E[b^2].
    """
    on = model.support_
    n = weights.sum()
    centred = X[:, on] - weights @ X[:, on] / n
    D = np.column_stack([np.ones(len(y)), centred / np.sqrt(weights @ centred**2 / n)])
    eta = model.linear_predictor(X, offset=offset)
    pull = weights * score(model, y, eta)
    b = model.coef_[on] * model.scale_[on]
    prior = np.append(0.0, b / (model.sigma2_ * model.tau2_ * model.lambda2_[on]))
    if isinstance(
        model.family_, Laplace | Quantile
    ):  # at the kink the slope may be anything between those beside it
        kink = np.argsort(np.abs(y - eta))[: D.shape[1]]
        bound = weights[kink] / np.sqrt(model.sigma2_)
        pull[kink] = 0.0
        pull[kink] = np.linalg.solve(D[kink].T, prior - D.T @ pull)
        assert np.all(np.abs(pull[kink] - model.family_.skew * bound) <= bound * (1.0 + 1e-3))
    np.testing.assert_allclose(D.T @ pull, prior, rtol=1e-5, atol=1e-6 * np.abs(pull).sum())
    # sigma2 and b are in units of y; the local scales know only their ratio
    last = model._fitted.result.moments.variance[on]  # of the last E-step: std is that at the information
    unit = np.sqrt(model.sigma2_ / model._fitted.result.scales.sigma2)
    second = b**2 + last * unit**2
    np.testing.assert_allclose(
        model.lambda2_[on], horseshoe_mode(second / (2.0 * model.sigma2_ * model.tau2_)), rtol=1e-5
    )


# --- the equations of the mode ---------------------------------------------------------------------------


@every_family
@every_shape
def test_a_fit_is_a_fixed_point(case: FamilyCase, shape: str) -> None:
    X, y = make_data(case, shape)
    rng = np.random.default_rng(1)
    weights, offset = rng.uniform(0.5, 2.0, len(y)), rng.normal(0.0, 0.2, len(y))
    model = fit(case, X, y, weights, offset, zero_threshold=0)
    assert model.status_.converged
    assert model.support_[[0, 3]].all()
    assert_fixed_point(model, X, y, weights, offset)


@every_family
@each("n", [6_000, 30_000])  # one Gram matrix for several steps; a start from some rows
def test_a_fit_to_many_rows_is_a_fixed_point(case: FamilyCase, n: int) -> None:
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 4)) * [1.0, 2.0, 0.5, 3.0] + [0.0, 1.0, -2.0, 0.3]
    y = case.draw(0.4 + X @ [0.5, -0.3, 0.0, 0.0], rng)
    weights = rng.uniform(0.5, 2.0, n)
    model = fit(case, X, y, weights, tol=1e-9, zero_threshold=0)
    assert model.status_ is Status.CONVERGED
    assert_fixed_point(model, X, y, weights, np.zeros(n))


@noise_families
@every_shape
def test_noise_variance_is_the_expected_rss_per_row(case: FamilyCase, shape: str) -> None:
    """sigma2 n = sum w omega r^2 + I tr(X'X Cov), omega the expected precisions, I the information."""
    X, y = make_data(case, shape)
    weights = np.random.default_rng(3).integers(0, 4, len(y)).astype(float)
    model = fit(case, X, y, weights, zero_threshold=0)
    family, sigma2, r = model.family_, model.sigma2_, y - model.predict(X)
    omega, information = np.ones_like(r), 1.0
    if isinstance(family, StudentT):
        omega = (family.df_ + 1.0) / (family.df_ + r**2 / sigma2)
        information = (family.df_ + 1.0) / (family.df_ + 3.0)
    elif isinstance(family, Laplace | Quantile):  # omega r^2 is sigma times the loss |r| + skew r
        omega = np.sqrt(sigma2) / np.maximum(np.abs(r), 1e-9 * np.sqrt(sigma2))
        omega = omega * (1.0 + family.skew * np.sign(r))
        information = 1.0 - family.skew**2
    elif isinstance(family, Huber):
        omega = np.minimum(1.0, family.threshold * np.sqrt(sigma2) / np.abs(r))
        inside, edge = 2.0 * special.ndtr(family.threshold) - 1.0, family.threshold
        beyond = 2.0 * np.exp(-0.5 * edge**2) / (edge * np.sqrt(2.0 * np.pi))
        information = inside / (inside + beyond)
    on, n = model.support_, weights.sum()
    x = (X[:, on] - weights @ X[:, on] / n) / model.scale_[on]
    gram = x.T @ (weights[:, None] * x)
    d = model.tau2_ * model.lambda2_[on]
    covariance = sigma2 * np.linalg.inv(information * gram + np.diag(1.0 / d))
    close(model.coef_std_[on] * model.scale_[on], np.sqrt(np.diag(covariance)))
    want = (weights @ (omega * r**2) + information * np.trace(gram @ covariance)) / n
    np.testing.assert_allclose(sigma2, want, rtol=1e-5)


@pytest.mark.parametrize("name", ["negative_binomial", "student_t"])
def test_what_a_family_estimates_is_at_its_best_in_the_fit(name: str) -> None:
    case = next(c for c in FAMILIES if c.name == name)
    X, y = make_data(case, "long")
    model = fit(case, X, y)
    again = model.family_.update(y, model.linear_predictor(X), model.sigma2_, np.ones_like(y))
    for attribute in ("size_", "df_"):
        np.testing.assert_allclose(
            getattr(again, attribute, 0.0), getattr(model.family_, attribute, 0.0), rtol=1e-5
        )
    assert case.family == next(c for c in FAMILIES if c.name == name).family  # what was given is as it was


# --- rows ------------------------------------------------------------------------------------------------


@every_family
@every_shape
def test_whole_weights_are_repeated_rows(case: FamilyCase, shape: str) -> None:
    X, y = make_data(case, shape)
    weights = np.random.default_rng(3).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    one, other = fit(case, X, y, weights.astype(float)), fit(case, X[rows], y[rows])
    np.testing.assert_array_equal(one.support_, other.support_)
    for attribute in ("coef_", "intercept_", "coef_std_", "sigma2_", "lambda2_", "kappa_"):
        close(getattr(one, attribute), getattr(other, attribute))
    for attribute in ("size_", "df_"):
        close(getattr(one.family_, attribute, 0.0), getattr(other.family_, attribute, 0.0), rtol=1e-5)
    close(one.predict_interval(X[:3], method="mode"), other.predict_interval(X[:3], method="mode"), rtol=1e-5)


@every_family
def test_the_order_of_rows_does_not_matter(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    order = np.random.default_rng(4).permutation(len(y))
    one, other = fit(case, X, y), fit(case, X[order], y[order])
    close(one.coef_, other.coef_)
    close(one.intercept_, other.intercept_)


# --- offsets ---------------------------------------------------------------------------------------------


@every_family
def test_a_constant_offset_moves_only_the_intercept(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    constant = 5.0
    offset = np.random.default_rng(5).normal(0.0, 0.3, len(y))
    one, other = fit(case, X, y, offset=offset), fit(case, X, y, offset=offset + constant)
    close(other.coef_, one.coef_)
    close(other.coef_std_, one.coef_std_)
    close(other.sigma2_, one.sigma2_)
    close(other.intercept_, one.intercept_ - constant)
    want = one.predict(X, offset=offset)
    close(other.predict(X, offset=offset + constant), want)
    close(other.linear_predictor(X) + constant, one.linear_predictor(X))


@every_family
def test_an_offset_enters_the_prediction_before_the_link(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    model, offset = fit(case, X, y), np.random.default_rng(6).normal(0.0, 1.0, len(y))
    eta = model.intercept_ + X @ model.coef_
    close(model.linear_predictor(X), eta, rtol=1e-12)
    close(model.predict(X, offset=offset), model.family_.mean(eta + offset), rtol=1e-12)


@count_families
def test_twice_the_exposure_is_half_the_rate(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    exposure = np.random.default_rng(7).uniform(0.5, 4.0, len(y))
    one, other = (fit(case, X, y, offset=np.log(k * exposure)) for k in (1.0, 2.0))
    close(other.coef_, one.coef_)
    close(other.intercept_, one.intercept_ - np.log(2.0))
    np.testing.assert_allclose(other.predict(X), 0.5 * one.predict(X), rtol=1e-6)


@noise_families
def test_an_offset_of_location_families_is_subtracted(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    offset = np.random.default_rng(8).normal(0.0, 2.0, len(y))
    one, other = fit(case, X, y, offset=offset), fit(case, X, y - offset)
    close(one.coef_, other.coef_)
    close(one.intercept_, other.intercept_)


# --- units -----------------------------------------------------------------------------------------------


@every_family
def test_units_of_the_columns(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    rng = np.random.default_rng(9)
    unit, shift = 10.0 ** rng.uniform(-5, 5, X.shape[1]), rng.normal(0.0, 3.0, X.shape[1])
    unit *= rng.choice([-1.0, 1.0], X.shape[1])
    one, other = fit(case, X, y), fit(case, (X + shift) * unit, y)
    np.testing.assert_array_equal(one.support_, other.support_)
    close(other.coef_ * unit, one.coef_)
    close(other.coef_std_ * np.abs(unit), one.coef_std_)
    close(other.lambda2_, one.lambda2_)
    close(other.intercept_, one.intercept_ - shift @ one.coef_, rtol=1e-5)


@noise_families
@each("unit", [1e-6, 1e6])
def test_units_of_y(case: FamilyCase, unit: float) -> None:
    X, y = make_data(case, "long")
    one, other = fit(case, X, y), fit(case, X, unit * (y + 3.0))
    np.testing.assert_array_equal(one.support_, other.support_)
    close(other.coef_ / unit, one.coef_)
    close(other.intercept_ / unit, one.intercept_ + 3.0)
    close(other.sigma2_ / unit**2, one.sigma2_)
    close(other.lambda2_, one.lambda2_, rtol=1e-5)


# --- what sets families apart ----------------------------------------------------------------------------


@noise_families
def test_outliers_count_little_where_tails_are_heavy(case: FamilyCase) -> None:
    X, y = make_data(case, "long")
    spoilt = y.copy()
    spoilt[:3] += [60.0, -60.0, 60.0]
    clean, dirty = fit(case, X, y, tol=1e-6), fit(case, X, spoilt, tol=1e-6)
    moved = np.abs(dirty.coef_ - clean.coef_)[[0, 3]].max()
    if isinstance(case.family, Gaussian):
        assert moved > 0.3
    elif case.name != "student_t_30":  # three outliers in 160 are too many for 30 degrees of freedom
        assert moved < 0.15


@pytest.mark.parametrize("family", ["poisson", "negative_binomial", "student_t", "laplace"])
def test_names_are_families(family: str) -> None:
    case = next(c for c in FAMILIES if c.name == family)
    X, y = make_data(case, "long")
    by_name = HorseshoeRegressor(family=family).fit(X, y)
    by_object = HorseshoeRegressor(family=case.family).fit(X, y)
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    assert type(by_name.family_) is type(case.family)
    assert by_name.status_ is Status.CONVERGED


def test_numbers_are_for_the_binomial_family_and_labels_for_the_classifier() -> None:
    X, y = make_data(FAMILIES[1], "long")
    for labels in (np.where(y > 0, "yes", "no"), y + 1.0):
        with pytest.raises(ValueError, match=r"y .*row \d+.*HorseshoeClassifier"):
            HorseshoeRegressor(family="binomial").fit(X, labels)
    by_name = HorseshoeRegressor(family="binomial", tol=1e-10).fit(X, y)
    close(by_name.coef_, fit(FAMILIES[1], X, y).coef_, rtol=1e-10)
    classifier = HorseshoeClassifier(tol=1e-10).fit(X, y)
    close(classifier.coef_, fit(FAMILIES[1], X, y).coef_, rtol=1e-10)


@pytest.mark.parametrize("name", ["polya_gamma", "irls", "poisson", "negative_binomial"])
def test_families_without_noise_take_no_noise_variance(name: str) -> None:
    case = next(c for c in FAMILIES if c.name == name)
    X, y = make_data(case, "long")
    with pytest.raises(ValueError, match="sigma2"):
        HorseshoeRegressor(family=case.family, sigma2=2.0).fit(X, y)
    assert fit(case, X, y).sigma2_ == 1.0
