"""The dual E-step for the first iterations of a wide problem, where most columns only fade.

While p > n, an exact E-step costs two cubic operations on every column: its part in M = I + X D X', and its
leverage q_j = d_j x_j'M^-1 x_j. But E[b_j^2] changes by the factor (1 - q_j + g_j) / (2A), g_j = E[b_j]^2 /
(sigma2 d_j), and where both are small the column needs neither exactly. Such columns rest:

- their joint part in M is kept as one matrix K, multiplied at each iteration by the factor by which the sum
  of their d_j ||x_j||^2 changes;
- the residual M^-1 z is then refined with the true D, so means and gains stay exact;
- their leverages keep their proportions, and their sum is known: tr(I - M^-1) less that of the others.

A column wakes when its leverage or its gain grows, or when its part in K has drifted from the truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier._types import Mask, Moments, Vector
from farrier.conditional.engines import ALONE, Context, Dual
from farrier.data.design import System, columns
from farrier.em.fast.fading import MatrixBackground, Size, add_columns

REST_LIMIT, WAKE_LIMIT = 0.03, 0.08
"""A column goes to rest when leverage and gain are below the first limit, and wakes above the second."""
SETTLED_LIMIT, SETTLED_FADING = 0.05, 0.7
"""The first limit when the d_j of those that rest fall by this factor or more: then none will soon wake."""
DRIFT_LIMIT = 0.2
"""A column also wakes when its part in K is off by this share of itself."""
LARGE = 100_000
"""Number of entries of X from which it pays to let columns rest."""
WORTHWHILE = 0.15
"""Columns go to rest together when they are this share of those awake."""
REFINEMENTS = 1


class LazyDual:
    """A dual engine that remembers which columns rest: one for each fit, on one system."""

    exact = False

    def __init__(self, system: System) -> None:
        self._dual = Dual(single=True)
        self.awake: Mask = np.ones(system.n_columns, dtype=np.bool_)
        self._x: Any = system.x.astype(np.float32)
        self._part = System(self._x, system.z, system.size)  # the columns that are awake
        self._k: Any = None
        self._in_k = np.zeros(system.n_columns)  # d_j as it stands in K
        self._unit_leverage = system.column_ss.copy()  # q_j / d_j
        self._fading = 1.0  # by which the d_j of those that rest changed

    @property
    def n_awake(self) -> int:
        """Number of columns that do not rest."""
        return int(self.awake.sum())

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ALONE
    ) -> Moments:
        """Return the moments of all columns, those that rest included."""
        d, awake = prior_variance, self.awake
        self._follow(d * system.column_ss, system.column_ss)
        factor, blocks = self._dual.factorise(self._part, d[awake], self._k)
        leverage = d * self._unit_leverage
        leverage[awake] = self._dual.leverages(factor, blocks)
        trace = self._share_out(leverage, factor)
        residual = self._residual(system, d, factor)
        mean = d * (self._x.T @ residual)
        moments = Moments(
            mean=mean,
            variance=sigma2 * d * np.maximum(1.0 - leverage, 0.0),
            expected_rss=float(residual @ residual) + sigma2 * trace,
            fit_trace=trace,
            log_det=None,
        )
        np.divide(leverage, d, out=self._unit_leverage, where=d > 0.0)
        gain = np.divide(mean * mean, sigma2 * d, out=np.zeros_like(d), where=d > 0.0)
        self._rest_and_wake(system, d, np.maximum(leverage, gain))
        return moments

    def background(self, system: System, keep: Mask, share: Vector) -> MatrixBackground:
        """Return sum_j share_j x_j x_j' over the columns not in ``keep``; most of it is in K already."""
        leaving = ~keep
        self._add_to_k(keep & ~self.awake, self._in_k, sign=-1.0)
        resting = leaving & ~self.awake
        if self._k is not None and resting.any():
            weight = system.column_ss[resting]
            self._k *= np.float32(share[resting] @ weight / (self._in_k[resting] @ weight))
        self._add_to_k(leaving & self.awake, share)
        return MatrixBackground(Size(0.0, 0.0).plus((share * system.column_ss)[leaving]), self._k)

    def _follow(self, weight: Vector, column_ss: Vector) -> None:
        """Let K change as the sum of the d_j ||x_j||^2 in it does."""
        if self._k is not None:
            asleep = ~self.awake
            factor = float(weight[asleep].sum() / (self._in_k[asleep] @ column_ss[asleep]))
            self._k *= np.float32(factor)
            self._in_k *= factor
            self._fading = factor

    def _share_out(self, leverage: Vector, factor: Any) -> float:
        """Scale the leverages of those that rest to their known sum; return the sum of all."""
        if self._k is None:
            return float(leverage.sum())
        asleep, trace = ~self.awake, self._dual.trace(factor)
        left = max(trace - float(leverage[self.awake].sum()), 0.0)
        leverage[asleep] *= left / leverage[asleep].sum()
        return trace

    def _residual(self, system: System, d: Vector, factor: Any) -> Any:
        """Return M^-1 z, with the factor of a nearby M as the preconditioner."""
        target, weight = system.z.astype(np.float32), d.astype(np.float32)
        residual, error = np.zeros_like(target), target
        for step in range(REFINEMENTS + 1):
            residual = residual + self._dual.potrs(factor, error, lower=1)[0]
            if step < REFINEMENTS:
                error = target - residual - self._x @ (weight * (self._x.T @ residual))
        return residual

    def _rest_and_wake(self, system: System, d: Vector, activity: Vector) -> None:
        """Decide who rests in the next iteration; both are worth a copy only if they are many."""
        drifted = np.abs(d - self._in_k) > DRIFT_LIMIT * self._in_k
        waking = ~self.awake & ((activity > WAKE_LIMIT) | drifted)
        limit = SETTLED_LIMIT if self._fading < SETTLED_FADING else REST_LIMIT
        resting = self.awake & (activity < limit)
        if resting.sum() < WORTHWHILE * self.awake.sum():
            resting[:] = False
        if not (waking.any() or resting.any()):
            return
        self._add_to_k(waking, self._in_k, sign=-1.0)
        self._add_to_k(resting, d)
        self._in_k[waking], self._in_k[resting] = 0.0, d[resting]
        self.awake = (self.awake | waking) & ~resting
        self._part = System(columns(self._x, self.awake), system.z, system.size)

    def _add_to_k(self, chosen: Mask, weight: Vector, sign: float = 1.0) -> None:
        """Add sign * sum_j weight_j x_j x_j' to K."""
        if chosen.any():
            self._k = add_columns(self._k, self._x, chosen, weight[chosen], sign)
