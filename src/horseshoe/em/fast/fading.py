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

from horseshoe._types import Mask, Matrix, Moments, Vector
from horseshoe.conditional.base import moments
from horseshoe.conditional.dual import Dual
from horseshoe.conditional.orthogonal import Diagonal
from horseshoe.conditional.primal import PrimalKernel
from horseshoe.data.problem import LeastSquares
from horseshoe.data.view import View
from horseshoe.linalg import both_triangles


class Weight(NamedTuple):
    """How much fades: the sum and the sum of squares of w_j = E[b_j^2] ||x_j||^2 / sigma2."""

    total: float = 0.0
    squares: float = 0.0

    def times(self, factor: float) -> Weight:
        """Return the weight after all fade by ``factor``."""
        return Weight(self.total * factor, self.squares * factor * factor)

    def plus(self, w: Vector) -> Weight:
        """Return the weight with the columns ``w`` added."""
        return Weight(self.total + float(w.sum()), self.squares + float(w @ w))

    def growth(self, leverage: float, gain: float) -> float:
        """Return the mean of 1 - leverage_j + gain_j, weighted by w, from their sums over the columns."""
        among = self.total**2
        return 1.0 + (gain - leverage) * self.squares / among if among > 0.0 else 1.0  # 0: all has faded


class MatrixFading(NamedTuple):
    """K itself: the lower triangle, in single precision."""

    weight: Weight
    matrix: Any

    @property
    def level(self) -> float:
        """The mean eigenvalue of K."""
        return self.weight.total / float(self.matrix.shape[0])

    def faded(self, factor: float) -> MatrixFading:
        """Return K times ``factor``."""
        return MatrixFading(self.weight.times(factor), self.matrix * np.float32(factor))

    def absorb(self, problem: LeastSquares, leaving: Mask, share: Vector, weight: Weight) -> MatrixFading:
        """Return K with the columns that leave added."""
        return MatrixFading(weight, outer(problem.weighted, leaving, share, self.matrix))

    def moments(
        self, problem: LeastSquares, d: Vector, sigma2: float, approximate: bool, single: bool
    ) -> Moments:
        """Return the moments, of the dual form whatever the shape."""
        dtype, root = (np.float32 if single else np.float64), np.sqrt(d)
        scaled = problem.weighted.scaled(root, dtype)
        given = Dual(problem, root, scaled.outer(self.matrix), scaled, self.matrix)
        if approximate:
            return moments(Diagonal(given, problem, d, self.weight.total), sigma2)
        found = moments(given, sigma2)
        faded = given.whole_trace - found.fit_trace
        symv = blas.ssymv if single else blas.dsymv
        gain = float(given.residual @ symv(1.0, self.matrix, given.residual, lower=1)) / sigma2
        return _with_fading(found, sigma2, faded, self.weight.growth(faded, gain))

    def expanded(self, problem: LeastSquares) -> GramFading:
        """Return the effect of K on the columns of ``problem`` and on its targets."""
        matrix = both_triangles(self.matrix.astype(np.float64))
        kx, kz = problem.weighted.rmatvec(matrix).T, matrix @ problem.z
        x = problem.weighted
        return GramFading(
            self.weight,
            float(problem.n_rows),
            first=Effect(x.rmatvec(kx), x.rmatvec(kz), float(problem.z @ kz), float(matrix.trace())),
            second=Effect(kx.T @ kx, kx.T @ kz, float(kz @ kz), float(np.einsum("ij,ij->", matrix, matrix))),
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


class GramFading(NamedTuple):
    """The effects of K and of K^2; ``size`` is the number of rows that K is of."""

    weight: Weight
    size: float
    first: Effect
    second: Effect

    @property
    def level(self) -> float:
        """The mean eigenvalue of K."""
        return self.weight.total / self.size

    def faded(self, factor: float) -> GramFading:
        """Return the effects of K times ``factor``, at most 1: the expansion must stay a good one."""
        factor = min(factor, 1.0)
        first, second = self.first.times(factor), self.second.times(factor * factor)
        return GramFading(self.weight.times(factor), self.size, first, second)

    def absorb(self, problem: LeastSquares, leaving: Mask, share: Vector, weight: Weight) -> GramFading:
        """Return the effects with those of the columns that leave added."""
        first, second = _effects(problem, leaving, share)
        stay = ~leaving
        return self._replace(
            weight=weight,
            first=self.first.take(stay).plus(first),
            second=self.second.take(stay).plus(second),
        )

    def moments(
        self, problem: LeastSquares, d: Vector, sigma2: float, approximate: bool, single: bool
    ) -> Moments:
        """Return the moments, exact but for the third order of K; V = (I + K)^-1, V^2 = I - 2 K + 3 K^2."""
        first, second = self.first, self.second
        gram = problem.gram - first.gram
        gram += second.gram
        given = PrimalKernel(problem, d, gram, problem.xz - first.xz + second.xz).once()
        seen, twice = first.quadratic(given.mean), second.quadratic(given.mean)
        bent = 3.0 * twice - 2.0 * seen  # ||V e||^2 - ||e||^2
        if approximate:
            found = moments(Diagonal(given, problem, d, self.weight.total), sigma2)
            return found._replace(expected_rss=found.expected_rss + bent)
        trace = given.fit_trace
        half = given.half * given.root
        inner = second.gram + second.gram
        inner -= first.gram  # symmetric: the transpose is it, Fortran-ordered
        crossed = blas.dtrmm(1.0, half, inner.T, lower=1)
        faded = first.trace - second.trace + float(np.vdot(crossed.T, half.T))
        growth = self.weight.growth(faded, (seen - 2.0 * twice) / sigma2)
        variance, rss = sigma2 * given.variance(), max(given.rss + bent, 0.0)
        found = Moments(given.mean, variance, rss + sigma2 * trace, trace, given.log_det)
        return _with_fading(found, sigma2, faded, growth)


Fading = MatrixFading | GramFading


def absorb(fading: Fading | None, problem: LeastSquares, leaving: Mask, share: Vector) -> Fading:
    """Return what fades with sum_j share_j x_j x_j' over the columns that leave added to it.

    ``problem`` still has them; the result speaks of those that stay.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem = plain(np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([1.0, 3.0]))
    >>> after = absorb(None, problem, np.array([False, True]), np.array([0.01]))
    >>> after.first.gram, after.first.xz  # x_0'K x_0 and x_0'K z
    (array([[0.01]]), array([0.07]))
    """
    weight = (Weight() if fading is None else fading.weight).plus(share * problem.squares[leaving])
    if fading is not None:
        return fading.absorb(problem, leaving, share, weight)
    if problem.n_columns > problem.n_rows:
        return MatrixFading(weight, outer(problem.weighted, leaving, share))
    return GramFading(weight, problem.total_weight, *_effects(problem, leaving, share))


def outer(columns: View, chosen: Mask, share: Vector, base: Any = None, dtype: Any = np.float32) -> Any:
    """Return base + sum_j share_j x_j x_j' over the chosen columns: the lower triangle.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> float(outer(Dense(np.array([[1.0, 2.0]])), np.array([False, True]), np.array([0.25]))[0, 0])
    1.0
    """
    return columns.take(chosen).scaled(np.sqrt(share), dtype).outer(base)


def _with_fading(found: Moments, sigma2: float, faded: float, growth: float) -> Moments:
    return found._replace(
        expected_rss=found.expected_rss + sigma2 * faded,
        fit_trace=found.fit_trace + faded,
        fading_growth=growth,
    )


def _effects(problem: LeastSquares, leaving: Mask, share: Vector) -> tuple[Effect, Effect]:
    """Return the effects on the columns that stay of K and K^2, K = sum_j share_j x_j x_j'."""
    across = problem.gram[np.ix_(~leaving, leaving)]  # X_stay' X_leave
    within = problem.gram[np.ix_(leaving, leaving)]
    xz = problem.xz[leaving]
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
