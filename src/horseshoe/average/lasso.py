"""The lasso in all training sets: where a mixture starts that looks for few of very many columns.

Forward selection goes wrong for good where a null column is by chance the best of thousands. The lasso has
many columns in at once, and its effects can still leave. One penalty will do, a tenth of that at which the
first column enters: sweeps of the mixture then decide which columns stay.

Scikit-learn descends on the columns with the largest pulls, and those that have been left out wrongly are
added: the answer is that of all columns, unless these are too many.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import Batch, Index

# The path, in units of the penalty at which the first column enters; its end is the start of a mixture.
PENALTIES = np.geomspace(1.0, 0.1, 6)[1:]
# The columns to begin with, for each observation, and the most that are in or added at once.
PER_ROW, MOST = 5.0, 1000
# How often columns are added.
ROUNDS = 3
# A column is left out wrongly if its pull is beyond the penalty by more than this factor.
SLACK = 1.01
# The duality gap at which descent ends, as a share of the targets' squares, and the most sweeps.
TOL, STEPS = 1e-3, 1000


def lasso(data: Batch) -> Matrix:
    """Return the coefficients (p, T) of the lasso in each problem of a batch, of one target.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 30))
    >>> y = 2.0 * X[:, 4] + 0.5 * rng.standard_normal(50)
    >>> lasso(Batch(Dense(X), y[:, None], np.ones((50, 1))))[4].round(1)
    array([1.8])
    """
    _, p, problems = data.shape
    coef, targets = np.zeros((p, problems)), data.targets()
    pull = np.abs(data.pull(targets)[0])
    first = pull.max(axis=0, initial=0.0)
    chosen = [largest(pull[:, t], int(min(PER_ROW * data.n[t], MOST))) for t in range(problems)]
    left: Any = np.flatnonzero(first > 0.0)
    for _ in range(ROUNDS):
        for t in left:
            coef[chosen[t], t] = _descend(data.some(t, chosen[t]), targets[0, :, t], first[t] * PENALTIES)
        pull = np.abs(data.pull(targets - data.fit(coef[None]))[0])
        wrong = pull > SLACK * PENALTIES[-1] * first
        for t in left:
            wrong[chosen[t], t] = False
        left = left[wrong[:, left].any(axis=0)]
        for t in left:
            chosen[t] = np.union1d(chosen[t], largest(np.where(wrong[:, t], pull[:, t], 0.0), MOST))
    return coef


def largest(size: Vector, most: int) -> Index:
    """Return the places of the largest that are not zero, in order."""
    where = np.flatnonzero(size)
    if where.size > most:
        where = where[np.argsort(-size[where], kind="stable")[:most]]
    return np.sort(where)


def _descend(x: Matrix, target: Vector, penalties: Vector) -> Vector:
    """Return the lasso at the last penalty; ``x`` has a row for each column of the problem."""
    from sklearn.exceptions import ConvergenceWarning  # imported here: most fits never need it
    from sklearn.linear_model import lasso_path

    with warnings.catch_warnings():  # where it stops is only a start
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = lasso_path(x.T, target, alphas=penalties / target.size, tol=TOL, max_iter=STEPS)
    return np.asarray(path[1][:, -1])
