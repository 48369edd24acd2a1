"""Draws of the local and the global scales, against their densities."""

import numpy as np
import pytest
from scipy import stats

import oracles
from distributions import CHAINS, LEVEL, REACH, assert_follows
from horseshoe.priors import GammaScale, HalfCauchy, HorseshoeLike, InverseGammaGlobal, InvertedBeta
from loops import each
from registry import GLOBAL_PRIORS, LOCAL_PRIORS, name


@each("w", [1e-8, 0.3, 30.0])
@each(("prior", "oracle"), LOCAL_PRIORS, ids=name)
def test_local_draws_are_those_of_the_density(prior, oracle, w):
    """Many chains from both ends of the scale, long enough to forget where they began."""
    rng = np.random.default_rng(21)
    start = np.where(np.arange(CHAINS) % 2 == 0, 1e-4, 1e2)
    given, lambda2 = np.full(CHAINS, w), start
    if oracle is None:
        np.testing.assert_array_equal(prior.draw(given, lambda2, rng), 1.0)
        return
    for _ in range(250):
        lambda2 = prior.draw(given, lambda2, rng)
    neg_log = oracle(prior)

    def log_density(t):
        v = np.exp(t)
        return t - neg_log(v) - 0.5 * t - w / v

    assert_follows(lambda2, log_density, *REACH)


@pytest.mark.parametrize("prior", [p for p, oracle in LOCAL_PRIORS if oracle is not None], ids=name)
def test_one_local_draw_leaves_the_density_as_it_is(prior):
    """From the distribution itself a single step must lead to it again, whatever the mixing."""
    rng = np.random.default_rng(22)
    t = np.linspace(np.log(1e-12), np.log(1e12), 40_001)
    w = 0.02
    height = t - prior.neg_log_density(np.exp(t), 2.0) - 0.5 * t - w * np.exp(-t)
    mass = np.cumsum(np.exp(height - height.max()))
    start = np.exp(np.interp(rng.random(20_000), mass / mass[-1], t))
    moved = prior.draw(np.full(start.size, w), start, rng)

    def log_density(s):
        return np.interp(s, t, height)

    assert_follows(moved, log_density, 1e-12, 1e12)


@pytest.mark.parametrize("prior", [p for p, oracle in LOCAL_PRIORS if oracle is not None], ids=name)
def test_local_draws_given_coefficients_from_the_prior_are_from_the_prior(prior):
    """lambda2 from the prior, b given it, and one draw of lambda2 given b, for every size of W at once."""
    rng = np.random.default_rng(24)
    if isinstance(prior, InvertedBeta):
        exact = stats.betaprime(prior.a, prior.b)
    elif isinstance(prior, GammaScale):
        exact = stats.gamma(prior.shape, scale=1.0 / prior.rate)
    elif isinstance(prior, HorseshoeLike):
        exact = oracles.HorseshoeLikeScale()
    else:
        exact = stats.invgamma(prior.shape, scale=prior.scale)
    lambda2 = exact.rvs(200_000, random_state=rng)
    moved = prior.draw(0.5 * lambda2 * rng.standard_normal(lambda2.size) ** 2, lambda2, rng)
    assert stats.kstest(moved, exact.cdf).pvalue > LEVEL
    assert (moved != lambda2).all()


@pytest.mark.parametrize("n", [1, 4, 50])
@pytest.mark.parametrize("prior", [HalfCauchy(), HalfCauchy(0.3), HalfCauchy(np.inf, 0.2)], ids=name)
def test_global_draws_given_coefficients_from_the_prior_are_from_the_prior(prior, n):
    rng = np.random.default_rng(25)
    angle = np.arctan(prior.tau_max / prior.scale)
    tau2 = (prior.scale * np.tan(angle * rng.random(100_000))) ** 2
    moved = prior.draw(n, 0.5 * tau2 * rng.chisquare(n, tau2.size), tau2, rng)
    assert stats.kstest(np.arctan(np.sqrt(moved) / prior.scale) / angle, stats.uniform.cdf).pvalue > LEVEL


FREE_GLOBALS = [
    *(p for p in GLOBAL_PRIORS if p.bounds[0] < p.bounds[1]),
    HalfCauchy(np.inf, 0.1),
    HalfCauchy(2.0, 3.0),
    InverseGammaGlobal(0.5, 0.01, 5.0),
]


@each(("n", "s"), [(1, 1e-6), (3, 0.5), (40, 2.0), (5, 2000.0)])
@each("prior", FREE_GLOBALS, ids=name)
def test_global_draws_are_those_of_the_density(prior, n, s):
    rng = np.random.default_rng(23)
    pull = np.full(CHAINS, s)
    low, high = prior.bounds
    tau2 = np.clip(np.where(np.arange(CHAINS) % 2 == 0, 1e-3, 10.0), low, high)
    for _ in range(120):
        tau2 = prior.draw(n, pull, tau2, rng)
    assert tau2.max() <= high * (1.0 + 1e-12)

    def log_density(t):  # of log tau2; the prior as its own docstring has it
        tau2 = np.exp(t)
        if isinstance(prior, HalfCauchy):
            log_prior = -np.log1p(tau2 / prior.scale**2) + 0.5 * t
        else:
            log_prior = -prior.shape * t - prior.scale / tau2
        return log_prior - 0.5 * n * t - s / tau2

    if s > high:  # squeezed against the upper end
        assert_follows(tau2, log_density, high * np.exp(-60.0 * high / s), high)
    else:
        assert_follows(tau2, log_density, 1e-12, min(high, 1e16))


@pytest.mark.parametrize("prior", FREE_GLOBALS, ids=name)
def test_both_forms_of_the_global_density_agree(prior):
    """log_density is of log tau, neg_log_density of tau (half-Cauchy) or tau2 (inverse gamma)."""
    low, high = prior.bounds
    tau2 = np.geomspace(max(low, 1e-4), min(high, 1e4), 9)
    of_log = np.array([prior.log_density(0.5 * np.log(t)) for t in tau2])
    power = 0.5 if isinstance(prior, HalfCauchy) else 1.0
    plain = np.array([power * np.log(t) - prior.neg_log_density(t) for t in tau2])
    np.testing.assert_allclose(of_log - of_log[0], plain - plain[0], rtol=1e-10, atol=1e-12)
