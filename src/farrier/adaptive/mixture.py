"""Normal mixtures by variational empirical Bayes, the model of Kim, Wang, Carbonetto and Stephens.

y = X b + e with e ~ N(0, sigma2 I), and b_j ~ pi_0 delta_0 + sum_k pi_k N(0, sigma2 s_k): a spike and slabs.
The posterior is approximated by independent q_j. Write d = x_j'x_j, and u = x_j'(y - fit of the others) for
the pull. The best q_j given the others has in slab k

    mean c_k u,  variance sigma2 c_k,  c_k = s_k / (1 + d s_k),
    weight phi_k ~ pi_k (1 + d s_k)^(-1/2) exp(c_k u^2 / (2 sigma2)),

and weight ~ pi_0 in the spike; its mean b_j = u sum_k phi_k c_k is a function of u. The lower bound of the
log marginal likelihood (ELBO) of means b, of the pulls u that they were made from and of weights phi is

    F = -n/2 log(2 pi sigma2) - (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / (2 sigma2)
        + sum_j sum_k phi_jk log(pi_k (1 + d_j s_k)^(-1/2) / phi_jk),    the spike being k = 0 with s_0 = 0.

(The variances sigma2 c_k follow sigma2.) No step here lowers it:

- *A visit* puts q_j to its best, the others being fixed.
- pi_k = mean_j phi_jk, and sigma2 = (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / n.
- *Together*: small columns hardly feel each other, so all go to their best at once. What this gains is known
  before it is done; where it would lose, all columns are visited instead.
- *Jointly*: with the phi held, F is quadratic in the b of the large columns, and is largest at a ridge
  regression with the penalties 1 / sum_k phi_jk c_k - d_j. Visits alone adapt correlated columns to the new
  shrinkage slowly, and may lose some of them on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import lapack

from farrier._checks import check_choice, check_number
from farrier._types import Matrix, Vector
from farrier.adaptive.residual import Index, Local, Residual
from farrier.adaptive.visits import Visitor, one_at_a_time

GRID: Vector = (2.0 ** (np.arange(1, 4) / 4.0) - 1.0) ** 2
"""The variances of the slabs in units of sigma2, for columns of unit variance."""
SMALL = 1e-3
"""Coefficients below this, in standard deviations of y, move together; with 3e-3 signals are lost."""
LEAST = 1e-300
"""What no weight of the mixture falls below, so that its logarithm is a number."""
LEAST_KEPT = 1e-30
"""The least share of a pull that a start keeps: it may have coefficients that its weights all but exclude."""
NO_NOISE = 1e-12
"""The least noise variance, as a share of the variance of y."""
ROUNDING = 1e-9
"""A loss of ELBO that is none."""
START_STEPS, START_LEAST = 20, 1e-4
"""Steps of EM for the weights that the start suggests, and the least of them: none is out for good."""

Visit = Literal["large", "all"]
EVERY = slice(None)


class Mixture(NamedTuple):
    """A fitted normal mixture.

    ``coef`` are the posterior means, ``pi`` the weights of the spike and of the slabs; ``inclusion`` has for
    each column the probability that it is not in the spike, ``variance`` the posterior variance of its
    coefficient.
    """

    coef: Vector
    sigma2: float
    pi: Vector
    inclusion: Vector
    variance: Vector
    n_sweeps: int
    converged: bool


def fit_mixture(
    data: Residual,
    start: Vector,
    sigma2: float,
    *,
    grid: Vector = GRID,
    pi: Vector | None = None,
    tol: float = 1e-3,
    max_sweeps: int = 50,
    visit: Visit = "large",
    callback: Callable[[float], Any] | None = None,
    visitor: Visitor = one_at_a_time,
) -> Mixture:
    """Fit a normal mixture to centred y and standardised columns.

    Parameters
    ----------
    data : Rows or Gram
        The columns and the response.
    start : array of shape (p,)
        The coefficients to start at: they decide which of many local maxima is found.
    sigma2 : float
        The noise variance to start at.
    grid : array of shape (K,)
        The variances of the slabs in units of sigma2; the spike is not among them.
    pi : array of shape (K + 1,), optional
        The weights of spike and slabs to start at; those that the start suggests if not given.
    tol : float
        Stop when the sum of |changes| of a sweep is at most this, relative to the standard deviation of y
        plus the sum of |coefficients|.
    max_sweeps : int
        Stop after so many sweeps.
    visit : "large" or "all"
        Which columns are visited one at a time; "all" is coordinate ascent, some ten times as slow.
    callback : callable, optional
        Called with the ELBO after every sweep.
    visitor : callable
        What visits columns; one that is compiled pays with many slabs.

    Returns
    -------
    Mixture

    Examples
    --------
    >>> from farrier.adaptive.residual import Rows
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 100))
    >>> y = 2.0 * X[:, 0] - X[:, 1] + rng.standard_normal(60)
    >>> fit = fit_mixture(Rows(X, y), np.zeros(100), 1.0)
    >>> fit.coef[:2].round(1), fit.inclusion[:3].round(1)
    (array([ 2. , -1.1]), array([1., 1., 0.]))
    """
    start, grid = _checked(data, start, sigma2, grid, pi)
    every = check_choice("visit", visit, ("large", "all")) == "all"
    if not start.size or not data.total > 0.0:
        return _nothing(data, start.size, grid.size)
    state = _State(data, start, sigma2, grid, pi)
    done, sweep = False, 0
    while not done and sweep < max_sweeps:
        change, sweep = state.sweep(every, visitor), sweep + 1
        done = change <= tol * (state.unit + float(np.abs(state.b).sum()))
        if callback is not None:
            callback(state.elbo())
    return state.result(sweep, done)


def _checked(
    data: Residual, start: Vector, sigma2: float, grid: Vector, pi: Vector | None
) -> tuple[Vector, Vector]:
    """Return start and grid as arrays of floats, or say what is wrong."""
    start, grid = np.asarray(start, dtype=float), np.asarray(grid, dtype=float)
    if start.shape != data.squares.shape or not np.isfinite(start).all():
        raise ValueError(f"start must have a finite coefficient for each of the {data.squares.size} columns")
    check_number("sigma2", sigma2)
    if grid.ndim != 1 or not grid.size or not (np.isfinite(grid) & (grid > 0.0)).all():
        raise ValueError("grid must have one or more positive variances: the spike at zero is always there")
    weights = np.eye(grid.size + 1)[0] if pi is None else np.asarray(pi, dtype=float)
    if (
        weights.shape != (grid.size + 1,)
        or not math.isclose(weights.sum(), 1.0, abs_tol=1e-6)
        or weights.min() < 0.0
    ):
        raise ValueError(f"pi must have {grid.size + 1} weights that add up to 1, that of the spike first")
    return start, grid


def _nothing(data: Residual, p: int, slabs: int) -> Mixture:
    """Return the fit where there is no column, or nothing to explain."""
    pi, sigma2 = np.eye(slabs + 1)[0], data.total / max(data.n, 1.0)
    return Mixture(np.zeros(p), sigma2, pi, np.zeros(p), np.zeros(p), 0, True)


def suggested_weights(
    b: Vector,
    squares: Vector,
    sigma2: float,
    grid: Vector,
    steps: int = START_STEPS,
    least: float = START_LEAST,
) -> Vector:
    """Return the weights of spike and slabs at which b, seen with variances sigma2 / squares, is most likely.

    These are steps of EM from equal weights. One column stands for all that have the coefficient zero.

    Examples
    --------
    >>> b = np.append(np.zeros(90), np.full(10, 2.0))
    >>> suggested_weights(b, np.full(100, 50.0), 1.0, np.array([0.1, 4.0])).round(1)
    array([0.9, 0. , 0.1])
    """
    some = np.flatnonzero(b)
    d = np.append(squares[some], squares.mean())
    width = 1.0 + np.append(0.0, grid)[:, None] * d
    pull = d * np.append(b[some], 0.0)
    logs = pull**2 / (2.0 * sigma2 * np.maximum(d, LEAST)) * (1.0 - 1.0 / width) - 0.5 * np.log(width)
    seen = np.exp(logs - logs.max(axis=0))
    share = np.append(np.ones(some.size), b.size - some.size) / b.size
    pi = np.full(grid.size + 1, 1.0 / (grid.size + 1))
    for _ in range(steps):
        pi = pi * (seen @ (share / (pi @ seen)))
    pi = np.maximum(pi, least)
    return np.asarray(pi / pi.sum())


class _Best(NamedTuple):
    """The best q_j at given pulls: mean, weights of the slabs, sum_k phi log phi, log(normaliser / pi_0)."""

    mean: Vector
    phi: Matrix
    negentropy: Vector
    log_z: Vector


class _State:
    """All that a sweep changes. ``b`` are the means, ``u`` the pulls that they were made from."""

    def __init__(self, data: Residual, start: Vector, sigma2: float, grid: Vector, pi: Vector | None) -> None:
        self.data, self.sigma2 = data, sigma2
        d = data.squares
        widened = 1.0 + grid[:, None] * d
        self.keep = grid[:, None] / widened  # c_k
        self.log_width = -0.5 * np.log(widened)
        self.b = np.where(d > 0.0, start, 0.0)
        self._weigh(suggested_weights(self.b, d, sigma2, grid) if pi is None else np.asarray(pi, dtype=float))
        first = self._best(d * self.b, EVERY)
        self.phi, self.negentropy = first.phi, first.negentropy
        self.u = self.b / np.maximum(_sum_over_slabs(self.keep, self.phi), LEAST_KEPT)
        self.unit = math.sqrt(data.total / data.n)
        data.begin(self.b)

    def _weigh(self, pi: Vector) -> None:
        """Set pi, and the log of pi_k / pi_0 (1 + d s_k)^(-1/2)."""
        self.pi = np.maximum(pi, LEAST)
        log_pi = np.log(self.pi)
        self.base = (log_pi[1:] - log_pi[0])[:, None] + self.log_width

    def _best(self, u: Vector, where: Index | slice) -> _Best:
        """Return the best q_j of columns with the pulls u."""
        keep = self.keep[:, where]
        logs = self.base[:, where] + keep * (u * u / (2.0 * self.sigma2))
        top = np.maximum(logs.max(axis=0), 0.0)
        phi = np.exp(logs - top)
        total = phi.sum(axis=0) + np.exp(-top)
        phi /= total
        log_z = top + np.log(total)
        return _Best(u * _sum_over_slabs(keep, phi), phi, _sum_over_slabs(phi, logs) - log_z, log_z)

    def sweep(self, every: bool, visitor: Visitor = one_at_a_time) -> float:
        """Move every column, then pi and sigma2; return the sum of |changes|."""
        old = self.b.copy()
        if every:
            self._visit(np.arange(old.size), visitor)
        else:
            self._visit(self._together(), visitor, jointly=True)
        slabs = self.phi.sum(axis=1) / old.size
        self._weigh(np.append(1.0 - slabs.sum(), slabs))
        self.sigma2 = max(self._expected(), NO_NOISE * self.data.total) / self.data.n
        return float(np.abs(self.b - old).sum())

    def _together(self) -> Index:
        """Move the small columns at once and return the others; if that would lower the ELBO, return all."""
        b = self.b
        u = self.data.pull() + self.data.squares * b
        best = self._best(u, EVERY)
        large = np.flatnonzero(np.maximum(np.abs(b), np.abs(best.mean)) > SMALL * self.unit)
        change = best.mean - b
        change[large] = 0.0
        shift, square = self.data.shift(change)
        if self._gain(u, best, large, change, square) < -ROUNDING:
            return np.arange(b.size)
        self.data.move(shift, change)
        self.b = b + change
        for name, new in (("u", u), ("phi", best.phi), ("negentropy", best.negentropy)):
            new[..., large] = getattr(self, name)[..., large]
            setattr(self, name, new)
        return large

    def _gain(self, u: Vector, best: _Best, large: Index, change: Vector, square: float) -> float:
        """Return what the ELBO gains if all but the large columns go to their best; square is |X change|^2.

        Column j alone would gain log z_j less what its present q_j has. Together they gain the sum of these,
        less (square - sum_j d_j change_j^2) / (2 sigma2).
        """
        has = (
            self.b * (u - 0.5 * self.u) / self.sigma2 + _sum_over_slabs(self.phi, self.base) - self.negentropy
        )
        alone = best.log_z - has
        alone[large] = 0.0
        crossed = square - float((self.data.squares * change) @ change)
        return float(alone.sum()) - crossed / (2.0 * self.sigma2)

    def _visit(self, where: Index, visitor: Visitor, jointly: bool = False) -> None:
        """Visit columns one at a time, with ``jointly`` after a joint step."""
        if not where.size:
            return
        local = self.data.local(where)
        keep, before = self.keep[:, where], self.b[where]
        b = self._jointly(local, where, before) if jointly and not local.products else before
        slabs = np.array([self.base[:, where], keep / (2.0 * self.sigma2), keep]).T
        u = np.asarray(visitor(local, self.data.squares[where], b, slabs))
        best = self._best(u, where)
        self.data.settle(where, best.mean - before, local.products)
        self.b[where], self.u[where] = best.mean, u
        self.phi[:, where], self.negentropy[where] = best.phi, best.negentropy

    def _jointly(self, local: Local, where: Index, b: Vector) -> Vector:
        """Return the best means of columns given their phi."""
        gram, work, _ = local
        system = gram.copy()
        kept = _sum_over_slabs(self.keep[:, where], self.phi[:, where])
        system.flat[:: where.size + 1] = 1.0 / np.maximum(kept, LEAST_KEPT)
        _, new, info = lapack.dposv(system, work + gram @ b, lower=1, overwrite_a=1)
        if info != 0 or not np.isfinite(new).all():
            return b
        work -= gram @ (new - b)
        return np.asarray(new)

    def _expected(self) -> float:
        """Return |y - X b|^2 + sum_j b_j (u_j - d_j b_j)."""
        return self.data.rss() + float(self.b @ (self.u - self.data.squares * self.b))

    def elbo(self) -> float:
        """Return F."""
        prior = float((_sum_over_slabs(self.phi, self.base) - self.negentropy).sum())
        prior += self.b.size * math.log(self.pi[0])
        n, sigma2 = self.data.n, self.sigma2
        return prior - 0.5 * (n * math.log(2.0 * math.pi * sigma2) + self._expected() / sigma2)

    def result(self, n_sweeps: int, converged: bool) -> Mixture:
        """Return the fit."""
        second = _sum_over_slabs(self.phi * self.keep, self.sigma2 + self.keep * self.u**2)
        variance = np.maximum(second - self.b**2, 0.0)
        return Mixture(self.b, self.sigma2, self.pi, self.phi.sum(axis=0), variance, n_sweeps, converged)


def _sum_over_slabs(a: Matrix, b: Matrix) -> Vector:
    """Return sum_k a_kj b_kj."""
    return np.asarray(np.einsum("kj,kj->j", a, b))
