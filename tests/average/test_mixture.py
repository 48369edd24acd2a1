"""The normal mixture against its slow oracle, its bound, and what must not change it."""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from scipy.sparse import csc_array

from horseshoe.average import mixture
from horseshoe.average.batch import Batch
from horseshoe.average.mixture import GRID
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse
from oracles import mixture_ascent, normal_means_mixture, weighted_centred
from simulate import linear

PI = np.array([0.7, 0.1, 0.1, 0.1])


def standardised(n, p, rho=0.5, sigma2=1.0, seed=0, n_signals=4, size=2.0):
    X, y, beta = linear(n, p, rho, sigma2, seed, n_signals, size)
    X, y = X - X.mean(axis=0), y - y.mean()
    return X / X.std(axis=0), y / y.std(), beta * X.std(axis=0) / y.std()


def alone(X, y, weights=None, n=None, center=False, home=Dense):
    """Return one problem: the columns, targets and weights as they are."""
    weights = np.ones(y.size) if weights is None else weights
    n = None if n is None else np.array([float(n)])
    return Batch(home(np.asfortranarray(X)), y[:, None], weights[:, None], n, center)


@contextmanager
def visiting(visit):
    """Make sweeps coordinate ascent, if all columns are visited: one at a time, in their order."""

    def every(state):
        _, p, problems = state.b.shape
        state.size = np.repeat(np.arange(p, 0.0, -1.0)[:, None], problems, axis=1)
        return np.ones((p, problems), dtype=np.bool_)

    with ExitStack() as stack:
        if visit == "all":
            stack.enter_context(patch.object(mixture._State, "_together", every))
            stack.enter_context(patch.object(mixture, "_jointly", lambda gram, work, inverse, b: (b, work)))
        yield


def fit_mixture(data, start, sigma2, *, pi=None, visit="large", **options):
    """Fit mixtures of one target, and return them without the axis of the targets."""
    if pi is not None:
        options["weights"] = (pi, np.ones(pi.shape[1]))
    with visiting(visit):
        found = mixture.fit_mixture(data, start[None], np.asarray(sigma2)[None], **options)
    assert (found.omega == 1.0).all()
    return found._replace(coef=found.coef[0], sigma2=found.sigma2[0], inclusion=found.inclusion[0])


def fit_one(data, start, sigma2, **options):
    """Fit the only problem of a batch, and return its mixture without the axis of the problems."""
    if options.get("pi") is not None:
        options["pi"] = np.asarray(options["pi"])[:, None]
    if "callback" in options:
        options["callback"] = lambda bounds, to=options["callback"]: to(bounds[0])
    fit = fit_mixture(data, np.asarray(start)[:, None], np.array([sigma2]), **options)
    return mixture.Mixture(*(value[..., 0] for value in fit))


