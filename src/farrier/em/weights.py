"""What the loop fits: a least-squares problem that stays as it is, or one that follows a likelihood.

`Quadratic` is the Gaussian model. `Linearised` is every other one: at the current linear predictor the
likelihood gives weights and targets, and these a weighted least-squares problem of the same shape. Both are
asked the same things by the loop, so it does not know which it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from farrier._types import Covariance, Mask, Moments, Scales, Start, Status, Vector
from farrier.conditional.engines import (
    ALONE,
    Context,
    EStep,
    choose_e_step,
    posterior_covariance,
    posterior_mean,
)
from farrier.data.design import Standardised, System
from farrier.data.weighted import WeightedSystem
from farrier.em.fast.tail import Anderson
from farrier.em.mstep import noise_variance
from farrier.em.starts import paper_start, variance_start
from farrier.families import Family

MANY_ROWS, ROWS_PER_COLUMN = 5_000, 20
"""With so many rows, in all and for each column, one Gram matrix serves several iterations ..."""
SETTLED_SHARE = 0.1
"""... until a step is below this share of the way from where the weights were taken, or even then, ..."""
NEAR = 0.1
"""... if all of the way is below this share of the coefficients and the scales still move."""
START_TOL, START_STEPS = 1e-3, 100
HALVINGS = 40
LONGEST = 20.0
"""No step moves a linear predictor by more than this, unless it cannot overshoot."""
SLACK = 1e-12
"""A step may raise the objective by this share of it: rounding is not overshooting."""


class Uncertainty(NamedTuple):
    """Cov[b], and the variance of the linear predictor at the columns' values ``center``."""

    covariance: Covariance | None
    center: Vector
    intercept_variance: float


class Quadratic:
    """The Gaussian likelihood: weights of 1, and targets that never change.

    Examples
    --------
    >>> Quadratic(System(np.eye(2, order="F"), np.array([3.0, 4.0]), size=2.0)).null_variance(None)
    12.5
    """

    constant = True
    fresh = True
    exact_spread = True
    left_out = 0.0

    def __init__(self, system: System) -> None:
        self.full = self.system = system
        self.size = system.size

    def refresh(self, sigma2: float) -> None:
        """There is nothing to bring up to date."""

    def moments(self, engine: EStep, scales: Scales, context: Context = ALONE) -> Moments:
        """Return the moments of the coefficients."""
        return engine(self.system, scales.prior_variance, scales.sigma2, context)

    def move_on(self, mixer: Anderson, scales: Scales, mean: Vector) -> float:
        """Return 0: the problem is the same everywhere."""
        return 0.0

    def take(self, keep: Mask) -> None:
        """Go on with the columns in ``keep``."""
        self.system = self.system.take(keep)

    def start(self) -> Start:
        """Return the start of Algorithm 1."""
        return paper_start(self.full)

    def at(self, coef: Vector, intercept: float, sigma2: float) -> System:
        """Return the problem, which is the same from an earlier fit."""
        return self.system

    def intercept(self, mean: Vector) -> float:
        """Return 0: the data are centred."""
        return 0.0

    def uncertainty(self, scales: Scales) -> Uncertainty:
        """Return the covariance of the coefficients and the variance of the intercept."""
        covariance = _covariance(self.system, scales.prior_variance, scales.sigma2)
        return Uncertainty(covariance, np.zeros(self.system.n_columns), scales.sigma2 / self.size)

    def null_variance(self, known: float | None) -> float:
        """Return the noise variance when nothing is selected."""
        return known or noise_variance(self.full.zz, self.size)

    def remark(self) -> Status | None:
        """Return what is worth saying of a fit that has converged."""
        return None

    @property
    def response_scale(self) -> float:
        """The unit of the zero threshold: the root mean square of the targets."""
        return float(np.sqrt(self.full.zz / self.size))


