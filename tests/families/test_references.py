"""With a prior that says nothing, every family is the maximum likelihood fit that statsmodels finds.

With a ridge it is scikit-learn's penalised fit. Log-likelihoods have every constant, scores are those of
scikit-learn, and standard deviations are those of statsmodels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score
from statsmodels.discrete.discrete_model import NegativeBinomial as DiscreteNegativeBinomial
from statsmodels.miscmodels.tmodel import TLinearModel

from family_cases import FAMILIES, FamilyCase, every_family
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status
from horseshoe.families import Binomial, Gaussian, Laplace, NegativeBinomial, Poisson, StudentT
from horseshoe.priors import Ridge

FLAT = {"prior": Ridge(), "tau": 1e4, "zero_threshold": 0, "tol": 1e-10}
CLOSE = 1e-5
COEF = np.array([0.5, -0.3, 0.4, 0.1])
SIZE = 2.0


class Data(NamedTuple):
    """Columns of four scales, off centre; offsets; frequency weights; and what eta is made of."""

    X: Any
    eta: Any
    offset: Any
    weights: Any

    @property
    def design(self) -> Any:
        return sm.add_constant(self.X)

    @property
    def repeated(self) -> Any:
        """Return the row numbers, each as often as its weight says."""
        return np.repeat(np.arange(len(self.X)), self.weights.astype(int))


def make_data(n: int, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * [1.0, 2.0, 0.5, 3.0] + [0.0, 1.0, -2.0, 0.3]
    offset, weights = rng.normal(0.0, 0.4, n), rng.integers(1, 4, n).astype(float)
    return Data(X, 0.6 + X @ COEF + offset, offset, weights)


DATA = make_data(201)
PLAIN = pytest.mark.parametrize("plain", [True, False], ids=["plain", "weights_and_offset"])


def extras(plain: bool) -> dict[str, Any]:
    return {} if plain else {"sample_weight": DATA.weights, "offset": DATA.offset}


def frequencies(plain: bool) -> dict[str, Any]:
    """Return the same for statsmodels."""
    return {} if plain else {"freq_weights": DATA.weights, "offset": DATA.offset}


def response(case: str, seed: int = 1) -> Any:
    found = next(c for c in FAMILIES if c.name == case)
    return found.draw(DATA.eta, np.random.default_rng(seed))


def flat_fit(family: Any, y: Any, plain: bool, **options: Any) -> HorseshoeRegressor:
    return HorseshoeRegressor(family=family, **{**FLAT, **options}).fit(DATA.X, y, **extras(plain))


def assert_same(model: Any, params: Any, close: float = CLOSE) -> None:
    """Compare intercept and coefficients with those of statsmodels, which has the intercept first."""
    np.testing.assert_allclose(model.intercept_, params[0], rtol=close, atol=close)
    np.testing.assert_allclose(model.coef_, params[1:], rtol=close, atol=close)
    assert model.status_ is Status.CONVERGED


# --- maximum likelihood ----------------------------------------------------------------------------------

GLMS = {
    "gaussian": (Gaussian(), sm.families.Gaussian()),
    "polya_gamma": (Binomial(), sm.families.Binomial()),
    "irls": (Binomial(augmentation="irls"), sm.families.Binomial()),
    "poisson": (Poisson(), sm.families.Poisson()),
    "negative_binomial": (NegativeBinomial(size=SIZE), sm.families.NegativeBinomial(alpha=1.0 / SIZE)),
}


@PLAIN
@pytest.mark.parametrize("name", GLMS)
def test_glm_is_that_of_statsmodels(name: str, plain: bool) -> None:
    ours, theirs = GLMS[name]
    y = response(name)
    want = sm.GLM(y, DATA.design, family=theirs, **frequencies(plain)).fit(tol=1e-13)
    model = flat_fit(ours, y, plain)
    assert_same(model, want.params)
    if name == "gaussian":  # their scale is RSS/n there
        return
    np.testing.assert_allclose(model.log_likelihood(DATA.X, y, **extras(plain)), want.llf, rtol=1e-9)


@PLAIN
@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
def test_classifier_is_the_glm_of_statsmodels(weights: str, plain: bool) -> None:
    y = response(weights)
    want = sm.GLM(y, DATA.design, family=sm.families.Binomial(), **frequencies(plain)).fit(tol=1e-13)
    model = HorseshoeClassifier(augmentation=weights, **FLAT).fit(
        DATA.X, np.where(y > 0, "yes", "no"), **extras(plain)
    )
    assert_same(model, want.params)
    offset = {} if plain else {"offset": DATA.offset}
    np.testing.assert_allclose(model.predict_proba(DATA.X, **offset)[:, 1], want.fittedvalues, rtol=1e-5)
    labels = np.where(y > 0, "yes", "no")
    np.testing.assert_allclose(model.log_likelihood(DATA.X, labels, **extras(plain)), want.llf, rtol=1e-9)


def test_proportions_with_numbers_of_trials_are_a_binomial_glm() -> None:
    trials = np.random.default_rng(5).integers(1, 12, len(DATA.X)).astype(float)
    successes = np.random.default_rng(6).binomial(trials.astype(int), 1.0 / (1.0 + np.exp(-DATA.eta)))
    both = np.column_stack([successes, trials - successes])
    want = sm.GLM(both, DATA.design, family=sm.families.Binomial(), offset=DATA.offset).fit(tol=1e-13)
    for kind in ("polya_gamma", "irls"):
        model = HorseshoeRegressor(family=Binomial(augmentation=kind), **FLAT)
        model.fit(DATA.X, successes / trials, sample_weight=trials, offset=DATA.offset)
        assert_same(model, want.params)


def test_poisson_with_exposure() -> None:
    exposure = np.exp(DATA.offset) * 7.0
    y = stats.poisson(exposure * np.exp(DATA.eta - DATA.offset)).rvs(random_state=3).astype(float)
    want = sm.GLM(y, DATA.design, family=sm.families.Poisson(), exposure=exposure).fit(tol=1e-13)
    model = HorseshoeRegressor(family="poisson", **FLAT).fit(DATA.X, y, offset=np.log(exposure))
    assert_same(model, want.params)
    np.testing.assert_allclose(model.predict(DATA.X, offset=np.log(exposure)), want.fittedvalues, rtol=1e-5)


@PLAIN
def test_negative_binomial_with_estimated_size(plain: bool) -> None:
    y = response("negative_binomial")
    rows = np.arange(len(y)) if plain else DATA.repeated
    offset = None if plain else DATA.offset[rows]
    theirs = DiscreteNegativeBinomial(y[rows], DATA.design[rows], loglike_method="nb2", offset=offset)
    want = theirs.fit(method="newton", tol=1e-12, maxiter=200, disp=0)
    model = flat_fit("negative_binomial", y, plain)
    assert_same(model, want.params[:-1])
    np.testing.assert_allclose(model.family_.size_, 1.0 / want.params[-1], rtol=CLOSE)
    np.testing.assert_allclose(model.log_likelihood(DATA.X, y, **extras(plain)), want.llf, rtol=1e-9)


class FixedStudent(TLinearModel):
    """Student's t with known degrees of freedom; they have to be known before `initialize` is called."""

    fix_df = 4.0


