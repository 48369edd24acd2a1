"""The E-step: mean and variance of the coefficients given the scales, Eqs. (7)-(12) and appendices A, C.

With D = diag(tau2 lambda2) the conditional posterior of b is N(m, sigma2 (X'X + D^-1)^-1). No engine forms
D^-1, which overflows as null coefficients vanish, and none forms a p x p matrix when p > n.

Every engine is called as ``engine(system, prior_variance, sigma2, context)`` and returns `Moments`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import blas, lapack

from farrier._types import Covariance, Matrix, Moments, Vector
from farrier.conditional.sampled import draw_coefficients
from farrier.data.design import Identity, System
from farrier.em.fast.fading import Background, GramBackground, MatrixBackground

EXACT_WARMUP = 9
"""Exact iterations before the approximate variances: without them the approximation ends elsewhere."""
BLOCK_BYTES = 64 << 20
"""Size of the scaled copy of the columns that the dual engine works through at a time."""


class Context(NamedTuple):
    """What an engine may want to know beside the problem itself."""

    background: Background | None = None
    previous: Moments | None = None
    iteration: int = 0


ALONE = Context()


class EStep(Protocol):
    """An engine: anything that is called like this."""

    exact: bool

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ..., /
    ) -> Moments:
        """Return the moments of the coefficients."""
        ...


class Primal:
    """Rue's algorithm (appendix C) for k <= n, on B = I + D^1/2 X'X D^1/2.

    mean = D^1/2 B^-1 D^1/2 X'z, var_j = sigma2 d_j (B^-1)_jj, tr(X'X Cov)/sigma2 = k - tr(B^-1).
    """

    exact = True

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ALONE
    ) -> Moments:
        """Return the moments, exact but for the third order of a background."""
        background = _expansion(context.background)
        root = np.sqrt(prior_variance)
        factor, mean = _primal_mean(system, root, background)
        inverse = lapack.dtrtri(factor, lower=1)[0]
        diagonal = np.einsum("ij,ij->j", inverse, inverse)  # diag(B^-1)
        rss, trace, growth = system.rss(mean), system.n_columns - float(diagonal.sum()), 1.0
        if background is not None:
            faded = _background_trace(background, inverse * root)
            first, second = background.first.quadratic(mean), background.second.quadratic(mean)
            growth = background.size.growth(faded, (first - 2.0 * second) / sigma2)
            rss += 3.0 * second - 2.0 * first  # ||V e||^2 - ||e||^2, V^2 = I - 2 K + 3 K^2
            trace += faded
        return Moments(
            mean=mean,
            variance=sigma2 * prior_variance * diagonal,
            expected_rss=max(rss, 0.0) + sigma2 * trace,  # Eq. (10)
            fit_trace=trace,
            log_det=2.0 * float(np.log(factor.diagonal()).sum()),
            background_growth=growth,
        )


class Dual:
    """Bhattacharya's algorithm for k > n, on the n x n matrix M = I + X D X'.

    mean = D X' M^-1 z, var_j = sigma2 d_j (1 - d_j x_j' M^-1 x_j), and the residual is M^-1 z itself.

    Parameters
    ----------
    single : bool
        Do the two cubic operations in single precision, and refine the mean to double. Good for the
        first iterations, which only have to stay on the path.
    """

    def __init__(self, single: bool = False) -> None:
        self.exact = not single
        self._dtype = np.float32 if single else np.float64
        prefix = "s" if single else "d"
        self._syrk = getattr(blas, prefix + "syrk")
        self._trsm = getattr(blas, prefix + "trsm")
        self._symv = getattr(blas, prefix + "symv")
        self._potrf = getattr(lapack, prefix + "potrf")
        self.potrs = getattr(lapack, prefix + "potrs")

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ALONE
    ) -> Moments:
        """Return the moments, exact unless in single precision."""
        background = context.background.matrix if isinstance(context.background, MatrixBackground) else None
        factor, blocks = self.factorise(system, prior_variance, background)
        residual = self._solve(system, prior_variance, factor, background)
        mean = prior_variance * (system.x.T @ residual)
        leverage = self.leverages(factor, blocks)
        trace, growth = float(leverage.sum()), 1.0
        if isinstance(context.background, MatrixBackground):
            faded = self.trace(factor) - trace
            gain = float(residual @ self._symv(1.0, background, residual, lower=1)) / sigma2
            growth = context.background.size.growth(faded, gain)
            trace += faded
        return Moments(
            mean=mean,
            variance=sigma2 * prior_variance * np.maximum(1.0 - leverage, 0.0),
            expected_rss=float(residual @ residual) + sigma2 * trace,
            fit_trace=trace,
            log_det=2.0 * float(np.log(factor.diagonal()).sum()) if self.exact else None,
            background_growth=growth,
        )

    def factorise(self, system: System, d: Vector, background: Any) -> tuple[Any, Blocks]:
        """Return the Cholesky factor of M = I + K + X D X', and the scaled columns for `leverages`."""
        blocks = Blocks(system.x, np.sqrt(d), self._dtype)
        if background is None:
            gram = np.zeros((system.n_rows, system.n_rows), dtype=self._dtype, order="F")
        else:
            gram = background.astype(self._dtype, order="F")
        for _, block in blocks:
            gram = self._syrk(1.0, block, beta=1.0, c=gram, lower=1, overwrite_c=1)
        gram.flat[:: system.n_rows + 1] += 1.0
        factor, info = self._potrf(gram, lower=1)
        jitter = np.finfo(self._dtype).eps * float(gram.diagonal().max())
        while info != 0:  # rounding swallows the identity: add as little more of it as is needed
            gram.flat[:: system.n_rows + 1] += jitter
            factor, info = self._potrf(gram, lower=1)
            jitter *= 4.0
        return factor, blocks

    def _solve(self, system: System, d: Vector, factor: Any, background: Any) -> Vector:
        def solve(target: Vector) -> Vector:
            return np.asarray(self.potrs(factor, target, lower=1)[0], dtype=np.float64)

        residual = solve(system.z)
        if not self.exact:  # one step of iterative refinement, in double precision
            error = system.z - residual - system.x @ (d * (system.x.T @ residual))
            if background is not None:
                error -= self._symv(1.0, background, residual, lower=1)
            residual += solve(error)
        return residual

    def leverages(self, factor: Any, blocks: Blocks) -> Vector:
        """Return d_j x_j' M^-1 x_j."""
        leverage = np.empty(blocks.n_columns)
        for columns, block in blocks:
            half = self._trsm(1.0, factor, block, lower=1, overwrite_b=1)
            leverage[columns] = np.einsum("ij,ij->j", half, half)
        return leverage

    def trace(self, factor: Any) -> float:
        """Return tr(I - M^-1)."""
        n = int(factor.shape[0])
        identity = np.eye(n, dtype=self._dtype, order="F")
        inverse = self._trsm(1.0, factor, identity, lower=1, overwrite_b=1).ravel(order="K")
        return n - float(np.dot(inverse, inverse))


