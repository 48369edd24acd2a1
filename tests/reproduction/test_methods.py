"""The methods of the tables against slow formulas."""

import numpy as np
import pytest
from scipy.integrate import quad

from horseshoe_reproduction.experiment import Problem, toeplitz_normal
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.peers import descent
from horseshoe_reproduction.peers.horseshoe_like import expected_precision, horseshoe_like
from horseshoe_reproduction.peers.means_posterior import means_posterior
from horseshoe_reproduction.peers.paths import FOLDS, GAMMA, cross_validate, glmnet, nonconvex
from horseshoe_reproduction.peers.released import _as_written, _e_step, released

pytest.importorskip("glmnet", reason="python-glmnet is not installed: pip install './reproduction[peers]'")
pytest.importorskip("skglm", reason="skglm is not installed: pip install './reproduction[peers]'")


def data(kind, n=60, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = toeplitz_normal(n, p, 0.5, rng) * np.geomspace(0.2, 30.0, p) + 5.0
    eta = X @ (np.array([2.0, -1.5, 1.0] + [0.0] * (p - 3)) / X.std(axis=0))
    if kind == "gaussian":
        return X, 7.0 + eta + rng.standard_normal(n)
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-(eta - eta.mean())))).astype(float)


def slope(kind, X, y, coef, intercept):
    """The gradient of the mean loss in the coefficients of standardised columns."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = X @ coef + intercept
    residual = y - (eta if kind == "gaussian" else 1.0 / (1.0 + np.exp(-eta)))
    return -Z.T @ residual / y.size


@pytest.mark.parametrize("kind", ["gaussian", "binomial"])
def test_the_lasso_meets_its_conditions(kind):
    X, y = data(kind)
    path = glmnet(kind, 1.0)(X, y, None)
    for i in (5, 20, path.penalties.size - 1):
        gradient = slope(kind, X, y, path.coef[:, i], path.intercept[i])
        active = path.coef[:, i] != 0.0
        size = path.penalties[i]
        np.testing.assert_allclose(gradient[active], -size * np.sign(path.coef[active, i]), atol=2e-3)
        assert (np.abs(gradient[~active]) <= size + 2e-3).all()


@pytest.mark.parametrize("kind", ["gaussian", "binomial"])
def test_ridge_meets_its_conditions(kind):
    X, y = data(kind)
    unit = y.std() if kind == "gaussian" else 1.0  # glmnet fits a response of unit variance
    path = glmnet(kind, 0.0)(X, y, None)
    for i in (30, path.penalties.size - 1):
        gradient = slope(kind, X, y, path.coef[:, i], path.intercept[i])
        scaled = path.coef[:, i] * X.std(axis=0)
        np.testing.assert_allclose(gradient, -path.penalties[i] / unit * scaled, atol=2e-3)


def derivative(penalty, b, size):
    """The slope of a penalty at b >= 0."""
    if penalty == "MCPenalty":
        return np.maximum(size - b / GAMMA[penalty], 0.0)
    return np.where(b <= size, size, np.maximum(GAMMA[penalty] * size - b, 0.0) / (GAMMA[penalty] - 1.0))


def curvature(kind, X, coef, intercept):
    """The second derivative of the mean loss in each coefficient of standardised columns."""
    if kind == "gaussian":
        return np.ones(coef.size)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    mean = 1.0 / (1.0 + np.exp(-(X @ coef + intercept)))
    return (mean * (1.0 - mean)) @ Z**2 / X.shape[0]


@pytest.mark.parametrize("kind", ["gaussian", "binomial"])
@pytest.mark.parametrize("penalty", sorted(GAMMA))
def test_nonconvex_fits_are_stationary(kind, penalty):
    X, y = data(kind)
    path = nonconvex(kind, penalty)(X, y, None)
    assert not path.coef[:, 0].any()
    for i in (10, 30, path.penalties.size - 1):
        coef, intercept, size = path.coef[:, i], path.intercept[i], path.penalties[i]
        gradient = slope(kind, X, y, coef, intercept)
        scaled = coef * X.std(axis=0)
        active = scaled != 0.0
        bend = curvature(kind, X, coef, intercept) * np.abs(scaled)
        expected = -np.sign(scaled) * derivative(penalty, bend, size)
        np.testing.assert_allclose(gradient[active], expected[active], atol=2e-3)
        assert (np.abs(gradient[~active]) <= size + 2e-3).all()


def test_a_path_is_the_same_in_other_units():
    X, y = data("gaussian")
    units = np.geomspace(1e-3, 1e3, X.shape[1])
    first = nonconvex("gaussian", "SCAD")(X, y, None)
    other = nonconvex("gaussian", "SCAD")(X * units, 50.0 * y - 3.0, None)
    np.testing.assert_allclose(other.coef * units[:, None] / 50.0, first.coef, atol=2e-3)  # solved to 1e-4


def test_columns_that_do_not_vary_stay_out():
    X, y = data("gaussian")
    X = np.column_stack([X, np.full(y.size, 4.2)])
    for solver in (glmnet("gaussian", 1.0), nonconvex("gaussian", "MCPenalty")):
        path = solver(X, y, None)
        assert not path.coef[-1].any()
        assert np.isfinite(path.predict(X)).all()


@pytest.mark.parametrize("kind", ["gaussian", "binomial"])
def test_cross_validation_by_hand(kind):
    X, y = data(kind)
    solve = glmnet(kind, 1.0)
    found = cross_validate(solve, kind, X, y, np.random.default_rng(3))
    whole = solve(X, y, None)
    folds = np.random.default_rng(3).permutation(y.size) % FOLDS
    assert set(np.bincount(folds)) == {y.size // FOLDS}
    losses = []
    for k in range(FOLDS):
        path = solve(X[folds != k], y[folds != k], whole.penalties)
        eta = path.predict(X[folds == k])
        target = y[folds == k][:, None]
        if kind == "gaussian":
            losses.append(np.mean((target - eta) ** 2, axis=0))
        else:
            mean = 1.0 / (1.0 + np.exp(-eta))
            losses.append(-2.0 * np.mean(target * np.log(mean) + (1 - target) * np.log(1 - mean), axis=0))
    mean, error = np.mean(losses, axis=0), np.std(losses, axis=0, ddof=1) / np.sqrt(FOLDS)
    least = mean.argmin()
    near = np.flatnonzero(mean <= mean[least] + error[least])[0]
    np.testing.assert_array_equal(found["min"].coef, whole.coef[:, least])
    np.testing.assert_array_equal(found["1se"].coef, whole.coef[:, near])
    assert near < least


@pytest.mark.parametrize("normalised", [True, False])
def test_the_conventional_em_step_by_step(normalised):
    """The formulas as they are written, with dense matrices."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((25, 40))
    y = X[:, :3] @ [6.0, -6.0, 6.0] + rng.standard_normal(25)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    centred = y - y.mean()
    b, a = np.linalg.solve(Z.T @ Z + np.eye(40), Z.T @ centred), 1e5
    for iteration in range(1001):
        old, variance, moments = b, np.zeros(40), np.zeros(40)
        for j in range(40):
            if b[j] ** 2 > 1e-290:
                joint = (a / b[j] ** 2 - a / (b[j] ** 2 + a)) / (2 * np.pi * np.sqrt(a))
                density = np.log1p(a / b[j] ** 2) / (2 * np.pi * np.sqrt(a)) if normalised else 1.0
                variance[j] = 1.0 / (2.0 * max(joint / density, 1e-10))
                moments[j] = b[j] ** 2 / variance[j]
            elif not normalised:
                moments[j] = np.sqrt(a) / np.pi  # the limit at zero
        a = moments.mean()
        D = np.diag(a * variance)
        b = D @ Z.T @ np.linalg.solve(Z @ D @ Z.T + np.eye(25), centred)
        if iteration > 20 and np.abs(old - b).sum() / (1 + np.abs(b).sum()) < 1e-4:
            break
    fit = horseshoe_like(X, y, normalised)
    np.testing.assert_allclose(fit.coef * X.std(axis=0), b, rtol=1e-4, atol=1e-10)
    np.testing.assert_allclose(fit.intercept, y.mean() - X.mean(axis=0) @ fit.coef)
    assert (fit.coef == 0.0).any()


