"""Every point of the path against ridge regressions of the rows of each training set, one at a time."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from average_sets import FOLDS, make_sets
from family_cases import FAMILIES as CASES
from horseshoe.average import ridge_newton
from horseshoe.average.ridge import PENALTIES, ridge_paths
from horseshoe.average.ridge_path import START
from horseshoe.families import Binomial, Laplace, NegativeBinomial, Poisson, StudentT
from oracles import laplace_evidence, ridge_regression

SHAPES = {"wide": (24, 40), "square": (24, 24), "tall": (24, 7)}


def ridge_path(sets):
    """Return the path of one response."""
    return ridge_paths((sets,))[0]


def rows_of(sets, t):
    """Return the rows of a training set, each as often as it counts."""
    return np.repeat(np.arange(sets.y.size), sets.weights[:, t].astype(int))


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("folds", FOLDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_point_is_an_explicit_ridge_regression(shape, folds, center, counts):
    n, p = SHAPES[shape]
    sets = make_sets("gaussian", n, p, folds, center=center, counts=counts)
    X, path = sets.columns.dense(), ridge_path(sets)
    assert len(path.points) == PENALTIES.size
    assert path.dual == (p > n)
    said, truth = [], []
    for point in path.points[::4]:
        coef = path.coef(sets, point.solution)
        asked = sets.tested
        np.testing.assert_allclose(point.eta[asked], (X @ coef + point.intercept)[asked], atol=1e-8)
        for t in range(sets.n_sets):
            rows = rows_of(sets, t)
            slow = ridge_regression(X[rows], sets.y[rows], point.penalty, center)
            np.testing.assert_allclose(coef[:, t], slow.coef, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(point.intercept[t], slow.intercept, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(point.sigma2[t], slow.square / rows.size, rtol=1e-7)
            if p <= n or np.isfinite(point.fit_trace[t]):
                np.testing.assert_allclose(point.fit_trace[t], slow.trace, rtol=1e-7)
            said.append(point.evidence[t])
            truth.append(slow.evidence)
    said, truth = (np.reshape(values, (-1, sets.n_sets)) for values in (said, truth))
    np.testing.assert_allclose(said - said[0], truth - truth[0], rtol=1e-7, atol=1e-7)
    assert np.ptp(truth) > 0.1


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("folds", FOLDS)
def test_the_trace_is_known_where_a_mode_starts(folds, center, counts):
    sets = make_sets("gaussian", *SHAPES["wide"], folds, center=center, counts=counts)
    X, points = sets.columns.dense(), ridge_path(sets).points
    points = [point for point in points if point.penalty <= START * X.shape[1]]
    for t in range(sets.n_sets):
        rows, best = rows_of(sets, t), min(points, key=lambda point, t=t: point.evidence[t])
        slow = ridge_regression(X[rows], sets.y[rows], best.penalty, center)
        np.testing.assert_allclose(best.fit_trace[t], slow.trace, rtol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("folds", FOLDS)
def test_other_responses_than_its_own_do_not_matter(shape, folds):
    sets = make_sets("gaussian", *SHAPES[shape], folds)
    path = ridge_path(sets)
    for t, out in enumerate(sets.weights[:, :-1].T == 0.0):
        wild = np.where(out, 1e9 * np.random.default_rng(t).standard_normal(sets.y.size), sets.y)
        other = ridge_path(make_sets("gaussian", *SHAPES[shape], folds, y=wild))
        for one, two in zip(path.points, other.points, strict=True):
            for name in ("solution", "intercept", "eta", "sigma2", "evidence"):
                ours, theirs = getattr(one, name)[..., t], getattr(two, name)[..., t]
                np.testing.assert_allclose(theirs, ours, rtol=1e-8, atol=1e-8 * np.nanmax(np.abs(ours)))


def test_noise_free_responses_have_a_finite_evidence():
    for n, p in SHAPES.values():
        sets = make_sets("gaussian", n, p, "unequal", y=np.full(n, 3.0))
        for point in ridge_path(sets).points:
            assert np.isfinite(point.evidence).all()
            assert (point.sigma2 > 0.0).all()


# --- families that iterate ----------------------------------------------------------------------------------

ITERATED = {
    "binomial": Binomial(),
    "irls": Binomial(augmentation="irls"),
    "poisson": Poisson(),
    "student_t": StudentT(df=4.0),
    "negative_binomial": NegativeBinomial(size=1.0),
}
HALF = PENALTIES[::2]
"""The penalties of families that iterate: from one to the next is a step that Newton's method still makes."""
DISTRIBUTIONS = {case.name: case for case in CASES}
CASE = {"binomial": "polya_gamma"}


