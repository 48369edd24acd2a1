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

- *A visit* puts q_j to its best, the others being fixed. Columns are visited in the order of the size of
  their first pull: where there are many maxima, the order of the user's columns must not choose among them.
- pi_k = mean_j phi_jk, and sigma2 = (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / n.
- *Together*: small columns hardly feel each other, so all go to their best at once. What this gains is known
  before it is done. Where it would lose, they stay, and those that would change most are visited too.
- *Jointly*: with the phi held, F is quadratic in the b of the large columns, and is largest at a ridge
  regression with the penalties 1 / sum_k phi_jk c_k - d_j. Visits alone adapt correlated columns to the new
  shrinkage slowly, and may lose some of them on the way.

Several problems with the same columns go side by side (`Batch`), so that one product with X serves all; each
has its own pi and sigma2, and leaves when it has converged. Arrays have the problems on their last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import lapack

from horseshoe._checks import check_choice
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.batch import Batch, Index, Local
from horseshoe.average.coordinate_ascent import Visitor, one_at_a_time

GRID: Vector = (2.0 ** (np.arange(1, 4) / 4.0) - 1.0) ** 2
"""The variances of the slabs in units of sigma2, for columns of unit variance."""
SMALL = 1e-3
"""Coefficients below this, in standard deviations of the targets, move together; at 3e-3 signals are lost."""
VISITED = 0.5
"""No more columns are visited one at a time than this share of the observations: the others move together."""
LEAST = 1e-300
"""What no weight of the mixture falls below, so that its logarithm is a number."""
LEAST_KEPT = 1e-30
"""The least share of a pull that a start keeps: it may have coefficients that its weights all but exclude."""
NO_NOISE = 1e-12
"""The least noise variance, as a share of the variance of y."""
ROUNDING = 1e-9
"""A loss of ELBO that is none."""
DIGITS = 9
"""Of the sizes of first pulls: where a start explains all there is, the others are rounding."""
START_STEPS, START_LEAST = 20, 1e-4
"""Steps of EM for the weights that the start suggests, and the least of them: none is out for good."""

Visit = Literal["large", "all"]


class Mixture(NamedTuple):
    """Fitted normal mixtures, one for each problem of a stack: T of them.

    ``coef`` (p, T) are the posterior means, ``pi`` (K + 1, T) the weights of the spike and of the slabs;
    ``inclusion`` (p, T) has the probability that a column is not in the spike, ``variance`` (p, T) the
    posterior variance of its coefficient.
    """

    coef: Matrix
    sigma2: Vector
    pi: Matrix
    inclusion: Matrix
    variance: Matrix
    n_sweeps: Any
    converged: Mask


def fit_mixture(
    data: Batch,
    start: Matrix,
    sigma2: Vector,
    *,
    grid: Vector = GRID,
    pi: Matrix | None = None,
    known_noise: bool = False,
    tol: float = 1e-3,
    max_sweeps: int = 50,
    visit: Visit = "large",
    callback: Callable[[Vector], Any] | None = None,
    visitor: Visitor = one_at_a_time,
) -> Mixture:
    """Fit a normal mixture to each problem of a stack; the columns are standardised.

    Parameters
    ----------
    data : Batch
        The columns and the targets.
    start : array of shape (p, T)
        The coefficients to start at: they decide which of many local maxima is found.
    sigma2 : array of shape (T,)
        The noise variances to start at.
    grid : array of shape (K,)
        The variances of the slabs in units of sigma2; the spike is not among them.
    pi : array of shape (K + 1, T), optional
        The weights of spike and slabs to start at; those that the start suggests if not given.
    known_noise : bool
        Whether sigma2 stays what it is.
    tol : float
        Stop when the sum of |changes| of a sweep is at most this, relative to the standard deviation of the
        targets plus the sum of |coefficients|.
    max_sweeps : int
        Stop after so many sweeps.
    visit : "large" or "all"
        Which columns are visited one at a time; "all" is coordinate ascent, some ten times as slow.
    callback : callable, optional
        Called with the ELBO of the problems that are left after every sweep.
    visitor : callable
        What visits columns; one that is compiled pays with many slabs.

    Returns
    -------
    Mixture

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 100))
    >>> y = 2.0 * X[:, 0] - X[:, 1] + rng.standard_normal(60)
    >>> data = Batch(Dense(X), y[:, None], np.ones((60, 1)))
    >>> fit = fit_mixture(data, np.zeros((100, 1)), np.ones(1))
    >>> fit.coef[:2, 0].round(1), fit.inclusion[:3, 0].round(1)
    (array([ 2. , -1.1]), array([1., 1., 0.]))
    """
    start, sigma2, grid = _checked(data, start, sigma2, grid, pi)
    every = check_choice("visit", visit, ("large", "all")) == "all"
    found = _nothing(data, grid.size, sigma2 if known_noise else None)
    left: Index = np.flatnonzero(data.total > 0.0)
    if not start.size or not left.size:
        return found
    data.begin(start)
    state = _State(data.only(left), start[:, left], sigma2[left], grid, None if pi is None else pi[:, left])
    state.known_noise = known_noise
    for sweep in range(1, max_sweeps + 1):
        change = state.sweep(every, visitor)
        done = change <= tol * (state.unit + np.abs(state.b).sum(axis=0))
        if callback is not None:
            callback(state.elbo())
        if sweep == max_sweeps or done.any():
            _keep(found, left, state, done, sweep)
            left = left[~done]
            if not left.size:
                break
            state = state.only(~done)
    return found


def _keep(found: Mixture, left: Index, state: _State, done: Mask, sweep: int) -> None:
    """Write down what the problems that are left have come to."""
    for into, value in zip(found, state.result(), strict=False):
        into[..., left] = value
    found.n_sweeps[left], found.converged[left] = sweep, done


def _checked(
    data: Batch, start: Matrix, sigma2: Vector, grid: Vector, pi: Matrix | None
) -> tuple[Matrix, Vector, Vector]:
    """Return start, sigma2 and grid as arrays of floats, or say what is wrong."""
    start, sigma2, grid = (np.asarray(values, dtype=float) for values in (start, sigma2, grid))
    if start.shape != data.squares.shape or not np.isfinite(start).all():
        raise ValueError(
            f"start must have a finite coefficient for each of the {data.squares.shape[0]} columns, in each "
            f"of the {data.n_problems} problems"
        )
    if sigma2.shape != start.shape[1:] or not (np.isfinite(sigma2) & (sigma2 > 0.0)).all():
        raise ValueError(f"sigma2 must have a positive number for each of the {data.n_problems} problems")
    if grid.ndim != 1 or not grid.size or not (np.isfinite(grid) & (grid > 0.0)).all():
        raise ValueError("grid must have one or more positive variances: the spike at zero is always there")
    if pi is not None and (
        np.shape(pi) != (grid.size + 1, data.n_problems)
        or not np.allclose(np.sum(pi, axis=0), 1.0, rtol=0.0, atol=1e-6)
        or np.min(pi) < 0.0
    ):
        raise ValueError(
            f"pi must have {grid.size + 1} weights that add up to 1, that of the spike first, for each of "
            f"the {data.n_problems} problems"
        )
    return start, sigma2, grid


def _nothing(data: Batch, slabs: int, noise: Vector | None) -> Mixture:
    """Return the fit where there is no column, or nothing to explain; ``noise`` if that is known."""
    p, problems = data.squares.shape
    pi = np.zeros((slabs + 1, problems))
    pi[0] = 1.0
    none = np.zeros((p, problems))
    sigma2 = data.total / np.maximum(data.n, LEAST) if noise is None else noise.copy()
    sweeps, ended = np.zeros(problems, dtype=int), np.ones(problems, dtype=np.bool_)
    return Mixture(none, sigma2, pi, none.copy(), none.copy(), sweeps, ended)


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

    mean: Any
    phi: Any
    negentropy: Any
    log_z: Any


class _State:
    """All that a sweep changes. ``b`` are the means, ``u`` the pulls that they were made from."""

    known_noise = False
    size: Any = None
    """Of the first pull of each column, in units of the largest: that is visited first."""

    def __init__(self, data: Batch, start: Matrix, sigma2: Vector, grid: Vector, pi: Matrix | None) -> None:
        self.data, self.sigma2 = data, sigma2
        d = data.squares
        widened = 1.0 + grid[:, None, None] * d
        self.keep = grid[:, None, None] / widened  # c_k
        self.log_width = -0.5 * np.log(widened)
        self.b = np.where(d > 0.0, start, 0.0)
        if pi is None:
            columns = zip(self.b.T, d.T, sigma2, strict=True)
            pi = np.column_stack([suggested_weights(b, squares, s2, grid) for b, squares, s2 in columns])
        self._weigh(pi)
        first = _best(d * self.b, self.keep, self.base, sigma2)
        self.phi, self.negentropy = first.phi, first.negentropy
        self.u = self.b / np.maximum(_sum_over_slabs(self.keep, self.phi), LEAST_KEPT)
        self.unit = np.sqrt(data.total / data.n)

    def only(self, which: Mask) -> _State:
        """Return the state of some of the problems."""
        part = object.__new__(_State)
        part.data, part.known_noise = self.data.only(which), self.known_noise
        for name, value in self.__dict__.items():
            if name not in ("data", "known_noise"):
                part.__dict__[name] = np.ascontiguousarray(value[..., which])
        return part

    def _weigh(self, pi: Matrix) -> None:
        """Set pi, and the log of pi_k / pi_0 (1 + d s_k)^(-1/2)."""
        self.pi = np.maximum(pi, LEAST)
        log_pi = np.log(self.pi)
        self.base = (log_pi[1:] - log_pi[0])[:, None] + self.log_width

    def sweep(self, every: bool, visitor: Visitor = one_at_a_time) -> Vector:
        """Move every column, then pi and sigma2; return the sums of |changes|."""
        old = self.b.copy()
        large = np.ones(old.shape, dtype=np.bool_) if every else self._together()
        if large.any():
            self._visit(large, visitor, jointly=not every)
        slabs = self.phi.sum(axis=1) / old.shape[0]
        self._weigh(np.vstack([1.0 - slabs.sum(axis=0), slabs]))
        if not self.known_noise:
            self.sigma2 = np.maximum(self._expected(), NO_NOISE * self.data.total) / self.data.n
        return np.asarray(np.abs(self.b - old).sum(axis=0))

    def _together(self) -> Mask:
        """Move the small columns at once, and return the others.

        Where that would lower the ELBO they stay, and those that would change most are visited too.
        """
        u = self.data.pull() + self.data.squares * self.b
        if self.size is None:
            self.size = np.round(np.abs(u) / np.maximum(np.abs(u).max(axis=0), LEAST), DIGITS)
        best = _best(u, self.keep, self.base, self.sigma2)
        large = self._largest(np.maximum(np.abs(self.b), np.abs(best.mean)), SMALL)
        change = np.where(large, 0.0, best.mean - self.b)
        shift, square = self.data.shift(change)
        lost = self._gain(u, best, large, change, square) < -ROUNDING
        if lost.any():
            large[:, lost] |= self._largest(np.abs(best.mean - self.b), 0.0)[:, lost]
            change[:, lost], shift[:, lost] = 0.0, 0.0
        self.data.subtract_fit(shift)
        stays = large | lost
        self.b = self.b + change
        self.u = np.where(stays, self.u, u)
        self.phi = np.where(stays, self.phi, best.phi)
        self.negentropy = np.where(stays, self.negentropy, best.negentropy)
        return np.asarray(large)

    def _largest(self, size: Matrix, least: float) -> Mask:
        """Return the columns above ``least`` standard deviations, but no more than `VISITED` allows."""
        large = size > least * self.unit
        for t in np.flatnonzero(large.sum(axis=0) > VISITED * self.data.n):
            most = max(int(VISITED * self.data.n[t]), 1)
            large[:, t] &= size[:, t] >= np.partition(size[:, t], -most)[-most]
        return np.asarray(large)

    def _gain(self, u: Matrix, best: _Best, large: Mask, change: Matrix, square: Vector) -> Vector:
        """Return what the ELBO gains if all but the large columns go to their best; square is |X change|^2.

        Column j alone would gain log z_j less what its present q_j has. Together they gain the sum of these,
        less (square - sum_j d_j change_j^2) / (2 sigma2).
        """
        has = self.b * (u - 0.5 * self.u) / self.sigma2
        has += _sum_over_slabs(self.phi, self.base) - self.negentropy
        alone = np.where(large, 0.0, best.log_z - has)
        crossed = square - (self.data.squares * change * change).sum(axis=0)
        return np.asarray(alone.sum(axis=0) - crossed / (2.0 * self.sigma2))

    def _visit(self, large: Mask, visitor: Visitor, jointly: bool) -> None:
        """Visit columns of each problem one at a time, with ``jointly`` after a joint step."""
        problems, where = np.nonzero(large.T)
        if jointly:
            where = where[np.lexsort((-self.size[where, problems], problems))]
        keep, base, phi = (each[:, where, problems] for each in (self.keep, self.base, self.phi))
        before, squares = self.b[where, problems], self.data.squares[where, problems]
        sigma2, u = self.sigma2[problems], np.empty(where.size)
        slabs = np.array([base, keep / (2.0 * sigma2), keep]).T
        inverse = 1.0 / np.maximum(_sum_over_slabs(keep, phi), LEAST_KEPT)
        ends = np.searchsorted(problems, np.arange(large.shape[1] + 1)).tolist()
        parts = [(t, slice(*ends[t : t + 2]), where[slice(*ends[t : t + 2])]) for t in range(large.shape[1])]
        for t, part, some in parts:
            if some.size:
                local = self.data.local(t, some)
                b = self._jointly(local, inverse[part], before[part]) if jointly else before[part]
                u[part] = visitor(local, squares[part], b, slabs[part])
        best = _best(u, keep, base, sigma2)
        change = best.mean - before
        for t, part, some in parts:
            if some.size:
                self.data.update_residual(t, some, change[part])
        self.b[where, problems], self.u[where, problems] = best.mean, u
        self.phi[:, where, problems], self.negentropy[where, problems] = best.phi, best.negentropy

    @staticmethod
    def _jointly(local: Local, inverse: Vector, b: Vector) -> Vector:
        """Return the best means of columns given their phi, ``inverse`` being 1 / sum_k phi_k c_k.

        They stay as they are if they are more than the rows.
        """
        gram, work, products = local
        if products:
            return b
        system = gram.copy()
        system.flat[:: b.size + 1] = inverse
        _, new, info = lapack.dposv(system.T, work + gram @ b, lower=1, overwrite_a=1)
        if info != 0 or not np.isfinite(new).all():
            return b
        work -= gram @ (new - b)
        return np.asarray(new)

    def _expected(self) -> Vector:
        """Return |y - X b|^2 + sum_j b_j (u_j - d_j b_j)."""
        spread = (self.b * (self.u - self.data.squares * self.b)).sum(axis=0)
        return np.asarray(self.data.rss() + spread)

    def elbo(self) -> Vector:
        """Return F."""
        prior = (_sum_over_slabs(self.phi, self.base) - self.negentropy).sum(axis=0)
        prior += self.b.shape[0] * np.log(self.pi[0])
        n, sigma2 = self.data.n, self.sigma2
        return np.asarray(prior - 0.5 * (n * np.log(2.0 * math.pi * sigma2) + self._expected() / sigma2))

    def result(self) -> tuple[Any, ...]:
        """Return coefficients, sigma2, pi, inclusion and variances, as in `Mixture`."""
        second = _sum_over_slabs(self.phi * self.keep, self.sigma2 + self.keep * self.u**2)
        variance = np.maximum(second - self.b**2, 0.0)
        inclusion = np.minimum(self.phi.sum(axis=0), 1.0)
        return self.b, self.sigma2, self.pi, inclusion, variance


def _best(u: Any, keep: Any, base: Any, sigma2: Any) -> _Best:
    """Return the best q_j of columns with the pulls u."""
    logs = base + keep * (u * u / (2.0 * sigma2))
    top = np.maximum(logs.max(axis=0), 0.0)
    phi = np.exp(logs - top)
    total = phi.sum(axis=0) + np.exp(-top)
    phi /= total
    log_z = top + np.log(total)
    return _Best(u * _sum_over_slabs(keep, phi), phi, _sum_over_slabs(phi, logs) - log_z, log_z)


def _sum_over_slabs(a: Any, b: Any) -> Any:
    """Return sum_k a_k b_k."""
    return np.einsum("k...,k...->...", a, b)
