"""The two kinds of likelihood: Gaussian, with constant weights, and any other, with working weights.

The loop calls both by the same methods. `horseshoe.em.multinomial` has a third, for several classes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Covariance, Mask, Matrix, Moments, Scales, Start, Status, Vector
from horseshoe.conditional.base import Form, moments, moments_of_several
from horseshoe.data.adjusted import Adjusted, Free
from horseshoe.data.dense import Dense
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.m_step import noise_variance
from horseshoe.em.null_model import NullModel
from horseshoe.em.result import Uncertainty, covariances, sample_weighted
from horseshoe.em.starts import PAPER_RSS, Begin, paper_start
from horseshoe.em.state import SCALES, FastState, State, WorkingPoint
from horseshoe.em.working import SLACK
from horseshoe.families import Family, Ordered


class GaussianLikelihood:
    """The Gaussian likelihood of one response or several: weights of 1, and targets that never change.

    Response l is z_l = X b_l + noise of variance sigma2_l. Given the scales, the precision of each b_l is
    (X'X + D^-1) / sigma2_l: one factor serves every response.

    Parameters
    ----------
    problem : LeastSquares
        The columns, each row with its sample weight, and the response.
    unit : array of shape (k,), optional
        As in `WorkingPoint`.
    free : Free, optional
        The unpenalised columns, which were projected out.
    targets : array of shape (n, q), optional
        Several responses, weighted and centred as the columns are; that of ``problem`` is not used then.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> GaussianLikelihood(plain(np.eye(2), np.array([3.0, 4.0]))).begin().start.mean
    array([3., 4.])
    """

    constant = True
    family: Any = None
    exact_spread = True
    has_noise = True

    def __init__(
        self,
        problem: LeastSquares,
        unit: Vector | None = None,
        free: Free | None = None,
        targets: Matrix | None = None,
    ) -> None:
        self.full, self.total_weight, self._unit = problem, problem.total_weight, unit
        self._free, self._targets = free, targets
        self.n_responses = 1 if targets is None else targets.shape[1]
        self.is_multivariate = targets is not None

    @property
    def rss(self) -> Any:
        """The sum of squares of each response."""
        targets = self._targets
        return self.full.targets.zz if targets is None else np.einsum("ij,ij->j", targets, targets)

    @lazy
    def pull(self) -> Any:
        """X'Z."""
        targets = self._targets
        return self.full.xz if targets is None else np.asarray(self.full.weighted.rmatvec(targets))

    @property
    def response_scale(self) -> Any:
        """The root mean square of each response."""
        return np.sqrt(self.rss / self.total_weight)

    def begin(self) -> Begin:
        """Return the start of Algorithm 1."""
        rss = PAPER_RSS if self._targets is None else np.full(self.n_responses, PAPER_RSS)
        return self.begin_from(paper_start(self.full, rss, self.pull))

    def begin_variance(self) -> Begin:
        """Return the start with the noise variance at that of the response."""
        return self.begin_from(paper_start(self.full, self.rss, self.pull))

    def begin_at(self, coef: Any, intercept: Any, sigma2: Any) -> Begin:
        """Return a start at earlier coefficients."""
        return self.begin_from(Start(coef, coef * coef, sigma2 * self.total_weight))

    def begin_from(self, start: Start) -> Begin:
        """Return a start with the problem, which is the same everywhere."""
        point = WorkingPoint(start.mean, 0.0, np.empty(0), None, fresh=True, unit=self._unit)
        return Begin(start, self.full, point)

    def bare(self, active: Mask) -> LeastSquares:
        """Return the problem of the active columns."""
        return self.full if active.all() else self.full.take(active)

    def at(self, state: State, scales: Scales) -> State:
        """Return the state with the scales of the next M-step: Gaussian weights are constant."""
        return State._make((*state[:SCALES], scales, *state[SCALES + 1 :]))

    def moments(self, form: Form, state: State) -> Moments:
        """Return the moments of the coefficients, Eqs. (7)-(12)."""
        given, sigma2 = form(state.problem, state.scales.prior_variance), state.scales.sigma2
        if self._targets is None:
            return moments(given, sigma2)
        return moments_of_several(given, state.problem, sigma2, *self.targets_of(state))

    def targets_of(self, state: State) -> tuple[Any, ...]:
        """Return several responses Z, and X'Z of the active columns; nothing for one response."""
        return () if self._targets is None else (self._targets, self.pull[state.active])

    def accept(self, state: State, found: Moments, fast: FastState | None = None) -> State:
        """Return the state with these moments: no step goes too far."""
        return state.advanced(found, state.point, fast)

    def take(self, state: State, keep: Mask) -> State:
        """Return the state of the columns in ``keep``."""
        return state.take(keep)

    def jump(self, state: State, parameters: Vector, eta: Any) -> State:
        """Return the state as it is: Gaussian weights are constant."""
        return state

    def intercepts(self, state: State) -> list[Any]:
        """Return 0 for each response: the data are centred."""
        return [0.0] * self.n_responses

    def uncertainty(self, state: State, of: Mask, diagonal: bool = False) -> list[Uncertainty]:
        """Return the covariance of some coefficients and the variance of the intercept, for each response."""
        center, sigma2 = np.zeros(len(state.mean)), state.scales.sigma2
        if self._free is not None:
            return sample_weighted(state, of, self._free, center, diagonal)
        each = zip(covariances(state, of, diagonal), np.array(sigma2, ndmin=1).tolist(), strict=True)
        return [Uncertainty(found, center, one / self.total_weight) for found, one in each]

    def without_columns(self, state: State, known: Any, tol: float) -> tuple[State, Any]:
        """Return the variance of the targets."""
        return state, noise_variance(self.rss, self.total_weight) if known is None else known

    def remark(self, state: State) -> Status | None:
        """Return None: there is no separation."""
        return None


class WorkingLikelihood(NullModel):
    """A likelihood approximated at the current linear predictor by working weights and targets.

    The parameters are those of `WorkingSteps`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> y = np.array([1.0, 2.0, 4.0, 8.0])
    >>> likelihood = WorkingLikelihood(x, y, np.zeros(4), Poisson(), center=True)
    >>> float(likelihood.begin().start.mean[0].round(1))
    0.7
    """

    constant = False
    response_scale = 1.0
    n_responses = 1
    is_multivariate = False

    @lazy
    def has_noise(self) -> bool:
        """Whether there is a noise variance."""
        return self.family.has_dispersion

    @lazy
    def exact_spread(self) -> bool:
        """Whether the variances are those of the least-squares problem itself."""
        return self.family.information() is None

    def bare(self, active: Mask) -> LeastSquares:
        """Return the active columns, without weights and targets."""
        blank = self._blank()
        return blank if active.all() else blank.take(active)

    def at(self, state: State, scales: Scales) -> State:
        """Update scales, weights and targets to the linear predictor, unless those at hand still serve."""
        point = state.point
        if point.keeps_weights:
            return state._replace(point=point._replace(fresh=False), scales=scales)
        problem = self._linearise(state.problem, point, scales.sigma2)
        if self._profiles:
            problem = self._with_thresholds(problem, point)
        spread = state.spread_problem
        if spread is None and not self.exact_spread:
            spread = self.full if state.active.all() else self.full.take(state.active)
        point = point._replace(fresh=True, next_problem=None)
        return state._replace(point=point, problem=problem, spread_problem=spread, scales=scales)

    def moments(self, form: Form, state: State) -> Moments:
        """Return the moments; the spread is that of the expected information, if the family has one."""
        d, sigma2 = state.scales.prior_variance, state.scales.sigma2
        given = form(state.problem, d)
        information, base = state.point.family.information(), state.spread_problem
        if information is None or base is None:
            return moments(given, sigma2)
        spread = form(base, information * d)
        variance, trace = (sigma2 / information) * spread.variance(), spread.fit_trace
        return Moments(given.mean, variance, given.rss + sigma2 * trace, trace, given.log_det)

    def accept(self, state: State, found: Moments, fast: FastState | None = None) -> State:
        """Move to the mean by a line search: the log-posterior must not fall."""
        found, before = _with_share(found, state.scales.sigma2, state.point.family), state.second_moment
        settled = bool(np.all(np.abs(found.second_moment - before) <= LIMITS.settled_change * before))
        point = state.point._replace(keeps_weights=self._may_keep_weights(state, found.mean, settled))
        if not point.keeps_weights:
            sigma2, stalls = self._next_sigma2(state, found), state.point.n_stalls
            there = self._predictor_at_mean(state.problem, point, found.mean, sigma2)
            point = self._step(point, there, state.scales)
            point = self._extra_newton_step(point, state.problem, state.scales, settled, stalls)
            found = self._at_point(found._replace(mean=point.coef), point, state.scales.sigma2)
        return state.advanced(found, point, fast)

    def _next_sigma2(self, state: State, found: Moments) -> float:
        """Return the noise variance of the next iteration, as far as it is known yet."""
        if not self.has_noise:
            return float(state.scales.sigma2)
        return float(noise_variance(found.expected_rss, self.total_weight))

    def _at_point(self, found: Moments, point: WorkingPoint, sigma2: float) -> Moments:
        """Return the moments with the residual sum of squares where the step ended, not where it began.

        For positive continuous outcomes these may be far apart: with the sigma2 of one point and the targets
        of the other a fit oscillates between the two. At the mode they are the same.
        """
        if not self.has_noise or point.family.is_location or np.isnan(found.fit_trace):  # draws have none
            return found
        weights, targets = point.family.working(self._y, point.eta, sigma2)
        rss = float((self._sample * weights) @ (targets - point.eta) ** 2)
        return found._replace(expected_rss=rss + sigma2 * found.fit_trace)

    def take(self, state: State, keep: Mask) -> State:
        """Return the state of the columns in ``keep``, with the linear predictor without the others."""
        assert state.moments is not None
        part, sigma2 = state.take(keep), self._next_sigma2(state, state.moments)
        return part._replace(point=self._moved_to(part.problem, part.point, part.point.coef[keep], sigma2))

    def mix_weights(self, state: State, mixer: Anderson) -> tuple[State, float]:
        """Take the next weights where Anderson's mixing leads; return the change of the last step."""
        point, scales = state.point, state.scales
        there = self._predictor_at_mean(state.problem, point, state.mean, scales.sigma2, mixer)
        point, change = self._mixed_step(point, there, scales, mixer)
        return state._replace(point=point), change

    def jump(self, state: State, parameters: Vector, eta: Any) -> State:
        """Take the next weights at these coefficients and intercept, unless they are worse."""
        point, scales = state.point, state.scales
        bound = self._objective(point.family, point.eta, point.coef, scales)
        enough = bound + SLACK * (1.0 + abs(bound))
        return state._replace(point=self._try(point, parameters, eta, scales, enough))

    def intercepts(self, state: State) -> list[Any]:
        """Return the intercept that goes with the mean, with the other unpenalised coefficients."""
        if np.array_equal(state.mean, state.point.coef):
            return [state.point.intercept]
        return [state.problem.intercept(state.mean)]

    def uncertainty(self, state: State, of: Mask, diagonal: bool = False) -> list[Uncertainty]:
        """Return the covariance of some of the coefficients and the variance of the intercept."""
        sigma2, information = state.scales.sigma2, state.point.family.information()
        # 1. variances alone, where the covariance would need a factorisation of too many columns
        if diagonal and self._free is None:
            variance = sigma2 / ((information or 1.0) * state.problem.targets.information)
            (covariance,) = covariances(state, of, diagonal)
            return [Uncertainty(covariance, state.problem.x_mean, variance)]
        # 2. the same expected information in every row: the least squares of the sample weights
        if information is not None:
            base = state.spread_problem or self.full.take(state.active)
            tau2, slab2 = information * state.scales.tau2, information * state.scales.slab2
            scales = state.scales._replace(tau2=tau2, sigma2=sigma2 / information, slab2=slab2)
            there, center = state._replace(problem=base, scales=scales), np.zeros(state.mean.size)
            if self._free is not None:
                return sample_weighted(there, of, self._free, center, diagonal)
            (covariance,) = covariances(there, of)
            return [Uncertainty(covariance, center, scales.sigma2 / self.total_weight)]
        # 3. the expected information at the mode, row by row
        there = state if diagonal else self._at_information(state)
        problem = there.problem
        variance = sigma2 / problem.targets.information
        center, middle = problem.x_mean, None
        if isinstance(problem, Adjusted):
            assert self._free is not None
            known, middle = self._free.loads[:, state.active], problem.targets.middle
            center = center + middle @ known
            loads, own = problem.loads + known, sigma2 * problem.targets.covariance()
            (covariance,) = covariances(there, of, diagonal, loads, [own])
        else:
            (covariance,) = covariances(there, of)
        family = self._with_threshold_se(there, covariance, of)
        return [Uncertainty(covariance, center, variance, there is not state, middle, family)]

    def _with_threshold_se(self, state: State, covariance: Covariance | None, of: Mask) -> Any:
        """Return the family of an ordinal outcome with the standard errors of its thresholds.

        Given b they have the variance C^-1, and they move with it by -C^-1 B'X.
        """
        family: Any = state.point.family
        if not isinstance(family, Ordered) or family.continuous:
            return None
        profile = self._threshold_profile(state.problem, state.point)
        try:
            variance = profile.variance
        except np.linalg.LinAlgError:  # no information about some thresholds
            return family.with_threshold_se(np.full_like(family.thresholds_, np.inf))
        if covariance is not None:
            chosen = np.flatnonzero(state.active)[of]
            back = self._design.mean[chosen] / self._design.scale[chosen]  # to columns that are not centred
            moved = profile.moved(state.problem.columns.take(of))
            if self._free is not None:
                own = profile.moved(Dense(self._free.basis))
                moved = np.hstack([moved + own @ self._free.loads[:, chosen], own])
                back = np.append(back, self._free.back)
            variance = variance + covariance.quadratic(back + moved)
        return family.with_threshold_se(np.sqrt(variance))

    def _at_information(self, state: State) -> State:
        """Return the state with the expected information in the place of the working weights.

        For ordinal outcomes it is that with the thresholds profiled out where they are now.
        """
        if self._profiles:
            here = self._linearise(state.problem, state.point, state.scales.sigma2)
            return state._replace(problem=self._with_thresholds(here, state.point))
        fisher = state.point.family.fisher(state.point.eta, state.scales.sigma2)
        if fisher is None:
            return state
        old = state.problem.targets
        targets = Targets(old.values, self.total_weight, self._sample * fisher, self._center)
        return state._replace(problem=self._profiled(state.problem, targets))

    def targets_of(self, state: State) -> tuple[Any, ...]:
        """Return nothing: the targets are those of the problem."""
        return ()

    def remark(self, state: State) -> Status | None:
        """Return the status of complete separation or the like."""
        remark: Status | None = state.point.family.remark(self._y, state.point.eta)
        return remark or self._separation.status

    def _may_keep_weights(self, state: State, mean: Vector, settled: bool) -> bool:
        """Tell whether the next iteration can use the same weights: only where one Gram matrix is costly."""
        if not self._is_tall(state.problem):
            return False
        unit = 1.0 if state.point.unit is None else state.point.unit
        step, way = (np.abs(unit * (mean - before)).sum() for before in (state.mean, state.point.coef))
        near = way < LIMITS.near_share * (1.0 + np.abs(unit * mean).sum())
        return bool(step > LIMITS.settled_share * way or (near and not settled))


# What the loop asks: a likelihood on data.
Likelihood = GaussianLikelihood | WorkingLikelihood


def _with_share(found: Moments, sigma2: float, family: Family) -> Moments:
    """Return the moments with E[RSS] where sigma2 is estimated from it, for families with a noise share."""
    if family.noise_share == 1.0 or math.isnan(found.fit_trace):  # averages of draws have it already
        return found
    spread = sigma2 * found.fit_trace
    rss = max(found.expected_rss - spread, 0.0) / family.noise_share
    return found._replace(expected_rss=rss + spread)
