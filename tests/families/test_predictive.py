"""The predictive distribution: the family's where eta is known, a mixture where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats

from family_cases import FAMILIES, FamilyCase
from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.families import Binomial, NegativeBinomial, Poisson, StudentT, Tweedie
from loops import each

FLAT = {"prior": "ridge", "tau": 1e4, "zero_threshold": 0, "tol": 1e-10}
WITH_CDF = [case for case in FAMILIES if not isinstance(case.family, Binomial)]
TWO_CLASSES = [case for case in FAMILIES if isinstance(case.family, Binomial)]
with_cdf = pytest.mark.parametrize("case", WITH_CDF, ids=lambda case: case.name)
N_POINTS = 4001


def simulated(case: FamilyCase, n: int, seed: int = 0, level: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = np.array([0.0, 1.0, -1.0]) + rng.standard_normal((n, 3))
    return X, case.draw(level + X @ [0.5, -0.3, 0.2], rng)


def fitted_distribution(model: HorseshoeRegressor, case: FamilyCase, eta: Any) -> Any:
    """Return SciPy's distribution of y at the fitted parameters."""
    family = model.family_
    if isinstance(family, NegativeBinomial):
        return stats.nbinom(family.size_, family.size_ / (family.size_ + np.exp(eta)))
    if isinstance(family, StudentT):
        return stats.t(family.df_, eta, np.sqrt(model.sigma2_))
    return case.distribution(eta, model.sigma2_)


def predictor_moments(model: HorseshoeRegressor, X: Any, X_new: Any) -> tuple[Any, Any]:
    """Return mean and standard deviation of eta at new rows, from (D' W D)^-1 with D = [1, X].

    W is the information of a row about eta, in units of sigma2: the weights at the mode, or the expected one
    where it is the same for all.
    """
    D, D_new = (np.column_stack([np.ones(len(A)), A]) for A in (X, X_new))
    eta = model.linear_predictor(X)
    family, mu = model.family_, model.predict(X)
    if isinstance(family, Poisson):
        weights = mu
    elif isinstance(family, NegativeBinomial):
        weights = mu / (1.0 + mu / family.size_)
    elif isinstance(family, Tweedie):
        weights = mu ** (2.0 - family.power)
    elif isinstance(family, StudentT):
        weights = np.full_like(eta, (family.df_ + 1.0) / (family.df_ + 3.0))
    else:
        weights = np.full_like(eta, family.information() or 1.0)
    covariance = model.sigma2_ * np.linalg.inv(D.T @ (weights[:, None] * D))
    return model.linear_predictor(X_new), np.sqrt(np.einsum("ij,jk,ik->i", D_new, covariance, D_new))


def mixture(model: HorseshoeRegressor, case: FamilyCase, eta: float, spread: float) -> Any:
    """Return the family's distribution at equally probable values of eta."""
    share = (np.arange(N_POINTS) + 0.5) / N_POINTS
    return fitted_distribution(model, case, eta + spread * special.ndtri(share))


def assert_central(
    interval: Any,
    model: HorseshoeRegressor,
    case: FamilyCase,
    moments: tuple[Any, Any],
    level: float,
    close: float = 1e-3,
) -> None:
    """Check both ends by the probability below them, which is that of the mixture."""
    for (low, high), eta, spread in zip(interval, *moments, strict=True):
        distribution = mixture(model, case, float(eta), float(spread))
        for end, want in ((low, 0.5 - level / 2.0), (high, 0.5 + level / 2.0)):
            reached = float(np.mean(distribution.cdf(end)))
            if case.counts:  # the smallest count that reaches it
                assert end == np.floor(end), end
                assert reached >= want - close, (eta, spread, end, reached)
                assert float(np.mean(distribution.cdf(end - 1.0))) < want + close
            elif end == 0.0:  # of amounts that are zero more often than that
                assert reached >= want - close
            else:
                assert abs(reached - want) < close, (eta, spread, end, reached, want)


@with_cdf
@each("level", [0.5, 0.95])
def test_with_many_rows_the_interval_is_that_of_the_family(case: FamilyCase, level: float) -> None:
    X, y = simulated(case, 20_000)
    model = HorseshoeRegressor(family=case.family).fit(X, y)
    X_new = X[:40]
    distribution = fitted_distribution(model, case, model.linear_predictor(X_new))
    want = np.column_stack([distribution.ppf(0.5 - level / 2.0), distribution.ppf(0.5 + level / 2.0)])
    got = model.predict_interval(X_new, level=level, method="mode")
    if case.counts:  # a count on the edge of a step may go either way
        assert np.mean(got == want) > 0.9
        assert np.abs(got - want).max() <= 1.0
    else:
        width = np.ptp(want, axis=1).max()
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3 * width)
    mean, std = model.predict(X_new, return_std=True)
    if not isinstance(model.family_, StudentT) or model.family_.df_ > 2.0:
        np.testing.assert_allclose(std, distribution.std(), rtol=2e-3)
        level = getattr(case.family, "level", None)
        middle = distribution.mean() if level is None else distribution.ppf(level)
        np.testing.assert_allclose(mean, middle, rtol=1e-9, atol=1e-12)


@with_cdf
@each("level", [0.5, 0.9, 0.99])
def test_with_few_rows_the_interval_is_that_of_the_mixture(case: FamilyCase, level: float) -> None:
    X, y = simulated(case, 25, seed=3)
    model = HorseshoeRegressor(family=case.family, **FLAT).fit(X, y)
    X_new = simulated(case, 12, seed=4)[0]
    moments = predictor_moments(model, X, X_new)
    assert moments[1].max() > 0.1
    assert_central(model.predict_interval(X_new, level=level, method="mode"), model, case, moments, level)


