"""The M-step against numerical minimisation."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from horseshoe.em.m_step import Hyper, exact_noise_variance, m_step, noise_variance
from horseshoe.priors import HalfCauchy, Horseshoe, Lasso, Ridge, resolve_global
from registry import GLOBAL_PRIORS, LOCAL_PRIORS, name
from selections import in_pairs


@pytest.mark.parametrize(
    ("prior", "lambda_power", "tau"),
    in_pairs([prior for prior, _ in LOCAL_PRIORS], [2.0, 1.0], GLOBAL_PRIORS),
    ids=name,
)
def test_m_step_minimises_jointly(prior, lambda_power, tau):
    """tau2 against a bounded search over Q with every lambda2 at its best for that tau2."""
    second, sigma2 = np.random.default_rng(1).gamma(0.3, 1.0, 25), 0.7

    def q(log_tau2):
        tau2 = np.exp(log_tau2)
        w = second / (2 * sigma2 * tau2)
        v = prior.mode(w, lambda_power)
        local = 0.5 * np.log(v) + w / v + prior.neg_log_density(v, lambda_power)
        return local.sum() + 0.5 * second.size * log_tau2 + tau.neg_log_density(tau2)

    scales = m_step(Hyper(prior, lambda_power, tau), second, sigma2)
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
    np.testing.assert_allclose(scales.lambda2, prior.mode(w, lambda_power), rtol=1e-13)


@pytest.mark.parametrize("last", [1e-30, 1e-6, 0.9, 0.995, 1.0, 1.002, 1.011, 1e3])
@pytest.mark.parametrize("prior", [Lasso(), Ridge()], ids=name)
def test_where_tau_was_last_does_not_matter(prior, last):
    hyper, second = Hyper(prior, 1.0, HalfCauchy()), np.random.default_rng(1).gamma(0.3, 0.01, 25)
    found = m_step(hyper, second, 0.7)
    assert HalfCauchy().bounds[0] < found.tau2 < HalfCauchy().bounds[1]
    again = m_step(hyper, second, 0.7, last=last * found.tau2)
    np.testing.assert_allclose(again.tau2, found.tau2, rtol=1e-13)
    np.testing.assert_allclose(again.lambda2, found.lambda2, rtol=1e-13)


@pytest.mark.parametrize("tau", GLOBAL_PRIORS, ids=name)
def test_slope_is_the_derivative_in_log_tau2(tau):
    for tau2 in (1e-3, 0.2, 1.0):
        up, down = (tau.neg_log_density(tau2 * np.exp(s)) for s in (1e-6, -1e-6))
        np.testing.assert_allclose(tau.slope(tau2), (up - down) / 2e-6, rtol=1e-6, atol=1e-8)


def test_horseshoe_tau_stands_at_its_bound_for_any_data():
    rng = np.random.default_rng(0)
    for scale in 10.0 ** np.arange(-8, 9, 2):
        second = scale * rng.gamma(0.1, 1.0, 50)
        assert m_step(Hyper(Horseshoe(), 2.0, resolve_global("estimate", 1.0)), second, 1.0).tau2 == 1.0


@pytest.mark.parametrize("tau_max", 10.0 ** np.arange(-40.0, 11.0, 5.0))
def test_tau_within_an_edge_of_its_range(tau_max):
    """exp(log x) is not quite x: the slope of Q may have another sign there than at the bound itself."""
    tau = HalfCauchy(tau_max)
    for bound in tau.bounds:
        for nudge in (0.5, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 2.0):
            second = np.full(9, 2.0 * 0.5 * nudge * bound)
            scales = m_step(Hyper(Ridge(), 2.0, tau), second, 1.0)
            assert tau.bounds[0] <= scales.tau2 <= tau.bounds[1]


def test_noise_variance():
    assert noise_variance(3.0, 6.0) == 0.5
    assert noise_variance(0.0, 6.0) > 0.0
    exact = exact_noise_variance(3.0, 4.0, np.array([2.0, 0.0]), np.array([1.0, 0.0]))
    assert exact == pytest.approx((3 + 2) / 6)
