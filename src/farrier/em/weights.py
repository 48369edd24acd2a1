"""Weights and targets: constant for Gaussian data, taken anew at each linear predictor for any other family.

The loop asks both the same questions, so it does not know which it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from farrier._types import Covariance, Mask, Moments, Scales, Start, Status, Vector
from farrier.conditional.base import Conditional, condition, moments
from farrier.conditional.dual import Dual
from farrier.data.problem import LeastSquares, Targets
from farrier.data.standardise import Standardised
from farrier.em.anderson import Anderson
from farrier.em.fast.limits import LIMITS
from farrier.em.fast.pace import Pace
from farrier.em.mstep import noise_variance
from farrier.em.starts import marginal_start, paper_start, variance_start
from farrier.em.state import Place, State, relative_change
from farrier.families.base import Family

START_TOL, START_STEPS = 1e-3, 100
"""The ridge that a fit starts from is iterated until its coefficients change by less than this."""
HALVINGS, STALLING = 40, 20
"""The most halvings of a step; after more than the second nothing to speak of is left of it."""
LONGEST = 20.0
"""No step moves a linear predictor by more than this, unless it cannot overshoot."""
SLACK = 1e-12
"""A step may raise the objective by this share of it: rounding is not overshooting."""

Form = Callable[[LeastSquares, Vector], Conditional]
"""From a problem and the prior variances to the coefficients given them."""


class Begin(NamedTuple):
    """Where a fit begins: the start, the problem there, and where its weights were taken."""

    start: Start
    problem: LeastSquares
    place: Place


class Uncertainty(NamedTuple):
    """Cov[b], and the variance of the linear predictor at the columns' values ``center``.

    ``at_information`` says that they come from the expected information, and not from the working weights.
    """

    covariance: Covariance | None
    center: Vector
    intercept_variance: float
    at_information: bool = False


class Constant:
    """The Gaussian likelihood: weights of 1, and targets that never change.

    Examples
    --------
    >>> from farrier.data.problem import plain
    >>> Constant(plain(np.eye(2), np.array([3.0, 4.0]))).begin().start.mean
    array([3., 4.])
    """

    constant = True
    exact_spread = True

    def __init__(self, problem: LeastSquares) -> None:
        self.full, self.total_weight = problem, problem.total_weight

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
        return Begin(start, self.full, Place(start.mean, 0.0, np.empty(0), None, fresh=True))

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
        return state.take(keep, state.place)

    def move_on(self, state: State, mixer: Anderson) -> tuple[State, float]:
        """Return 0: the problem is the same everywhere."""
        return state, 0.0

    def lead(self, state: State, point: Vector, eta: Vector) -> State:
        """Return the state as it is: the problem is the same everywhere."""
        return state

    def intercept(self, state: State) -> float:
        """Return 0: the data are centred."""
        return 0.0

    def uncertainty(self, state: State, of: Mask) -> Uncertainty:
        """Return the covariance of some of the coefficients and the variance of the intercept."""
        center = np.zeros(state.mean.size)
        return Uncertainty(_covariance(state, of), center, state.scales.sigma2 / self.total_weight)

    def without_columns(self, state: State, known: float | None) -> tuple[State, float]:
        """Return the variance of the targets."""
        return state, known or noise_variance(self.full.targets.zz, self.total_weight)

    def remark(self, state: State) -> Status | None:
        """Return nothing."""
        return None


class Moving:
    """A likelihood seen from the current linear predictor: weights, targets and step control.

    Parameters
    ----------
    design : Standardised
        The columns, and the sample weights.
    y, offset : arrays of shape (n,)
        The response, and the known part of the linear predictor.
    family : Family
        The family.
    center : bool
        Whether there is an intercept.
    patient : bool
        Whether tall data may keep a Gram matrix for several iterations, and the start be mixed; without, the
        weights are taken at every iteration, as in plain EM.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.data.standardise import standardise
    >>> from farrier.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> weights = Moving(x, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> float(weights.begin().start.mean[0].round(1))
    0.7
    """

    constant = False
    response_scale = 1.0

    def __init__(
        self,
        design: Standardised,
        y: Vector,
        offset: Vector,
        family: Family,
        center: bool,
        patient: bool = True,
    ) -> None:
        self._y, self._offset, self._center = y, offset, center
        self._sample = np.ones_like(y) if design.weights is None else design.weights
        self.family, self.total_weight, self.patient = family, design.total_weight, patient
        self._design = design
        self.full = design.problem(np.zeros_like(y))  # each row with its sample weight

    @property
    def exact_spread(self) -> bool:
        """Whether the variances are those of the least-squares problem itself."""
        return self.family.information() is None

    # --- the loop's questions -----------------------------------------------------------------------

    def at(self, state: State) -> State:
        """Take weights and targets at the current linear predictor, unless those at hand still do."""
        place = state.place._replace(fresh=not state.place.waiting)
        if state.place.waiting:
            return state._replace(place=place)
        problem = self._linearise(state.problem, place, state.scales.sigma2)
        spread = state.spread_problem
        if spread is None and not self.exact_spread:
            spread = self.full if state.active.all() else self.full.take(state.active)
        return state._replace(place=place, problem=problem, spread_problem=spread)

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
        before = state.second_moment
        settled = bool(np.all(np.abs(found.second_moment - before) < LIMITS.settled_change * before))
        place = state.place._replace(waiting=self._may_wait(state, found.mean, settled))
        if not place.waiting:
            fit = state.problem.columns.matvec(found.mean)
            place = self._accept(place, state.problem, found.mean, fit, state.scales)
            found = found._replace(mean=place.coef)
        return state.advanced(found, place, pace)

    def take(self, state: State, keep: Mask) -> State:
        """Go on with the columns in ``keep``."""
        part = state.take(keep, state.place)
        return part._replace(place=self._move(part.problem, state.place, state.place.coef[keep]))

    def move_on(self, state: State, mixer: Anderson) -> tuple[State, float]:
        """Take the next weights where the steps so far lead; return how far the last one went."""
        fit = state.problem.columns.matvec(state.mean)
        place, way = self._mixed(state.place, state.problem, state.mean, fit, state.scales, mixer)
        return state._replace(place=place), way

    def lead(self, state: State, point: Vector, eta: Vector) -> State:
        """Take the next weights at these coefficients and intercept, unless they are worse."""
        place, scales = state.place, state.scales
        bound = self._objective(place.family, place.eta, place.coef, scales)
        return state._replace(place=self._try(place, point, eta, scales, bound + SLACK * (1.0 + abs(bound))))

    def intercept(self, state: State) -> float:
        """Return the intercept that goes with the mean."""
        if np.array_equal(state.mean, state.place.coef):
            return state.place.intercept
        return state.problem.intercept(state.mean)

    def uncertainty(self, state: State, of: Mask) -> Uncertainty:
        """Return the covariance of some of the coefficients and the variance of the intercept."""
        sigma2, information = state.scales.sigma2, state.place.family.information()
        if information is None:
            there = self._at_information(state)
            variance = sigma2 / there.problem.targets.information
            changed = there is not state
            return Uncertainty(_covariance(there, of), there.problem.x_mean, variance, changed)
        base = state.spread_problem or self.full.take(state.active)
        tau2, slab2 = information * state.scales.tau2, information * state.scales.slab2
        scales = state.scales._replace(tau2=tau2, sigma2=sigma2 / information, slab2=slab2)
        covariance = _covariance(state._replace(problem=base, scales=scales), of)
        return Uncertainty(covariance, np.zeros(state.mean.size), scales.sigma2 / self.total_weight)

    def _at_information(self, state: State) -> State:
        """Return the state with the expected information in the place of the working weights."""
        fisher = state.place.family.fisher(state.place.eta, state.scales.sigma2)
        if fisher is None:
            return state
        old = state.problem.targets
        targets = Targets(old.values, self.total_weight, self._sample * fisher, self._center)
        return state._replace(problem=LeastSquares(state.problem.columns, targets))

    def without_columns(self, state: State, known: float | None) -> tuple[State, float]:
        """Fit the intercept alone; return the noise variance that is left."""
        none = np.zeros(0)
        scales = Scales(none, 1.0, known or 1.0)
        place, problem = state.place._replace(waiting=False), state.problem
        for _ in range(START_STEPS):
            before, level = scales.sigma2, place.intercept
            problem = self._linearise(problem, place, before)
            place = self._accept(place, problem, none, np.zeros_like(self._y), scales)
            left = problem.targets.zz
            scales = scales._replace(sigma2=known or noise_variance(left, self.total_weight))
            moved = abs(place.intercept - level) + abs(scales.sigma2 - before)
            if moved < START_TOL**2 * (1.0 + abs(level)):
                break
        return state._replace(place=place, problem=problem), scales.sigma2

    def remark(self, state: State) -> Status | None:
        """Return what is worth saying of a fit that has converged."""
        remark: Status | None = state.place.family.remark(self._y, state.place.eta)
        return remark

    # --- beginnings ---------------------------------------------------------------------------------

    def begin(self) -> Begin:
        """Return the start: a ridge, or marginal least squares where there is a noise variance.

        The latter are each column's weighted fit, around the median and with weights from there.
        """
        if self.family.has_dispersion or self.full.n_columns == 0:
            place = self._nowhere()
            problem = self._linearise(self._blank(), place, 1.0)
            return Begin(variance_start(problem), problem, place)
        return self._begin_ridge()

    def begin_variance(self) -> Begin:
        """Return the family's own start, which has no noise variance to choose."""
        return self.begin()

    def linear(self) -> LeastSquares:
        """Return the least-squares problem that stands for the likelihood near the response itself."""
        place = Place(np.empty(0), 0.0, self.family.start(self._y), self.family)
        return self._linearise(self._blank(), place, 1.0)

    def begin_marginal(self) -> Begin:
        """Return what each column explains alone, less what noise would: half of the null ones go at once."""
        place = self._nowhere()
        problem = self._linearise(self._blank(), place, 1.0)
        return Begin(marginal_start(problem, self.total_weight), problem, place)

    def begin_at(self, coef: Vector, intercept: float, sigma2: float) -> Begin:
        """Return a beginning at an earlier fit, without its intercept if there is to be none."""
        blank, level = self._blank(), intercept if self._center else 0.0
        place = self._move(blank, self._nowhere()._replace(intercept=level), coef)
        start = Start(coef, coef * coef, sigma2 * self.total_weight)
        return Begin(start, self._linearise(blank, place, sigma2), place)

    def _begin_ridge(self) -> Begin:
        """Return a ridge with precision 1 on the scale of the prior and a free intercept.

        It is iterated until its coefficients change by less than 1e-3; E[b^2] has its exact variances.
        """
        ridge = Ridge(self._design, self.patient)
        mixer = Anderson() if self.patient and self.family.never_overshoots else None
        place, problem = self._from_some_rows(), self._blank()
        if place is None:
            place = Place(np.zeros(self.full.n_columns), 0.0, self.family.start(self._y), self.family)
            problem = self._linearise(problem, place, 1.0)
            place = self._accept(self._nowhere(), problem, *ridge.step(problem), ridge.scales)
        for _ in range(START_STEPS):
            problem = self._linearise(problem, place, 1.0)
            (mean, fit), before = ridge.step(problem), place.coef
            if mixer is not None:
                place, change = self._mixed(place, problem, mean, fit, ridge.scales, mixer)
            else:
                place = self._accept(place, problem, mean, fit, ridge.scales)
                mean = place.coef
                change = max(relative_change(mean, before), place.left_out)
            if change < START_TOL:
                break
        if mixer is not None:
            point, eta = self._image(problem, mean, fit)
            place = place._replace(coef=mean, intercept=float(point[-1]), eta=eta)
        start = Start(mean, mean**2 + ridge.variance(problem), self.total_weight)
        return Begin(start, problem, place._replace(waiting=self._is_tall(problem)))

    def _from_some_rows(self) -> Place | None:
        """Return the start of a part of the rows, if they are many: it saves passes over all of them."""
        n, k = self.full.shape
        some = max(LIMITS.many_rows, LIMITS.rows_per_column * k) // 2
        if not self.patient or n < 10 * some:
            return None
        rows = slice(None, None, n // some)
        y = self._y[rows]
        if y.min() == y.max():
            return None
        sample = None if self._design.weights is None else self._design.weights[rows]
        design = self._design._replace(columns=self._design.columns.rows(rows), weights=sample)
        part = Moving(design, y, self._offset[rows], self.family, self._center)
        found = part._begin_ridge().place
        return self._move(self._blank(), found, found.coef)

    # --- parts --------------------------------------------------------------------------------------

    def _blank(self) -> LeastSquares:
        """Return the columns without weights and targets."""
        return LeastSquares(self._design.columns, Targets(self._y, self.total_weight))

    def _nowhere(self) -> Place:
        """Return the place with no column at all, and an intercept in the middle of the response."""
        level = self.family.level(self._y, self._sample, self._offset) if self._center else 0.0
        none = np.zeros(self.full.n_columns)
        return Place(none, level, self._offset + level, self.family)

    def _linearise(self, problem: LeastSquares, place: Place, sigma2: float) -> LeastSquares:
        family = place.family
        weights, targets = family.working(self._y, place.eta, sigma2)
        return LeastSquares(
            problem.columns,
            Targets(
                targets - self._offset,
                self.total_weight,
                self._sample * weights,
                self._center,
                careful=family.has_dispersion,
            ),
        )

    def _move(self, problem: LeastSquares, place: Place, coef: Vector) -> Place:
        return place._replace(coef=coef, eta=self._predictor(problem, coef, place.intercept))

    def _predictor(self, problem: LeastSquares, coef: Vector, intercept: float) -> Vector:
        return np.asarray(problem.columns.matvec(coef) + (self._offset + intercept))

    def _accept(
        self, place: Place, problem: LeastSquares, mean: Vector, fit: Vector, scales: Scales
    ) -> Place:
        """Return the place after a step towards ``mean``, whose X b is ``fit``."""
        level = place.intercept
        place = self._step_to(place, *self._image(problem, mean, fit), scales)
        left_out = max(relative_change(mean, place.coef), _moved(place.intercept, level))
        return self._updated(place, scales)._replace(left_out=left_out)

    def _mixed(
        self,
        place: Place,
        problem: LeastSquares,
        mean: Vector,
        fit: Vector,
        scales: Scales,
        mixer: Anderson,
    ) -> tuple[Place, float]:
        """Return the place to which the steps so far lead, and how far the last one, to ``mean``, went."""
        before, (image, eta) = place.point, self._image(problem, mean, fit)
        bound = self._objective(place.family, place.eta, place.coef, scales)
        place = self._updated(self._step_to(place, image, eta, scales), scales)
        place = self._try(place, *mixer.mixed(before, place.point, place.eta), scales, bound)
        return place, max(relative_change(image[:-1], before[:-1]), _moved(image[-1], before[-1]))

    def _updated(self, place: Place, scales: Scales) -> Place:
        family = place.family.update(self._y, place.eta, scales.sigma2, self._sample)
        return place._replace(family=family)

    def _image(self, problem: LeastSquares, mean: Vector, fit: Vector) -> tuple[Vector, Vector]:
        """Return coefficients with the intercept that goes with them, and their eta."""
        intercept = problem.targets.intercept(fit)
        return np.append(mean, intercept), fit + (self._offset + intercept)

    def _step_to(self, place: Place, point: Vector, eta: Vector, scales: Scales) -> Place:
        """Go towards coefficients and intercept, with their eta, as far as is safe."""
        family, here, stalled = place.family, place.point, False
        if not family.never_overshoots:
            bound = self._objective(family, place.eta, place.coef, scales)
            share = min(1.0, LONGEST / max(float(np.abs(eta - place.eta).max()), LONGEST))
            if share < 1.0:
                point, eta = here + share * (point - here), place.eta + share * (eta - place.eta)
            enough = bound + SLACK * (1.0 + abs(bound))
            for halvings in range(HALVINGS):
                if self._objective(family, eta, point[:-1], scales) <= enough:
                    break
                point, eta = 0.5 * (point + here), 0.5 * (eta + place.eta)
                stalled = halvings >= STALLING
        stalls = place.n_stalls + 1 if stalled else 0
        return place._replace(coef=point[:-1], intercept=float(point[-1]), eta=eta, n_stalls=stalls)

    def _try(self, place: Place, point: Vector, eta: Vector, scales: Scales, bound: float) -> Place:
        """Go to coefficients and intercept if the penalised likelihood is good enough there."""
        near = float(np.abs(eta - place.eta).max()) <= LONGEST
        if near and self._objective(place.family, eta, point[:-1], scales) <= bound:
            return place._replace(coef=point[:-1], intercept=float(point[-1]), eta=eta)
        return place

    def _objective(self, family: Family, eta: Vector, mean: Vector, scales: Scales) -> float:
        """Return minus the log-likelihood and the log prior of the coefficients, up to a constant."""
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(self._sample @ family.neg_log_likelihood(self._y, eta, scales.sigma2))
        d = scales.prior_variance
        pull = np.divide(mean, d, out=np.zeros_like(mean), where=d > 0.0)
        total = loss + 0.5 * float(mean @ pull) / scales.sigma2
        return total if np.isfinite(total) else np.inf

    def _may_wait(self, state: State, mean: Vector, settled: bool) -> bool:
        """Tell whether the next iteration can do with the same weights: only where a pass is dear."""
        if not self._is_tall(state.problem):
            return False
        step, way = np.abs(mean - state.mean).sum(), np.abs(mean - state.place.coef).sum()
        near = way < LIMITS.near_share * (1.0 + np.abs(mean).sum())
        return bool(step > LIMITS.settled_share * way or (near and not settled))

    def _is_tall(self, problem: LeastSquares) -> bool:
        n, k = problem.shape
        return self.patient and k > 0 and n >= max(LIMITS.many_rows, LIMITS.rows_per_column * k)


Weights = Constant | Moving
"""What the loop asks: a likelihood on data."""


class Ridge:
    """The ridge with precision 1 that a fit starts from.

    With more columns than rows X X' is formed once, whatever the weights are.
    """

    def __init__(self, design: Standardised, fast: bool) -> None:
        n, k = design.columns.shape
        self.scales = Scales(np.ones(k), 1.0, 1.0)
        self._outer = design.columns.scaled(self.scales.lambda2).outer() if k > n else None
        self._dtype = np.float32 if fast and n * k > LIMITS.large else np.float64

    def step(self, problem: LeastSquares) -> tuple[Vector, Vector]:
        """Return E[b] alone, which costs less than its variances, and X E[b]: from X X' if that is known."""
        given = self._given(problem, np.float64)
        if isinstance(given, Dual) and self._outer is not None:
            pull = problem.pull(given.residual)
            return given.mean, blas.dsymv(1.0, self._outer, pull, lower=1)
        return given.mean, problem.columns.matvec(given.mean)

    def variance(self, problem: LeastSquares) -> Vector:
        """Return Var[b_j]; of many columns in single precision."""
        return self._given(problem, self._dtype).variance()

    def _given(self, problem: LeastSquares, dtype: Any) -> Conditional:
        ones = self.scales.lambda2
        if self._outer is None:
            return condition(problem, ones)
        return Dual(problem, ones, problem.weigh(self._outer).astype(dtype, order="F"))


def _covariance(state: State, of: Mask) -> Covariance | None:
    if not of.any():
        return None
    return condition(state.problem, state.scales.prior_variance).covariance(state.scales.sigma2, of)


def _moved(level: float, before: float) -> float:
    """Return the paper's measure of change, of the intercept."""
    return float(abs(level - before) / (1.0 + abs(level)))