def test_the_expected_precision_is_an_integral():
    def moment(k, b, a):
        return quad(lambda u: u ** (k - 1.0) * np.exp(-u * b * b / a) * -np.expm1(-u), 0.0, np.inf)[0]

    for b, a in ((0.3, 1.0), (2.0, 0.5), (5.0, 40.0)):
        found = expected_precision(np.array([b * b]), a, normalised=True)
        np.testing.assert_allclose(found, moment(1, b, a) / moment(0, b, a), rtol=1e-6)


def test_the_mean_of_the_means_posterior_by_quadrature():
    """For one mean: tau and lambda on a grid."""
    y = np.array([2.5])
    angle = (np.arange(2000) + 0.5) / 2000 * np.pi / 2
    lambda2 = np.tan(angle) ** 2  # half-Cauchy lambda
    tau2 = np.tan((np.arange(400) + 0.5) / 400 * np.pi / 4) ** 2  # tau within 0 and 1
    variance = 1.0 + np.outer(tau2, lambda2)
    weight = np.exp(-0.5 * y[0] ** 2 / variance) / np.sqrt(variance)
    expected = y[0] * np.sum(weight * (1.0 - 1.0 / variance)) / weight.sum()
    found = means_posterior(y, 500, 60_000, np.random.default_rng(0))
    np.testing.assert_allclose(found, expected, rtol=0.02)


def test_thresholds_of_the_lasso_of_means():
    y = np.random.default_rng(0).standard_normal(1000) + np.repeat([4.0, 0.0], [50, 950])
    problem = Problem("means", None, y, lambda fit: {})
    edges = {"visu-shrink": np.sqrt(2 * np.log(1000)), "bayes-shrink": 1.0 / np.sqrt(np.mean(y**2) - 1.0)}
    for name, edge in edges.items():
        coef = METHODS[name].run(problem, np.random.default_rng(0)).coef
        grid = np.linspace(-8.0, 8.0, 160_001)
        for value, estimate in zip(y[45:55], coef[45:55], strict=True):
            best = grid[np.argmin(0.5 * (value - grid) ** 2 + edge * np.abs(grid))]
            np.testing.assert_allclose(estimate, best, atol=1e-3)
        assert (coef[np.abs(y) <= edge] == 0.0).all()


