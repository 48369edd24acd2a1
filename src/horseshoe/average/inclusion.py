"""How sure each column is in.

A fit that selects says 0 or 1 of a column, a mixture its posterior probability, a net the share of penalties
at which it is in, and the mean 0. The average over folds, all rows and components, by their weights, is a
share of fits that have the column; ridge, which has all columns, does not say.

Among correlated columns with one effect each fit picks another, and a column that none has picked may be as
good as the one beside it. So a column gets, of what is left to 1, half of what its nearest neighbour has,
times the eighth power of their correlation: .33 of 1 at .95, .03 at .7. Columns that are still at nothing are
told apart by ridge, which shares an effect among all of them; a small part goes by the size of their ridge
coefficients.

Last, the share becomes what it has been found to mean.
"""

from __future__ import annotations

import numpy as np

from horseshoe._types import Vector
from horseshoe.average.sets import Fits, Sets
from horseshoe.average.weights import Average

# The part of a copy of a column that is in for sure, and how fast it falls with the correlation.
NEIGHBOURS, POWER = 0.5, 8
# Columns that have a share to give, and the most of them.
LEAST, MOST = 0.1, 200
# The part that goes to the column with the largest ridge coefficient.
SHARED = 0.02
# Shares of fits, and how many of the columns with such a share are true: measured once on simulated truths of
# other sizes and seeds than those that judge it, dense ones left out, and rounded.
SHARES: Vector = np.array([0.0, 0.1, 0.2, 0.33, 0.6, 0.75, 0.85, 1.0])
TRUE: Vector = np.array([0.0, 0.09, 0.26, 0.45, 0.52, 0.7, 0.87, 1.0])


def inclusion(found: Average, ridge: Fits, sets: Sets) -> Vector:
    """Return how sure each column is in, between 0 and 1.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from horseshoe.data.dense import Dense
    >>> found = SimpleNamespace(inclusion=np.array([0.9, 0.0, 0.0]), slope=1.0)
    >>> ridge = SimpleNamespace(coef=np.array([[2.0, 2.0], [2.0, 2.0], [0.0, 0.0]]))
    >>> columns = Dense(np.array([[1.0, 1.1, 1.0], [-1.0, -1.0, 1.0], [1.0, 0.9, -1.0], [-1.0, -1.0, -1.0]]))
    >>> sets = SimpleNamespace(columns=columns, counts=np.ones(4))
    >>> inclusion(found, ridge, sets).round(2)
    array([0.92, 0.48, 0.  ])
    """
    mean = ridge.coef[..., :-1].mean(axis=-1)
    size = np.abs(mean) if mean.ndim == 1 else np.sqrt((mean**2).sum(axis=0))
    largest = float(size.max()) if size.size else 0.0
    shared = SHARED * found.slope * (size / largest) if largest > 0.0 else np.zeros_like(size)
    near = NEIGHBOURS * _beside(found.inclusion, sets)
    share = 1.0 - (1.0 - found.inclusion) * (1.0 - near) * (1.0 - shared)
    return np.asarray(np.interp(share, SHARES, TRUE))


def _beside(share: Vector, sets: Sets) -> Vector:
    """Return the most that a neighbour has, each by a power of its correlation with the column."""
    where = np.argsort(-share, kind="stable")[:MOST]
    where = np.sort(where[share[where] > LEAST])
    if not where.size:
        return np.zeros_like(share)
    keep = np.zeros(share.size, dtype=np.bool_)
    keep[where] = True
    length = np.sqrt(np.maximum(np.asarray(sets.columns.squares(sets.counts)), 1e-300))
    x = sets.columns.take(keep).dense() / length[where]
    cosine = np.abs(np.asarray(sets.columns.rmatvec(sets.counts[:, None] * x))) / length[:, None]
    cosine[where, np.arange(where.size)] = 0.0  # no column is its own neighbour
    return np.asarray((np.minimum(cosine, 1.0) ** POWER * share[where]).max(axis=1))