@with_cdf
def test_far_from_the_data_the_interval_is_that_of_the_mixture(case: FamilyCase) -> None:
    """There eta is far less certain than y given eta."""
    X, y = simulated(case, 60, seed=5, level=3.0)
    model = HorseshoeRegressor(family=case.family, **FLAT).fit(X, y)
    X_new = np.array([[12.0, 1.0, -1.0], [0.0, -20.0, 8.0], [5.0, 5.0, 5.0]])
    if isinstance(case.family, Tweedie):  # elsewhere amounts are too many to add up
        X_new = X_new[2:]
    elif not case.counts:
        X_new = np.vstack([X_new, [[100.0, -50.0, 80.0]]])
    moments = predictor_moments(model, X, X_new)
    assert_central(model.predict_interval(X_new, method="mode"), model, case, moments, 0.95, close=0.005)


@with_cdf
def test_standard_deviation_by_monte_carlo(case: FamilyCase) -> None:
    X, y = simulated(case, 30, seed=6)
    model = HorseshoeRegressor(family=case.family, **FLAT).fit(X, y)
    X_new = simulated(case, 4, seed=7)[0]
    mean, std = model.predict(X_new, return_std=True)
    np.testing.assert_allclose(mean, model.family_.mean(model.linear_predictor(X_new)), rtol=1e-12)
    if isinstance(model.family_, StudentT) and model.family_.df_ <= 2.0:
        assert np.all(np.isinf(std))
        return
    rng = np.random.default_rng(8)
    for at, spread, got in zip(*predictor_moments(model, X, X_new), std, strict=True):
        eta = at + spread * rng.standard_normal(150_000)
        draws = fitted_distribution(model, case, eta).rvs(random_state=rng)
        if isinstance(model.family_, StudentT):  # its draws have no fourth moment to speak of
            want = np.sqrt(np.var(eta) + model.family_.variance(np.zeros(1), model.sigma2_)[0])
        else:
            want = draws.std()
        np.testing.assert_allclose(got, want, rtol=0.03)


@pytest.mark.parametrize(
    "case", [c for c in FAMILIES if isinstance(c.family, Binomial)], ids=lambda c: c.name
)
def test_interval_of_two_classes_is_that_of_the_probability(case: FamilyCase) -> None:
    X, y = simulated(case, 80, seed=9, level=0.0)
    model = HorseshoeRegressor(family=case.family, **FLAT).fit(X, y)
    D = sm.add_constant(X)
    mu, eta = model.predict(X), model.linear_predictor(X)
    weights = mu * (1.0 - mu)
    covariance = np.linalg.inv(D.T @ (weights[:, None] * D))
    half = stats.norm.ppf(0.95) * np.sqrt(np.einsum("ij,jk,ik->i", D, covariance, D))
    want = special.expit(np.column_stack([eta - half, eta + half]))
    np.testing.assert_allclose(model.predict_interval(X, level=0.9, method="mode"), want, rtol=1e-5)
    classifier = HorseshoeClassifier(augmentation=case.family.augmentation, **FLAT).fit(X, y)
    np.testing.assert_allclose(classifier.predict_interval(X, level=0.9, method="mode"), want, rtol=1e-5)


@with_cdf
def test_intervals_are_nested_and_cover(case: FamilyCase) -> None:
    X, y = simulated(case, 3000, seed=10)
    model = HorseshoeRegressor(family=case.family).fit(X, y)
    X_new, y_new = simulated(case, 600, seed=11)
    if isinstance(case.family, Tweedie):  # its sums take longer
        X_new, y_new = X_new[:200], y_new[:200]
    outer = model.predict_interval(X_new, level=0.9, method="mode")
    covered = np.mean((outer[:, 0] <= y_new) & (y_new <= outer[:, 1]))
    steps = case.counts or float(np.mean(y == 0.0)) > 0.05
    assert 0.86 < covered < (1.0 if steps else 0.94)
    inner = model.predict_interval(X_new[:100], level=0.5, method="mode")
    assert np.all(outer[:100, 0] <= inner[:, 0])
    assert np.all(inner[:, 0] <= inner[:, 1])
    assert np.all(inner[:, 1] <= outer[:100, 1])


@pytest.mark.parametrize("case", [case for case in WITH_CDF if case.counts], ids=lambda case: case.name)
def test_ends_of_intervals_of_counts_are_counts(case: FamilyCase) -> None:
    X, y = simulated(case, 40, seed=13)
    model = HorseshoeRegressor(family=case.family, **FLAT).fit(X, y)
    for level in (0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        ends = model.predict_interval(X, level=level, method="mode")
        np.testing.assert_array_equal(ends, np.floor(ends))
        assert ends.min() >= 0.0


def test_offset_moves_the_interval_of_counts() -> None:
    case = next(c for c in FAMILIES if c.name == "poisson")
    X, y = simulated(case, 5000, seed=12)
    model = HorseshoeRegressor(family="poisson").fit(X, y)
    offset = np.full(20, np.log(50.0))
    want = stats.poisson(50.0 * model.predict(X[:20])).ppf([[0.05], [0.95]]).T
    got = model.predict_interval(X[:20], level=0.9, offset=offset, method="mode")
    np.testing.assert_allclose(got, want, rtol=0.05)
    np.testing.assert_allclose(model.predict(X[:20], offset=offset), 50.0 * model.predict(X[:20]), rtol=1e-12)
