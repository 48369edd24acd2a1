"""Draws of the coefficients given the scales, against the moments of plain inversion."""

import numpy as np
import pytest
from scipy import stats

import oracles
from distributions import LEVEL
from horseshoe.conditional.base import condition, kernel
from horseshoe.conditional.batch import Batch
from horseshoe.data.problem import plain
from loops import each

SCALES = {
    "ones": lambda rng, p: np.ones(p),
    "spread": lambda rng, p: np.exp(2.0 * rng.standard_normal(p)),
    "almost-zero": lambda rng, p: np.where(np.arange(p) % 2 == 0, 1e-150, 1.0),
    "large": lambda rng, p: np.where(np.arange(p) % 3 == 0, 1e100, 1e98),
    "both": lambda rng, p: 10.0 ** np.linspace(-150.0, 2.0, p),
}


@each("tau2", [1e-4, 0.3, 50.0])
@each("scales", SCALES)
@each(("n", "p"), [(9, 4), (5, 8)], ids=["primal", "dual"])
def test_conditional_moments(n, p, scales, tau2):
    rng = np.random.default_rng(2)
    X, z = rng.standard_normal((n, p)), 3.0 * rng.standard_normal(n)
    lambda2 = SCALES[scales](rng, p)
    if scales == "large":  # they come about where tau2 is small
        tau2 *= 1e-100
    factor = kernel(plain(X, z), lambda2).at(tau2)
    exact = oracles.conditional_moments_mp(X, z, tau2 * lambda2, 1.0)
    M = np.eye(n) + (X * (tau2 * lambda2)) @ X.T
    np.testing.assert_allclose(factor.mean, exact.mean, rtol=1e-8, atol=1e-160)
    np.testing.assert_allclose(factor.log_det, exact.log_det, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(factor.quadratic, z @ np.linalg.solve(M, z), rtol=1e-9)

    sigma, count = 0.7, 20_000
    draws = factor.draw(sigma, np.random.default_rng(1), count).T
    unit = sigma * np.sqrt(np.diagonal(exact.covariance))
    scaled = (draws - exact.mean) / unit
    correlation = sigma**2 * exact.covariance / np.outer(unit, unit)
    assert np.abs(scaled.mean(axis=0)).max() < 5.0 / np.sqrt(count)
    assert np.abs(scaled.T @ scaled / count - correlation).max() < 5.0 * np.sqrt(2.0 / count)


@pytest.mark.parametrize(("n", "p"), [(9, 4), (5, 8)], ids=["primal", "dual"])
def test_one_draw_at_a_time_is_no_different(n, p):
    rng = np.random.default_rng(6)
    X, z, lambda2 = rng.standard_normal((n, p)), rng.standard_normal(n), rng.exponential(size=p)
    system = plain(X, z)
    exact = oracles.conditional_moments(X, z, 0.5 * lambda2, 4.0)
    factor = kernel(system, lambda2).at(0.5)
    one = np.array([factor.draw(2.0, rng) for _ in range(4000)])
    many = condition(system, 0.5 * lambda2).draw(2.0, rng, 4000).T
    root = np.linalg.inv(np.linalg.cholesky(exact.covariance))
    for draws in (one, many):
        white = (draws - exact.mean) @ root.T
        assert stats.kstest((white**2).sum(axis=1), stats.chi2(p).cdf).pvalue > LEVEL


def test_more_wide_columns_than_rows_do_not_break_the_factor():
    """tau2 lambda2 of 1e100 in more columns than rows: what can be known is finite and fits the data."""
    rng = np.random.default_rng(0)
    X, z = rng.standard_normal((4, 7)), rng.standard_normal(4)
    factor = kernel(plain(X, z), np.full(7, 1e100)).at(1.0)
    np.testing.assert_allclose(X @ factor.mean, z, atol=1e-8)
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(X @ X.T)[1] + 400.0 * np.log(10.0))
    assert np.isfinite(factor.draw(1.0, rng)).all()


@pytest.mark.parametrize("close", [False, True], ids=["noisy", "almost exact"])
def test_the_batch_is_the_single_form_for_every_chain(close):
    """Mean, quadratic form and covariance of the batched sweep, against one conditional for each chain."""
    rng = np.random.default_rng(3)
    X, lambda2 = rng.standard_normal((12, 4)), rng.exponential(size=(3, 4))
    z = X @ np.ones(4) + (1e-9 if close else 1.0) * rng.standard_normal(12)
    whole, tau2 = plain(X, z), np.array([0.5, 1.0, 1e6 if close else 2.0])
    system, left_over = whole.compressed()
    root = np.sqrt(tau2[:, None] * lambda2)
    none = np.zeros((3, 4))
    given = [kernel(whole, row).at(float(t)) for row, t in zip(lambda2, tau2, strict=True)]
    batch = Batch(system, root, none, none)
    np.testing.assert_allclose(batch.draw(np.ones(3)), [one.mean for one in given], rtol=1e-9)
    expected = [one.quadratic for one in given]
    np.testing.assert_allclose(batch.quadratic(left_over, 0.0), expected, rtol=1e-6 if close else 1e-10)
    steps = [Batch(system, root, *noise).draw(np.ones(3)) - batch.draw(np.ones(3)) for noise in units(4)]
    for chain, one in enumerate(given):  # the draw is linear in the noise: its columns give the covariance
        half = np.array([step[chain] for step in steps])
        np.testing.assert_allclose(half.T @ half, one.covariance(1.0).factor.T @ one.covariance(1.0).factor)


def units(k):
    """Yield noise that is one in one place, for the rows and for the columns of a compressed problem."""
    for place in range(2 * k):
        noise = np.zeros((3, 2 * k))
        noise[:, place] = 1.0
        yield noise[:, :k], noise[:, k:]
