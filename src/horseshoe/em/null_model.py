"""The null model: the intercept and the unpenalised columns, without any penalised one."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Matrix, Scales
from horseshoe.data.problem import LeastSquares
from horseshoe.em.m_step import noise_variance
from horseshoe.em.starts import START_STEPS, START_TOL, Starts
from horseshoe.em.state import State, WorkingPoint
from horseshoe.families import Direct

# An intercept is found when it and the noise change by less than this.
LEVEL_TOL = START_TOL**2
# The most steps to the unpenalised coefficients, and the least change that rounding lets them have.
FREE_STEPS, FREE_TOL = 1_000, 1e-12


class NullModel(Starts):
    """The fit without any penalised column.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.zeros((4, 0))), None, center=True, scale=True)
    >>> likelihood = NullModel(x, np.array([1.0, 2.0, 4.0, 9.0]), np.zeros(4), Poisson(), center=True)
    >>> begin = likelihood.begin()
    >>> none = np.zeros(0)
    >>> state = State(begin.problem, begin.point, none > 0.0, none, none, 1.0, Scales(none, 1.0, 1.0))
    >>> found, sigma2 = likelihood.without_columns(state, 1.0, 1e-5)
    >>> float(np.exp(found.point.intercept).round(6))
    4.0
    """

    def without_columns(self, state: State, known: Any, tol: float) -> tuple[State, Any]:
        """Fit the unpenalised coefficients alone; return the noise variance that is left.

        They are iterated to ``tol``: directly where the family can, and with the weights of Newton's method
        where it has those beside others whose steps may be far too short.
        """
        point, problem = state.point._replace(keeps_weights=False), state.problem
        if self._basis is None:
            found = self._iterate(point, problem, known, START_STEPS, LEVEL_TOL)
        else:
            found = self._unpenalized(self._basis, point, problem, known, tol)
        point, problem, sigma2 = found
        return state._replace(point=point, problem=problem), sigma2

    def _unpenalized(
        self, basis: Matrix, point: WorkingPoint, problem: LeastSquares, known: float | None, tol: float
    ) -> tuple[WorkingPoint, LeastSquares, float]:
        """Return the point at which the unpenalised columns fit best."""
        family: Any = point.family
        if isinstance(family, Direct):
            level = family.best(self._y - self._offset, basis, self._sample, tol * tol)
            point = point._replace(intercept=level, eta=self._offset + self._unpenalized_eta(level))
            return self._iterate(point, problem, known, FREE_STEPS, LEVEL_TOL, fixed=True)
        least = min(max(tol, FREE_TOL), LEVEL_TOL)
        sharp = family.newton()
        if sharp is None:
            return self._iterate(point, problem, known, FREE_STEPS, least)
        point, problem, _ = self._iterate(point._replace(family=sharp), problem, known, START_STEPS, least)
        return self._iterate(point._replace(family=family), problem, known, 1, least)

    def _iterate(
        self,
        point: WorkingPoint,
        problem: LeastSquares,
        known: float | None,
        steps: int,
        least: float,
        fixed: bool = False,
    ) -> tuple[WorkingPoint, LeastSquares, float]:
        """Take steps until the level and the noise variance move by less than ``least``; return the latter.

        The level is ``fixed`` where it is the best already.
        """
        none = np.zeros(0)
        scales = Scales(none, 1.0, known or 1.0)
        for _ in range(steps):
            before, level = scales.sigma2, point.intercept
            problem = self._linearise(problem, point, before)
            if fixed:
                point = self._updated(point, scales)
            else:
                there = self._predictor_at_mean(problem, point, none, before, fit=np.zeros_like(self._y))
                point = self._step(point, there, scales)
            left = problem.targets.zz / point.family.noise_share
            scales = scales._replace(sigma2=known or noise_variance(left, self.total_weight))
            moved = np.abs(point.intercept - level).max() + abs(scales.sigma2 - before)
            if moved < least * (1.0 + np.abs(level).max()):
                break
        return point, problem, scales.sigma2
