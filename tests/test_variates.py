"""Variates against distributions whose CDF is known."""

import numpy as np
import pytest
from scipy import stats

from distributions import CHAINS, LEVEL, REACH, assert_follows
from horseshoe.variates import gamma_above, power_exponential_step, reciprocal_inverse_gaussian, slice_step


@pytest.mark.parametrize("a", [0.0, 1e-6, 0.3, 2.0, 50.0, 1e6])
def test_reciprocal_inverse_gaussian(a):
    v = reciprocal_inverse_gaussian(np.full(20_000, a), np.random.default_rng(31))
    if a < 1e-5:
        expected = stats.chi2(1).cdf
        found = stats.kstest(v, expected)
    elif a > 1e4:  # (v - a - 1) / sqrt(a) is normal
        found = stats.kstest((v - a) / np.sqrt(a), stats.norm.cdf)
    else:  # 1 / v is inverse Gaussian with mean 1 / a
        found = stats.kstest(1.0 / v, stats.invgauss(1.0 / a).cdf)
    assert found.pvalue > LEVEL


def test_reciprocal_inverse_gaussian_does_not_cancel():
    a = np.repeat([1e-140, 1e-30, 1e30, 1e140], 1000)
    v = reciprocal_inverse_gaussian(a, np.random.default_rng(0))
    assert np.isfinite(v).all()
    assert (v > 0.0).all()
    far = a > 1.0
    np.testing.assert_allclose(v[far], a[far], rtol=1e-10)


@pytest.mark.parametrize("w", [1e-8, 0.4, 25.0])
@pytest.mark.parametrize(("power", "rate"), [(1.5, 1.0), (0.5, 0.5), (0.0, 2.0), (-0.25, 0.5), (-2.0, 3.0)])
def test_power_exponential_step(power, rate, w):
    rng = np.random.default_rng(32)
    v = np.where(np.arange(CHAINS) % 2 == 0, 1e-2, 1e1)
    given = np.full(CHAINS, w)
    for _ in range(600):
        v = power_exponential_step(v, power, rate, given, rng)
    assert_follows(v, lambda t: power * t - rate * np.exp(t) - w * np.exp(-t), *REACH)


@pytest.mark.parametrize(
    ("shape", "rate", "low"),
    [
        (0.5, 2.0, 0.0),
        (3.0, 2.0, 0.1),
        (0.5, 1.0, 30.0),
        (3.0, 2.0, 100.0),  # a tail of e-200
        (3.0, 1.0, 560.0),  # just before the far tail
        (3.0, 1.0, 600.0),  # just in it
        (0.5, 40.0, 300.0),
        (250.5, 1.0, 400.0),
        (250.5, 1.0, 1500.0),
        (5000.5, 1.0, 8000.0),
        (5000.5, 2e-9, 5e12),
    ],
)
def test_gamma_above(shape, rate, low):
    draws = gamma_above(shape, np.full(20_000, rate), low, np.random.default_rng(33))
    assert draws.min() >= low
    if low == 0.0:
        assert stats.kstest(draws * rate, stats.gamma(shape).cdf).pvalue > LEVEL
        return
    # the density above low, as a function of the distance from it
    start = max(low, (shape - 1.0) / rate)
    curve = max(rate - (shape - 1.0) / max(low, start), 1e-9 * rate)
    width = 40.0 * min(1.0 / curve, np.sqrt(shape) / rate) if low < start else 40.0 / curve
    e = np.linspace(0.0, start - low + width, 200_001)
    height = (shape - 1.0) * np.log1p(e / low) - rate * e
    height = np.exp(height - height.max())
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]))])
    found = stats.kstest(draws - low, lambda d: np.interp(d, e, mass / mass[-1]))
    assert found.pvalue > LEVEL, found


def test_gamma_above_for_many_rates_at_once():
    """Rates on both sides of the far tail in one call."""
    rate = np.tile([0.1, 5.0, 2000.0], 6000)
    draws = gamma_above(2.0, rate, 1.0, np.random.default_rng(34)).reshape(-1, 3)
    for column, r in zip(draws.T, (0.1, 5.0, 2000.0), strict=True):
        # above 1 with shape 2: P(X > 1 + e) = (1 + r e / (1 + r)) exp(-r e)
        tail = (1.0 + r * (column - 1.0) / (1.0 + r)) * np.exp(-r * (column - 1.0))
        assert stats.kstest(tail, stats.uniform.cdf).pvalue > LEVEL


def _two_humps(t):
    return np.logaddexp(-0.5 * (t + 2.0) ** 2, -2.0 * (t - 1.0) ** 2)


@pytest.mark.parametrize(
    ("log_density", "cdf", "start", "width"),
    [
        (lambda t: -0.5 * t * t, stats.norm.cdf, 0.0, 3.0),
        (lambda t: -0.5 * t * t, stats.norm.cdf, 0.0, 30.0),
        (lambda t: -t if t >= 0.0 else -np.inf, stats.expon.cdf, 0.5, 3.0),
        (lambda t: 0.0 if 0.0 <= t <= 1.0 else -np.inf, stats.uniform.cdf, 0.5, 3.0),
        (
            _two_humps,
            lambda t: (2.0 * stats.norm.cdf(t, -2.0) + stats.norm.cdf(t, 1.0, 0.5)) / 3.0,
            0.0,
            5.0,
        ),
    ],
    ids=["normal", "normal-wide", "exponential", "uniform", "two-humps"],
)
def test_slice_step(log_density, cdf, start, width):
    rng, x, kept = np.random.default_rng(35), start, []
    for sweep in range(30_000):
        x = slice_step(log_density, x, width, rng)
        if sweep % 15 == 14:
            kept.append(x)
    assert stats.kstest(kept, cdf).pvalue > LEVEL