class Blocks:
    """The columns times ``root``, in blocks of bounded size; a single block is scaled only once.

    It can be walked through twice: the second walk may overwrite what it is given.
    """

    def __init__(self, x: Matrix, root: Vector, dtype: type) -> None:
        self._x, self._dtype = x, dtype
        self._root: Any = root.astype(dtype)
        self.n_columns = x.shape[1]
        self._step = max(1, BLOCK_BYTES // (np.dtype(dtype).itemsize * max(1, x.shape[0])))
        self._only: Any = None

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        for start in range(0, self.n_columns, self._step):
            columns = slice(start, start + self._step)
            yield columns, self._scaled(columns)

    def _scaled(self, columns: slice) -> Any:
        if self._only is not None:
            return self._only
        part = self._x[:, columns]
        out: Any = np.empty(part.shape, dtype=self._dtype, order="F")
        np.multiply(part, self._root[columns], out=out, casting="same_kind")
        if self.n_columns <= self._step:
            self._only = out
        return out


class Orthogonal:
    """Columns with X'X = diag(c): the normal means model of appendix A, O(k) in all.

    Also right for any columns while sum_j d_j c_j is far below 1: then X'X counts for nothing beside the
    identity, as at the paper's start.
    """

    exact = True

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ALONE
    ) -> Moments:
        """Return mean = d X'z / (1 + d c) and variance = sigma2 d / (1 + d c), Eqs. (20)-(21)."""
        spread = prior_variance * system.column_ss
        shrunk = prior_variance / (1.0 + spread)
        mean = shrunk * system.xz
        trace = float((spread / (1.0 + spread)).sum())
        rss = system.rss(mean) + sigma2 * trace
        return Moments(mean, sigma2 * shrunk, rss, trace, float(np.log1p(spread).sum()))


