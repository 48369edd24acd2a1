"""Every home of the data says of its columns what a plain array says."""

import numpy as np
import pytest

from horseshoe.data.dense import Dense, Identity
from horseshoe.data.standardise import standardise
from loops import each
from registry import COLUMNS


@pytest.fixture(autouse=True)
def small_ones_as_if_large(monkeypatch):
    """Small matrices take the way of large ones here; their own has a test at the end of `test_sparse`."""
    monkeypatch.setattr("horseshoe.data.sparse.SMALL", 0)


SHAPES = {"long": (40, 9), "wide": (12, 50), "large": (60, 700), "one column": (8, 1)}
KINDS = {
    "sparse": lambda x: x,
    "far": lambda x: np.where(np.arange(x.shape[1]) % 3 == 0, 2.0**20 + np.rint(64 * x), x),  # all stored
    "nearly full": lambda x: np.where(np.arange(len(x))[:, None] == 2, 0.0, 1e6 + x),
    "dense": lambda x: x + 0.5,
    "empty": lambda x: x * (np.arange(x.shape[1]) % 2),  # columns without any entry
}


def table(shape, kind, seed=0):
    n, p = SHAPES[shape]
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((n, p)) < 0.15, rng.standard_normal((n, p)), 0.0)
    return KINDS[kind](x), rng


def close(ours, theirs, rtol=1e-9):
    scale = float(np.abs(theirs).max()) if np.size(theirs) else 0.0
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=rtol * scale + 1e-300)


CASES = [(shape, kind) for shape in SHAPES for kind in KINDS if (shape, kind) != ("one column", "empty")]


every_table = each("shape, kind", CASES)


@pytest.fixture(params=COLUMNS)
def home(request):
    return COLUMNS[request.param]


@every_table
@each("weighted", [False, True])
def test_standardising(shape, kind, home, weighted):
    x, rng = table(shape, kind)
    weights = rng.uniform(0.5, 2.0, len(x)) if weighted else None
    for center in (True, False):
        for scale in (True, False):
            ours = standardise(home(x), weights, center=center, scale=scale)
            theirs = standardise(Dense(x), weights, center=center, scale=scale)
            assert np.array_equal(ours.kept, theirs.kept)
            close(ours.mean, theirs.mean, 1e-13)
            close(ours.spread, theirs.spread, 1e-11)
            close(ours.columns.dense(), theirs.columns.dense(), 1e-9)


def pair(shape, kind, home, weighted):
    """Return the same columns in a home of their own and as an array: standardised, and weighted."""
    x, rng = table(shape, kind)
    ours = standardise(home(x), None, center=True, scale=True).columns
    theirs = standardise(Dense(x), None, center=True, scale=True).columns
    if weighted:
        root = rng.uniform(0.5, 2.0, len(x))
        center = rng.standard_normal(ours.shape[1])
        if weighted == "heavily":  # one row has all but a little of the weight
            root[3] = 1e5
            mine, center = (x.rmatvec(root * root) / (root @ root) for x in (ours, theirs))  # as a fit does
            return ours.reweighted(root, mine), theirs.reweighted(root, center), rng
        ours, theirs = ours.reweighted(root, center), theirs.reweighted(root, center)
    return ours, theirs, rng


@every_table
@each("weighted", [False, True, "heavily"])
def test_products(shape, kind, home, weighted):
    ours, theirs, rng = pair(shape, kind, home, weighted)
    n, k = theirs.shape
    assert ours.shape == (n, k)
    close(ours.dense(), theirs.dense())
    for size in ((), (3,)):
        b, r = rng.standard_normal((k, *size)), rng.standard_normal((n, *size))
        close(ours.matvec(b), theirs.matvec(b))
        close(ours.rmatvec(r), theirs.rmatvec(r))
    close(ours.squares(), theirs.squares())
    single = rng.standard_normal(k)
    close(ours.single().matvec(single), theirs.matvec(single), 1e-5)


