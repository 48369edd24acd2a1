"""The values that pass between the parts: named tuples of constant shape, and the status of a fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]


class HasShape(Protocol):
    """What holds an array without being one: a data frame, a sparse matrix, a Dask array, genotypes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and of columns if there are several."""


# X: NumPy, pandas, polars, scipy.sparse or Dask, a memory map, or what bed-reader opens.
MatrixLike = ArrayLike | HasShape
# A number for each row; of y it may have a column for each response.
VectorLike = ArrayLike | HasShape
# What may be said of each row, or not.
PerRow = VectorLike | None
# Columns of X by number or by name.
FilePath = str | PathLike[str]
Seed = int | np.random.Generator | np.random.RandomState | None
VariableList = Sequence[int | str] | NDArray[Any]
FeatureGroups = Sequence[Hashable] | NDArray[Any] | Mapping[Any, Sequence[int | str]]
PriorScale = ArrayLike | Mapping[int, float] | Mapping[str, float]


class Moments(NamedTuple):
    """The moments of the coefficients given the scales, as an E-step finds them.

    ``error`` is that of the variances in units of their prior ones, root mean square, if they are estimates.
    ``expected_rss`` is E||z - X b||^2 and ``fit_trace`` its part tr(X'X Cov[b]) / sigma2. ``log_det`` is
    log det(I + X D X'), or None where the engine approximates. ``fading_growth`` is the factor by which
    E[b^2] of the columns that fade changes before the next M-step. ``predictor`` is the intercept and the
    linear predictor that go with the mean, where the E-step has found them. Several responses have matrices
    with a column for each, and a vector ``expected_rss``.
    """

    mean: Any
    variance: Any
    expected_rss: Any
    fit_trace: float
    log_det: float | None
    fading_growth: float = 1.0
    error: float | None = None
    predictor: Any = None

    @property
    def second_moment(self) -> Any:
        """E[b_j^2] = Var[b_j] + E[b_j]^2, Eq. (8)."""
        return self.variance + self.mean * self.mean

    def take(self, keep: Mask) -> Moments:
        """Return the moments of the columns in ``keep``."""
        return self._replace(mean=self.mean[keep], variance=self.variance[keep])


class Scales(NamedTuple):
    """The hyperparameters: local scales, global scale, noise variance; and the slab, which is known.

    Within the loop several responses have a vector of noise variances.
    """

    lambda2: Vector
    tau2: float
    sigma2: Any
    slab2: float = math.inf

    @property
    def prior_variance(self) -> Vector:
        """tau2 * lambda2_j within the slab: the prior variance of b_j in units of sigma2."""
        bare = self.tau2 * self.lambda2
        return bare if self.slab2 == math.inf else within_slab(bare, self.slab2)

    def take(self, keep: Mask) -> Scales:
        """Return the scales of the columns in ``keep``."""
        return self._replace(lambda2=self.lambda2[keep])


def within_slab(variance: Vector, slab2: float) -> Vector:
    """Return prior variances with the precision of a slab, 1 / slab2, added to theirs.

    Examples
    --------
    >>> within_slab(np.array([0.1, 1e12]), 4.0).round(4)
    array([0.0976, 4.    ])
    """
    return variance if slab2 == math.inf else variance / (1.0 + variance / slab2)


class Start(NamedTuple):
    """The moments with which EM starts; matrices with a column for each of several responses."""

    mean: Any
    second_moment: Any
    expected_rss: Any


class Iteration(NamedTuple):
    """One line of the trace.

    ``objective`` is the negative log marginal posterior of the scales of the active columns, up to a
    constant; it is None where the E-step was not exact in double precision. ``error`` is that of the
    variances where they are estimates (``expectation="conjugate_gradient"``): root mean square, in units of
    the prior variances; None where they are not.
    """

    change: float
    objective: float | None
    tau2: float
    sigma2: float
    n_active: int
    error: float | None = None


class Step(Iteration):
    """What a callback is told: an `Iteration`, and how the fit is doing.

    Attributes
    ----------
    number : int
        Of the iteration, from 1; a fit that goes on from a checkpoint counts on.
    passes : int or None
        How often data that are read in parts were passed over; None of data in memory.
    seconds : float
        Since this part of the fit began.
    seconds_left : float or None
        Until the change is below ``tol``, if it goes on to fall as in the last ten iterations; None where it
        does not fall. A guess: a fit often ends before, and where columns still leave it may slow down.
    """

    number: int
    passes: int | None
    seconds: float
    seconds_left: float | None

    @classmethod
    def of(
        cls, line: Iteration, number: int, passes: int | None, seconds: float, seconds_left: float | None
    ) -> Step:
        """Return an iteration with how the fit is doing."""
        out = cls._make(line)
        out.number, out.passes, out.seconds, out.seconds_left = number, passes, seconds, seconds_left
        return out

    def __str__(self) -> str:
        passes = "" if self.passes is None else f", {self.passes} passes"
        return f"iteration {self.number}, {self.n_active:,} columns{passes}{time_left(self.seconds_left)}"


def time_left(seconds: float | None) -> str:
    """Return the end of a sentence on how long something takes.

    Examples
    --------
    >>> time_left(95.2), time_left(None)
    (', about 0:01:35 left', '')
    """
    return "" if seconds is None else f", about {timedelta(seconds=round(seconds))} left"


class Status(Enum):
    """How a fit ended, and what to try next."""

    CONVERGED = "converged: the coefficients changed by less than tol"
    MAX_ITER = "not converged: max_iter reached; raise max_iter or tol, or look at trace_"
    STOPPED = "stopped by the callback before convergence"
    STALLED = (
        "not converged: the way to the mode is shorter than what rounding leaves of the likelihood; bring "
        "columns, offset and weights to sizes near 1, and keep the intercept"
    )
    UNSETTLED = (
        "not converged: the averages of the draws still move by more than tol; raise tol, or use "
        "expectation='exact'"
    )
    NOTHING_SELECTED = (
        "converged to no variable at all: none is selected, which does not show that none matters"
    )
    NONE_STANDS_OUT = (
        "converged: the columns together predict better than the mean alone, but no few of them stand out; "
        "look at inclusion_ and at the intervals"
    )
    CONSTANT_RESPONSE = "nothing to explain: y is constant, so every coefficient is zero"
    NO_COLUMNS = "nothing to fit: every column of X is constant, so every coefficient is zero"
    BOUNDARY = (
        "y is at the edge of its range in every row (all zero, or one class): no finite intercept fits best, "
        "so every coefficient is zero, and the intercept is that of half a count"
    )
    CHANCE = (
        "converged, but the selection is no clearer than what noise alone would give: compare its size with "
        "expected_by_chance_, ask chance_selection, and try a smaller tau or sample_posterior"
    )
    SEPARATED = (
        "converged, but the fit separates the classes perfectly: the likelihood alone has no maximum, "
        "and the prior decides how large the coefficients are"
    )
    MONOTONE = (
        "converged, but a column or the whole fit orders all events, each of which hits whoever has the "
        "highest risk: the partial likelihood alone has no maximum, and the prior decides how large the "
        "coefficients are, up to hazard ratios of some exp(300)"
    )
    NO_NOISE = (
        "converged, but the noise variance ran towards zero and the fit goes through every row: either y has "
        "no noise, or the prior shrinks too little for so many columns; give sigma2, fix a smaller tau, or "
        "use the horseshoe in lambda power 2"
    )
    REPRODUCED = (
        "converged, but least squares on the selected variables reproduces y to rounding: y was probably "
        "computed from them, or they from y; drop those that are not known before y"
    )
    LIGHT_WEIGHTS = (
        "converged, but weights count rows, and these add up to less than a tenth of the rows: hardly "
        "anything can be selected from so few; if only their proportions matter, use weight_type='precision'"
    )

    def __str__(self) -> str:
        return self.value

    @property
    def converged(self) -> bool:
        """Whether the answer can be used as it stands."""
        return self not in (Status.MAX_ITER, Status.STOPPED, Status.STALLED, Status.UNSETTLED)


Callback = Callable[[Step], Any]


@dataclass(frozen=True)
class FitResult:
    """A fit, on the scale on which the prior acts.

    Attributes
    ----------
    coef : array of shape (p,)
        The posterior mode, exact zeros included.
    intercept : float
        At the column means; zero for Gaussian data, which are centred.
    scales : Scales
        ``lambda2`` has one entry for each column, zero where it was pruned.
    moments : Moments
        Of all columns; zero where they were pruned.
    active : bool array of shape (p,)
        The columns that were still in the E-step at the end.
    status : Status
        How the fit ended.
    tau_at_bound : bool
        Whether tau2 stands at an end of its range: then the data did not estimate it.
    n_iter : int
        Number of E-steps.
    trace : tuple of Iteration
        One entry for each of them.
    covariance : Covariance or None
        Cov[b] of the non-zero coefficients; None where there is none.
    center : array of shape (p,)
        The values of the columns at which the linear predictor is best known.
    intercept_variance : float
        The variance of the linear predictor there.
    at_information : bool
        Whether ``covariance`` comes from the expected information at the mode; ``moments`` are those of the
        last E-step, which may have other weights.
    family : Family or None
        The family with what it estimates beside the coefficients; None where the loop does not change it.
    free : array or None
        Where the linear predictor is best known in the unpenalised columns, until these are in place: then
        the covariance has it behind the columns that are selected, and ``intercept`` may be a vector.
    """

    coef: Vector
    intercept: float
    scales: Scales
    moments: Moments
    active: Mask
    status: Status
    tau_at_bound: bool
    n_iter: int
    trace: tuple[Iteration, ...]
    covariance: Covariance | None
    center: Vector
    intercept_variance: float
    at_information: bool = False
    family: Any = None
    free: Vector | None = None

    def with_status(self, status: Status) -> FitResult:
        """Return the fit with another word on how it ended."""
        return replace(self, status=status)

    @property
    def support(self) -> Mask:
        """Which coefficients are not zero."""
        return np.not_equal(self.coef, 0.0)


@dataclass(frozen=True)
class Covariance:
    """Cov = diag(diagonal) + sign * factor' factor: dense enough to use, never p x p when p > n.

    ``factor`` is square for the primal form and has one row for each observation in the dual form.
    """

    diagonal: Vector
    factor: Matrix
    sign: float

    @property
    def variance(self) -> Vector:
        """The variances."""
        joint: Vector = np.einsum("ij,ij->j", self.factor, self.factor)
        return np.asarray(np.maximum(self.diagonal + self.sign * joint, 0.0))

    def take(self, keep: Mask) -> Covariance:
        """Return the covariance of the columns in ``keep``."""
        return Covariance(self.diagonal[keep], self.factor[:, keep], self.sign)

    def rescale(self, factor: Vector) -> Covariance:
        """Return the covariance of the coefficients times ``factor``."""
        return Covariance(self.diagonal * factor**2, self.factor * factor, self.sign)

    def quadratic(self, rows: Matrix) -> Vector:
        """Return x' Cov x for each row x."""
        spread = rows @ self.factor.T
        joint: Vector = np.einsum("ij,ij->i", spread, spread)
        return np.asarray((rows * rows) @ self.diagonal + self.sign * joint)
