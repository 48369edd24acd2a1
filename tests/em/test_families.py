"""Every family through the one loop: the mode of plain EM, and steps that are halved."""

import numpy as np
import pytest

from horseshoe import HorseshoeRegressor, Status
from horseshoe.data.dense import Dense
from horseshoe.data.standardise import standardise
from horseshoe.em.likelihood import WorkingLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.state import Options
from horseshoe.families import (
    Binomial,
    Family,
    Laplace,
    NegativeBinomial,
    Poisson,
    StudentT,
    Working,
)
from simulate import glm
from systems import PLAIN, hyper

FAMILIES = {
    "polya_gamma": ("binomial", Binomial()),
    "irls": ("binomial", Binomial("irls")),
    "poisson": ("poisson", Poisson()),
    "negative_binomial": ("negative_binomial", NegativeBinomial()),
    "student_t": ("student_t", StudentT()),
    "laplace": ("laplace", Laplace()),
}
SHAPES = {"long": (200, 60), "wide": (80, 160)}


def fit(family, X, y, **options):
    options = Options(sigma2="estimate" if family.has_dispersion else 1.0, **options)
    design = standardise(Dense(X), None, center=True, scale=True)
    scale = family.scale(y, np.ones_like(y))
    moving = WorkingLikelihood(
        design, y / scale, np.zeros_like(y), family, center=True, accelerated=options.fast
    )
    return solve(moving, hyper(), options)[0]


@pytest.mark.parametrize("n_sets", [3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_mode_is_that_of_plain_em(name, shape, n_sets):
    draw, family = FAMILIES[name]
    same = 0
    for seed in range(300, 300 + n_sets):
        X, y, _ = glm(draw, *SHAPES[shape], seed=seed, size=1.2, rho=0.5)
        ours = fit(family, X, y, tol=1e-9)
        plain = fit(family, X, y, tol=1e-9, **PLAIN)
        assert ours.status.converged
        assert plain.status.converged
        same += np.allclose(ours.coef, plain.coef, rtol=0, atol=2e-4)
    assert same >= 0.9 * n_sets


@pytest.mark.parametrize("name", ["polya_gamma", "irls", "poisson", "negative_binomial"])
@pytest.mark.parametrize("n", [6_000, 20_000])
def test_tall_data_end_in_the_mode_of_plain_em(name, n):
    """Also where the rows are too few to start from a part of them."""
    draw, family = FAMILIES[name]
    for seed in range(3):
        X, y, _ = glm(draw, n, 30, seed=seed, size=0.3)
        ours, plain = fit(family, X, y), fit(family, X, y, tol=1e-9, **PLAIN)
        np.testing.assert_allclose(ours.coef, plain.coef, rtol=0, atol=1e-5)
        np.testing.assert_allclose(ours.intercept, plain.intercept, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["polya_gamma", "irls", "poisson", "negative_binomial"])
@pytest.mark.parametrize("n_sets", [1, pytest.param(15, marks=pytest.mark.slow)])
def test_the_mode_is_that_of_plain_em_where_columns_rest(name, n_sets):
    draw, family = FAMILIES[name]
    same = 0
    for seed in range(700, 700 + n_sets):
        X, y, _ = glm(draw, 120, 1500, seed=seed, size=1.2, rho=0.5)
        ours, plain = fit(family, X, y), fit(family, X, y, tol=1e-8, **PLAIN)
        same += np.allclose(ours.coef, plain.coef, rtol=0, atol=2e-4)
    assert same >= 0.9 * n_sets


@pytest.mark.parametrize("name", ["polya_gamma", "irls", "poisson", "negative_binomial"])
def test_tall_data_reach_the_same_fit_with_fewer_gram_matrices(name, monkeypatch):
    draw, family = FAMILIES[name]
    X, y, where = glm(draw, 30_000, 20, seed=1, size=0.3)
    made = []
    gram = Dense.gram

    def counted(columns, weights=None, center=None):
        made.append(columns.shape[0])
        return gram(columns, weights, center)

    monkeypatch.setattr(Dense, "gram", counted)
    ours, n_ours = fit(family, X, y, tol=1e-8), made.count(30_000)
    made.clear()
    plain, n_plain = fit(family, X, y, tol=1e-8, **PLAIN), made.count(30_000)
    assert set(where) <= set(np.flatnonzero(ours.support))
    np.testing.assert_allclose(ours.coef, plain.coef, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.intercept, plain.intercept, rtol=0, atol=1e-6)
    assert n_ours < 0.7 * n_plain


class WildPoisson(Poisson):
    """Poisson with weights five times too small: no full step is safe."""

    def working(self, y, eta, sigma2):
        weights, targets = super().working(y, eta, sigma2)
        return Working(0.2 * weights, eta + 5 * (targets - eta))


def test_steps_that_overshoot_are_halved():
    X, y, _ = glm("poisson", 200, 5, seed=3)
    wild = HorseshoeRegressor(family=WildPoisson(), prior="ridge", tau=1e4).fit(X, y)
    tame = HorseshoeRegressor(family="poisson", prior="ridge", tau=1e4).fit(X, y)
    assert wild.status_ is Status.CONVERGED
    np.testing.assert_allclose(wild.coef_, tame.coef_, atol=1e-4)
    np.testing.assert_allclose(wild.intercept_, tame.intercept_, atol=1e-4)


def test_an_unfinished_family_says_what_is_missing():
    X, y, _ = glm("gaussian", 30, 6)
    with pytest.raises(NotImplementedError):
        HorseshoeRegressor(family=Family()).fit(X, y)


def test_one_class_or_all_zero_counts_are_said_to_be_at_the_boundary():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = HorseshoeRegressor(family="poisson").fit(X, np.zeros(20), offset=np.full(20, 2.0))
    assert model.status_ is Status.BOUNDARY
    assert model.predict(X, offset=np.full(20, 2.0)).sum() == pytest.approx(0.5)
