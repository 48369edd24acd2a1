"""To the scale on which the prior acts, and back: the only place of units.

The prior acts on columns of mean 0 and mean square 1, and on a response in units of its own spread:

    response = level + unit * values,        column j = mean_j + scale_j * x_j,

so a coefficient of the user is unit / scale_j times one of the prior's scale, and the intercept gives up what
the centred columns took from it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Covariance, Mask, Vector
from horseshoe.data.adjusted import Free
from horseshoe.data.columns import column_label, within
from horseshoe.data.dense import Dense
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.view import View
from horseshoe.linalg import scatter

# Below this share of the variance of y the noise variance changes no coefficient by more than rounding.
SIGMA2_FLOOR = 1e-12
# So many times the variance of y cannot be its noise, and would soon be out of range.
SIGMA2_CEILING = 1e200


# The spread of y is between these, about 1e-152 and 1e152: its square can be written as a float.
UNIT_OF_Y = 2.0**-505, 2.0**505
# A coefficient, and the spread of a column, can be written with all digits between these, with room.
WRITABLE = 2.0**-950, 2.0**950
# Columns that are not standardised have a spread between these: the prior acts on them as they are.
UNSCALED = 1e-12, 1e12


class Standardised(NamedTuple):
    """The columns that vary, on the scale on which the prior acts.

    ``mean`` and ``scale`` are what was taken off them; ``spread`` are their root mean squares, ``kept`` tells
    which of the user's columns they are, and ``weights`` are those of the rows; ``free`` is what was
    projected out of them.
    """

    columns: View
    kept: Mask
    mean: Vector
    scale: Vector
    spread: Vector
    weights: Vector | None
    free: Free | None = None

    @property
    def total_weight(self) -> float:
        """The sum of the weights, less one for each column that is projected out: the n of the paper."""
        if self.free is not None:
            return self.free.total_weight - float(self.free.basis.shape[1])
        return float(self.columns.shape[0]) if self.weights is None else float(self.weights.sum())

    @property
    def unit(self) -> Vector | None:
        """The spread of each column as the prior sees it, as a power of two; None where all are 1."""
        if self.scale is self.spread:
            return None
        unit: Vector = np.exp2(np.rint(np.log2(self.spread / self.scale)))
        return None if np.all(unit == 1.0) else unit

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
            free=None if self.free is None else self.free.take(keep),
        )

    def scaled(self, factor: Vector) -> Standardised:
        """Return the columns times ``factor``: their coefficients have so many times the prior deviation."""
        free = None if self.free is None else self.free._replace(loads=self.free.loads * factor)
        return self._replace(
            columns=self.columns.scaled(factor).formed(), scale=self.scale / factor, free=free
        )

    def problem(self, targets: Vector) -> LeastSquares:
        """Return the least-squares problem of explaining ``targets``; rows are weighted once and for all."""
        if self.weights is None:
            out = LeastSquares(self.columns, Targets(targets, self.total_weight))
        else:
            root = np.sqrt(self.weights)
            out = LeastSquares(self.columns.reweighted(root), Targets(targets * root, self.total_weight))
        if self.columns.remote and self.free is None:  # no pass for what is known
            out.__dict__["squares"] = self.total_weight * (self.spread / self.scale) ** 2
        return out


def standardise(columns: View, weights: Vector | None, *, center: bool, scale: bool) -> Standardised:
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
    if not scale:
        _refuse_unscaled(columns, kept, spread)
    return Standardised(
        part, kept, found.mean[kept], spread if scale else np.ones_like(spread), spread, weights
    )


def _refuse_unscaled(columns: View, kept: Mask, spread: Vector) -> None:
    low, high = UNSCALED
    if within(spread, low, high):
        return
    j = int(np.argmax((spread < low) | (spread > high)))
    raise ValueError(
        f"{column_label(columns, int(np.flatnonzero(kept)[j]))} of X has a standard deviation of "
        f"{spread[j]:.3g}, which is too {'small' if spread[j] < low else 'large'} to compute with: change "
        "its unit, or leave standardize=True"
    )


class ScaledResponse(NamedTuple):
    """The response on the scale of the prior: level + unit * values."""

    level: float
    unit: float
    values: Vector


def standardise_response(
    values: Vector, weights: Vector | None, center: bool, number: Any = None
) -> ScaledResponse:
    """Return the response less its mean, in units of its root mean square; the unit is 0 if it is constant.

    ``number`` says which rows of the user's these are, for the error if their unit is out of range.

    Examples
    --------
    >>> standardise_response(np.array([1.0, 3.0, 1.0, 3.0]), None, center=True)
    ScaledResponse(level=2.0, unit=1.0, values=array([-1.,  1., -1.,  1.]))
    """
    column, found = Dense(values[:, None]).standardised(weights, center, scale=True)
    if not found.varies[0]:
        return ScaledResponse(_middle(values, weights) if center else 0.0, 0.0, np.zeros_like(values))
    unit = float(found.spread[0])
    refuse_unit(unit, values, number)
    return ScaledResponse(float(found.mean[0]), unit, column.dense()[:, 0])


def _middle(values: Vector, weights: Vector | None) -> float:
    """Return the mean of a response that is constant but for rounding."""
    power = int(np.frexp(np.abs(values).max())[1])  # or the sum of large values would overflow
    power = power if abs(power) > 900 else 0
    scaled = np.ldexp(values, -power)
    return math.ldexp(float(scaled.mean() if weights is None else weights @ scaled / weights.sum()), power)


def refuse_unit(unit: float, values: Vector, number: Any = None) -> None:
    """Refuse a response whose variance cannot be written as a float; say in which row it is the largest.

    Examples
    --------
    >>> refuse_unit(1e200, np.array([0.0, 2e200]))
    Traceback (most recent call last):
    ValueError: y in row 1 is 2e+200: in this unit the variance of y is too large to be written as a float, \
