"""Where EM begins for families whose weights move: a ridge, marginal fits, or an earlier fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from horseshoe._types import Scales, Start, Vector
from horseshoe.conditional.base import Conditional, condition
from horseshoe.conditional.dual import Dual
from horseshoe.data.problem import LeastSquares
from horseshoe.data.standardise import Standardised
from horseshoe.em.ahead import Seen
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.starts import marginal_start, variance_start
from horseshoe.em.state import Place, relative_change
from horseshoe.em.steps import Steps
from horseshoe.families import Ordered

START_TOL, START_STEPS = 1e-3, 100
"""The ridge that a fit starts from is iterated until its coefficients change by less than this."""


class Begin(NamedTuple):
    """Where a fit begins: the start, the problem there, and where its weights were taken."""

    start: Start
    problem: LeastSquares
    place: Place


class Beginnings(Steps):
    """The starts, by name or from an earlier fit; the parameters are those of `Steps`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.families import Poisson
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> weights = Beginnings(x, np.array([1.0, 2.0, 4.0, 8.0]), np.zeros(4), Poisson(), center=True)
    >>> float(weights.begin_marginal().start.mean[0].round(1))
    0.7
    """

    def begin(self) -> Begin:
        """Return the start: a ridge, or marginal least squares where there is a noise variance.

        The latter are each column's weighted fit, around the median and with weights from there.
        """
        if self.family.has_dispersion or self.full.n_columns == 0:
            place = self._nowhere()
            problem = self._linearise(self._blank(), place, 1.0)
            near = self.linear() if self.family.log_link else problem
            return Begin(variance_start(near), problem, place)
        return self._begin_ridge()

    def begin_variance(self) -> Begin:
        """Return the family's own start, which has no noise variance to choose."""
        return self.begin()

    def linear(self) -> LeastSquares:
        """Return the least-squares problem that stands for the likelihood near the response itself."""
        place = Place(np.empty(0), self._free_level(0.0), self.family.start(self._y), self.family)
        return self._linearise(self._blank(), place, 1.0)

    def begin_marginal(self) -> Begin:
        """Return what each column explains alone, less what noise would: half of the null ones go at once."""
        place = self._nowhere()
        problem = self._linearise(self._blank(), place, 1.0)
        return Begin(marginal_start(problem, self.total_weight), problem, place)

    def begin_at(self, coef: Vector, intercept: Any, sigma2: float) -> Begin:
        """Return a beginning at an earlier fit, without its intercept if there is to be none."""
        level = intercept if self._center or self._basis is not None else 0.0
        blank = self._blank()
        place = self._move(blank, self._nowhere()._replace(intercept=level), coef, sigma2)
        if isinstance(self.family, Ordered):
            place = place._replace(family=self.family.update(self._y, place.eta, sigma2, self._sample))
        start = Start(coef, coef * coef, sigma2 * self.total_weight)
        problem = self._linearise(blank, place, sigma2)
        return Begin(start, problem, place._replace(ahead=problem))

    def _begin_ridge(self) -> Begin:
        """Return a ridge with precision 1 on the scale of the prior and a free intercept.

        It is iterated until its coefficients change by less than 1e-3; E[b^2] has its exact variances.
        """
        ridge = Ridge(self._design, self.patient)
        mixer = Anderson() if self.patient and self.family.never_overshoots else None
        place, problem = self._from_some_rows(), self._blank()
        if place is None:
            zero, none = self._free_level(0.0), np.zeros(self.full.n_columns)
            place = Place(none, zero, self.family.start(self._y), self.family)
            problem = self._linearise(problem, place, 1.0)
            nowhere = self._nowhere()
            seen = self._ridge_image(ridge, problem, nowhere, None)
            place = self._accept(nowhere, seen, ridge.scales)
        for _ in range(START_STEPS):
            problem = self._linearise(problem, place, 1.0)
            seen, before = self._ridge_image(ridge, problem, place, mixer), place.coef
            if mixer is not None:
                mean, (place, change) = seen.coef, self._mixed(place, seen, ridge.scales, mixer)
            else:
                place = self._accept(place, seen, ridge.scales)
                mean = place.coef
                change = max(relative_change(mean, before, place.unit), place.left_out)
            if change < START_TOL:
                break
        if mixer is not None:
            place = place._replace(coef=mean, intercept=seen.intercept, eta=seen.eta)
        start = Start(mean, mean**2 + ridge.variance(problem), self.total_weight)
        return Begin(start, problem, place._replace(waiting=self._is_tall(problem)))

    def _ridge_image(self, ridge: Ridge, problem: LeastSquares, place: Place, mixer: Anderson | None) -> Seen:
        mean, fit = ridge.step(problem)
        return self._image(problem, place, mean, 1.0, mixer, fit)

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
        free = None if self._free is None else self._free.rows(rows)
        design = self._design._replace(columns=self._design.columns.rows(rows), weights=sample, free=free)
        part = Beginnings(design, y, self._offset[rows], self.family, self._center)
        found = part._begin_ridge().place
        return self._move(self._blank(), found, found.coef)


class Ridge:
    """The ridge with precision 1 that a fit starts from.

    With more columns than rows X X' is formed once, whatever the weights are.
    """

    def __init__(self, design: Standardised, fast: bool) -> None:
        n, k = design.columns.shape
        self.scales = Scales(np.ones(k), 1.0, 1.0)
        self._outer = design.columns.scaled(self.scales.lambda2).outer() if k > n else None
        self._dtype = np.float32 if fast and n * k > LIMITS.large else np.float64

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
