"""The training sets of a cross-validation side by side: the rows without each fold, and all rows.

All sets see the same columns, centred and scaled by all rows: what a unit is does not depend on the response.
Each has an intercept of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.batch import Batch, Index, multiply_all
from horseshoe.data.view import View
from horseshoe.families import Family
from horseshoe.model.spec import Prepared
from horseshoe.priors import Groups

# The rows to learn from and the rows to predict.
Fold = tuple[Any, Any]
# How much of a step is tried, from all of it on.
HALVED = 0.5 ** np.arange(9)
# The change at which sweeps of a mixture end before they take new weights; the latter for classes and
# survival. Their weights are those of EM, or overstate the curvature, and take small steps: sweeps need not
# be exact, for the rounds judge the answer. It is not for families with a noise variance, which sweeps move
# too, nor for Newton's weights, which take large steps: there errors grew by a few per cent.
SWEEP_TOL, LOOSE_SWEEP_TOL = 1e-3, 3e-2
# Steps to the null model of families whose weights move.
LEVEL_STEPS = 5
# The most that a row can lose.
HUGE = 1e100
# Fits of folds stand for the fit to all rows if each training set has at least this share of them; sets of
# one size are at least that share of the largest.
LEAST_SHARE, ONE_SIZE = 0.4, 0.7
# Else a training set is like all rows if it has at least this share of the largest one, or if larger ones
# hold out fewer rows than these.
LIKE, FEWEST = 0.75, 40


def information(family: Family, y: Vector, eta: Vector, sigma2: float) -> Vector:
    """Return the expected information of each row about eta, or where the family does not say, its weight.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> information(Gaussian(), np.zeros(2), np.zeros(2), 4.0)
    array([0.25, 0.25])
    """
    constant = family.information()
    if constant is not None:
        return np.full(eta.shape, constant / sigma2)
    fisher = family.fisher(eta, sigma2)
    weights = family.working(y, eta, sigma2).weights if fisher is None else fisher
    return np.asarray(weights / sigma2)


def summed(counts: Vector, losses: Vector) -> float:
    """Return the losses of rows that were left out, each so often; none is more than `HUGE`.

    A fit may predict e^700 of a row that it has not seen: it must lose, but in numbers.

    Examples
    --------
    >>> summed(np.array([2.0, 1e6]), np.array([0.5, 1e304]))
    1e+106
    """
    return float(counts @ np.minimum(losses, HUGE))


class Part(NamedTuple):
    """The rows of one training set, how often each counts, and how many observations they are."""

    inside: Mask
    y: Vector
    offset: Vector
    counts: Vector
    total: float


class Fits(NamedTuple):
    """One fit to each training set, the last to all rows, on the scale of the prior.

    ``coef`` has shape (p, T), or (q, p, T) of several responses or classes; ``intercept`` and ``sigma2`` (T,)
    or (q, T), and ``free`` (q, r, T) the coefficients of unpenalised columns that classes have beside them.
    ``inclusion``, of the shape of ``coef`` or (p, T), is the probability that a variable is included: 0 or 1
    where the fit selects, not a number where it does not say, as ridge, which includes all of them.
    """

    coef: Any
    intercept: Any
    sigma2: Any
    inclusion: Any
    families: tuple[Family, ...]
    free: Any = None

    @property
    def selects(self) -> bool:
        """Whether the fits say which variables are included."""
        return not np.isnan(self.inclusion).any()

    def only(self, which: Index) -> Fits:
        """Return some of the fits."""
        values: Any = [value[..., which] for value in self[:4]]
        free = None if self.free is None else self.free[..., which]
        return Fits._make((*values, tuple(self.families[t] for t in which), free))

    def with_some(self, which: Index, others: Fits) -> Fits:
        """Return the fits with others in the place of some."""

        def put(mine: Any, new: Any) -> Any:
            mine = mine.copy()
            mine[..., which] = new
            return mine

        values: Any = [put(mine, new) for mine, new in zip(self[:4], others[:4], strict=True)]
        families = list(self.families)
        for t, family in zip(which, others.families, strict=True):
            families[t] = family
        free = None if self.free is None else put(self.free, others.free)
        return Fits._make((*values, tuple(families), free))

    def responses(self, number: int) -> tuple[Fits, ...]:
        """Return the fits to each of several responses."""
        if number == 1:
            return (self,)
        inclusion = np.broadcast_to(self.inclusion, self.coef.shape)
        each = zip(self.coef, self.intercept, self.sigma2, inclusion, strict=True)
        return tuple(Fits(*values, self.families) for values in each)


def fits_of(responses: Sequence[Fits]) -> Fits:
    """Return the fits to several responses as one; a single one as it is."""
    if len(responses) == 1:
        return responses[0]
    values: Any = [np.stack(each) for each in zip(*(one[:4] for one in responses), strict=True)]
    return Fits._make((*values, responses[0].families, None))


@dataclass(frozen=True, eq=False)
class Sets:
    """What the components of an average are fitted to.

    Attributes
    ----------
    columns : View
        Standardised by all rows; a copy of a fit does without them.
    y : array of shape (n,), or (q, n)
        The response on the scale of the prior, or several Gaussian responses.
    offset : array of shape (n,)
        The known part of the linear predictor.
    counts : array of shape (n,)
        How often each row counts.
    folds : tuple of pairs
        Of each fold the rows to learn from and the rows to predict.
    family : Family
    center : bool
        Whether there are intercepts.
    groups : Groups, optional
        Which columns share a local scale, and are in or out as a whole.
    condensed : bool
        Whether the rows stand for others, with the same sums within each fold.
    may_stand : bool
        Whether fits of folds may stand for the fit to all rows: see `even`.
    """

    nothing: ClassVar[str] = "the intercept alone"
    # What a fit without any column is, and what it is where some are always in.
    nothing_more: ClassVar[str] = "the intercept and the columns that are always in"
    # Of the horseshoe mode: between 2, the paper's, and 1, which selects next to nothing away.
    lambda_power: ClassVar[float] = 1.5
    # Whether the intercept of a fit means anything.
    has_level: ClassVar[bool] = True
    # Of so many slopes of the average one is tried first: more where `along` is dear.
    slope_steps: ClassVar[int] = 1
    # Whether the linear predictor has several classes, which add up to zero.
    softmax: ClassVar[bool] = False
    # How much of the step to new targets is taken at most.
    step_share: ClassVar[float] = 1.0
    # How often a mixture takes new weights, where these move.
    rounds: ClassVar[int] = 6
    columns: View
    y: Vector
    offset: Vector
    counts: Vector
    folds: tuple[Fold, ...]
    family: Family
    center: bool = True
    groups: Groups | None = None
    condensed: bool = False
    may_stand: bool = True

    def told(self, what: str, unpenalized: bool) -> str:
        """Return what a component is, in words for these sets, and for columns that are always in."""
        nothing = self.nothing_more if unpenalized else self.nothing
        return what.format(nothing=nothing, lambda_power=self.lambda_power)

    @property
    def n_sets(self) -> int:
        """The folds, and all rows."""
        return len(self.folds) + 1

    @property
    def freedom(self) -> float:
        """How many coefficients of a column share its local scale."""
        return float(len(self.y) if self.y.ndim == 2 else 1)

    @lazy
    def responses(self) -> tuple[Sets, ...]:
        """The training sets of each of several responses."""
        return tuple(replace(self, y=one) for one in self.y) if self.y.ndim == 2 else (self,)

    @lazy
    def weights(self) -> Matrix:
        """How often each row counts in each training set."""
        inside = np.zeros((self.counts.size, self.n_sets))
        inside[:, -1] = 1.0
        for t, (train, _) in enumerate(self.folds):
            inside[train, t] = 1.0
        return self.counts[:, None] * inside

    @lazy
    def total(self) -> Vector:
        """The number of observations of each training set."""
        return np.asarray(self.weights.sum(axis=0))

    @lazy
    def _parts(self) -> tuple[Part, ...]:
        """The rows of each training set: the same objects each time, by which risk sets are remembered."""
        found = []
        for weights in self.weights.T:
            inside = weights > 0.0
            counts = weights[inside]
            found.append(Part(inside, self.y[..., inside], self.offset[inside], counts, float(counts.sum())))
        return tuple(found)

    def part(self, t: int) -> Part:
        """Return the rows of a training set."""
        return self._parts[t]

    @property
    def small_steps(self) -> bool:
        """Whether weights are such that steps to the targets are small."""
        return self.family.never_overshoots and not self.family.has_dispersion

    @property
    def sweep_tol(self) -> float:
        """The change at which sweeps of a mixture end between new weights: see `LOOSE_SWEEP_TOL`."""
        return LOOSE_SWEEP_TOL if self.small_steps else SWEEP_TOL

    @property
    def never_overshoots(self) -> bool:
        """Whether a step to new targets need not be checked."""
        return self.family.never_overshoots

    @property
    def families(self) -> tuple[Family, ...]:
        """The family of each training set, as its fits begin with it."""
        return (self.family,) * self.n_sets

    @property
    def observations(self) -> Vector:
        """How many observations each row is: what losses are a mean over."""
        return self.counts

    @lazy
    def tested(self) -> tuple[Any, Any]:
        """The rows that are predicted, and by which fold; a row may be predicted more than once."""
        rows = np.concatenate([np.asarray(test) for _, test in self.folds])
        folds = np.repeat(np.arange(len(self.folds)), [len(test) for _, test in self.folds])
        return rows, folds

    @lazy
    def even(self) -> bool:
        """Whether the fits of the folds stand for the fit to all rows.

        Training sets that are small do not, nor those that grow, as those of time series.
        """
        each = self.total[:-1]
        times = np.bincount(self.tested[0], minlength=self.counts.size)
        alike = np.ptp(times) == 0 or each.min() >= ONE_SIZE * each.max()
        return bool(self.may_stand and alike and each.min() >= LEAST_SHARE * self.total[-1])

    @lazy
    def like(self) -> Mask:
        """Which of the predictions of `tested` are those of `large` training sets."""
        return np.isin(self.tested[1], self.large)

    @lazy
    def large(self) -> Any:
        """The folds whose training sets tell how the fit to all rows predicts.

        All do if training sets are even, else the largest ones.
        """
        each, (_, folds) = self.total[:-1], self.tested
        if self.even:
            return np.arange(each.size)
        larger = np.array([np.count_nonzero(each[folds] > size) for size in each])
        return np.flatnonzero((each >= LIKE * each.max()) | (larger < FEWEST))

    @lazy
    def large_and_all(self) -> Any:
        """The numbers of these training sets, and of that of all rows."""
        return np.append(self.large, self.n_sets - 1)

    @lazy
    def largest(self) -> Any:
        """The same with these training sets alone."""
        return replace(self, folds=tuple(self.folds[t] for t in self.large), may_stand=False)

    def fit(self, coef: Any) -> Any:
        """Return X b of every row: (n, T), or (q, n, T)."""
        return multiply_all(self.columns.matvec, coef)

    def eta(self, coef: Any, intercept: Any, free: Any = None) -> Any:
        """Return the linear predictor of every row by every fit."""
        return self.fit(coef) + intercept[..., None, :] + self.explained(free) + self.offset[:, None]

    def explained(self, free: Any) -> Any:
        """Return what unpenalised columns explain that each training set fits by itself: nothing here."""
        return 0.0

    @lazy
    def null(self) -> tuple[Any, Any]:
        """The null model of every training set: intercepts, and the unpenalised coefficients beside them."""
        if not (self.center and self.has_level):
            return np.zeros((*self.y.shape[:-1], self.n_sets)), None
        if self.family.constant_weights:
            return (self.y @ self.weights) / self.total, None
        found = []
        for _, y, offset, counts, _ in self._parts:
            level = self.family.intercept_alone(y, counts, offset)
            for _ in range(LEVEL_STEPS):
                working = self.family.working(y, offset + level, 1.0)
                level = float(np.average(working.targets - offset, weights=counts * working.weights))
            found.append(level)
        return np.array(found), None

    def linearised(self, eta: Any, sigma2: Any, families: tuple[Family, ...]) -> tuple[Any, Matrix]:
        """Return the targets and weights that stand for the likelihood near eta, offset taken off."""
        if self.family.constant_weights:
            return np.repeat(self.y[..., None], self.n_sets, axis=-1), self.weights
        if not self.family.has_dispersion and all(family is families[0] for family in families):
            rows = families[0].working(np.tile(self.y, len(families)), eta.ravel(order="F"), 1.0)
            weights, targets = (values.reshape(eta.shape, order="F") for values in rows)
            return targets - self.offset[:, None], self.weights * weights
        targets, weights = np.zeros_like(eta), np.zeros_like(eta)
        for t, (part, family) in enumerate(zip(self._parts, families, strict=True)):
            found = family.working(part.y, eta[part.inside, t], float(sigma2[t]))
            targets[part.inside, t] = found.targets - part.offset
            weights[part.inside, t] = part.counts * found.weights
        return targets, weights

    def with_levels(self, fits: Fits, targets: Any, weights: Matrix) -> Fits:
        """Return fits with the intercepts that go with their coefficients."""
        if not self.center:
            return fits
        left = targets - self.fit(fits.coef)
        return fits._replace(intercept=np.einsum("it,...it->...t", weights, left) / weights.sum(axis=0))

    def drop_intercepts(self, fits: Fits) -> Fits:
        """Return fits without the levels that steps went through, where these mean nothing."""
        return fits if self.has_level else fits._replace(intercept=np.zeros_like(fits.intercept))

    def finalize(self, family: Any, found: Any, prepared: Prepared) -> tuple[Any, Any, Sets]:
        """Return the family that goes with the `Average`, that with the level that the user sees, and sets.

        These are what is asked of the rows from then on.
        """
        return family, found, self

    def with_data(self, family: Family) -> Family:
        """Return a family that was fitted as it knows these rows."""
        return family

    def loss(self, t: int, family: Family, eta: Vector, sigma2: float) -> float:
        """Return minus the log-likelihood of a training set; ``eta`` is that of all rows."""
        part = self._parts[t]
        return float(part.counts @ family.neg_log_likelihood(part.y, eta[part.inside], sigma2))

    def cross_validated(self, eta: Matrix, sigma2: Vector, families: tuple[Family, ...]) -> float:
        """Return minus the log-likelihood of the rows by the fits that have not seen them."""
        total = 0.0
        for t, (_, test) in enumerate(self.folds):
            loss = families[t].neg_log_likelihood(self.y[test], eta[test, t], float(sigma2[t]))
            total += summed(self.counts[test], loss)
        return total

    def left_out(self, family: Family, eta: Matrix, sigma2: float) -> float:
        """Return the same for one family and one noise variance."""
        rows, folds = self.tested
        return summed(self.counts[rows], family.neg_log_likelihood(self.y[rows], eta[rows, folds], sigma2))

    def along(self, base: Any, way: Any, sigma2: float) -> Callable[[float], float]:
        """Return `left_out` at base + slope * way, as a function of the slope; of one row each is enough."""
        if self.slope_steps > 1:  # but where rows are judged together
            return lambda slope: self.left_out(self.family, base + slope * way, sigma2)
        (rows, folds), family = self.tested, self.family
        y, counts, base, way = self.y[rows], self.counts[rows], base[rows, folds], way[rows, folds]
        return lambda slope: summed(counts, family.neg_log_likelihood(y, base + slope * way, sigma2))

    def row_losses(self, family: Family, eta: Vector, sigma2: float) -> tuple[Vector, Vector]:
        """Return what each row left out loses, and how often it counts; ``eta`` is as `tested` has it."""
        rows, _ = self.tested
        return family.neg_log_likelihood(self.y[rows], eta, sigma2), self.counts[rows]

    def information(self, family: Family, eta: Any, sigma2: float) -> Vector:
        """Return what each row counts times its expected information about eta."""
        return self.counts * information(family, self.y, eta, sigma2)

    def batch(self, targets: Any, weights: Matrix) -> Batch:
        """Return the least-squares problems of all training sets."""
        return Batch(self.columns, targets, weights, self.total, self.center)

    def updated(self, families: tuple[Family, ...], eta: Any, sigma2: Any) -> tuple[Family, ...]:
        """Return the families with what they estimate beside the coefficients at its best."""
        if self.family.constant_weights or type(self.family).update is Family.update:
            return families
        each = enumerate(zip(self._parts, families, strict=True))
        return tuple(
            family.update(part.y, eta[part.inside, t], sigma2[t], part.counts) for t, (part, family) in each
        )


def sizes(sets: Sets) -> tuple[float, float]:
    """Return how many observations are left out, and how often in all: those of two folds are still one."""
    rows, _ = sets.tested
    return float(sets.observations[np.unique(rows)].sum()), float(sets.observations[rows].sum())
