"""Several classes at once: softmax regression whose classes share the local scales of the columns.

Class k has the linear predictor eta_k = a_k + X b_k and the probability exp(eta_k) / sum_l exp(eta_l), and
b_jk ~ N(0, tau2 lambda2_j). What all classes have in common tells nothing of y: given lambda2_j it keeps its
prior, and is integrated out. What is left are coefficients that add up to zero over the classes, with
q - 1 degrees of freedom for each column. So ``Hyper.size`` is q - 1, and two classes are a binomial
regression whose coefficients are b_1 - b_0 and have twice the prior variance.

An iteration takes the scales (M-step), one step of Newton's method for the coefficients, and their variances.
The step is that of the joint likelihood of all classes, by conjugate gradients; what preconditions them, and
gives the variances, is one factor with a weight for each row: the mean, over the q - 1 directions, of what
the row tells. Its steps end at the mode given the scales, whatever that weight is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from farrier._types import Mask, Matrix, Vector
from farrier.conditional.base import Drawable, condition
from farrier.data.problem import LeastSquares, Targets
from farrier.data.standardise import Standardised
from farrier.em.steps import HALVINGS, LONGEST, SLACK
from farrier.families.base import WEIGHT_FLOOR
from farrier.families.binary import polya_gamma_mean

CG_STEPS, CG_TOL = 60, 1e-7
"""Of the conjugate gradients in a step of Newton's method: the most, and the residual left of the first."""
SMALLEST = 1e-290
"""Prior variances below it are none: their reciprocals would be out of range."""


class Place(NamedTuple):
    """Coefficients and intercepts, a column for each class, which add up to zero over them, and their eta."""

    coef: Matrix
    intercept: Vector
    eta: Matrix

    def take(self, keep: Mask, columns: Any) -> Place:
        """Return the place without the columns that leave, of which ``columns`` are those that stay."""
        coef = self.coef[keep]
        return Place(coef, self.intercept, np.asarray(columns.matvec(coef) + self.intercept))


