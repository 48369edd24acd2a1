"""Every family through the one loop: the mode of plain EM, the statistics, and what makes it faster."""

import numpy as np
import pytest
from scipy.stats import norm

from farrier import HorseshoeClassifier, HorseshoeRegressor, Status
from farrier.data.design import standardise
from farrier.data.weighted import WeightedSystem
from farrier.em.fast.tail import Anderson
from farrier.em.loop import Options, solve
from farrier.em.weights import Linearised
from farrier.families import (
    Binomial,
    Family,
    Laplace,
    NegativeBinomial,
    Poisson,
    StudentT,
    Working,
)
from farrier.priors import HalfCauchy, Horseshoe
from simulate import glm

FAMILIES = {
    "polya_gamma": ("binomial", Binomial()),
    "irls": ("binomial", Binomial("irls")),
    "poisson": ("poisson", Poisson()),
    "negative_binomial": ("negative_binomial", NegativeBinomial()),
    "student_t": ("student_t", StudentT()),
    "laplace": ("laplace", Laplace()),
}
SHAPES = {"long": (200, 60), "wide": (80, 160)}


def problem(family, X, y):
    design = standardise(X, None, center=True, scale=True)
    scale = family.scale(y, np.ones_like(y))
    return Linearised(design, y / scale, np.zeros_like(y), family, center=True)


def fit(family, X, y, **options):
    return solve(problem(family, X, y), Horseshoe(), HalfCauchy(), Options(**options))


def model_of(name, **options):
    if name in ("polya_gamma", "irls"):
        return HorseshoeClassifier(weights=name, **options)
    return HorseshoeRegressor(family=name, **options)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_mode_is_that_of_plain_em(name, shape):
    draw, family = FAMILIES[name]
    same = 0
    for seed in range(300, 310):
        X, y, _ = glm(draw, *SHAPES[shape], seed=seed, size=1.2, rho=0.5)
        ours = fit(family, X, y, tol=1e-9)
        plain = fit(family, X, y, tol=1e-9, prune=False, accelerate=False)
        assert ours.status.converged
        assert plain.status.converged
        same += np.allclose(ours.coef, plain.coef, rtol=0, atol=2e-4)
    assert same >= 9


@pytest.mark.parametrize("name", ["polya_gamma", "irls", "poisson", "negative_binomial"])
def test_tall_data_reach_the_same_fit_with_fewer_gram_matrices(name, monkeypatch):
    draw, family = FAMILIES[name]
    X, y, where = glm(draw, 30_000, 20, seed=1, size=0.3)
    made = []
    adding_up = WeightedSystem._add_up

    def counted(system, center):
        made.append(system.n_rows)
        return adding_up(system, center)

    monkeypatch.setattr(WeightedSystem, "_add_up", counted)
    ours, n_ours = fit(family, X, y, tol=1e-8), made.count(30_000)
    made.clear()
    plain, n_plain = fit(family, X, y, tol=1e-8, prune=False, accelerate=False), made.count(30_000)
    assert set(where) <= set(np.flatnonzero(ours.support))
    np.testing.assert_allclose(ours.coef, plain.coef, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.intercept, plain.intercept, rtol=0, atol=1e-6)
    assert n_ours < 0.7 * n_plain


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


def recovery(name, **options):
    draw = "binomial" if name in ("polya_gamma", "irls") else name
    found, false = [], []
    for seed in range(50):
        X, y, where = glm(draw, 300, 100, seed=seed)
        support = model_of(name, **options).fit(X, y).support_
        found.append(support[where].sum())
        false.append(support.sum() - found[-1])
    return np.mean(found), np.mean(false)


@pytest.mark.parametrize("name", SMALL_TAU)
def test_support_recovery(name):
    found, false = recovery(name, tau=SMALL_TAU[name])
    assert found >= 4.5
    assert false <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_TAU)
def test_support_recovery_with_tau_at_its_bound(name):
    found, false = recovery(name)
    expected = 95 * 2 * norm.sf(np.sqrt(3 + 2 * np.sqrt(2)))
    assert found >= 4.9
    assert false <= expected + (1.0 if name == "negative_binomial" else 3 * np.sqrt(expected / 50))


@pytest.mark.parametrize("size", [50.0, 1000.0])
def test_outliers_cost_student_t_little_and_break_the_gaussian(size):
    errors = {"clean": [], "student_t": [], "gaussian": []}
    for seed in range(60):
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


def test_anderson_solves_a_linear_iteration_in_as_many_steps_as_unknowns():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 3))
    a *= 0.9 / np.abs(np.linalg.eigvals(a)).max()
    solution, mixer, x = np.linalg.solve(np.eye(3) - a, np.ones(3)), Anderson(), np.zeros(3)
    for _ in range(12):
        x = mixer.next(x, a @ x + 1.0)
    np.testing.assert_allclose(x, solution, rtol=1e-8)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("concentrated", [True, False])
def test_weighted_system_is_weighted_least_squares(center, concentrated):
    rng = np.random.default_rng(0)
    x, z, w = np.asfortranarray(rng.standard_normal((30, 4))), rng.standard_normal(30), rng.random(30)
    if concentrated:
        w[3] = 1e9  # the centred Gram matrix is then what is left of far larger numbers
    system = WeightedSystem(x, z, w, 30.0, center, careful=concentrated)
    columns = np.column_stack([np.ones(30), x]) if center else x
    root = np.sqrt(w)[:, None]
    coef = np.linalg.lstsq(root * columns, root[:, 0] * z, rcond=None)[0]
    ours = np.linalg.solve(system.gram, system.xz)
    np.testing.assert_allclose(ours, coef[-4:], rtol=1e-5 if concentrated else 1e-11)
    np.testing.assert_allclose(system.gram, system.x.T @ system.x, rtol=1e-10)
    np.testing.assert_allclose(system.diagonal, (w[:, None] * x * x).sum(axis=0), rtol=1e-10)
    if center:
        np.testing.assert_allclose(system.intercept(ours), coef[0], rtol=1e-5)
    part = system.take(np.array([True, False, True, False]))
    np.testing.assert_allclose(part.gram, part.x.T @ part.x, rtol=1e-10)
    residual = part.residual(np.array([1.0, 2.0]))
    np.testing.assert_allclose(part.rss(np.array([1.0, 2.0])), residual @ residual, rtol=1e-9)


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


def test_pictures_of_classes():
    import matplotlib

    matplotlib.use("Agg")
    from farrier.report.plots import plot_coefficients

    X = np.random.default_rng(0).standard_normal((60, 4))
    ax = plot_coefficients(HorseshoeClassifier().fit(X, X[:, 0] + 0.5 * X[:, 3] > 0))
    assert len(ax.get_yticks()) == 4
    many = HorseshoeClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(ValueError, match="estimators_"):
        plot_coefficients(many)
