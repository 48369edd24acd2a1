"""What columns that were pruned still give to the covariance of z, while they fade.

A sparse prior lets a null coefficient's E[b^2] shrink by the same factor at every iteration, whatever else
happens. Such columns can leave the E-step long before they are negligible, if their joint share of the
covariance of z, K = sum_j E[b_j^2]/sigma2 x_j x_j', is kept and faded at that rate: the other columns then
see what they would have seen, and the path to the mode stays the same. Dropping K instead ends in other
modes on a few data sets of a hundred.

K is an n x n matrix while more columns are active than there are rows. After that only its effect on the
active columns is kept, through the second order: (I + K)^-1 = I - K + K^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from farrier._design import System
from farrier._types import Mask, Matrix, Vector

EXPANDABLE_LEVEL = 0.03
"""Below this mean eigenvalue of K the expansion is as good as K itself."""


class MatrixBackground(NamedTuple):
    """K itself: the lower triangle, in single precision."""

    level: float
    matrix: Any

    def faded(self, factor: float) -> MatrixBackground:
        """Return K times ``factor``."""
        return MatrixBackground(self.level * factor, self.matrix * np.float32(factor))

    def take(self, keep: Mask) -> MatrixBackground:
        """Return itself: K does not depend on the active columns."""
        return self

    def expanded(self, system: System) -> GramBackground:
        """Return the effect of K on the columns of ``system`` and on its targets."""
        k = np.asarray(self.matrix, dtype=np.float64)
        k = k + np.tril(k, -1).T
        kx, kz = k @ system.x, k @ system.z
        return GramBackground(
            self.level,
            first=Effect(kx.T @ system.x, system.x.T @ kz, float(system.z @ kz), float(k.trace())),
            second=Effect(kx.T @ kx, kx.T @ kz, float(kz @ kz), float(np.einsum("ij,ij->", k, k))),
        )


class Effect(NamedTuple):
    """X' S X, X' S z, z' S z and tr S for a matrix S."""

    gram: Matrix
    xz: Vector
    zz: float
    trace: float

    def times(self, factor: float) -> Effect:
        """Return the effect of ``factor`` S."""
        return Effect(self.gram * factor, self.xz * factor, self.zz * factor, self.trace * factor)

    def plus(self, other: Effect) -> Effect:
        """Return the effect of the sum."""
        return Effect(
            self.gram + other.gram, self.xz + other.xz, self.zz + other.zz, self.trace + other.trace
        )

    def take(self, keep: Mask) -> Effect:
        """Return the effect on the columns in ``keep``."""
        return self._replace(gram=self.gram[np.ix_(keep, keep)], xz=self.xz[keep])

    def quadratic(self, coef: Vector) -> float:
        """Return e' S e for the residual e = z - X coef."""
        return self.zz + float(coef @ (self.gram @ coef - 2.0 * self.xz))


class GramBackground(NamedTuple):
    """The effects of K and of K^2."""

    level: float
    first: Effect
    second: Effect

    def faded(self, factor: float) -> GramBackground:
        """Return the effects of K times ``factor``, at most 1: the expansion must stay a good one."""
        factor = min(factor, 1.0)
        return GramBackground(
            self.level * factor, self.first.times(factor), self.second.times(factor * factor)
        )

    def take(self, keep: Mask) -> GramBackground:
        """Return the effects on the columns in ``keep``."""
        return GramBackground(self.level, self.first.take(keep), self.second.take(keep))


Background = MatrixBackground | GramBackground


def absorb(background: Background | None, system: System, leaving: Mask, share: Vector) -> Background | None:
    """Return the background with sum_j share_j x_j x_j' over the columns that leave added to it.

    ``system`` still has them; the result speaks of those that stay.

    Examples
    --------
    >>> system = System(np.asfortranarray([[1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 3.0]), 2.0)
    >>> after = absorb(None, system, np.array([False, True]), np.array([0.01]))
    >>> after.first.gram, after.first.xz  # x_0'K x_0 and x_0'K z
    (array([[0.01]]), array([0.07]))
    """
    level = float(share @ system.column_ss[leaving]) / system.n_rows
    level += 0.0 if background is None else background.level
    wide = system.n_columns > system.n_rows
    if isinstance(background, MatrixBackground) or (background is None and wide):
        block = np.asfortranarray(system.x[:, leaving] * np.sqrt(share), dtype=np.float32)
        if background is None:
            return MatrixBackground(level, blas.ssyrk(1.0, block, lower=1))
        return MatrixBackground(level, blas.ssyrk(1.0, block, beta=1.0, c=background.matrix, lower=1))
    first, second = _effects(system, leaving, share)
    if background is None:
        return GramBackground(level, first, second)
    kept = background.take(~leaving)
    return GramBackground(level, kept.first.plus(first), kept.second.plus(second))


def _effects(system: System, leaving: Mask, share: Vector) -> tuple[Effect, Effect]:
    """Return the effects on the columns that stay of K and K^2, K = sum_j share_j x_j x_j'."""
    across = system.gram[np.ix_(~leaving, leaving)]  # X_stay' X_leave
    within = system.gram[np.ix_(leaving, leaving)]
    xz = system.xz[leaving]
    inner = share[:, None] * within * share  # K^2 = X_leave inner X_leave'
    first = Effect(
        gram=(across * share) @ across.T,
        xz=across @ (share * xz),
        zz=float(share @ xz**2),
        trace=float(share @ within.diagonal()),
    )
    second = Effect(
        gram=across @ inner @ across.T,
        xz=across @ (inner @ xz),
        zz=float(xz @ inner @ xz),
        trace=float(np.einsum("ij,ij->", inner, within)),
    )
    return first, second
