"""Statistics of the fits: the effects are found, noise is not, outliers cost little."""

import numpy as np
import pytest
from scipy.stats import norm

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from simulate import glm


def model_of(name, **options):
    if name in ("polya_gamma", "irls"):
        return HorseshoeClassifier(augmentation=name, **options)
    return HorseshoeRegressor(family=name, **options)


# With tau at 1 a null column is kept when its |z| exceeds 2.41: 1.5 of 95. A smaller tau asks for more.
SMALL_TAU = {
    "gaussian": 0.05,
    "polya_gamma": 0.3,
    "irls": 0.3,
    "poisson": 0.05,
    "negative_binomial": 0.05,
    "student_t": 0.05,
    "laplace": 0.05,
}


def recovery(name, n_sets, **options):
    draw = "binomial" if name in ("polya_gamma", "irls") else name
    found, false = [], []
    for seed in range(n_sets):
        X, y, where = glm(draw, 300, 100, seed=seed)
        support = model_of(name, **options).fit(X, y).support_
        found.append(support[where].sum())
        false.append(support.sum() - found[-1])
    return np.mean(found), np.mean(false)


@pytest.mark.parametrize("n_sets", [20, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SMALL_TAU)
def test_support_recovery(name, n_sets):
    found, false = recovery(name, n_sets, tau=SMALL_TAU[name])
    assert found >= 4.5
    assert false <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_TAU)
def test_support_recovery_with_tau_at_its_bound(name):
    found, false = recovery(name, 50)
    expected = 95 * 2 * norm.sf(np.sqrt(3 + 2 * np.sqrt(2)))
    assert found >= 4.9
    assert false <= expected + (1.0 if name == "negative_binomial" else 3 * np.sqrt(expected / 50))


@pytest.mark.parametrize("n_sets", [25, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [50.0, 1000.0])
def test_outliers_cost_student_t_little_and_break_the_gaussian(size, n_sets):
    errors = {"clean": [], "student_t": [], "gaussian": []}
    for seed in range(n_sets):
        X, y, where = glm("gaussian", 300, 50, seed=seed)
        beta = np.zeros(50)
        beta[where] = [1, -1, 1, -1, 1]
        rng = np.random.default_rng(seed + 1000)
        bad = rng.permutation(300)[:60]
        spoilt = y.copy()
        spoilt[bad] += size * rng.standard_normal(60)
        for name, response in [("clean", y), ("student_t", spoilt), ("gaussian", spoilt)]:
            model = HorseshoeRegressor(family="gaussian" if name == "clean" else name).fit(X, response)
            errors[name].append(((model.coef_ - beta) ** 2).sum())
    clean, robust, broken = (np.mean(errors[name]) for name in ("clean", "student_t", "gaussian"))
    assert clean / robust > 0.7
    assert clean / broken < 0.05
