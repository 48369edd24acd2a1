"""What an averaged fit keeps of its rows: how well they are predicted by fits that have not seen them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.average.sets import Sets
from horseshoe.average.weights import Average
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Units
from horseshoe.families import Family
from horseshoe.families.deviance import Deviance, deviance


class LeftOut(NamedTuple):
    """Rows beside what is predicted of them by fits that have not seen them, on the scale of y."""

    y: Vector
    prediction: Vector
    weights: Vector


class Record(NamedTuple):
    """Of the ``n`` rows that count; a model that was saved keeps none of the rows themselves.

    ``y``, ``prediction`` (by fits that have not seen the row, on the scale of y; not a number where it was
    never left out) and ``weights`` are those of the rows, ``number`` says which of the user's ``n_given``
    rows they are, None if all. ``deviance`` is what the average leaves of them, ``cv_deviance`` what is left
    by the fits that have not seen them.
    """

    n: int
    deviance: Deviance
    cv_deviance: Deviance | None
    y: Vector
    prediction: Vector
    weights: Vector | None
    number: Vector | None
    n_given: int

    @property
    def has_rows(self) -> bool:
        """Whether the rows are here: not if the model is from a file."""
        return self.y.size == self.n

    def left_out(self) -> LeftOut:
        """Return the rows that were left out at least once."""
        known = np.isfinite(self.prediction)
        weights = np.ones_like(self.y) if self.weights is None else self.weights
        return LeftOut(self.y[known], self.prediction[known], weights[known])

    def everywhere(self, values: Vector) -> Vector:
        """Return what is said of the rows in the places of the user's; not a number for those of no weight.

        Examples
        --------
        >>> none = np.empty(0)
        >>> record = Record(2, Deviance(0.0, 1.0), None, none, none, None, np.array([0, 2]), 3)
        >>> record.everywhere(np.array([5.0, 7.0]))
        array([ 5., nan,  7.])
        """
        if self.number is None:
            return values
        found = np.full((self.n_given, *values.shape[1:]), np.nan)
        found[self.number] = values
        return found


def record_of(
    rows: Rows,
    eta: Vector,
    family: Family,
    units: Units,
    sets: Sets | None,
    found: Average | None,
    known: Vector,
) -> Record:
    """Return what is kept; ``eta`` is that of the average, ``known`` what the folds took as known."""
    y, counts = rows.y, rows.counts
    total = deviance(family, y, eta, counts, rows.offset)
    prediction, left_out = np.full_like(y, np.nan), None
    if sets is not None and found is not None:
        prediction = _left_out(known, family, units, sets, found)
        known = np.isfinite(prediction)
        at = family.link(prediction[known]) if not family.is_location else prediction[known]
        left_out = deviance(family, y[known], at, counts[known], rows.offset[known])
    n_given = y.size if rows.given is None else rows.given
    if rows.n_seen != y.size:  # of sums no single row is known
        none = np.zeros(0)
        return Record(rows.n_seen, total, left_out, none, none, None, None, n_given)
    return Record(y.size, total, left_out, y.copy(), prediction, rows.weights, rows.number, n_given)


def _left_out(known: Vector, family: Family, units: Units, sets: Sets, found: Average) -> Vector:
    """Return the mean, on the scale of y, that fits predict which have not seen the row."""
    places, _ = sets.tested
    mean = family.mean(found.predicted)
    times = np.bincount(places, minlength=sets.y.size)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(places, mean, sets.y.size) / times
    return np.asarray(units.level + units.unit * mean + known if family.is_location else mean)
