"""A likelihood seen from a linear predictor: the least-squares problem there, and safe steps away from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Scales, Vector
from horseshoe.conditional.base import condition
from horseshoe.data.adjusted import adjusted
from horseshoe.data.beside import Beside
from horseshoe.data.coupled import coupled
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import Standardised
from horseshoe.em.ahead import Look, Seen, foresees, is_same, with_sums
from horseshoe.em.anderson import Anderson
from horseshoe.em.endless import Endless
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.state import Place, relative_change
from horseshoe.families import Family, Ordered

HALVINGS, STALLING = 20, 10
"""The most halvings of a step; after as many as the second nothing to speak of is left of it."""
LONGEST = 20.0
"""No step moves a linear predictor by more than this and its own size, unless it cannot overshoot."""
SLACK = 1e-12
"""A step may raise the objective by this share of it: rounding is not overshooting."""


class Steps:
    """The problem at a place, and the way to the next: no farther than the penalised likelihood rises.

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
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> steps = Steps(x, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> steps.full.shape, steps.total_weight
    ((4, 1), 4.0)
    """

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
        self.family, self.patient = family, patient
        self._design, self.unit, self._free = design, design.unit, design.free
        self._basis = None if self._free is None else self._free.with_ones(center)
        lost = 0.0 if self._free is None else float(self._free.basis.shape[1])
        self.total_weight = family.total(y, self._sample) - lost
        self._profiles = isinstance(family, Ordered) and family.thresholds_.size > 1
        self._endless = Endless(family, y, self._free)
        self.full = design.problem(np.zeros_like(y))  # each row with its sample weight

    def _blank(self) -> LeastSquares:
        """Return the columns without weights and targets."""
        return LeastSquares(self._design.columns, Targets(self._y, self.total_weight))

    def _nowhere(self) -> Place:
        """Return the place with no column at all, and an intercept in the middle of the response."""
        level = self.family.intercept_alone(self._y, self._sample, self._offset) if self._center else 0.0
        none = np.zeros(self.full.n_columns)
        return Place(none, self._free_level(level), self._offset + level, self.family, unit=self.unit)

    def _free_level(self, level: float) -> Any:
        """Return an intercept with zeros for all else that is not shrunk."""
        if self._basis is None:
            return level
        out = np.zeros(self._basis.shape[1])
        if self._center:
            out[0] = level
        return out

    def _rows(self, intercept: Any) -> Any:
        """Return what is not shrunk as a part of each linear predictor."""
        return intercept if self._basis is None else self._basis @ intercept

    def _explained(self, problem: LeastSquares, targets: Targets) -> LeastSquares:
        """Return the problem of explaining targets by the same columns, beside what is not shrunk."""
        return adjusted(targets, self._free).problem(problem.columns)

    def _linearise(self, problem: LeastSquares, place: Place, sigma2: float) -> LeastSquares:
        found = self._working(problem, place.family, place.eta, sigma2)
        return place.ahead if place.ahead is not None and is_same(place.ahead, found) else found

    def _working(self, problem: LeastSquares, family: Family, eta: Vector, sigma2: float) -> LeastSquares:
        wanted: Targets | None = coupled(family, self._y, eta, self._offset, self.total_weight)
        if wanted is None:
            weights, targets = family.working(self._y, eta, sigma2)
            weights = self._sample * weights
            values, careful = targets - self._offset, family.has_dispersion
            wanted = Targets(values, self.total_weight, weights, self._center, careful)
        return self._explained(problem, wanted)

    def _beside_thresholds(self, problem: LeastSquares, place: Place) -> LeastSquares:
        """Return the problem where thresholds are estimated too, and not only the level of eta.

        Its least squares are a step of Newton's method on the likelihood with the thresholds at their best.
        """
        targets = problem.targets
        assert targets.weights is not None
        beside = self._beside(problem, place)
        fit = place.eta - self._offset
        pull = targets.weights * (targets.values - fit)
        try:
            values = fit + beside.reach(pull - targets.weights * (pull.sum() / targets.information))
        except np.linalg.LinAlgError:  # some thresholds are not told by any row: the others take turns
            return problem
        here = Targets(values, self.total_weight, targets.weights, self._center, careful=False, beside=beside)
        return self._explained(problem, here)

    def _beside(self, problem: LeastSquares, place: Place) -> Beside:
        assert problem.targets.weights is not None
        shared = place.family.shared(self._y, place.eta, self._sample)
        return Beside(problem.targets.weights, *shared)

    def _move(self, problem: LeastSquares, place: Place, coef: Vector, sigma2: float = 1.0) -> Place:
        seen = self._seen(problem, place.family, coef, place.intercept, sigma2)
        return place._replace(coef=coef, eta=seen.eta, ahead=seen.ahead)

    def _seen(
        self,
        problem: LeastSquares,
        family: Family,
        coef: Vector,
        level: Any,
        sigma2: float,
        mixed: Vector | None = None,
    ) -> Seen:
        """Return what is seen at these coefficients; where a pass is dear, with the problem there.

        ``mixed`` are coefficients and intercept where the problem is wanted, if not there.
        """
        if self._basis is not None or not foresees(problem, family):
            return Seen(coef, level, problem.columns.matvec(coef) + (self._offset + self._rows(level)))
        both = coef if mixed is None else np.column_stack([coef, mixed[:-1]])
        look = Look(family, sigma2, level if mixed is None else float(mixed[-1]))
        columns: Any = problem.columns
        fit, sums = columns.ahead(both, look, self._y, self._offset, self._sample)
        eta = (fit if mixed is None else fit[:, 0]) + (self._offset + level)
        there = eta if mixed is None else fit[:, 1] + (self._offset + look.level)
        ahead = with_sums(self._working(problem, family, there, sigma2), sums)
        return Seen(coef, level, eta, ahead, None if mixed is None else there)

    def _apart(self, point: Vector) -> tuple[Vector, Any]:
        """Return the coefficients, and the intercept behind them, with all else that is not shrunk."""
        if self._basis is None:
            return point[:-1], float(point[-1])
        k = point.size - self._basis.shape[1]
        return point[:k], point[k:]

    def _accept(self, place: Place, seen: Seen, scales: Scales) -> Place:
        """Return the place after a step towards what was ``seen``."""
        level = place.intercept
        place = self._step_to(place, seen.point, seen.eta, scales)
        left_out = max(relative_change(seen.coef, place.coef, place.unit), self._went(place, level))
        return self._updated(place, scales)._replace(left_out=left_out, ahead=seen.ahead)

    def _mixed(self, place: Place, seen: Seen, scales: Scales, mixer: Anderson) -> tuple[Place, float]:
        """Return the place to which the steps so far lead, and how far the last one went."""
        before, bound = place.point, self._objective(place.family, place.eta, place.coef, scales)
        place = self._updated(self._step_to(place, seen.point, seen.eta, scales), scales)
        whole, (point, eta) = place.eta is seen.eta, mixer.mixed(before, place.point, place.eta)
        eta = seen.mixed if whole and seen.mixed is not None else eta
        place = self._try(place, point, eta, scales, bound)._replace(ahead=seen.ahead)
        start, last = self._apart(before)
        moved = self._went(place._replace(intercept=seen.intercept), last)
        return place, max(relative_change(seen.coef, start, place.unit), moved)

    def _went(self, place: Place, before: Any) -> float:
        """Return how far what is not shrunk went, unless it would go on for ever."""
        return self._endless.left(_moved(place.intercept, before), self._rows(place.intercept))

    def _creeps(self, problem: LeastSquares, place: Place, sigma2: float) -> bool:
        """Tell whether a step goes but a small share of the way, since the weights overstate the information.

        Those of a scale mixture do where a class is sure; a row that counts a million times is sure at once.
        """
        fisher = place.family.fisher(place.eta, sigma2) if self.patient else None
        if fisher is None:
            return False
        working = place.family.working(self._y, place.eta, sigma2).weights
        return float(self._sample @ fisher) < LIMITS.creeping * float(self._sample @ working)

    def _hastened(
        self, place: Place, problem: LeastSquares, scales: Scales, settled: bool, stalls: int
    ) -> Place:
        """Go on, where steps creep, with a checked step of Newton's method at the same scales.

        It waits for them to settle: before that it ends in other modes. Till then the fit is not done,
        however small its steps are. ``stalls`` are those of such steps before.
        """
        creeps, sharp = self._creeps(problem, place, scales.sigma2), place.family.newton()
        if not creeps or sharp is None:
            return place._replace(creeps=creeps)
        place = place._replace(creeps=creeps, n_stalls=stalls)
        if not settled:
            return place._replace(left_out=np.inf)
        there = place._replace(family=sharp)
        try:
            problem = self._linearise(problem, there, scales.sigma2)
            mean = condition(problem, scales.prior_variance).mean
        except np.linalg.LinAlgError:  # rows that are all sure tell nothing of what is not shrunk
            return place
        seen = self._image(problem, there, mean, scales.sigma2)
        there = self._step_to(there, seen.point, seen.eta, scales)
        moved = max(place.left_out, self._went(there, place.intercept))
        left_out = max(relative_change(mean, there.coef, there.unit), moved)
        return there._replace(family=place.family, left_out=left_out, ahead=seen.ahead)

    def _updated(self, place: Place, scales: Scales) -> Place:
        family = place.family.update(self._y, place.eta, scales.sigma2, self._sample)
        return place._replace(family=family)

    def _image(
        self,
        problem: LeastSquares,
        place: Place,
        mean: Vector,
        sigma2: float,
        mixer: Anderson | None = None,
        fit: Vector | None = None,
    ) -> Seen:
        """Return coefficients with the intercept that goes with them, and their eta; X b may be known."""
        if fit is None and self._basis is None and foresees(problem, place.family):
            level = problem.intercept(mean)
            point = np.append(mean, level)
            mixed = point if mixer is None else mixer.ahead(place.point, point)
            at = None if mixed is point else mixed
            return self._seen(problem, place.family, mean, level, sigma2, at)
        fit = problem.columns.matvec(mean) if fit is None else fit
        level = problem.targets.intercept(fit)
        return Seen(mean, level, fit + (self._offset + self._rows(level)))

    def _step_to(self, place: Place, point: Vector, eta: Vector, scales: Scales) -> Place:
        """Go towards coefficients and intercept, with their eta, as far as is safe."""
        family, here, stalled = place.family, place.point, False
        if not family.never_overshoots:
            bound = self._objective(family, place.eta, place.coef, scales)
            share = longest_share(place.eta, eta)
            if share < 1.0:
                point, eta = here + share * (point - here), place.eta + share * (eta - place.eta)
            enough = bound + SLACK * (1.0 + abs(bound))
            for halvings in range(HALVINGS):
                if self._objective(family, eta, self._apart(point)[0], scales) <= enough:
                    break
                point, eta = 0.5 * (point + here), 0.5 * (eta + place.eta)
                stalled = halvings >= STALLING
            else:
                point, eta = here, place.eta
        stalls = place.n_stalls + 1 if stalled else 0
        coef, intercept = self._apart(point)
        return place._replace(coef=coef, intercept=intercept, eta=eta, n_stalls=stalls)

    def _try(self, place: Place, point: Vector, eta: Vector, scales: Scales, bound: float) -> Place:
        """Go to coefficients and intercept if the penalised likelihood is good enough there."""
        near = longest_share(place.eta, eta) == 1.0
        coef, intercept = self._apart(point)
        if near and self._objective(place.family, eta, coef, scales) <= bound:
            return place._replace(coef=coef, intercept=intercept, eta=eta)
        return place

    def _objective(self, family: Family, eta: Vector, mean: Vector, scales: Scales) -> float:
        """Return minus the log-likelihood and the log prior of the coefficients, up to a constant.

        Thresholds of ordered levels move along with eta.
        """
        if self._profiles:
            family = family.update(self._y, eta, scales.sigma2, self._sample)
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(self._sample @ family.neg_log_likelihood(self._y, eta, scales.sigma2))
        d = scales.prior_variance
        pull = np.divide(mean, d, out=np.zeros_like(mean), where=d > 0.0)
        total = loss + 0.5 * float(mean @ pull) / scales.sigma2
        return total if np.isfinite(total) else np.inf

    def _is_tall(self, problem: LeastSquares) -> bool:
        n, k = problem.shape
        return self.patient and k > 0 and n >= max(LIMITS.many_rows, LIMITS.rows_per_column * k)


def longest_share(before: Vector, eta: Vector) -> float:
    """Return how much of the way to another eta is not too long for one step.

    Examples
    --------
    >>> longest_share(np.zeros(2), np.array([1.0, -80.0]))
    0.25
    """
    length = np.abs(eta - before) / np.maximum(np.abs(before), LONGEST)
    return float(1.0 / max(float(length.max(initial=0.0)), 1.0))


def _moved(level: Any, before: Any) -> float:
    """Return the paper's measure of change, of the intercept and all else that is not shrunk."""
    if isinstance(level, np.ndarray):
        return relative_change(level, before)
    return float(abs(level - before) / (1.0 + abs(level)))
