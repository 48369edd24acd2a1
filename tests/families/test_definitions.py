"""Each family against its definition: slopes, totals, distribution functions, and what it estimates."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

from family_cases import FAMILIES, FamilyCase, count_families, every_family, noise_families
from horseshoe import HorseshoeRegressor
from horseshoe.families import (
    Binomial,
    Family,
    Gaussian,
    Laplace,
    NegativeBinomial,
    Poisson,
    Quantile,
    StudentT,
    Tweedie,
)
from loops import each

ETA = np.array([-30.0, -17.3, -8.0, -3.1, -1.0, -1e-3, 0.0, 1e-9, 0.4, 1.0, 2.7, 7.7, 16.0, 30.0])
SIGMA2 = [1.0, 0.04, 250.0]


def variances(case: FamilyCase) -> list[float]:
    return SIGMA2 if case.family.has_dispersion else [1.0]


def responses(case: FamilyCase) -> Any:
    """Return values of y from all over its range, none where Laplace has its kink."""
    if isinstance(case.family, Binomial):
        return np.array([0.0, 1.0, 0.3])
    if case.counts:
        return np.array([0.0, 1.0, 2.0, 7.0, 300.0, 1e6])
    if case.amounts:
        zero = [0.0] if isinstance(case.family, Tweedie) and case.family.power < 2.0 else []
        return np.array([*zero, 1e-4, 0.02, 0.7, 3.0, 41.0, 1e4])
    return np.array([-1e4, -31.3, -2.2, -0.123, 0.077, 1.7, 29.0, 1e4])


def sharp(family: Family) -> Family:
    """Return what Laplace ends with: its weights start blurred, and are sharpened at each update."""
    y = np.array([-3.0, 0.5, 8.0])
    for _ in range(200 if isinstance(family, Laplace | Quantile) else 0):
        family = family.update(y, np.zeros(3), 1.0, np.ones(3))
    return family


# --- the density -----------------------------------------------------------------------------------------


@every_family
def test_the_slope_is_that_of_the_likelihood(case: FamilyCase) -> None:
    y, eta = (a.ravel() for a in np.meshgrid(responses(case), ETA))
    for sigma2 in variances(case):
        # the gap to y sets the scale on which a location family bends
        step = 1e-3 * np.minimum(1.0, np.abs(y - eta)) if case.family.is_location else 1e-3
        loss = [case.family.neg_log_likelihood(y, eta + k * step, sigma2) for k in (-2, -1, 1, 2)]
        slope = (loss[0] - 8.0 * loss[1] + 8.0 * loss[2] - loss[3]) / (12.0 * step)
        rounding = 1e-15 * (np.abs(loss[1]) + np.abs(y * eta)) / step
        weights, targets = sharp(case.family).working(y, eta, sigma2)
        assert np.all(np.isfinite(weights))
        assert np.all(weights > 0.0)
        assert np.all(np.isfinite(targets))
        got = weights * (targets - eta) / sigma2
        assert np.all(np.abs(got + slope) <= 1e-8 * np.abs(slope) + 10.0 * rounding + 1e-12)


@every_family
def test_density_is_that_of_scipy_with_every_constant(case: FamilyCase) -> None:
    y = responses(case)
    y = y[np.abs(y) < 500.0]  # SciPy's Laplace underflows beyond
    if isinstance(case.family, Binomial):
        y = y[:2]  # SciPy has no proportions
    y, eta = (a.ravel() for a in np.meshgrid(y, ETA[np.abs(ETA) < 10.0]))
    for sigma2 in variances(case):
        want = -case.log_density(y, eta, sigma2)
        got = case.family.neg_log_likelihood(y, eta, sigma2)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@every_family
@each("eta", [-30.0, -4.0, 0.0, 1.3, 3.5])
def test_density_adds_up_to_one(case: FamilyCase, eta: float) -> None:
    family = case.family

    def density(y: Any, sigma2: float) -> Any:
        y = np.atleast_1d(np.asarray(y, dtype=float))
        return np.exp(-family.neg_log_likelihood(y, np.full(y.shape, eta), sigma2))

    if isinstance(family, Binomial):
        total = density([0.0, 1.0], 1.0).sum()
    elif case.counts:
        total = density(np.arange(20_000.0), 1.0).sum()
    elif case.amounts:
        if eta == -30.0:  # all is at zero, or so close to it that no integral sees it
            return
        for sigma2 in SIGMA2[:2]:
            zero = float(density([0.0], sigma2)[0]) if isinstance(family, Tweedie) else 0.0
            center = 0.5 * eta + 0.25  # between the mean and where most of the mass of small amounts is
            total = zero + integrate.quad(
                lambda t, s2=sigma2: density([np.exp(t)], s2)[0] * np.exp(t),
                center - 60.0, center + 60.0, points=[eta - 2.0, eta, eta + 2.0], limit=200
            )[0]  # fmt: skip
            np.testing.assert_allclose(total, 1.0, rtol=1e-7)
        return
    else:
        for sigma2 in SIGMA2:
            root = np.sqrt(sigma2)
            half = [
                integrate.quad(lambda t, s=side: density(eta + s * root * t, sigma2)[0] * root, 0, np.inf)[0]  # noqa: B023
                for side in (-1.0, 1.0)
            ]
            below = getattr(family, "level", 0.5)
            np.testing.assert_allclose(half, [below, 1.0 - below], rtol=1e-7)
        return
    np.testing.assert_allclose(total, 1.0, rtol=1e-9)


@count_families
@each("eta", [-30.0, -4.0, 0.0, 1.3, 4.0])
def test_distribution_function_of_counts_adds_up_the_density(case: FamilyCase, eta: float) -> None:
    y = np.arange(400.0)
    at = np.full(y.shape, eta)
    want = np.cumsum(np.exp(-case.family.neg_log_likelihood(y, at, 1.0)))
    np.testing.assert_allclose(case.family.cdf(y, at, 1.0), want, rtol=1e-10)
    np.testing.assert_allclose(case.family.cdf(y + 0.7, at, 1.0), want, rtol=1e-10)  # steps only at counts
    below = np.array([-1.0, -0.5, -1e9])
    assert np.array_equal(case.family.cdf(below, at[:3], 1.0), np.zeros(3))


@noise_families
@each("sigma2", SIGMA2)
def test_distribution_function_is_the_integral_of_the_density(case: FamilyCase, sigma2: float) -> None:
    family, eta = case.family, np.array([0.7])
    ends = 0.7 + np.sqrt(sigma2) * np.array([-40.0, -3.0, -0.5, 0.0, 0.2, 2.0, 15.0])
    got = np.diff([family.cdf(np.array([y]), eta, sigma2)[0] for y in ends])

    def density(y: float) -> float:
        return float(np.exp(-family.neg_log_likelihood(np.array([y]), eta, sigma2))[0])

    want = [integrate.quad(density, low, high, epsabs=1e-13)[0] for low, high in pairwise(ends)]
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(family.cdf(eta, eta, sigma2), getattr(family, "level", 0.5), rtol=1e-14)


@every_family
def test_mean_and_variance_are_those_of_scipy(case: FamilyCase) -> None:
    eta = np.linspace(-6.0, 6.0, 9)
    for sigma2 in variances(case):
        distribution = case.distribution(eta, sigma2)
        if not isinstance(case.family, StudentT) or case.family.df_ > 1.0:  # Cauchy has no mean
            level = getattr(case.family, "level", None)  # of which the quantile is predicted, not the mean
            middle = distribution.mean() if level is None else distribution.ppf(level)
            np.testing.assert_allclose(case.family.mean(eta), middle, rtol=1e-12, atol=1e-12)
        got, want = case.family.variance(eta, sigma2), distribution.var()
        np.testing.assert_allclose(got, np.where(np.isnan(want), np.inf, want), rtol=1e-9)


@every_family
def test_link_undoes_the_mean(case: FamilyCase) -> None:
    eta = np.linspace(-9.0, 9.0, 13)
    np.testing.assert_allclose(case.family.link(case.family.mean(eta)), eta, rtol=1e-10, atol=1e-12)
    edge = np.array([0.0, 1.0]) if isinstance(case.family, Binomial) else np.array([0.0, 1e12])
    with np.errstate(divide="ignore"):
        assert np.all(np.isfinite(case.family.link(edge)))


@every_family
def test_start_is_finite_and_near_y(case: FamilyCase) -> None:
    y = responses(case)
    start = case.family.start(y)
    assert np.all(np.isfinite(start))
    order = np.argsort(y)
    assert np.all(np.diff(start[order]) > 0.0)


# --- the weights -----------------------------------------------------------------------------------------


def exact_polya_gamma(eta: float) -> float:
    """(1 - e) / (1 + e) / (2 eta) with e = exp(-eta), in decimal arithmetic of 120 digits."""
    with localcontext() as context:
        context.prec, context.Emin = 120, -(10**6)
        x = abs(Decimal(eta))
        e = (-x).exp()
        return float((1 - e) / (1 + e) / (2 * x))


def polya_gamma_weight(eta: Any) -> Any:
    return Binomial().working(np.ones_like(eta), eta, 1.0).weights


def test_polya_gamma_weight_at_zero_is_a_quarter() -> None:
    assert np.array_equal(polya_gamma_weight(np.array([0.0, -0.0])), [0.25, 0.25])
    weights, targets = Binomial().working(np.array([0.0, 1.0]), np.zeros(2), 1.0)
    assert np.array_equal(weights, [0.25, 0.25])
    assert np.array_equal(targets, [-2.0, 2.0])


def test_polya_gamma_weight_to_the_last_digits() -> None:
    size = np.concatenate([np.geomspace(1e-90, 1e3, 300), [9.999e-5, 1e-4, 1.0001e-4, 700.0, 745.0, 1000.0]])
    for eta in (size, -size):
        got = polya_gamma_weight(eta)
        assert np.all(np.isfinite(got))
        assert np.all(got > 0.0)
        np.testing.assert_allclose(got, [exact_polya_gamma(float(e)) for e in eta], rtol=1e-15)


def test_polya_gamma_weight_is_above_that_of_newton() -> None:
    eta = np.linspace(-40.0, 40.0, 401)
    y = np.zeros_like(eta)
    mixture = Binomial().working(y, eta, 1.0).weights
    newton = Binomial(augmentation="irls").working(y, eta, 1.0).weights
    assert np.all(mixture >= newton * (1.0 - 1e-12))


@each("case", [case for case in FAMILIES if case.family.never_overshoots], ids=lambda case: case.name)
@each("penalty", [0.0, 0.3])
def test_a_step_to_the_targets_never_overshoots(case: FamilyCase, penalty: float) -> None:
    rng, family = np.random.default_rng(11), sharp(case.family)
    for trial in range(150):
        n, k = int(rng.integers(3, 30)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, k)) * 10.0 ** rng.uniform(-2, 2)
        sigma2 = float(10.0 ** rng.uniform(-2, 2)) if case.family.has_dispersion else 1.0
        y = case.draw(np.clip(3.0 * rng.standard_normal(n), -8, 8), rng, sigma2)
        b = rng.standard_normal(k) * 10.0 ** rng.uniform(-1, 2)

        def objective(b: Any, X: Any = X, y: Any = y, sigma2: float = sigma2) -> float:
            loss = family.neg_log_likelihood(y, X @ b, sigma2).sum()
            return float(loss + 0.5 * penalty * b @ b / sigma2)

        weights, targets = family.working(y, X @ b, sigma2)
        root = np.sqrt(weights)
        rows = np.vstack([root[:, None] * X, np.sqrt(penalty) * np.eye(k)])
        after = np.linalg.lstsq(rows, np.append(root * targets, np.zeros(k)), rcond=None)[0]
        before = objective(b)
        assert objective(after) <= before + 1e-9 * (1.0 + abs(before)), (trial, before, objective(after))


# --- what a family estimates beside the coefficients -----------------------------------------------------


def assert_best(loss: Callable[[Any], Any], got: float, low: float, high: float) -> None:
    """Compare with a grid that is made finer around its best point until nothing is gained."""
    ends, best = (low, high), np.inf
    for _ in range(4):
        grid = np.geomspace(*ends, 60)
        values = loss(grid)
        at = int(np.argmin(values))
        ends, best = (grid[max(at - 1, 0)], grid[min(at + 1, 59)]), min(best, float(values[at]))
    assert low <= got <= high
    assert float(loss(np.array([got]))[0]) <= best + 1e-10 * (1.0 + abs(best))


def size_loss(size: Any, y: Any, eta: Any, weights: Any) -> Any:
    """Return minus the log-likelihood at each size; SciPy's loses digits where size is large.

    Gamma(y + size) / Gamma(size) = size^y prod_{k < y} (1 + k/size).
    """
    size, factorial = np.asarray(size)[:, None], special.gammaln(y + 1.0)
    products = np.cumsum(np.log1p(np.arange(y.max()) / size), axis=1)
    rising = np.hstack([np.zeros_like(size), products])[:, y.astype(int)]
    return (factorial - rising - y * eta + (size + y) * np.log1p(np.exp(eta) / size)) @ weights


def df_loss(df: Any, y: Any, eta: Any, weights: Any, sigma2: float) -> Any:
    """Return minus the log-likelihood at each number of degrees of freedom."""
    return -stats.t.logpdf(y, np.asarray(df)[:, None], eta, np.sqrt(sigma2)) @ weights


@each("size", [0.05, 0.8, 4.0, 60.0])
@each("seed", range(4))
def test_size_maximises_the_likelihood(size: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    eta = rng.normal(1.5, 1.0, 150)
    y = rng.negative_binomial(size, size / (size + np.exp(eta))).astype(float)
    weights = rng.integers(1, 4, eta.size).astype(float)
    near = np.array([[0.5], [3.0], [20.0]])
    check = -stats.nbinom.logpmf(y, near, near / (near + np.exp(eta))) @ weights
    np.testing.assert_allclose(size_loss(near[:, 0], y, eta, weights), check, rtol=1e-10)
    got = NegativeBinomial().update(y, eta, 1.0, weights).size_
    largest = 1e6 * np.exp(eta.max())
    assert_best(lambda s: size_loss(s, y, eta, weights), got, 1e-3, largest)


def df_range() -> tuple[float, float]:
    """Return the fewest and the most degrees of freedom that can be estimated."""
    zero, one = np.zeros(50), np.ones(50)
    far, near = np.linspace(1e6, 1e8, 50), np.full(50, 0.7)
    return (
        StudentT().update(far, zero, 1.0, one).df_,
        StudentT().update(near, zero, 1.0, one).df_,
    )


@each("df", [0.8, 2.0, 5.0, 40.0])
@each("sigma2", [0.3, 1.0, 2.5])
@each("seed", range(3))
def test_degrees_of_freedom_maximise_the_likelihood(df: float, sigma2: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    eta = rng.normal(0.0, 2.0, 120)
    y = eta + rng.standard_t(df, eta.size)
    weights = rng.integers(1, 4, eta.size).astype(float)
    got = StudentT().update(y, eta, sigma2, weights).df_
    low, high = df_range()
    assert 0.0 < low < 4.0 < 100.0 < high
    assert_best(lambda v: df_loss(v, y, eta, weights, sigma2), got, low, high)


def test_what_is_fixed_stays_fixed() -> None:
    y, eta, ones = np.array([0.0, 5.0, 9.0]), np.zeros(3), np.ones(3)
    for family in (NegativeBinomial(size=2.5), StudentT(df=2.5), Poisson(), Binomial(), Gaussian()):
        assert family.update(y, eta, 1.0, ones) is family


@pytest.mark.parametrize(
    ("family", "y"),
    [
        (Binomial(), [0.0, 1.5]),
        (Binomial(), [-0.1, 1.0]),
        (Poisson(), [3.0, -1.0]),
        (Poisson(), [3.0, 2.0, 0.5]),
        (NegativeBinomial(), [3.0, -1.0]),
    ],
    ids=repr,
)
def test_what_a_family_cannot_produce_is_refused_with_its_row(family: Family, y: list[float]) -> None:
    row = next(i for i, value in enumerate(y) if value < 0 or value != np.floor(value))
    with pytest.raises(ValueError, match=f"row {row}"):
        family.check(np.array(y))
    X = np.arange(2.0 * len(y)).reshape(-1, 2) ** 2
    with pytest.raises(ValueError, match=f"row {row}"):
        HorseshoeRegressor(family=family).fit(X, y)


@pytest.mark.parametrize("size", [1e3, 1e5, 1e6])
def test_a_large_size_is_poisson(size: float) -> None:
    y, eta = np.array([0.0, 1.0, 5.0, 20.0]), np.array([0.0, -1.0, 1.0, 3.0])
    got = NegativeBinomial(size=size).neg_log_likelihood(y, eta, 1.0)
    want = Poisson().neg_log_likelihood(y, eta, 1.0)
    np.testing.assert_allclose(got, want, rtol=0, atol=300.0 / size)
