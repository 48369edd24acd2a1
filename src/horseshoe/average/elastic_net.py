"""An elastic net in all training sets, averaged over its penalty: between ridge and those that select.

It minimises |z - X b|^2 / 2 + penalty (|b|_1 + |b|^2 / 2). Of each training set the path begins where the
first column enters. No one penalty is chosen: cross-validation hardly tells neighbours apart, and each counts
by the likelihood of the rows left out.

How sure a column is in: the share of the way down the path on which it is. Those that enter first have all of
it, and those that enter where the path is about to end next to nothing.

Scikit-learn descends. Of very many columns it is given those with the largest pulls.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import Batch, Index
from horseshoe.average.lasso import largest
from horseshoe.average.sets import Fits, Sets, sizes
from horseshoe.data.standardise import SIGMA2_FLOOR

# The share of the lasso in the penalty, as others count it.
RATIO = 0.5
# The path, in units of the penalty at which the first column enters.
PENALTIES: Vector = np.geomspace(1.0, 0.03, 12)
# The most columns that it is given, for each observation and in all.
PER_ROW, MOST = 3.0, 300
# Over all columns, at each penalty, from those with the largest pulls on. Always as many: at a tolerance
# rounding, and so the order of rows and columns, would decide after how many descent ends.
SWEEPS = 10


def elastic_net(sets: Sets) -> Fits:
    """Fit every training set of a Gaussian response, and average over the penalties by cross-validation.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 6))
    >>> X -= X.mean(axis=0)
    >>> folds = tuple((np.flatnonzero(np.arange(40) % 2 != f), np.arange(f, 40, 2)) for f in range(2))
    >>> sets = Sets(Dense(X), X[:, 0], np.zeros(40), np.ones(40), folds, Gaussian())
    >>> elastic_net(sets).coef[0].round(1)
    array([0.9, 0.9, 0.9])
    """
    p, every = sets.columns.shape[1], range(sets.n_sets)
    targets, weights = np.repeat(sets.y[:, None], sets.n_sets, axis=1), sets.weights
    level = weights.T @ sets.y / sets.total if sets.center else 0.0
    pull = np.abs(np.asarray(sets.columns.rmatvec(weights * (targets - level))))
    chosen = [largest(pull[:, t], int(min(PER_ROW * sets.total[t], MOST))) for t in every]
    keep = np.zeros(p, dtype=np.bool_)
    for some in chosen:
        keep[some] = True
    place = np.cumsum(keep) - 1
    columns = sets.columns.take(keep)
    few = Batch(columns, targets, weights, sets.total, sets.center)
    paths = [_path(few, t, place[chosen[t]], pull[chosen[t], t]) for t in every]
    seen = [np.asarray(columns.matvec(path)) for path in paths]
    levels = np.array([_level(sets, t, seen[t]) for t in every])
    shares = _shares(sets, seen, levels)
    coef, inclusion = np.zeros((p, sets.n_sets)), np.zeros((p, sets.n_sets))
    coef[keep] = np.column_stack([path @ shares for path in paths])
    reach = _reach(shares)
    inclusion[keep] = np.minimum(np.column_stack([(path != 0.0) @ reach for path in paths]), 1.0)
    left = targets - np.column_stack([fit @ shares for fit in seen]) - levels @ shares
    sigma2 = np.einsum("it,it,it->t", weights, left, left) / sets.total
    return Fits(coef, levels @ shares, np.maximum(sigma2, SIGMA2_FLOOR), inclusion, sets.families)


def _path(data: Batch, t: int, where: Index, pull: Vector) -> Matrix:
    """Return the coefficients of a set at every penalty; none but those of some columns are not zero."""
    from sklearn.exceptions import ConvergenceWarning  # imported here: other fits never need it
    from sklearn.linear_model import enet_path

    found = np.zeros((data.squares.shape[0], PENALTIES.size))
    if where.size:
        where = where[np.argsort(-pull, kind="stable")]
        x, target = data.some(t, where), data.targets()[0, :, t].copy()
        gram, product = data.normal(t, where)
        alphas = pull.max() / RATIO * PENALTIES / target.size
        known = {"precompute": gram, "Xy": product[:, 0], "check_input": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = enet_path(x.T, target, l1_ratio=RATIO, alphas=alphas, tol=0.0, max_iter=SWEEPS, **known)
        found[where] = path[1]
    return found


def _level(sets: Sets, t: int, seen: Matrix) -> Any:
    """Return the intercepts of a set that go with what the columns say at every penalty."""
    if not sets.center:
        return np.zeros(PENALTIES.size)
    return sets.weights[:, t] @ (sets.y[:, None] - seen) / sets.total[t]


def _shares(sets: Sets, seen: list[Matrix], levels: Matrix) -> Vector:
    """Return how much each penalty counts: the likelihood of the rows left out."""
    left = np.zeros(PENALTIES.size)
    for t, (_, test) in enumerate(sets.folds):
        left += sets.counts[test] @ (sets.y[test, None] - seen[t][test] - levels[t]) ** 2
    losses = 0.5 * sizes(sets)[0] * np.log(np.maximum(left, 1e-300))
    shares = np.exp(losses.min() - losses)
    return np.asarray(shares / shares.sum())


def _reach(shares: Vector) -> Vector:
    """Return how much each penalty counts where a path ends at each with the given share; they add up to 1.

    At the first no column is in yet.

    Examples
    --------
    >>> _reach(np.array([0.0, 0.0, 0.5, 0.5])).round(2)
    array([0. , 0.4, 0.4, 0.2])
    """
    reach = np.append(0.0, shares[::-1].cumsum()[::-1][1:])
    total = float(reach.sum())
    return reach / total if total > 0.0 else reach