class Softmax:
    """The likelihood of classes on some columns.

    Parameters
    ----------
    design : Standardised
        The columns, and the sample weights.
    chosen : array of shape (n, q)
        1 in the column of the class of a row, otherwise 0.
    center : bool
        Whether there are intercepts.
    weights : {"polya_gamma", "irls"}
        What a row tells of a class, given the others: as in `farrier.families.Binomial`.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.data.standardise import standardise
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> softmax = Softmax(x, np.eye(3)[[0, 1, 2, 2]], center=True, weights="irls")
    >>> softmax.nowhere().intercept.round(3)
    array([-0.231, -0.231,  0.462])
    """

    def __init__(self, design: Standardised, chosen: Matrix, center: bool, weights: str) -> None:
        self.columns, self.chosen, self.center, self.kind = design.columns, chosen, center, weights
        self.sample = np.ones(len(chosen)) if design.weights is None else design.weights
        self.total_weight, self.n_classes = design.total_weight, chosen.shape[1]

    def take(self, keep: Mask) -> Softmax:
        """Return the likelihood with some of the columns."""
        part = object.__new__(Softmax)
        part.__dict__.update(self.__dict__, columns=self.columns.take(keep))
        return part

    def nowhere(self) -> Place:
        """Return the place without any column: the intercepts are those of the shares of the classes."""
        n, q = self.chosen.shape
        level = np.zeros(q)
        if self.center:
            level = np.log(self.sample @ self.chosen)
            level -= level.mean()
        return Place(np.zeros((self.columns.shape[1], q)), level, np.tile(level, (n, 1)))

    def shares(self, eta: Matrix) -> Matrix:
        """Return the probability of each class."""
        return np.asarray(np.exp(eta - logsumexp(eta, axis=1, keepdims=True)))

    def loss(self, eta: Matrix) -> float:
        """Return minus the log-likelihood: no term of it is below 0."""
        own = np.einsum("ij,ij->i", eta, self.chosen)
        away = eta - own[:, None]
        with np.errstate(over="ignore"):
            rows = np.log1p((np.exp(np.minimum(away, 700.0)) * (1.0 - self.chosen)).sum(axis=1))
        far = away.max(axis=1)
        return float(self.sample @ np.where(far > 600.0, far, rows))

    def problem(self, eta: Matrix) -> LeastSquares:
        """Return the columns with the weight of each row: the mean of what it tells over all directions."""
        share = self.shares(eta)
        if self.kind == "irls":
            told = share * (1.0 - share)
        else:
            with np.errstate(divide="ignore"):
                told = polya_gamma_mean(np.log(share) - np.log1p(-np.minimum(share, 1.0 - 1e-16)))
        weights = self.sample * np.maximum(told.sum(axis=1) / (self.n_classes - 1), WEIGHT_FLOOR)
        return LeastSquares(
            self.columns, Targets(np.zeros_like(weights), self.total_weight, weights, self.center)
        )

    def objective(self, place: Place, d: Vector) -> float:
        """Return minus the log-likelihood and the log prior of the coefficients, up to a constant."""
        pull = np.divide(place.coef, d[:, None], out=np.zeros_like(place.coef), where=d[:, None] >= SMALLEST)
        total = self.loss(place.eta) + 0.5 * float(np.vdot(place.coef, pull))
        return total if math.isfinite(total) else math.inf

    def step(self, place: Place, d: Vector, problem: LeastSquares, given: Drawable) -> tuple[Place, float]:
        """Return the place after a safe step of Newton's method, and which share of it was left out."""
        move, level, change = self._newton(place, d, problem, given)
        share = min(1.0, LONGEST / max(float(np.abs(change).max(initial=0.0)), LONGEST))
        bound = self.objective(place, d)
        enough = bound + SLACK * (1.0 + abs(bound))
        for _ in range(HALVINGS):
            there = Place(
                place.coef + share * move, place.intercept + share * level, place.eta + share * change
            )
            if self.objective(there, d) <= enough:
                return there, 1.0 - share
            share *= 0.5
        return place, 1.0

    def _newton(
        self, place: Place, d: Vector, problem: LeastSquares, given: Drawable
    ) -> tuple[Matrix, Vector, Matrix]:
        """Solve H step = gradient by conjugate gradients; return the step and that of eta."""
        share, total = self.shares(place.eta), problem.targets.information
        some = d[:, None] >= SMALLEST
        inverse = np.divide(1.0, d[:, None], out=np.zeros((d.size, 1)), where=some)

        def seen(coef: Matrix, level: Vector) -> Matrix:
            return np.asarray(self.columns.matvec(coef) - problem.x_mean @ coef + level)

        def pulled(rows: Matrix) -> tuple[Matrix, Vector]:
            level = rows.sum(axis=0)
            return np.where(some, self.columns.rmatvec(rows) - np.outer(problem.x_mean, level), 0.0), level

        def product(coef: Matrix, eta: Matrix) -> tuple[Matrix, Vector]:
            told = share * (eta - np.einsum("ij,ij->i", share, eta)[:, None])
            pull, level = pulled(self.sample[:, None] * told)
            return pull + inverse * coef, level

        def solved(pull: Matrix, level: Vector) -> tuple[Matrix, Vector]:
            return np.where(some, given.solve_for(pull), 0.0), level / total if self.center else 0.0 * level

        pull, level = pulled(self.sample[:, None] * (self.chosen - share))
        return self._conjugate(
            (_apart(pull - inverse * place.coef), _apart(level)), seen, product, solved, problem
        )

    def _conjugate(
        self, left: tuple[Matrix, Vector], seen: Any, product: Any, solved: Any, problem: LeastSquares
    ) -> tuple[Matrix, Vector, Matrix]:
        """Run the conjugate gradients from zero; the level is that at the weighted means of the columns."""
        coef, level = np.zeros_like(left[0]), np.zeros_like(left[1])
        eta = np.zeros_like(self.chosen)
        next_, turn, way = solved(*left), 0.0, left
        size = first = float(np.vdot(left[0], next_[0]) + left[1] @ next_[1])
        for _ in range(CG_STEPS):
            if not size > CG_TOL**2 * first or size <= 0.0:
                break
            way = next_[0] + turn * way[0], next_[1] + turn * way[1]
            ahead = seen(*way)
            image = product(way[0], ahead)
            length = size / float(np.vdot(way[0], image[0]) + way[1] @ image[1])
            coef, level, eta = coef + length * way[0], level + length * way[1], eta + length * ahead
            left = left[0] - length * image[0], left[1] - length * image[1]
            next_, before = solved(*left), size
            size = float(np.vdot(left[0], next_[0]) + left[1] @ next_[1])
            turn = size / before
        coef, level, eta = (_apart(one) for one in (coef, level, eta))  # or rounding adds up
        return coef, level - problem.x_mean @ coef if self.center else level, eta

    def given(self, eta: Matrix, d: Vector) -> tuple[LeastSquares, Drawable]:
        """Return the weighted columns at eta, and the factor that all classes share."""
        problem = self.problem(eta)
        return problem, condition(problem, d)

    def hessian(self, eta: Matrix, basis: Matrix) -> Matrix:
        """Return the information about intercepts and coefficients in the directions of ``basis`` (q, m).

        Unknowns are ordered by column, the intercept first, and within it by direction.
        """
        share = self.shares(eta)
        x = self.columns.dense()
        x = np.column_stack([np.ones(len(x)), x]) if self.center else x
        k, m = x.shape[1], basis.shape[1]
        part = share @ basis
        out = np.empty((k, m, k, m))
        for a in range(m):
            for b in range(a, m):
                told = share @ (basis[:, a] * basis[:, b]) - part[:, a] * part[:, b]
                out[:, a, :, b] = out[:, b, :, a] = x.T @ ((self.sample * told)[:, None] * x)
        return out.reshape(k * m, k * m)


def _apart(values: Any) -> Any:
    """Return what classes do not have in common: the last axis adds up to zero."""
    return values - values.mean(axis=-1, keepdims=True)
