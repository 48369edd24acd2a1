"""Several responses that share their local scales: against the definition, one response, and closed forms."""

from itertools import pairwise

import numpy as np
import pytest

import oracles
from horseshoe._types import Status
from horseshoe.data.problem import plain
from horseshoe.em.likelihood import GaussianLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import Options
from horseshoe.priors import FixedScale, HalfCauchy, Horseshoe, Ridge
from registry import LAMBDA_POWERS, LOCAL_PRIORS, name

TIGHT = Options(tol=1e-14)
SHAPES = [(60, 12), (30, 70)]


def data(n, p, q, seed=0, signals=4):
    rng = np.random.default_rng([n, p, q, seed])
    x = rng.standard_normal((n, p))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    coef = np.zeros((p, q))
    coef[:signals] = rng.choice([-1.0, 1.0], (signals, q)) * rng.uniform(0.5, 2.0, (signals, q))
    z = x @ coef + rng.standard_normal((n, q))
    return x, (z - z.mean(axis=0)) / z.std(axis=0)


def hyper(q, prior=None, lambda_power=2.0, tau=None):
    return Hyper(prior or Horseshoe(), lambda_power, tau or HalfCauchy(), size=float(q))


def found(x, z, options=TIGHT, **prior):
    return solve(GaussianLikelihood(plain(x, z[:, 0]), targets=z), hyper(z.shape[1], **prior), options)


def coefs(results):
    return np.array([one.coef for one in results])


@pytest.mark.parametrize("size", [2.0, 3.0, 7.0])
@pytest.mark.parametrize("lambda_power", LAMBDA_POWERS)
@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS[:-1], ids=name)
def test_a_shared_scale_is_the_mode_of_its_definition(prior, oracle, lambda_power, size):
    """Of (size/2) log v + W/v - log density: no v near the closed form is better."""
    density = oracle(prior)
    for w in (1e-3, 0.3, 4.0, 200.0):
        v = float(Hyper(prior, lambda_power, HalfCauchy(), size=size).mode(np.array([w]))[0])
        step = 1e-15

        def slope(t, w=w, step=step):
            at = np.exp(t) * (1 + 1j * step)
            return oracles.shared_objective(at, w, size, lambda_power, density).imag / step

        assert abs(slope(np.log(v))) < 1e-7 * (1.0 + w / v)
        assert slope(np.log(v) - 0.1) < 0.0 < slope(np.log(v) + 0.1)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_one_response_is_the_single_fit(n, p):
    x, z = data(n, p, 1)
    (alone,) = solve(GaussianLikelihood(plain(x, z[:, 0])), hyper(1), TIGHT)
    (one,) = found(x, z)
    np.testing.assert_allclose(one.coef, alone.coef, atol=1e-12)
    np.testing.assert_allclose(one.scales.sigma2, alone.scales.sigma2, rtol=1e-12)
    assert one.status is alone.status is Status.CONVERGED
    assert one.support.sum() >= 3


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("lambda_power", [2.0, 1.5])
def test_the_fit_is_that_of_the_definition(n, p, lambda_power):
    x, z = data(n, p, 3)
    mean, _, sigma2 = oracles.several_em(x, z, lambda_power, 400 if p > n else 2000)
    results = found(x, z, lambda_power=lambda_power)
    got = coefs(results).T
    np.testing.assert_allclose(got[got.any(axis=1)], mean[got.any(axis=1)], atol=1e-8)
    assert np.abs(mean[~got.any(axis=1)]).max(initial=0.0) < 0.2 / np.sqrt(n)
    np.testing.assert_allclose([one.scales.sigma2 for one in results], sigma2, rtol=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_leaving_columns_out_ends_in_the_mode_of_plain_em(seed):
    x, z = data(*(SHAPES[seed % 2]), 2 + seed % 3, seed)
    fast, slow = found(x, z), found(x, z, TIGHT._replace(fast=False))
    np.testing.assert_allclose(coefs(fast), coefs(slow), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_leaving_columns_out_ends_in_the_mode_of_plain_em_on_many_data_sets(seed):
    rng = np.random.default_rng(seed)
    n, p, q = int(rng.integers(20, 120)), int(rng.integers(5, 200)), int(rng.integers(2, 6))
    x, z = data(n, p, q, seed, signals=int(rng.integers(0, 5)))
    options = Options(tol=1e-10)
    np.testing.assert_allclose(
        coefs(found(x, z, options)), coefs(found(x, z, options._replace(fast=False))), atol=1e-6
    )


def test_equal_responses_have_equal_coefficients_and_the_order_of_responses_means_nothing():
    x, z = data(60, 12, 3)
    same = coefs(found(x, z[:, [0, 0]]))
    np.testing.assert_array_equal(same[0], same[1])
    order = [2, 0, 1]
    np.testing.assert_allclose(coefs(found(x, z))[order], coefs(found(x, z[:, order])), atol=1e-13)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_ridge_is_its_closed_form(n, p):
    x, z = data(n, p, 3)
    results = found(x, z, prior=Ridge(), tau=FixedScale(0.3))
    want = np.linalg.solve(x.T @ x + np.eye(p) / 0.3, x.T @ z).T
    np.testing.assert_allclose(coefs(results), want, atol=1e-12)
    inverse = np.diag(np.linalg.inv(x.T @ x + np.eye(p) / 0.3))
    for one in results:
        np.testing.assert_allclose(one.moments.variance, one.scales.sigma2 * inverse, rtol=1e-9)
        np.testing.assert_allclose(one.covariance.variance, one.moments.variance, rtol=1e-9)


def test_the_objective_falls_where_the_noise_is_known():
    x, z = data(60, 12, 3)
    results = found(x, z, Options(fast=False, tol=1e-8, sigma2=np.array([0.3, 0.4, 0.5])))
    values = [line.objective for line in results[0].trace]
    assert all(after <= before + 1e-9 * abs(before) for before, after in pairwise(values))


def test_tau_is_estimated_where_the_prior_lets_it_be():
    """At the estimate the derivative of Q in log tau2 is zero, all q coefficients of a column counted."""
    x, z = data(60, 6, 3)
    results = found(x, z, prior=Ridge(), tau=HalfCauchy(1e3))
    tau2, sigma2 = results[0].scales.tau2, np.array([one.scales.sigma2 for one in results])
    second = np.array([one.moments.mean**2 + one.moments.variance for one in results])
    w = (second / (2.0 * sigma2[:, None] * tau2)).sum()
    assert not results[0].tau_at_bound
    assert 0.5 * second.size - w + tau2 / (1.0 + tau2) == pytest.approx(0.0, abs=1e-6)


def test_a_column_is_in_for_all_or_for_none_and_noise_is_told_from_it():
    x, z = data(200, 20, 3, signals=2)
    support = np.array([one.support for one in found(x, z, Options())])
    assert (support == support[0]).all()
    assert support[0, :2].all()
    none = found(x, np.random.default_rng(3).standard_normal((200, 3)), Options(), tau=FixedScale(1e-6))
    assert none[0].status is Status.NOTHING_SELECTED


def test_a_callback_stops_and_is_told_of_all():
    x, z = data(60, 12, 3)
    seen = []
    results = found(x, z, Options(callback=lambda line: seen.append(line) or len(seen) < 3))
    assert results[0].status is Status.STOPPED
    assert len(seen) == results[0].n_iter == 3
    assert seen[-1].sigma2 == pytest.approx(np.mean([one.trace[-1].sigma2 for one in results]))