class Linearised:
    """A likelihood seen from the current linear predictor: weights, targets and step control.

    Parameters
    ----------
    design : Standardised
        The columns, and the sample weights.
    y, offset : arrays of shape (n,)
        The response, and the known part of the linear predictor.
    likelihood : Family
        The family.
    center : bool
        Whether there is an intercept.

    Examples
    --------
    >>> from farrier.data.design import standardise
    >>> from farrier.families import Poisson
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> design = standardise(x, None, center=True, scale=True)
    >>> problem = Linearised(design, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> float(problem.start().mean[0].round(1))
    0.7
    """

    constant = False
    response_scale = 1.0
    accelerate = True

    def __init__(
        self, design: Standardised, y: Vector, offset: Vector, likelihood: Family, center: bool
    ) -> None:
        self._x, self._y, self._offset, self._center = design.x, y, offset, center
        self._sample = np.ones_like(y) if design.weights is None else design.weights
        self.likelihood, self.size = likelihood, design.size
        self.full = design.system(np.zeros_like(y))
        self.base = self.full  # the columns still active, each row with its sample weight
        self.fresh = self._waiting = False
        self.left_out = 0.0  # what the change of the coefficients does not tell: see `accept`
        self._mean = np.zeros(self._x.shape[1])
        self._level = 0.0  # the intercept that goes with it
        self._eta = likelihood.start(y)
        self.system: WeightedSystem

    @property
    def exact_spread(self) -> bool:
        """Whether the variances are those of the least-squares problem itself."""
        return self.likelihood.information() is None

    # --- the loop's questions -----------------------------------------------------------------------

    def refresh(self, sigma2: float) -> None:
        """Take weights and targets at the current linear predictor, unless those at hand still do."""
        self.fresh = not self._waiting
        if not self._waiting:
            self._linearise(sigma2)

    def moments(self, engine: EStep, scales: Scales, context: Context = ALONE) -> Moments:
        """Return the moments; the spread is that of the expected information, if the family has one."""
        d, sigma2 = scales.prior_variance, scales.sigma2
        moments = engine(self.system, d, sigma2, context)
        information = self.likelihood.information()
        if information is None or np.isnan(moments.fit_trace):  # averages of draws know their own spread
            return moments
        spread = engine(self.base, information * d, sigma2 / information)
        rss = moments.expected_rss + sigma2 * (spread.fit_trace - moments.fit_trace)
        return moments._replace(variance=spread.variance, fit_trace=spread.fit_trace, expected_rss=rss)

    def accept(self, mean: Vector, scales: Scales, before: Vector, settled: bool = True) -> Vector:
        """Move to ``mean``, halving the way until the penalised likelihood does not fall.

        ``before`` was the mean one step earlier; ``settled`` says whether the scales have come to rest.
        ``left_out`` is then how much of the step was not taken, or how far the intercept went if that is
        more.
        """
        self._waiting = self._may_wait(mean, before, settled)
        if self._waiting:
            return mean
        level = self._level
        self._step_to(np.append(mean, self.system.intercept(mean)), scales)
        self.left_out = max(relative_change(mean, self._mean), _moved(self._level, level))
        self.likelihood = self.likelihood.update(self._y, self._eta, scales.sigma2, self._sample)
        return self._mean

    def move_on(self, mixer: Anderson, scales: Scales, mean: Vector) -> float:
        """Take the next weights where the steps so far lead; return how far the last one went.

        It went to ``mean``, the fixed point at the weights taken here.
        """
        before = np.append(self._mean, self._level)
        image = np.append(mean, self.system.intercept(mean))
        bound = self._objective(self._eta, self._mean, scales)
        self._step_to(image, scales)
        self.likelihood = self.likelihood.update(self._y, self._eta, scales.sigma2, self._sample)
        self._try(mixer.next(before, np.append(self._mean, self._level)), scales, bound)
        return max(relative_change(image[:-1], before[:-1]), _moved(image[-1], before[-1]))

    def take(self, keep: Mask) -> None:
        """Go on with the columns in ``keep``."""
        self.system = self.system.take(keep)
        self._x = self.system.raw
        if self.likelihood.information() is not None:
            self.base = self.base.take(keep)
        self._move(self._mean[keep], self._level)

    def intercept(self, mean: Vector) -> float:
        """Return the intercept that goes with ``mean``."""
        return self._level if np.array_equal(mean, self._mean) else self.system.intercept(mean)

    def uncertainty(self, scales: Scales) -> Uncertainty:
        """Return the covariance of the coefficients and the variance of the intercept."""
        d, sigma2, information = scales.prior_variance, scales.sigma2, self.likelihood.information()
        if information is None:
            covariance = _covariance(self.system, d, sigma2)
            return Uncertainty(covariance, self.system.x_mean, sigma2 / self.system.total)
        covariance = _covariance(self.base, information * d, sigma2 / information)
        return Uncertainty(covariance, np.zeros(d.size), sigma2 / (information * self.size))

    def null_variance(self, known: float | None) -> float:
        """Fit the intercept alone; return the noise variance that is left."""
        none, sigma2 = np.zeros(0), known or 1.0
        scales = Scales(none, 1.0, sigma2)
        self._waiting = False
        for _ in range(START_STEPS):
            before, level = scales.sigma2, self._level
            self.refresh(before)
            self.accept(none, scales, none)
            sigma2 = known or noise_variance(float(self.system.z @ self.system.z), self.size)
            scales = scales._replace(sigma2=sigma2)
            if abs(self._level - level) + abs(sigma2 - before) < START_TOL**2 * (1.0 + abs(level)):
                break
        return sigma2

    def remark(self) -> Status | None:
        """Return what is worth saying of a fit that has converged."""
        return self.likelihood.remark(self._y, self._eta)

    # --- starts -------------------------------------------------------------------------------------

    def start(self) -> Start:
        """Return the start: a ridge, or marginal least squares where there is a noise variance.

        The ridge has precision 1 on the scale of the prior and a free intercept, and is iterated until its
        coefficients change by less than 1e-3; E[b^2] has its exact variances.
        """
        if self.likelihood.has_dispersion or self._x.shape[1] == 0:
            return self._marginal_start()
        ones = np.ones(self._x.shape[1])
        scales = Scales(ones, 1.0, 1.0)
        mixer = Anderson() if self.accelerate and self.likelihood.never_overshoots else None
        if not self._start_from_some_rows():
            self._linearise(1.0)
            self._move(np.zeros_like(ones), self._middle())  # what to fall back on if that leads astray
            self.accept(posterior_mean(self.system, ones), scales, ones)
        for _ in range(START_STEPS):
            self.refresh(1.0)
            mean, before = posterior_mean(self.system, ones), self._mean
            if mixer is not None:
                change = self.move_on(mixer, scales, mean)
            else:
                mean = self.accept(mean, scales, mean)
                change = max(relative_change(mean, before), self.left_out)
            if change < START_TOL:
                break
        if mixer is not None:
            self._move(mean, self.system.intercept(mean))
        self._waiting = self._is_tall()
        moments = choose_e_step(*self.system.shape)(self.system, ones, 1.0)
        return Start(mean, mean**2 + moments.variance, self.size)

    def at(self, coef: Vector, intercept: float, sigma2: float) -> WeightedSystem:
        """Move to an earlier fit; return the least-squares problem there."""
        self._move(coef, intercept)
        self._linearise(sigma2)
        return self.system

    # --- parts --------------------------------------------------------------------------------------

    def _marginal_start(self) -> Start:
        """Return each column's weighted least squares, around the median and with weights from there."""
        self._move(np.zeros(self._x.shape[1]), self._middle())
        self._linearise(1.0)
        return variance_start(self.system)

    def _middle(self) -> float:
        """Return an intercept for no columns at all."""
        return self.likelihood.level(self._y, self._sample, self._offset) if self._center else 0.0

    def _linearise(self, sigma2: float) -> None:
        weights, targets = self.likelihood.working(self._y, self._eta, sigma2)
        self.system = WeightedSystem(
            self._x,
            targets - self._offset,
            self._sample * weights,
            self.size,
            self._center,
            careful=self.likelihood.has_dispersion,
        )

    def _move(self, mean: Vector, level: float) -> None:
        self._mean, self._level, self._eta = mean, level, self._predictor(mean, level)

    def _predictor(self, mean: Vector, level: float) -> Vector:
        return np.asarray(self._x @ mean + (self._offset + level))

    def _step_to(self, point: Vector, scales: Scales) -> None:
        """Go towards coefficients and intercept as far as is safe."""
        here, eta_here = np.append(self._mean, self._level), self._eta
        if self.likelihood.never_overshoots:
            self._move(point[:-1], float(point[-1]))
            return
        bound = self._objective(eta_here, self._mean, scales)
        eta = self._predictor(point[:-1], float(point[-1]))
        share = min(1.0, LONGEST / max(float(np.abs(eta - eta_here).max()), LONGEST))
        if share < 1.0:
            point, eta = here + share * (point - here), eta_here + share * (eta - eta_here)
        for _ in range(HALVINGS):
            if self._objective(eta, point[:-1], scales) <= bound + SLACK * (1.0 + abs(bound)):
                break
            point, eta = 0.5 * (point + here), 0.5 * (eta + eta_here)
        self._mean, self._level, self._eta = point[:-1], float(point[-1]), eta

    def _try(self, point: Vector, scales: Scales, bound: float) -> None:
        """Go to coefficients and intercept if the penalised likelihood is good enough there."""
        eta = self._predictor(point[:-1], float(point[-1]))
        near = float(np.abs(eta - self._eta).max()) <= LONGEST
        if near and self._objective(eta, point[:-1], scales) <= bound:
            self._mean, self._level, self._eta = point[:-1], float(point[-1]), eta

    def _objective(self, eta: Vector, mean: Vector, scales: Scales) -> float:
        """Return minus the log-likelihood and the log prior of the coefficients, up to a constant."""
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(self._sample @ self.likelihood.neg_log_likelihood(self._y, eta, scales.sigma2))
        d = scales.prior_variance
        pull = np.divide(mean, d, out=np.zeros_like(mean), where=d > 0.0)
        total = loss + 0.5 * float(mean @ pull) / scales.sigma2
        return total if np.isfinite(total) else np.inf

    def _may_wait(self, mean: Vector, before: Vector, settled: bool) -> bool:
        """Tell whether the next iteration can do with the same weights: only where a pass is dear."""
        if not self._is_tall():
            return False
        step, way = np.abs(mean - before).sum(), np.abs(mean - self._mean).sum()
        near = way < NEAR * (1.0 + np.abs(mean).sum())
        return bool(step > SETTLED_SHARE * way or (near and not settled))

    def _is_tall(self) -> bool:
        n, k = self._x.shape
        return self.accelerate and k > 0 and n >= max(MANY_ROWS, ROWS_PER_COLUMN * k)

    def _start_from_some_rows(self) -> bool:
        """Move to the fit to a part of the rows, if they are many: it saves passes over all of them."""
        n, k = self._x.shape
        some = max(MANY_ROWS, ROWS_PER_COLUMN * k) // 2
        if not self.accelerate or n < 10 * some:
            return False
        rows = slice(None, None, n // some)
        part = Linearised.__new__(Linearised)
        part.__dict__.update(self.__dict__)
        part._x, part._y = np.asfortranarray(self._x[rows]), self._y[rows]
        part._offset, part._sample, part._eta = self._offset[rows], self._sample[rows], self._eta[rows]
        if part._y.min() == part._y.max():
            return False
        part.start()
        self.likelihood = part.likelihood
        self._move(part._mean, part._level)
        return True


def _covariance(system: System, d: Vector, sigma2: float) -> Covariance | None:
    return posterior_covariance(system, d, sigma2) if d.size else None


def relative_change(mean: Vector, before: Vector) -> float:
    """Return the paper's measure of change: sum |change| / (1 + sum |b|).

    Examples
    --------
    >>> relative_change(np.array([1.0, -2.0]), np.array([1.0, 0.0]))
    0.5
    """
    return float(np.abs(mean - before).sum() / (1.0 + np.abs(mean).sum()))


def _moved(level: float, before: float) -> float:
    """Return the same for the intercept."""
    return float(abs(level - before) / (1.0 + abs(level)))
