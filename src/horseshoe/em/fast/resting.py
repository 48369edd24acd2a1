"""The dual E-step for the first iterations of a wide problem, where most columns only fade.

While p > n, an exact E-step costs two cubic operations on every column: its part in M = I + X D X', and its
leverage q_j = d_j x_j'M^-1 x_j. But E[b_j^2] changes by the factor (1 - q_j + g_j) / (2A), g_j = E[b_j]^2 /
(sigma2 d_j), and where both are small the column needs neither exactly. Such columns rest:

- their joint part in M is kept as one matrix K, multiplied at each iteration by the factor by which the sum
  of their d_j ||x_j||^2 changes; where weights move, K is of the columns without weights, and an n x n matrix
  is weighted instead of n x p columns;
- the residual M^-1 z is then refined with the true D, so means and gains stay exact;
- their leverages keep their proportions, and their sum is known: tr(I - M^-1) less that of the others.

A column wakes when its leverage or its gain grows, or when its part in K has drifted from the truth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Moments, Vector
from horseshoe.conditional.dual import Dual
from horseshoe.data.problem import LeastSquares
from horseshoe.data.view import View
from horseshoe.em.fast.fading import MatrixFading, Weight, outer
from horseshoe.em.fast.limits import LIMITS


class RestingDual(NamedTuple):
    """Which columns rest, and what is known of them.

    Attributes
    ----------
    columns : View
        All of them, in the precision of the engine.
    squares : array of shape (k,)
        ||x_j||^2 of the columns without weights.
    awake : bool array of shape (k,)
        Those that do not rest.
    part : View
        They.
    k : array of shape (n, n), or None
        sum_j in_k_j x_j x_j' over those that rest: the lower triangle, without weights.
    in_k : array of shape (k,)
        d_j as it stands in K.
    unit_leverage : array of shape (k,)
        q_j / d_j.
    dtype : type
        The precision: double while M is too large for single.
    rate : float
        By which the d_j of those that rest changed.
    """

    columns: View
    squares: Vector
    awake: Mask
    part: View
    k: Any
    in_k: Vector
    unit_leverage: Vector
    dtype: Any = np.float32
    rate: float = 1.0

    @property
    def n_awake(self) -> int:
        """Number of columns that do not rest."""
        return int(self.awake.sum())

    def moments(self, problem: LeastSquares, d: Vector, sigma2: float) -> tuple[Moments, RestingDual]:
        """Return the moments of all columns, those that rest included, and who rests next."""
        here = self._follow(d)
        awake, light = here.awake, problem.on(here.columns)
        root = np.sqrt(d[awake])
        moving = problem.targets.root is not None
        part = here.part.scaled(root, here.dtype)
        total = part.outer(here.k)
        whole = problem.weigh(total)
        small = here.dtype is np.float64 and _norm(whole) < LIMITS.single_spread
        given = Dual(light, np.sqrt(d), whole, refine=False)
        if moving:  # single precision loses the square root of the condition number only
            weighted = problem.on(here.part.single()).weighted
            part = weighted.scaled(root, np.float32)
        leverage = d * here.unit_leverage
        leverage[awake] = part.leverages(given.factor.astype(np.float32, order="F", copy=False))
        trace = here._share_out(leverage, given)
        residual = _refined(light, given, d)
        mean = np.asarray(d * light.rmatvec(residual), dtype=np.float64)
        rss = float(residual @ residual) + sigma2 * trace
        found = Moments(mean, sigma2 * d * np.maximum(1.0 - leverage, 0.0), rss, trace, None)
        unit = np.divide(leverage, d, out=here.unit_leverage.copy(), where=d > 0.0)
        gain = np.divide(mean * mean, sigma2 * d, out=np.zeros_like(d), where=d > 0.0)
        here = here._replace(unit_leverage=unit)
        after = here._choose_frozen_columns(d, np.maximum(leverage, gain), total if moving else None)
        return found, after._in_single() if small else after

    def fading(self, keep: Mask, share: Vector) -> MatrixFading:
        """Return sum_j share_j x_j x_j' over the columns not in ``keep``; most of it is in K already."""
        leaving = ~keep
        k = self._changed(keep & ~self.awake, self.in_k, -1.0)
        resting = leaving & ~self.awake
        if k is not None and resting.any():
            weight = self.squares[resting]
            k = k * self.dtype(share[resting] @ weight / (self.in_k[resting] @ weight))
        k = self._replace(k=k)._changed(leaving & self.awake, share)
        return MatrixFading(Weight().plus((share * self.squares)[leaving]), k)

    def take(self, keep: Mask) -> RestingDual:
        """Return the engine of the columns in ``keep``; the others are gone."""
        k = self._changed(~keep & ~self.awake, self.in_k, -1.0)
        asleep = (keep & ~self.awake).any()
        return RestingDual(
            self.columns.take(keep),
            self.squares[keep],
            self.awake[keep],
            self.columns.take(keep & self.awake),
            k if asleep else None,
            self.in_k[keep],
            self.unit_leverage[keep],
            self.dtype,
            self.rate,
        )

    def _in_single(self) -> RestingDual:
        """Return the engine in single precision."""
        single = self.columns.single()
        k = None if self.k is None else self.k.astype(np.float32, order="F")
        return self._replace(columns=single, part=single.take(self.awake), k=k, dtype=np.float32)

    def _follow(self, d: Vector) -> RestingDual:
        """Let K change as the sum of the d_j ||x_j||^2 in it does."""
        asleep = ~self.awake
        before = float(self.in_k[asleep] @ self.squares[asleep])
        if self.k is None or before == 0.0:
            return self._replace(k=None)
        factor = float(d[asleep] @ self.squares[asleep]) / before
        return self._replace(k=self.k * self.dtype(factor), in_k=self.in_k * factor, rate=factor)

    def _share_out(self, leverage: Vector, given: Dual) -> float:
        """Scale the leverages of those that rest to their known sum; return the sum of all."""
        if self.k is None:
            return float(leverage.sum())
        asleep, trace = ~self.awake, given.whole_trace
        left = max(trace - float(leverage[self.awake].sum()), 0.0)
        leverage[asleep] *= left / leverage[asleep].sum()
        return trace

    def _choose_frozen_columns(self, d: Vector, activity: Vector, whole: Any = None) -> RestingDual:
        """Decide who rests in the next iteration; both are worth a copy only if they are many.

        ``whole`` is K with those that are awake added, if it is at hand.
        """
        drifted = np.abs(d - self.in_k) > LIMITS.drift * self.in_k
        waking = ~self.awake & ((activity > LIMITS.wake) | drifted)
        limit = LIMITS.rest_settled if self.rate < LIMITS.settled_fading else LIMITS.rest
        resting = self.awake & (activity < limit)
        if resting.sum() < LIMITS.worthwhile * self.awake.sum():
            resting[:] = False
        if not (waking.any() or resting.any()):
            return self
        staying = self.awake & ~resting
        if whole is not None and self.dtype == np.float64 and staying.sum() < resting.sum():
            rest = self._replace(k=whole)._changed(staying, d, -1.0)  # in single precision it would cancel
            k = self._replace(k=rest)._changed(waking, self.in_k, -1.0)
        else:
            k = self._changed(waking, self.in_k, -1.0)
            k = self._replace(k=k)._changed(resting, d)
        in_k = np.where(resting, d, np.where(waking, 0.0, self.in_k))
        awake = (self.awake | waking) & ~resting
        return self._replace(k=k, in_k=in_k, awake=awake, part=self.columns.take(awake))

    def _changed(self, chosen: Mask, share: Vector, sign: float = 1.0) -> Any:
        """Return K + sign * sum_j share_j x_j x_j' over the chosen columns."""
        if not chosen.any():
            return self.k
        more = outer(self.columns, chosen, share[chosen], dtype=self.dtype)
        more *= self.dtype(sign)
        if self.k is not None:
            more += self.k
        return more


def let_rest(problem: LeastSquares, squares: Vector, single: bool) -> RestingDual:
    """Return an engine in which every column is awake, in single precision or in double for now.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> let_rest(plain(np.eye(2), np.zeros(2)), np.ones(2), single=True).n_awake
    2
    """
    columns = problem.columns.single() if single else problem.columns
    awake = np.ones(problem.n_columns, dtype=np.bool_)
    dtype = np.float32 if single else np.float64
    return RestingDual(columns, squares, awake, columns, None, np.zeros(awake.size), squares.copy(), dtype)


def _norm(lower: Any) -> float:
    """Return the largest sum of a row of a symmetric matrix, which no eigenvalue exceeds."""
    size = np.abs(np.tril(lower))
    return float((size.sum(axis=1) + size.sum(axis=0) - size.diagonal()).max())


def _refined(problem: LeastSquares, given: Dual, d: Vector) -> Any:
    """Return M^-1 z with the factor of a nearby M as the preconditioner."""
    residual = given.residual
    for _ in range(LIMITS.refinements):
        error = problem.z - residual - problem.matvec(d * problem.rmatvec(residual))
        residual = residual + given.solve(error)
    return residual
