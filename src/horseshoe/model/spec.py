"""What is fitted, and the data on the scale on which its prior acts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import (
    ScaledResponse,
    Standardised,
    Units,
    refuse_unit,
    standardise,
    standardise_response,
)
from horseshoe.data.structure import Structure
from horseshoe.data.unpenalized import all_units_of, check_identifiable, project_out, residual_response
from horseshoe.em.m_step import Hyper
from horseshoe.families import Family, Ordered
from horseshoe.priors import GlobalPrior, Groups, LocalPrior, grouped
from horseshoe.store.checkpoint import CheckpointSection

# No y is farther from the others than so many times their spread: its square would be out of range.
FARTHEST = 1e100


@dataclass(frozen=True)
class ModelSpec:
    """What is fitted to the rows; ``sigma2`` is in the user's units.

    ``size`` is the number of regressions that share their local scales.
    """

    family: Family
    prior: LocalPrior
    tau: GlobalPrior
    lambda_power: float = 2.0
    sigma2: float | str = "estimate"
    fit_intercept: bool = True
    standardize: bool = True
    slab: float = math.inf
    structure: Structure | None = None
    size: float = 1.0

    def __post_init__(self) -> None:
        if not self.fit_intercept and isinstance(self.family, Ordered):
            raise ValueError(
                "fit_intercept=False: thresholds take the place of the intercept of ordered levels, and "
                "there is no fit without them; leave fit_intercept=True"
            )

    @property
    def unpenalized(self) -> Mask | None:
        """Which columns are unpenalised; None where all are shrunk."""
        return None if self.structure is None else self.structure.unpenalized

    @property
    def hyper(self) -> Hyper:
        """The prior of the scales."""
        return Hyper(self.prior, self.lambda_power, self.tau, self.slab2, self.size)

    @property
    def slab2(self) -> float:
        """The square of the slab, the narrower one if the prior has one too."""
        return min(self.slab, getattr(self.prior, "slab", math.inf)) ** 2


@dataclass(frozen=True, eq=False)
class Prepared:
    """The data on the scale on which the prior acts, and the way back.

    ``units`` are those of the shrunk columns, ``all_units`` those of all columns that are fitted, unpenalised
    ones included, and ``all_spread`` the standard deviations of all these.
    """

    design: Standardised
    response: ScaledResponse
    offset: Vector
    units: Units
    all_units: Units
    all_spread: Vector
    groups: Groups | None

    @lazy
    def problem(self) -> LeastSquares:
        """The least-squares problem of explaining the response, each row with its sample weight."""
        values = self.response.values
        top = float(np.abs(values).max(initial=0.0))
        if top > FARTHEST:  # levels may have any size: of such y only the order counts
            values = np.ldexp(values, -int(np.frexp(top)[1]))
        return self.design.problem(values)


def prepare(spec: ModelSpec, rows: Sequence[Rows]) -> tuple[Prepared, ...]:
    """Return the columns and each response to them on the scale on which the prior acts.

    The columns are standardised and held once. Where y = eta + noise, the offset is taken off y, and y is in
    units of its spread; it is centred only where that is all an intercept means.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> rows = Rows(Dense(np.arange(4.0)[:, None]), np.array([1.0, 3.0, 1.0, 3.0]), None, np.zeros(4))
    >>> prepare(ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()), [rows])[0].response.values
    array([-1.,  1., -1.,  1.])
    """
    before, design = _standardised(spec, rows[0])
    return tuple([_with_response(spec, before, design, one) for one in rows])


def _standardised(spec: ModelSpec, rows: Rows) -> tuple[Standardised, Standardised]:
    """Return all columns, and what is left of the penalised ones once the others are projected out."""
    family, center = spec.family, spec.fit_intercept
    centred = center or not family.has_intercept
    before = design = standardise(rows.columns, rows.weights, center=centred, scale=spec.standardize)
    unpenalized = spec.unpenalized
    if unpenalized is not None:
        design = project_out(design, unpenalized, rows.columns, center=center, scale=spec.standardize)
        coupling = family.coupling(rows.y, rows.offset)
        if coupling is not None:
            check_identifiable(before, unpenalized, rows.columns, coupling, family.total(rows.y, rows.counts))
    factor = None if spec.structure is None else spec.structure.prior_scale
    return before, design if factor is None else design.scaled(factor[design.kept])


def _with_response(spec: ModelSpec, before: Standardised, design: Standardised, rows: Rows) -> Prepared:
    """Return the design with a response in units of its spread."""
    family, center = spec.family, spec.fit_intercept
    unpenalized = spec.unpenalized
    response, offset = ScaledResponse(0.0, 1.0, rows.y), rows.offset
    if family.is_location:
        left, offset = rows.y - rows.offset, np.zeros_like(rows.offset)
        response = standardise_response(left, rows.weights, center, rows.number)
        if response.unit > 0.0 and not family.constant_weights:
            unit = family.scale(left, rows.counts) or response.unit  # 0 if y is constant, but not 0
            refuse_unit(unit, left, rows.number)
            response = ScaledResponse(0.0, unit, left / unit)
            _refuse_far(left, unit, rows.number)
        elif unpenalized is not None:
            response, design = residual_response(response, design)
    level = response.level + rows.level
    units = Units(design.kept, design.mean, design.scale, level, response.unit, center)
    label = None if spec.structure is None else spec.structure.feature_groups
    groups = None if label is None else grouped(label[design.kept])
    whole, spread = units, design.spread
    if unpenalized is not None:
        whole = all_units_of(units, before, unpenalized)
        spread = before.spread[whole.kept[before.kept]]
    whole.refuse_extremes(rows.columns)
    return Prepared(design, response, offset, units, whole, spread, groups)


def _refuse_far(values: Vector, unit: float, number: Any) -> None:
    """Refuse outliers whose squares, in units of the robust scale of y, are out of range."""
    row = int(np.argmax(np.abs(values)))
    if abs(values[row]) > FARTHEST * unit:
        raise ValueError(
            f"y in row {row if number is None else number[row]} is {values[row]:g} (less its offset, if "
            f"there is one), {abs(values[row] / unit):.0e} times the typical deviation of y: mend or remove "
            "that row"
        )


def known_sigma2(spec: ModelSpec, units: Units) -> str | float:
    """Return what is known of sigma2 in units of the response's; families without one have 1."""
    if not spec.family.has_dispersion:
        return 1.0
    return spec.sigma2 if isinstance(spec.sigma2, str) else units.from_sigma2(spec.sigma2)


def check_rows_fingerprint(
    checkpoint: CheckpointSection, settings: dict[str, Any], rows: Rows, design: Standardised, *more: Any
) -> None:
    """Refuse a checkpoint that belongs to other settings or other rows.

    Of columns that are read in parts, one more pass would be dear: there the first and the last part stand
    for them, and means and spreads, which are known by now.
    """
    known = (design.mean, design.spread, rows.y, rows.counts, rows.offset)
    checkpoint.check_fingerprint(settings, *rows.columns.digest(brief=True), *known, *more)
