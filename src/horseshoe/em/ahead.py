"""Where a pass over the data is dear: the next problem is taken in the same pass that finds eta.

Weights and targets of a row hang on its own y and eta. So whoever finds x_i'b where the row is can weigh it
there too, and add up what the next iteration asks for: one pass a set of weights, and not two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.columns import Passing
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.products import CrossProducts
from horseshoe.families import Family

SAME_SUMS = 1e-9
"""Sums that differ by more than this share are not those of the rows one by one."""


class Seen(NamedTuple):
    """Coefficients with their intercept, and their eta; ``ahead`` is the problem there, if it is known.

    ``mixed`` is the eta of the point to which the steps so far lead, if that is where the problem is known.
    """

    coef: Vector
    intercept: Any
    eta: Vector
    ahead: LeastSquares | None = None
    mixed: Vector | None = None

    @property
    def point(self) -> Vector:
        """The coefficients with the intercept behind them."""
        return np.append(self.coef, self.intercept)


class Look(NamedTuple):
    """From X b of some rows, and what is known of them, to their targets and weights; sent to the rows."""

    family: Family
    sigma2: float
    level: float

    def __call__(self, fit: Vector, y: Vector, offset: Vector, sample: Vector) -> tuple[Vector, Vector]:
        """Return the targets and the weights."""
        weights, targets = self.family.working(y, fit + (offset + self.level), self.sigma2)
        return targets - offset, sample * weights


def foresees(problem: LeastSquares, family: Family) -> bool:
    """Tell whether the next problem can be taken in the pass that finds eta."""
    return family.rowwise and problem.is_summed and isinstance(problem.columns, Passing)


def with_sums(problem: LeastSquares, sums: CrossProducts) -> LeastSquares | None:
    """Return the problem with its sums, unless they are not those of its rows one by one."""
    targets = problem.targets
    if not np.allclose(
        (sums.weight, sums.mean[-1]), (targets.information, _mean(targets)), rtol=SAME_SUMS, atol=SAME_SUMS
    ):
        return None
    return problem.known(sums)


def _mean(targets: Targets) -> float:
    assert targets.weights is not None
    return float(targets.weights @ targets.values) / targets.information


def is_same(one: LeastSquares | None, other: LeastSquares) -> bool:
    """Tell whether two problems are the same: then what is known of one need not be found again.

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
