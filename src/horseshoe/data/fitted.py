"""A fit in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Covariance, FitResult, Mask, Matrix, Vector
from horseshoe.data.standardise import Units
from horseshoe.data.structure import Structure
from horseshoe.data.view import View
from horseshoe.linalg import scatter
from horseshoe.threads import one_thread


@dataclass(frozen=True)
class Fitted:
    """A fit in the user's units; ``lambda2`` and ``tau2`` on the scale on which the prior acts.

    ``covariance`` is that of the coefficients of columns, and of y, divided by 2^powers: never out of range.
    ``aliases`` tells for which tied columns a column stands; ``hyper`` and ``cutoff`` are the prior of the
    scales and the size below which a coefficient is zero; ``structure`` is what was known of the columns.
    """

    coef: Vector
    std: Vector
    intercept: float
    sigma2: float
    lambda2: Vector
    kappa: Vector
    scale: Vector
    center: Vector
    intercept_variance: float
    covariance: Covariance | None
    powers: tuple[NDArray[np.int32], int]
    family: Any
    result: FitResult
    aliases: dict[int, tuple[int, ...]] = field(default_factory=dict)
    hyper: Any = None
    cutoff: float | None = None
    structure: Structure | None = None

    @property
    def n_fitted(self) -> int:
        """The number of columns that could be selected: those that vary, one of each tied set."""
        others = 0 if self.unpenalized is None else int(self.unpenalized.sum())
        return int(self.result.active.size) - others - sum(len(tied) for tied in self.aliases.values())

    @property
    def unpenalized(self) -> Any:
        """Which columns are always in; None where none is."""
        return None if self.structure is None else self.structure.unpenalized

    @property
    def groups(self) -> Any:
        """The number of each column's group; None where each is its own."""
        return None if self.structure is None else self.structure.feature_groups

    @property
    def group_sizes(self) -> Vector:
        """How many columns each group has that could be selected; 1 for each of them without groups."""
        label = self.groups
        if label is None:
            return np.ones(self.n_fitted)
        fitted = self.scale > 0.0 if self.unpenalized is None else (self.scale > 0.0) & ~self.unpenalized
        fitted[[j for tied in self.aliases.values() for j in tied]] = False
        sizes: Vector = np.bincount(label[fitted]).astype(np.float64)
        return sizes[sizes > 0.0]

    @one_thread()
    def linear_predictor(self, columns: View) -> Vector:
        """Return intercept + X b."""
        support = self.coef != 0.0
        return np.asarray(columns.take(support).matvec(self.coef[support]) + self.intercept)

    @one_thread()
    def predictor_variance(self, columns: View) -> Vector:
        """Return the variance of the linear predictor: of the coefficients and of the intercept."""
        variance = np.full(columns.shape[0], self.intercept_variance)
        if self.covariance is not None:
            support = self.coef != 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                rows = columns.take(support).dense() - self.center[support]
                variance += self._variance(rows, support)
            refuse_far_rows(variance)
        return np.asarray(np.maximum(variance, 0.0))

    @property
    def intercept_std(self) -> float:
        """The standard deviation of the intercept: of the linear predictor where every column is zero.

        It is infinite where that is too far from the data for its square to be written as a float.
        """
        variance = self.intercept_variance
        if self.covariance is not None and variance > 0.0:  # without an intercept it is known to be zero
            support = self.coef != 0.0
            with np.errstate(over="ignore", invalid="ignore"):
                variance += float(self._variance(-self.center[None, support], support)[0])
        return float(np.sqrt(max(variance, 0.0))) if np.isfinite(variance) else np.inf

    def _variance(self, away: Matrix, support: Mask) -> Vector:
        """Return the variance of the selected coefficients' part of the predictor, so far from the centre."""
        assert self.covariance is not None
        bounded = self.covariance.quadratic(np.ldexp(away, -self.powers[0][support]))
        return np.asarray(np.ldexp(bounded, 2 * self.powers[1]))


def refuse_far_rows(variance: Vector) -> None:
    """Refuse new rows so far from the data that the variance of their prediction is no float.

    Examples
    --------
    >>> refuse_far_rows(np.array([1.0, np.inf]))
    Traceback (most recent call last):
    ValueError: row 1 of X is so far from the data of the fit that the variance of its prediction cannot be \
written as a float: look at the units of its columns
    """
    finite = np.isfinite(variance)
    if not finite.all():
        raise ValueError(
            f"row {int(np.argmin(finite))} of X is so far from the data of the fit that the variance of its "
            "prediction cannot be written as a float: look at the units of its columns"
        )


def restore(
    result: FitResult,
    units: Units,
    spread: Vector,
    family: Any,
    aliases: dict[int, tuple[int, ...]] | None = None,
    hyper: Any = None,
    cutoff: float | None = None,
) -> Fitted:
    """Return a fit in the user's units, with the constant columns in their places.

    ``spread`` are the root mean squares of the columns that vary; the rest is as in `Fitted`.
    """
    sigma2, has_intercept = result.scales.sigma2, units.has_intercept
    information = sigma2 / result.intercept_variance if result.intercept_variance > 0.0 else np.inf
    lambda2, powers = units.places(result.scales.lambda2), units.powers
    with np.errstate(invalid="ignore"):  # tau2 is infinite where it has no bound and nothing was fitted
        prior_variance = np.where(result.scales.lambda2 > 0.0, result.scales.prior_variance, 0.0)
    covariance, intercept = result.covariance, float(units.intercept(result.intercept, result.coef))
    if hasattr(family, "with_intercept_absorbed"):  # ordinal: thresholds take its place
        family, intercept = family.with_intercept_absorbed(intercept), 0.0
    return Fitted(
        coef=units.coef(result.coef),
        std=units.coef(_std(result)),
        intercept=intercept,
        sigma2=units.sigma2(sigma2) if family.has_dispersion else 1.0,
        lambda2=lambda2,
        kappa=1.0 / (1.0 + information * units.places(prior_variance)),
        scale=units.places(spread),
        center=units.center(result.center),
        intercept_variance=units.sigma2(result.intercept_variance) if has_intercept else 0.0,
        covariance=None if covariance is None else units.bounded_covariance(covariance, result.support),
        powers=(units.places(powers[0]), powers[1]),
        family=family,
        result=result,
        aliases={} if aliases is None else aliases,
        hyper=hyper,
        cutoff=cutoff,
    )


def _std(result: FitResult) -> Vector:
    """Return the standard deviations of the coefficients that are not zero, given the scales."""
    if not result.at_information or result.covariance is None:
        return np.where(result.support, np.sqrt(result.moments.variance), 0.0)
    out: Vector = scatter(result.support, np.sqrt(result.covariance.variance))
    return out


def rescale(result: FitResult, units: Units) -> FitResult:
    """Return a fit of standardised data as a fit of the data themselves, in which nothing was centred."""
    moments, covariance = result.moments, result.covariance
    return replace(
        result,
        coef=units.coef(result.coef),
        scales=result.scales._replace(sigma2=units.sigma2(result.scales.sigma2)),
        moments=moments._replace(
            mean=units.coef(moments.mean),
            variance=units.sigma2(moments.variance),
            expected_rss=units.sigma2(moments.expected_rss),
        ),
        covariance=None if covariance is None else units.covariance(covariance, result.support),
        intercept_variance=0.0,
    )
