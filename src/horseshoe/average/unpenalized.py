"""Columns that are always in, beside an average that is over the others only.

They are fitted alone first, without shrinkage; the components explain what they leave of y by what they leave
of the other columns. For a Gaussian response that is a fit of both together (Frisch, Waugh and Lovell). For
other families it is not quite, so that they are fitted once more at the end, beside the average. Beside
ordered levels (`beside`) and classes that are fitted together (`shared.classes`) each training set fits them
by itself, with its thresholds or intercepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.sets import information
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Units
from horseshoe.data.structure import Structure
from horseshoe.data.thresholds import ThresholdProfile
from horseshoe.data.unpenalized import all_coefficients
from horseshoe.em.state import Options
from horseshoe.families import Ordered
from horseshoe.model.fit import fit
from horseshoe.model.spec import ModelSpec, Prepared
from horseshoe.model.unpenalized import LEAST
from horseshoe.posterior.predictive import half_width

# The change at which the fit of the columns that are always in ends: without shrinkage steps are cheap.
CLOSE = 1e-12
# An eigenvalue of an information matrix below this share of the largest is zero.
ROUNDING = 1e-12
# An average, which has what is always in.
Answer = TypeVar("Answer", bound=Any)


class Unpenalized(NamedTuple):
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
    fold_coef : array of shape (K, q), optional
        ``coef`` of each training set, where each has its own.
    """

    places: Mask
    coef: Vector
    loads: Matrix
    mean: Vector
    std: Vector
    fold_coef: Matrix | None = None

    def complete(self, coef: Any, intercept: Any, units: Units) -> tuple[Any, Any]:
        """Return coefficients of all columns, and the intercept, from those of the others.

        What has two axes are the fits of the folds.
        """
        moved = coef[..., units.kept] @ self.loads.T
        whole = coef.copy()
        own = self.coef if self.fold_coef is None or coef.ndim == 1 else self.fold_coef
        whole[..., self.places] = own - moved
        return whole, intercept + moved @ self.mean if units.has_intercept else intercept

    def interval(self, coef: Vector, level: float) -> Matrix:
        """Return the interval of each of them; ``coef`` are those of all columns."""
        middle, reach = coef[self.places], half_width(level) * self.std
        return np.column_stack([middle - reach, middle + reach])


def alone(spec: ModelSpec, rows: Rows, places: Mask, more: Any = 0.0) -> Fitted:
    """Return a fit of the columns that are always in, without any other; ``more`` is added to the offset."""
    own = Structure(unpenalized=np.ones(int(places.sum()), dtype=np.bool_))
    part = rows._replace(columns=rows.columns.take(places), offset=rows.offset + more)
    return fit(replace(spec, structure=own), part, Options(tol=CLOSE))


def known_part(rows: Rows, places: Mask, coef: Vector) -> Rows:
    """Return the rows with what some columns explain as a known part of their linear predictor."""
    return rows._replace(offset=rows.offset + np.asarray(rows.columns.take(places).matvec(coef)))


def unpenalized_of(prepared: Prepared, places: Mask, coef: Vector) -> Unpenalized:
    """Return what is known of the columns that are always in once all are standardised."""
    free, whole, units = prepared.design.free, prepared.all_units, prepared.units
    assert free is not None
    own = places[whole.kept]
    loads = (free.turn @ free.loads) * units.scale / whole.scale[own][:, None]
    return Unpenalized(places, coef, loads, whole.mean[own], np.zeros(coef.size))


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
    both, _ = all_coefficients(design.free, coef, free, prepared.units.kept[whole.kept])
    return whole.coef(both), float(whole.intercept(np.asarray(level), both))


