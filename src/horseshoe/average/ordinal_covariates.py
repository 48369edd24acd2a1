"""Columns that are always in, beside the thresholds of ordered levels.

A row has a known level and a part of its linear predictor that the columns B explain which are always in. In
each training set their coefficients g are what its thresholds are: held between two steps of the others, and
at their best after each. So whatever a component says of the other columns, these are not shrunk, and no set
has seen a row that it leaves out.

With the thresholds at their best, the slope of the likelihood in g is B' of that in eta, and its curvature is
B'PB, P being what rows tell of eta where thresholds are not known (`horseshoe.data.thresholds`):
Newton's method.

Where no two rows of y are the same, a training set has never seen the levels that it is to predict, and
nothing tells how far their thresholds are apart. Each of them counts as half a row there, at the mean of the
linear predictor of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.newton import STEPS, newton
from horseshoe.average.ordinal_sets import OrdinalSets
from horseshoe.average.result import AverageFit
from horseshoe.average.sets import Sets
from horseshoe.average.unpenalized import in_place, insert_unpenalized, own_part, unpenalized_of, with_errors
from horseshoe.data.rows import Rows
from horseshoe.data.thresholds import ThresholdProfile
from horseshoe.families import Family
from horseshoe.families.base import Working
from horseshoe.model.spec import Prepared

# How far a step of Newton's method takes the linear predictor of a row, and a gain that is none.
LONGEST, NO_GAIN = 5.0, 1e-15
# What a row tells at least of a column that is constant in a training set.
MIN_INFORMATION = 1e-13
# The rows that a level counts as which a training set has not seen.
UNSEEN = 0.5


@dataclass(frozen=True)
class OrdinalWithCovariates(Family):
    """Ordered levels whose rows are known by their numbers, which take the place of y.

    Attributes
    ----------
    base : Family
        The family of the levels.
    levels : array of shape (n,)
        y of each row.
    basis : array of shape (n, q)
        What is always in.
    thresholds : array
        Those of the levels.
    free : array of shape (q,)
        The coefficients of the basis.
    """

    base: Any
    levels: Vector
    basis: Matrix
    thresholds: Vector
    free: Vector

    @property
    def family(self) -> Any:
        """The family of the levels, with these thresholds."""
        return self.base.with_nuisance(self.thresholds)

    def explained(self, y: Vector) -> Vector:
        """Return what is always in explains of rows."""
        return np.asarray(self.basis[y.astype(np.intp)] @ self.free)

    def intercept_alone(self, y: Vector, weights: Vector, offset: Vector) -> float:
        """Return minus the mean offset: the thresholds have the rest."""
        return float(self.base.intercept_alone(y, weights, offset))

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return weights and targets; ``eta`` is what the other columns explain."""
        known = self.explained(y)
        found = self.family.working(self.levels[y.astype(np.intp)], eta + known, sigma2)
        return Working(found.weights, found.targets - known)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of the levels."""
        levels = self.levels[y.astype(np.intp)]
        return np.asarray(self.family.neg_log_likelihood(levels, eta + self.explained(y), sigma2))

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> Family:
        """Return the family one step nearer to the best: the other columns take more than one."""
        return self.at_best(y, eta, weights, steps=1)

    def at_best(self, y: Vector, eta: Vector, weights: Vector, steps: int = STEPS) -> OrdinalWithCovariates:
        """Return the family with the best thresholds and coefficients of the basis."""
        rows = y.astype(np.intp)
        levels, basis = self.levels[rows], self.basis[rows]
        unseen = np.setdiff1d(self.base.points_, levels)
        if unseen.size:
            middle = float(weights @ (eta + basis @ self.free) / weights.sum())
            levels, eta = np.append(levels, unseen), np.append(eta, np.full(unseen.size, middle))
            weights = np.append(weights, np.full(unseen.size, UNSEEN))
            basis = np.vstack([basis, np.zeros((unseen.size, basis.shape[1]))])
        family, free = best_beside(self.family, levels, eta, weights, basis, self.free, steps)
        return replace(self, thresholds=family.thresholds_, free=free)


@np.errstate(over="ignore", invalid="ignore")
def best_beside(
    family: Any, y: Vector, eta: Vector, weights: Vector, basis: Matrix, free: Vector, steps: int = STEPS
) -> tuple[Any, Vector]:
    """Return the family with its best thresholds, and the best coefficients of a basis, beside eta.

    Where the basis tells levels apart without error, no coefficients are best: then they end where they gain
    nothing more.

    Examples
    --------
    >>> from horseshoe.families import Ordinal
    >>> y, basis = np.array([0.0, 1.0, 2.0, 0.0, 2.0, 1.0]), np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]]).T
    >>> family, free = best_beside(Ordinal().learn(y), y, np.zeros(6), np.ones(6), basis, np.ones(1))
    >>> free.round(9) + 0.0, family.thresholds_.round(3)
    (array([0.]), array([-0.693,  0.693]))
    """

    def at(point: Vector, known: Any) -> tuple[float, tuple[Any, Vector]]:
        there = eta + basis @ point
        best = (family if known is None else known[0]).at_best(y, there, weights)
        return float(weights @ best.neg_log_likelihood(y, there, 1.0)), (best, there)

    def step(known: tuple[Any, Vector]) -> Vector:
        return _newton(known[0], y, known[1], weights, basis)

    free, (best, _) = newton(free, at, step, basis, LONGEST, NO_GAIN, steps)
    return best, free


def _newton(family: Any, y: Vector, eta: Vector, weights: Vector, basis: Matrix) -> Vector:
    """Return a step of Newton's method, the thresholds being at their best."""
    working = family.working(y, eta, 1.0)
    heavy = weights * working.weights
    known = ThresholdProfile(heavy, *family.shared(y, eta, weights)).known(basis)
    inner = basis.T @ known
    inner[np.diag_indices(len(inner))] += MIN_INFORMATION * weights.sum()
    return np.asarray(np.linalg.lstsq(inner, basis.T @ (heavy * (working.targets - eta)), rcond=None)[0])


