"""What columns that were pruned still give to the covariance of z, while they fade.

A sparse prior multiplies a column's E[b_j^2] by (1 - leverage_j + gain_j) / (2A) at every iteration, and for
a null coefficient both are small: all of them fade at nearly the same rate. Such columns can leave the E-step
long before they are negligible, if their joint share of the covariance of z,
K = sum_j E[b_j^2]/sigma2 x_j x_j', is kept and faded at that rate: the other columns then see what they would
have seen, and the path to the mode stays the same. Dropping K instead ends in other modes on some data sets.

K is an n x n matrix while more columns are active than there are rows. After that only its effect on the
active columns is kept, through the second order: (I + K)^-1 = I - K + K^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from farrier._types import Mask, Matrix, Vector
from farrier.data.design import System, columns

EXPANDABLE_LEVEL = 0.03
"""Below this mean eigenvalue of K the expansion is as good as K itself."""


class Size(NamedTuple):
    """How much fades: the sum and the sum of squares of w_j = E[b_j^2] ||x_j||^2 / sigma2."""

    total: float
    squares: float

    def times(self, factor: float) -> Size:
        """Return the size after all fade by ``factor``."""
        return Size(self.total * factor, self.squares * factor * factor)

    def plus(self, w: Vector) -> Size:
        """Return the size with the columns ``w`` added."""
        return Size(self.total + float(w.sum()), self.squares + float(w @ w))

    def growth(self, leverage: float, gain: float) -> float:
        """Return the mean of 1 - leverage_j + gain_j, weighted by w, from their sums over the columns."""
        return 1.0 + (gain - leverage) * self.squares / self.total**2


class MatrixBackground(NamedTuple):
    """K itself: the lower triangle, in single precision."""

    size: Size
    matrix: Any

    @property
    def level(self) -> float:
        """The mean eigenvalue of K."""
        return self.size.total / float(self.matrix.shape[0])

    def faded(self, factor: float) -> MatrixBackground:
        """Return K times ``factor``."""
        return MatrixBackground(self.size.times(factor), self.matrix * np.float32(factor))

    def expanded(self, system: System) -> GramBackground:
        """Return the effect of K on the columns of ``system`` and on its targets."""
        matrix = self.matrix.astype(np.float64)
        kx, kz = blas.dsymm(1.0, matrix, system.x, lower=1), blas.dsymv(1.0, matrix, system.z, lower=1)
        diagonal, below = matrix.diagonal(), np.tril(matrix, -1).ravel(order="K")
        squares = float(diagonal @ diagonal) + 2.0 * float(below @ below)
        return GramBackground(
            self.size,
            system.n_rows,
            first=Effect(kx.T @ system.x, system.x.T @ kz, float(system.z @ kz), float(diagonal.sum())),
            second=Effect(kx.T @ kx, kx.T @ kz, float(kz @ kz), squares),
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

    size: Size
    n_rows: int
    first: Effect
    second: Effect

    @property
    def level(self) -> float:
        """The mean eigenvalue of K."""
        return self.size.total / self.n_rows

    def faded(self, factor: float) -> GramBackground:
        """Return the effects of K times ``factor``, at most 1: the expansion must stay a good one."""
        factor = min(factor, 1.0)
        return self._replace(
            size=self.size.times(factor),
            first=self.first.times(factor),
            second=self.second.times(factor * factor),
        )

    def take(self, keep: Mask) -> GramBackground:
        """Return the effects on the columns in ``keep``."""
        return self._replace(first=self.first.take(keep), second=self.second.take(keep))


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
    size = (Size(0.0, 0.0) if background is None else background.size).plus(share * system.column_ss[leaving])
    wide = system.n_columns > system.n_rows
    if isinstance(background, MatrixBackground) or (background is None and wide):
        matrix = None if background is None else background.matrix
        return MatrixBackground(size, add_columns(matrix, system.x, leaving, share))
    first, second = _effects(system, leaving, share)
    if background is None:
        return GramBackground(size, system.n_rows, first, second)
    kept = background.take(~leaving)
    return kept._replace(size=size, first=kept.first.plus(first), second=kept.second.plus(second))


def add_columns(matrix: Any, x: Any, chosen: Mask, weight: Vector, sign: float = 1.0) -> Any:
    """Return ``matrix`` + sign * sum_j weight_j x_j x_j' over the chosen columns: lower triangle, single.

    Examples
    --------
    >>> x = np.asfortranarray([[1.0, 2.0]])
    >>> float(add_columns(None, x, np.array([False, True]), np.array([0.25]))[0, 0])
    1.0
    """
    block = columns(x, chosen).astype(np.float32, copy=False)
    block *= np.sqrt(weight, dtype=np.float32)
    if matrix is None:
        return blas.ssyrk(sign, block, lower=1)
    return blas.ssyrk(sign, block, beta=1.0, c=matrix, lower=1)


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
