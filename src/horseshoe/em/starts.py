"""Where EM starts: the start of Algorithm 1, marginal fits, a ridge, or an earlier fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from horseshoe._types import Matrix, Scales, Start, Vector
from horseshoe.conditional.base import Conditional, condition
from horseshoe.conditional.dual import Dual
from horseshoe.data.problem import LeastSquares
from horseshoe.data.standardise import Standardised
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fused_passes import LinearPredictor
from horseshoe.em.state import WorkingPoint, relative_change
from horseshoe.em.working import WorkingSteps
from horseshoe.families import Ordered

# The ridge that a fit starts from is iterated until its coefficients change by less than this.
START_TOL, START_STEPS = 1e-3, 100
# E[RSS] at the start of Algorithm 1: a noise variance beyond all bounds.
PAPER_RSS = 1e10
# A second moment this much smaller than its marginal one only fades: the prior divides it by 2A.
FAINT = 1e-12


def paper_start(problem: LeastSquares, expected_rss: Any = PAPER_RSS, pull: Matrix | None = None) -> Start:
    """Return the start of Algorithm 1: marginal least squares, and a noise variance beyond all bounds.

    ``pull`` is X'Z of several responses.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> paper_start(plain(np.eye(2), np.array([3.0, 0.0]))).mean
    array([3., 0.])
    """
    mean = marginal(problem, problem.xz if pull is None else pull)
    return Start(mean, mean * mean, expected_rss)


def variance_start(problem: LeastSquares) -> Start:
    """Return marginal least squares with the noise variance at that of the targets.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> variance_start(plain(np.eye(2), np.array([3.0, 0.0]))).expected_rss
    9.0
    """
    return paper_start(problem, expected_rss=problem.targets.zz)


def marginal_start(problem: LeastSquares, expected_rss: float) -> Start:
    """Return marginal least squares, with E[b^2] less the variance that noise alone gives it.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> marginal_start(plain(np.eye(2), np.array([3.0, 0.5])), 2.0).second_moment
    array([8., 0.])
    """
    mean, variance = marginal(problem, problem.xz), marginal(problem, np.ones_like(problem.xz))
    return Start(mean, np.maximum(mean * mean - variance, 0.0), expected_rss)


def earlier_start(
    problem: LeastSquares, coef: Vector, variance: Vector, sigma2: float, again: bool = True
) -> Start:
    """Return a start at an earlier fit; what was zero there starts from its fit to the residual.

    Zero is absorbing, so a coefficient that starts at zero could never enter: give it marginal least
    squares on what the earlier fit leaves, unless it is not to be tried ``again``.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem = plain(np.eye(2), np.array([3.0, 1.0]))
    >>> earlier_start(problem, np.array([2.5, 0.0]), np.array([0.1, 0.0]), 0.5).second_moment
    array([6.35, 1.  ])
    >>> earlier_start(problem, np.array([2.5, 0.0]), np.array([0.1, 0.0]), 0.5, again=False).second_moment
    array([6.35e+00, 1.00e-12])
    """
    left = marginal(problem, problem.left_pull(coef))
    second = np.where(coef != 0.0, coef * coef + variance, (1.0 if again else FAINT) * left * left)
    return Start(coef, second, sigma2 * problem.total_weight)


def marginal(problem: LeastSquares, pull: Any) -> Any:
    """Return x_j'z / ||x_j||^2, for each response; zero for a column of zeros."""
    squares = problem.squares if pull.ndim == 1 else problem.squares[:, None]
    return np.divide(pull, squares, out=np.zeros_like(pull), where=squares > 0.0)


class Begin(NamedTuple):
    """Where a fit starts: the moments, the problem there, and the working point."""

    start: Start
    problem: LeastSquares
    point: WorkingPoint