class DiagonalVariance:
    """Approximate expectations, Eqs. (11)-(12): the exact mean, and variances sigma2 / A_jj.

    One solve and O(k) beside it; nothing is inverted.
    """

    exact = False

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ALONE
    ) -> Moments:
        """Return the moments."""
        mean, rss = _mean_and_rss(system, prior_variance, context.background)
        spread = prior_variance * system.diagonal
        trace = float((spread / (1.0 + spread)).sum())
        if context.background is not None:  # sum_j d_j ||x_j||^2 of the columns that fade
            trace += context.background.level * system.n_rows
        return Moments(
            mean=mean,
            variance=sigma2 * prior_variance / (1.0 + spread),
            expected_rss=rss + sigma2 * trace,
            fit_trace=trace,
            log_det=None,
        )


class Stochastic:
    """Stochastic EM: draw from the conditional posterior and average with a decreasing step.

    Iteration t (from 0) averages ``n_draws`` draws into the moments of before with step
    min(1, (t / 10)^-0.7).

    Parameters
    ----------
    rng : numpy.random.Generator
        The source of the draws.
    n_draws : int
        Draws an iteration; they share one factorisation.
    """

    exact = False

    def __init__(self, rng: np.random.Generator, n_draws: int = 50) -> None:
        self._rng, self._n_draws = rng, n_draws

    def __call__(
        self, system: System, prior_variance: Vector, sigma2: float, context: Context = ALONE
    ) -> Moments:
        """Return the running averages of b, b^2 - mean^2 and ||z - X b||^2."""
        draws = draw_coefficients(system, prior_variance, sigma2, self._rng, self._n_draws)
        residuals = system.z[:, None] - system.x @ draws
        mean = draws.mean(axis=1)
        second = np.einsum("ij,ij->i", draws, draws) / self._n_draws
        rss = float(np.einsum("ij,ij->", residuals, residuals)) / self._n_draws
        before, step = context.previous, min(1.0, (max(context.iteration, 1) / 10.0) ** -0.7)
        if before is not None:
            mean = before.mean + step * (mean - before.mean)
            second = before.second_moment + step * (second - before.second_moment)
            rss = before.expected_rss + step * (rss - before.expected_rss)
        variance = np.maximum(second - mean * mean, 0.0)
        return Moments(mean, variance, rss, float("nan"), None)


def choose_e_step(
    n_rows: int,
    n_active: int,
    expectation: str = "exact",
    iteration: int = EXACT_WARMUP,
    *,
    background: Background | None = None,
    rng: np.random.Generator | None = None,
) -> EStep:
    """Return the cheapest engine that keeps the promise of ``expectation``.

    It is asked again at every iteration, so the choice follows the active set as it shrinks.

    Parameters
    ----------
    n_rows, n_active : int
        Rows and active columns.
    expectation : {"exact", "approximate", "stochastic"}
        "approximate" is exact for the first nine iterations.
    iteration : int
        From 0.
    background : Background, optional
        What pruned columns still contribute; while it is a matrix only the dual form can carry it.
    rng : numpy.random.Generator, optional
        For "stochastic".

    Examples
    --------
    >>> type(choose_e_step(n_rows=100, n_active=20)).__name__
    'Primal'
    >>> type(choose_e_step(n_rows=100, n_active=2000)).__name__
    'Dual'
    >>> type(choose_e_step(n_rows=100, n_active=20, expectation="approximate")).__name__
    'DiagonalVariance'
    """
    if expectation == "stochastic":
        return Stochastic(np.random.default_rng() if rng is None else rng)
    if expectation == "approximate" and iteration >= EXACT_WARMUP:
        return DiagonalVariance()
    if n_active <= n_rows and not isinstance(background, MatrixBackground):
        return Primal()
    return Dual()