@pytest.mark.filterwarnings("ignore:Maximum Likelihood optimization failed")  # at machine precision
@pytest.mark.filterwarnings("ignore:overflow encountered")  # of their first line search
@PLAIN
@pytest.mark.parametrize("df", [1.5, 4.0, 30.0])
def test_student_t_is_that_of_statsmodels(df: float, plain: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(FixedStudent, "fix_df", df)
    y = response("student_t")
    rows = np.arange(len(y)) if plain else DATA.repeated
    theirs = FixedStudent(y[rows] - (0.0 if plain else DATA.offset[rows]), DATA.design[rows])
    rough = theirs.fit(method="bfgs", gtol=1e-7, maxiter=2000, disp=0)
    want = theirs.fit(start_params=rough.params, method="newton", tol=1e-13, maxiter=50, disp=0)
    assert np.abs(theirs.score(want.params)).max() < 1e-4
    model = flat_fit(StudentT(df=df), y, plain, sigma2=float(want.params[-1] ** 2))
    assert_same(model, want.params[:-1])
    np.testing.assert_allclose(model.log_likelihood(DATA.X, y, **extras(plain)), want.llf, rtol=1e-9)


def least_absolute(design: Any, y: Any, weights: Any) -> Any:
    """Return the coefficients of the regression of the median, by linear programming."""
    n, k = design.shape
    cost = np.concatenate([np.zeros(k), weights, weights])
    rows = np.hstack([design, np.eye(n), -np.eye(n)])
    free = [(None, None)] * k + [(0.0, None)] * (2 * n)
    return optimize.linprog(cost, A_eq=rows, b_eq=y, bounds=free, method="highs-ds").x[:k]


@pytest.mark.parametrize("sigma2", ["estimate", 1.0])
def test_laplace_is_the_regression_of_the_median(sigma2: Any) -> None:
    y = response("laplace")
    want = sm.QuantReg(y - DATA.offset, DATA.design).fit(q=0.5, p_tol=1e-12, max_iter=20_000)
    exact = least_absolute(DATA.design, y - DATA.offset, np.ones_like(y))
    np.testing.assert_allclose(want.params, exact, rtol=CLOSE, atol=CLOSE)
    model = HorseshoeRegressor(family="laplace", sigma2=sigma2, **FLAT)
    model.fit(DATA.X, y, offset=DATA.offset)
    assert_same(model, want.params)
    assert_same(model, exact)


def test_laplace_with_weights_is_the_regression_of_the_weighted_median() -> None:
    y, weights = response("laplace"), np.random.default_rng(2).uniform(0.5, 3.0, len(DATA.X))
    model = HorseshoeRegressor(family="laplace", **FLAT)
    model.fit(DATA.X, y, sample_weight=weights, offset=DATA.offset)
    assert_same(model, least_absolute(DATA.design, y - DATA.offset, weights))


@every_family
def test_frequency_weights_are_repeated_rows(case: FamilyCase) -> None:
    y, rows = case.draw(DATA.eta, np.random.default_rng(1)), DATA.repeated
    family = case.family
    weighted = HorseshoeRegressor(family=family, **FLAT).fit(
        DATA.X, y, sample_weight=DATA.weights, offset=DATA.offset
    )
    repeated = HorseshoeRegressor(family=family, **FLAT).fit(DATA.X[rows], y[rows], offset=DATA.offset[rows])
    assert_same(weighted, np.append(repeated.intercept_, repeated.coef_), close=1e-7)
    np.testing.assert_allclose(weighted.sigma2_, repeated.sigma2_, rtol=1e-7)
    np.testing.assert_allclose(weighted.coef_std_, repeated.coef_std_, rtol=1e-6)


# --- standard deviations ---------------------------------------------------------------------------------


@PLAIN
@pytest.mark.parametrize("name", [name for name in GLMS if name != "polya_gamma"])
def test_standard_deviations_are_those_of_the_expected_information(name: str, plain: bool) -> None:
    ours, theirs = GLMS[name]
    y = response(name)
    known = {"sigma2": 1.0} if name == "gaussian" else {}
    want = sm.GLM(y, DATA.design, family=theirs, **frequencies(plain)).fit(tol=1e-13, scale=1.0)
    model = flat_fit(ours, y, plain, **known)
    np.testing.assert_allclose(model.coef_std_, want.bse[1:], rtol=1e-5)


@pytest.mark.parametrize("name", ["student_t", "laplace"])
def test_standard_deviations_of_location_families(name: str) -> None:
    """sigma2 / I (X'X)^-1, where I is (df + 1) / (df + 3) for Student's t and 1 for Laplace."""
    y = response(name)
    family, information = (StudentT(df=4.0), 5.0 / 7.0) if name == "student_t" else (Laplace(), 1.0)
    model = flat_fit(family, y, False, sigma2=0.7)
    D, w = DATA.design, DATA.weights
    want = np.sqrt(np.diag(np.linalg.inv(D.T @ (w[:, None] * D))) * 0.7 / information)
    np.testing.assert_allclose(model.coef_std_, want[1:], rtol=1e-6)


def test_interval_of_a_probability_is_that_of_statsmodels() -> None:
    y = response("irls")
    theirs = sm.GLM(y, DATA.design, family=sm.families.Binomial()).fit(tol=1e-13)
    X_new = make_data(30, seed=9).X
    want = theirs.get_prediction(sm.add_constant(X_new)).conf_int(alpha=0.1)
    model = HorseshoeClassifier(augmentation="irls", **FLAT).fit(DATA.X, y)
    np.testing.assert_allclose(model.predict_interval(X_new, level=0.9, method="mode"), want, rtol=1e-5)


# --- penalised fits of scikit-learn ----------------------------------------------------------------------
# Ridge is b_j ~ N(0, tau2) where there is no noise variance: the penalty is sum b_j^2 / (2 tau2)


@pytest.mark.parametrize("tau", [0.01, 0.1, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
def test_ridge_is_scikit_learns_logistic_regression(tau: float, weights: str) -> None:
    y = response("polya_gamma")
    want = LogisticRegression(C=tau**2, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    want.fit(DATA.X, y, sample_weight=DATA.weights)
    model = HorseshoeClassifier(augmentation=weights, prior="ridge", tau=tau, standardize=False, tol=1e-10)
    model.fit(DATA.X, y, sample_weight=DATA.weights)
    assert_same(model, np.append(want.intercept_, want.coef_[0]))
    np.testing.assert_allclose(model.predict_proba(DATA.X), want.predict_proba(DATA.X), atol=1e-6)
    assert model.score(DATA.X, y) == accuracy_score(y, want.predict(DATA.X)) == want.score(DATA.X, y)


@pytest.mark.parametrize("tau", [0.01, 0.1, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_is_scikit_learns_poisson_regression(tau: float, fit_intercept: bool) -> None:
    y = response("poisson")
    alpha = 1.0 / (tau**2 * DATA.weights.sum())  # theirs is the mean deviance / 2 + alpha/2 ||b||^2
    want = PoissonRegressor(
        alpha=alpha, fit_intercept=fit_intercept, solver="newton-cholesky", tol=1e-12, max_iter=1000
    ).fit(DATA.X, y, sample_weight=DATA.weights)
    model = HorseshoeRegressor(
        family="poisson", prior="ridge", tau=tau, standardize=False, fit_intercept=fit_intercept, tol=1e-10
    ).fit(DATA.X, y, sample_weight=DATA.weights)
    assert_same(model, np.append(want.intercept_, want.coef_))
    np.testing.assert_allclose(model.score(DATA.X, y), want.score(DATA.X, y), rtol=1e-6)


@pytest.mark.parametrize("tau", [0.05, 0.4, 3.0])
@pytest.mark.parametrize("name", ["polya_gamma", "poisson"])
def test_ridge_on_standardised_columns(tau: float, name: str) -> None:
    y, scale = response(name), DATA.X.std(axis=0)
    if name == "poisson":
        theirs = PoissonRegressor(alpha=1.0 / (tau**2 * len(y)), solver="newton-cholesky", tol=1e-12)
    else:
        theirs = LogisticRegression(C=tau**2, solver="newton-cholesky", tol=1e-12)
    want = theirs.fit(DATA.X / scale, y)
    family = next(c.family for c in FAMILIES if c.name == name)
    model = HorseshoeRegressor(family=family, prior="ridge", tau=tau, tol=1e-10).fit(DATA.X, y)
    assert_same(model, np.append(want.intercept_, np.ravel(want.coef_) / scale))


@pytest.mark.parametrize("shape", [(40, 90), (60, 12)])
def test_ridge_with_more_columns_than_rows(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(8)
    X = rng.standard_normal(shape)
    y = rng.poisson(np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1])).astype(float)
    want = PoissonRegressor(alpha=1.0 / (0.25 * len(y)), solver="newton-cholesky", tol=1e-12).fit(X, y)
    model = HorseshoeRegressor(family="poisson", prior="ridge", tau=0.5, standardize=False, tol=1e-10)
    assert_same(model.fit(X, y), np.append(want.intercept_, want.coef_))
    labels = y > 0
    logit = LogisticRegression(C=0.25, solver="newton-cholesky", tol=1e-12).fit(X, labels)
    classifier = HorseshoeClassifier(prior="ridge", tau=0.5, standardize=False, tol=1e-10).fit(X, labels)
    np.testing.assert_allclose(classifier.coef_, logit.coef_[0], rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(classifier.intercept_, logit.intercept_[0], rtol=CLOSE, atol=CLOSE)


# --- log-likelihoods and scores --------------------------------------------------------------------------


@every_family
@PLAIN
def test_log_likelihood_adds_up_scipys(case: FamilyCase, plain: bool) -> None:
    y = case.draw(DATA.eta, np.random.default_rng(3))
    model = HorseshoeRegressor(family=case.family).fit(DATA.X, y, **extras(plain))
    new = make_data(50, seed=4)
    y_new = case.draw(new.eta, np.random.default_rng(5))
    more = {} if plain else {"sample_weight": new.weights, "offset": new.offset}
    eta = model.intercept_ + new.X @ model.coef_ + (0.0 if plain else new.offset)
    np.testing.assert_allclose(model.linear_predictor(new.X, offset=more.get("offset")), eta, rtol=1e-12)
    fitted = model.family_
    if isinstance(fitted, NegativeBinomial):
        each = stats.nbinom(fitted.size_, fitted.size_ / (fitted.size_ + np.exp(eta))).logpmf(y_new)
    elif isinstance(fitted, StudentT):
        each = stats.t(fitted.df_, eta, np.sqrt(model.sigma2_)).logpdf(y_new)
    else:
        each = case.log_density(y_new, eta, model.sigma2_)
    want = each.sum() if plain else new.weights @ each
    np.testing.assert_allclose(model.log_likelihood(new.X, y_new, **more), want, rtol=1e-9)


@PLAIN
def test_score_of_counts_is_the_share_of_the_deviance(plain: bool) -> None:
    y, more = response("poisson"), extras(plain)
    model = HorseshoeRegressor(family="poisson").fit(DATA.X, y, **more)
    mu = model.predict(DATA.X, offset=more.get("offset"))
    want = d2_tweedie_score(y, mu, power=1, sample_weight=more.get("sample_weight"))
    np.testing.assert_allclose(model.score(DATA.X, y, **more), want, rtol=1e-10)


@PLAIN
def test_score_of_negative_binomial_is_the_share_of_its_deviance(plain: bool) -> None:
    y, more = response("negative_binomial"), extras(plain)
    family = NegativeBinomial(size=SIZE)
    model = HorseshoeRegressor(family=family).fit(DATA.X, y, **more)
    mu = model.predict(DATA.X, offset=more.get("offset"))
    weights = more.get("sample_weight", np.ones_like(y))
    deviance = sm.families.NegativeBinomial(alpha=1.0 / SIZE).deviance
    null = deviance(y, np.full_like(y, np.average(y, weights=weights)), freq_weights=weights)
    want = 1.0 - deviance(y, mu, freq_weights=weights) / null
    np.testing.assert_allclose(model.score(DATA.X, y, **more), want, rtol=1e-9)


@PLAIN
@pytest.mark.parametrize("name", ["gaussian", "student_t", "laplace"])
def test_score_of_location_families_is_r2(name: str, plain: bool) -> None:
    y, more = response(name), extras(plain)
    model = HorseshoeRegressor(family=name).fit(DATA.X, y, **more)
    prediction = model.predict(DATA.X, offset=more.get("offset"))
    want = r2_score(y, prediction, sample_weight=more.get("sample_weight"))
    np.testing.assert_allclose(model.score(DATA.X, y, **more), want, rtol=1e-12)


def test_score_of_labels_is_accuracy() -> None:
    y = np.where(response("irls") > 0, "b", "a")
    model = HorseshoeClassifier().fit(DATA.X, y)
    weights = DATA.weights
    want = accuracy_score(y, model.predict(DATA.X), sample_weight=weights)
    assert model.score(DATA.X, y, sample_weight=weights) == want
    assert 0.5 < want < 1.0
