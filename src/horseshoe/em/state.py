"""Where a fit stands: one value that every step of the loop takes and returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from horseshoe._types import Mask, Moments, Scales, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.em.fast.pace import Pace
from horseshoe.priors import Groups


class Place(NamedTuple):
    """Where weights and targets are taken: coefficients, their intercept, eta, and the family there.

    ``fresh`` says whether the weights in use were taken here, ``waiting`` whether the next iteration can do
    with them too. ``left_out`` is what the change of the coefficients does not tell: how much of the last
    step was not taken, or how far the intercept went if that is more. ``n_stalls`` counts the last steps of
    which next to nothing was taken. ``creeps`` says that the steps are far shorter than what is left of the
    way, and that Newton's goes with them. ``unit`` is the spread of each column, by which its coefficient is
    measured; None where all are 1. ``intercept`` is a vector where more than it is not shrunk.
    ``ahead`` is the problem at a place, this one or not, of which something is known already.
    """

    coef: Vector
    intercept: Any
    eta: Vector
    family: Any
    fresh: bool = False
    waiting: bool = False
    left_out: float = 0.0
    n_stalls: int = 0
    creeps: bool = False
    unit: Vector | None = None
    ahead: LeastSquares | None = None

    def measured(self, keep: Mask) -> Place:
        """Return the place with the units of the columns in ``keep``."""
        return self if self.unit is None else self._replace(unit=self.unit[keep])

    @property
    def point(self) -> Vector:
        """The coefficients with the intercept behind them."""
        return np.append(self.coef, self.intercept)


class State(NamedTuple):
    """What is active, the last word on it, and where the weights were taken.

    ``spread_problem`` is the least-squares problem that variances come from where that is not ``problem``;
    ``change`` is the paper's measure of the last step, ``n_steps`` counts the E-steps, and ``pace`` is what
    an acceleration remembers. ``groups`` says which of the active columns share a local scale.
    """

    problem: LeastSquares
    place: Place
    active: Mask
    mean: Vector
    second_moment: Vector
    expected_rss: float
    scales: Scales
    moments: Moments | None = None
    spread_problem: LeastSquares | None = None
    change: float = float("inf")
    n_steps: int = 0
    pace: Pace | None = None
    groups: Groups | None = None

    def scaled(self, scales: Scales) -> State:
        """Return the state with the scales of the next M-step."""
        return State._make((*self[:SCALES], scales, *self[SCALES + 1 :]))

    def advanced(self, moments: Moments, place: Place, pace: Pace | None) -> State:
        """Return the state with the moments of one more E-step."""
        mean, rss, k = moments.mean, moments.expected_rss, self.n_steps + 1
        second, change = moments.second_moment, relative_change(mean, self.mean, place.unit)
        problem, active, scales, base = self.problem, self.active, self.scales, self.spread_problem
        return State(
            problem, place, active, mean, second, rss, scales, moments, base, change, k, pace, self.groups
        )

    def take(self, keep: Mask, place: Place) -> State:
        """Return the state of the columns in ``keep``, with the place as it is without the others."""
        active = self.active.copy()
        active[active] = keep
        base = self.spread_problem
        return self._replace(
            problem=self.problem.take(keep),
            place=place,
            active=active,
            mean=self.mean[keep],
            second_moment=self.second_moment[keep],
            scales=self.scales.take(keep),
            moments=None if self.moments is None else self.moments.take(keep),
            spread_problem=None if base is None else base.take(keep),
            groups=None if self.groups is None else self.groups.take(keep),
        )


SCALES = State._fields.index("scales")


def relative_change(mean: Vector, before: Vector, unit: Vector | None = None) -> float:
    """Return the paper's measure of change: sum |change| / (1 + sum |b|), b for one ``unit`` of each column.

    Examples
    --------
    >>> relative_change(np.array([1.0, -2.0]), np.array([1.0, 0.0]))
    0.5
    """
    if mean.size == 0:
        return 0.0
    if unit is not None:
        mean, before = unit * mean, unit * before
    return float(blas.dasum(mean - before) / (1.0 + blas.dasum(mean)))
