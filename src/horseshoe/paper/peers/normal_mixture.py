"""Normal-mixture empirical Bayes as in the paper of Kim, Wang, Carbonetto and Stephens ("mr.ash").

Twenty variances, the first of them zero; a start at the cross-validated lasso, with the weights that this
start suggests in one step from equal ones; columns visited one at a time, in their order, until they rest
or a thousand sweeps are done. The settings are the defaults of the authors' R package, but the columns are
standardised, as for the lasso of the start. With twenty variances the visits need to be compiled.
"""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import Batch, Local
from horseshoe.average.mixture import fit_mixture, suggested_weights
from horseshoe.data.dense import Dense
from horseshoe.paper.core import Fit
from horseshoe.paper.peers.paths import cross_validate, glmnet
from horseshoe.paper.peers.standardised import column_scale, standardised_fit

GRID: Vector = (2.0 ** (np.arange(1, 20) / 20.0) - 1.0) ** 2
"""The variances of the slabs in units of sigma2, for columns of unit variance; the twentieth is zero."""
TOL, MOST_SWEEPS = 1e-8, 1000
"""The change at which the sweeps end, for each column, and how many there are at most."""


def normal_mixture(X: Matrix, y: Vector, rng: np.random.Generator) -> Fit:
    """Return the posterior means of the mixture, the lasso's folds being drawn from ``rng``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = 3.0 * X[:, 0] + rng.standard_normal(60)
    >>> print(normal_mixture(X, y, rng).coef[0].round(1))
    3.1
    """
    _, std, varies = column_scale(X)
    lasso = cross_validate(glmnet("gaussian", 1.0), "gaussian", X, y, rng)["min"].coef
    unit = float(y.std()) or 1.0
    start = (lasso * std)[varies] / unit
    return standardised_fit(X, y, unit, lambda Z, centred: _sweeps(Z, centred, start))


def _sweeps(Z: Matrix, y: Vector, start: Vector) -> Vector:
    sigma2 = float(np.mean((y - Z @ start) ** 2))
    if not sigma2 > 0.0:
        return start
    squares = np.full(start.size, float(y.size))
    return fit_mixture(
        Batch(Dense(np.asfortranarray(Z)), y[:, None], np.ones((y.size, 1)), center=False),
        start[:, None],
        np.array([sigma2]),
        grid=GRID,
        pi=suggested_weights(start, squares, sigma2, GRID, steps=1, least=0.0)[:, None],
        tol=TOL * start.size,
        max_sweeps=MOST_SWEEPS,
        visit="all",
        visitor=_visitor,
    ).coef[:, 0]


def _visitor(local: Local, squares: Vector, b: Vector, slabs: Matrix) -> Vector:
    """Visit columns in turn, compiled."""
    vectors, work, products = local
    return np.asarray(_compiled()(vectors, work, products, squares, b, np.ascontiguousarray(slabs)))


@cache
def _compiled() -> Any:
    """Compile the loop, once in each process."""
    return require("numba", extra="experiments").njit(FunctionType(_loop.__code__, dict(globals())))


def _loop(vectors: Matrix, work: Vector, products: bool, squares: Vector, b: Vector, slabs: Any) -> Vector:
    """Do what `horseshoe.average.coordinate_ascent.one_at_a_time` does."""
    pulls, work = np.empty(b.size), work if products else work.copy()
    for i in range(b.size):
        pulled = 0.0
        if products:
            for row in range(work.size):
                pulled += vectors[i, row] * work[row]
        else:
            pulled = work[i]
        u = pulled + squares[i] * b[i]
        top = 0.0
        for k in range(slabs.shape[1]):
            top = max(top, slabs[i, k, 0] + slabs[i, k, 1] * u * u)
        total, mean = math.exp(-top), 0.0
        for k in range(slabs.shape[1]):
            weight = math.exp(slabs[i, k, 0] + slabs[i, k, 1] * u * u - top)
            total += weight
            mean += weight * slabs[i, k, 2]
        pulls[i] = u
        change = u * mean / total - b[i]
        for row in range(work.size):
            work[row] -= change * vectors[i, row]
    return pulls
