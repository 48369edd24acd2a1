"""What is not shrunk, where nothing else is left: the intercept, and the columns that are always in."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Matrix, Scales
from horseshoe.data.problem import LeastSquares
from horseshoe.em.beginnings import START_STEPS, START_TOL, Beginnings
from horseshoe.em.mstep import noise_variance
from horseshoe.em.state import Place, State
from horseshoe.families import Direct

LEVEL_TOL = START_TOL**2
"""An intercept is found when it and the noise change by less than this."""
FREE_STEPS, FREE_TOL = 1_000, 1e-12
"""The most steps to the columns that are always in, and the least change that rounding lets them have."""


class Alone(Beginnings):
    """The fit without any column that is shrunk; the parameters are those of `Steps`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.zeros((4, 0))), None, center=True, scale=True)
    >>> weights = Alone(x, np.array([1.0, 2.0, 4.0, 9.0]), np.zeros(4), Poisson(), center=True)
    >>> begin = weights.begin()
    >>> none = np.zeros(0)
    >>> state = State(begin.problem, begin.place, none > 0.0, none, none, 1.0, Scales(none, 1.0, 1.0))
    >>> found, sigma2 = weights.without_columns(state, 1.0, 1e-5)
    >>> float(np.exp(found.place.intercept).round(6))
    4.0
    """

    def without_columns(self, state: State, known: float | None, tol: float) -> tuple[State, float]:
        """Fit what is not shrunk alone; return the noise variance that is left.

        Columns that are always in go on to ``tol``: at once where the family can say where they end, and with
        the weights of Newton's method where it has those beside others, which may creep.
        """
        place, problem = state.place._replace(waiting=False), state.problem
        if self._basis is None:
            found = self._settled(place, problem, known, START_STEPS, LEVEL_TOL)
        else:
            found = self._unshrunk(self._basis, place, problem, known, tol)
        place, problem, sigma2 = found
        return state._replace(place=place, problem=problem), sigma2

    def _unshrunk(
        self, basis: Matrix, place: Place, problem: LeastSquares, known: float | None, tol: float
    ) -> tuple[Place, LeastSquares, float]:
        """Return the place at which the columns that are always in fit best."""
        family: Any = place.family
        if isinstance(family, Direct):
            level = family.best(self._y - self._offset, basis, self._sample, tol * tol)
            place = place._replace(intercept=level, eta=self._offset + self._rows(level))
            return self._settled(place, problem, known, FREE_STEPS, LEVEL_TOL, still=True)
        least = min(max(tol, FREE_TOL), LEVEL_TOL)
        sharp = family.newton()
        if sharp is None:
            return self._settled(place, problem, known, FREE_STEPS, least)
        place, problem, _ = self._settled(place._replace(family=sharp), problem, known, START_STEPS, least)
        return self._settled(place._replace(family=family), problem, known, 1, least)

    def _settled(
        self,
        place: Place,
        problem: LeastSquares,
        known: float | None,
        steps: int,
        least: float,
        still: bool = False,
    ) -> tuple[Place, LeastSquares, float]:
        """Take steps until the level and the noise variance move by less than ``least``; return the latter.

        The level stands ``still`` where it is the best already.
        """
        none = np.zeros(0)
        scales = Scales(none, 1.0, known or 1.0)
        for _ in range(steps):
            before, level = scales.sigma2, place.intercept
            problem = self._linearise(problem, place, before)
            if still:
                place = self._updated(place, scales)
            else:
                seen = self._image(problem, place, none, before, fit=np.zeros_like(self._y))
                place = self._accept(place, seen, scales)
            left = problem.targets.zz / place.family.noise_share
            scales = scales._replace(sigma2=known or noise_variance(left, self.total_weight))
            moved = np.abs(place.intercept - level).max() + abs(scales.sigma2 - before)
            if moved < least * (1.0 + np.abs(level).max()):
                break
        return place, problem, scales.sigma2