def near_copies(n, p, seed=0):
    """Columns that are all nearly the same."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal(n)
    X = base[:, None] + 1e-3 * rng.standard_normal((n, p))
    y = 0.5 * base + rng.standard_normal(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def first_state(data, start, sigma2, pi=None):
    data.begin(start[None, :, None])
    weights = None if pi is None else (pi[:, None], np.ones(1))
    prior = mixture._Prior(1.0, known_noise=False)
    return mixture._State(data, prior, start[None, :, None], np.array([[sigma2]]), weights)


@pytest.mark.parametrize("sweeps", [1, 2, 7])
@pytest.mark.parametrize(("n", "p"), [(25, 40), (60, 12)])
def test_one_at_a_time_is_the_coordinate_ascent_of_the_oracle(sweeps, n, p):
    X, y, beta = standardised(n, p)
    X = X * np.geomspace(0.5, 2.0, p)  # nothing hangs on equal sums of squares
    start, bounds = 0.5 * beta, []
    fit = fit_one(
        alone(X, y), start, 0.4, pi=PI, tol=0.0, max_sweeps=sweeps, visit="all", callback=bounds.append
    )
    slow = mixture_ascent(X, y, start, 0.4, PI, np.append(0.0, GRID), sweeps)
    mean = (slow.phi * slow.mean).sum(axis=1)
    np.testing.assert_allclose(fit.coef, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fit.sigma2, slow.sigma2, rtol=1e-10)
    np.testing.assert_allclose(fit.pi, slow.pi, rtol=1e-8)
    np.testing.assert_allclose(fit.inclusion, 1.0 - slow.phi[:, 0], rtol=1e-8)
    np.testing.assert_allclose(bounds, slow.elbo, rtol=1e-10)
    assert fit.n_sweeps == sweeps
    assert not fit.converged


@pytest.mark.parametrize("visit", ["all", "large"])
def test_orthogonal_columns_have_the_posterior_mean_of_normal_means(visit):
    rng = np.random.default_rng(3)
    n, p = 64, 30
    X = np.linalg.qr(rng.standard_normal((n, p)))[0] * np.sqrt(n)
    y = X @ np.repeat([1.0, -0.5, 0.0], [4, 4, 22]) + rng.standard_normal(n)
    fit = fit_one(alone(X, y), np.zeros(p), 1.0, tol=1e-12, max_sweeps=2000, visit=visit)
    assert fit.converged
    for j, seen in enumerate(X.T @ y / n):
        weight, mean, _ = normal_means_mixture(
            seen, fit.sigma2 / n, fit.pi, fit.sigma2 * np.append(0.0, GRID)
        )
        np.testing.assert_allclose(fit.coef[j], weight @ mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(fit.inclusion[j], 1.0 - weight[0], rtol=1e-6)
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
    bounds = []
    fit_one(alone(X, y), b, 0.5, tol=1e-6, callback=bounds.append, visit=visit)
    bounds = np.array(bounds)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()


def test_where_columns_would_overshoot_together_those_that_change_most_are_visited():
    X, y = near_copies(20, 5000)
    pi = np.array([0.9994, 0.0002, 0.0002, 0.0002])
    state = first_state(alone(X, y), np.zeros(5000), 1.0, pi)
    pull = state.data.pull()
    step = (pull * state._best(pull).share)[0, :, 0]
    assert np.abs(step).max() < mixture.SMALL * state.unit  # every one of them is small
    assert np.linalg.norm(y - X @ step) > np.linalg.norm(y)  # together they make it worse
    pulls = state.u.copy()
    visited = state._together()[:, 0]
    assert visited.sum() == mixture.VISITED * 20
    assert np.abs(step)[visited].min() >= np.abs(step)[~visited].max()
    assert not state.b.any()
    np.testing.assert_array_equal(state.u, pulls)  # the others stay as they are
    bounds = []
    fit_one(alone(X, y), np.zeros(5000), 1.0, pi=pi, callback=bounds.append, max_sweeps=4)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()


def test_what_moving_together_gains_is_known_before(monkeypatch):
    X, y, beta = standardised(60, 120, 0.6, 1.0, 11)
    said, gain = [], mixture._State._gain
    monkeypatch.setattr(mixture._State, "_gain", lambda *given: said.append(gain(*given)) or said[-1])
    state = first_state(alone(X, y), beta + 1e-4, 0.3, PI)
    for _ in range(3):
        before = state.elbo()
        assert 10 < state._together().sum() < 110  # some are large, some are small
        np.testing.assert_allclose(state.elbo() - before, said[-1], rtol=1e-6, atol=1e-9)
        with visiting("all"):
            state.sweep()
        state.b, state.u = state.b * 1.01, state.u * 1.01  # not at its best: there is something to gain
        state.data.begin(state.b)
    assert max(said) > 0.01


@pytest.mark.parametrize(("n", "p", "rho"), [(70, 350, 0.7), (120, 400, 0.3), (200, 50, 0.7)])
def test_the_quick_sweeps_end_where_the_exact_ones_do(n, p, rho):
    X, y, beta = standardised(n, p, rho, 1.0, 7, 8, 3.0)
    limit = fit_one(alone(X, y), beta, 0.1, tol=1e-10, max_sweeps=2000, visit="all")
    tight = fit_one(alone(X, y), beta, 0.1, tol=1e-10, max_sweeps=2000)
    assert limit.converged
    assert tight.converged
    np.testing.assert_allclose(tight.coef, limit.coef, atol=1e-7)
    np.testing.assert_allclose(tight.pi, limit.pi, atol=1e-6)
    quick = fit_one(alone(X, y), beta, 0.1)
    assert quick.converged
    assert np.abs(quick.coef - limit.coef).sum() < 5e-3 * np.abs(limit.coef).sum()
    assert (np.abs(limit.coef)[:8] > 0.5 * np.abs(beta[:8])).all()  # there is something to agree on


@pytest.mark.parametrize("visit", ["all", "large"])
def test_the_order_of_columns_and_rows_does_not_matter(visit):
    X, y, beta = standardised(60, 90, 0.5, 1.0, 8)
    rng = np.random.default_rng(0)
    columns, rows = rng.permutation(90), rng.permutation(60)
    options = {"tol": 1e-10, "max_sweeps": 1000, "visit": visit}
    one = fit_one(alone(X, y), beta, 0.2, **options)
    other = fit_one(alone(X[np.ix_(rows, columns)], y[rows]), beta[columns], 0.2, **options)
    np.testing.assert_allclose(other.coef, one.coef[columns], atol=1e-7)
    np.testing.assert_allclose(other.inclusion, one.inclusion[columns], atol=1e-6)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_the_unit_of_y_does_not_matter(visit):
    X, y, beta = standardised(50, 80)
    one = fit_one(alone(X, y), 0.5 * beta, 0.2, visit=visit)
    other = fit_one(alone(X, 1024.0 * y), 512.0 * beta, 0.2 * 1024.0**2, visit=visit)
    np.testing.assert_allclose(other.coef, 1024.0 * one.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.sigma2, 1024.0**2 * one.sigma2)
    assert one.n_sweeps == other.n_sweeps


def test_weighted_rows_are_repeated_rows():
    X, y, beta = standardised(40, 60)
    weight = np.random.default_rng(0).integers(1, 4, 40)
    often = fit_one(alone(np.repeat(X, weight, axis=0), np.repeat(y, weight)), beta, 0.2, tol=1e-9)
    root = np.sqrt(weight)
    scaled = alone(root[:, None] * X, root * y, n=weight.sum())
    for data in (scaled, alone(X, y, weight.astype(float))):
        once = fit_one(data, beta, 0.2, tol=1e-9)
        np.testing.assert_allclose(once.coef, often.coef, atol=1e-9)
        np.testing.assert_allclose(once.sigma2, often.sigma2)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_small_and_degenerate_data(visit):
    X, y, _ = standardised(30, 3)
    none = fit_one(alone(X[:, :0], y), np.zeros(0), 1.0, visit=visit)
    assert none.coef.shape == none.inclusion.shape == (0,)
    assert none.converged
    np.testing.assert_allclose(none.sigma2, 1.0)
    flat = fit_one(alone(X, 0.0 * y), np.ones(3), 1.0, visit=visit)
    assert not flat.coef.any()
    assert flat.sigma2 == 0.0
    assert flat.pi[0] == 1.0
    one = fit_one(alone(X[:, :1], X[:, 0]), np.zeros(1), 1.0, visit=visit)
    assert 0.9 < one.coef[0] <= 1.0
    assert one.sigma2 > 0.0
    constant = fit_one(alone(np.column_stack([X, np.zeros(30)]), y), np.ones(4), 1.0, visit=visit)
    apart = fit_one(alone(X, y), np.ones(3), 1.0, pi=constant.pi, visit=visit)
    assert constant.coef[3] == 0.0
    np.testing.assert_allclose(constant.coef[:3], apart.coef, atol=0.01)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_tied_columns_share_what_one_would_have(visit):
    X, y, _ = standardised(60, 5, 0.0, 0.25, 9, 2)
    apart = fit_one(alone(X, y), np.zeros(5), 0.1, tol=1e-8, max_sweeps=500, visit=visit)
    tied = np.column_stack([X, X[:, 0], -X[:, 0]])
    fit = fit_one(alone(tied, y), np.zeros(7), 0.1, tol=1e-8, max_sweeps=500, visit=visit)
    np.testing.assert_allclose(fit.coef[0] + fit.coef[5] - fit.coef[6], apart.coef[0], atol=0.02)


def test_certain_columns_do_not_overflow():
    X, y, beta = standardised(2000, 4, 0.0, 1.0, 10, 2, 5.0)
    for visit in ("all", "large"):
        fit = fit_one(alone(X, y), beta, 1e-9, visit=visit)  # exponents of 1e11
        assert np.isfinite(fit.coef).all()
        np.testing.assert_allclose(fit.coef, np.linalg.lstsq(X, y, rcond=None)[0], atol=0.05)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_weights_of_zero_at_the_start_leave_only_the_spike(visit):
    X, y, beta = standardised(30, 40)
    fit = fit_one(alone(X, y), beta, 1.0, pi=np.eye(4)[0], visit=visit)
    np.testing.assert_allclose(fit.coef, 0.0, atol=1e-100)
    np.testing.assert_allclose(fit.sigma2, 1.0)


def test_the_weights_that_a_start_suggests_make_it_likeliest(monkeypatch):
    rng = np.random.default_rng(0)
    b, d, grid = np.append(np.zeros(50), rng.standard_normal(20)), 30.0, np.array([0.05, 1.5])
    data = alone(np.sqrt(d) * np.eye(70), np.ones(70))
    variance = np.append(0.0, grid) + 1.0 / d

    def likelihood(pi):
        return np.log((pi * np.exp(-0.5 * b[:, None] ** 2 / variance) / np.sqrt(variance)).sum(axis=1)).sum()

    monkeypatch.setattr(mixture, "GRID", np.array([1e-9, 1.5]))
    assert first_state(data, b, 1.0).pi[1, 0] >= 0.9 * mixture.START_LEAST
    monkeypatch.setattr(mixture, "GRID", grid)
    monkeypatch.setattr(mixture, "START_STEPS", 5000)
    monkeypatch.setattr(mixture, "START_LEAST", 0.0)
    found = first_state(data, b, 1.0).pi[:, 0]
    np.testing.assert_allclose(found.sum(), 1.0)
    for _ in range(50):
        assert likelihood(0.99 * found + 0.01 * rng.dirichlet(np.ones(3))) <= likelihood(found) + 1e-6


def test_shapes_that_do_not_fit_are_named():
    X = Dense(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"columns have 4 rows, targets have shape \(3, 1\)"):
        Batch(X, np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"targets have shape \(4, 2\) and weights \(4, 1\)"):
        Batch(X, np.ones((4, 2)), np.ones((4, 1)))


# --- several problems side by side --------------------------------------------------------------------------


def side_by_side(n=60, p=90, seed=12):
    """Return columns, and five problems of them: other targets, weights, rows that are left out, signals."""
    X, y, beta = standardised(n, p, 0.6, 0.5, seed)
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.4, X, 0.0) + 0.3 * rng.standard_normal(p)  # not centred
    targets = np.column_stack([y, y, X @ beta + 1.0, rng.standard_normal(n), y + 5.0])
    weights = np.ones((n, 5))
    weights[::5, 1] = 0.0
    weights[:, 2] = rng.uniform(0.2, 3.0, n)
    weights[:, 3] = rng.integers(0, 3, n)
    weights[n // 2 :, 4] = 0.0
    start = beta[:, None] * np.array([0.0, 0.5, 1.0, 1.0, 0.9])
    return X, targets, weights, start, np.array([0.3, 0.6, 1.0, 2.0, 0.5])


def sparse(X):
    """Return the same columns in a sparse matrix, less a shift."""
    shift = np.median(X, axis=0)
    return Sparse(csc_array(X - shift)).less(np.ones((len(X), 1)), -shift[:, None])


@pytest.mark.parametrize("home", [Dense, sparse])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("visit", ["all", "large"])
@pytest.mark.parametrize("n", [60, 120])
def test_side_by_side_is_each_alone(home, center, visit, n):
    X, targets, weights, start, sigma2 = side_by_side(n)
    options = {"tol": 1e-2, "visit": visit, "max_sweeps": 60}
    fit = fit_mixture(Batch(home(X), targets, weights, None, center), start, sigma2, **options)
    assert np.unique(fit.n_sweeps).size >= 2  # they leave one after the other, without changing the rest
    for t in range(5):
        x, z = weighted_centred(X, targets[:, t], weights[:, t], center)
        own = fit_one(alone(x, z, n=weights[:, t].sum()), start[:, t], sigma2[t], **options)
        assert fit.n_sweeps[t] == own.n_sweeps
        assert fit.converged[t] == own.converged
        np.testing.assert_allclose(fit.coef[:, t], own.coef, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(fit.sigma2[t], own.sigma2, rtol=1e-10)
        np.testing.assert_allclose(fit.pi[:, t], own.pi, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(fit.inclusion[:, t], own.inclusion, rtol=1e-10, atol=1e-10)


def test_one_problem_of_many_is_the_coordinate_ascent_of_the_oracle():
    X, targets, weights, start, sigma2 = side_by_side(40)
    pi = np.column_stack([PI, PI[::-1], PI, PI, PI])
    data = Batch(Dense(X), targets, weights)
    fit = fit_mixture(data, start, sigma2, pi=pi, tol=0.0, max_sweeps=3, visit="all")
    for t in range(5):
        x, z = weighted_centred(X, targets[:, t], weights[:, t], center=True)
        if t == 2:
            continue  # its weights are no counts: the oracle takes n to be the number of rows
        z = np.append(z, np.zeros(int(weights[:, t].sum()) - z.size))  # a row of zeros only counts
        x = np.vstack([x, np.zeros((z.size - x.shape[0], x.shape[1]))])
        slow = mixture_ascent(x, z, start[:, t], sigma2[t], pi[:, t], np.append(0.0, GRID), 3)
        np.testing.assert_allclose(fit.coef[:, t], (slow.phi * slow.mean).sum(axis=1), rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(fit.sigma2[t], slow.sigma2, rtol=1e-9)
        np.testing.assert_allclose(fit.pi[:, t], slow.pi, rtol=1e-8)


def test_the_callback_sees_the_problems_that_are_left():
    X, targets, weights, start, sigma2 = side_by_side()
    seen = []
    fit = fit_mixture(Batch(Dense(X), targets, weights), start, sigma2, callback=seen.append)
    assert [bounds.size for bounds in seen] == [
        (fit.n_sweeps >= sweep).sum() for sweep in range(1, fit.n_sweeps.max() + 1)
    ]


def test_a_problem_without_anything_to_explain_leaves_the_others_alone():
    X, targets, weights, start, sigma2 = side_by_side()
    targets[:, 1] = 7.0
    fit = fit_mixture(Batch(Dense(X), targets, weights), start, sigma2)
    assert not fit.coef[:, 1].any()
    assert fit.n_sweeps[1] == 0
    others = [0, 2, 3, 4]
    rest = Batch(Dense(X), targets[:, others], weights[:, others])
    apart = fit_mixture(rest, start[:, others], sigma2[others])
    np.testing.assert_allclose(fit.coef[:, others], apart.coef, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(fit.sigma2[others], apart.sigma2, rtol=1e-10)


@pytest.mark.parametrize("visit", ["all", "large"])
def test_known_noise_stays_what_it_is(visit):
    X, targets, weights, start, sigma2 = side_by_side()
    data = Batch(Dense(X), targets, weights)
    bounds = []
    options = {"tol": 1e-6, "max_sweeps": 120, "visit": visit, "known_noise": True}
    fit = fit_mixture(data, start, sigma2, callback=lambda b: bounds.append(b[0]), **options)
    assert np.array_equal(fit.sigma2, sigma2)
    first = np.array(bounds[: fit.n_sweeps[0]])
    assert (np.diff(first) >= -1e-9 * np.abs(first[:-1])).all()
    free = fit_mixture(data, start, sigma2, **{**options, "known_noise": False})
    assert (np.abs(free.sigma2 / sigma2 - 1.0) > 0.05).all()  # it would have moved
    again = fit_mixture(data, free.coef, free.sigma2, **options, pi=free.pi / free.pi.sum(axis=0))
    there = free.converged
    assert there.any()
    np.testing.assert_allclose(again.coef[:, there], free.coef[:, there], atol=1e-4)  # nowhere to go
    none = Batch(Dense(X), 0.0 * targets, weights)
    assert np.array_equal(fit_mixture(none, start, sigma2, known_noise=True).sigma2, sigma2)
    assert not fit_mixture(none, start, sigma2).sigma2.any()


def test_known_noise_is_that_of_normal_means():
    rng = np.random.default_rng(3)
    X = np.linalg.qr(rng.standard_normal((64, 30)))[0] * 8.0
    y = X @ np.repeat([1.0, -0.5, 0.0], [4, 4, 22]) + rng.standard_normal(64)
    fit = fit_one(alone(X, y), np.zeros(30), 0.3, tol=1e-12, max_sweeps=2000, known_noise=True)
    for j, seen in enumerate(X.T @ y / 64):
        weight, mean, _ = normal_means_mixture(seen, 0.3 / 64, fit.pi, 0.3 * np.append(0.0, GRID))
        np.testing.assert_allclose(fit.coef[j], weight @ mean, rtol=1e-6, atol=1e-9)
