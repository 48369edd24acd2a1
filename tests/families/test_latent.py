"""What is latent in the families has the distribution that it must have."""

import numpy as np
import pytest
from scipy import stats

from distributions import LEVEL
from horseshoe.families import Binomial, Laplace, NegativeBinomial, Poisson
from horseshoe.families import StudentT as StudentNoise
from loops import each

pytest.importorskip("polyagamma")


# --- what is latent in the families ----------------------------------------------


def _transform(trials, tilt, t):
    """Return E[exp(-t w)] of a Polya-gamma w: (cosh(c/2) / cosh(sqrt(c^2/4 + t/2)))^b."""

    def log_cosh(v):
        return np.logaddexp(v, -v)

    return np.exp(trials * (log_cosh(0.5 * tilt) - log_cosh(np.sqrt(0.25 * tilt**2 + 0.5 * t))))


def _assert_polya_gamma(weights, trials, tilt):
    """Compare the mean, the variance and the Laplace transform with what they must be."""
    half = 0.5 * abs(tilt)
    mean = trials * (0.25 if tilt == 0.0 else np.tanh(half) / (4.0 * half))
    root = np.sqrt(weights.size)
    assert np.isfinite(weights).all()
    assert weights.std() > 0.0
    assert abs(weights.mean() - mean) < 5.0 * weights.std() / root
    for t in (0.5 / mean, 2.0 / mean):
        value = np.exp(-t * weights)
        assert abs(value.mean() - _transform(trials, tilt, t)) < 5.0 * value.std() / root
    if tilt != 0.0:
        ratio = (1.0 - 2.0 * half * 2.0 * np.exp(-2.0 * half) - np.exp(-4.0 * half)) / (
            1.0 + np.exp(-2.0 * half)
        ) ** 2  # (sinh c - c) / (2 cosh(c/2)^2), which does not overflow
        variance = trials * ratio / (2.0 * abs(tilt) ** 3)
        squared = (weights - mean) ** 2
        assert abs(squared.mean() - variance) < 5.0 * squared.std() / root


@each(
    ("trials", "eta"),
    [
        *((1.0, eta) for eta in (0.0, 3.0, -60.0, 150.0, 200.0, -2000.0)),
        *((7.0, eta) for eta in (2.0, 80.0)),
        *((20.0, eta) for eta in (5.0, -60.0)),
        *((49.0, eta) for eta in (1.0, 35.0)),
        *((60.0, eta) for eta in (1.0, -50.0, 1500.0)),
        (2.5, 0.5),
        (0.7, 0.5),
    ],
)
def test_weights_of_the_binomial_family_are_polya_gamma(trials, eta):
    """|eta| is in the hundreds where the classes are apart and the prior has a heavy tail."""
    rows = np.ones(200_000)
    rng = np.random.default_rng(41)
    working = Binomial().augment(rows, eta * rows, 1.0, trials * rows, rng)
    _assert_polya_gamma(working.weights, trials, eta)
    np.testing.assert_allclose(working.weights * working.targets, 0.5 * trials)


@pytest.mark.parametrize(
    ("y", "size", "eta"),
    [
        (0.0, 0.6, 0.0),
        (1.0, 0.5, 0.3),
        (2.0, 0.7, 0.0),
        (0.0, 3.4, 1.0),
        (10.0, 30.5, 2.0),
        (3.0, 1000.0, -40.0),
    ],
)
def test_weights_of_the_negative_binomial_family_are_polya_gamma(y, size, eta):
    rows = np.ones(200_000)
    rng = np.random.default_rng(42)
    working = NegativeBinomial(size=size).augment(y * rows, eta * rows, 1.0, rows, rng)
    _assert_polya_gamma(working.weights, y + size, eta - np.log(size))
    np.testing.assert_allclose(working.weights * (working.targets - np.log(size)), 0.5 * (y - size))


def test_noise_of_the_robust_families_is_a_mixture_of_normals():
    """Latent weights given residuals from the family make them normal: r sqrt(w) is standard normal."""
    rng = np.random.default_rng(43)
    zero, one = np.zeros(200_000), np.ones(200_000)
    for family in (StudentNoise(df=3.0), Laplace()):
        y = np.sqrt(2.0) * family.simulate(zero, 1.0, rng)
        weights = family.augment(y, zero, 2.0, one, rng).weights
        standard = y * np.sqrt(weights / 2.0)
        assert stats.kstest(standard, stats.norm.cdf).pvalue > LEVEL
        if isinstance(family, Laplace):
            assert stats.kstest(0.5 / weights, stats.expon.cdf).pvalue > LEVEL
        else:
            assert stats.kstest(3.0 * weights, stats.chi2(3).cdf).pvalue > LEVEL
        independent = stats.spearmanr(standard**2, weights).statistic
        assert abs(independent) < 5.0 / np.sqrt(y.size)


@pytest.mark.parametrize("family", [StudentNoise(df=3.0), Laplace()], ids=["student_t", "laplace"])
@pytest.mark.parametrize("residual", [0.0, 0.3, 5.0])
def test_precisions_of_rows_that_are_the_same_are_drawn_as_their_sum(family, residual):
    rng = np.random.default_rng(44)
    rows, zero = np.full((20_000, 4), residual), np.zeros((20_000, 4))
    each = family.augment(rows, zero, 2.0, np.ones_like(rows), rng).weights.sum(axis=1)
    whole = family.augment(rows[:, 0], zero[:, 0], 2.0, np.full(20_000, 4.0), rng).weights
    assert stats.ks_2samp(each, whole).pvalue > LEVEL


# --- variates --------------------------------------------------------------------


def test_poisson_is_simulated_with_its_mean_and_variance():
    """Also where the mean is too large for whole numbers of the generator."""
    rng = np.random.default_rng(36)
    for eta in (-1.0, 2.0, 40.0):
        y = Poisson().simulate(np.full(20_000, eta), 1.0, rng)
        mean = np.exp(eta)
        assert abs(y.mean() / mean - 1.0) < 5.0 / np.sqrt(mean * y.size) + 1e-15
        assert abs(y.var() / mean - 1.0) < 0.1
