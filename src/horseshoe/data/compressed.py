"""Many rows as few: at most p + 2, of equal weight, with the same means and cross-products.

Whatever is asked of a Gaussian response (fits, starts, standard errors, sums of squared errors, draws) hangs
on the rows through these sums alone. So a fit to the few rows is the fit to all, to rounding, and nothing
that works on rows need know about sums.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from horseshoe._types import Matrix, Vector
from horseshoe.data.columns import varies
from horseshoe.data.dense import Dense
from horseshoe.data.products import CrossProducts
from horseshoe.data.rows import Rows
from horseshoe.data.view import ones
from horseshoe.store.checkpoint import CheckpointSection

# So many rows, in all and for each column, are worth it.
MANY_ROWS, PER_COLUMN = 5_000, 10
# The least share of y that the columns leave: of less, the sums have too few digits.
LEAST_LEFT = 1e-6


class Condensed(NamedTuple):
    """The few rows, and the share of the variation of y that the columns leave of it."""

    rows: Rows
    left: float


def condensed(products: CrossProducts, center: bool = True) -> Condensed:
    """Return rows with these sums; ``center`` says whether there is an intercept.

    With S = R'R the rows are the mean plus those of H R, where the columns of H are orthonormal and add up to
    nothing: all but one of a reflection that takes the last unit vector to (1, ..., 1) / sqrt(m). Without an
    intercept S is that around zero, and the rows are those of R.

    Examples
    --------
    >>> from horseshoe.data.products import cross_products
    >>> x = np.arange(100.0)
    >>> rows = condensed(cross_products(x[:, None], x**2)).rows
    >>> rows.y.size, float(rows.counts.sum()), rows.level
    (3, 100.0, 3283.5)
    """
    if not center:
        products = products.around_zero()
    root, left = _root(products)
    most = max(products.n_rows - int(center), 1)
    spread = _reflected(root[:most]) if center else root[:most]
    m, level = len(spread), float(products.mean[-1])
    each = products.weight / m
    spread = np.asfortranarray(spread / np.sqrt(each))
    x = Dense(spread[:, :-1]).less(ones(m), -products.mean[:-1, None])
    rows = Rows(x, spread[:, -1].copy(), np.full(m, each), np.zeros(m), None, products.n_rows, level)
    return Condensed(rows, left)


def folded(parts: tuple[CrossProducts, ...]) -> tuple[Rows, tuple[tuple[Any, Any], ...]]:
    """Return rows with the sums of each part, and the folds: each part is predicted from all others.

    Examples
    --------
    >>> from horseshoe.data.products import cross_products
    >>> x = np.arange(40.0)
    >>> parts = tuple(cross_products(x[i::2, None], x[i::2] ** 2) for i in range(2))
    >>> folded(parts)[1][0]
    (array([3, 4, 5]), array([0, 1, 2]))
    """
    found = [condensed(part).rows for part in parts]
    whole = reduce(CrossProducts.plus, parts)
    origin = whole.mean[:-1]
    x = np.vstack([_around(rows, origin) for rows in found])
    y = np.concatenate([rows.y + rows.level for rows in found])
    weights = np.concatenate([rows.counts for rows in found])
    fold = np.repeat(np.arange(len(found)), [rows.y.size for rows in found])
    columns = Dense(np.asfortranarray(x)).less(ones(y.size), -origin[:, None])
    every = Rows(columns, y, weights, np.zeros_like(y), None, whole.n_rows)
    return every, tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(len(found)))


def _around(rows: Rows, origin: Vector) -> Matrix:
    """Return the columns as deviations from another point nearby: no digit of them is lost."""
    assert rows.columns.shift is not None
    return np.asarray(rows.columns.storage.dense() + (rows.columns.shift - origin))


def square_rows(products: CrossProducts) -> tuple[Matrix, Vector]:
    """Return as many rows of columns and targets as say the same, centred by weight and weighted already.

    Examples
    --------
    >>> from horseshoe.data.products import cross_products
    >>> x = np.arange(4.0)
    >>> found, z = square_rows(cross_products(x[:, None], 2.0 * x))
    >>> (found.T @ found).round(12).item(), (found.T @ z).round(12).item()
    (5.0, 10.0)
    """
    root = _root(products)[0]
    return np.asfortranarray(root[:, :-1]), root[:, -1].copy()


def _reflected(root: Matrix) -> Matrix:
    """Return one row more, whose columns add up to nothing and have the same products."""
    m = len(root) + 1
    unit = np.full(m, -1.0 / np.sqrt(m))
    unit[-1] += 1.0
    unit /= np.linalg.norm(unit) or 1.0
    out = np.vstack([root, np.zeros(root.shape[1])])
    out -= np.outer(2.0 * unit, unit[:-1] @ root)
    return np.asarray(out)


def _root(products: CrossProducts) -> tuple[Matrix, float]:
    """Return R, S = R'R, with one row more than columns have rank, and the share of y that is left.

    Columns enter by what is left of them, and none of which only rounding is left: columns that are the same
    stay the same.
    """
    p, squares = products.n_columns, products.products.diagonal()
    moves = varies(np.sqrt(squares / products.weight), products.mean, products.n_rows)
    scale = np.where(moves, np.sqrt(squares), 0.0)
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=moves)
    correlation = np.tril(products.products * unit * unit[:, None])
    factor, pivots, rank, _ = lapack.dpstrf(np.asfortranarray(correlation[:p, :p]), lower=1)
    factor, pivots = np.tril(factor)[:, :rank], pivots - 1
    pull = correlation[p, :p][pivots[:rank]]
    along = lapack.dtrtrs(np.asfortranarray(factor[:rank]), pull, lower=1)[0] if rank else np.zeros(0)
    left = max(float(correlation[p, p]) - float(along @ along), 0.0)
    root = np.zeros((rank + 1, p + 1))
    root[:rank, pivots] = factor.T
    root[:rank, p], root[rank, p] = along, np.sqrt(left)
    return root * scale, left


def shortened(rows: Rows, center: bool = True, checkpoint: CheckpointSection | None = None) -> Rows:
    """Return few rows in the place of many of a Gaussian response, or the rows as they are.

    They stay as they are where they are not many, where the sums would be longer, or where hardly anything of
    y is left to the noise: then the sums have too few digits of it. Where a pass is dear, the sums are
    saved in ``checkpoint``.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.standard_normal((6000, 2)), rng.standard_normal(6000)
    >>> shortened(Rows(Dense(x), y, None, np.zeros(6000))).y.size
    4
    """
    n, p = rows.columns.shape
    if n < max(MANY_ROWS, PER_COLUMN * p) or not rows.columns.by_rows:
        return rows
    with np.errstate(over="ignore", invalid="ignore"):
        products = _products(rows, checkpoint if rows.columns.remote else None)
    if not products.is_usable:
        return rows
    few, left = condensed(products, center)
    few.columns.names = rows.columns.names
    return few if left > LEAST_LEFT else rows


def _products(rows: Rows, checkpoint: CheckpointSection | None) -> CrossProducts:
    """Return the sums over all rows: from the checkpoint, if the pass was done before."""
    columns, wanted = rows.columns, (rows.y - rows.offset, rows.weights)
    if checkpoint is None:
        return columns.cross_products(*wanted)
    checkpoint.check_fingerprint({}, *columns.digest(brief=True), rows.y, rows.counts, rows.offset)
    found: CrossProducts | None = checkpoint.load(CrossProducts)
    if found is None:
        found = columns.cross_products(*wanted)
        checkpoint.save(found)
    return found