def test_without_signal_bayes_shrink_keeps_nothing():
    problem = Problem("means", None, np.full(20, 0.1), lambda fit: {})
    assert not METHODS["bayes-shrink"].run(problem, np.random.default_rng(0)).coef.any()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_answers_on_its_own_scale(name):
    kind = "means" if "shrink" in name else "gaussian"
    X, y = data("gaussian", n=80, p=12)
    problem = Problem(kind, None if kind == "means" else X, y, lambda fit: {})
    fit = METHODS[name].run(problem, np.random.default_rng(0))
    assert fit.coef.shape == ((80,) if kind == "means" else (12,))
    if kind == "gaussian" and not name.startswith("run-") and name not in ("ridge-1se", "mean", "stability"):
        residual = y - X @ fit.coef - fit.intercept
        assert residual.var() < 0.7 * y.var()


def test_the_released_code_has_the_faults_it_is_said_to_have():
    rng = np.random.default_rng(2)
    Z = toeplitz_normal(30, 40, 0.6, rng)
    y, precision, sigma2 = rng.standard_normal(30), np.geomspace(0.1, 50.0, 40), 0.7
    A = Z.T @ Z / sigma2 + np.diag(precision)
    U, covariance = np.linalg.cholesky(A).T, np.linalg.inv(A)
    found = _e_step(Z, y, Z.T @ Z, Z.T @ y, precision, sigma2, rough=False)
    np.testing.assert_allclose(found.mean, covariance @ Z.T @ y / sigma2)
    np.testing.assert_allclose(found.variance, np.diag(covariance))
    rss = np.sum((y - Z @ found.mean) ** 2)
    wrong = np.trace(Z.T @ Z @ np.linalg.inv(U).T @ np.linalg.inv(U))
    np.testing.assert_allclose(found.expected_rss, rss + wrong)
    assert abs(wrong / np.trace(Z.T @ Z @ covariance) - 1.0) > 0.02  # the order matters
    assert _as_written(np.array([1e-18]))[0] == 1e-50  # the root is 1e-18
    np.testing.assert_allclose(_as_written(np.array([1.0])), np.sqrt(8.0) / 4.0)


def test_where_the_faults_do_not_matter_the_released_code_agrees_with_ours():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 6))
    y = X @ [3.0, -2.0, 0.0, 0.0, 1.0, 0.0] + rng.standard_normal(400)
    ours = METHODS["hs-em"].run(Problem("gaussian", X, y, lambda fit: {}), rng)
    for approximate in (False, True):
        theirs = released(X, y, approximate)
        np.testing.assert_allclose(theirs.coef, ours.coef, atol=2e-4)
        np.testing.assert_allclose(theirs.intercept, ours.intercept, atol=2e-4)


def test_the_compiled_path_is_the_one_that_is_written():
    """The same functions, interpreted."""
    X, y = data("binomial", n=40, p=5)
    Z = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    penalties = np.geomspace(0.3, 0.01, 12)
    found, size = descent._descend(Z, y, penalties, 3.7, descent.PENALTIES["SCAD"], 0)
    compiled = descent.penalised_path(Z, y, penalties, 3.7, "SCAD", "binomial")
    np.testing.assert_allclose(compiled, found[:, :size], rtol=1e-9)
    assert size > 5
    assert found[1:, :size].any()


def test_a_saturated_path_ends():
    X = np.linspace(-1.0, 1.0, 30)[:, None]
    Z = np.asfortranarray(X / X.std())
    y, penalties = (X[:, 0] > 0.0) * 1.0, np.geomspace(0.4, 1e-4, 100)
    found = descent.penalised_path(Z, y, penalties, 3.0, "MCPenalty", "binomial")
    assert 1 < found.shape[1] < 100
    assert np.isfinite(found).all()


@pytest.mark.parametrize(("scad", "gamma"), [(False, 3.0), (True, 3.7)])
def test_firm_thresholding_minimises(scad, gamma):
    grid = np.linspace(-6.0, 6.0, 240_001)
    b = np.abs(grid)
    size = 0.8
    if scad:
        middle = (2 * gamma * size * b - b**2 - size**2) / (2 * (gamma - 1))
        value = np.where(b <= size, size * b, np.where(b <= gamma * size, middle, size**2 * (gamma + 1) / 2))
    else:
        value = np.where(b <= gamma * size, size * b - b**2 / (2 * gamma), gamma * size**2 / 2)
    for u in np.linspace(-5.0, 5.0, 21):
        best = grid[np.argmin((grid - u) ** 2 / 2 + value)]
        assert descent.firm(u, size, gamma, scad) == pytest.approx(best, abs=1e-4)