def posterior_covariance(system: System, prior_variance: Vector, sigma2: float) -> Covariance:
    """Return Cov[b] in the form that fits the shape.

    Examples
    --------
    >>> system = System(np.eye(2, order="F"), np.zeros(2), size=2.0)
    >>> posterior_covariance(system, np.array([1.0, 3.0]), 1.0).quadratic(np.eye(2))
    array([0.5 , 0.75])
    """
    n, k = system.n_rows, system.n_columns
    if isinstance(system, Identity):
        variance = sigma2 * prior_variance / (1.0 + prior_variance)
        return Covariance(variance, np.zeros((0, k)), 1.0)
    root = np.sqrt(prior_variance)
    if k <= n:
        inverse = lapack.dtrtri(_primal_mean(system, root)[0], lower=1)[0]
        return Covariance(np.zeros(k), np.sqrt(sigma2) * inverse * root, 1.0)
    factor, _ = Dual().factorise(system, prior_variance, None)
    half = blas.dtrsm(np.sqrt(sigma2), factor, np.asfortranarray(system.x * prior_variance), lower=1)
    return Covariance(sigma2 * prior_variance, half, -1.0)


def posterior_mean(system: System, prior_variance: Vector) -> Vector:
    """Return E[b] alone, which costs less than its variances.

    Examples
    --------
    >>> posterior_mean(System(np.eye(2, order="F"), np.array([4.0, 0.0]), size=2.0), np.ones(2))
    array([2., 0.])
    """
    return _mean_and_rss(system, prior_variance, None)[0]


def _primal_mean(
    system: System, root: Vector, background: GramBackground | None = None
) -> tuple[Matrix, Vector]:
    """Return the Cholesky factor of B = I + D^1/2 X'VX D^1/2 and the mean; V = (I + K)^-1."""
    gram, xz = system.gram, system.xz
    if background is not None:
        gram = gram - background.first.gram + background.second.gram
        xz = xz - background.first.xz + background.second.xz
    factor, info = _factorise(gram, root, 1.0)
    jitter = float(np.finfo(np.float64).eps)
    while info != 0:  # rounding swallows the identity: add as little more of it as is needed
        factor, info = _factorise(gram, root, 1.0 + jitter * float((gram.diagonal() * root * root).max()))
        jitter *= 4.0
    return factor, root * lapack.dpotrs(factor, root * xz, lower=1)[0]


def _factorise(gram: Matrix, root: Vector, identity: float) -> tuple[Matrix, int]:
    """Return the Cholesky factor of identity I + D^1/2 G D^1/2, and 0 if there is one."""
    scaled = gram * root
    scaled *= root[:, None]
    scaled.flat[:: root.size + 1] += identity
    symmetric = scaled if scaled.flags.f_contiguous else scaled.T
    factor, info = lapack.dpotrf(symmetric, lower=1, overwrite_a=1)
    return factor, int(info)


def _background_trace(background: GramBackground, half: Matrix) -> float:
    """Return what K adds to tr(I - M^-1); half'half = (X'VX + D^-1)^-1."""
    inner = 2.0 * background.second.gram - background.first.gram
    crossed = float(np.einsum("ij,ij->", half @ inner, half))
    return background.first.trace - background.second.trace + crossed


def _expansion(background: Background | None) -> GramBackground | None:
    return background if isinstance(background, GramBackground) else None


def _mean_and_rss(system: System, d: Vector, background: Background | None) -> tuple[Vector, float]:
    """Return the mean of b and the residual sum of squares, by the smaller of the two systems."""
    if system.n_columns <= system.n_rows and not isinstance(background, MatrixBackground):
        expansion = _expansion(background)
        _, mean = _primal_mean(system, np.sqrt(d), expansion)
        rss = system.rss(mean)
        if expansion is not None:
            rss += 3.0 * expansion.second.quadratic(mean) - 2.0 * expansion.first.quadratic(mean)
        return mean, rss
    matrix = background.matrix if isinstance(background, MatrixBackground) else None
    factor, _ = Dual().factorise(system, d, matrix)
    residual = np.asarray(lapack.dpotrs(factor, system.z, lower=1)[0])
    return d * (system.x.T @ residual), float(residual @ residual)
