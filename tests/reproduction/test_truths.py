"""The truths are what they are said to be, and a fit is scored by what it loses."""

import re

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.metrics import mean_poisson_deviance

from horseshoe_reproduction.adaptive_rows import draw_truth, truth_rows
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.scores import excess, log_loss
from horseshoe_reproduction.truths import CLASSES_AND_COUNTS, LOG_COUNT, SPREAD, TRUTHS, Design, observe

SIZES = r"([\d,]+) x ([\d,]+)"


def rng(seed=0):
    return np.random.default_rng(seed)


def sigma_of(design):
    """Return the covariance that is claimed, entry by entry."""
    group = np.arange(design.columns) // design.group
    return np.where(np.equal.outer(group, group), design.rho, 0.0) + (1.0 - design.rho) * np.eye(group.size)


@pytest.mark.parametrize("tuning", [False, True])
@pytest.mark.parametrize("name", TRUTHS)
def test_a_truth_has_the_sizes_that_are_written(name, tuning):
    population = TRUTHS[name](rng(), tuning)
    sizes = re.findall(SIZES, TRUTHS[name].__doc__.replace(",", ""))
    assert len(sizes) == 2
    assert (population.rows, population.design.columns) == tuple(map(int, sizes[tuning]))
    assert sizes[0] != sizes[1]
    assert population.coef.size == population.design.columns


@pytest.mark.parametrize("design", [Design(30), Design(30, group=5, rho=0.95)])
def test_the_columns_have_the_covariance_that_is_claimed(design):
    X = design.draw(40_000, rng())
    sigma = sigma_of(design)
    np.testing.assert_allclose(np.cov(X.T), sigma, atol=0.04)
    b = rng(1).standard_normal(30)
    np.testing.assert_allclose(design.variance(b), b @ sigma @ b)


def test_only_the_groups_are_correlated():
    designs = {name: truth(rng(), False).design for name, truth in TRUTHS.items()}
    assert designs.pop("groups") == Design(200, group=5, rho=0.95)
    assert all(design.rho == 0.0 for design in designs.values())


@pytest.mark.parametrize(
    ("name", "count"),
    [("dense", 200), ("one", 1), ("none", 0), ("groups", 20), ("wide", 8), ("widest", 8), ("half", 50)],
)
def test_a_truth_has_so_many_effects(name, count):
    assert np.count_nonzero(TRUTHS[name](rng(), False).coef) == count


@pytest.mark.parametrize("name", ["dense", "groups", "tall", "geometric"])
def test_the_error_is_what_fresh_rows_lose(name):
    problem, population = draw_truth(name, "gaussian", rng()), TRUTHS[name](rng(), False)
    guess = Fit(population.coef + 0.3 * rng(2).standard_normal(population.coef.size), 0.4)
    X = population.design.draw(20_000, rng(3))
    lost = np.mean((X @ (guess.coef - population.coef) + guess.intercept) ** 2)
    np.testing.assert_allclose(problem.score(guess)["Error"], lost, rtol=0.05)
    assert problem.score(Fit(population.coef))["Error"] == 0.0


@pytest.mark.parametrize("kind", SPREAD)
@pytest.mark.parametrize("name", CLASSES_AND_COUNTS)
def test_classes_and_counts_have_the_means_that_are_claimed(name, kind):
    population = TRUTHS[name](rng(), False)
    sample = observe(population._replace(rows=4000), kind, rng(5))
    spread = np.sqrt(population.design.variance(sample.coef))
    assert spread == pytest.approx(0.0 if name == "none" else SPREAD[kind])
    eta = sample.intercept + sample.X @ sample.coef
    if kind == "poisson":
        mean = np.exp(eta)
        assert sample.intercept == LOG_COUNT
    else:
        mean = student.cdf(eta, 2.0) if name == "heavy" else 1.0 / (1.0 + np.exp(-eta))
    for half in (eta <= np.median(eta), eta >= np.median(eta)):
        gap = (sample.y - mean)[half]
        assert abs(gap.mean()) < 4.0 * gap.std() / np.sqrt(gap.size)
    problem = draw_truth(name, kind, rng())
    assert set(np.unique(problem.y)) <= ({0.0, 1.0} if kind == "binomial" else set(map(float, range(10**6))))


def test_the_noise_is_t_with_two_degrees_of_freedom():
    sample = observe(TRUTHS["heavy"](rng(), False)._replace(rows=20_000), "gaussian", rng(1))
    noise = sample.y - sample.X @ sample.coef
    shares = [np.mean(np.abs(noise) > student.isf(tail / 2.0, 2.0)) for tail in (0.5, 0.1, 0.01)]
    np.testing.assert_allclose(shares, [0.5, 0.1, 0.01], atol=0.012)


def test_the_excess_is_the_expected_loss_beyond_that_of_the_truth():
    truth, found = np.array([0.2, 0.7, 0.5]), np.array([0.3, 0.9, 0.5])
    y = (rng().random((40_000, 3)) < truth).astype(float)
    lost = log_loss(y, np.tile(found, (len(y), 1))) - log_loss(y, np.tile(truth, (len(y), 1)))
    np.testing.assert_allclose(excess("binomial", truth, found), lost, atol=5e-3)
    mean, guess = np.array([0.5, 3.0, 8.0]), np.array([1.0, 2.0, 9.0])
    counts = rng(1).poisson(mean, (40_000, 3)).ravel()
    deviances = [mean_poisson_deviance(counts, np.tile(mu, 40_000)) for mu in (guess, mean)]
    np.testing.assert_allclose(excess("poisson", mean, guess), deviances[0] - deviances[1], atol=5e-3)


@pytest.mark.parametrize("kind", SPREAD)
def test_the_true_coefficients_lose_nothing(kind):
    problem = draw_truth("tall", kind, rng())
    population = TRUTHS["tall"](rng(), False)
    scale = SPREAD[kind] / np.sqrt(population.design.variance(population.coef))
    level = LOG_COUNT if kind == "poisson" else 0.0
    assert problem.score(Fit(scale * population.coef, level))["Error"] == pytest.approx(0.0, abs=1e-8)
    assert problem.score(Fit(np.zeros(50), level))["Error"] > 0.1


def test_tuning_has_other_sizes_everywhere():
    for name, row in truth_rows(tuning=True).items():
        if "widest" not in name:
            assert row.draw(rng()).design.shape != truth_rows()[name].draw(rng()).design.shape
