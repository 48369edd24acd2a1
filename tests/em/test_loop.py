"""The loop: Algorithm 1 as written, its objective and its ends."""

import numpy as np
import pytest

import oracles
from horseshoe import HorseshoeRegressor, Status
from horseshoe.data.dense import Dense, Identity
from horseshoe.data.problem import LeastSquares, Targets, plain
from horseshoe.data.standardise import standardise
from horseshoe.em.likelihood import WorkingLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.schedule import MOST_STALLS
from horseshoe.em.starts import paper_start
from horseshoe.em.state import Options
from horseshoe.families import Poisson
from horseshoe.priors import FixedScale, HalfCauchy, Horseshoe, Ridge
from registry import LAMBDA_POWERS, LOCAL_PRIORS, name
from selections import in_pairs
from simulate import linear
from systems import PLAIN, hyper, run, standard_system

SHAPES = {"long": (60, 12), "square": (25, 25), "wide": (25, 60)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lambda_power", [2.0, 1.5])
def test_plain_em_is_algorithm_1(shape, lambda_power):
    system = standard_system(*SHAPES[shape], n_signals=4)
    ours = run(system, lambda_power=lambda_power, tol=1e-8, **PLAIN)
    theirs = oracles.plain_em(system.columns.dense(), system.z, 1e-8, 10_000, lambda_power=lambda_power)
    assert ours.n_iter == theirs["n_iter"]
    np.testing.assert_allclose(ours.coef, theirs["coef"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.scales.sigma2, theirs["sigma2"], rtol=1e-10)
    np.testing.assert_allclose(ours.moments.variance, theirs["variance"], rtol=1e-7, atol=1e-15)


@pytest.mark.parametrize(
    ("prior", "lambda_power", "shape"),
    in_pairs([prior for prior, _ in LOCAL_PRIORS], LAMBDA_POWERS, SHAPES),
    ids=name,
)
def test_objective_never_rises_when_the_noise_is_known(prior, lambda_power, shape):
    system = standard_system(*SHAPES[shape], n_signals=4)
    fit = run(system, prior, lambda_power=lambda_power, sigma2=0.3, tol=1e-9, max_iter=60, **PLAIN)
    objective = np.array([line.objective for line in fit.trace])
    rounding = 1e-11 * np.abs(objective).max()
    assert (np.diff(objective) <= rounding).all()
    assert objective[0] - objective[-1] > 1e-3  # it did fall


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", SHAPES)
def test_objective_does_not_rise_after_the_fifth_iteration(shape, seed):
    system = standard_system(*SHAPES[shape], n_signals=4, seed=seed)
    objective = np.array([line.objective for line in run(system, max_iter=80, tol=1e-9, **PLAIN).trace])
    assert (np.diff(objective[5:]) <= 1e-11 * np.abs(objective).max()).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_objective_is_the_marginal_posterior(shape):
    """Differences between iterations, against the oracle at the scales of each."""
    system = standard_system(*SHAPES[shape], n_signals=4)
    prior, tau = Horseshoe(), HalfCauchy()

    def oracle(scales):
        return oracles.marginal_objective(
            system.columns.dense(),
            system.z,
            scales.sigma2,
            scales.tau2,
            scales.lambda2,
            lambda v: prior.neg_log_density(v, 2.0),
            tau.neg_log_density,
        )

    short, long = (run(system, max_iter=k, **PLAIN) for k in (3, 12))
    expected = oracle(long.scales) - oracle(short.scales)
    assert long.trace[-1].objective - short.trace[-1].objective == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_stochastic_em_reaches_the_support_of_the_mode(shape):
    n, p = {"long": (300, 60), "wide": (150, 200)}[shape]
    system = standard_system(n, p, rho=0.5, sigma2=0.25, n_signals=6, seed=1)
    exact = run(system)
    assert exact.support.sum() == 6
    for seed in range(3):
        fit = run(system, expectation="stochastic", random_state=seed)
        assert np.array_equal(fit.support, exact.support)
        np.testing.assert_allclose(fit.coef, exact.coef, atol=5e-3)
        again = run(system, expectation="stochastic", random_state=seed)
        assert np.array_equal(again.coef, fit.coef)


def test_approximate_expectations_are_exact_for_nine_iterations():
    system = standard_system(60, 12, n_signals=4)
    exact, approximate = (run(system, expectation=e, **PLAIN) for e in ("exact", "approximate"))
    assert exact.trace[:9] == approximate.trace[:9]
    assert exact.trace[9].sigma2 == approximate.trace[9].sigma2
    assert exact.trace[10].sigma2 != approximate.trace[10].sigma2
    assert approximate.trace[9].objective is None


def test_orthogonal_columns_make_the_approximation_exact():
    rng = np.random.default_rng(0)
    x = np.sqrt(40) * np.linalg.qr(rng.standard_normal((40, 10)))[0]
    z = 0.8 * x[:, 0] - 0.5 * x[:, 1] + 0.3 * rng.standard_normal(40)
    system = plain(x, z)
    exact, approximate = (run(system, expectation=e, tol=1e-12) for e in ("exact", "approximate"))
    np.testing.assert_allclose(approximate.coef, exact.coef, rtol=1e-9)


def test_no_p_by_p_matrix_when_p_exceeds_n():
    """Nothing of the size of p x p is ever allocated; counted through the memory that the fit peaks at."""
    import tracemalloc

    n, p = 30, 3000
    system = standard_system(n, p, n_signals=4)
    for expectation in ("exact", "approximate", "stochastic"):
        tracemalloc.start()
        run(system, expectation=expectation, max_iter=15)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < p * p * 8 / 4


def test_ends_and_their_advice():
    system = standard_system(60, 12, n_signals=4)
    assert run(system).status is Status.CONVERGED
    stopped = run(system, max_iter=2)
    assert stopped.status is Status.MAX_ITER
    assert "max_iter" in str(stopped.status)
    assert not stopped.status.converged
    seen = []
    halted = run(system, callback=lambda line: seen.append(line) or len(seen) < 4)
    assert halted.status is Status.STOPPED
    assert halted.n_iter == len(seen) == len(halted.trace) == 4


def test_averages_that_do_not_settle_end_with_a_word(monkeypatch):
    monkeypatch.setattr("horseshoe.em.schedule.MOST_AVERAGES", 20)
    fit = run(standard_system(60, 12, n_signals=4), expectation="stochastic", tol=0.0)
    assert fit.status is Status.UNSETTLED
    assert fit.n_iter == 20
    assert not fit.status.converged


def test_steps_that_go_nowhere_end_with_a_word():
    """The likelihood says that every step is worse, which it never is but for rounding."""
    rng = np.random.default_rng(0)
    design = standardise(Dense(rng.standard_normal((40, 3))), None, center=True, scale=True)
    weights = WorkingLikelihood(
        design, rng.poisson(3.0, 40).astype(float), np.zeros(40), Poisson(), center=True
    )
    begin = weights.begin()
    values = iter(range(10**9))
    weights._objective = lambda *_: float(next(values))
    (fit,) = solve(weights, hyper(), Options(sigma2=1.0), lambda: begin)
    assert fit.status is Status.STALLED
    assert fit.n_iter == MOST_STALLS


def test_pure_noise_selects_nothing():
    rng = np.random.default_rng(3)
    x, z, *_ = oracles.standardise(rng.standard_normal((50, 20)), rng.standard_normal(50))
    fit = run(plain(x, z))
    assert not fit.support.any()
    assert fit.status is Status.NOTHING_SELECTED
    assert fit.scales.sigma2 == pytest.approx(1.0)
    assert fit.covariance is None


def test_response_without_noise_is_fitted_to_rounding():
    X, _, beta = linear(80, 10, n_signals=4)
    model = HorseshoeRegressor(tol=1e-12).fit(X, X @ beta)
    np.testing.assert_allclose(model.coef_, beta, atol=1e-9)
    assert model.status_.converged


def test_exact_noise_update_inflates_the_noise_and_warns():
    X, y, _ = linear(300, 100, rho=0.0, sigma2=1.0)
    assert HorseshoeRegressor().fit(X, y).support_.sum() == 20
    with pytest.warns(UserWarning, match="sigma2='exact'"):
        exact = HorseshoeRegressor(sigma2="exact").fit(X, y)
    assert exact.support_.sum() == 0


def test_tau_is_a_dial_when_fixed():
    y = np.append(np.random.default_rng(0).standard_normal(500), np.full(10, 5.0))
    means = LeastSquares(Identity(y.size), Targets(y, float(y.size)))
    kept = [np.count_nonzero(run(means, tau=FixedScale(t), sigma2=1.0).coef) for t in (1.0, 0.1, 0.001)]
    assert kept[0] >= kept[1] >= kept[2]
    assert kept[0] > kept[2]


def test_ridge_is_ridge():
    system = standard_system(60, 12, n_signals=4)
    fit = run(system, Ridge(), FixedScale(0.01), sigma2=0.5, tol=1e-12)
    expected = np.linalg.solve(system.gram + 100 * np.eye(12), system.xz)
    np.testing.assert_allclose(fit.coef, expected, rtol=1e-10)


def test_start_is_marginal_least_squares():
    system = standard_system(60, 12)
    start = paper_start(system)
    np.testing.assert_allclose(start.mean, system.columns.dense().T @ system.z / 60, rtol=1e-12)
    assert start.expected_rss == 1e10


class HalfNormalScale:
    """A user's own prior: lambda ~ half-normal, so lambda2 has density v^(-1/2) exp(-v/2)."""

    def null_rate(self, lambda_power):
        return lambda_power / 2

    def mode(self, w, lambda_power):
        rate = self.null_rate(lambda_power)
        return np.sqrt(rate * rate + 2 * w) - rate

    def neg_log_density(self, lambda2, lambda_power):
        return (lambda_power - 1) / 2 * np.log(lambda2) + lambda2 / 2


def test_a_users_own_prior_fits_like_the_same_prior_of_ours():
    from horseshoe.priors import GammaScale

    X, y, _ = linear(100, 20, n_signals=4)
    own = HorseshoeRegressor(prior=HalfNormalScale()).fit(X, y)
    ours = HorseshoeRegressor(prior=GammaScale(shape=0.5, rate=0.5)).fit(X, y)
    assert own.support_.sum() >= 4
    np.testing.assert_allclose(own.coef_, ours.coef_, rtol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
@pytest.mark.parametrize("shape", [(60, 12), (25, 60)])
def test_a_tolerance_of_zero_ends_where_rounding_does(family, shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    y = rng.poisson(np.exp(X[:, 0])) if family == "poisson" else X[:, 0] + rng.standard_normal(len(X))
    model = HorseshoeRegressor(family=family, tol=0.0).fit(X, y.astype(float))
    assert model.status_.converged
    assert model.n_iter_ < 1000


@pytest.mark.parametrize(("n", "p"), [(80, 5), (40, 30), (30, 60)])
def test_with_all_scales_known_the_noise_variance_is_at_its_fixed_point(n, p):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, p))
    y = x[:, 0] + rng.standard_normal(n)
    x, y = (x - x.mean(axis=0)) / x.std(axis=0), y - y.mean()
    found = HorseshoeRegressor(prior="ridge", tau=0.3, tol=1e-10).fit(x, y)
    hat = x @ np.linalg.solve(x.T @ x + np.eye(p) / 0.09, x.T)
    left = y - hat @ y
    assert found.sigma2_ == pytest.approx(left @ left / (n - np.trace(hat)), rel=1e-7)  # Eq. (18) at rest
