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

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.conditional.base import Drawable, condition
from horseshoe.data.adjusted import adjusted
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import Standardised
from horseshoe.em.steps import HALVINGS, LONGEST, SLACK
from horseshoe.families.base import WEIGHT_FLOOR
from horseshoe.families.binary import polya_gamma_mean

CG_STEPS, CG_TOL = 60, 1e-7
"""Of the conjugate gradients in a step of Newton's method: the most, and the residual left of the first."""
ALONE_STEPS, ALONE_TOL = 100, 1e-10
"""Of the fit of what is not shrunk alone."""
SMALLEST = 1e-290
"""Prior variances below it are none: their reciprocals would be out of range."""


class Place(NamedTuple):
    """Coefficients, a column for each class, which add up to zero over them, and their eta.

    ``flat`` are those that are not shrunk: a row of intercepts if there are any, and what is always in.
    """

    coef: Matrix
    flat: Matrix
    eta: Matrix


class Flat(NamedTuple):
    """What is not shrunk: its vectors of rows, what they explain of the columns, and what rows tell of it."""

    basis: Matrix
    loads: Matrix
    inner: Matrix

    def pulled(self, columns: Any, rows: Matrix) -> tuple[Matrix, Matrix]:
        """Return what rows pull at columns from which the basis is projected out, and at the basis."""
        level = self.basis.T @ rows
        return columns.rmatvec(rows) - self.loads.T @ level, level

    def solve(self, level: Matrix) -> Matrix:
        """Return coefficients of the basis from what pulls at them."""
        return np.asarray(level / self.inner if len(self.inner) == 1 else np.linalg.solve(self.inner, level))


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
        What a row tells of a class, given the others: as in `horseshoe.families.Binomial`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> softmax = Softmax(x, np.eye(3)[[0, 1, 2, 2]], center=True, augmentation="irls")
    >>> softmax.nowhere().flat.round(3)
    array([[-0.231, -0.231,  0.462]])
    """

    def __init__(self, design: Standardised, chosen: Matrix, center: bool, augmentation: str) -> None:
        self.columns, self.chosen, self.center, self.kind = design.columns, chosen, center, augmentation
        self.sample = np.ones(len(chosen)) if design.weights is None else design.weights
        self.total_weight, self.n_classes = design.total_weight, chosen.shape[1]
        self.free, ones = design.free, np.ones((len(chosen), int(center)))
        self.basis = ones if self.free is None else self.free.with_ones(center)

    def at(self, coef: Matrix, flat: Matrix) -> Place:
        """Return the place with these coefficients."""
        return Place(coef, flat, np.asarray(self.columns.matvec(coef) + self.basis @ flat))

    def take(self, keep: Mask) -> Softmax:
        """Return the likelihood with some of the columns."""
        part = object.__new__(Softmax)
        part.__dict__.update(self.__dict__, columns=self.columns.take(keep))
        return part

    def nowhere(self) -> Place:
        """Return the place without any effect: the intercepts are those of the shares of the classes."""
        flat = np.zeros((self.basis.shape[1], self.n_classes))
        if self.center:
            flat[0] = np.log(self.sample @ self.chosen)
            flat[0] -= flat[0].mean()
        return Place(np.zeros((self.columns.shape[1], self.n_classes)), flat, self.basis @ flat)

    def alone(self) -> Place:
        """Return the place without any column, what is not shrunk at its best."""
        none = self.take(np.zeros(self.columns.shape[1], dtype=np.bool_))
        place = none.nowhere()
        for _ in range(ALONE_STEPS if self.free is not None else 0):
            before, (place, _) = place, none.step(place, np.zeros(0), none.problem(place.eta), None)
            if np.abs(place.flat - before.flat).max() <= ALONE_TOL * (1.0 + np.abs(place.flat).max()):
                break
        return place

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
        targets = Targets(np.zeros_like(weights), self.total_weight, weights, self.center)
        return adjusted(targets, self.free).problem(self.columns)

    def beside(self, problem: LeastSquares) -> Flat:
        """Return what is not shrunk, as the weights of a problem see it."""
        targets, k = problem.targets, self.columns.shape[1]
        if self.free is None:
            loads = problem.x_mean[None] if self.center else np.zeros((0, k))
            return Flat(self.basis, loads, np.full((len(loads), len(loads)), targets.information))
        assert targets.weights is not None
        heavy = targets.weights[:, None] * self.basis
        inner = self.basis.T @ heavy
        seen = np.asarray(self.columns.rmatvec(heavy), dtype=np.float64)
        return Flat(self.basis, np.asarray(np.linalg.solve(inner, seen.T), dtype=np.float64), inner)

    def objective(self, place: Place, d: Vector) -> float:
        """Return minus the log-likelihood and the log prior of the coefficients, up to a constant."""
        pull = np.divide(place.coef, d[:, None], out=np.zeros_like(place.coef), where=d[:, None] >= SMALLEST)
        total = self.loss(place.eta) + 0.5 * float(np.vdot(place.coef, pull))
        return total if math.isfinite(total) else math.inf

    def step(
        self, place: Place, d: Vector, problem: LeastSquares, given: Drawable | None
    ) -> tuple[Place, float]:
        """Return the place after a safe step of Newton's method, and which share of it was left out."""
        move, level, change = self._newton(place, d, problem, given)
        share = min(1.0, LONGEST / max(float(np.abs(change).max(initial=0.0)), LONGEST))
        bound = self.objective(place, d)
        enough = bound + SLACK * (1.0 + abs(bound))
        for _ in range(HALVINGS):
            there = Place(place.coef + share * move, place.flat + share * level, place.eta + share * change)
            if self.objective(there, d) <= enough:
                return there, 1.0 - share
            share *= 0.5
        return place, 1.0

    def _newton(
        self, place: Place, d: Vector, problem: LeastSquares, given: Drawable | None
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Solve H step = gradient by conjugate gradients; return the step and that of eta."""
        share, flat = self.shares(place.eta), self.beside(problem)
        some = d[:, None] >= SMALLEST
        inverse = np.divide(1.0, d[:, None], out=np.zeros((d.size, 1)), where=some)

        def seen(coef: Matrix, level: Matrix) -> Matrix:
            return np.asarray(self.columns.matvec(coef) + self.basis @ (level - flat.loads @ coef))

        def pulled(rows: Matrix) -> tuple[Matrix, Matrix]:
            pull, level = flat.pulled(self.columns, rows)
            return np.where(some, pull, 0.0), level

        def product(coef: Matrix, eta: Matrix) -> tuple[Matrix, Matrix]:
            told = share * (eta - np.einsum("ij,ij->i", share, eta)[:, None])
            pull, level = pulled(self.sample[:, None] * told)
            return pull + inverse * coef, level

        def solved(pull: Matrix, level: Matrix) -> tuple[Matrix, Matrix]:
            coef = pull if given is None else np.where(some, given.solve_for(pull), 0.0)
            return coef, flat.solve(level)

        pull, level = pulled(self.sample[:, None] * (self.chosen - share))
        coef, level, eta = self._conjugate(
            (_apart(pull - inverse * place.coef), _apart(level)), seen, product, solved
        )
        return coef, level - flat.loads @ coef, eta

    def _conjugate(
        self, left: tuple[Matrix, Matrix], seen: Any, product: Any, solved: Any
    ) -> tuple[Matrix, Matrix, Matrix]:
        """Run the conjugate gradients from zero; the level is that beside columns without it."""
        coef, level = np.zeros_like(left[0]), np.zeros_like(left[1])
        eta = np.zeros_like(self.chosen)
        next_, turn, way = solved(*left), 0.0, left
        size = first = float(np.vdot(left[0], next_[0]) + np.vdot(left[1], next_[1]))
        for _ in range(CG_STEPS):
            if not size > CG_TOL**2 * first or size <= 0.0:
                break
            way = next_[0] + turn * way[0], next_[1] + turn * way[1]
            ahead = seen(*way)
            image = product(way[0], ahead)
            length = size / float(np.vdot(way[0], image[0]) + np.vdot(way[1], image[1]))
            coef, level, eta = coef + length * way[0], level + length * way[1], eta + length * ahead
            left = left[0] - length * image[0], left[1] - length * image[1]
            next_, before = solved(*left), size
            size = float(np.vdot(left[0], next_[0]) + np.vdot(left[1], next_[1]))
            turn = size / before
        return _apart(coef), _apart(level), _apart(eta)  # or rounding adds up

    def given(self, eta: Matrix, d: Vector) -> tuple[LeastSquares, Drawable]:
        """Return the weighted columns at eta, and the factor that all classes share."""
        problem = self.problem(eta)
        return problem, condition(problem, d)

    def hessian(self, eta: Matrix, basis: Matrix) -> Matrix:
        """Return the information about all coefficients in the directions of ``basis`` (q, m).

        Unknowns are ordered by column, what is not shrunk first, and within it by direction.
        """
        share = self.shares(eta)
        x = np.hstack([self.basis, self.columns.dense()])
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
