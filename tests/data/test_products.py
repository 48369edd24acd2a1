"""Sums of rows against their definition, in chunks of any size, far from zero; and rows made of them."""

import numpy as np
import pytest

import oracles
from horseshoe.data.compressed import condensed, folded, shortened
from horseshoe.data.dense import Dense
from horseshoe.data.products import CrossProducts, cross_products
from horseshoe.data.rows import Rows


def table(n=300, p=6, seed=0, mean=0.0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)) @ (np.eye(p) + 0.3) + mean
    return x, x[:, 0] - mean + rng.standard_normal(n), rng.uniform(0.5, 2.0, n)


def summed(x, y, weights, chunks):
    parts = [
        cross_products(x[i], y[i], None if weights is None else weights[i])
        for i in np.array_split(np.arange(len(x)), chunks)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunks", [1, 7, 300])
def test_sums_are_those_of_the_definition(order, weighted, chunks, monkeypatch):
    monkeypatch.setattr("horseshoe.data.products.BLOCK_ROWS", 32)
    x, y, weights = table()
    weights = weights if weighted else None
    total, mean, products = oracles.cross_products(x, y, weights)
    ours = summed(np.asarray(x, order=order), y, weights, chunks)
    assert ours.n_rows == len(x)
    np.testing.assert_allclose(ours.weight, total, rtol=1e-13)
    np.testing.assert_allclose(ours.mean, mean, rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.tril(ours.products), np.tril(products), rtol=0, atol=1e-10)


@pytest.mark.parametrize("chunks", [1, 7, 100])
def test_far_columns_lose_no_more_than_two_digits(chunks):
    x, y, _ = table()
    x = np.rint(x * 2**12) / 2**12  # so that moving them is exact
    near, far = summed(x, y, None, chunks), summed(x + 2.0**20, y, None, chunks)
    scale = np.sqrt(near.products.diagonal())
    gap = np.tril(far.products - near.products) / np.outer(scale, scale)
    assert np.abs(gap).max() < 100 * np.finfo(float).eps


def test_any_tree_of_chunks_gives_the_same_sums():
    x, y, weights = table()
    parts = [cross_products(x[i], y[i], weights[i]) for i in np.array_split(np.arange(300), 8)]
    line = summed(x, y, weights, 8)
    while len(parts) > 1:
        parts = [a.plus(b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    np.testing.assert_allclose(parts[0].products, line.products, rtol=0, atol=1e-11)
    np.testing.assert_allclose(parts[0].mean, line.mean, rtol=0, atol=1e-14)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_rows_that_are_made_of_sums_have_them(center, mean):
    x, y, weights = table(mean=mean)
    x[:, 3], x[:, 4] = 2.5, -2.0 * x[:, 1]  # a constant, and a column tied to another
    rows = condensed(cross_products(x, y, weights), center).rows
    assert rows.y.size <= x.shape[1] + 2
    assert rows.n_seen == 300
    total, expected, products = oracles.cross_products(x, y, weights)
    again, found, theirs = oracles.cross_products(rows.columns.dense(), rows.y + rows.level, rows.weights)
    np.testing.assert_allclose(again, total, rtol=1e-12)
    if center:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(theirs, products, rtol=0, atol=1e-9 * (1.0 + mean) * 300)
    raw = products + total * np.outer(expected, expected)
    ours = theirs + again * np.outer(found, found)
    length = np.sqrt(raw.diagonal())
    np.testing.assert_allclose(ours / np.outer(length, length), raw / np.outer(length, length), atol=1e-13)


def test_tied_columns_stay_tied_and_constant_ones_constant():
    x, y, _ = table(mean=0.1)
    x[:, 3], x[:, 4] = 0.1, -2.0 * x[:, 1]
    made = condensed(cross_products(x, y)).rows.columns.standardised(None, True, True)
    assert made[1].varies.tolist() == [True, True, True, False, True, True]
    standard = made[0].dense()
    np.testing.assert_allclose(standard[:, 3], -standard[:, 1], rtol=0, atol=1e-14)


def test_no_more_rows_than_there_were():
    x, y, _ = table(n=4, p=9)
    assert condensed(cross_products(x, y)).rows.y.size <= 4


def test_folds_have_the_sums_of_their_parts():
    x, y, weights = table(mean=50.0)
    parts = tuple(cross_products(x[i::3], y[i::3], weights[i::3]) for i in range(3))
    rows, folds = folded(parts)
    for i, (train, test) in enumerate(folds):
        assert np.intersect1d(train, test).size == 0
        ours = oracles.cross_products(rows.columns.dense()[test], rows.y[test], rows.weights[test])
        for mine, theirs in zip(ours, oracles.cross_products(x[i::3], y[i::3], weights[i::3]), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y: (x[:100], y[:100]),  # not many
        lambda x, y: (x, x[:, 0] * 3.0),  # nothing is left of y
        lambda x, y: (x * 1e200, y),  # squares out of range
    ],
)
def test_rows_stay_as_they_are_where_sums_would_not_do(change):
    x, y = change(*table(n=6000)[:2])
    rows = Rows(Dense(x), y, None, np.zeros_like(y))
    assert shortened(rows) is rows


def test_many_rows_become_few():
    x, y, _ = table(n=6000)
    assert shortened(Rows(Dense(x), y, None, np.zeros_like(y))).y.size == 8


def test_an_empty_chunk_changes_nothing():
    x, y, _ = table()
    whole = cross_products(x, y)
    assert isinstance(whole, CrossProducts)
    both = cross_products(x[:0], y[:0]).plus(whole)
    assert np.array_equal(both.products, whole.products)
    assert both.n_rows == 300
