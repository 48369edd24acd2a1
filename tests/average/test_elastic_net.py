"""The elastic net of all training sets against coordinate descent on the rows of each, one at a time."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array
from sklearn.linear_model import ElasticNet

from average_sets import make_sets
from horseshoe import AdaptiveRegressor
from horseshoe.average import elastic_net as room
from horseshoe.average.components import Fitting
from horseshoe.average.compressed import compress_folds
from horseshoe.average.elastic_net import PENALTIES, RATIO, elastic_net
from horseshoe.average.sets import Sets
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse
from horseshoe.families import Gaussian
from oracles import elastic_net_path

SHAPES = {"tall": (40, 6), "wide": (24, 40)}


def sparse(X):
    shift = np.median(X, axis=0)
    return Sparse(csc_array(X - shift)).less(np.ones((len(X), 1)), -shift[:, None])


@pytest.fixture
def exact(monkeypatch):
    """Descent goes on until nothing is left to gain."""
    monkeypatch.setattr(room, "SWEEPS", 4000)


def rows_of(sets, t):
    """Return the rows of a training set, each as often as it counts."""
    return np.repeat(np.arange(sets.y.size), sets.weights[:, t].astype(int))


def fitted_columns(sets, t):
    """Return the columns of a set with the largest pulls, if these are more than it is given."""
    rows, X = rows_of(sets, t), sets.columns.dense()
    x, z = (part - part.mean(axis=0) * sets.center for part in (X[rows], sets.y[rows]))
    most = int(min(room.PER_ROW * rows.size, room.MOST))
    return np.sort(np.argsort(-np.abs(x.T @ z))[:most])


def slow_paths(sets):
    """Yield the path of each training set, fitted to its rows alone."""
    X = sets.columns.dense()
    for t in range(sets.n_sets):
        rows, some = rows_of(sets, t), fitted_columns(sets, t)
        path = np.zeros((X.shape[1], PENALTIES.size))
        path[some], level = elastic_net_path(X[rows][:, some], sets.y[rows], PENALTIES, sets.center)
        yield path, level


def shares_of(sets, paths):
    """Return what each penalty counts: the likelihood of the rows left out, row by row."""
    X, left = sets.columns.dense(), np.zeros(PENALTIES.size)
    for (_, test), (path, level) in zip(sets.folds, paths, strict=False):
        for i in test:
            left += sets.counts[i] * (sets.y[i] - X[i] @ path - level) ** 2
    size = sets.counts[np.unique(np.concatenate([test for _, test in sets.folds]))].sum()
    likelihood = (left / left.min()) ** (-0.5 * size)
    return likelihood / likelihood.sum()


def check(sets):
    """Compare with the slow answer; return the shares."""
    X, found, paths = sets.columns.dense(), elastic_net(sets), list(slow_paths(sets))
    shares = shares_of(sets, paths)
    length = sum(share * end for end, share in enumerate(shares))  # of the path, from its first point
    for t, (path, level) in enumerate(paths):
        rows = rows_of(sets, t)
        coef, intercept = path @ shares, level @ shares
        np.testing.assert_allclose(found.coef[:, t], coef, rtol=0, atol=1e-7)
        np.testing.assert_allclose(found.intercept[t], intercept, rtol=0, atol=1e-7)
        left = sets.y[rows] - X[rows] @ coef - intercept
        np.testing.assert_allclose(found.sigma2[t], np.mean(left**2), rtol=1e-6)
        inside = np.zeros(sets.columns.shape[1])
        for end, share in enumerate(shares):
            inside += share * (path[:, 1 : end + 1] != 0.0).sum(axis=1)
        np.testing.assert_allclose(found.inclusion[:, t], inside / length, rtol=0, atol=1e-7)
    assert found.families == sets.families
    return shares


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("folds", ["unequal", "series"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_set_is_an_elastic_net_of_its_rows_alone(shape, folds, center, counts, exact):
    sets = make_sets("gaussian", *SHAPES[shape], folds, center=center, counts=counts)
    shares = check(sets)
    assert shares.max() < 0.99  # more than one penalty has a say


def test_penalties_are_those_of_scikit_learn(exact, monkeypatch):
    """At one penalty alone."""
    sets = make_sets("gaussian", 40, 6, counts=True)
    X = sets.columns.dense()
    for at in (1, PENALTIES.size // 2, PENALTIES.size - 1):
        monkeypatch.setattr(room, "_shares", lambda *_, at=at: np.eye(PENALTIES.size)[at])
        found = elastic_net(sets)
        for t in range(sets.n_sets):
            rows = rows_of(sets, t)
            first = np.abs((X[rows] - X[rows].mean(axis=0)).T @ (sets.y[rows] - sets.y[rows].mean())).max()
            alpha = first * PENALTIES[at] / RATIO / rows.size
            theirs = ElasticNet(alpha=alpha, l1_ratio=RATIO, tol=1e-12, max_iter=100_000)
            theirs.fit(X[rows], sets.y[rows])
            np.testing.assert_allclose(found.coef[:, t], theirs.coef_, rtol=0, atol=1e-7)
            np.testing.assert_allclose(found.intercept[t], theirs.intercept_, rtol=0, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_where_descent_ends_is_near_its_end(shape, monkeypatch):
    sets = make_sets("gaussian", *SHAPES[shape])
    soon = elastic_net(sets)
    monkeypatch.setattr(room, "SWEEPS", 4000)
    late = elastic_net(sets)
    apart = sets.columns.matvec(soon.coef - late.coef) + soon.intercept - late.intercept
    assert np.sqrt((apart**2).mean(axis=0)).max() < 0.01 * np.std(sets.y)


def test_of_very_many_columns_those_with_the_largest_pulls_are_fitted(exact):
    sets = make_sets("gaussian", 20, 180, "halves")
    given = [fitted_columns(sets, t) for t in range(sets.n_sets)]
    assert max(some.size for some in given) < 180
    assert not np.array_equal(given[0], given[1])
    check(sets)


def test_there_is_a_limit_to_how_many_are_fitted(exact, monkeypatch):
    monkeypatch.setattr(room, "MOST", 7)
    sets = make_sets("gaussian", 40, 30)
    assert [fitted_columns(sets, t).size for t in range(sets.n_sets)] == [7] * sets.n_sets
    check(sets)


@pytest.mark.parametrize("p", [6, 60, 300])
def test_no_set_sees_the_responses_of_rows_left_out(p, monkeypatch):
    """What these decide is how much each penalty counts, and nothing else: not one digit."""
    given = np.random.default_rng(0).dirichlet(np.ones(PENALTIES.size))
    monkeypatch.setattr(room, "_shares", lambda *_: given)
    sets = make_sets("gaussian", 40, p)
    found = elastic_net(sets)
    for t, (train, _) in enumerate(sets.folds):
        wild = 1e6 * np.random.default_rng(t).standard_normal(sets.y.size)
        wild[train] = sets.y[train]
        other = elastic_net(replace(sets, y=wild))
        np.testing.assert_array_equal(other.coef[:, t], found.coef[:, t])
        np.testing.assert_array_equal(other.inclusion[:, t], found.inclusion[:, t])
        np.testing.assert_allclose(other.intercept[t], found.intercept[t], rtol=0, atol=1e-13)
        np.testing.assert_allclose(other.sigma2[t], found.sigma2[t], rtol=1e-12)
        assert np.abs(other.coef[:, -1] - found.coef[:, -1]).max() > 1.0


def test_rows_left_out_decide_how_much_a_penalty_counts():
    """Of responses that have nothing to do with the columns, the fit that has not seen them shrinks."""
    sets = make_sets("gaussian", 40, 6, ((np.arange(20), np.arange(20, 40)),))
    y = sets.y.copy()
    y[20:] = np.random.default_rng(5).standard_normal(20)  # nothing that the columns know of
    alike, noise = elastic_net(sets), elastic_net(replace(sets, y=y))
    assert np.abs(noise.coef[:, 0]).sum() < 0.7 * np.abs(alike.coef[:, 0]).sum()


@pytest.mark.parametrize("p", [6, 60])
def test_sparse_columns_say_the_same(p):
    sets = make_sets("gaussian", 40, p, counts=True)
    other = elastic_net(replace(sets, columns=sparse(sets.columns.dense())))
    for ours, theirs in zip(elastic_net(sets)[:4], other[:4], strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)


@pytest.mark.parametrize("p", [6, 60, 300])
def test_the_order_of_columns_does_not_matter(p):
    sets = make_sets("gaussian", 40, p)
    turned = np.random.default_rng(0).permutation(p)
    found = elastic_net(sets)
    other = elastic_net(replace(sets, columns=Dense(np.asfortranarray(sets.columns.dense()[:, turned]))))
    np.testing.assert_allclose(other.coef, found.coef[turned], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.inclusion, found.inclusion[turned], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.intercept, found.intercept, rtol=0, atol=1e-9)


@pytest.mark.parametrize("home", [Dense, sparse])
def test_columns_without_a_pull_stay_out(home):
    """Contrasts of four rows, of which y is another: exactly orthogonal in every set."""
    x, y = np.tile([[1.0], [-1.0], [1.0], [-1.0]], (5, 1)), np.tile([3.0, 3.0, 1.0, 1.0], 5)
    block = np.arange(20) // 4
    folds = tuple((np.flatnonzero(block != k), np.flatnonzero(block == k)) for k in range(5))
    for X in (x, np.zeros((20, 3)), np.zeros((20, 0))):
        sets = Sets(home(np.asfortranarray(X)), y, np.zeros(20), np.ones(20), folds, Gaussian())
        found = elastic_net(sets)
        assert found.coef.shape == found.inclusion.shape == (X.shape[1], 6)
        assert not found.coef.any()
        assert not found.inclusion.any()
        np.testing.assert_allclose(found.intercept, 2.0)
        np.testing.assert_allclose(found.sigma2, 1.0)
    bare = elastic_net(
        Sets(home(np.asfortranarray(x)), y, np.zeros(20), np.ones(20), folds, Gaussian(), False)
    )
    assert not bare.coef.any()
    assert not bare.intercept.any()
    np.testing.assert_allclose(bare.sigma2, 5.0)


def test_one_column_with_an_effect_among_columns_without_a_pull():
    """And a set in which it rests has none."""
    x = np.zeros((20, 4))
    x[:10, 2] = np.tile([1.0, -1.0], 5)
    folds = ((np.arange(10, 20), np.arange(10)), (np.arange(10), np.arange(10, 20)))
    sets = Sets(Dense(np.asfortranarray(x)), 3.0 * x[:, 2], np.zeros(20), np.ones(20), folds, Gaussian())
    found = elastic_net(sets)
    assert not found.coef[[0, 1, 3]].any()
    assert not found.coef[:, 0].any()
    assert found.coef[2, 1] > 0.0
    assert found.inclusion[2].tolist() == pytest.approx([0.0, 1.0, 1.0])


def test_few_rows_for_many_say_the_same():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 8)) + rng.standard_normal((6000, 1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X @ np.array([0.5, -0.3, 0.2, 0.1, 0.0, 0.0, 0.0, 0.05]) + rng.standard_normal(6000)
    folds = tuple((np.flatnonzero(np.arange(6000) % 3 != f), np.arange(f, 6000, 3)) for f in range(3))
    many = Sets(Dense(np.asfortranarray(X)), y, np.zeros(6000), np.ones(6000), folds, Gaussian())
    few = compress_folds(many)
    assert few.y.size < 100
    for ours, theirs in zip(elastic_net(few)[:4], elastic_net(many)[:4], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_the_component_is_the_net():
    sets = make_sets("gaussian", 40, 6)
    for ours, theirs in zip(Fitting(sets).component("elastic_net")[:4], elastic_net(sets)[:4], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("p", [8, 90])
def test_threads_change_nothing(p):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, p))
    y = X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(50)
    names = ["null", "ridge", "elastic_net", "horseshoe", "mixture_horseshoe", "mixture_forward"]
    one, two = (AdaptiveRegressor(components=names, cv=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    weights = {row.name: row.weight for row in one.components_}
    assert weights["elastic_net"] > 0.01
    for name in ("coef_", "intercept_", "inclusion_", "component_weights_", "sparse_coef_", "cv_error_"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name))
