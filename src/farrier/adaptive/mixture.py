"""Normal mixtures by variational empirical Bayes: Kim, Wang, Carbonetto and Stephens' model, written anew.

The model is y = X b + e, e ~ N(0, sigma2 I), b_j ~ pi_0 delta_0 + sum_k pi_k N(0, sigma2 s_k). The posterior is
approximated by independent q_j. With d = x_j'x_j and u = x_j'(y - the fit of the other columns) the best q_j given
the others has, in slab k,

    mean c_k u,  variance sigma2 c_k,  c_k = s_k / (1 + d s_k),  weight ~ pi_k (1 + d s_k)^(-1/2) exp(c_k u^2 / (2 sigma2)),

so its mean b_j is a function of u alone. The bound on the log marginal likelihood (ELBO), as a function of the means
b, the pulls u that they were made from and the weights phi, is

    F = -n/2 log(2 pi sigma2) - (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / (2 sigma2)
        + sum_j sum_k phi_jk log(pi_k (1 + d_j s_k)^(-1/2) / phi_jk),    k = 0 being the spike,

because the variances sigma2 c_k move with sigma2. It is largest at pi_k = mean_j phi_jk and at
sigma2 = (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / n. Visits of one column at a time can only raise F.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from farrier._types import Matrix, Vector

GRID: Vector = (2.0 ** (np.arange(1, 4) / 4.0) - 1.0) ** 2
"""The variances of the slabs in units of sigma2, for columns of unit variance."""
SMALL = 1e-3
"""Coefficients below this, in standard deviations of y, move together; at 3e-3 signals are lost."""
FEW = 1e-300
"""No weight of the mixture falls below this, so that its logarithm is a number."""
START_STEPS, START_FLOOR = 20, 1e-4
"""Steps of EM that find the weights that the start suggests, and the least of them."""

Visit = Literal["large", "all"]
Index = NDArray[np.intp]


class Mixture(NamedTuple):
    """A fitted normal mixture: posterior means, noise variance, the weights of the spike and of the slabs.

    ``inclusion`` has for each column the probability that it is not in the spike, ``variance`` the variance of
    its coefficient.
    """

    coef: Vector
    sigma2: float
    pi: Vector
    inclusion: Vector
    variance: Vector
    n_sweeps: int
    converged: bool


class Columns(Protocol):
    """The data as the sweeps see them; the residual is kept up to date."""

    n: float
    squares: Vector
    total: float

    def begin(self, coef: Vector) -> None:
        """Set the residual to that of ``coef``."""

    def pull(self) -> Vector:
        """Return X'r."""

    def rss(self) -> float:
        """Return |r|^2."""

    def shift(self, change: Vector) -> tuple[Vector, float]:
        """Return what a change of the coefficients does to the residual (or to X'r), and |X change|^2."""

    def move(self, shift: Vector, change: Vector) -> None:
        """Carry out what `shift` said."""

    def local(self, where: Index) -> tuple[list[Vector], Vector, bool]:
        """Return a vector for each column, what a change of it is subtracted from, and whether X'r is their product."""

    def settle(self, where: Index, change: Vector, work: Vector) -> None:
        """Take over the changes of the columns ``where``, which were visited."""


class Rows:
    """X and y as they are; fastest if X is Fortran-ordered.

    ``n`` counts observations if that is not the number of rows.

    Examples
    --------
    >>> Rows(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])).squares
    array([2.])
    """

    def __init__(self, X: Matrix, y: Vector, n: float | None = None) -> None:
        self.X = np.asfortranarray(X, dtype=float)
        self.y = np.asarray(y, dtype=float)
        self.n = float(self.y.size if n is None else n)
        self.squares: Vector = np.einsum("ij,ij->j", self.X, self.X)
        self.total = float(self.y @ self.y)
        self._where: Index | None = None

    def begin(self, coef: Vector) -> None:
        """Set the residual to that of ``coef``."""
        self._r = self.y - self.X @ coef

    def pull(self) -> Vector:
        """Return X'r."""
        return self._r @ self.X

    def rss(self) -> float:
        """Return |r|^2."""
        return float(self._r @ self._r)

    def shift(self, change: Vector) -> tuple[Vector, float]:
        """Return X change, and its square."""
        shift = self.X @ change
        return shift, float(shift @ shift)

    def move(self, shift: Vector, change: Vector) -> None:
        """Take the shift from the residual."""
        self._r -= shift

    def local(self, where: Index) -> tuple[list[Vector], Vector, bool]:
        """Return the columns and the residual; of few columns their Gram matrix and X'r, which are shorter."""
        if where.size > self._r.size:
            return list(self.X.T[where] if where.size < self.X.shape[1] else self.X.T), self._r, True
        if self._where is None or not np.array_equal(where, self._where):
            self._where, self._block = where, self.X.T[where]
            self._gram = list(self._block @ self._block.T)
        return self._gram, self._block @ self._r, False

    def settle(self, where: Index, change: Vector, work: Vector) -> None:
        """Bring the residual up to date, if it is not what the visits changed."""
        if work is not self._r:
            self._r -= change @ self._block


