"""Stability selection (Meinshausen and Buhlmann 2010): how often the lasso keeps a column of half the rows.

A hundred random halves, as its authors have it. The frequencies at each of a few penalties are kept apart:
which of them ranks the columns best is for the judge to say, which favours this method.
"""

from __future__ import annotations

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import Fit, Kind
from horseshoe_reproduction.peers.paths import glmnet

# The penalties, as shares of the largest.
HALVES = 100
SHARES = (0.7, 0.5, 0.35, 0.25)


def stability(kind: Kind, X: Matrix, y: Vector, rng: np.random.Generator) -> Fit:
    """Return the frequencies as ``inclusion``, a column for each penalty; the coefficients say nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 4))
    >>> stability("gaussian", X, 3.0 * X[:, 1] + rng.standard_normal(60), rng).inclusion[:, 0]
    array([0., 1., 0., 0.])
    """
    solve = glmnet(kind, 1.0)
    penalties = solve(X, y, None).penalties[0] * np.array(SHARES)
    kept = np.zeros((X.shape[1], len(SHARES)))
    for _ in range(HALVES):
        rows = _half(kind, y, rng)
        coef = solve(X[rows], y[rows], penalties).coef
        last = np.minimum(np.arange(len(SHARES)), coef.shape[1] - 1)  # a path may end early
        kept += coef[:, last] != 0.0
    return Fit(np.zeros(X.shape[1]), inclusion=kept / HALVES)


def _half(kind: Kind, y: Vector, rng: np.random.Generator) -> Vector:
    """Choose half of the rows, of two classes half of each."""
    order = rng.permutation(y.size)
    if kind == "binomial":
        order = order[np.argsort(y[order], kind="stable")]
        return np.asarray(order[::2])
    return np.asarray(order[: y.size // 2])
