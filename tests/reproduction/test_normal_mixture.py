"""The normal-mixture rival: its settings, where it starts, and what it must not depend on."""

import numpy as np
import pytest

from horseshoe_reproduction import TABLES, load
from horseshoe_reproduction.experiment import Problem, RequestError, toeplitz_normal
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.peers import normal_mixture as rival
from horseshoe_reproduction.peers.compiled import compiled
from horseshoe_reproduction.peers.paths import cross_validate, glmnet
from oracles import mixture_ascent

pytest.importorskip("glmnet", reason="python-glmnet is not installed: pip install './reproduction[peers]'")
pytest.importorskip("numba", reason="numba is not installed: pip install './reproduction[peers]'")


def data(seed=0, n=60, p=80):
    rng = np.random.default_rng(seed)
    X = toeplitz_normal(n, p, 0.5, rng)
    return X, X[:, :3] @ np.array([3.0, -2.0, 1.0]) + rng.standard_normal(n) + 4.0


@pytest.mark.parametrize(("n", "p"), [(60, 80), (60, 20)])
def test_it_is_coordinate_ascent_from_the_lasso(n, p, monkeypatch):
    sweeps = 12
    monkeypatch.setattr(rival, "MAX_SWEEPS", sweeps)
    X, y = data(0, n, p)
    fit = rival.normal_mixture(X, y, np.random.default_rng(5))
    lasso = cross_validate(glmnet("gaussian", 1.0), "gaussian", X, y, np.random.default_rng(5))["min"].coef
    Z, centred = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    start, s = lasso * X.std(axis=0), (2.0 ** (np.arange(20) / 20) - 1.0) ** 2
    sigma2 = np.mean((centred - Z @ start) ** 2)
    spread = sigma2 * (s + 1.0 / y.size)
    weight = np.exp(-(start[:, None] ** 2) / (2.0 * spread)) / np.sqrt(spread)
    pi = (weight / weight.sum(axis=1, keepdims=True)).mean(axis=0)
    slow = mixture_ascent(Z, centred, start, sigma2, pi, s, sweeps)
    np.testing.assert_allclose(fit.coef, (slow.phi * slow.mean).sum(axis=1) / X.std(axis=0), atol=1e-9)
    np.testing.assert_allclose(fit.intercept, y.mean() - X.mean(axis=0) @ fit.coef)


@pytest.mark.parametrize("far", [1.0, 100.0])
def test_the_compiled_visits_are_those_that_are_written(far):
    rng = np.random.default_rng(1)
    Z = np.asfortranarray(rng.standard_normal((12, 7)))
    b, residual, log_weights = (
        rng.standard_normal(7),
        far * rng.standard_normal(12),
        np.log(np.full(20, 0.05)),
    )
    ends = []
    for visit in (rival._visit, compiled(rival._visit)):
        moved, left = b.copy(), residual.copy()
        ends.append((moved, left, *visit(Z, left, moved, log_weights, 0.7, rival.GRID)))
    for written, fast in zip(*ends, strict=True):
        np.testing.assert_allclose(fast, written, rtol=1e-9)


def test_it_finds_what_is_there_and_shrinks_less_than_the_lasso():
    X, y = data(1)
    truth = np.append([3.0, -2.0, 1.0], np.zeros(77))
    fit = METHODS["mixture"].run(Problem("gaussian", X, y, lambda fit: {}), np.random.default_rng(0))
    lasso = METHODS["lasso-min"].run(Problem("gaussian", X, y, lambda fit: {}), np.random.default_rng(0))
    assert np.sum((fit.coef - truth) ** 2) < 0.5 * np.sum((lasso.coef - truth) ** 2)


def test_units_do_not_matter_and_a_constant_column_is_left_out():
    X, y = data(2)
    one = rival.normal_mixture(X, y, np.random.default_rng(0))
    scale = np.geomspace(1.0 / 16.0, 16.0, 80)
    other = rival.normal_mixture(X * scale, 8.0 * y, np.random.default_rng(0))
    np.testing.assert_allclose(other.coef * scale / 8.0, one.coef, atol=1e-3)
    constant = rival.normal_mixture(np.column_stack([X, np.ones(60)]), y, np.random.default_rng(0))
    np.testing.assert_allclose(constant.coef[:80], one.coef, atol=1e-3)
    assert constant.coef[80] == 0.0


@pytest.mark.parametrize("kind", ["binomial", "poisson"])
def test_it_is_for_gaussian_responses_only(kind):
    X, y = data()
    with pytest.raises(RequestError, match=f"'mixture' is for Gaussian responses, not {kind}: leave it out"):
        METHODS["mixture"].run(Problem(kind, X, y, lambda fit: {}), np.random.default_rng(0))


def test_the_tables_of_the_paper_do_not_have_it():
    assert METHODS["mixture"].printed is None
    assert not any("mixture" in load(name).methods for name in TABLES)
