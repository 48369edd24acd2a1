"""The horseshoe-like prior: its mixture, its mode, its draws, and EM written out with dense matrices."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import oracles
from horseshoe import HorseshoeRegressor, normal_means, sample_posterior
from horseshoe.priors import HorseshoeLike, resolve_local
from loops import each
from registry import LAMBDA_POWERS
from simulate import linear

PRIOR = HorseshoeLike()


def coefficient_density(b, a):
    """Return p(b) = log(1 + a / b^2) / (2 pi sqrt a)."""
    return np.log1p(a / b**2) / (2 * np.pi * np.sqrt(a))


def neg_log_posterior(v, w, lambda_power):
    """Return what `mode` minimises, from the density of v and the Jacobian."""
    density = -0.5 * np.log(v) + np.log(-np.expm1(-0.5 / v))
    return 0.5 * np.log(v) + w / v - density - (1 - lambda_power / 2) * np.log(v)


def on_a_log_scale(function):
    """Return the integral of f(x) dx over x > 0."""
    return quad(lambda t: function(np.exp(t)) * np.exp(t), -300, 300, points=[-8, 0, 8], limit=500)[0]


def test_it_has_a_name():
    assert resolve_local("horseshoe_like") == PRIOR


# --- the definition --------------------------------------------------------------


@each("a", [0.01, 1.0, 30.0])
@each("b", [1e-3, 0.1, 1.0, 7.0, 100.0])
def test_the_mixture_is_the_closed_form(b, a):
    def joint(v):
        density = np.exp(-PRIOR.neg_log_density(v, 2.0)) / np.sqrt(2 * np.pi)
        return density * stats.norm.pdf(b, 0, np.sqrt(a * v))

    assert on_a_log_scale(joint) == pytest.approx(coefficient_density(b, a), rel=1e-8)


def test_the_density_integrates_to_one():
    def height(t):
        return np.exp(t - oracles.neg_log_horseshoe_like(np.exp(t)))

    assert quad(height, -300, 300, points=[-8, 0, 8], limit=500)[0] == pytest.approx(1.0, rel=1e-9)
    v = np.array([0.02, 0.5, 40.0])
    below = [quad(height, -200, np.log(x), limit=500)[0] for x in v]
    np.testing.assert_allclose(oracles.HorseshoeLikeScale().cdf(v), below, rtol=1e-8)


def test_neg_log_density_at_both_ends():
    """Near 0 it is (c - 1)/2 log v, far out (c + 1)/2 log v + log 2."""
    with np.errstate(all="raise", under="ignore"):
        small, large = PRIOR.neg_log_density(np.array([1e-300, 1e140]), 1.5)
    assert small == pytest.approx(0.25 * np.log(1e-300), rel=1e-14)
    assert large == pytest.approx(1.25 * np.log(1e140) + np.log(2.0), rel=1e-14)


# --- the mode --------------------------------------------------------------------


@each("lambda_power", LAMBDA_POWERS)
@each("w", [1e-9, 1e-3, 0.05, 0.3, 1.0, 8.0, 500.0, 1e9])
def test_mode_by_brute_force(w, lambda_power):
    centre = np.log(w)
    grid = np.linspace(centre - 4, centre + 4, 4001)
    best = grid[np.argmin(neg_log_posterior(np.exp(grid), w, lambda_power))]
    found = minimize_scalar(
        lambda t: neg_log_posterior(np.exp(t), w, lambda_power),
        bounds=(best - 0.01, best + 0.01), method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    assert np.log(PRIOR.mode(np.array([w]), lambda_power)[0]) == pytest.approx(found.x, abs=1e-6)


@pytest.mark.parametrize("lambda_power", [*LAMBDA_POWERS, 1e-3])
def test_mode_solves_its_equation_to_the_last_digits(lambda_power):
    """2 W s = A + s / (e^s - 1), s = 1 / (2 v), from subnormal W on."""
    w = np.concatenate([[0.0, 1e-310], 10.0 ** np.arange(-300, 301), np.geomspace(1e-3, 1e3, 1000)])
    with np.errstate(all="raise", under="ignore"):
        v = PRIOR.mode(w, lambda_power)
    assert v[0] == 0.0
    w, v = w[2:], v[2:]
    s = 0.5 / v
    share = np.where(s > 700, 0.0, s / np.expm1(np.minimum(s, 700)))
    np.testing.assert_allclose(w / v, lambda_power / 2 + share, rtol=2e-15)


def test_mode_at_both_ends():
    w = np.array([1e-200, 1e-20, 1e20, 1e200])
    np.testing.assert_allclose(PRIOR.mode(w, 2.0), w / [1, 1, 2, 2], rtol=1e-14)


def test_mode_with_no_pole():
    """A = 0, log lambda: the root is s = log(1 + 1 / (2 W))."""
    w = np.geomspace(1e-100, 1e10, 111)
    np.testing.assert_allclose(PRIOR.mode(w, 0.0), 0.5 / np.log1p(0.5 / w), rtol=1e-14)


# --- EM --------------------------------------------------------------------------


def slow_em(X, y, tau2, sigma2, lambda_power, n_iter):
    """Take the coefficients as missing data: dense covariances, and a search over log v for every column."""
    v = np.ones(X.shape[1])
    for _ in range(n_iter):
        covariance = sigma2 * np.linalg.inv(X.T @ X + np.diag(1 / (tau2 * v)))
        mean = covariance @ X.T @ y / sigma2
        w = (mean**2 + np.diag(covariance)) / (2 * sigma2 * tau2)
        v = np.array([slow_mode(value, lambda_power) for value in w])
    return mean, np.sqrt(np.diag(covariance)), v


def slow_mode(w, lambda_power):
    if w < 1e-12:
        return w / (lambda_power / 2)
    middle = np.log(w)
    found = minimize_scalar(
        lambda t: neg_log_posterior(np.exp(t), w, lambda_power),
        bounds=(middle - 3, middle + 3), method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    return np.exp(found.x)


@pytest.mark.parametrize("lambda_power", [2.0, 1.5])
def test_the_estimator_ends_where_slow_em_does(lambda_power):
    X, y, _ = linear(40, 6, rho=0.4, sigma2=4.0, n_signals=4, size=1.5, seed=3)
    x, z, *_ = oracles.standardise(X, y)
    tau, sigma2 = 0.6, 0.25
    model = HorseshoeRegressor(
        prior="horseshoe_like",
        tau=tau,
        sigma2=sigma2,
        lambda_power=lambda_power,
        zero_threshold=0.0,
        tol=1e-10,
    ).fit(x, z)
    mean, std, v = slow_em(x, z, tau**2, sigma2, lambda_power, n_iter=150)
    assert 2 <= np.count_nonzero(np.abs(mean) > 0.01) < 6
    np.testing.assert_allclose(model.coef_, mean, rtol=1e-6, atol=1e-6)
    kept = np.abs(mean) > 0.01
    np.testing.assert_allclose(model.coef_std_[kept], std[kept], rtol=1e-6)
    np.testing.assert_allclose(model.lambda2_[kept], v[kept], rtol=1e-6)


@pytest.mark.parametrize("prior", ["horseshoe", "horseshoe_like"])
def test_large_means_are_shrunk_as_by_the_horseshoe(prior):
    """The tails are of one order: in lambda power 2 both take 4 / y from a large y."""
    y = np.array([0.1, 0.5, 1.0, 100.0, 1000.0])
    coef = normal_means(y, sigma2=1.0, prior=prior, tau=1.0).coef
    assert (coef[:3] == 0.0).all()
    np.testing.assert_allclose(y[3:] - coef[3:], 4 / y[3:], rtol=1e-2)


# --- draws -----------------------------------------------------------------------


@pytest.mark.parametrize("w", [1e-6, 0.01, 0.5, 20.0, 1e5])
def test_draws_have_the_moments_of_the_conditional(w):
    """log v from independent draws, against quadrature."""

    def height(t):
        v = np.exp(t)
        return np.exp(t - 0.5 * t - w / v - oracles.neg_log_horseshoe_like(v) + np.log1p(w))

    ends = (np.log(w) - 8, np.log(w) + 60)
    points = np.linspace(*ends, 40)[1:-1]
    total, mean, square = (
        quad(lambda t, power=power: t**power * height(t), *ends, points=points, limit=1000)[0]
        for power in range(3)
    )
    mean, variance = mean / total, square / total - (mean / total) ** 2
    size = 200_000
    draws = np.log(PRIOR.draw(np.full(size, w), np.ones(size), np.random.default_rng(4)))
    assert abs(draws.mean() - mean) < 4.5 * np.sqrt(variance / size)
    spread = (draws - mean) ** 2
    assert abs(spread.mean() - variance) < 4.5 * spread.std() / np.sqrt(size)


def test_draws_given_zero_stay_positive_and_finite():
    w = np.array([0.0, 1e-310, 1e-150, 1e300])
    with np.errstate(all="raise", under="ignore"):
        draws = [PRIOR.draw(w, w, np.random.default_rng(seed)) for seed in range(200)]
    assert np.isfinite(draws).all()
    assert (np.array(draws) > 0).all()


def test_posterior_mean_of_one_column_is_that_of_the_closed_form():
    """One column, everything known but b: the posterior by quadrature over b."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal(9)
    x /= x.std()
    y = 0.5 * x + rng.standard_normal(9)
    tau = 0.3
    posterior = sample_posterior(
        x[:, None], y, prior="horseshoe_like", tau=tau, sigma2=1.0, fit_intercept=False, standardize=False,
        n_draws=20_000, random_state=0, n_jobs=1,
    )  # fmt: skip
    best, precision = x @ y / (x @ x), x @ x

    def height(b):
        return coefficient_density(b, tau**2) * np.exp(-0.5 * precision * (b - best) ** 2)

    total, first = (
        quad(lambda b, power=power: b**power * height(b), -4, 0, limit=500)[0]
        + quad(lambda b, power=power: b**power * height(b), 0, 4, limit=500)[0]
        for power in range(2)
    )
    assert posterior.mcse()[0] < 0.005
    assert posterior.mean()[0] == pytest.approx(first / total, abs=4.5 * posterior.mcse()[0])
