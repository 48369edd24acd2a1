"""To the scale on which the prior acts, and back: the only place of units.

The prior acts on columns of mean 0 and mean square 1, and on a response in units of its own spread:

    response = level + unit * values,        column j = mean_j + scale_j * x_j,

so a coefficient of the user is unit / scale_j times one of the prior's scale, and the intercept gives up what
the centred columns took from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from farrier._types import Covariance, Mask, Vector
from farrier.data.columns import Columns
from farrier.data.dense import Dense
from farrier.data.problem import LeastSquares, Targets
from farrier.linalg import scatter

SIGMA2_FLOOR = 1e-12
"""Below this share of the variance of y the noise variance changes no coefficient by more than rounding."""


class Standardised(NamedTuple):
    """The columns that vary, on the scale on which the prior acts.

    ``mean`` and ``scale`` are what was taken off them; ``spread`` are their root mean squares, ``kept`` tells
    which of the user's columns they are, and ``weights`` are those of the rows.
    """

    columns: Columns
    kept: Mask
    mean: Vector
    scale: Vector
    spread: Vector
    weights: Vector | None

    @property
    def total_weight(self) -> float:
        """The sum of the weights: the n of the paper."""
        return float(self.columns.shape[0]) if self.weights is None else float(self.weights.sum())

    def take(self, keep: Mask) -> Standardised:
        """Return some of the columns that vary."""
        kept = self.kept.copy()
        kept[kept] = keep
        return self._replace(
            columns=self.columns.take(keep),
            kept=kept,
            mean=self.mean[keep],
            scale=self.scale[keep],
            spread=self.spread[keep],
        )

    def problem(self, targets: Vector) -> LeastSquares:
        """Return the least-squares problem of explaining ``targets``; rows are weighted once and for all."""
        if self.weights is None:
            return LeastSquares(self.columns, Targets(targets, self.total_weight))
        root = np.sqrt(self.weights)
        return LeastSquares(self.columns.reweighted(root), Targets(targets * root, self.total_weight))


def standardise(columns: Columns, weights: Vector | None, *, center: bool, scale: bool) -> Standardised:
    """Centre and scale the columns and leave out those that do not vary.

    A column is constant when its spread is within the rounding error of its mean; without centring, when
    it is zero. The input is not modified.

    Examples
    --------
    >>> x = standardise(Dense(np.array([[1.0, 5.0], [3.0, 5.0]])), None, center=True, scale=True)
    >>> x.columns.dense(), x.kept, x.mean, x.scale
    (array([[-1.],
           [ 1.]]), array([ True, False]), array([2.]), array([1.]))
    """
    part, found = columns.standardised(weights, center, scale)
    kept = found.varies
    spread = found.spread[kept]
    return Standardised(
        part, kept, found.mean[kept], spread if scale else np.ones_like(spread), spread, weights
    )


class ScaledResponse(NamedTuple):
    """The response on the scale of the prior: level + unit * values."""

    level: float
    unit: float
    values: Vector


def standardise_response(values: Vector, weights: Vector | None, center: bool) -> ScaledResponse:
    """Return the response less its mean, in units of its root mean square; the unit is 0 if it is constant.

    Examples
    --------
    >>> standardise_response(np.array([1.0, 3.0, 1.0, 3.0]), None, center=True)
    ScaledResponse(level=2.0, unit=1.0, values=array([-1.,  1., -1.,  1.]))
    """
    column = standardise(Dense(values[:, None]), weights, center=center, scale=True)
    if not column.kept[0]:
        middle = float(values.mean() if weights is None else weights @ values / weights.sum())
        return ScaledResponse(middle if center else 0.0, 0.0, np.zeros_like(values))
    return ScaledResponse(float(column.mean[0]), float(column.scale[0]), column.columns.dense()[:, 0])


class Units(NamedTuple):
    """The way between the prior's scale and the user's; arrays may have more axes before the last."""

    kept: Mask
    mean: Vector
    scale: Vector
    level: float
    unit: float
    has_intercept: bool

    def places(self, values: Any) -> Any:
        """Return what is said of the columns that vary in the places of all; zero for the others."""
        return values if self.kept.all() else scatter(self.kept, values)

    def coef(self, coef: Any) -> Any:
        """Return coefficients, or their standard deviations, in the user's units."""
        return self.places(coef * (self.unit / self.scale))

    def intercept(self, intercept: Any, coef: Any) -> Any:
        """Return the intercept that goes with coefficients on the prior's scale."""
        if not self.has_intercept:
            return np.zeros_like(intercept)
        return self.level + self.unit * intercept - (coef * (self.unit / self.scale) * self.mean).sum(axis=-1)

    def sigma2(self, sigma2: Any) -> Any:
        """Return a noise variance in the user's units."""
        return sigma2 * self.unit**2

    def from_sigma2(self, sigma2: float) -> float:
        """Return the user's noise variance on the prior's scale, above what rounding would make of zero."""
        return max(sigma2 / self.unit**2, SIGMA2_FLOOR)

    def covariance(self, covariance: Covariance, of: Mask) -> Covariance:
        """Return the covariance of the coefficients ``of`` the columns that vary."""
        return covariance.rescale((self.unit / self.scale)[of])

    def center(self, center: Vector) -> Any:
        """Return a point among the standardised columns as the user sees it."""
        return self.places(self.mean + self.scale * center)

    def from_coef(self, coef: Vector) -> Vector:
        """Return the user's coefficients, or standard deviations, on the prior's scale."""
        return np.asarray(coef[self.kept] * (self.scale / self.unit))

    def from_intercept(self, intercept: float, coef: Vector) -> float:
        """Return the user's intercept on the prior's scale; ``coef`` are the user's."""
        return (intercept + float(self.mean @ coef[self.kept]) - self.level) / self.unit