@dataclass(frozen=True, eq=False)
class FinalSets(OrdinalSets):
    """Training sets with what is always in, as it is beside the average, as a known part of all rows.

    ``lost`` is minus the log-likelihood of rows left out by what their training sets say of it, and
    ``fold_own`` has the coefficients of what is always in by each fold, in the user's units.
    """

    lost: float = 0.0
    fold_own: Matrix | None = None

    def left_out(self, family: Family, eta: Matrix, sigma2: float) -> float:
        """Return what was lost."""
        return self.lost


class OrdinalCovariateSets(OrdinalSets):
    """Training sets of ordered levels, rows known by number: ``family`` is `OrdinalWithCovariates`."""

    @lazy
    def families(self) -> tuple[Family, ...]:
        """The thresholds and what is always in alone, of each training set."""
        return self._near((self.family,) * self.n_sets, np.repeat(self.offset[:, None], self.n_sets, axis=1))

    def _at_best(self, eta: Matrix) -> tuple[Family, ...]:
        """Return the same beside a linear predictor."""
        return self._near(self.families, eta)

    def _near(self, families: Any, eta: Matrix) -> tuple[Family, ...]:
        """Return the same, looked for near other ones."""
        found = []
        for t, column in enumerate(eta.T):
            part = self.part(t)
            found.append(families[t].at_best(part.y, column[part.inside], part.counts))
        return tuple(found)

    def finalize(self, family: Any, found: Any, prepared: Prepared) -> tuple[Any, Any, Sets]:
        """Return the thresholds of the average, that without an intercept, and sets that know its columns.

        What is predicted of rows left out has the columns that are always in as their training sets do.
        """
        seen: Any = self.family
        eta = self.eta(found.coef[:, None], np.zeros(1))[:, 0]
        best = seen.at_best(self.y, eta, self.counts)
        none, (rows, folds) = np.zeros(len(self.folds)), self.tested
        fold_eta = self.eta(found.fold_coef, none)
        each: Any = self._at_best(fold_eta)
        free = np.array([one.free for one in each])[folds]
        predicted = fold_eta[rows, folds] + np.einsum("ij,ij->i", seen.basis[rows], free)
        owns = [own_part(prepared, one.free) for one in each[: none.size]]
        _, level = in_place(prepared, found.coef, best.free)
        found = found._replace(
            intercept=-level,
            # `Unpenalized` does not centre its columns
            fold_intercept=none - level - np.array([float(own.mean @ own.coef) for own in owns]),
            predicted=predicted - level,
        )
        offset = self.offset + best.explained(self.y)
        given = (self.columns, seen.levels, offset, self.counts, self.folds, best.family)
        lost = self.cross_validated(fold_eta, np.ones(self.n_sets), each)
        fold_own = np.array([own.coef for own in owns])
        sets = FinalSets(*given, self.center, self.groups, lost=lost, fold_own=fold_own)
        return best.family.with_intercept_absorbed(level), found, sets


def has_lone_levels(family: Any, rows: int) -> bool:
    """Tell whether levels are more than half as many as rows: then training sets lack some of them.

    Examples
    --------
    >>> from horseshoe.families import Ordinal
    >>> has_lone_levels(Ordinal().learn(np.array([1.2, 3.4, 1.2, 5.6])), 4)
    True
    """
    return bool(2 * family.points_.size > rows)


def levels_beside(prepared: Prepared, counts: Vector, folds: Any, family: Any) -> OrdinalCovariateSets:
    """Return the training sets."""
    free, y = prepared.design.free, prepared.response.values
    basis = np.zeros((y.size, 0)) if free is None else free.basis
    known = OrdinalWithCovariates(family, y, basis, family.thresholds_, np.zeros(basis.shape[1]))
    numbers = np.arange(y.size, dtype=np.float64)
    return OrdinalCovariateSets(
        prepared.design.columns, numbers, prepared.offset, counts, folds, known, True, prepared.groups
    )


def with_levels(found: AverageFit, places: Mask, prepared: Prepared, rows: Rows) -> AverageFit:
    """Return the average with the columns that are always in back in their places."""
    assert found.average is not None
    assert found.sparser is not None
    assert isinstance(found.sets, FinalSets)
    free, family = prepared.design.free, found.family
    assert free is not None
    answers = []
    for coef in (found.average.coef, found.sparser.coef):
        eta = np.asarray(prepared.design.columns.matvec(coef)) + prepared.offset
        none = np.zeros(free.basis.shape[1])
        best, own = best_beside(family, prepared.response.values, eta, rows.counts, free.basis, none)
        whole, level = in_place(prepared, coef, own)
        answers.append((whole, best.with_intercept_absorbed(level).thresholds_, own))
    (coef, thresholds, own), (sparse, others, _) = answers
    unpenalized = unpenalized_of(prepared, places, own_part(prepared, own).coef)
    unpenalized = unpenalized._replace(fold_coef=found.sets.fold_own)
    eta = rows.columns.matvec(coef) + rows.offset
    both = (coef, 0.0), (sparse, float((thresholds - others).mean()))
    return insert_unpenalized(found, with_errors(unpenalized, rows, found, sparse, eta), both, rows, eta)
