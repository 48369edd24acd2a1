"""Gamma, Tweedie, quantile and Huber regressions beside others' software, and what only they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, stats
from sklearn.linear_model import TweedieRegressor
from sklearn.metrics import d2_pinball_score, d2_tweedie_score

from families.test_references import DATA, FLAT, PLAIN, assert_same, extras, flat_fit, frequencies
from family_cases import CompoundPoisson
from horseshoe import AdaptiveRegressor, HorseshoeRegressor, Status, horseshoe_path, sample_posterior
from horseshoe.families import Gamma, Huber, Laplace, Quantile, Tweedie
from horseshoe.priors import Ridge
from loops import each

LOG = sm.families.links.Log()
RNG = np.random.default_rng(3)
AMOUNTS = {
    "gamma": (Gamma(), sm.families.Gamma(LOG), RNG.standard_gamma(2.0, 201) * np.exp(DATA.eta) / 2.0),
    "tweedie": (
        Tweedie(),
        sm.families.Tweedie(LOG, var_power=1.5),
        CompoundPoisson(DATA.eta, 0.7, 1.5).rvs(RNG),
    ),
    "tweedie 1.2": (
        Tweedie(power=1.2),
        sm.families.Tweedie(LOG, var_power=1.2),
        CompoundPoisson(DATA.eta, 0.7, 1.2).rvs(RNG),
    ),
    "tweedie 1": (
        Tweedie(power=1.0),
        sm.families.Poisson(),
        RNG.negative_binomial(2.0, 2.0 / (2.0 + np.exp(DATA.eta))) * 1.0,
    ),
    "tweedie 2": (
        Tweedie(power=2.0),
        sm.families.Gamma(LOG),
        RNG.standard_gamma(1.0, 201) * np.exp(DATA.eta),
    ),
}
LEVELS = pytest.mark.parametrize("level", [0.05, 0.25, 0.5, 0.9])


@PLAIN
@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_are_the_glm_of_statsmodels(name: str, plain: bool) -> None:
    ours, theirs, y = AMOUNTS[name]
    want = sm.GLM(y, DATA.design, family=theirs, **frequencies(plain)).fit(tol=1e-13, scale="X2")
    model = flat_fit(ours, y, plain)
    assert_same(model, want.params)
    n = len(y) if plain else DATA.weights.sum()  # ours has no share for the intercept
    dispersion = model.sigma2_ * getattr(model.family_, "unit_", 1.0) ** (2.0 - getattr(ours, "power", 2.0))
    np.testing.assert_allclose(dispersion, want.scale * (n - 5.0) / (n - 4.0), rtol=1e-5)
    ratio = np.sqrt(model.sigma2_ / model.sigma2_ * dispersion / want.scale)
    np.testing.assert_allclose(model.coef_std_, ratio * want.bse[1:], rtol=1e-5)


@pytest.mark.parametrize("power", [1.5, 2.0])
def test_a_ridge_is_that_of_scikit_learn(power: float) -> None:
    y = AMOUNTS["gamma"][2]
    X = (DATA.X - DATA.X.mean(axis=0)) / DATA.X.std(axis=0)
    tau2, sigma2, n = 0.02, 0.5, len(y)
    theirs = TweedieRegressor(power=power, alpha=1.0 / (tau2 * n), link="log", tol=1e-12, max_iter=10_000)
    theirs.fit(X, y)
    model = HorseshoeRegressor(
        family=Tweedie(power=power, unit=1.0), prior=Ridge(), tau=np.sqrt(tau2), sigma2=sigma2, tol=1e-11,
        zero_threshold=0,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)


def quantile_by_linear_programming(y: Any, weights: Any, level: float) -> Any:
    """Minimise the pinball loss in coefficients and in what is left above and below."""
    (n, k), one = DATA.design.shape, np.eye(len(y))
    costs = np.concatenate([np.zeros(k), level * weights, (1.0 - level) * weights])
    bounds = [(None, None)] * k + [(0.0, None)] * (2 * n)
    return optimize.linprog(costs, A_eq=np.hstack([DATA.design, one, -one]), b_eq=y, bounds=bounds).x[:k]


@PLAIN
@LEVELS
def test_a_quantile_is_the_linear_program(level: float, plain: bool) -> None:
    y = DATA.eta + (1.0 + 0.3 * np.abs(DATA.X[:, 0])) * np.random.default_rng(4).standard_normal(len(DATA.X))
    left, weights = (y, np.ones(len(y))) if plain else (y - DATA.offset, DATA.weights)
    want = quantile_by_linear_programming(left, weights, level)
    model = flat_fit(Quantile(level=level), y, plain)
    assert_same(model, want)
    loss = np.abs(left - DATA.design @ want) + (2.0 * level - 1.0) * (left - DATA.design @ want)
    # twice the pinball loss a row, and the share of the coefficients: sigma2 n = sigma sum loss + sigma2 k
    sigma = weights @ loss / (weights.sum() - 4.0)
    np.testing.assert_allclose(np.sqrt(model.sigma2_), sigma, rtol=1e-4)
    got = model.score(DATA.X, y, **extras(plain))
    fit = model.predict(DATA.X, offset=extras(plain).get("offset"))
    share = d2_pinball_score(y, fit, alpha=level, sample_weight=weights)
    np.testing.assert_allclose(got, share, rtol=1e-3, atol=1e-3)  # they have another quantile of few rows


def test_a_quantile_of_statsmodels() -> None:
    y = DATA.eta + np.random.default_rng(4).standard_normal(len(DATA.X))
    want = sm.QuantReg(y, DATA.design).fit(q=0.75, p_tol=1e-10, max_iter=20_000).params
    assert_same(flat_fit(Quantile(level=0.75), y, True), want, close=2e-5)  # theirs ends before 1e-5


def test_the_median_is_the_laplace_family() -> None:
    y = DATA.eta + np.random.default_rng(4).standard_normal(len(DATA.X))
    median, laplace = (HorseshoeRegressor(family=family).fit(DATA.X, y) for family in (Quantile(), Laplace()))
    np.testing.assert_array_equal(median.coef_, laplace.coef_)
    assert median.sigma2_ == laplace.sigma2_


@PLAIN
def test_huber_at_a_known_scale_is_that_of_statsmodels(plain: bool) -> None:
    y = DATA.eta + np.random.default_rng(5).standard_t(2.0, len(DATA.X))
    sigma, rows = 0.9, np.arange(len(y)) if plain else DATA.repeated
    left = y if plain else y - DATA.offset
    norm = sm.robust.norms.HuberT(t=1.345)

    def loss(coef: Any) -> float:
        return float(norm.rho((left - DATA.design @ coef)[rows] / sigma).sum())

    def slope(coef: Any) -> Any:
        return -DATA.design[rows].T @ norm.psi((left - DATA.design @ coef)[rows] / sigma) / sigma

    start = np.linalg.lstsq(DATA.design, left, rcond=None)[0]
    want = optimize.minimize(loss, start, jac=slope, method="BFGS", options={"gtol": 1e-9}).x
    assert_same(flat_fit(Huber(), y, plain, sigma2=sigma**2), want)


@pytest.mark.parametrize("name", ["gamma", "tweedie"])
def test_the_score_of_amounts_is_the_share_of_the_deviance(name: str) -> None:
    family, _, y = AMOUNTS[name]
    model = HorseshoeRegressor(family=family).fit(DATA.X, y)
    want = d2_tweedie_score(y, model.predict(DATA.X), power=getattr(family, "power", 2.0))
    np.testing.assert_allclose(model.score(DATA.X, y), want, rtol=1e-9)


@each("power", [1.05, 1.2, 1.7, 1.97])
@each("dispersion", [1e-3, 0.05, 1.0, 40.0])
def test_the_density_of_any_power_is_the_sum_over_amounts(power: float, dispersion: float) -> None:
    rng = np.random.default_rng(int(100 * power))
    y, eta = np.append(0.0, np.exp(rng.normal(0.0, 2.0, 12))), rng.normal(0.0, 1.0, 13)
    want = -CompoundPoisson(eta, dispersion, power).logpdf(y)
    got = Tweedie(power=power, unit=1.0).neg_log_likelihood(y, eta, dispersion)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
    half = Tweedie(power=power, unit=2.0).neg_log_likelihood(y, eta, dispersion * 2.0 ** (power - 2.0))
    np.testing.assert_allclose(half, got, rtol=1e-12)


@pytest.mark.parametrize("power", [1.1, 1.5, 1.9])
@pytest.mark.parametrize("dispersion", [0.01, 1.0])
def test_the_distribution_function_is_the_sum_over_amounts(power: float, dispersion: float) -> None:
    eta, y = np.full(7, 0.4), np.array([-1.0, 0.0, 0.01, 0.7, 1.5, 1.8, 6.0])
    want = np.append(0.0, CompoundPoisson(eta[1:], dispersion, power).cdf(y[1:]))
    got = Tweedie(power=power, unit=1.0).cdf(y, eta, dispersion)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_at_power_one_y_over_the_dispersion_is_poisson() -> None:
    family, y, eta = Tweedie(power=1.0, unit=1.0), 0.5 * np.arange(6.0), np.full(6, 0.3)
    exact = stats.poisson(2.0 * np.exp(0.3))
    want = np.log(0.5) - exact.logpmf(np.arange(6.0))  # a mass for each half
    np.testing.assert_allclose(family.neg_log_likelihood(y, eta, 0.5), want, rtol=1e-12)
    np.testing.assert_allclose(family.cdf(y, eta, 0.5), exact.cdf(np.arange(6.0)), rtol=1e-12)


@pytest.mark.parametrize("name", ["gamma", "tweedie"])
def test_the_currency_moves_only_the_intercept(name: str) -> None:
    family, _, y = AMOUNTS[name]
    X = np.column_stack([DATA.X, np.random.default_rng(8).standard_normal((len(y), 20))])
    euros, cents = (HorseshoeRegressor(family=family, tol=1e-9).fit(X, unit * y) for unit in (1.0, 100.0))
    np.testing.assert_array_equal(cents.support_, euros.support_)
    np.testing.assert_allclose(cents.coef_, euros.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(cents.intercept_, euros.intercept_ + np.log(100.0), rtol=1e-6)
    np.testing.assert_allclose(cents.sigma2_, euros.sigma2_, rtol=1e-6)


def test_an_exposure_multiplies_an_amount() -> None:
    _, theirs, y = AMOUNTS["tweedie"]
    exposure = np.exp(DATA.offset)
    want = sm.GLM(y, DATA.design, family=theirs, offset=DATA.offset).fit(tol=1e-13)
    model = HorseshoeRegressor(family="tweedie", **FLAT).fit(DATA.X, y, exposure=exposure)
    assert_same(model, want.params)


def test_amounts_of_nothing_have_no_finite_intercept() -> None:
    model = HorseshoeRegressor(family="tweedie").fit(DATA.X, np.zeros(len(DATA.X)))
    assert model.status_ is Status.BOUNDARY


@pytest.mark.parametrize("family", [Gamma(), Tweedie(), Quantile(level=0.8), Huber()], ids=repr)
def test_the_average_and_the_path_take_every_new_family(family: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((120, 12))
    y = family.simulate(1.0 + X[:, 0] - X[:, 1], 0.3, rng)
    model = AdaptiveRegressor(family=family, cv=3, random_state=0).fit(X, y)
    assert model.support_[:2].all()
    assert model.support_.sum() <= 4
    assert 0.3 < model.score(X, y) < 1.0
    assert np.isfinite(model.predict_interval(X)).all()
    path = horseshoe_path(X, y, values=[0.01, 0.1, 1.0], estimator=HorseshoeRegressor(family=family))
    assert np.isfinite(path.coef).all()


def test_what_is_no_amount_is_refused() -> None:
    X, y = DATA.X, np.ones(len(DATA.X))
    y[7] = 0.0
    with pytest.raises(ValueError, match=r"y in row 7 is 0: it is zero.*family='tweedie'"):
        HorseshoeRegressor(family="gamma").fit(X, y)
    with pytest.raises(ValueError, match=r"y in row 7 is 0.*power below 2"):
        HorseshoeRegressor(family=Tweedie(power=2.0)).fit(X, y)
    y[7] = -2.0
    for family in ("gamma", "tweedie"):
        with pytest.raises(ValueError, match=r"y in row 7 is -2"):
            HorseshoeRegressor(family=family).fit(X, y)
    y[7] = 1e-60
    with pytest.raises(ValueError, match=r"y in row 7 is 1e-60.*smaller units"):
        HorseshoeRegressor(family="tweedie").fit(X, y)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Tweedie(power=0.5), r"power=0\.5 .*at least 1.*at most 2"),
        (lambda: Tweedie(power=2.5), r"power=2\.5 .*at least 1.*at most 2"),
        (lambda: Tweedie(unit=0.0), r"unit=0\.0 .*'mean'"),
        (lambda: Quantile(level=0.0), r"level=0\.0 must be a number above 0 and below 1"),
        (lambda: Quantile(level=1.0), r"level=1\.0 must be a number above 0 and below 1"),
        (lambda: Quantile(level=90), r"level=90 must be a number above 0 and below 1"),
        (lambda: Huber(threshold=0.0), r"threshold=0\.0 "),
    ],
)
def test_parameters_out_of_range_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_without_a_density_there_is_no_sampler() -> None:
    y = np.random.default_rng(0).poisson(2.0, len(DATA.X)) * 1.0
    with pytest.raises(ValueError, match=r"Tweedie\(power=1\.0.*no sampler.*power above 1"):
        sample_posterior(DATA.X, y, family=Tweedie(power=1.0))


@pytest.mark.parametrize("cls", [HorseshoeRegressor, AdaptiveRegressor])
def test_without_a_density_there_is_no_log_likelihood(cls: Any) -> None:
    X, y = DATA.X, AMOUNTS["tweedie 1"][2]
    model = cls(family=Tweedie(power=1.0)).fit(X, y)
    with pytest.raises(ValueError, match=r"Tweedie\(power=1\.0.*no log-likelihood.*score.*power above 1"):
        model.log_likelihood(X, y)
    with pytest.raises(ValueError, match=r"Expected|features"):  # what is wrong with X is said first
        model.log_likelihood(X[:, :1], y)
    assert 0.0 < model.score(X, y) < 1.0
    assert "Tweedie" in str(model.statistics())
    assert np.isfinite(model.coef_interval(method="mode") if cls is HorseshoeRegressor else model.coef_).all()
    assert np.isfinite(model.predict_interval(X)).all()
    assert len(model.summary()) == X.shape[1] + 1
    near = cls(family=Tweedie(power=1.01)).fit(X, y)
    assert np.isfinite(near.log_likelihood(X, y))


def test_half_of_hubers_noise_lies_where_its_density_says() -> None:
    u = Huber(threshold=0.7).simulate(np.zeros(40_000), 1.0, np.random.default_rng(1))
    shares = Huber(threshold=0.7).cdf(u, np.zeros_like(u), 1.0)
    assert stats.kstest(shares, "uniform").pvalue > 1e-3
    assert np.isclose(np.var(u), Huber(threshold=0.7).variance(np.zeros(1), 1.0)[0], rtol=0.05)


def test_the_distribution_of_uncountably_many_amounts_is_a_number():
    eta = np.array([-700.0, -300.0, 300.0, 500.0, 700.0])
    found = Tweedie(power=1.5, unit=1.0).cdf(np.ones(5), eta, 0.1)
    np.testing.assert_array_equal(found, [1.0, 1.0, 0.0, 0.0, 0.0])
    at_mean = Tweedie(power=1.5, unit=1.0).cdf(np.exp([600.0]), np.array([600.0]), 0.1)
    assert at_mean == pytest.approx(0.5)


def test_the_loss_of_a_mean_that_is_too_large_has_no_end() -> None:
    """-log p -> eta - log y - 1 + ...: a bound would let steps go anywhere beyond it."""
    eta = np.array([7e2, 7e4, 7e6])
    loss = Gamma().neg_log_likelihood(np.ones(3), eta, 1.0)
    np.testing.assert_allclose(loss, eta, rtol=1e-12)  # that of the exponential distribution


@pytest.mark.parametrize("prior", ["student_t", "lasso", "normal_gamma"])
@pytest.mark.parametrize("family", [Gamma(), Tweedie(power=1.9)], ids=repr)
def test_an_amount_beyond_all_others_does_not_keep_a_fit_swinging(family: Any, prior: str) -> None:
    """With the sigma2 of one place and the targets of another it took turns between the two for ever."""
    rng = np.random.default_rng(453)
    X, y = rng.standard_normal((54, 29)), rng.gamma(2.0, size=54)
    y[7] = 1e6
    model = HorseshoeRegressor(family=family, prior=prior).fit(X, y)
    assert model.status_.converged
    left = model.family_.working(y, model.linear_predictor(X), 1.0)
    rss = left.weights @ (left.targets - model.linear_predictor(X)) ** 2
    assert model.sigma2_ >= rss / 54  # Pearson's, and what the coefficients may have used up
