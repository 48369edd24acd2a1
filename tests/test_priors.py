"""Every prior against numerical minimisation of its definition."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import oracles
from farrier.em.mstep import exact_noise_variance, m_step, noise_variance
from farrier.priors import Horseshoe, LocalPrior, is_sparse, resolve_global, resolve_local
from registry import COORDINATES, GLOBAL_PRIORS, LOCAL_PRIORS, name

PROPER = [(prior, oracle) for prior, oracle in LOCAL_PRIORS if oracle is not None]
W = np.array([1e-200, 1e-30, 1e-16, 1e-8, 1e-3, 0.1, 0.5, 0.99, 1.0, 1.01, 3.0, 100.0, 1e8, 1e30])


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize(("prior", "oracle"), PROPER, ids=name)
def test_mode_is_the_minimum(prior, oracle, coordinate):
    flat = prior.null_rate(coordinate) == 0.0  # A = 0: below 1e-8 the oracle's objective is flat to rounding
    w = W[W >= (1e-8 if flat else 1e-30)]
    expected = [oracles.local_mode(oracle(prior), coordinate, value) for value in w]
    np.testing.assert_allclose(prior.mode(w, coordinate), expected, rtol=1e-11)


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize(("prior", "oracle"), PROPER, ids=name)
def test_neg_log_density_is_that_of_the_coordinate(prior, oracle, coordinate):
    v = np.geomspace(1e-6, 1e6, 9)
    expected = oracle(prior)(v) + oracles.jacobian(v, coordinate)
    difference = prior.neg_log_density(v, coordinate) - expected
    np.testing.assert_allclose(difference, difference[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS, ids=name)
def test_mode_is_finite_and_increasing_without_warnings(prior, oracle):
    with np.errstate(all="raise", under="ignore"):
        v = prior.mode(np.append(0.0, W), 2.0)
    assert np.isfinite(v).all()
    assert (np.diff(v) >= 0).all()


def test_small_w_keeps_every_digit():
    """The naive form of Eq. (16) loses every digit below 1e-14; half of W remains to the last one."""
    w = np.array([1e-14, 1e-40, 1e-300])
    np.testing.assert_allclose(Horseshoe().mode(w, 2.0), w, rtol=2e-14)


@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS, ids=name)
@pytest.mark.parametrize("coordinate", COORDINATES)
def test_null_rate_is_the_rate_at_which_nulls_fade(prior, oracle, coordinate):
    if is_sparse(prior, coordinate):
        w = np.array([1e-12])
        np.testing.assert_allclose(w / prior.mode(w, coordinate), prior.null_rate(coordinate), rtol=1e-6)
    else:
        assert prior.mode(np.array([1e-12]), coordinate)[0] > 1e-12 / 0.5 * (1 - 1e-9)


@pytest.mark.parametrize("tau", GLOBAL_PRIORS, ids=name)
@pytest.mark.parametrize("coordinate", [2.0, 1.0])
@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS, ids=name)
def test_m_step_minimises_jointly(prior, oracle, coordinate, tau):
    """tau2 against a bounded search over Q with every lambda2 at its best for that tau2."""
    second, sigma2 = np.random.default_rng(1).gamma(0.3, 1.0, 25), 0.7

    def q(log_tau2):
        tau2 = np.exp(log_tau2)
        w = second / (2 * sigma2 * tau2)
        v = prior.mode(w, coordinate)
        local = 0.5 * np.log(v) + w / v + prior.neg_log_density(v, coordinate)
        return local.sum() + 0.5 * second.size * log_tau2 + tau.neg_log_density(tau2)

    scales = m_step(prior, coordinate, tau, second, sigma2)
    low, high = np.log(tau.bounds)
    grid = np.linspace(low, high, 2001)
    best = grid[np.argmin([q(t) for t in grid])]
    step = grid[1] - grid[0]
    around = (max(low, best - step), min(high, best + step))
    if around[0] < around[1]:
        search = minimize_scalar(q, bounds=around, method="bounded", options={"xatol": 1e-12})
        assert q(np.log(scales.tau2)) <= search.fun + 1e-9
    assert tau.bounds[0] <= scales.tau2 <= tau.bounds[1]
    w = second / (2 * sigma2 * scales.tau2)
    np.testing.assert_allclose(scales.lambda2, prior.mode(w, coordinate), rtol=1e-13)


@pytest.mark.parametrize("tau", GLOBAL_PRIORS, ids=name)
def test_slope_is_the_derivative_in_log_tau2(tau):
    for tau2 in (1e-3, 0.2, 1.0):
        up, down = (tau.neg_log_density(tau2 * np.exp(s)) for s in (1e-6, -1e-6))
        np.testing.assert_allclose(tau.slope(tau2), (up - down) / 2e-6, rtol=1e-6, atol=1e-8)


def test_horseshoe_tau_stands_at_its_bound_for_any_data():
    rng = np.random.default_rng(0)
    for scale in 10.0 ** np.arange(-8, 9, 2):
        second = scale * rng.gamma(0.1, 1.0, 50)
        assert m_step(Horseshoe(), 2.0, resolve_global("estimate", 1.0), second, 1.0).tau2 == 1.0


def test_noise_variance():
    assert noise_variance(3.0, 6.0) == 0.5
    assert noise_variance(0.0, 6.0) > 0.0
    exact = exact_noise_variance(3.0, 4.0, np.array([2.0, 0.0]), np.array([1.0, 0.0]))
    assert exact == pytest.approx((3 + 2) / 6)


def test_names_and_objects_resolve():
    assert resolve_local("horseshoe") == resolve_local(Horseshoe) == resolve_local(Horseshoe())
    assert isinstance(resolve_local("ridge"), LocalPrior)
    assert resolve_global(0.5, 1.0).bounds == (0.25, 0.25)
    assert resolve_global("estimate", 2.0).bounds[1] == 4.0
    with pytest.raises(TypeError, match="null_rate"):
        resolve_local(object())


@pytest.mark.parametrize("bad", [{"a": 0.0}, {"b": -1.0}, {"a": np.nan}, {"b": "x"}])
def test_bad_parameters_are_named(bad):
    from farrier.priors import InvertedBeta

    with pytest.raises((TypeError, ValueError), match=f"InvertedBeta: {next(iter(bad))}"):
        InvertedBeta(**bad)
