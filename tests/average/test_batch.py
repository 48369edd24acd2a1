"""Problems side by side against plain arrays: rows that count, times the roots of their weights, centred."""

import numpy as np
import pytest
from scipy.sparse import csc_array

from horseshoe.average.batch import Batch
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse
from oracles import weighted_centred

T = 4


def sparse(X):
    shift = np.median(X, axis=0)
    return Sparse(csc_array(X - shift)).less(np.ones((len(X), 1)), -shift[:, None])


class Plain:
    """The same problems, each an array of its own."""

    def __init__(self, n, p, q, center, seed=0):
        rng = np.random.default_rng(seed)
        self.X = np.where(rng.random((n, p)) < 0.5, rng.standard_normal((n, p)), 0.0)
        self.X += rng.uniform(-2.0, 2.0, p)
        self.targets = rng.standard_normal((q, n, T)) + np.arange(T)
        self.weights = rng.uniform(0.1, 3.0, (n, T))
        self.weights[::3, 1] = 0.0
        self.weights[:, 2] = np.arange(n) < n // 2
        self.coef = np.where(rng.random((q, p, T)) < 0.5, rng.standard_normal((q, p, T)), 0.0)
        self.change = rng.standard_normal((q, p, T))
        self.problems = [
            [weighted_centred(self.X, z, w, center) for z in each]
            for each, w in zip(self.targets.transpose(2, 0, 1), self.weights.T, strict=True)
        ]

    def each(self, function):
        """Return what a function says of X, z, coefficients and changes: targets first, problems last."""
        found = [
            [function(x, z, self.coef[o, :, t], self.change[o, :, t]) for o, (x, z) in enumerate(each)]
            for t, each in enumerate(self.problems)
        ]
        return np.moveaxis(np.array(found), 0, -1)


@pytest.fixture(
    params=[(20, 30, 1), (40, 9, 3), (20, 30, 3)], ids=["wide", "tall, three targets", "wide, three"]
)
def shape(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["centred", "as they are"])
def pair(request, shape, home):
    plain = Plain(*shape, request.param)
    return plain, Batch(home(plain.X), plain.targets, plain.weights, center=request.param)


@pytest.fixture(params=[Dense, sparse])
def home(request):
    return request.param


def same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11 * np.abs(theirs).max())


def test_what_does_not_change(pair):
    plain, batch = pair
    assert batch.shape == plain.coef.shape
    same(batch.n, plain.weights.sum(axis=0))
    same(batch.squares, plain.each(lambda x, z, b, c: (x**2).sum(axis=0))[0])
    same(batch.total, plain.each(lambda x, z, b, c: z @ z))


@pytest.mark.parametrize("start", ["nothing", "something"])
def test_residuals(pair, start):
    plain, batch = pair
    if start == "nothing":
        plain.coef[:] = 0.0
    batch.begin(plain.coef)
    same(batch.pull(), plain.each(lambda x, z, b, c: x.T @ (z - x @ b)))
    same(batch.rss(), plain.each(lambda x, z, b, c: np.sum((z - x @ b) ** 2)))


def test_changes_of_all_columns(pair):
    plain, batch = pair
    batch.begin(plain.coef)
    fit = batch.fit(plain.change)
    same((fit**2).sum(axis=1), plain.each(lambda x, z, b, c: np.sum((x @ c) ** 2)))
    before = batch.pull().copy()
    batch.subtract_fit(0.0 * fit)
    same(batch.pull(), before)  # nothing is done before it is asked for
    batch.subtract_fit(fit)
    same(batch.pull(), plain.each(lambda x, z, b, c: x.T @ (z - x @ (b + c))))
    same(batch.rss(), plain.each(lambda x, z, b, c: np.sum((z - x @ (b + c)) ** 2)))


@pytest.mark.parametrize("count", [1, 5, "all"])
def test_changes_of_some_columns_of_one_problem(pair, count):
    plain, batch = pair
    _, p, _ = plain.coef.shape
    where = np.arange(p) if count == "all" else np.arange(1, 1 + 3 * count, 3) % p
    where = np.unique(where)
    batch.begin(plain.coef)
    for t, each in enumerate(plain.problems):
        x, z, b = each[0][0], np.array([z for _, z in each]), plain.coef[..., t].copy()
        gram, work = batch.local(t, where)
        same(gram, x.T[where] @ x[:, where])
        same(work, x.T[where] @ (z - b @ x.T).T)
        same(batch.normal(t, where)[1], x.T[where] @ z.T)
        before = batch.rss()
        work[:] = 1e9  # visits overwrite it: r is moved by `update_residual` alone
        same(batch.rss(), before)
        for times in (1.0, -3.0):  # the second time the columns are known already
            batch.update_residual(t, where, times * plain.change[:, where, t])
            b[:, where] += times * plain.change[:, where, t]
            same(batch.pull()[..., t], (z - b @ x.T) @ x)
            same(batch.rss()[:, t], np.sum((z - b @ x.T) ** 2, axis=1))
            same(batch.local(t, where)[1], x.T[where] @ (z - b @ x.T).T)
        others = np.arange(T) != t
        same(batch.rss()[:, others], before[:, others])
        plain.coef[..., t] = b
    x, z = plain.problems[0][0]
    other = np.array([0, p - 1])  # other columns than the last time
    same(batch.local(0, other)[1][:, 0], x.T[other] @ (z - x @ plain.coef[0, :, 0]))


@pytest.mark.parametrize("keep", [np.array([False, True, False, True]), np.array([3, 1])])
def test_some_of_the_problems(pair, keep):
    plain, batch = pair
    batch.begin(plain.coef)
    where = np.arange(4)
    batch.local(1, where)  # known under its number in all problems
    part = batch.only(keep)
    chosen = np.arange(T)[keep]
    assert part.shape == (*plain.coef.shape[:2], 2)
    for name in ("n", "total", "squares"):
        same(getattr(part, name), getattr(batch, name)[..., keep])
    same(part.pull(), batch.pull()[..., keep])
    before = batch.pull().copy()
    for i, t in enumerate(chosen):
        x, z = plain.problems[t][0]
        same(part.local(i, where)[0], x.T[where] @ x[:, where])
        part.update_residual(i, where, plain.change[:, where, t])
        change = np.where(np.arange(x.shape[1]) < 4, plain.change[0, :, t], 0.0)
        same(part.pull()[0, :, i], x.T @ (z - x @ (plain.coef[0, :, t] + change)))
    part.subtract_fit(part.fit(plain.change[..., keep]))
    same(batch.pull(), before)  # what a part does is nothing to the whole


def test_how_many_observations_there_are_may_be_said(pair):
    plain, _ = pair
    n = np.array([7.0, 8.0, 9.0, 10.0])
    assert Batch(Dense(plain.X), plain.targets, plain.weights, n).n is n
