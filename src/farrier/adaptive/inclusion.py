"""How sure each column is in.

A fit that selects says 0 or 1 of a column, a mixture its posterior probability, and the mean 0. The average
over folds, all rows and members, by their weights, is a share of fits that have the column; ridge, which
has all columns, does not say. Among correlated columns with one effect each fit picks another, and those that
none has picked are told apart from the rest by ridge, which shares the effect among all of them: a small part
of what is left to 1 goes by the size of their ridge coefficients.
Last, the share becomes what it has been found to mean: of the columns with a share of 0.6, less than half
were true.
"""

from __future__ import annotations

import numpy as np

from farrier._types import Vector
from farrier.adaptive.average import Average
from farrier.adaptive.sets import Fits

SHARED = 0.15
"""The part that goes to the column with the largest ridge coefficient."""
SHARES: Vector = np.array([0.0, 0.07, 0.1, 0.3, 0.6, 0.75, 1.0])
TRUE: Vector = np.array([0.0, 0.04, 0.22, 0.3, 0.45, 0.72, 1.0])
"""Shares of fits, and how many of the columns with such a share are true: measured once on simulated truths
of other sizes and seeds than those that judge it, dense ones left out, and rounded."""


def inclusion(found: Average, ridge: Fits) -> Vector:
    """Return how sure each column is in, between 0 and 1.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> found = SimpleNamespace(inclusion=np.array([0.9, 0.0, 0.0]), slope=1.0)
    >>> ridge = SimpleNamespace(coef=np.array([[2.0, 2.0], [2.0, 2.0], [0.0, 0.0]]))
    >>> inclusion(found, ridge).round(3)
    array([0.905, 0.24 , 0.   ])
    """
    size = np.abs(ridge.coef[:, :-1].mean(axis=1))
    largest = float(size.max()) if size.size else 0.0
    shared = SHARED * found.slope * (size / largest) if largest > 0.0 else np.zeros_like(size)
    share = 1.0 - (1.0 - found.inclusion) * (1.0 - shared)
    return np.asarray(np.interp(share, SHARES, TRUE))
