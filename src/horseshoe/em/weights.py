"""Weights and targets: constant for Gaussian data, taken anew at each linear predictor for any other family.

The loop asks both the same questions, so it does not know which it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Covariance, Mask, Matrix, Moments, Start, Status, Vector
from horseshoe.conditional.base import Conditional, condition, moments
from horseshoe.data.adjusted import Adjusted, Free
from horseshoe.data.dense import Dense
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.em.alone import Alone
from horseshoe.em.anderson import Anderson
from horseshoe.em.beginnings import Begin
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.pace import Pace
from horseshoe.em.joint import joint
from horseshoe.em.mstep import noise_variance
from horseshoe.em.starts import paper_start, variance_start
from horseshoe.em.state import Place, State
from horseshoe.em.steps import SLACK
from horseshoe.families import Family, Ordered

Form = Callable[[LeastSquares, Vector], Conditional]
"""From a problem and the prior variances to the coefficients given them."""


class Uncertainty(NamedTuple):
    """Cov[b], and the variance of the linear predictor at the columns' values ``center``.

    ``at_information`` says that they come from the expected information, and not from the working weights;
    ``free`` is the centre of what is not shrunk, whose coefficients are then behind the others in Cov[b];
    ``family`` is that of ordered levels, with how sure its thresholds are.
    """

    covariance: Covariance | None
    center: Vector
    intercept_variance: float
    at_information: bool = False
    free: Vector | None = None
    family: Any = None


class Constant:
    """The Gaussian likelihood: weights of 1, and targets that never change; ``unit`` is that of `Place`.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> Constant(plain(np.eye(2), np.array([3.0, 4.0]))).begin().start.mean
    array([3., 4.])
    """

    constant = True
    family: Any = None
    exact_spread = True
    has_noise = True

    def __init__(self, problem: LeastSquares, unit: Vector | None = None, free: Free | None = None) -> None:
        self.full, self.total_weight, self._unit = problem, problem.total_weight, unit
        self._free = free

    @property
    def response_scale(self) -> float:
        """The root mean square of the targets."""
        return float(np.sqrt(self.full.targets.zz / self.total_weight))

    def begin(self) -> Begin:
        """Return the start of Algorithm 1."""
        return self._begin(paper_start(self.full))

    def begin_variance(self) -> Begin:
        """Return the start with the noise variance at that of the response."""
        return self._begin(variance_start(self.full))

    def begin_at(self, coef: Vector, intercept: float, sigma2: float) -> Begin:
        """Return the problem, which is the same from an earlier fit."""
        return self._begin(Start(coef, coef * coef, sigma2 * self.total_weight))

    def _begin(self, start: Start) -> Begin:
        return Begin(start, self.full, Place(start.mean, 0.0, np.empty(0), None, fresh=True, unit=self._unit))

    def bare(self, active: Mask) -> LeastSquares:
        """Return the problem of the active columns."""
        return self.full if active.all() else self.full.take(active)

    def at(self, state: State) -> State:
        """There is nothing to bring up to date."""
        return state

    def moments(self, form: Form, state: State) -> Moments:
        """Return the moments of the coefficients."""
        return moments(form(state.problem, state.scales.prior_variance), state.scales.sigma2)

    def accept(self, state: State, found: Moments, pace: Pace | None = None) -> State:
        """Take over the moments."""
        return state.advanced(found, state.place, pace)

    def take(self, state: State, keep: Mask) -> State:
        """Go on with the columns in ``keep``."""
        return state.take(keep, state.place.measured(keep))

    def move_on(self, state: State, mixer: Anderson) -> tuple[State, float]:
        """Return 0: the problem is the same everywhere."""
        return state, 0.0

    def lead(self, state: State, point: Vector, eta: Vector) -> State:
        """Return the state as it is: the problem is the same everywhere."""
        return state

    def intercept(self, state: State) -> float:
        """Return 0: the data are centred."""
        return 0.0

    def uncertainty(self, state: State, of: Mask, diagonal: bool = False) -> Uncertainty:
        """Return the covariance of some of the coefficients and the variance of the intercept."""
        center, free = np.zeros(state.mean.size), self._free
        if free is not None:
            return _with_free(state, of, free, center, diagonal)
        return Uncertainty(_covariance(state, of, diagonal), center, state.scales.sigma2 / self.total_weight)

    def without_columns(self, state: State, known: float | None, tol: float) -> tuple[State, float]:
        """Return the variance of the targets."""
        return state, known or noise_variance(self.full.targets.zz, self.total_weight)

    def remark(self, state: State) -> Status | None:
        """Return nothing."""
        return None


class Moving(Alone):
    """A likelihood seen from the current linear predictor: weights, targets and step control.

    The parameters are those of `Steps`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> weights = Moving(x, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> float(weights.begin().start.mean[0].round(1))
    0.7
    """

    constant = False
    response_scale = 1.0

    @property
    def has_noise(self) -> bool:
        """Whether there is a noise variance."""
        return self.family.has_dispersion

    @property
    def exact_spread(self) -> bool:
        """Whether the variances are those of the least-squares problem itself."""
        return self.family.information() is None

    def bare(self, active: Mask) -> LeastSquares:
        """Return the active columns, without weights and targets."""
        blank = self._blank()
        return blank if active.all() else blank.take(active)

    def at(self, state: State) -> State:
        """Take weights and targets at the current linear predictor, unless those at hand still do."""
        place = state.place._replace(fresh=not state.place.waiting)
        if state.place.waiting:
            return state._replace(place=place)
        problem = self._linearise(state.problem, place, state.scales.sigma2)
        if self._profiles:
            problem = self._beside_thresholds(problem, place)
        spread = state.spread_problem
        if spread is None and not self.exact_spread:
            spread = self.full if state.active.all() else self.full.take(state.active)
        return state._replace(place=place._replace(ahead=None), problem=problem, spread_problem=spread)

    def moments(self, form: Form, state: State) -> Moments:
        """Return the moments; the spread is that of the expected information, if the family has one."""
        d, sigma2 = state.scales.prior_variance, state.scales.sigma2
        given = form(state.problem, d)
        information, base = state.place.family.information(), state.spread_problem
        if information is None or base is None:
            return moments(given, sigma2)
        spread = form(base, information * d)
        variance, trace = (sigma2 / information) * spread.variance(), spread.fit_trace
        return Moments(given.mean, variance, given.rss + sigma2 * trace, trace, given.log_det)

    def accept(self, state: State, found: Moments, pace: Pace | None = None) -> State:
        """Move to the mean, halving the way until the penalised likelihood does not fall."""
        found, before = _with_share(found, state.scales.sigma2, state.place.family), state.second_moment
        settled = bool(np.all(np.abs(found.second_moment - before) <= LIMITS.settled_change * before))
        place = state.place._replace(waiting=self._may_wait(state, found.mean, settled))
        if not place.waiting:
            seen = self._image(state.problem, place, found.mean, self._next_sigma2(state, found))
            place = self._accept(place, seen, state.scales)
            stalls = state.place.n_stalls
            place = self._hastened(place, state.problem, state.scales, settled, stalls)
            found = self._at_place(found._replace(mean=place.coef), place, state.scales.sigma2)
        return state.advanced(found, place, pace)

    def _next_sigma2(self, state: State, found: Moments) -> float:
        """Return the noise variance of the next iteration, as far as it can be told."""
        if not self.has_noise:
            return state.scales.sigma2
        return noise_variance(found.expected_rss, self.total_weight)

    def _at_place(self, found: Moments, place: Place, sigma2: float) -> Moments:
        """Return the moments with the squares that are left where the step ended, and not where it began.

        Of amounts these may be far apart: with the sigma2 of one place and the targets of the other a fit
        swings between the two for ever. At the mode they are the same.
        """
        if not self.has_noise or place.family.is_location or np.isnan(found.fit_trace):  # draws have none
            return found
        weights, targets = place.family.working(self._y, place.eta, sigma2)
        rss = float((self._sample * weights) @ (targets - place.eta) ** 2)
        return found._replace(expected_rss=rss + sigma2 * found.fit_trace)

    def take(self, state: State, keep: Mask) -> State:
        """Go on with the columns in ``keep``."""
        part = state.take(keep, state.place)
        place = state.place.measured(keep)
        assert state.moments is not None
        sigma2 = self._next_sigma2(state, state.moments)
        return part._replace(place=self._move(part.problem, place, place.coef[keep], sigma2))

    def move_on(self, state: State, mixer: Anderson) -> tuple[State, float]:
        """Take the next weights where the steps so far lead; return how far the last one went."""
        seen = self._image(state.problem, state.place, state.mean, state.scales.sigma2, mixer)
        place, way = self._mixed(state.place, seen, state.scales, mixer)
        return state._replace(place=place), way

    def lead(self, state: State, point: Vector, eta: Vector) -> State:
        """Take the next weights at these coefficients and intercept, unless they are worse."""
        place, scales = state.place, state.scales
        bound = self._objective(place.family, place.eta, place.coef, scales)
        return state._replace(place=self._try(place, point, eta, scales, bound + SLACK * (1.0 + abs(bound))))

    def intercept(self, state: State) -> Any:
        """Return the intercept that goes with the mean, with all else that is not shrunk."""
        if np.array_equal(state.mean, state.place.coef):
            return state.place.intercept
        return state.problem.intercept(state.mean)

    def uncertainty(self, state: State, of: Mask, diagonal: bool = False) -> Uncertainty:
        """Return the covariance of some of the coefficients and the variance of the intercept."""
        sigma2, information = state.scales.sigma2, state.place.family.information()
        if diagonal and self._free is None:
            variance = sigma2 / ((information or 1.0) * state.problem.targets.information)
            return Uncertainty(_covariance(state, of, diagonal), state.problem.x_mean, variance)
        if information is None:
            there = state if diagonal else self._at_information(state)
            variance = sigma2 / there.problem.targets.information
            changed = there is not state
            if isinstance(there.problem, Adjusted):
                return self._adjusted(there, of, there.problem, diagonal)._replace(at_information=changed)
            covariance = _covariance(there, of)
            family = self._sure_thresholds(there, covariance, of)
            return Uncertainty(covariance, there.problem.x_mean, variance, changed, family=family)
        base = state.spread_problem or self.full.take(state.active)
        tau2, slab2 = information * state.scales.tau2, information * state.scales.slab2
        scales = state.scales._replace(tau2=tau2, sigma2=sigma2 / information, slab2=slab2)
        there, center = state._replace(problem=base, scales=scales), np.zeros(state.mean.size)
        if self._free is not None:
            return _with_free(there, of, self._free, center, diagonal)
        return Uncertainty(_covariance(there, of), center, scales.sigma2 / self.total_weight)

    def _adjusted(self, state: State, of: Mask, problem: Adjusted, diagonal: bool) -> Uncertainty:
        """Return the uncertainty where more than an intercept is not shrunk."""
        assert self._free is not None
        targets, sigma2 = problem.targets, state.scales.sigma2
        known, middle = self._free.loads[:, state.active], targets.middle
        covariance = _joint(state, of, problem.loads + known, sigma2 * targets.covariance(), diagonal)
        center, family = problem.x_mean + middle @ known, self._sure_thresholds(state, covariance, of)
        return Uncertainty(covariance, center, sigma2 / targets.information, free=middle, family=family)

    def _sure_thresholds(self, state: State, covariance: Covariance | None, of: Mask) -> Any:
        """Return the family with the standard deviations of its thresholds, if they are of ordered levels.

        Given b they have the variance C^-1, and they move with it by -C^-1 B'X.
        """
        family: Any = state.place.family
        if not isinstance(family, Ordered) or family.continuous:
            return None
        beside = self._beside(state.problem, state.place)
        try:
            variance = beside.variance
        except np.linalg.LinAlgError:  # some thresholds are not told by any row
            return family.sure(np.full_like(family.thresholds_, np.inf))
        if covariance is not None:
            chosen = np.flatnonzero(state.active)[of]
            back = self._design.mean[chosen] / self._design.scale[chosen]  # to columns that are not centred
            moved = beside.moved(state.problem.columns.take(of))
            if self._free is not None:
                own = beside.moved(Dense(self._free.basis))
                moved = np.hstack([moved + own @ self._free.loads[:, chosen], own])
                back = np.append(back, self._free.back)
            variance = variance + covariance.quadratic(back + moved)
        return family.sure(np.sqrt(variance))

    def _at_information(self, state: State) -> State:
        """Return the state with the expected information in the place of the working weights.

        Of ordered levels, with what is known beside the thresholds where they are now.
        """
        if self._profiles:
            here = self._linearise(state.problem, state.place, state.scales.sigma2)
            return state._replace(problem=self._beside_thresholds(here, state.place))
        fisher = state.place.family.fisher(state.place.eta, state.scales.sigma2)
        if fisher is None:
            return state
        old = state.problem.targets
        targets = Targets(old.values, self.total_weight, self._sample * fisher, self._center)
        return state._replace(problem=self._explained(state.problem, targets))

    def remark(self, state: State) -> Status | None:
        """Return what is worth saying of a fit that has converged."""
        remark: Status | None = state.place.family.remark(self._y, state.place.eta)
        return remark or self._endless.remark

    def _may_wait(self, state: State, mean: Vector, settled: bool) -> bool:
        """Tell whether the next iteration can do with the same weights: only where a pass is dear."""
        if not self._is_tall(state.problem):
            return False
        unit = 1.0 if state.place.unit is None else state.place.unit
        step, way = (np.abs(unit * (mean - before)).sum() for before in (state.mean, state.place.coef))
        near = way < LIMITS.near_share * (1.0 + np.abs(unit * mean).sum())
        return bool(step > LIMITS.settled_share * way or (near and not settled))


Weights = Constant | Moving
"""What the loop asks: a likelihood on data."""


def _with_share(found: Moments, sigma2: float, family: Family) -> Moments:
    """Return the moments with E[RSS] where sigma2 is estimated from it, for families with a share of it."""
    if family.noise_share == 1.0 or math.isnan(found.fit_trace):  # averages of draws have it already
        return found
    spread = sigma2 * found.fit_trace
    rss = max(found.expected_rss - spread, 0.0) / family.noise_share
    return found._replace(expected_rss=rss + spread)


def _covariance(state: State, of: Mask, diagonal: bool = False) -> Covariance | None:
    """Return Cov[b]; where that would take a factorisation of too many columns, its diagonal alone."""
    if not of.any():
        return None
    if diagonal and state.moments is not None:
        return Covariance(state.moments.variance[of], np.zeros((0, int(of.sum()))), 1.0)
    return condition(state.problem, state.scales.prior_variance).covariance(state.scales.sigma2, of)


def _with_free(state: State, of: Mask, free: Free, center: Vector, diagonal: bool) -> Uncertainty:
    """Return the uncertainty where the weights are those of the sample, in which the basis is orthogonal."""
    q, variance = free.basis.shape[1], state.scales.sigma2 / free.total_weight
    covariance = _joint(state, of, free.loads[:, state.active], variance * np.eye(q), diagonal)
    return Uncertainty(covariance, center, variance, free=np.zeros(q))


class _Apart(NamedTuple):
    """Coefficients of which the variances alone are known."""

    variance: Vector

    def covariance(self, sigma2: float) -> Covariance:
        return Covariance(self.variance, np.zeros((0, self.variance.size)), 1.0)


def _joint(state: State, of: Mask, loads: Matrix, variance: Matrix, diagonal: bool) -> Covariance:
    """Return the covariance of some coefficients and of what is beside them, as in `joint`."""
    given: Any = None
    if diagonal and state.moments is not None:
        given = _Apart(state.moments.variance)
    elif state.mean.size:
        given = condition(state.problem, state.scales.prior_variance)
    return joint(given, state.scales.sigma2, of, loads, variance)