def insert_unpenalized(found: Answer, unpenalized: Unpenalized, both: Any, rows: Rows, eta: Vector) -> Answer:
    """Return an average with the columns that are always in back in their places, and never zero.

    ``both`` are the coefficients of all columns and the intercept, of the average and of its sparse answer;
    ``eta`` is the linear predictor of the average. The status says so if nothing holds the coefficients.
    """
    (coef, intercept), (sparse, sparse_intercept) = both
    for whole in (coef, sparse):
        whole[unpenalized.places & (whole == 0.0)] = LEAST
    return replace(
        found,
        coef=coef,
        intercept=float(intercept),
        sparse_coef=sparse,
        sparse_intercept=float(sparse_intercept),
        inclusion=np.where(unpenalized.places, 1.0, found.inclusion),
        unpenalized=unpenalized,
        status=found.family.remark(rows.y, eta) or found.status,
    )


class InModel(NamedTuple):
    """The columns that are always in or selected, and which are the former.

    Each is divided by its largest value: squares of the user's units may be no floats.
    """

    columns: Matrix
    size: Vector
    own: Mask


def in_model(rows: Rows, places: Mask, sparse: Vector) -> InModel:
    """Return these columns; ``sparse`` are the coefficients of a sparse answer."""
    chosen = places | (sparse != 0.0)
    columns = rows.columns.take(chosen).dense()
    size = np.abs(columns).max(axis=0)
    return InModel(columns / size, size, places[chosen])


def errors(inner: Matrix) -> Vector:
    """Return the standard errors that an information matrix gives; what is not told apart shares.

    Examples
    --------
    >>> errors(np.diag([4.0, 25.0]))
    array([0.5, 0.2])
    """
    return np.asarray(np.sqrt(np.maximum(np.linalg.pinv(inner, ROUNDING, hermitian=True).diagonal(), 0.0)))


def with_errors(unpenalized: Unpenalized, rows: Rows, found: Any, sparse: Vector, eta: Vector) -> Unpenalized:
    """Return the same with standard errors: of a fit to them and to the columns that are selected.

    ``found`` is the average, ``sparse`` are the coefficients of its sparse answer, and ``eta`` is its linear
    predictor.
    """
    chosen = in_model(rows, unpenalized.places, sparse)
    inner = _information(found, rows, chosen.columns, eta)
    length = np.sqrt(inner.diagonal())
    length[~(length > 0.0)] = 1.0
    std = errors(inner / length / length[:, None]) / length
    unit = found.units.unit if found.family.is_location else 1.0
    return unpenalized._replace(std=(std * (unit / chosen.size))[chosen.own])


def _information(found: Any, rows: Rows, columns: Matrix, eta: Vector) -> Matrix:
    """Return the expected information of rows about coefficients, whatever else is estimated beside them.

    That is an intercept, thresholds, or the baseline hazard of each stratum. Where y = eta + noise it is in
    units of y in which squares are floats.
    """
    family, weights = found.family, rows.counts
    if isinstance(found.family, Ordered):
        columns = centred(columns, weights)  # here and below: a shift changes only the digits that are left
        heavy = weights * family.working(rows.y, eta, 1.0).weights
        told = ThresholdProfile(heavy, *family.shared(rows.y, eta, weights))
        return np.asarray(columns.T @ told.known(columns))
    coupling = family.coupling(rows.y, eta)
    if coupling is not None:
        columns = centred(columns, weights)
        pooled = coupling.pooled(columns)
        return np.asarray(columns.T @ (coupling.diagonal[:, None] * columns) - pooled.T @ pooled)
    unit = found.units.unit if family.is_location else 1.0
    weights = weights * information(family, rows.y / unit, eta / unit, found.sigma2 / unit / unit)
    columns = centred(columns, weights) if found.units.has_intercept else columns
    return np.asarray(columns.T @ (weights[:, None] * columns))


def centred(columns: Matrix, weights: Vector) -> Matrix:
    """Return columns less their weighted means.

    Examples
    --------
    >>> centred(np.array([[1.0], [2.0], [9.0]]), np.array([1.0, 1.0, 0.0]))
    array([[-0.5],
           [ 0.5],
           [ 7.5]])
    """
    return np.asarray(columns - weights @ columns / weights.sum())
