"""Out-of-core data: the linear predictor and the sums of the next working problem in one pass.

Weights and targets of a row depend on its own y and eta. So whoever computes x_i'b where the row is stored
can also weight it there, and add up the cross-products that the next iteration needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.data.products import CrossProducts
from horseshoe.families import Family

# Sums that differ by more than this share are not those of the rows one by one.
SAME_SUMS = 1e-9


class LinearPredictor(NamedTuple):
    """Coefficients with their intercept, and their eta; ``next_problem`` is the problem there, if known.

    ``mixed_eta`` is that of the point of Anderson's mixing, if that is where the problem is known.
    """

    coef: Any
    intercept: Any
    eta: Any
    next_problem: LeastSquares | None = None
    mixed_eta: Vector | None = None

    @property
    def parameters(self) -> Vector:
        """The coefficients and the intercept in one vector."""
        return np.append(self.coef, self.intercept)


class WorkingWeights(NamedTuple):
    """Map X b of some rows, and their data, to targets and weights; sent to where the rows are stored."""

    family: Family
    sigma2: float
    level: float

    def __call__(self, fit: Vector, y: Vector, offset: Vector, sample: Vector) -> tuple[Vector, Vector]:
        """Return the targets and the weights."""
        weights, targets = self.family.working(y, fit + (offset + self.level), self.sigma2)
        return targets - offset, sample * weights


def can_fuse_passes(problem: LeastSquares, family: Family) -> bool:
    """Tell whether the next problem can be summed in the pass that computes eta."""
    return family.rowwise and problem.columns.fuses_passes and problem.is_summed


def with_sums(problem: LeastSquares, sums: CrossProducts) -> LeastSquares | None:
    """Return the problem with its sums, unless they are not those of its rows one by one."""
    targets = problem.targets
    assert targets.weights is not None
    mean = float(targets.weights @ targets.values) / targets.information
    wanted = (targets.information, mean)
    if not np.allclose((sums.weight, sums.mean[-1]), wanted, rtol=SAME_SUMS, atol=SAME_SUMS):
        return None
    return problem.known(sums)


def is_same(one: LeastSquares | None, other: LeastSquares) -> bool:
    """Tell whether two problems are the same: then what is computed of one need not be computed again.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> x, z = np.eye(2), np.ones(2)
    >>> is_same(plain(x, z), plain(x, z)), is_same(None, plain(x, z))
    (False, False)
    """
    if one is None or one.columns is not other.columns or type(one) is not type(other):
        return False
    mine, theirs = one.targets, other.targets
    if mine.careful != theirs.careful or not np.array_equal(mine.values, theirs.values):
        return False
    if mine.weights is None or theirs.weights is None:
        return mine.weights is theirs.weights
    return np.array_equal(mine.weights, theirs.weights)