class Gram:
    """X'X, X'y and y'y in the place of X and y, for n >= p.

    Examples
    --------
    >>> Gram(np.array([[2.0]]), np.array([4.0]), 8.0, 2).squares
    array([2.])
    """

    def __init__(self, gram: Matrix, correlation: Vector, total: float, n: float) -> None:
        self.gram, self.correlation = np.asarray(gram, dtype=float), np.asarray(correlation, dtype=float)
        self.total, self.n = float(total), float(n)
        self.squares: Vector = self.gram.diagonal().copy()

    def begin(self, coef: Vector) -> None:
        """Set X'r to that of ``coef``."""
        self._coef = coef.copy()
        self._pull = self.correlation - self.gram @ coef

    def pull(self) -> Vector:
        """Return X'r."""
        return self._pull.copy()

    def rss(self) -> float:
        """Return |y - X b|^2 = y'y - b'(X'y + X'r)."""
        return max(self.total - float(self._coef @ (self.correlation + self._pull)), 0.0)

    def shift(self, change: Vector) -> tuple[Vector, float]:
        """Return X'X change, and |X change|^2."""
        shift = self.gram @ change
        return shift, float(shift @ change)

    def move(self, shift: Vector, change: Vector) -> None:
        """Take the shift from X'r."""
        self._pull -= shift
        self._coef += change

    def local(self, where: Index) -> tuple[list[Vector], Vector, bool]:
        """Return the Gram matrix of the columns and their X'r."""
        if where.size == self.squares.size:
            return list(self.gram), self._pull, False
        return list(self.gram[np.ix_(where, where)]), self._pull[where], False

    def settle(self, where: Index, change: Vector, work: Vector) -> None:
        """Bring X'r up to date, if it is not what the visits changed."""
        self._coef[where] += change
        if work is not self._pull:
            self._pull -= change @ self.gram[where]


class _Shrunk(NamedTuple):
    """The best q_j at given pulls: mean, weights of the slabs, sum of phi log(phi), log of the normaliser over pi_0."""

    mean: Vector
    phi: Matrix
    log_phi: Vector
    log_z: Vector


