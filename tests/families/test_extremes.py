"""Data at the edge: separated classes, no counts, huge counts, linear predictors where exp overflows.

Warnings are errors here. Every fit has to be finite, to say how it ended, and to be what it says it is: with
the coefficients as they are, no other intercept may fit better.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status
from horseshoe.families import Binomial, Laplace, NegativeBinomial, Poisson, StudentT
from loops import each
from refusals import assert_says, at_row, refused

N = 81
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 6))
WIDE = RNG.standard_normal((30, 60))
SIGN = np.where(np.arange(N) % 2, 1.0, -1.0)
COUNTS = RNG.poisson(np.exp(1.0 + 0.5 * X[:, 0])).astype(float)
LABELS = (RNG.random(N) < special.expit(2.0 * X[:, 0])).astype(float)
NOISY = X[:, 0] - X[:, 1] + RNG.standard_normal(N)

both_weights = pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
LOG_LINK = [Poisson(), NegativeBinomial(), NegativeBinomial(size=2.0)]
log_link = pytest.mark.parametrize("family", LOG_LINK, ids=["poisson", "negative_binomial", "size_2"])
unfinished = pytest.mark.filterwarnings("ignore:not converged:sklearn.exceptions.ConvergenceWarning")
KEEP = {"zero_threshold": 0}  # else what is set to zero is missing beside the intercept
HEAVY = [StudentT(), StudentT(df=1.0), Laplace()]
heavy = pytest.mark.parametrize("family", HEAVY, ids=["student_t", "cauchy", "laplace"])


def assert_finite(model: Any) -> None:
    for attribute in ("coef_", "coef_std_", "intercept_", "lambda2_", "sigma2_", "tau2_", "kappa_"):
        value = getattr(model, attribute, 0.0)
        assert np.all(np.isfinite(value)), (attribute, value)
    assert np.all(model.coef_std_ >= 0.0)


def pull(model: Any, y: Any, eta: Any) -> Any:
    """Return d log p / d eta of each row of two classes or of a negative binomial; nothing overflows."""
    family = model.family_
    if isinstance(family, Binomial):
        return y - special.expit(eta)
    below = special.expit(np.log(family.size_) - eta)  # 1 / (1 + mu/size)
    return y * below - family.size_ * special.expit(eta - np.log(family.size_))


def best_intercept(model: Any, x: Any, y: Any, offset: Any = 0.0) -> float:
    """Return the intercept that goes with the coefficients: the likelihoods here are concave in it."""
    rest = x @ model.coef_ + offset
    if isinstance(model.family_, Poisson):
        return float(np.log(y.sum()) - special.logsumexp(rest))
    return float(optimize.brentq(lambda level: float(pull(model, y, rest + level).sum()), -5e3, 5e3))


def assert_best_intercept(model: Any, x: Any, y: Any, offset: Any = 0.0) -> None:
    if not model.status_.converged:
        return  # it says so
    best = best_intercept(model, x, y, offset)
    assert abs(model.intercept_ - best) < 1e-3 * (1.0 + abs(best)), (model.intercept_, best, model.status_)


# --- classes ---------------------------------------------------------------------------------------------


@both_weights
@pytest.mark.parametrize("prior", ["horseshoe", "lasso"])
@pytest.mark.parametrize("x", [X, WIDE], ids=["long", "wide"])
def test_separated_classes(weights: str, prior: str, x: Any) -> None:
    y = (x[:, 0] > 0.1).astype(int)
    model = HorseshoeClassifier(augmentation=weights, prior=prior).fit(x, y)
    assert_finite(model)
    assert model.status_ is Status.SEPARATED
    assert model.status_.converged
    assert "separate" in str(model.status_)
    assert model.coef_[0] > 1.0
    assert model.score(x, y) == 1.0
    assert np.all(np.isfinite(model.predict_log_proba(1e3 * x)))
    np.testing.assert_allclose(model.predict_proba(1e3 * x).sum(axis=1), 1.0)
    assert np.all(np.isfinite(model.predict_interval(1e3 * x, method="mode")))


@both_weights
def test_a_wide_gap_between_the_classes(weights: str) -> None:
    x = X.copy()
    x[:, 0] += 1e4 * (x[:, 0] > 0)
    model = HorseshoeClassifier(augmentation=weights).fit(x, X[:, 0] > 0)
    assert_finite(model)
    assert model.status_ is Status.SEPARATED


@unfinished
@both_weights
def test_separated_classes_with_hardly_any_prior(weights: str) -> None:
    model = HorseshoeClassifier(augmentation=weights, prior="ridge", tau=1e4, max_iter=200).fit(
        X, X[:, 0] > 0
    )
    assert_finite(model)
    assert model.status_ in (Status.SEPARATED, Status.MAX_ITER)
    assert model.n_iter_ <= 200


@both_weights
@pytest.mark.parametrize("x", [X, WIDE], ids=["long", "wide"])
def test_a_class_of_one_row(weights: str, x: Any) -> None:
    y = np.arange(len(x)) == 3
    model = HorseshoeClassifier(augmentation=weights, **KEEP).fit(x, y)
    assert_finite(model)
    assert model.status_.converged
    assert np.all(np.isfinite(model.predict_log_proba(x)))
    assert_best_intercept(model.estimators_[0], x, y.astype(float))


@both_weights
@pytest.mark.parametrize("y", [np.zeros(N), np.ones(N)], ids=["zeros", "ones"])
def test_one_class_only(weights: str, y: Any) -> None:
    with pytest.raises(ValueError, match="one class"):
        HorseshoeClassifier(augmentation=weights).fit(X, y)
    model = HorseshoeRegressor(family=Binomial(augmentation=weights)).fit(X, y)
    assert_finite(model)
    assert model.status_ is Status.BOUNDARY
    assert not model.support_.any()
    half = 0.5 / (N + 1.0)
    np.testing.assert_allclose(model.predict(X), 1.0 - half if y[0] else half)


@unfinished
@both_weights
@each("size", [30.0, 700.0])
@each("pattern", ["all", "alternating", "matching"])
@each("sign", [1.0, -1.0])
def test_offsets_of_two_classes(weights: str, size: float, pattern: str, sign: float) -> None:
    shape = {"all": np.ones(N), "alternating": SIGN, "matching": SIGN}[pattern]
    offset = sign * size * shape
    y = (offset + X[:, 0] > 0).astype(float) if pattern == "matching" else LABELS
    model = HorseshoeRegressor(family=Binomial(augmentation=weights), max_iter=200, **KEEP).fit(
        X, y, offset=offset
    )
    assert_finite(model)
    if pattern != "matching":  # there a range of intercepts is as good
        assert_best_intercept(model, X, y, offset)
    assert np.all(np.isfinite(model.predict_interval(X, offset=offset, method="mode")))
    assert np.isfinite(model.log_likelihood(X, y, offset=offset))


# --- counts ----------------------------------------------------------------------------------------------


@log_link
@pytest.mark.parametrize("size", [0.0, 30.0, 700.0])
def test_no_counts_at_all(family: Any, size: float) -> None:
    offset = size * SIGN
    model = HorseshoeRegressor(family=family).fit(X, np.zeros(N), offset=offset)
    assert_finite(model)
    assert model.status_ is Status.BOUNDARY
    assert not model.support_.any()
    np.testing.assert_allclose(model.predict(X, offset=offset).sum(), 0.5, rtol=1e-9)
    assert np.all(np.isfinite(model.predict_interval(X, method="mode")))


@log_link
def test_no_counts_and_no_intercept(family: Any) -> None:
    model = HorseshoeRegressor(family=family, fit_intercept=False).fit(X, np.zeros(N))
    assert_finite(model)
    assert model.status_.converged
    assert model.intercept_ == 0.0


@log_link
def test_one_row_with_one_count(family: Any) -> None:
    y = (np.arange(N) == 3).astype(float)
    model = HorseshoeRegressor(family=family, **KEEP).fit(X, y)
    assert_finite(model)
    assert_best_intercept(model, X, y)


@log_link
@pytest.mark.parametrize("x", [X, WIDE], ids=["long", "wide"])
def test_one_row_with_a_billion(family: Any, x: Any) -> None:
    y = np.zeros(len(x))
    y[3] = 1e9
    model = HorseshoeRegressor(family=family, max_iter=1000, **KEEP).fit(x, y)
    assert_finite(model)
    assert_best_intercept(model, x, y)


@log_link
def test_counts_of_a_billion(family: Any) -> None:
    y = np.random.default_rng(1).poisson(1e9 * np.exp(0.5 * X[:, 0])).astype(float)
    model = HorseshoeRegressor(family=family, **KEEP).fit(X, y)
    assert_finite(model)
    assert model.status_ is Status.CONVERGED
    np.testing.assert_allclose(model.coef_[0], 0.5, atol=0.1)
    assert_best_intercept(model, X, y)
    assert np.isfinite(model.log_likelihood(X, y))
    assert 0.99 < model.score(X, y) <= 1.0
    low, high = model.predict_interval(X, method="mode").T
    assert np.all(low <= model.predict(X))
    assert np.all(model.predict(X) <= high)


@pytest.mark.parametrize("level", [10.0, 1e5, 1e9])
def test_size_of_counts_that_are_poisson_leaves_a_poisson_spread(level: float) -> None:
    """However large they are: else intervals would be too wide by the root of 1 + mu/size."""
    y = np.random.default_rng(2).poisson(level * np.exp(0.5 * X[:, 0])).astype(float)
    model = HorseshoeRegressor(family="negative_binomial").fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.median(std / np.sqrt(mean)) < 1.3


@log_link
@each("size", [30.0, -30.0])
@each("pattern", ["all", "alternating", "half", "matching"])
def test_offsets_of_counts(family: Any, size: float, pattern: str) -> None:
    shape = {"all": np.ones(N), "alternating": SIGN, "half": SIGN > 0, "matching": SIGN}[pattern]
    offset = size * shape
    y = np.floor(np.exp(offset + X[:, 0])) if pattern == "matching" else COUNTS
    model = HorseshoeRegressor(family=family, max_iter=2000, **KEEP).fit(X, y, offset=offset)
    assert_finite(model)
    assert model.status_.converged
    assert_best_intercept(model, X, y, offset)
    if pattern == "all":  # the same as without, but for the intercept
        plain = HorseshoeRegressor(family=family, **KEEP).fit(X, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(model.intercept_, plain.intercept_ - size, rtol=1e-6)


@unfinished
@log_link
@each("pattern", ["all", "alternating", "half"])
@each("sign", [1.0, -1.0])
def test_offsets_where_exp_is_about_to_overflow(family: Any, pattern: str, sign: float) -> None:
    shape = {"all": np.ones(N), "alternating": SIGN, "half": SIGN > 0}[pattern]
    offset = sign * 700.0 * shape
    model = HorseshoeRegressor(family=family, max_iter=40, **KEEP).fit(X, COUNTS, offset=offset)
    assert_finite(model)
    if pattern == "all":
        assert_best_intercept(model, X, COUNTS, offset)


@log_link
@each("eta", [-1000.0, -700.0, -30.0, 30.0, 700.0, 1000.0])
def test_predictions_at_extreme_offsets(family: Any, eta: float) -> None:
    model = HorseshoeRegressor(family=family).fit(X, COUNTS)
    offset = np.full(3, eta)
    mean, std = model.predict(X[:3], return_std=True, offset=offset)
    assert np.all(np.isfinite(mean))
    assert np.all(mean >= 0.0)
    assert not np.any(np.isnan(std))  # an infinite one is an answer
    ends = model.predict_interval(X[:3], offset=offset, method="mode")
    assert np.all(np.isfinite(ends))
    assert np.all(ends[:, 0] <= ends[:, 1])
    assert np.isfinite(model.log_likelihood(X[:3], COUNTS[:3], offset=offset))


def test_predictions_of_strong_overdispersion_at_extreme_offsets() -> None:
    model = HorseshoeRegressor(family=NegativeBinomial(size=1e-3)).fit(X, COUNTS)
    _, std = model.predict(X[:3], return_std=True, offset=np.full(3, 700.0))
    assert not np.any(np.isnan(std))


# --- columns ---------------------------------------------------------------------------------------------

ALL = [(Binomial(), LABELS), (Binomial(augmentation="irls"), LABELS), *((f, COUNTS) for f in LOG_LINK)]
ALL += [(f, NOISY) for f in HEAVY]


@each(("family", "y"), ALL, ids=lambda v: type(v).__name__)
@each("unit", [1e-100, 1e100])
def test_units_beyond_reason(family: Any, y: Any, unit: float) -> None:
    base = HorseshoeRegressor(family=family).fit(X, y)
    model = HorseshoeRegressor(family=family).fit(X * unit, y)
    assert_finite(model)
    np.testing.assert_allclose(model.coef_ * unit, base.coef_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("family", "y"), ALL, ids=lambda v: type(v).__name__)
def test_huge_columns_as_they_are(family: Any, y: Any) -> None:
    """|eta| reaches 700 on the way: a coefficient of 1 is 1e4 in eta."""
    model = HorseshoeRegressor(family=family, standardize=False, max_iter=1000, **KEEP).fit(X * 1e4, y)
    assert_finite(model)
    if not model.family_.has_dispersion:
        assert_best_intercept(model, X * 1e4, y)


@pytest.mark.parametrize(("family", "y"), ALL, ids=lambda v: type(v).__name__)
def test_one_row_far_from_the_others(family: Any, y: Any) -> None:
    x = X.copy()
    x[0] *= 1e6
    model = HorseshoeRegressor(family=family, max_iter=1000, **KEEP).fit(x, y)
    assert_finite(model)
    if not model.family_.has_dispersion:
        assert_best_intercept(model, x, y)


# --- heavy tails -----------------------------------------------------------------------------------------


@heavy
@pytest.mark.parametrize("outlier", [1e3, 1e12])
def test_one_gross_outlier(family: Any, outlier: float) -> None:
    y = NOISY.copy()
    y[3] = outlier
    model = HorseshoeRegressor(family=family).fit(X, y)
    assert_finite(model)
    assert model.status_.converged
    assert abs(model.intercept_) < 1.0  # half of the residuals are on either side of it


@heavy
def test_a_perfect_fit(family: Any) -> None:
    for x in (X, WIDE):
        model = HorseshoeRegressor(family=family).fit(x, 2.0 * x[:, 0] - x[:, 1] + 3.0)
        assert_finite(model)
        np.testing.assert_allclose(model.coef_[:2], [2.0, -1.0], rtol=1e-4)
        np.testing.assert_allclose(model.intercept_, 3.0, rtol=1e-4)


@heavy
def test_most_responses_equal(family: Any) -> None:
    y = np.zeros(N)
    y[:20] = X[:20, 0]
    model = HorseshoeRegressor(family=family).fit(X, y)
    assert_finite(model)
    assert model.status_.converged
    constant = HorseshoeRegressor(family=family).fit(X, np.full(N, 3.0))
    assert constant.status_ is Status.CONSTANT_RESPONSE
    assert constant.intercept_ == 3.0


@heavy
@pytest.mark.parametrize("expectation", ["approximate", "stochastic"])
def test_every_expectation_of_heavy_tails(family: Any, expectation: str) -> None:
    exact = HorseshoeRegressor(family=family).fit(X, NOISY)
    model = HorseshoeRegressor(family=family, expectation=expectation, random_state=0, max_iter=500)
    model.fit(X, NOISY)
    assert_finite(model)
    np.testing.assert_allclose(model.coef_[:2], exact.coef_[:2], atol=0.05)


# --- the likelihood of a class that is certain ------------------------------------------------------


@pytest.mark.parametrize("eta", [0.0, 1e-9, 3.0, 20.0, 36.0, 50.0, 700.0, 1e6])
def test_what_is_left_of_the_likelihood_of_a_sure_class_keeps_its_digits(eta: float) -> None:
    """A row may count a million times: what rounding leaves of log(1 + e^eta) - eta would decide."""
    y = np.array([1.0, 0.0, 1.0, 0.0, 0.25])
    sure, lost = math.log1p(math.exp(-eta)), eta + math.log1p(math.exp(-eta))
    got = Binomial().neg_log_likelihood(y, eta * np.array([1.0, -1.0, -1.0, 1.0, 1.0]), 1.0)
    np.testing.assert_allclose(got, [sure, sure, lost, lost, sure + 0.75 * eta], rtol=1e-14)


# --- a size so large that the counts are as good as Poisson -----------------------------------------


@each("size", [1e3, 1e5, 1e7, 1e9, 1e12, 1e20])
@each("eta", [-3.0, 0.0, 4.0])
def test_log_likelihood_of_a_large_size(size: float, eta: float) -> None:
    """Against the product that defines it, (size)(size + 1) ... (size + y - 1) / y!, added up exactly."""
    y = np.array([0.0, 1.0, 2.0, 17.0, 300.0])
    mu = np.exp(eta)
    rising = [math.fsum(math.log1p(i / size) for i in range(int(count))) for count in y]
    tail = (y + size) * math.log1p(mu / size)
    want = special.gammaln(y + 1.0) - np.array(rising) - y * eta + tail
    got = NegativeBinomial(size=size).neg_log_likelihood(y, np.full(5, eta), 1.0)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_a_large_size_ends_in_poisson() -> None:
    y, eta = COUNTS, np.full(N, 0.7)
    got = NegativeBinomial(size=1e40).neg_log_likelihood(y, eta, 1.0)
    np.testing.assert_allclose(got, Poisson().neg_log_likelihood(y, eta, 1.0), rtol=1e-13)


@log_link
def test_counts_beyond_counting(family: Any) -> None:
    y = np.where(np.arange(N) == 7, 1e60, COUNTS)
    assert_says(refused(lambda: HorseshoeRegressor(family=family).fit(X, y)), at_row(7), "larger units")


@both_weights
def test_an_offset_beyond_all_odds(weights: str) -> None:
    offset = np.where(np.arange(N) == 7, 1e150, 0.0)
    model = HorseshoeClassifier(augmentation=weights)
    assert_says(refused(lambda: model.fit(X, LABELS, offset=offset)), "offset", at_row(7), "log odds")


def test_a_ridge_of_classes_with_a_tiny_global_scale() -> None:
    for tau_max in (1e-10, 1e-8, 1e-20, 1e-40):
        model = HorseshoeClassifier(prior="ridge", tau_max=tau_max).fit(X, LABELS)
        assert_finite(model)
        assert model.tau2_ <= tau_max**2


# --- rows that count a million times ----------------------------------------------------------------


@pytest.mark.parametrize("prior", ["horseshoe", "lasso", "ridge", "student_t"])
@pytest.mark.parametrize("separated", [False, True], ids=["one_row", "all_rows_separated"])
def test_heavy_rows_are_fitted_to_the_end(prior: str, separated: bool) -> None:
    """Polya-gamma steps alone creep there: what they call the end is wherever they are below tol."""
    if separated:
        y, weights = X[:, 0] + 0.3 * X[:, 1] > 0.0, np.full(N, 1e6)
    else:
        y, weights = LABELS > 0.5, np.where(np.arange(N) == 7, 1e6, 1.0)
    rough, fine = (
        HorseshoeClassifier(prior=prior, tol=tol).fit(X, y, sample_weight=weights) for tol in (1e-5, 1e-9)
    )
    assert fine.status_ is (Status.SEPARATED if separated else Status.CONVERGED)
    np.testing.assert_allclose(rough.coef_, fine.coef_, atol=1e-3 * np.abs(fine.coef_).sum())
    eta = fine.decision_function(X)
    slope = weights @ (y - special.expit(eta))
    assert abs(slope) < 1e-4 * (weights @ special.expit(-np.abs(eta)) + 1.0)