so rescale y, such as by 1e-200
    """
    low, high = UNIT_OF_Y
    if not low <= unit <= high:
        row = int(np.argmax(np.abs(values)))
        raise ValueError(
            f"y in row {row if number is None else number[row]} is {values[row]:g}: in this unit the "
            f"variance of y is too {'small' if unit < low else 'large'} to be written as a float, so rescale "
            f"y, such as by 1e{-round(math.log10(unit)):+03d}"
        )


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
        if sigma2 / SIGMA2_CEILING > self.unit**2:
            raise ValueError(
                f"sigma2={sigma2:g} is more than {SIGMA2_CEILING:g} times the squared spread of y, which is "
                f"{self.unit:.3g}: give the variance of the noise in the squared unit of y"
            )
        return max(sigma2 / self.unit**2, SIGMA2_FLOOR)

    @property
    def powers(self) -> tuple[Any, int]:
        """Of two: the columns divided by the first, and y by the second, have a spread near 1."""
        return np.frexp(self.scale)[1], math.frexp(self.unit)[1]

    def covariance(self, covariance: Covariance, of: Mask) -> Covariance:
        """Return the covariance of the coefficients ``of`` the columns that vary."""
        return covariance.rescale((self.unit / self.scale)[of])

    def bounded_covariance(self, covariance: Covariance, of: Mask) -> Covariance:
        """Return the same for columns and y divided by 2^powers: squares of user units may be no floats.

        Powers of two change no digit.
        """
        scale, unit = np.frexp(self.scale[of])[0], math.frexp(self.unit)[0]
        return covariance.rescale(unit / scale)

    def refuse_extremes(self, columns: View) -> None:
        """Refuse units in which a coefficient cannot be written as a float, by the name of its column."""
        (low, high), unit, scale = WRITABLE, self.unit, self.scale
        if unit == 0.0 or within(scale, max(low, unit / high), unit / low):
            return
        with np.errstate(over="ignore", under="ignore", divide="ignore"):  # a spread may be rounded to zero
            ratio = unit / scale
        small, large = ratio < low, (ratio > high) | (scale < low)
        if not (small | large).any():
            return
        j = int(np.argmax(small | large))
        raise ValueError(
            f"{column_label(columns, int(np.flatnonzero(self.kept)[j]))} of X has a standard deviation of "
            f"{scale[j]:.3g}, and y one of {unit:.3g}: a coefficient between them is too "
            f"{'small' if small[j] else 'large'} to be written as a float, so change the unit of one"
        )

    def center(self, center: Vector) -> Any:
        """Return a point among the standardised columns as the user sees it."""
        return self.places(self.mean + self.scale * center)

    def from_coef(self, coef: Vector) -> Vector:
        """Return the user's coefficients, or standard deviations, on the prior's scale."""
        return np.asarray(coef[self.kept] * (self.scale / self.unit))

    def from_intercept(self, intercept: float, coef: Vector) -> float:
        """Return the user's intercept on the prior's scale; ``coef`` are the user's."""
        return (intercept + float(self.mean @ coef[self.kept]) - self.level) / self.unit
