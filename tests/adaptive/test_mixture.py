"""The normal mixture against its slow oracle, its bound, and what must not change it."""

import numpy as np
import pytest

from farrier.adaptive import mixture
from farrier.adaptive.mixture import GRID, fit_mixture, suggested_weights
from farrier.adaptive.residual import Gram, Rows
from oracles import mixture_ascent, normal_means_mixture
from simulate import linear

PI = np.array([0.7, 0.1, 0.1, 0.1])


def standardised(n, p, rho=0.5, sigma2=1.0, seed=0, n_signals=4, size=2.0):
    X, y, beta = linear(n, p, rho, sigma2, seed, n_signals, size)
    X, y = X - X.mean(axis=0), y - y.mean()
    return X / X.std(axis=0), y / y.std(), beta * X.std(axis=0) / y.std()


def gram(X, y):
    return Gram(X.T @ X, X.T @ y, y @ y, y.size)


def near_copies(n, p, seed=0):
    """Columns that are all nearly the same."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal(n)
    X = base[:, None] + 1e-3 * rng.standard_normal((n, p))
    y = 0.5 * base + rng.standard_normal(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


@pytest.mark.parametrize("sweeps", [1, 2, 7])
@pytest.mark.parametrize(("n", "p"), [(25, 40), (60, 12)])
@pytest.mark.parametrize("home", [Rows, gram])
def test_one_at_a_time_is_the_coordinate_ascent_of_the_oracle(sweeps, n, p, home):
    X, y, beta = standardised(n, p)
    X = X * np.geomspace(0.5, 2.0, p)  # nothing hangs on equal sums of squares
    start, bounds = 0.5 * beta, []
    fit = fit_mixture(
        home(X, y), start, 0.4, pi=PI, tol=0.0, max_sweeps=sweeps, visit="all", callback=bounds.append
    )
    slow = mixture_ascent(X, y, start, 0.4, PI, np.append(0.0, GRID), sweeps)
    mean = (slow.phi * slow.mean).sum(axis=1)
    np.testing.assert_allclose(fit.coef, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fit.sigma2, slow.sigma2, rtol=1e-10)
    np.testing.assert_allclose(fit.pi, slow.pi, rtol=1e-8)
    np.testing.assert_allclose(fit.inclusion, 1.0 - slow.phi[:, 0], rtol=1e-8)
    second = (slow.phi * (slow.variance + slow.mean**2)).sum(axis=1)
    np.testing.assert_allclose(fit.variance, second - mean**2, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(bounds, slow.elbo, rtol=1e-10)
    assert fit.n_sweeps == sweeps
    assert not fit.converged


@pytest.mark.parametrize("visit", ["all", "large"])
def test_orthogonal_columns_have_the_posterior_mean_of_normal_means(visit):
    rng = np.random.default_rng(3)
    n, p = 64, 30
    X = np.linalg.qr(rng.standard_normal((n, p)))[0] * np.sqrt(n)
    y = X @ np.repeat([1.0, -0.5, 0.0], [4, 4, 22]) + rng.standard_normal(n)
    fit = fit_mixture(Rows(X, y), np.zeros(p), 1.0, tol=1e-12, max_sweeps=2000, visit=visit)
    assert fit.converged
    for j, seen in enumerate(X.T @ y / n):
        weight, mean, variance = normal_means_mixture(
            seen, fit.sigma2 / n, fit.pi, fit.sigma2 * np.append(0.0, GRID)
        )
        np.testing.assert_allclose(fit.coef[j], weight @ mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(fit.inclusion[j], 1.0 - weight[0], rtol=1e-6)
        expected = weight @ (variance + mean**2) - (weight @ mean) ** 2
        np.testing.assert_allclose(fit.variance[j], expected, rtol=1e-5)
    np.testing.assert_allclose(1.0 - fit.pi[0], fit.inclusion.mean(), rtol=1e-9)


DESIGNS = {
    "independent": lambda: standardised(50, 120, 0.0, 9.0, 1, 20, 3.0),
    "correlated": lambda: standardised(63, 150, 0.7, 9.0, 2, 20, 3.0),
    "nearly tied": lambda: standardised(40, 60, 0.99, 1.0, 3),
    "tall": lambda: standardised(120, 20, 0.7, 4.0, 4),
    "no signal": lambda: standardised(40, 100, 0.5, 1.0, 5, 0),
    "no noise": lambda: standardised(40, 20, 0.5, 0.0, 6),
}


@pytest.mark.parametrize("visit", ["all", "large"])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("start", ["zero", "truth", "far away"])
def test_no_sweep_lowers_the_bound(visit, design, start):
    X, y, beta = DESIGNS[design]()
    far = np.random.default_rng(0).standard_normal(beta.size)
    b = {"zero": 0.0 * beta, "truth": beta, "far away": far}[start]
    for home in (Rows(X, y), gram(X, y)):
        bounds = []
        fit_mixture(home, b, 0.5, tol=1e-6, callback=bounds.append, visit=visit)
        bounds = np.array(bounds)
        assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()


def test_columns_that_would_overshoot_together_are_visited():
    X, y = near_copies(20, 5000)
    pi = np.array([0.9994, 0.0002, 0.0002, 0.0002])
    state = mixture._State(Rows(X, y), np.zeros(5000), 1.0, GRID, pi)
    step = state._best(state.data.pull(), slice(None)).mean
    assert np.abs(step).max() < mixture.SMALL * state.unit  # every one of them is small
    assert np.linalg.norm(y - X @ step) > np.linalg.norm(y)  # together they make it worse
    assert state._together().size == 5000
    assert not state.b.any()
    bounds = []
    fit_mixture(Rows(X, y), np.zeros(5000), 1.0, pi=pi, callback=bounds.append, max_sweeps=4)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()


@pytest.mark.parametrize("home", [Rows, gram])
def test_what_moving_together_gains_is_known_before(home, monkeypatch):
    X, y, beta = standardised(60, 120, 0.6, 1.0, 11)
    said, gain = [], mixture._State._gain
    monkeypatch.setattr(mixture._State, "_gain", lambda *given: said.append(gain(*given)) or said[-1])
    state = mixture._State(home(X, y), beta + 1e-4, 0.3, GRID, PI)
    for _ in range(3):
        before = state.elbo()
        assert 10 < state._together().size < 110  # some are large, some are small
        np.testing.assert_allclose(state.elbo() - before, said[-1], rtol=1e-6, atol=1e-9)
        state.sweep(every=True)
        state.b, state.u = (
            state.b * 1.01,
            state.u * 1.01,
        )  # not at its best, so that there is something to gain
        state.data.begin(state.b)
    assert max(said) > 0.01


@pytest.mark.parametrize(("n", "p", "rho"), [(70, 350, 0.7), (120, 400, 0.3), (200, 50, 0.7)])
def test_the_quick_sweeps_end_where_the_exact_ones_do(n, p, rho):
    X, y, beta = standardised(n, p, rho, 1.0, 7, 8, 3.0)
    limit = fit_mixture(Rows(X, y), beta, 0.1, tol=1e-10, max_sweeps=2000, visit="all")
    tight = fit_mixture(Rows(X, y), beta, 0.1, tol=1e-10, max_sweeps=2000)
    assert limit.converged
    assert tight.converged
    np.testing.assert_allclose(tight.coef, limit.coef, atol=1e-7)
    np.testing.assert_allclose(tight.pi, limit.pi, atol=1e-6)
    quick = fit_mixture(Rows(X, y), beta, 0.1)
    assert quick.converged
    assert np.abs(quick.coef - limit.coef).sum() < 5e-3 * np.abs(limit.coef).sum()
    assert (np.abs(limit.coef)[:8] > 0.5 * np.abs(beta[:8])).all()  # there is something to agree on


@pytest.mark.parametrize("visit", ["all", "large"])
def test_the_order_of_columns_and_rows_does_not_matter(visit):
    X, y, beta = standardised(60, 90, 0.5, 1.0, 8)
    rng = np.random.default_rng(0)
    columns, rows = rng.permutation(90), rng.permutation(60)
    options = {"tol": 1e-10, "max_sweeps": 1000, "visit": visit}
    one = fit_mixture(Rows(X, y), beta, 0.2, **options)
    other = fit_mixture(Rows(X[np.ix_(rows, columns)], y[rows]), beta[columns], 0.2, **options)
    np.testing.assert_allclose(other.coef, one.coef[columns], atol=1e-7)
    np.testing.assert_allclose(other.inclusion, one.inclusion[columns], atol=1e-6)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_the_unit_of_y_does_not_matter(visit):
    X, y, beta = standardised(50, 80)
    one = fit_mixture(Rows(X, y), 0.5 * beta, 0.2, visit=visit)
    other = fit_mixture(Rows(X, 1024.0 * y), 512.0 * beta, 0.2 * 1024.0**2, visit=visit)
    np.testing.assert_allclose(other.coef, 1024.0 * one.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.sigma2, 1024.0**2 * one.sigma2)
    assert one.n_sweeps == other.n_sweeps


def test_weighted_rows_are_repeated_rows():
    X, y, beta = standardised(40, 60)
    weight = np.random.default_rng(0).integers(1, 4, 40)
    often = fit_mixture(Rows(np.repeat(X, weight, axis=0), np.repeat(y, weight)), beta, 0.2, tol=1e-9)
    root = np.sqrt(weight)
    scaled = fit_mixture(Rows(root[:, None] * X, root * y, weight.sum()), beta, 0.2, tol=1e-9)
    np.testing.assert_allclose(scaled.coef, often.coef, atol=1e-9)
    np.testing.assert_allclose(scaled.sigma2, often.sigma2)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_rows_and_gram_matrix_say_the_same(visit):
    X, y, beta = standardised(80, 30, 0.7)
    one = fit_mixture(Rows(X, y), beta, 0.2, visit=visit)
    other = fit_mixture(gram(X, y), beta, 0.2, visit=visit)
    np.testing.assert_allclose(other.coef, one.coef, atol=1e-10)
    np.testing.assert_allclose(other.sigma2, one.sigma2, rtol=1e-9)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_small_and_degenerate_data(visit):
    X, y, _ = standardised(30, 3)
    none = fit_mixture(Rows(X[:, :0], y), np.zeros(0), 1.0, visit=visit)
    assert none.coef.shape == none.variance.shape == (0,)
    assert none.converged
    np.testing.assert_allclose(none.sigma2, 1.0)
    flat = fit_mixture(Rows(X, 0.0 * y), np.ones(3), 1.0, visit=visit)
    assert not flat.coef.any()
    assert flat.sigma2 == 0.0
    assert flat.pi[0] == 1.0
    one = fit_mixture(Rows(X[:, :1], X[:, 0]), np.zeros(1), 1.0, visit=visit)
    assert 0.9 < one.coef[0] <= 1.0
    assert one.sigma2 > 0.0
    constant = fit_mixture(Rows(np.column_stack([X, np.zeros(30)]), y), np.ones(4), 1.0, visit=visit)
    alone = fit_mixture(Rows(X, y), np.ones(3), 1.0, pi=constant.pi, visit=visit)
    assert constant.coef[3] == 0.0
    np.testing.assert_allclose(constant.coef[:3], alone.coef, atol=0.01)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_tied_columns_share_what_one_would_have(visit):
    X, y, _ = standardised(60, 5, 0.0, 0.25, 9, 2)
    alone = fit_mixture(Rows(X, y), np.zeros(5), 0.1, tol=1e-8, max_sweeps=500, visit=visit)
    tied = np.column_stack([X, X[:, 0], -X[:, 0]])
    fit = fit_mixture(Rows(tied, y), np.zeros(7), 0.1, tol=1e-8, max_sweeps=500, visit=visit)
    np.testing.assert_allclose(fit.coef[0] + fit.coef[5] - fit.coef[6], alone.coef[0], atol=0.02)


def test_certain_columns_do_not_overflow():
    X, y, beta = standardised(2000, 4, 0.0, 1.0, 10, 2, 5.0)
    for visit in ("all", "large"):
        fit = fit_mixture(Rows(X, y), beta, 1e-9, visit=visit)  # exponents of 1e11
        assert np.isfinite(fit.coef).all()
        np.testing.assert_allclose(fit.coef, np.linalg.lstsq(X, y, rcond=None)[0], atol=0.05)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_weights_of_zero_at_the_start_leave_only_the_spike(visit):
    X, y, beta = standardised(30, 40)
    fit = fit_mixture(Rows(X, y), beta, 1.0, pi=np.eye(4)[0], visit=visit)
    np.testing.assert_allclose(fit.coef, 0.0, atol=1e-100)
    np.testing.assert_allclose(fit.sigma2, 1.0)


def test_the_weights_that_a_start_suggests_make_it_likeliest():
    rng = np.random.default_rng(0)
    b, d, grid = np.append(np.zeros(50), rng.standard_normal(20)), np.full(70, 30.0), np.array([0.05, 1.5])

    def likelihood(pi):
        variance = np.append(0.0, grid) + 1.0 / d[:, None]
        return np.log((pi * np.exp(-0.5 * b[:, None] ** 2 / variance) / np.sqrt(variance)).sum(axis=1)).sum()

    found = suggested_weights(b, d, 1.0, grid, steps=5000, least=0.0)
    np.testing.assert_allclose(found.sum(), 1.0)
    for _ in range(50):
        assert likelihood(0.99 * found + 0.01 * rng.dirichlet(np.ones(3))) <= likelihood(found) + 1e-6
    assert suggested_weights(b, d, 1.0, np.array([1e-9, 1.5]))[1] >= 0.9 * mixture.START_LEAST


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"start": np.zeros(2)}, "start .* each of the 3 columns"),
        ({"start": np.array([0.0, np.nan, 0.0])}, "start .* finite"),
        ({"sigma2": 0.0}, "sigma2"),
        ({"grid": np.array([0.0, 1.0])}, "grid .* positive"),
        ({"grid": np.array([])}, "grid"),
        ({"pi": np.array([0.5, 0.5])}, "pi must have 4 weights"),
        ({"pi": np.array([0.5, 0.5, 0.5, -0.5])}, "pi must have"),
        ({"visit": "some"}, "visit"),
    ],
)
def test_what_cannot_be_is_named(arguments, says):
    X, y, _ = standardised(10, 3)
    options = {"start": np.zeros(3), "sigma2": 1.0, **arguments}
    with pytest.raises(ValueError, match=says):
        fit_mixture(Rows(X, y), **options)


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"X has shape \(4, 2\) and y \(3,\)"):
        Rows(np.ones((4, 2)), np.ones(3))
    with pytest.raises(ValueError, match=r"Gram matrix has shape \(2, 2\) and the correlation \(3,\)"):
        Gram(np.eye(2), np.ones(3), 1.0, 4)
