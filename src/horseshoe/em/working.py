"""The working least-squares problem of a likelihood at a linear predictor, and line searches away from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Scales, Vector
from horseshoe.conditional.base import condition
from horseshoe.data.adjusted import adjusted
from horseshoe.data.coupled import coupled
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import Standardised
from horseshoe.data.thresholds import ThresholdProfile
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fused_passes import LinearPredictor, WorkingWeights, can_fuse_passes, is_same, with_sums
from horseshoe.em.separation import Separation
from horseshoe.em.state import WorkingPoint, relative_change
from horseshoe.families import Family, Ordered

# The most halvings of a step; after as many as the second next to nothing of it is left.
HALVINGS, STALLING = 20, 10
# No step moves a linear predictor by more than this and its own size, unless it cannot overshoot.
LONGEST = 20.0
# A step may raise the objective by this share of it: rounding is not overshooting.
SLACK = 1e-12
# Prior variances below it count as zero: their reciprocals would be out of range.
SMALLEST = 1e-290


class WorkingSteps:
    """The working problem at a point, and the step to the next: no farther than the log-posterior rises.

    Parameters
    ----------
    design : Standardised
        The columns, and the sample weights.
    y, offset : arrays of shape (n,) or (n, q)
        The response, and the known part of the linear predictor.
    family : Family
        The family.
    center : bool
        Whether there is an intercept.
    accelerated : bool
        Whether tall data may keep a Gram matrix for several iterations, and the start be accelerated; if not,
        the weights are updated at every iteration, as in plain EM.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> steps = WorkingSteps(x, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> steps.full.shape, steps.total_weight
    ((4, 1), 4.0)
    """

    def __init__(
        self,
        design: Standardised,
        y: Any,
        offset: Any,
        family: Family,
        center: bool,
        accelerated: bool = True,
    ) -> None:
        self._y, self._offset, self._center = y, offset, center
        self._sample = np.ones(len(y)) if design.weights is None else design.weights
        self.family, self.accelerated = family, accelerated
        self._design, self.unit, self._free = design, design.unit, design.free
        self._basis = None if self._free is None else self._free.with_ones(center)
        lost = 0.0 if self._free is None else float(self._free.basis.shape[1])
        self.total_weight = family.total(y, self._sample) - lost
        self._profiles = isinstance(family, Ordered) and family.thresholds_.size > 1
        self._separation = Separation(family, y, self._free)
        self.full = design.problem(np.zeros(len(y)))  # each row with its sample weight

    # --- the working problem ------------------------------------------------------------------------

    def _blank(self) -> LeastSquares:
        """Return the columns without weights and targets."""
        return LeastSquares(self._design.columns, Targets(self._y, self.total_weight))

    def _null_point(self) -> WorkingPoint:
        """Return the point without any column, with an intercept in the middle of the response."""
        level = self.family.intercept_alone(self._y, self._sample, self._offset) if self._center else 0.0
        zero, eta = np.zeros(self.full.n_columns), self._offset + level
        return WorkingPoint(zero, self._with_unpenalized(level), eta, self.family, unit=self.unit)

    def _with_unpenalized(self, level: float) -> Any:
        """Return an intercept with zeros for the other unpenalised coefficients."""
        if self._basis is None:
            return level
        out = np.zeros(self._basis.shape[1])
        if self._center:
            out[0] = level
        return out

    def _unpenalized_eta(self, intercept: Any) -> Any:
        """Return what the unpenalised coefficients add to each linear predictor."""
        return intercept if self._basis is None else self._basis @ intercept

    def _profiled(self, problem: LeastSquares, targets: Targets) -> LeastSquares:
        """Return the problem of explaining targets by the same columns, unpenalised ones projected out."""
        return adjusted(targets, self._free).problem(problem.columns)

    def _linearise(self, problem: LeastSquares, point: WorkingPoint, sigma2: float) -> LeastSquares:
        """Return the working problem at a point: the one known there, if its weights are the same."""
        found, known = self._working(problem, point.family, point.eta, sigma2), point.next_problem
        return known if known is not None and is_same(known, found) else found

    def _working(self, problem: LeastSquares, family: Family, eta: Vector, sigma2: float) -> LeastSquares:
        """Return the problem with the working weights Omega and targets z at eta."""
        wanted: Targets | None = coupled(family, self._y, eta, self._offset, self.total_weight)
        if wanted is None:
            weights, targets = family.working(self._y, eta, sigma2)
            weights = self._sample * weights
            values, careful = targets - self._offset, family.has_dispersion
            wanted = Targets(values, self.total_weight, weights, self._center, careful)
        return self._profiled(problem, wanted)

    def _with_thresholds(self, problem: LeastSquares, point: WorkingPoint) -> LeastSquares:
        """Return the problem in which the thresholds of an ordinal outcome are profiled out.

        Its least squares are a step of Newton's method on the likelihood with the thresholds at their best.
        """
        targets = problem.targets
        assert targets.weights is not None
        profile = self._threshold_profile(problem, point)
        fit = point.eta - self._offset
        pull = targets.weights * (targets.values - fit)
        try:
            values = fit + profile.reach(pull - targets.weights * (pull.sum() / targets.information))
        except np.linalg.LinAlgError:  # no information about some thresholds: update them in turns instead
            return problem
        here = Targets(
            values, self.total_weight, targets.weights, self._center, careful=False, beside=profile
        )
        return self._profiled(problem, here)

    def _threshold_profile(self, problem: LeastSquares, point: WorkingPoint) -> ThresholdProfile:
        assert problem.targets.weights is not None
        shared = point.family.shared(self._y, point.eta, self._sample)
        return ThresholdProfile(problem.targets.weights, *shared)

    # --- linear predictors --------------------------------------------------------------------------

    def _moved_to(
        self, problem: LeastSquares, point: WorkingPoint, coef: Any, sigma2: float = 1.0
    ) -> WorkingPoint:
        """Return the point with other coefficients and the same intercept."""
        there = self._predictor(problem, point.family, coef, point.intercept, sigma2)
        return point._replace(coef=coef, eta=there.eta, next_problem=there.next_problem)

    def _predictor(
        self,
        problem: LeastSquares,
        family: Family,
        coef: Any,
        level: Any,
        sigma2: float,
        mixed: Vector | None = None,
    ) -> LinearPredictor:
        """Return eta at these coefficients; of out-of-core data with the problem there.

        ``mixed`` are coefficients and intercept where the problem is wanted, if not there.
        """
        if self._basis is not None or not can_fuse_passes(problem, family):
            eta = problem.columns.matvec(coef) + (self._offset + self._unpenalized_eta(level))
            return LinearPredictor(coef, level, eta)
        both = coef if mixed is None else np.column_stack([coef, mixed[:-1]])
        weigh = WorkingWeights(family, sigma2, level if mixed is None else float(mixed[-1]))
        columns: Any = problem.columns
        fit, sums = columns.ahead(both, weigh, self._y, self._offset, self._sample)
        eta = (fit if mixed is None else fit[:, 0]) + (self._offset + level)
        there = eta if mixed is None else fit[:, 1] + (self._offset + weigh.level)
        known = with_sums(self._working(problem, family, there, sigma2), sums)
        return LinearPredictor(coef, level, eta, known, None if mixed is None else there)

    def _predictor_at_mean(
        self,
        problem: LeastSquares,
        point: WorkingPoint,
        mean: Vector,
        sigma2: float,
        mixer: Anderson | None = None,
        fit: Vector | None = None,
    ) -> LinearPredictor:
        """Return eta at a mean, with the best intercept beside it; ``fit`` is X mean, if it is known."""
        if fit is None and self._basis is None and can_fuse_passes(problem, point.family):
            level = problem.intercept(mean)
            parameters = np.append(mean, level)
            mixed = parameters if mixer is None else mixer.peek(point.parameters, parameters)
            at = None if mixed is parameters else mixed
            return self._predictor(problem, point.family, mean, level, sigma2, at)
        fit = problem.columns.matvec(mean) if fit is None else fit
        level = problem.targets.intercept(fit)
        return LinearPredictor(mean, level, fit + (self._offset + self._unpenalized_eta(level)))

    def _split(self, parameters: Vector) -> tuple[Any, Any]:
        """Return the coefficients, and the intercept with the other unpenalised coefficients behind them."""
        if self._basis is None:
            return parameters[:-1], float(parameters[-1])
        k = parameters.size - self._basis.shape[1]
        return parameters[:k], parameters[k:]

    # --- steps --------------------------------------------------------------------------------------

    def _step(self, point: WorkingPoint, there: LinearPredictor, scales: Scales) -> WorkingPoint:
        """Return the point after a line search towards ``there``, with what of the way is left."""
        before = point.intercept
        point = self._line_search(point, there.parameters, there.eta, scales)
        cut_off = relative_change(there.coef, point.coef, point.unit)
        unfinished = max(cut_off, self._unpenalized_change(point, before))
        return self._updated(point, scales)._replace(unfinished=unfinished, next_problem=there.next_problem)

    def _mixed_step(
        self, point: WorkingPoint, there: LinearPredictor, scales: Scales, mixer: Anderson
    ) -> tuple[WorkingPoint, float]:
        """Return the point that Anderson's mixing leads to, and the change of the last step before it."""
        before, bound = point.parameters, self._objective(point.family, point.eta, point.coef, scales)
        point = self._updated(self._line_search(point, there.parameters, there.eta, scales), scales)
        whole, (mixed, eta) = point.eta is there.eta, mixer.mixed(before, point.parameters, point.eta)
        eta = there.mixed_eta if whole and there.mixed_eta is not None else eta
        point = self._try(point, mixed, eta, scales, bound)._replace(next_problem=there.next_problem)
        coef, level = self._split(before)
        moved = self._unpenalized_change(point._replace(intercept=there.intercept), level)
        return point, max(relative_change(there.coef, coef, point.unit), moved)

    def _unpenalized_change(self, point: WorkingPoint, before: Any) -> float:
        """Return the change of the unpenalised coefficients, ignoring diverging ones."""
        level = point.intercept
        if isinstance(level, np.ndarray):
            change = relative_change(level, before)
        else:
            change = float(abs(level - before) / (1.0 + abs(level)))
        return self._separation.finite_change(change, self._unpenalized_eta(level))

    def _majorizer_is_loose(self, point: WorkingPoint, sigma2: float) -> bool:
        """Tell whether the Fisher information is below 1% of the majoriser's weights, so that EM crawls.

        Weights of a scale mixture are too large where a class is certain, as with a row of weight 1e6.
        """
        fisher = point.family.fisher(point.eta, sigma2) if self.accelerated else None
        if fisher is None:
            return False
        working = point.family.working(self._y, point.eta, sigma2).weights
        return float(self._sample @ fisher) < LIMITS.loose_majorizer * float(self._sample @ working)

    def _extra_newton_step(
        self, point: WorkingPoint, problem: LeastSquares, scales: Scales, settled: bool, stalls: int
    ) -> WorkingPoint:
        """Add a line search along Newton's direction at the same scales where the majoriser is loose.

        It waits for the scales to settle: before that it ends in other modes. Until then the fit is not done,
        however small its steps are. ``stalls`` counts such steps before.
        """
        is_loose, sharp = self._majorizer_is_loose(point, scales.sigma2), point.family.newton()
        if not is_loose or sharp is None:
            return point._replace(is_loose=is_loose)
        point = point._replace(is_loose=is_loose, n_stalls=stalls)
        if not settled:
            return point._replace(unfinished=np.inf)
        there = point._replace(family=sharp)
        try:
            problem = self._linearise(problem, there, scales.sigma2)
            mean = condition(problem, scales.prior_variance).mean
        except np.linalg.LinAlgError:  # rows that are all certain have no information on the intercept
            return point
        seen = self._predictor_at_mean(problem, there, mean, scales.sigma2)
        there = self._line_search(there, seen.parameters, seen.eta, scales)
        moved = max(point.unfinished, self._unpenalized_change(there, point.intercept))
        unfinished = max(relative_change(mean, there.coef, there.unit), moved)
        return there._replace(family=point.family, unfinished=unfinished, next_problem=seen.next_problem)

    def _updated(self, point: WorkingPoint, scales: Scales) -> WorkingPoint:
        """Return the point with the nuisance parameters of the family at their best there."""
        family = point.family.update(self._y, point.eta, scales.sigma2, self._sample)
        return point._replace(family=family)

    def _line_search(self, point: WorkingPoint, parameters: Vector, eta: Any, scales: Scales) -> WorkingPoint:
        """Go towards ``parameters``, with their ``eta``; halve the step until the objective does not rise."""
        family, here, stalled = point.family, point.parameters, False
        if not family.never_overshoots:
            bound = self._objective(family, point.eta, point.coef, scales)
            share = longest_share(point.eta, eta)
            if share < 1.0:
                parameters, eta = here + share * (parameters - here), point.eta + share * (eta - point.eta)
            enough = bound + SLACK * (1.0 + abs(bound))
            for halvings in range(HALVINGS):
                if self._objective(family, eta, self._split(parameters)[0], scales) <= enough:
                    break
                parameters, eta = 0.5 * (parameters + here), 0.5 * (eta + point.eta)
                stalled = halvings >= STALLING
            else:
                parameters, eta = here, point.eta
        coef, intercept = self._split(parameters)
        return point._replace(
            coef=coef, intercept=intercept, eta=eta, n_stalls=point.n_stalls + 1 if stalled else 0
        )

    def _try(
        self, point: WorkingPoint, parameters: Vector, eta: Any, scales: Scales, bound: float
    ) -> WorkingPoint:
        """Go to coefficients and intercept if they are near and the objective is at most ``bound`` there."""
        near = longest_share(point.eta, eta) == 1.0
        coef, intercept = self._split(parameters)
        if near and self._objective(point.family, eta, coef, scales) <= bound:
            return point._replace(coef=coef, intercept=intercept, eta=eta)
        return point

    def _objective(self, family: Family, eta: Any, coef: Any, scales: Scales) -> float:
        """Return minus the log-likelihood and the log prior of the coefficients, up to a constant.

        Thresholds of ordinal outcomes are at their best for each eta.
        """
        if self._profiles:
            family = family.update(self._y, eta, scales.sigma2, self._sample)
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(self._sample @ family.neg_log_likelihood(self._y, eta, scales.sigma2))
        d = scales.prior_variance if coef.ndim == 1 else scales.prior_variance[:, None]
        pull = np.divide(coef, d, out=np.zeros_like(coef), where=d >= SMALLEST)
        total = loss + 0.5 * float(np.vdot(coef, pull)) / scales.sigma2
        return total if np.isfinite(total) else np.inf

    def _is_tall(self, problem: LeastSquares) -> bool:
        n, k = problem.shape
        return self.accelerated and k > 0 and n >= max(LIMITS.many_rows, LIMITS.rows_per_column * k)


def longest_share(before: Any, eta: Any) -> float:
    """Return the share of the way to another eta that is not too long for one step.

    Examples
    --------
    >>> longest_share(np.zeros(2), np.array([1.0, -80.0]))
    0.25
    """
    length = np.abs(eta - before) / np.maximum(np.abs(before), LONGEST)
    return float(1.0 / max(float(length.max(initial=0.0)), 1.0))
