"""An averaged fit: what was found, in the user's units, and what can be asked of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Status, Vector, time_left
from horseshoe.average.held_out import Record
from horseshoe.average.intervals import Corrected, FoldErrors, between, coef_interval, corrected, cv_plus
from horseshoe.average.sets import Sets, summed
from horseshoe.average.submodel import Submodel
from horseshoe.average.unpenalized import Unpenalized
from horseshoe.average.weights import Average
from horseshoe.data.standardise import Units
from horseshoe.data.structure import Structure
from horseshoe.data.view import View
from horseshoe.families import Family, Ordered
from horseshoe.threads import one_thread

# All that is ever asked of the training rows once a fit is done: its copies know it, and not the rows.
KEPT = ("cv_error", "fold_errors", "corrected")
# In the place of what is recorded of a fit once it is there.
NOT_YET: Any = None


class Progress(NamedTuple):
    """What a callback is told after each component: its name, how many are done, and how many there are.

    ``seconds_left`` takes those to come to be as long as those that are done; None before there are two.
    """

    component: str
    done: int
    total: int
    seconds: float = 0.0
    seconds_left: float | None = None

    def __str__(self) -> str:
        return f"{self.component}: {self.done} of {self.total} components{time_left(self.seconds_left)}"


class ComponentRow(NamedTuple):
    """One line of ``components_``.

    ``error`` is the cross-validated mean squared error of single fits in the units of y, or for families
    without a noise variance their mean deviance up to a constant; ``weight`` is the share of the component in
    the average.
    """

    name: str
    what: str
    error: float
    weight: float


@dataclass(frozen=True, eq=False)
class AverageFit:
    """An averaged fit, in the user's units where it has no other word.

    Attributes
    ----------
    coef, intercept
        The average.
    sparse_coef, sparse_intercept
        The fewest columns that say the same.
    inclusion : array of shape (p,)
        How sure each column is in.
    components : tuple of ComponentRow
    edge : float, optional
        What every response is, where no intercept is finite.
    average, sparser
        What was found, on the scale of the prior; None where there was nothing to fit.
    sets : Sets, optional
        The training sets; copies of a fit do without them.
    scale : array of shape (p,)
        The standard deviations of the columns; zero where a column is constant.
    record : Record
        What is kept of the rows.
    structure, unpenalized
        What was known of the columns, and what is said of those that are always in; None where nothing is.
    """

    units: Units
    family: Family
    status: Status
    coef: Vector
    intercept: float
    sparse_coef: Vector
    sparse_intercept: float
    inclusion: Vector
    sigma2: float
    components: tuple[ComponentRow, ...]
    sets: Sets | None = None
    average: Average | None = None
    sparser: Submodel | None = None
    edge: float | None = None
    scale: Vector = NOT_YET
    record: Record = NOT_YET
    structure: Structure | None = None
    unpenalized: Unpenalized | None = None

    @one_thread()
    def linear_predictor(self, columns: View) -> Vector:
        """Return intercept + X b."""
        return np.asarray(columns.matvec(self.coef) + self.intercept)

    def __getstate__(self) -> Any:
        """Leave the training rows out of copies: all that is ever asked of them is known."""
        state = dict(self.__dict__) | {name: getattr(self, name) for name in KEPT}
        if self.average is not None:
            state |= {"sets": None, "average": self.average._replace(predicted=np.zeros(0))}
        return state

    @property
    def support(self) -> Mask:
        """Which columns the sparse answer has."""
        return np.not_equal(self.sparse_coef, 0.0)

    @property
    def path(self) -> tuple[tuple[int, float], ...]:
        """The columns of the sparse answer as they entered, and the distance left after each."""
        if self.sparser is None:
            return ()
        places = np.flatnonzero(self.units.kept)[self.sparser.order]
        return tuple(zip(places.tolist(), self.sparser.distance[1:].tolist(), strict=True))

    @lazy
    @one_thread()
    def cv_error(self) -> float:
        """The cross-validated error of the average: as in `ComponentRow`."""
        if self.sets is None or self.average is None:
            return 0.0
        error = _cv_error(self.sets, self.family, self.average, self.sigma2 / self._noise_unit)
        return in_units(error, self.family, self.units)

    @lazy
    @one_thread()
    def fold_errors(self) -> FoldErrors | None:
        """The errors of the rows that were left out, in the user's units or in those of their spread."""
        if self.sets is None or self.average is None:
            return None
        if self.sets.condensed or not self.family.has_intercept:  # of sums no single row is known
            return FoldErrors(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
        like = self.sets.like
        (rows, folds), seen = (each[like] for each in self.sets.tested), self.average.predicted[like]
        unit = self.units.unit if self.family.is_location else 1.0
        errors = np.abs(self.sets.y[rows] - self.family.mean(seen)) * unit
        errors = errors if self.family.is_location else errors / self._deviation(seen)
        folds = folds if self.sets.even else np.full_like(folds, len(self.sets.folds))
        return FoldErrors(folds, errors, self.sets.counts[rows])

    @property
    def _noise_unit(self) -> float:
        return self.units.unit**2 if self.family.has_dispersion else 1.0

    @one_thread()
    def predict_interval(self, columns: View, known: Any, level: float) -> Matrix:
        """Return the CV+ intervals of new rows; ``known`` is the known part of their linear predictor."""
        if self.fold_errors is None or self.average is None:
            mean = self.family.mean(self.linear_predictor(columns) + known)
            seen = mean if self.edge is None else np.full_like(mean, self.edge)
            return np.column_stack([np.minimum(mean, seen), np.maximum(mean, seen)])
        found, (folds, errors, counts) = self.average, self.fold_errors
        if not errors.size:
            raise ValueError(
                "CV+ intervals need the errors of single rows, and partial_fit keeps sums of them only: use "
                "fit, or take the interval of HorseshoeRegressor after partial_fit"
            )
        coef = self.units.coef(found.fold_coef.T)
        intercept = self.units.intercept(found.fold_intercept, found.fold_coef.T)
        if self.unpenalized is not None:
            coef, intercept = self.unpenalized.complete(coef, intercept, self.units)
        coef, intercept = np.vstack([coef, self.coef]), np.append(intercept, self.intercept)
        eta = columns.matvec(coef.T) + intercept + np.reshape(known, (-1, 1))
        if self.family.is_location:
            return cv_plus(self.family.mean(eta), np.ones_like(eta), folds, errors, level, counts)
        found_rows = cv_plus(self.family.mean(eta), self._deviation(eta), folds, errors, level, counts)
        return self._within_range(found_rows)

    def _deviation(self, eta: Any) -> Any:
        """Return the standard deviation of y where its mean is that of eta; never out of range."""
        if isinstance(self.family, Ordered):
            return self.family.deviation(eta)
        with np.errstate(over="ignore"):
            variance = self.family.variance(eta, 1.0)
        return np.sqrt(np.clip(variance, 1e-12, np.finfo(np.float64).max))

    def _within_range(self, interval: Matrix) -> Matrix:
        """Return intervals that keep to what y can be."""
        low = 0.0 if self.family.positive_only or self.family.is_binary else -np.inf
        high = 1.0 if self.family.is_binary else np.inf
        if isinstance(self.family, Ordered):  # from level to level, outwards
            points = self.family.points_
            first = np.searchsorted(points, interval[:, 0], "right") - 1
            last = np.searchsorted(points, interval[:, 1], "left")
            return np.asarray(points[np.clip(np.column_stack([first, last]), 0, points.size - 1)])
        return np.clip(interval, low, high)

    def coef_interval(self, level: float) -> Matrix:
        """Return the interval of each coefficient."""
        if self.corrected is None or self.average is None:
            return np.repeat(self.coef[:, None], 2, axis=1)
        found = coef_interval(self.average.coef, self.corrected, level)
        out = np.column_stack([self.units.coef(found[:, 0]), self.units.coef(found[:, 1])])
        if self.unpenalized is not None:
            out[self.unpenalized.places] = self.unpenalized.interval(self.coef, level)
        return out

    @lazy
    @one_thread()
    def corrected(self) -> Corrected | None:
        """The coefficients without shrinkage, on the scale of the prior, with standard errors."""
        if self.sets is None or self.average is None:
            return None
        sets, found = self.sets, self.average
        rows, _ = sets.tested
        times = np.bincount(rows, minlength=sets.y.size)
        eta = np.bincount(rows, found.predicted, sets.y.size) / np.maximum(times, 1)
        weights = sets.counts * (times > 0)
        residual, sigma2 = sets.y - eta, 1.0
        if not sets.family.is_location:
            family = sets.with_data(self.family)
            working = family.working(sets.y, eta, self.sigma2 / self._noise_unit)
            residual, weights = working.targets - eta, weights * working.weights
        residual = np.where(times > 0, residual, 0.0)
        spread = float(weights @ residual**2) / float((sets.counts * (times > 0)).sum())
        if sets.family.has_dispersion or spread > sigma2:  # rows may scatter more than a family without says
            sigma2 = spread
        within = corrected(sets, found.coef, residual, weights, sigma2)
        if not sets.even:  # the jackknife needs fits to as many rows
            return within
        both = np.maximum if sets.family.is_location else np.hypot  # else eta is taken for certain
        return within._replace(std=both(within.std, between(found.fold_coef)))


def in_units(error: float, family: Family, units: Units) -> float:
    """Return the error of rows left out in the user's units: a mean square, or twice a mean loss.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.data.standardise import Units
    >>> in_units(0.5, Gaussian(), Units(np.ones(1, bool), np.zeros(1), np.ones(1), 0.0, 2.0, True))
    2.0
    """
    if family.squared_error:
        return error * units.unit**2
    return error + 2.0 * math.log(units.unit) if family.is_location else error


def _cv_error(sets: Sets, family: Family, found: Average, sigma2: float) -> float:
    """Return the mean squared error of rows left out, or twice their mean loss where that says more."""
    rows, _ = sets.tested
    if family.squared_error:
        counts = sets.counts[rows]
        return summed(counts, (sets.y[rows] - found.predicted) ** 2) / float(counts.sum())
    eta, noise = sets.eta(found.fold_coef, found.fold_intercept), sigma2 if family.has_dispersion else 1.0
    return 2.0 * sets.left_out(family, eta, noise) / float(sets.observations[rows].sum())