def converged(sets, penalty, start=None, steps=200):
    """Iterate at one penalty until nothing moves."""
    newton = ridge_newton.Newton(sets)
    point = ridge_newton._nowhere(sets) if start is None else start
    for _ in range(steps):
        before, point = point, newton.step(point, penalty, np.inf)
        if np.abs(point.eta - before.eta).max() < 1e-12:
            break
    coef = sets.columns.rmatvec(point.solution) if newton.K is not None else point.solution
    return point, coef


@pytest.mark.parametrize("shape", ["wide", "tall"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", ITERATED)
def test_at_convergence_the_penalised_slope_is_zero(name, shape, center):
    n, p = SHAPES[shape]
    family = ITERATED[name]
    sets = make_sets(family, n, p, "unequal", center=center, counts=True, offset=not family.is_location)
    X, case = sets.columns.dense(), DISTRIBUTIONS[CASE.get(name, name)]
    for penalty in (0.2 * p, 5.0 * p):
        point, coef = converged(sets, penalty)
        np.testing.assert_allclose(point.eta, sets.eta(coef, point.intercept), atol=1e-9)
        for t in range(sets.n_sets):
            w, sigma2 = sets.weights[:, t], point.sigma2[t]
            pull = w * case.slope(sets.y, point.eta[:, t], sigma2)
            np.testing.assert_allclose(X.T @ pull, penalty * coef[:, t] / sigma2, atol=2e-6)
            if center:
                np.testing.assert_allclose(pull.sum(), 0.0, atol=2e-6)
            else:
                assert point.intercept[t] == 0.0
            assert (sigma2 == 1.0) != family.has_dispersion
        assert np.abs(coef).max() > 1e-3  # there is something to differentiate


@pytest.mark.parametrize("shape", ["wide", "tall"])
def test_two_classes_are_those_of_scikit_learn(shape):
    n, p = SHAPES[shape]
    sets = make_sets("binomial", n, p, "unequal", counts=True)
    X = sets.columns.dense()
    for penalty in (0.3, 3.0 * p):
        point, coef = converged(sets, penalty, steps=3000)
        for t in range(sets.n_sets):
            w = sets.weights[:, t]
            theirs = LogisticRegression(C=1.0 / penalty, tol=1e-10, max_iter=10000)
            theirs.fit(X[w > 0], sets.y[w > 0], sample_weight=w[w > 0])
            np.testing.assert_allclose(coef[:, t], theirs.coef_[0], atol=1e-5)
            np.testing.assert_allclose(point.intercept[t], theirs.intercept_[0], atol=1e-5)


def test_least_absolute_deviations_are_at_their_best():
    sets = make_sets(Laplace(), 24, 3, "unequal", counts=True)
    X = sets.columns.dense()
    point, coef = converged(sets, 2.0, steps=400)
    for t in range(sets.n_sets):
        w, sigma2 = sets.weights[:, t], point.sigma2[t]

        def objective(theta, w=w, sigma2=sigma2):
            loss = w @ np.abs(sets.y - theta[0] - X @ theta[1:]) / np.sqrt(sigma2)
            return loss + 0.5 * 2.0 * theta[1:] @ theta[1:] / sigma2

        ours = np.append(point.intercept[t], coef[:, t])
        best = minimize(objective, ours, method="Nelder-Mead", options={"xatol": 1e-6, "maxiter": 4000})
        assert objective(ours) < best.fun + 1e-2


@pytest.mark.parametrize("shape", ["wide", "tall"])
@pytest.mark.parametrize("name", ["irls", "poisson"])
def test_the_evidence_is_that_of_laplace(name, shape):
    """The weights of these families are the curvatures of their likelihoods."""
    n, p = SHAPES[shape]
    sets = make_sets(ITERATED[name], n, p, "unequal", counts=True)
    X, case, said, truth = sets.columns.dense(), DISTRIBUTIONS[name], [], []
    for penalty in (0.3 * p, 3.0 * p, 100.0 * p):
        point, coef = converged(sets, penalty)
        for t in range(sets.n_sets):
            mean = case.distribution(point.eta[:, t], 1.0).mean()
            curvature = mean if name == "poisson" else mean * (1.0 - mean)
            loss = -case.log_density(sets.y, point.eta[:, t])
            w = sets.weights[:, t]
            truth.append(laplace_evidence(X, w, loss, curvature, coef[:, t], penalty))
            said.append(point.evidence[t])
    said, truth = (np.reshape(values, (-1, sets.n_sets)) for values in (said, truth))
    np.testing.assert_allclose(said - said[0], truth - truth[0], atol=1e-6)


@pytest.mark.parametrize("shape", ["wide", "tall"])
@pytest.mark.parametrize("name", ITERATED)
def test_the_path_follows_the_fits(name, shape):
    n, p = SHAPES[shape]
    sets = make_sets(ITERATED[name], n, p, "unequal")
    path = ridge_path(sets)
    assert path.points[-1].penalty < START * p  # where modes may start
    np.testing.assert_allclose([point.penalty for point in path.points], HALF[: len(path.points)] * p)
    newton = 0.005 if name in ("irls", "poisson") else 0.1  # steps of Newton's method, or of EM
    for point in path.points[::2]:
        exact, _ = converged(sets, point.penalty, start=point)
        error = np.sqrt(np.mean((point.eta - exact.eta) ** 2, axis=0))
        most = newton if point.penalty > 0.99 * START * p else 1.0  # beyond, separable data run away slowly
        assert (error < most * (exact.eta.std(axis=0) + 0.1)).all()


@pytest.mark.parametrize("shape", ["wide", "tall"])
@pytest.mark.parametrize("name", ["binomial", "poisson", "negative_binomial", "student_t", "laplace"])
def test_the_likeliest_penalty_does_not_hang_on_other_sets(name, shape):
    """How far the path goes does; so evidence counts only up to where every set would have gone by itself."""
    n, p = SHAPES[shape]
    sets = make_sets(name, n, p)
    path = ridge_path(sets)
    for t, out in enumerate(sets.weights[:, :-1].T == 0.0):
        y = np.where(out, sets.y[::-1], sets.y)
        other = ridge_path(make_sets(name, n, p, y=y))
        for one, two in zip(path.points, other.points, strict=False):
            for value in ("solution", "intercept", "eta", "sigma2", "evidence"):
                ours, theirs = getattr(one, value)[..., t], getattr(two, value)[..., t]
                np.testing.assert_allclose(theirs, ours, rtol=1e-8, atol=1e-10)
        best, again = (np.argmin([point.evidence[t] for point in some.points]) for some in (path, other))
        assert best == again


def test_a_path_that_gets_worse_ends_and_one_set_alone_ends_no_sooner(monkeypatch):
    monkeypatch.setattr(ridge_newton, "START", np.inf)  # modes may start anywhere
    sets = make_sets("poisson", 24, 40, seed=3)
    path = ridge_path(sets)
    assert len(path.points) < HALF.size
    evidence = np.array([point.evidence for point in path.points])
    best = evidence.argmin(axis=0)
    for t in range(sets.n_sets):
        finite = np.isfinite(evidence[:, t])
        assert finite[: best[t] + ridge_newton.RISES + 1].all()
        assert not finite[best[t] + ridge_newton.RISES + 1 :].any()


def test_a_path_goes_on_to_where_modes_may_start(monkeypatch):
    """However bad the fits are there: without the limit this path ends before."""
    sets = make_sets("poisson", 24, 40, y=np.random.default_rng(0).poisson(3.0, 24))
    before = [point.penalty for point in ridge_path(sets).points]
    monkeypatch.setattr(ridge_newton, "START", np.inf)
    assert before[-1] < START * 40 < ridge_path(sets).points[-1].penalty


@pytest.mark.parametrize("shape", ["wide", "tall"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", ITERATED)
def test_conjugate_gradients_find_what_factors_find(name, shape, center, monkeypatch):
    """And where they are not given the time, factors do it."""
    n, p = SHAPES[shape]
    sets = make_sets(ITERATED[name], n, p, "unequal", center=center, counts=True)
    start = ridge_newton._nowhere(sets)
    for penalty in (1.0 * p, 100.0 * p):
        exact = ridge_newton.Newton(sets).step(start, penalty, -np.inf)
        assert np.isnan(exact.fit_trace).all()  # nothing is more likely than that
        newton = ridge_newton.Newton(sets)
        quick = newton.step(start, penalty)
        assert newton._quick.all()
        assert np.isinf(quick.evidence).all()
        monkeypatch.setattr(ridge_newton, "GRADIENTS", 1)
        slow = ridge_newton.Newton(sets)
        other = slow.step(start, penalty)
        assert not slow._quick.any()
        monkeypatch.undo()
        for found in (quick, other):
            for value in ("solution", "intercept", "eta", "sigma2"):
                ours, theirs = getattr(found, value), getattr(exact, value)
                np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9 * np.abs(theirs).max())