@every_table
@each("weighted", [False, True, "heavily"])
def test_weighted_squares(shape, kind, home, weighted):
    ours, theirs, rng = pair(shape, kind, home, weighted)
    n, k = theirs.shape
    x = theirs.dense()
    weights = rng.uniform(0.1, 3.0, (n, 3))
    weights[::2, 1], weights[:, 2] = 0.0, 0.0  # rows that are left out, and all of them
    weights[n // 2, 2] = 5.0
    expected = np.array([[np.sum(w * column**2) for w in weights.T] for column in x.T])
    for said in (ours.squares(weights), np.column_stack([ours.squares(w) for w in weights.T])):
        assert said.shape == (k, 3)
        for t in range(3):  # of entries that are all but nothing beside others, no home has all digits
            largest = weights[:, t].max() * float((x * x).max())
            np.testing.assert_allclose(said[:, t], expected[:, t], rtol=0, atol=1e-9 * largest)
    close(ours.squares(np.ones(n)), ours.squares(), 1e-13)
    assert ours.squares(weights[:, :1]).shape == (k, 1)


def test_weighted_squares_of_the_identity():
    weights = np.arange(6.0).reshape(3, 2)
    for some in (weights, weights[:, 1]):
        np.testing.assert_allclose(Identity(3).squares(some), Dense(np.eye(3)).squares(some))


@every_table
@each("weighted", [False, True, "heavily"])
def test_gram_matrices(shape, kind, home, weighted):
    ours, theirs, rng = pair(shape, kind, home, weighted)
    n, k = theirs.shape
    weights = rng.uniform(0.0, 3.0, n)
    close(ours.gram(), theirs.gram())
    close(ours.gram(weights), theirs.gram(weights))
    if not weighted:  # what is weighted is centred already
        center = rng.standard_normal(k)
        close(ours.gram(weights, center), theirs.gram(weights, center))
        weights[1] = 1e9
        center = theirs.rmatvec(weights) / weights.sum()
        close(ours.gram(weights, center), theirs.gram(weights, center))


@every_table
@each(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 2e-4)])
@each("weighted", [False, True, "heavily"])
def test_the_dual_form(shape, kind, home, weighted, dtype, rtol):
    ours, theirs, rng = pair(shape, kind, home, weighted)
    n, k = theirs.shape
    root = np.sqrt(rng.gamma(0.5, 1.0, k))
    base = np.asfortranarray(np.eye(n, dtype=dtype))
    mine, other = ours.scaled(root, dtype), theirs.scaled(root, dtype)
    close(np.tril(mine.outer()), np.tril(other.outer()), rtol)
    close(np.tril(mine.outer(base)), np.tril(other.outer(base)), rtol)
    b, r = rng.standard_normal(k).astype(dtype), rng.standard_normal(n).astype(dtype)
    close(mine.matvec(b), other.matvec(b), rtol)
    close(mine.rmatvec(r), other.rmatvec(r), rtol)
    matrix = np.tril(theirs.scaled(root).outer(np.eye(n)))
    factor = np.asfortranarray(np.linalg.cholesky(matrix + np.tril(matrix, -1).T))
    if dtype is np.float64 and weighted != "heavily":  # of the heavy row both have rounding alone
        close(mine.half_solved(factor), other.half_solved(factor), rtol)
    close(mine.leverages(factor.astype(dtype)), other.leverages(factor.astype(dtype)), rtol)


@every_table
def test_parts(shape, kind, home):
    ours, theirs, rng = pair(shape, kind, home, weighted=False)
    n, k = theirs.shape
    keep, rows = rng.random(k) < 0.5, rng.random(n) < 0.6
    close(ours.take(keep).dense(), theirs.take(keep).dense())
    for which in (rows, slice(1, None, 2), np.array([3, 1, 1])):
        close(ours.rows(which).dense(), theirs.rows(which).dense())
    assert ours.take(np.zeros(k, dtype=bool)).shape == (n, 0)


@every_table
@each("weighted", [False, True, "heavily"])
def test_compressed_rows_say_the_same(shape, kind, home, weighted):
    ours, theirs, rng = pair(shape, kind, home, weighted)
    z, b = rng.standard_normal(theirs.shape[0]), rng.standard_normal(theirs.shape[1])
    x, targets, left_over = ours.compressed(z)
    assert len(x) <= max(theirs.shape[1], len(z) if theirs.shape[1] >= len(z) else 0)
    close(x.T @ x, theirs.gram())
    close(x.T @ targets, theirs.rmatvec(z))
    rest = z - theirs.matvec(b)
    small = targets - x @ b
    np.testing.assert_allclose(small @ small + left_over, rest @ rest, rtol=1e-8)


@every_table
def test_the_fingerprint_tells_columns_apart(shape, kind, home):
    x, _ = table(shape, kind)
    other = x.copy()
    other[0, 0] += 1.0
    one, two = home(x).digest(), home(other).digest()
    assert any(a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(one, home(x.copy()).digest(), strict=True))
