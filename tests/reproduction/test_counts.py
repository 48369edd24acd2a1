"""Paths of counts, ridge to its end, and stability selection."""

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor, Ridge

from horseshoe_reproduction.experiment import toeplitz_normal
from horseshoe_reproduction.peers import descent
from horseshoe_reproduction.peers.paths import GAMMA, cross_validate, glmnet, nonconvex
from horseshoe_reproduction.peers.ridge import ridge
from horseshoe_reproduction.peers.stability import SHARES, stability

pytest.importorskip("glmnet", reason="python-glmnet is not installed: pip install './reproduction[peers]'")
pytest.importorskip("numba", reason="numba is not installed: pip install './reproduction[peers]'")


def data(n=80, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = toeplitz_normal(n, p, 0.5, rng) * np.geomspace(0.2, 30.0, p) + 5.0
    eta = X @ (np.array([0.5, -0.4, 0.3] + [0.0] * (p - 3)) / X.std(axis=0))
    return X, rng.poisson(np.exp(1.0 + eta - eta.mean())).astype(float)


def slope(X, y, coef, intercept):
    """The gradient of the mean loss in the coefficients of standardised columns."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return -Z.T @ (y - np.exp(X @ coef + intercept)) / y.size


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.0])
def test_the_elastic_net_of_counts_meets_its_conditions(alpha):
    X, y = data()
    path = glmnet("poisson", alpha)(X, y, None)
    assert path.penalties.size > 60
    for i in (20, 40, path.penalties.size - 1):
        gradient = slope(X, y, path.coef[:, i], path.intercept[i])
        b, size = path.coef[:, i] * X.std(axis=0), path.penalties[i]
        active = b != 0.0
        wanted = -size * (alpha * np.sign(b) + (1.0 - alpha) * b)
        np.testing.assert_allclose(gradient[active], wanted[active], atol=3e-3)
        assert (np.abs(gradient[~active]) <= alpha * size + 3e-3).all()
        assert y.mean() == pytest.approx(np.exp(X @ path.coef[:, i] + path.intercept[i]).mean(), rel=1e-3)
    assert not path.coef[:, 0].any() or alpha == 0.0


def test_ridge_of_counts_is_that_of_scikit_learn():
    X, y = data()
    path = ridge("poisson")(X, y, None)
    i = 60
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = PoissonRegressor(alpha=path.penalties[i], tol=1e-9, max_iter=1000).fit(Z, y)
    np.testing.assert_allclose(path.coef[:, i] * X.std(axis=0), theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("penalty", sorted(GAMMA))
def test_nonconvex_counts_are_stationary(penalty):
    X, y = data()
    path = nonconvex("poisson", penalty)(X, y, None)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for i in (10, 30, path.coef.shape[1] - 1):
        b, size = path.coef[:, i] * X.std(axis=0), path.penalties[i]
        gradient = slope(X, y, path.coef[:, i], path.intercept[i])
        v = np.exp(X @ path.coef[:, i] + path.intercept[i]) @ Z**2 / y.size
        scaled = np.abs(v * b)  # the penalty bends relative to the curvature
        gamma = GAMMA[penalty]
        if penalty == "MCPenalty":
            force = np.maximum(size - scaled / gamma, 0.0)
        else:
            bent = np.maximum(gamma * size - scaled, 0.0) / (gamma - 1.0)
            force = np.where(scaled <= size, size, bent)
        active = b != 0.0
        np.testing.assert_allclose(gradient[active], -(force * np.sign(b))[active], atol=3e-3)
        assert (np.abs(gradient[~active]) <= size + 3e-3).all()
    assert path.coef[:, -1].any()


def test_the_compiled_path_of_counts_is_the_one_that_is_written():
    X, y = data(n=40, p=5)
    Z = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    penalties = np.geomspace(0.5, 0.05, 8)
    for penalty, shape in (("elastic", 0.5), ("MCPenalty", 3.0), ("SCAD", 3.7)):
        widened = penalties * (1.0 + 1e-9)
        found, size = descent._descend(Z, y, widened, shape, descent.PENALTIES[penalty], 1)
        compiled = descent.penalised_path(Z, y, penalties, shape, penalty, "poisson")
        np.testing.assert_allclose(compiled, found[:, :size], rtol=1e-9)
        assert compiled[1:].any()


def test_a_penalty_of_counts_is_chosen_by_their_deviance():
    X, y = data(n=200)
    found = cross_validate(glmnet("poisson", 1.0), "poisson", X, y, np.random.default_rng(0))
    assert (found["min"].coef[:3] * [1.0, -1.0, 1.0] > 0.0).all()
    assert np.count_nonzero(found["1se"].coef) <= np.count_nonzero(found["min"].coef)


def test_ridge_in_closed_form_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 50)) * 3.0 + 1.0
    y = X[:, 0] + rng.standard_normal(30)
    path = ridge("gaussian")(X, y, None)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for i in (0, 50, 99):
        theirs = Ridge(alpha=30.0 * path.penalties[i] / y.std()).fit(Z, y)
        np.testing.assert_allclose(path.coef[:, i] * X.std(axis=0), theirs.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(path.predict(X)[:, i], theirs.predict(Z), rtol=1e-6)


def test_the_longer_path_holds_what_glmnets_ends_before():
    """A dense truth without noise: the least penalty is the best."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 80))
    y = X @ rng.standard_normal(80)
    short = cross_validate(glmnet("gaussian", 0.0), "gaussian", X, y, np.random.default_rng(0))["min"]
    longer = cross_validate(ridge("gaussian"), "gaussian", X, y, np.random.default_rng(0))["min"]
    assert np.linalg.norm(longer.coef) > 1.5 * np.linalg.norm(short.coef)


@pytest.mark.parametrize("kind", ["gaussian", "binomial", "poisson"])
def test_what_is_strong_is_stable(kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 20))
    eta = X[:, 4]
    draws = {"gaussian": 3.0 * eta + rng.standard_normal(100), "poisson": rng.poisson(np.exp(1.0 + eta))}
    y = draws.get(kind, (rng.random(100) < 1.0 / (1.0 + np.exp(-4.0 * eta)))).astype(float)
    found = stability(kind, X, y, rng).inclusion
    assert found.shape == (20, len(SHARES))
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert (found[4] > 0.8).all()
    assert (np.diff(found.sum(axis=0)) >= 0.0).all()  # a smaller penalty keeps more
    assert found[:, 0].argmax() == 4