class Starts(WorkingSteps):
    """The starts of families with working weights, by name or from an earlier fit.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> likelihood = Starts(x, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> float(likelihood.begin_marginal().start.mean[0].round(1))
    0.7
    """

    def begin(self) -> Begin:
        """Return the start: a ridge, or marginal least squares where there is a noise variance.

        The latter are each column's weighted fit, around the median and with weights from there.
        """
        if self.family.has_dispersion or self.full.n_columns == 0:
            point = self._null_point()
            problem = self._linearise(self._blank(), point, 1.0)
            near = self.linear() if self.family.log_link else problem
            return Begin(variance_start(near), problem, point)
        return self._begin_ridge()

    def begin_variance(self) -> Begin:
        """Return the family's own start, which has no noise variance to choose."""
        return self.begin()

    def linear(self) -> LeastSquares:
        """Return the least-squares problem that approximates the likelihood near the response itself."""
        level = self._with_unpenalized(0.0)
        point = WorkingPoint(np.empty(0), level, self.family.start(self._y), self.family)
        return self._linearise(self._blank(), point, 1.0)

    def begin_marginal(self) -> Begin:
        """Return marginal least squares less the variance of noise: half of the null columns go at once."""
        point = self._null_point()
        problem = self._linearise(self._blank(), point, 1.0)
        return Begin(marginal_start(problem, self.total_weight), problem, point)

    def begin_at(self, coef: Vector, intercept: Any, sigma2: float) -> Begin:
        """Return a start at an earlier fit, without its intercept if there is to be none."""
        level = intercept if self._center or self._basis is not None else 0.0
        blank = self._blank()
        point = self._moved_to(blank, self._null_point()._replace(intercept=level), coef, sigma2)
        if isinstance(self.family, Ordered):
            point = self._updated(point, Scales(coef, 1.0, sigma2))
        start = Start(coef, coef * coef, sigma2 * self.total_weight)
        problem = self._linearise(blank, point, sigma2)
        return Begin(start, problem, point._replace(next_problem=problem))

    def _begin_ridge(self) -> Begin:
        """Return a ridge with precision 1 on the scale of the prior and a free intercept.

        It is iterated until its coefficients change by less than 1e-3; E[b^2] has its exact variances.
        """
        ridge = Ridge(self._design, self.accelerated)
        mixer = Anderson() if self.accelerated and self.family.never_overshoots else None
        point, problem = self._from_some_rows(), self._blank()
        if point is None:
            # 1. one step from the null point, with the weights at the response itself
            problem, null = self.linear(), self._null_point()
            seen = self._ridge_predictor(ridge, problem, null, None)
            point = self._step(null, seen, ridge.scales)
        for _ in range(START_STEPS):
            # 2. iteratively reweighted ridge regression
            problem = self._linearise(problem, point, 1.0)
            seen, before = self._ridge_predictor(ridge, problem, point, mixer), point.coef
            if mixer is not None:
                mean, (point, change) = seen.coef, self._mixed_step(point, seen, ridge.scales, mixer)
            else:
                point = self._step(point, seen, ridge.scales)
                mean = point.coef
                change = max(relative_change(mean, before, point.unit), point.unfinished)
            if change < START_TOL:
                break
        if mixer is not None:
            point = point._replace(coef=mean, intercept=seen.intercept, eta=seen.eta)
        # 3. its mean and variances are the first moments
        start = Start(mean, mean**2 + ridge.variance(problem), self.total_weight)
        return Begin(start, problem, point._replace(keeps_weights=self._is_tall(problem)))

    def _ridge_predictor(
        self, ridge: Ridge, problem: LeastSquares, point: WorkingPoint, mixer: Anderson | None
    ) -> LinearPredictor:
        mean, fit = ridge.step(problem)
        return self._predictor_at_mean(problem, point, mean, 1.0, mixer, fit)

    def _from_some_rows(self) -> WorkingPoint | None:
        """Return the ridge of a part of the rows, if they are many: it saves passes over all of them."""
        n, k = self.full.shape
        some = max(LIMITS.many_rows, LIMITS.rows_per_column * k) // 2
        if not self.accelerated or n < 10 * some:
            return None
        rows = slice(None, None, n // some)
        y = self._y[rows]
        if y.min() == y.max():
            return None
        sample = None if self._design.weights is None else self._design.weights[rows]
        free = None if self._free is None else self._free.rows(rows)
        design = self._design._replace(columns=self._design.columns.rows(rows), weights=sample, free=free)
        part = Starts(design, y, self._offset[rows], self.family, self._center)
        found = part._begin_ridge().point
        return self._moved_to(self._blank(), found, found.coef)


class Ridge:
    """The ridge with precision 1 that a fit starts from.

    With more columns than rows X X' is formed once, whatever the weights are.
    """

    def __init__(self, design: Standardised, accelerated: bool) -> None:
        n, k = design.columns.shape
        self.scales = Scales(np.ones(k), 1.0, 1.0)
        self._outer = design.columns.scaled(self.scales.lambda2).outer() if k > n else None
        self._dtype = np.float32 if accelerated and n * k > LIMITS.large else np.float64

    def step(self, problem: LeastSquares) -> tuple[Vector, Vector | None]:
        """Return E[b] alone, which costs less than its variances, and X E[b] from X X' if that is known."""
        given = self._given(problem, np.float64)
        if isinstance(given, Dual) and self._outer is not None:
            pull = problem.pull(given.residual)
            return given.mean, blas.dsymv(1.0, self._outer, pull, lower=1)
        return given.mean, None

    def variance(self, problem: LeastSquares) -> Vector:
        """Return Var[b_j]; of many columns in single precision."""
        return self._given(problem, self._dtype).variance()

    def _given(self, problem: LeastSquares, dtype: Any) -> Conditional:
        ones = self.scales.lambda2
        if self._outer is None:
            return condition(problem, ones)
        return Dual(problem, ones, problem.weigh(self._outer).astype(dtype, order="F"))
