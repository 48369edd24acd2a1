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
    return Sparse(csc_array(X - shift), -shift)


class Plain:
    """The same problems, each an array of its own."""

    def __init__(self, n, p, center, seed=0):
        rng = np.random.default_rng(seed)
        self.X = np.where(rng.random((n, p)) < 0.5, rng.standard_normal((n, p)), 0.0)
        self.X += rng.uniform(-2.0, 2.0, p)
        self.targets = rng.standard_normal((n, T)) + np.arange(T)
        self.weights = rng.uniform(0.1, 3.0, (n, T))
        self.weights[::3, 1] = 0.0
        self.weights[:, 2] = np.arange(n) < n // 2
        self.coef = np.where(rng.random((p, T)) < 0.5, rng.standard_normal((p, T)), 0.0)
        self.change = rng.standard_normal((p, T))
        self.problems = [
            weighted_centred(self.X, z, w, center)
            for z, w in zip(self.targets.T, self.weights.T, strict=True)
        ]

    def each(self, function):
        """Return what a function says of X, z, coefficients and changes of each problem, on the last axis."""
        found = [function(x, z, self.coef[:, t], self.change[:, t]) for t, (x, z) in enumerate(self.problems)]
        return np.stack(found, axis=-1)


@pytest.fixture(params=[(20, 30), (40, 9)], ids=["wide", "tall"])
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
    plain, stack = pair
    assert stack.n_problems == T
    same(stack.n, plain.weights.sum(axis=0))
    same(stack.squares, plain.each(lambda x, z, b, c: (x**2).sum(axis=0)))
    same(stack.total, plain.each(lambda x, z, b, c: z @ z))


@pytest.mark.parametrize("start", ["nothing", "something"])
def test_residuals(pair, start):
    plain, stack = pair
    if start == "nothing":
        plain.coef[:] = 0.0
    stack.begin(plain.coef)
    same(stack.pull(), plain.each(lambda x, z, b, c: x.T @ (z - x @ b)))
    same(stack.rss(), plain.each(lambda x, z, b, c: np.sum((z - x @ b) ** 2)))


def test_moves_of_all_columns(pair):
    plain, stack = pair
    stack.begin(plain.coef)
    shift, square = stack.shift(plain.change)
    same(square, plain.each(lambda x, z, b, c: np.sum((x @ c) ** 2)))
    before = stack.pull().copy()
    stack.subtract_fit(0.0 * shift)
    same(stack.pull(), before)  # nothing is done before it is said
    stack.subtract_fit(shift)
    same(stack.pull(), plain.each(lambda x, z, b, c: x.T @ (z - x @ (b + c))))
    same(stack.rss(), plain.each(lambda x, z, b, c: np.sum((z - x @ (b + c)) ** 2)))


@pytest.mark.parametrize("count", [1, 5, "all"])
def test_moves_of_some_columns_of_one_problem(pair, count):
    plain, stack = pair
    p = plain.X.shape[1]
    where = np.arange(p) if count == "all" else np.arange(1, 1 + 3 * count, 3) % p
    where = np.unique(where)
    stack.begin(plain.coef)
    for t, (x, z) in enumerate(plain.problems):
        b = plain.coef[:, t].copy()
        local = stack.local(t, where)
        assert local.products == (where.size > stack.n[t])
        r = z - x @ b
        rows = plain.weights[:, t] > 0.0
        if local.products:
            same(local.vectors[:, rows], x.T[where])
            same(local.work[rows], r)
            assert not local.vectors[:, ~rows].any()
        else:
            same(local.vectors, x.T[where] @ x[:, where])
            same(local.work, x.T[where] @ r)
        before = stack.rss()
        local.work[:] = 1e9  # visits overwrite it: r is moved by `settle` alone
        same(stack.rss(), before)
        for times in (1.0, -3.0):  # the second time the columns are known already
            stack.update_residual(t, where, times * plain.change[where, t])
            b[where] += times * plain.change[where, t]
            same(stack.pull()[:, t], x.T @ (z - x @ b))
            same(stack.rss()[t], np.sum((z - x @ b) ** 2))
            again = stack.local(t, where)
            left = z - x @ b
            same(
                again.work[rows] if again.products else again.work,
                left if again.products else x.T[where] @ left,
            )
        others = np.arange(T) != t
        same(stack.rss()[others], before[others])
        plain.coef[:, t] = b
    x, z = plain.problems[0]
    other = np.array([0, p - 1])  # other columns than the last time
    same(stack.local(0, other).work, x.T[other] @ (z - x @ plain.coef[:, 0]))


@pytest.mark.parametrize("keep", [np.array([False, True, False, True]), np.array([3, 1])])
def test_some_of_the_problems(pair, keep):
    plain, stack = pair
    stack.begin(plain.coef)
    where = np.arange(4)
    stack.local(1, where)  # known under its number in all problems
    part = stack.only(keep)
    chosen = np.arange(T)[keep]
    assert part.n_problems == 2
    for name in ("n", "total", "squares"):
        same(getattr(part, name), getattr(stack, name)[..., keep])
    same(part.pull(), stack.pull()[:, keep])
    before = stack.pull().copy()
    for i, t in enumerate(chosen):
        x, z = plain.problems[t]
        same(part.local(i, where).vectors, x.T[where] @ x[:, where])
        part.update_residual(i, where, plain.change[where, t])
        change = np.where(np.arange(x.shape[1]) < 4, plain.change[:, t], 0.0)
        same(part.pull()[:, i], x.T @ (z - x @ (plain.coef[:, t] + change)))
    shift, square = part.shift(plain.change[:, keep])
    same(square, plain.each(lambda x, z, b, c: np.sum((x @ c) ** 2))[keep])
    part.subtract_fit(shift)
    same(stack.pull(), before)  # what a part does is nothing to the whole


def test_how_many_observations_there_are_may_be_said(pair):
    plain, _ = pair
    n = np.array([7.0, 8.0, 9.0, 10.0])
    assert Batch(Dense(plain.X), plain.targets, plain.weights, n).n is n
