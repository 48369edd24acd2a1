"""Columns that are always in, beside an average that is over the others only.

They are fitted alone first, without shrinkage; the members explain what they leave of y by what they leave of
the other columns. For a Gaussian response that is a fit of both together (Frisch, Waugh and Lovell). For
other families it is not quite, so that they are fitted once more at the end, beside the average. Beside
ordered levels (`beside`) and classes that are fitted together (`shared.classes`) each training set fits them
by itself, with its thresholds or intercepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from farrier._types import Mask, Matrix, Vector
from farrier.adaptive.sets import information
from farrier.data.always import with_free
from farrier.data.fitted import Fitted
from farrier.data.rows import Rows
from farrier.data.standardise import Units
from farrier.data.structure import Structure
from farrier.model.fit import fit
from farrier.model.spec import ModelSpec, Prepared
from farrier.posterior.predictive import half_width


class Always(NamedTuple):
    """The columns that are always in, in the user's units.

    Attributes
    ----------
    places : bool array of shape (p,)
        Which they are.
    coef : array of shape (q,)
        Their coefficients where all others are zero.
    loads : array of shape (q, k)
        What they give up for one unit of the coefficient of each of the others that vary.
    mean : array of shape (q,)
        Their means.
    std : array of shape (q,)
        Their standard errors beside the columns that are selected.
    """

    places: Mask
    coef: Vector
    loads: Matrix
    mean: Vector
    std: Vector

    def complete(self, coef: Any, intercept: Any, units: Units) -> tuple[Any, Any]:
        """Return coefficients of all columns, and the intercept, from those of the others."""
        moved = coef[..., units.kept] @ self.loads.T
        whole = coef.copy()
        whole[..., self.places] = self.coef - moved
        return whole, intercept + moved @ self.mean if units.has_intercept else intercept

    def interval(self, coef: Vector, level: float) -> Matrix:
        """Return the interval of each of them; ``coef`` are those of all columns."""
        middle, reach = coef[self.places], half_width(level) * self.std
        return np.column_stack([middle - reach, middle + reach])


def alone(spec: ModelSpec, rows: Rows, places: Mask, more: Any = 0.0) -> Fitted:
    """Return a fit of the columns that are always in, without any other; ``more`` is added to the offset."""
    own = Structure(always=np.ones(int(places.sum()), dtype=np.bool_))
    part = rows._replace(columns=rows.columns.take(places), offset=rows.offset + more)
    return fit(replace(spec, structure=own), part)


def known_part(rows: Rows, places: Mask, coef: Vector) -> Rows:
    """Return the rows with what some columns explain as a known part of their linear predictor."""
    return rows._replace(offset=rows.offset + np.asarray(rows.columns.take(places).matvec(coef)))


def always_of(prepared: Prepared, places: Mask, coef: Vector) -> Always:
    """Return what is known of the columns that are always in once all are standardised."""
    free, whole, units = prepared.design.free, prepared.all_units, prepared.units
    assert free is not None
    own = places[whole.kept]
    loads = (free.turn @ free.loads) * units.scale / whole.scale[own][:, None]
    return Always(places, coef, loads, whole.mean[own], np.zeros(coef.size))


class Own(NamedTuple):
    """The coefficients of the columns that are always in where all others are zero, and their means."""

    coef: Vector
    mean: Vector


def own_part(prepared: Prepared, free: Vector) -> Own:
    """Return what coefficients of the basis are in the user's units."""
    design, whole = prepared.design, prepared.all_units
    if design.free is None:
        return Own(np.zeros(0), np.zeros(0))
    own = ~prepared.units.kept[whole.kept]
    return Own(design.free.turn @ free / whole.scale[own], whole.mean[own])


def in_place(prepared: Prepared, coef: Vector, free: Vector, level: float = 0.0) -> tuple[Vector, float]:
    """Return the coefficients of all columns, and the intercept that goes with them, in the user's units.

    ``free`` are those of the basis, and ``level`` is the intercept on the scale of the prior.
    """
    design, whole = prepared.design, prepared.all_units
    if design.free is None:
        return whole.coef(coef), float(whole.intercept(np.asarray(level), coef))
    both, _ = with_free(design.free, coef, free, prepared.units.kept[whole.kept])
    return whole.coef(both), float(whole.intercept(np.asarray(level), both))


def with_errors(always: Always, rows: Rows, found: Any, coef: Vector, eta: Vector) -> Always:
    """Return the same with standard errors: of least squares on them and on the columns that are selected.

    ``found`` is the average, ``coef`` are those of its sparse answer, and ``eta`` is its linear predictor.
    """
    chosen, family, unit = always.places | (coef != 0.0), found.family, found.units.unit
    beside, own = rows.columns.take(chosen).dense(), always.places[chosen]
    size = np.abs(beside).max(axis=0)  # squares of the user's units may be no floats, and so may those of y
    beside = beside / size
    sigma = np.sqrt(found.sigma2) / unit if family.has_dispersion else 1.0
    weights = rows.counts
    if not family.constant_weights:
        y, seen = (rows.y / unit, eta / unit) if family.is_location else (rows.y, eta)
        weights = weights * information(family, y, seen, sigma**2)
    beside = np.sqrt(weights)[:, None] * (beside - weights @ beside / weights.sum())
    length = np.sqrt(np.einsum("ij,ij->j", beside, beside))
    length[length == 0.0] = 1.0
    scaled = beside / length
    spread = np.linalg.pinv(scaled.T @ scaled, hermitian=True).diagonal()[own]
    std = sigma * np.sqrt(np.maximum(spread, 0.0)) / length[own]
    return always._replace(std=std * (unit / size[own]))
