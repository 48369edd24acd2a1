"""The likelihood of several classes that share the local scales of the columns.

Class k has the linear predictor eta_k = a_k + X b_k and the probability exp(eta_k) / sum_l exp(eta_l), and
b_jk ~ N(0, tau2 lambda2_j). The likelihood does not depend on the mean over the classes: given lambda2_j it
keeps its prior, and is integrated out. What remains are coefficients that add up to zero over the classes,
with q - 1 degrees of freedom for each column. So ``Hyper.size`` is q - 1, and two classes are a binomial
regression whose coefficients are b_1 - b_0 and have twice the prior variance.

The mean of an E-step is a step of Newton's method on the joint log-posterior of all classes given the scales,
by conjugate gradients. What preconditions them, and gives the variances, is one factor with a weight for each
row: its mean information over the q - 1 directions. The steps end at the mode given the scales, whatever that
weight is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import helmert

from horseshoe._types import Covariance, Mask, Matrix, Moments, Scales, Start, Vector
from horseshoe.conditional.base import Conditional, Form, condition
from horseshoe.data.adjusted import Adjusted
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import Standardised
from horseshoe.em.fused_passes import LinearPredictor
from horseshoe.em.likelihood import WorkingLikelihood
from horseshoe.em.result import Uncertainty, joint
from horseshoe.em.separation import Separation
from horseshoe.em.starts import START_STEPS, START_TOL, Begin, marginal
from horseshoe.em.state import FastState, State, WorkingPoint, relative_change
from horseshoe.em.working import SMALLEST
from horseshoe.families.base import Family
from horseshoe.families.multinomial import Multinomial, center_over_classes
from horseshoe.linalg import cholesky, conjugate_gradients, triangular_inverse

# Of the conjugate gradients in a step of Newton's method: the most, and the residual left of the first.
CG_STEPS, CG_TOL = 60, 1e-7
# Of the null model with unpenalised columns.
NULL_STEPS, NULL_TOL = 100, 1e-10
# Coefficients whose joint covariance is formed at the end; of more, that of the shared factor is taken.
MOST_JOINT = 2_000


class MultinomialLikelihood(WorkingLikelihood):
    """Softmax regression; coefficients have a column for each class, and add up to zero over the classes.

    Parameters
    ----------
    design : Standardised
        The columns, and the sample weights.
    chosen : array of shape (n, q)
        1 in the column of the class of a row, otherwise 0.
    center : bool
        Whether there are intercepts.
    augmentation : {"polya_gamma", "irls"}
        The weights of a class against all others: as in `horseshoe.families.Binomial`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> x = standardise(Dense(np.array([[0.0], [1.0], [2.0], [3.0]])), None, center=True, scale=True)
    >>> likelihood = MultinomialLikelihood(x, np.eye(3)[[0, 1, 2, 2]], center=True, augmentation="irls")
    >>> likelihood.begin_marginal().point.intercept.round(3)
    array([[-0.231, -0.231,  0.462]])
    """

    is_multivariate = True

    def __init__(
        self, design: Standardised, chosen: Matrix, center: bool = True, augmentation: str = "polya_gamma"
    ) -> None:
        n, self.n_responses = chosen.shape
        family = Multinomial(augmentation)
        super().__init__(design, chosen, np.zeros((n, 1)), family, center, accelerated=False)
        if self._basis is None:  # intercepts are unpenalised columns here
            self._basis = np.ones((n, int(center)))
        self._separation = Separation(family, chosen, None)  # looks for columns that separate two classes

    @property
    def _unpenalized_columns(self) -> Matrix:
        assert self._basis is not None
        return self._basis

    # --- points and problems ------------------------------------------------------------------------

    def _null_point(self) -> WorkingPoint:
        """Return the point without any column: the intercepts are those of the shares of the classes."""
        basis, q = self._unpenalized_columns, self.n_responses
        level = np.zeros((basis.shape[1], q))
        if self._center:
            level[0] = self.family.intercept_alone(self._y, self._sample, self._offset)
        zero = np.zeros((self.full.n_columns, q))
        return WorkingPoint(zero, level, basis @ level, self.family, unit=self.unit)

    def _split(self, parameters: Vector) -> tuple[Matrix, Matrix]:
        rows = parameters.reshape(-1, self.n_responses)
        k = len(rows) - self._unpenalized_columns.shape[1]
        return rows[:k], rows[k:]

    def _working(self, problem: LeastSquares, family: Family, eta: Any, sigma2: float) -> LeastSquares:
        """Return the columns with one weight for each row, without targets."""
        weights = self._sample * family.working(self._y, eta, sigma2).weights
        return self._profiled(
            problem, Targets(np.zeros_like(weights), self.total_weight, weights, self._center)
        )

    def _projection(self, problem: LeastSquares) -> tuple[Matrix, Matrix]:
        """Return the information B'WB of the unpenalised columns, and their loadings (B'WB)^-1 B'WX."""
        basis, weights = self._unpenalized_columns, problem.targets.weights
        assert weights is not None
        heavy = weights[:, None] * basis
        inner = basis.T @ heavy
        pulled = np.asarray(problem.columns.rmatvec(heavy), dtype=np.float64)
        return inner, np.asarray(np.linalg.solve(inner, pulled.T), dtype=np.float64)

    # --- where it starts ----------------------------------------------------------------------------

    def begin(self) -> Begin:
        """Return a ridge with precision 1 and free intercepts, with its variances."""
        point, problem = self._null_point(), self._blank()
        if self.full.n_columns == 0:
            return self._begin(point, point.coef)
        ones = np.ones(self.full.n_columns)
        scales = Scales(ones, 1.0, 1.0)
        for _ in range(START_STEPS):
            problem = self._linearise(problem, point, 1.0)
            there = self._newton(point, problem, ones, condition(problem, ones))
            before, point = point, self._line_search(point, there.parameters, there.eta, scales)
            if relative_change(point.coef, before.coef, self.unit) < START_TOL:
                break
        given = condition(self._linearise(problem, point, 1.0), ones)
        return self._begin(point, point.coef**2 + self._variance(given))

    def begin_marginal(self) -> Begin:
        """Return marginal score estimates less the variance of noise, summed over the classes."""
        point, q = self._null_point(), self.n_responses
        left, error2 = self._marginal_scores(point)
        second = np.maximum(np.einsum("jk,jk->j", left, left) - (q - 1.0) * error2, 0.0)
        return self._begin(point, np.repeat(second[:, None] / q, q, axis=1))

    def begin_earlier(self, point: WorkingPoint, variance: Vector) -> Begin:
        """Return a start at coefficients; what is zero there starts from its fit to the residual.

        ``variance`` is the sum over the classes.
        """
        left, _ = self._marginal_scores(point)
        here = point.coef.any(axis=1)[:, None]
        own = point.coef**2 + variance[:, None] / self.n_responses
        return self._begin(point, np.where(here, own, left**2))

    def point_at(self, coef: Matrix, level: Matrix) -> WorkingPoint:
        """Return the point with these coefficients and unpenalised coefficients."""
        return self._moved_to(self._blank(), self._null_point()._replace(intercept=level), coef)

    def linear_start(self, fit: Any) -> Begin:
        """Return the start at a Gaussian fit to the working responses at the shares of the classes.

        ``fit`` takes a least-squares problem and responses of shape (n, q) to coefficients and variances of
        shape (q, k).
        """
        point = self._null_point()
        problem = self._linearise(self._blank(), point, 1.0)
        assert problem.targets.weights is not None
        score = self._sample[:, None] * (self._y - self.family.mean(point.eta))
        rows = np.asarray(problem.targets.rooted(score / problem.targets.weights[:, None]))
        found, variance = fit(LeastSquares(problem.weighted, Targets(rows[:, 0], self.total_weight)), rows)
        coef = center_over_classes(found.T)
        inner, loads = self._projection(problem)
        level = point.intercept + np.linalg.solve(inner, self._unpenalized_columns.T @ score) - loads @ coef
        there, loss = self.point_at(coef, level), self._loss
        if loss(there.eta) > 2.0 * loss(point.eta):  # least squares may go far beyond what a class can be
            there = self.point_at(0.5 * coef, point.intercept)
        return self.begin_earlier(there, (self.n_responses - 1.0) * variance.mean(axis=0))

    def _loss(self, eta: Matrix) -> float:
        return float(self._sample @ self.family.neg_log_likelihood(self._y, eta, 1.0))

    def _begin(self, point: WorkingPoint, second: Matrix) -> Begin:
        return Begin(Start(point.coef, second, self.total_weight), self._blank(), point)

    def _marginal_scores(self, point: WorkingPoint) -> tuple[Matrix, Vector]:
        """Return what each column alone explains of the score of the classes, and its variance."""
        problem = self._linearise(self._blank(), point, 1.0)
        rows = self._sample[:, None] * (self._y - self.family.mean(point.eta))
        _, loads = self._projection(problem)
        pull = problem.columns.rmatvec(rows) - loads.T @ (self._unpenalized_columns.T @ rows)
        return marginal(problem, pull), marginal(problem, np.ones_like(problem.squares))

    # --- the E-step ---------------------------------------------------------------------------------

    def moments(self, form: Form, state: State) -> Moments:
        """Return a step of Newton's method as the mean, and the variances in each of q - 1 directions."""
        given = form(state.problem, state.scales.prior_variance)
        there = self._newton(state.point, state.problem, state.scales.prior_variance, given)
        variance, rss = self._variance(given), self.total_weight  # there is no noise variance
        return Moments(there.coef, variance, rss, 0.0, given.log_det, predictor=there)

    def _variance(self, given: Conditional) -> Matrix:
        """Return Var[b_jk]: the q coefficients of a column have q - 1 directions to vary in."""
        q = self.n_responses
        return np.asarray(np.multiply.outer(given.variance(), np.full(q, 1.0 - 1.0 / q)))

    def accept(self, state: State, found: Moments, fast: FastState | None = None) -> State:
        """Move along Newton's direction by a line search: the log-posterior must not fall."""
        before, unit = state.point, state.point.unit
        there: Any = found.predictor
        point = self._line_search(before, there.parameters, there.eta, state.scales)
        old, new = (np.vstack([one.coef, one.intercept]) for one in (before, point))
        unit = None if unit is None else np.append(unit, np.ones(len(point.intercept)))
        stuck = point.eta is before.eta
        cut_off = 0.0 if stuck else relative_change(there.coef, point.coef, before.unit)
        point = point._replace(unfinished=cut_off)
        found = found._replace(mean=point.coef, predictor=None)
        return state.advanced(found, point, fast)._replace(change=relative_change(new, old, unit))

    def _newton(
        self, point: WorkingPoint, problem: LeastSquares, d: Vector, given: Conditional | None
    ) -> LinearPredictor:
        """Return the point after a step of Newton's method: solve H step = gradient by conjugate gradients.

        With the unpenalised coefficients e - L b beside b, L their loadings, the preconditioner is block
        diagonal: the shared factor for each b_k, and B'WB for each e_k.
        """
        columns, basis, k = problem.columns, self._unpenalized_columns, d.size
        share, (inner, loads) = self.family.mean(point.eta), self._projection(problem)
        some = d[:, None] >= SMALLEST
        precision = np.divide(1.0, d[:, None], out=np.zeros((k, 1)), where=some)

        def eta_of(both: Matrix) -> Matrix:
            return np.asarray(columns.matvec(both[:k]) + basis @ (both[k:] - loads @ both[:k]))

        def gradient_of(rows: Matrix, coef: Matrix) -> Matrix:
            level = basis.T @ rows
            pull = np.where(some, columns.rmatvec(rows) - loads.T @ level, 0.0)
            return np.vstack([pull + precision * coef, level])

        def hessian(both: Matrix) -> Matrix:
            eta = eta_of(both)
            curved = share * (eta - np.einsum("ij,ij->i", share, eta)[:, None])
            return gradient_of(self._sample[:, None] * curved, both[:k])

        def preconditioned(both: Matrix) -> Matrix:
            coef = both[:k] if given is None else np.where(some, given.solve_for(both[:k]), 0.0)
            return np.vstack([coef, inverse @ both[k:]])

        inverse = np.linalg.inv(inner)
        score = gradient_of(self._sample[:, None] * (self._y - share), -point.coef)
        target = center_over_classes(score)
        found = conjugate_gradients(hessian, preconditioned, target, CG_TOL, CG_STEPS, joint=True)
        step = center_over_classes(found.values)  # or rounding adds up
        level = point.intercept + step[k:] - loads @ step[:k]
        return LinearPredictor(point.coef + step[:k], level, point.eta + eta_of(step))

    # --- the end ------------------------------------------------------------------------------------

    def without_columns(self, state: State, known: Any, tol: float) -> tuple[State, Any]:
        """Fit the null model: intercepts and unpenalised columns."""
        point, problem, none = state.point, state.problem, np.zeros(0)
        for _ in range(NULL_STEPS if self._free is not None else 0):
            problem = self._linearise(problem, point, 1.0)
            there = self._newton(point, problem, none, None)
            before, point = point, self._line_search(point, there.parameters, there.eta, state.scales)
            change = np.abs(point.intercept - before.intercept).max()
            if change <= NULL_TOL * (1.0 + np.abs(point.intercept).max()):
                break
        return state._replace(point=point), 1.0

    def intercepts(self, state: State) -> list[Any]:
        """Return the intercept of each class, with the other unpenalised coefficients behind it."""
        level = state.point.intercept
        if self._free is not None:
            return list(level.T)
        return level[0].tolist() if self._center else [0.0] * self.n_responses

    def uncertainty(self, state: State, of: Mask, diagonal: bool = False) -> list[Uncertainty]:
        """Return how well the coefficients of each class are known.

        That comes from the information about all classes together, at the mode and given the scales.
        """
        selected, q = np.asarray(of.any(axis=1)), self.n_responses
        state = state._replace(problem=self._linearise(state.problem, state.point, 1.0))
        problem, d = state.problem.take(selected), state.scales.prior_variance[selected]
        f, m = 0 if self._free is None else len(self._free.turn), self._unpenalized_columns.shape[1]
        known = np.zeros((f, len(d)))
        if self._free is not None:
            known = self._free.loads[:, state.active][:, selected]
        if (len(d) == 0 and f == 0) or (len(d) + m) * (q - 1) > MOST_JOINT:
            found = [self._shared_uncertainty(problem, d, known)] * q
        else:
            found = self._joint_uncertainty(problem, state.point.eta, d, known)
        return [self._placed(one, mask, selected) for one, mask in zip(found, of.T, strict=True)]

    def _placed(self, found: Uncertainty, of: Mask, selected: Mask) -> Uncertainty:
        """Return the uncertainty of the coefficients that are not zero, its centre that of all columns."""
        center, covariance = np.zeros(len(selected)), found.covariance
        center[selected] = found.center
        if covariance is not None:
            free = np.ones(0 if found.free is None else len(found.free), dtype=np.bool_)
            covariance = covariance.take(np.append(of[selected], free))
        free_center = None if self._free is None else found.free
        return found._replace(covariance=covariance, center=center, free=free_center, at_information=True)

    def _joint_uncertainty(
        self, problem: LeastSquares, eta: Matrix, d: Vector, known: Matrix
    ) -> list[Uncertainty]:
        """Return it from the inverse of the joint information of all classes and the prior precision."""
        q, s, (f, _), m = self.n_responses, d.size, known.shape, self._unpenalized_columns.shape[1]
        total = problem.targets.information
        basis = helmert(q).T  # (q, q - 1): orthonormal, and orthogonal to what all classes share
        # 1. the information, times the prior deviations, plus the identity
        matrix = self._information(problem, eta, basis)
        root = np.repeat(np.append(np.ones(m), np.sqrt(d)), q - 1)
        scaled = matrix * root * root[:, None]
        prior = np.ones(root.size)
        prior[: (q - 1) * m] = 0.0
        scaled[np.diag_indices(root.size)] += prior
        # 2. half of its inverse, for each class
        half = (triangular_inverse(cholesky(scaled)) * root).reshape(root.size, -1, q - 1)
        found: list[Uncertainty] = []
        for k in range(q):
            factor = half @ basis[k]
            slopes = factor[:, m:]
            own = np.hstack([slopes, factor[:, m - f : m] - slopes @ known.T])
            covariance = Covariance(np.zeros(s + f), own, 1.0)
            if not self._center:
                found.append(Uncertainty(covariance, np.zeros(s), (1.0 - 1.0 / q) / total, free=np.zeros(f)))
                continue
            # 3. the values of the columns at which eta_k is best known
            center, *_ = np.linalg.lstsq(own, -factor[:, 0], rcond=None)
            rest = factor[:, 0] + own @ center
            found.append(Uncertainty(covariance, center[:s], float(rest @ rest), free=center[s:]))
        return found

    def _shared_uncertainty(self, problem: LeastSquares, d: Vector, known: Matrix) -> Uncertainty:
        """Return the same from the factor that all classes share, where there are too many coefficients."""
        share = 1.0 - 1.0 / self.n_responses
        given = condition(problem, d) if d.size else None
        variance = share / problem.targets.information
        if isinstance(problem, Adjusted):
            targets, every = problem.targets, np.ones(d.size, dtype=np.bool_)
            found = joint(given, share, every, problem.loads + known, share * targets.covariance())
            center = problem.x_mean + targets.middle @ known
            return Uncertainty(found, center, variance, free=targets.middle)
        covariance = None if given is None else given.covariance(share)
        return Uncertainty(covariance, problem.x_mean, variance, free=np.zeros(0))

    def _information(self, problem: LeastSquares, eta: Matrix, basis: Matrix) -> Matrix:
        """Return the information about all coefficients in the directions of ``basis`` (q, m).

        Unknowns are ordered by column, unpenalised ones first, and within it by direction.
        """
        share = self.family.mean(eta)
        x = np.hstack([self._unpenalized_columns, problem.columns.dense()])
        k, m = x.shape[1], basis.shape[1]
        part = share @ basis
        out = np.empty((k, m, k, m))
        for a in range(m):
            for b in range(a, m):
                curved = share @ (basis[:, a] * basis[:, b]) - part[:, a] * part[:, b]
                out[:, a, :, b] = out[:, b, :, a] = x.T @ ((self._sample * curved)[:, None] * x)
        return out.reshape(k * m, k * m)
