"""The options of the loop, and its state: one immutable value that every step takes and returns.

One response has vectors of shape (k,), several responses or classes have matrices of shape (k, q).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from horseshoe._types import Callback, Mask, Moments, Scales, Vector
from horseshoe.data.problem import LeastSquares
from horseshoe.em.fast.fading import Fading
from horseshoe.em.fast.resting import RestingDual
from horseshoe.priors import Groups
from horseshoe.store.checkpoint import CheckpointSection


class Options(NamedTuple):
    """How to run the loop; `HorseshoeRegressor` says what each does to the answer.

    ``fast`` only makes the same answer cheaper; without it this is plain EM. ``checkpoint`` is where
    the loop saves its state, to resume from there.
    """

    sigma2: float | Vector | str = "estimate"
    expectation: str = "exact"
    tol: float = 1e-5
    max_iter: int = 10_000
    zero_threshold: float | None = None
    fast: bool = True
    callback: Callback | None = None
    random_state: int | np.random.Generator | None = None
    checkpoint: CheckpointSection | None = None

    def section(self, name: str) -> Options:
        """Return the options with the section of this name of the checkpoint."""
        return self if self.checkpoint is None else self._replace(checkpoint=self.checkpoint.section(name))

    @property
    def known_sigma2(self) -> Any:
        """The noise variance, or that of each response, if it is known; otherwise None."""
        return None if isinstance(self.sigma2, str) else self.sigma2


class FastState(NamedTuple):
    """Part of the state of a fit.

    Attributes
    ----------
    sigma2 : float or array of shape (q,)
        The noise variance of the last iteration.
    rate : float
        The factor by which the d_j of a null coefficient, E[b_j^2] / (2 A sigma2), changed in this one.
    pruned : Fading or None
        The covariance of z that columns which were pruned still contribute.
    resting : RestingDual or None
        The engine that freezes columns, if it is in use.
    last_prune : int
        The E-step after which columns last left.
    patience, next_newton : int
        How long to wait after a Newton run that was not safe, and when to try the next.
    """

    sigma2: float
    rate: float = 1.0
    pruned: Fading | None = None
    resting: RestingDual | None = None
    last_prune: int = 0
    patience: int = 2
    next_newton: int = 0

    @property
    def pruned_variance(self) -> float:
        """The mean eigenvalue of that covariance."""
        return 0.0 if self.pruned is None else self.pruned.level


class WorkingPoint(NamedTuple):
    """The point at which working weights and targets are taken.

    Attributes
    ----------
    coef, intercept, eta : arrays
        The coefficients; the intercept, with the other unpenalised coefficients in a vector if there are any;
        and the linear predictor.
    family : Family or None
        The family with the nuisance parameters estimated here.
    fresh : bool
        Whether the weights in use were taken here.
    keeps_weights : bool
        Whether the next iteration uses the same weights again.
    unfinished : float
        What the change of the coefficients does not show: the share of the last step that the line search
        cut off, or how far the intercept moved if that is more.
    n_stalls : int
        The number of last steps in a row of which next to nothing was taken.
    is_loose : bool
        Whether the majoriser is so loose that each EM step is followed by one of Newton's method.
    unit : array of shape (k,), optional
        The standard deviation of each column; None where all are 1.
    next_problem : LeastSquares, optional
        The least-squares problem at a point, this one or not, of which something is computed already.
    """

    coef: Any
    intercept: Any
    eta: Any
    family: Any
    fresh: bool = False
    keeps_weights: bool = False
    unfinished: float = 0.0
    n_stalls: int = 0
    is_loose: bool = False
    unit: Vector | None = None
    next_problem: LeastSquares | None = None

    @property
    def parameters(self) -> Vector:
        """The coefficients and the intercept in one vector."""
        return np.append(self.coef, self.intercept)


class State(NamedTuple):
    """The active columns, their scales and moments, and the working point.

    Attributes
    ----------
    problem : LeastSquares
        The active columns with the working weights and targets.
    point : WorkingPoint
        Where these were taken.
    active : bool array of shape (p,)
        The columns that are still in the E-step.
    mean, second_moment : arrays of shape (k,) or (k, q)
        E[b_j] and E[b_j^2], Eq. (8).
    expected_rss : float or array of shape (q,)
        E||z - X b||^2.
    scales : Scales
        Those of the last M-step.
    moments : Moments, optional
        Those of the last E-step.
    spread_problem : LeastSquares, optional
        The problem that variances come from where that is not ``problem``.
    change : float
        The paper's measure of the last step.
    n_steps : int
        The number of E-steps so far.
    fast : FastState, optional
        What an acceleration remembers.
    groups : Groups, optional
        Which of the active columns share a local scale.
    """

    problem: LeastSquares
    point: WorkingPoint
    active: Mask
    mean: Any
    second_moment: Any
    expected_rss: Any
    scales: Scales
    moments: Moments | None = None
    spread_problem: LeastSquares | None = None
    change: float = float("inf")
    n_steps: int = 0
    fast: FastState | None = None
    groups: Groups | None = None

    def advanced(self, moments: Moments, point: WorkingPoint, fast: FastState | None) -> State:
        """Return the state with the moments of one more E-step."""
        mean, rss, k = moments.mean, moments.expected_rss, self.n_steps + 1
        second, change = moments.second_moment, relative_change(mean, self.mean, point.unit)
        problem, active, scales, base = self.problem, self.active, self.scales, self.spread_problem
        return State(
            problem, point, active, mean, second, rss, scales, moments, base, change, k, fast, self.groups
        )

    def take(self, keep: Mask, point: WorkingPoint | None = None) -> State:
        """Return the state of the columns in ``keep``; ``point`` is the working point without the others."""
        active = self.active.copy()
        active[active] = keep
        base, point = self.spread_problem, point or self.point
        return self._replace(
            problem=self.problem.take(keep),
            point=point if point.unit is None else point._replace(unit=point.unit[keep]),
            active=active,
            mean=self.mean[keep],
            second_moment=self.second_moment[keep],
            scales=self.scales.take(keep),
            moments=None if self.moments is None else self.moments.take(keep),
            spread_problem=None if base is None else base.take(keep),
            groups=None if self.groups is None else self.groups.take(keep),
        )


SCALES = State._fields.index("scales")


def relative_change(mean: Any, before: Any, unit: Vector | None = None) -> float:
    """Return the paper's measure of change: sum |change| / (1 + sum |b|), the largest over the responses.

    ``unit`` are the standard deviations of the columns, by which their coefficients are multiplied.

    Examples
    --------
    >>> relative_change(np.array([1.0, -2.0]), np.array([1.0, 0.0]))
    0.5
    >>> relative_change(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]))
    0.5
    """
    if mean.size == 0:
        return 0.0
    if unit is not None:
        mean, before = (unit * mean.T).T, (unit * before.T).T
    if mean.ndim == 1:
        return float(blas.dasum(mean - before) / (1.0 + blas.dasum(mean)))
    moved, size = (np.add.reduce(np.abs(one), axis=0) for one in (mean - before, mean))
    return float(np.maximum.reduce(moved / (1.0 + size)))
