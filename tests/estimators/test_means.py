"""Normal means: the regression on the identity."""

import numpy as np
import pytest

import oracles
from horseshoe import normal_means
from horseshoe._types import Status


@pytest.mark.parametrize("sigma2", ["estimate", 1.0])
def test_normal_means_is_the_regression_on_the_identity(sigma2):
    rng = np.random.default_rng(0)
    y = np.append(rng.standard_normal(40), [6.0, -7.0])
    fit = normal_means(y, sigma2=sigma2, tol=1e-10)
    rms = np.sqrt((y**2).mean())
    n = y.size  # plain_em wants ||x_j||^2 = n: scale the identity, which moves tau2 by the same factor
    known = None if sigma2 == "estimate" else sigma2 / rms**2
    oracle = oracles.plain_em(np.eye(n) * np.sqrt(n), y / rms, 1e-10, 10_000, sigma2=known, tau2=1 / n)
    np.testing.assert_allclose(fit.coef, oracle["coef"] * np.sqrt(n) * rms, rtol=1e-7, atol=1e-9)
    assert fit.support.sum() < n / 2
    assert fit.status.converged


def test_huge_means_do_not_push_moderate_ones_below_the_threshold():
    y = np.concatenate([np.full(100, 1000.0), np.full(5, 8.0), np.zeros(895)])
    y += np.random.default_rng(0).standard_normal(1000)
    assert normal_means(y, sigma2=1.0).support[:105].all()
    rms = np.sqrt((y**2).mean())
    cut = normal_means(y, sigma2=1.0, zero_threshold=20.0 / rms).support
    assert cut[:100].all()
    assert not cut[100:].any()


def test_normal_means_of_nothing():
    fit = normal_means(np.zeros(5))
    assert fit.status is Status.CONSTANT_RESPONSE
    assert not fit.support.any()


@pytest.mark.parametrize("unit", [1.0, 3.0, 1e100])
def test_the_covariance_is_in_the_units_of_y(unit):
    fit = normal_means(unit * np.array([0.3, -0.2, 8.0, 0.5, -9.0, 0.2]), sigma2=unit**2)
    found = fit.covariance.quadratic(np.eye(int(fit.support.sum())))
    np.testing.assert_allclose(found, fit.moments.variance[fit.support], rtol=1e-12)