class _State:
    """Everything that a sweep changes."""

    def __init__(self, data: Columns, start: Vector, sigma2: float, grid: Vector, pi: Vector | None) -> None:
        self.data, self.sigma2 = data, sigma2
        d = self.squares = data.squares
        self.narrow = grid[:, None] / (1.0 + grid[:, None] * d)
        self.log_width = -0.5 * np.log1p(grid[:, None] * d)
        self.b = np.where(d > 0.0, start, 0.0)
        self.pi = self._suggested() if pi is None else np.maximum(pi, FEW)
        self._weigh()
        first = self._shrink(d * self.b, slice(None))
        self.phi, self.log_phi = first.phi, first.log_phi
        kept = (self.narrow * first.phi).sum(axis=0)
        self.u = np.divide(self.b, kept, out=np.zeros_like(kept), where=self.b != 0.0)
        self.unit = math.sqrt(data.total / data.n)
        data.begin(self.b)

    def _suggested(self) -> Vector:
        """Return the weights at which the start itself is most likely, every b_j being seen with variance sigma2 / d_j."""
        some = np.flatnonzero(self.b)
        exponent = self.narrow[:, some] * ((self.squares[some] * self.b[some]) ** 2 / (2.0 * self.sigma2))
        exponent = np.vstack([np.zeros(some.size), exponent + self.log_width[:, some]])
        seen = np.exp(exponent - exponent.max(axis=0))
        width = np.exp(self.log_width.mean(axis=1, keepdims=True))
        seen = np.hstack([seen, np.vstack([[1.0], width])])  # one column stands for all that are zero
        count = np.append(np.ones(some.size), self.b.size - some.size) / self.b.size
        pi = np.full(seen.shape[0], 1.0 / seen.shape[0])
        for _ in range(START_STEPS):
            pi = pi * (seen @ (count / (pi @ seen)))
        pi = np.maximum(pi, START_FLOOR)
        return np.asarray(pi / pi.sum())

    def _weigh(self) -> None:
        """Note log(pi_k / pi_0 (1 + d s_k)^(-1/2))."""
        log_pi = np.log(self.pi)
        self.base = (log_pi[1:] - log_pi[0])[:, None] + self.log_width

    def _shrink(self, u: Vector, where: Index | slice) -> _Shrunk:
        """Return the best q_j of some columns, all others being where they are."""
        narrow = self.narrow[:, where]
        logs = self.base[:, where] + narrow * (u * u / (2.0 * self.sigma2))
        top = np.maximum(logs.max(axis=0), 0.0)
        phi = np.exp(logs - top)
        total = phi.sum(axis=0) + np.exp(-top)
        phi /= total
        log_z = top + np.log(total)
        return _Shrunk(u * (narrow * phi).sum(axis=0), phi, (phi * logs).sum(axis=0) - log_z, log_z)

    def sweep(self, full: bool, every: bool) -> float:
        """Visit the large columns, or every one; with ``full`` the small ones move first. Return the change."""
        old = self.b.copy()
        if every:
            self.where = np.arange(self.b.size)
        elif full:
            self._together()
        self._visit(self.where)
        self.pi = np.maximum(np.append(1.0 - self.phi.sum() / self.b.size, self.phi.mean(axis=1)), FEW)
        self._weigh()
        expected = self.data.rss() + float(self.b @ (self.u - self.squares * self.b))
        self.sigma2 = max(expected, 1e-12 * self.data.total) / self.data.n
        return float(np.abs(self.b - old).sum())

    def _together(self) -> None:
        """Move the small columns at once and note the large; if that lowered the ELBO, note all and move none.

        Alone, column j would gain log z_j less what its present q_j has. Together they gain the sum of that, less
        (|X change|^2 - sum_j d_j change_j^2) / (2 sigma2).
        """
        data = self.data
        u = data.pull() + self.squares * self.b
        best = self._shrink(u, slice(None))
        small = np.maximum(np.abs(self.b), np.abs(best.mean)) <= SMALL * self.unit
        change = np.where(small, best.mean - self.b, 0.0)
        shift, square = data.shift(change)
        now = self.b * (u - 0.5 * self.u) / self.sigma2 + (self.phi * self.base).sum(axis=0) - self.log_phi
        gain = float((best.log_z - now) @ small)
        if 2.0 * self.sigma2 * gain < square - float(self.squares @ (change * change)):
            self.where = np.arange(self.b.size)
            self.falls = getattr(self, "falls", 0) + 1
            return
        data.move(shift, change)
        self.b += change
        self.u = np.where(small, u, self.u)
        self.phi = np.where(small, best.phi, self.phi)
        self.log_phi = np.where(small, best.log_phi, self.log_phi)
        self.where = np.flatnonzero(~small)

    def _visit(self, where: Index) -> None:
        """Visit columns one at a time."""
        if not where.size:
            return
        vectors, work, products = self.data.local(where)
        narrow = self.narrow[:, where]
        constants = zip(
            vectors,
            self.squares[where].tolist(),
            self.b[where].tolist(),
            self.base[:, where].T.tolist(),
            (narrow / (2.0 * self.sigma2)).T.tolist(),
            narrow.T.tolist(),
            strict=True,
        )
        pulls, exp = [], math.exp
        for i, (vector, square, b, base, half, shrink) in enumerate(constants):
            u = float(vector @ work if products else work[i]) + square * b
            logs = [a + h * (u * u) for a, h in zip(base, half, strict=True)]
            top = max(0.0, *logs)
            total, mean = exp(-top), 0.0
            for a, c in zip(logs, shrink, strict=True):
                weight = exp(a - top)
                total += weight
                mean += weight * c
            pulls.append(u)
            change = u * mean / total - b
            if change:
                work -= change * vector
        u_new = np.array(pulls)
        best = self._shrink(u_new, where)
        self.data.settle(where, best.mean - self.b[where], work)
        self.b[where], self.u[where] = best.mean, u_new
        self.phi[:, where], self.log_phi[where] = best.phi, best.log_phi

    def elbo(self) -> float:
        """Return the bound F."""
        expected = self.data.rss() + float(self.b @ (self.u - self.squares * self.b))
        prior = float(((self.phi * self.base).sum(axis=0) - self.log_phi).sum()) + self.b.size * math.log(self.pi[0])
        return -0.5 * self.data.n * math.log(2.0 * math.pi * self.sigma2) - expected / (2.0 * self.sigma2) + prior

    def result(self, n_sweeps: int, converged: bool) -> Mixture:
        """Return the fit."""
        second = (self.phi * self.narrow * (self.sigma2 + self.narrow * self.u**2)).sum(axis=0)
        variance = np.maximum(second - self.b**2, 0.0)
        return Mixture(self.b, self.sigma2, self.pi, self.phi.sum(axis=0), variance, n_sweeps, converged)


INNER = 0
def normal_mixture(data, start, sigma2, *, grid=GRID, pi=None, tol=1e-3, max_sweeps=50, visit="large", callback=None):
    state = _State(data, start, sigma2, np.asarray(grid, float), pi)
    full, inner = True, 0
    fulls = 0
    for sweep in range(1, max_sweeps + 1):
        change = state.sweep(full, visit == "all")
        fulls += full
        if callback is not None:
            callback(state.elbo())
        done = change <= tol * (state.unit + float(np.abs(state.b).sum()))
        if full and done:
            break
        if full: inner = 0
        else: inner += 1
        full = visit == "all" or done or inner >= INNER
    out = state.result(sweep, full and done)
    normal_mixture.info = (fulls, getattr(state, "falls", 0), state.where.size)
    return out
