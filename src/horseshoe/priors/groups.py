"""Columns that share one local scale.

A group of g coefficients adds (g/2) log v + W / v to what the M-step minimises, W the sum of theirs, where
one coefficient adds (1/2) log v + W / v. In the closed forms the lambda power c stands beside it as (c/2)
log v. So the scale of a group in lambda power c is that of one coefficient in lambda power c + g - 1,
whatever the prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.priors.base import LocalPrior

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Which columns share a local scale: the number of its group for each column, from 0 on, none left out.

    Examples
    --------
    >>> groups = Groups(np.array([0, 1, 0]))
    >>> groups.size, groups.totals(np.array([1.0, 2.0, 3.0])), groups.spread(np.array([5.0, 7.0]))
    (array([2., 1.]), array([4., 2.]), array([5., 7., 5.]))
    """

    label: Labels

    @lazy
    def size(self) -> Vector:
        """How many columns each group has."""
        return np.bincount(self.label).astype(np.float64)

    @lazy
    def _order(self) -> tuple[Any, Any]:
        """The columns group by group, and where each group begins among them."""
        order = np.argsort(self.label, kind="stable")
        return order, np.append(0, np.cumsum(self.size)[:-1]).astype(np.int64)

    @lazy
    def _sizes(self) -> tuple[tuple[float, Mask], ...]:
        """The sizes that there are, and which groups have them."""
        return tuple((float(size), self.size == size) for size in np.unique(self.size))

    def totals(self, values: Any) -> Any:
        """Return the sum over each group; columns are the last axis."""
        order, starts = self._order
        return np.add.reduceat(values[..., order], starts, axis=-1)

    def spread(self, values: Any) -> Any:
        """Return what is said of each group for each of its columns."""
        return values[..., self.label]

    def most(self, values: Vector) -> Vector:
        """Return the largest value in its group, for each column."""
        order, starts = self._order
        return np.asarray(self.spread(np.maximum.reduceat(values[order], starts)))

    def rms(self, values: Vector) -> Vector:
        """Return the root mean square over its group, for each column."""
        return np.asarray(self.spread(np.sqrt(self.totals(values * values) / self.size)))

    def mode(self, prior: LocalPrior, w: Vector, lambda_power: float, each: float = 1.0) -> Vector:
        """Return the local scales of all columns given their W; a column may have several coefficients."""
        total = self.totals(w)
        if len(self._sizes) == 1:
            return np.asarray(self.spread(prior.mode(total, lambda_power + each * self._sizes[0][0] - 1.0)))
        out = np.empty_like(total)
        for size, which in self._sizes:
            out[which] = prior.mode(total[which], lambda_power + each * size - 1.0)
        return np.asarray(self.spread(out))

    def slowest(self, prior: LocalPrior, lambda_power: float, each: float = 1.0) -> float:
        """Return the factor g / (2A) by which the lambda2 of null groups changes, of the largest ones."""
        size = each * float(self.size.max())
        return size / (2.0 * prior.null_rate(lambda_power + size - 1.0))

    def mixed(self, jacobian: Matrix, second_moment: Vector) -> Matrix:
        """Return derivatives in log E[b_j^2] from those in the log W of its group, spread over its columns.

        The last axis is the columns; d log W = sum_j E[b_j^2] d log E[b_j^2] / sum_j E[b_j^2].
        """
        share = second_moment / self.spread(self.totals(second_moment))
        return np.asarray(self.spread(self.totals(jacobian)) * share)

    def draw(self, prior: Any, w: Any, lambda2: Any, rng: Any, each: float = 1.0) -> Any:
        """Move the scale of every group by a step that leaves its distribution given their W as it is."""
        out = np.empty_like(lambda2)
        for size, which in self._sizes:
            out[..., which] = prior.draw(w[..., which], lambda2[..., which], rng, each * size)
        return out

    def take(self, keep: Mask) -> Groups | None:
        """Return the groups of some of the columns; None if each is its own."""
        return grouped(self.label[keep])


def grouped(label: Labels) -> Groups | None:
    """Return groups by their numbers, which need not be in a row; None if every column is its own.

    Examples
    --------
    >>> grouped(np.array([4, 2, 4])).label, grouped(np.array([4, 2]))
    (array([1, 0, 1]), None)
    """
    found, label = np.unique(label, return_inverse=True)
    return None if found.size == label.size else Groups(label.astype(np.int64))
