"""Normal mixtures by variational empirical Bayes, the model of Kim, Wang, Carbonetto and Stephens.

y = X b + e with e ~ N(0, sigma2 I), and b_j ~ pi_0 delta_0 + sum_k pi_k N(0, sigma2 s_k): a spike and slabs.
The posterior is approximated by independent q_j. Write d = x_j'x_j, u = x_j'(y - fit of the others) for the
pull, and c_k = s_k / (1 + d s_k). The best q_j given the others has in slab k

    mean c_k u,  variance sigma2 c_k,  weight phi_k ~ pi_k (1 + d s_k)^(-1/2) exp(c_k u^2 / (2 sigma2)),

and weight ~ pi_0 in the spike; its mean b_j = u sum_k phi_k c_k is a function of u. The lower bound of the
log marginal likelihood (ELBO) of means b, of the pulls u that they were made from and of weights phi is

    F = -n/2 log(2 pi sigma2) - (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / (2 sigma2)
        + sum_j sum_k phi_jk log(pi_k (1 + d_j s_k)^(-1/2) / phi_jk),    the spike being k = 0 with s_0 = 0.

(The variances sigma2 c_k follow sigma2.) A sweep has five steps, and none of them lowers F:

1. *Together*: small coefficients hardly depend on each other, so all go to their best at once. What this
   gains is known before it is done. Where it would lose, they stay, and those that would change most are
   visited too.
2. *Jointly*: with the phi held, F is quadratic in the large coefficients, and is largest at a ridge
   regression with the penalties 1 / sum_k phi_jk c_k - d_j. Visits alone adapt correlated columns to the new
   shrinkage slowly, and may lose some of them on the way.
3. *A visit* puts q_j to its best, the others being fixed. The large columns are visited in the order of the
   size of their first pull: where there are many maxima, the order of the user's columns must not choose.
4. pi_k = mean_j phi_jk.
5. sigma2 = (|y - X b|^2 + sum_j b_j (u_j - d_j b_j)) / n.

**Several regressions** that share their columns have q targets. The coefficients b_j1, ..., b_jq of column j
are all zero with probability pi_0, or belong to slab k with probability pi_k. Then each is
N(0, sigma2_o s_k), or zero after all with probability 1 - omega. The share omega of the regressions that a
column affects is estimated as pi is: it is 1 where each column is in for all or for none, and 1/q where they
share nothing. With z_ko = 1 - omega + omega (1 + d s_k)^(-1/2) exp(c_k u_o^2 / (2 sigma2_o)) the best q_j has

    phi_k ~ pi_k prod_o z_ko,   alpha_ko = 1 - (1 - omega) / z_ko,   b_jo = u_o sum_k phi_k alpha_ko c_k.

One regression has omega = 1. So have the classes of a softmax, whose coefficients add up to zero: they leave
q - 1 directions, the `freedom` of the determinant.

Several problems with the same columns go side by side (`Batch`), so that one product with X serves all; each
has its own pi, omega and sigma2, and leaves when it has converged. Arrays have the slabs or the targets on
their first axis, and the problems on their last one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.batch import Batch, Cube, Index
from horseshoe.average.coordinate_ascent import visit_in_turn
from horseshoe.data.standardise import SIGMA2_FLOOR

# The variances of the slabs in units of sigma2, for columns of unit variance.
GRID: Vector = (2.0 ** (np.arange(1, 4) / 4.0) - 1.0) ** 2
# Coefficients below this, in standard deviations of the targets, move together; at 3e-3 signals are lost.
SMALL = 1e-3
# No more columns are visited one at a time than this share of the observations: the others move together.
VISITED = 0.5
# What no weight of the mixture falls below, so that its logarithm is a number.
LEAST = 1e-300
# The least share of a pull that a start keeps: it may have coefficients that its weights all but exclude.
LEAST_KEPT = 1e-30
# The least noise variance, as a share of the variance of y.
NO_NOISE = 1e-12
# A loss of ELBO that is none.
ROUNDING = 1e-9
# Of the sizes of first pulls: where a start explains all there is, the others are rounding.
DIGITS = 9
# Steps of EM for the weights that the start suggests, and the least of them: none is out for good.
START_STEPS, START_LEAST = 20, 1e-4
# Where omega starts, and how near 0 or 1 it may come.
START_OMEGA, LEAST_OMEGA = 0.5, 1e-3


class Mixture(NamedTuple):
    """Fitted normal mixtures, one for each of T problems with q targets.

    ``coef`` (q, p, T) are the posterior means, ``sigma2`` (q, T) the noise variances, ``pi`` (K + 1, T) the
    weights of the spike and of the slabs, ``omega`` (T,) the share of the targets that a column affects, and
    ``inclusion`` (q, p, T) the probabilities of coefficients other than zero.
    """

    coef: Cube
    sigma2: Matrix
    pi: Matrix
    omega: Vector
    inclusion: Cube
    n_sweeps: Any
    converged: Mask


def fit_mixture(
    data: Batch,
    start: Cube,
    sigma2: Matrix | None = None,
    *,
    weights: tuple[Matrix, Vector] | None = None,
    known_noise: bool = False,
    freedom: float | None = None,
    tol: float = 1e-3,
    max_sweeps: int = 50,
    callback: Callable[[Vector], Any] | None = None,
) -> Mixture:
    """Fit a normal mixture to each problem of a batch; the columns are standardised.

    Parameters
    ----------
    data : Batch
        The columns and the targets.
    start : array of shape (q, p, T)
        The coefficients to start at: they decide which of many local maxima is found.
    sigma2 : array of shape (q, T), optional
        The noise variances to start at; those that the start leaves if not given.
    weights : tuple of pi (K + 1, T) and omega (T,), optional
        To start at; those that the start suggests if not given.
    known_noise : bool
        Whether sigma2 stays what it is.
    freedom : float, optional
        The directions that the q coefficients of a column have, if they are in together or not at all; if not
        given, each regression has its own, and omega is estimated.
    tol : float
        Stop when the sum of |changes| of a sweep is at most this, relative to the standard deviation of the
        targets plus the sum of |coefficients|.
    max_sweeps : int
        Stop after so many sweeps.
    callback : callable, optional
        Called with the ELBO of the problems that are left after every sweep.

    Returns
    -------
    Mixture

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 100))
    >>> y = 2.0 * X[:, 0] - X[:, 1] + rng.standard_normal(60)
    >>> fit = fit_mixture(Batch(Dense(X), y[:, None], np.ones((60, 1))), np.zeros((1, 100, 1)))
    >>> fit.coef[0, :2, 0].round(1), fit.inclusion[0, :3, 0].round(1)
    (array([ 2. , -1.1]), array([1., 1., 0.]))
    """
    found = _spike_alone(data, sigma2 if known_noise else None)
    left: Index = np.flatnonzero(data.total.any(axis=0))
    if not start.size or not left.size:
        return found
    data.begin(start)
    sigma2 = np.maximum(data.rss() / data.n, SIGMA2_FLOOR) if sigma2 is None else sigma2
    prior = _Prior(1.0 if len(start) == 1 else freedom, known_noise)
    known = None if weights is None else (weights[0][:, left], weights[1][left])
    state = _State(data.only(left), prior, start[..., left], sigma2[:, left], known)
    for sweep in range(1, max_sweeps + 1):
        change = state.sweep()
        done = (change <= tol * (state.unit + np.abs(state.b).sum(axis=1))).all(axis=0)
        if callback is not None:
            callback(state.elbo())
        if sweep == max_sweeps or done.any():
            for into, value in zip(found, state.result(), strict=False):
                into[..., left] = value
            found.n_sweeps[left], found.converged[left] = sweep, done
            left = left[~done]
            if not left.size:
                break
            state = state.only(~done)
    return found


def _spike_alone(data: Batch, noise: Matrix | None) -> Mixture:
    """Return the fit where there is no column, or nothing to explain; ``noise`` if that is known."""
    problems = data.shape[2]
    pi = np.zeros((GRID.size + 1, problems))
    pi[0] = 1.0
    sigma2 = data.total / np.maximum(data.n, LEAST) if noise is None else noise.copy()
    sweeps, ended = np.zeros(problems, dtype=int), np.ones(problems, dtype=np.bool_)
    return Mixture(np.zeros(data.shape), sigma2, pi, np.ones(problems), np.zeros(data.shape), sweeps, ended)


class _Prior(NamedTuple):
    """What does not change: the directions of the coefficients of a column; None if each is in by itself."""

    freedom: float | None
    known_noise: bool


class _Slabs(NamedTuple):
    """What the pulls of columns meet, slab by slab: all of shape (K, ...).

    ``keep`` is c_k and ``base`` log(pi_k / pi_0), with the determinant where coefficients are in together.
    Else ``odds`` are the log odds of omega with the determinant of one coefficient, and ``outside`` log(1 -
    omega).
    """

    keep: Any
    base: Any
    odds: Any = None
    outside: Any = 0.0

    def at(self, where: Index, problems: Index) -> _Slabs:
        """Return those of some columns, each of one problem."""
        keep, base = self.keep[:, where, problems], self.base[:, where, problems]
        if self.odds is None:
            return _Slabs(keep, base)
        return _Slabs(keep, base, self.odds[:, where, problems], self.outside[problems])

    def log_prior(self, alphas: Any, q: int) -> Any:
        """Return the expected log prior in each slab, less that of the spike."""
        return self.base if self.odds is None else self.base + alphas * self.odds + q * self.outside


class _Best(NamedTuple):
    """The best q_j at given pulls.

    ``share`` is b / u, of shape (q, ...) or (1, ...) if all have the same, ``phi`` (K, ...) the weights of
    the slabs, ``entropy`` that of these and of the inclusion, ``log_z`` the log of the normaliser over pi_0.
    Where each coefficient is in by itself, ``alphas`` (K, ...) is sum_o alpha_ko, and ``reach`` (q, ...) the
    probabilities of inclusion.
    """

    share: Any
    phi: Any
    entropy: Any
    log_z: Any
    alphas: Any = None
    reach: Any = None

    def mixed(self, which: Any, other: _Best) -> _Best:
        """Return this q_j for some columns, and the other for the rest."""
        pairs = zip(self, other, strict=True)
        return _Best(*(None if new is None else np.where(which, new, old) for new, old in pairs))


def _best(half: Any, slabs: _Slabs) -> _Best:
    """Return the best q_j where u^2 / (2 sigma2) is ``half`` (q, ...)."""
    if slabs.odds is None:
        logs = slabs.base + slabs.keep * (half[0] if len(half) == 1 else half.sum(axis=0))
        phi, log_z = _softmax(logs)
        return _Best(_over_slabs(phi, slabs.keep)[None], phi, log_z - _over_slabs(phi, logs), log_z)
    gains = slabs.keep[:, None] * half
    odds = slabs.odds[:, None] + gains
    alpha = expit(odds)
    phi, log_z = _softmax(slabs.base + (slabs.outside + np.logaddexp(0.0, odds)).sum(axis=1))
    reached, alphas = phi[:, None] * alpha, alpha.sum(axis=1)
    # sum_k phi_k E[log of the joint prior and of what a slab gains], less log_z, is minus the entropy
    inner = slabs.log_prior(alphas, len(half)) + (alpha * gains).sum(axis=1)
    share = _over_slabs(reached, slabs.keep[:, None])
    return _Best(share, phi, log_z - _over_slabs(phi, inner), log_z, alphas, reached.sum(axis=0))


def _share(half: Any, slabs: _Slabs) -> Any:
    """Return b / u alone: what a visit needs of `_best`."""
    if slabs.odds is None:
        phi, _ = _softmax(slabs.base + slabs.keep * half.sum(axis=0))
        return _over_slabs(phi, slabs.keep)
    odds = slabs.odds[:, None] + slabs.keep[:, None] * half
    phi, _ = _softmax(slabs.base + (slabs.outside + np.logaddexp(0.0, odds)).sum(axis=1))
    return _over_slabs(phi[:, None] * expit(odds), slabs.keep[:, None])


def _softmax(logs: Any) -> tuple[Any, Any]:
    """Return the weights of the slabs beside a spike of log weight 0, and the log of their sum."""
    top = np.maximum(logs.max(axis=0), 0.0)
    phi = np.exp(logs - top)
    total = phi.sum(axis=0) + np.exp(-top)
    phi /= total
    return phi, top + np.log(total)


def _over_slabs(a: Any, b: Any) -> Any:
    """Return sum_k a_k b_k."""
    return np.einsum("k...,k...->...", a, b)


class _State:
    """All that a sweep changes: the means ``b``, the pulls ``u`` that they were made from, and ``best``."""

    # Of the first pull of each column, in units of the largest: that is visited first.
    size: Any = None

    def __init__(
        self, data: Batch, prior: _Prior, start: Cube, sigma2: Matrix, weights: tuple[Matrix, Vector] | None
    ) -> None:
        self.data, self.prior, self.sigma2 = data, prior, sigma2
        self.keep, self.width = self._kept(data.squares)
        self.b = np.where(data.squares > 0.0, start, 0.0)
        self.unit = np.sqrt(np.maximum(data.total, LEAST) / data.n)
        self._weigh(*(self._suggested() if weights is None else weights))
        best = self._best(data.squares * self.b)
        self.best = best._replace(share=np.broadcast_to(best.share, self.b.shape).copy())
        self.u = self.b / np.maximum(self.best.share, LEAST_KEPT)

    def only(self, which: Mask) -> _State:
        """Return the state of some of the problems."""
        part = object.__new__(_State)
        part.data, part.prior = self.data.only(which), self.prior
        for name in ("sigma2", "unit", "b", "u", "keep", "width", "size"):
            part.__dict__[name] = np.ascontiguousarray(self.__dict__[name][..., which])
        part.best = _Best(
            *(None if one is None else np.ascontiguousarray(one[..., which]) for one in self.best)
        )
        part._weigh(self.pi[:, which], self.omega[which])
        return part

    def _weigh(self, pi: Matrix, omega: Vector) -> None:
        """Set pi and omega, and what these make of the slabs."""
        self.pi = np.maximum(pi, LEAST)
        self.omega = np.clip(omega, LEAST_OMEGA, 1.0 if self.prior.freedom else 1.0 - LEAST_OMEGA)
        self.slabs = self._slabs(self.pi, self.omega, self.keep, self.width)

    def _slabs(self, pi: Matrix, omega: Vector, keep: Cube, width: Cube) -> _Slabs:
        log_pi = np.log(pi)
        base = (log_pi[1:] - log_pi[0])[:, None]
        if self.prior.freedom:
            return _Slabs(keep, base + width)
        outside = np.log1p(-omega)
        base = np.broadcast_to(base, keep.shape)
        return _Slabs(keep, base, width + (np.log(omega) - outside), outside)

    def _kept(self, d: Matrix) -> tuple[Cube, Cube]:
        """Return c_k and the log of the determinant (1 + d s_k)^(-1/2) of each direction: (K, p, T)."""
        widened = 1.0 + GRID[:, None, None] * d
        return GRID[:, None, None] / widened, -0.5 * (self.prior.freedom or 1.0) * np.log(widened)

    def _best(self, u: Cube) -> _Best:
        return _best(u * u / (2.0 * self.sigma2)[:, None], self.slabs)

    def _suggested(self) -> tuple[Matrix, Vector]:
        """Return the weights at which b, seen with variances sigma2 / d, is most likely: steps of EM.

        One column stands for all that have the coefficient zero.
        """
        some = np.flatnonzero(self.b.any(axis=(0, 2)))
        q, p, problems = self.b.shape
        b = np.concatenate([self.b[:, some], np.zeros((q, 1, problems))], axis=1)
        mean = self.data.squares.mean(axis=0)
        d = np.where(b.any(axis=0), np.vstack([self.data.squares[some], mean]), mean)
        half = (d * b) ** 2 / (2.0 * self.sigma2)[:, None]
        keep, width = self._kept(d)
        count = np.append(np.ones(some.size), p - some.size)[:, None]
        pi, omega = np.full((GRID.size + 1, problems), 1.0 / (GRID.size + 1)), np.full(problems, START_OMEGA)
        for _ in range(START_STEPS):
            omega = (
                np.ones(problems) if self.prior.freedom else np.clip(omega, LEAST_OMEGA, 1.0 - LEAST_OMEGA)
            )
            slabs = self._slabs(np.maximum(pi, LEAST), omega, keep, width)
            pi, omega = self._shares(_best(half, slabs), count)
        pi = np.maximum(pi, START_LEAST)
        return pi / pi.sum(axis=0), omega

    def _shares(self, best: _Best, count: Matrix | None = None) -> tuple[Matrix, Vector]:
        """Return pi and omega at their best; ``count`` is how many columns each stands for."""
        phi = best.phi if count is None else best.phi * count
        slabs = phi.sum(axis=1) / self.b.shape[1]
        pi = np.vstack([np.maximum(1.0 - slabs.sum(axis=0), 0.0), slabs])
        if best.alphas is None:
            return pi, np.ones(pi.shape[1])
        inside = (phi * best.alphas).sum(axis=(0, 1)) / self.b.shape[1]
        return pi, inside / np.maximum(len(self.b) * slabs.sum(axis=0), LEAST)

    def sweep(self) -> Matrix:
        """Move every column, then the weights and the noise; return the sums of |changes| (q, T)."""
        old = self.b.copy()
        # 1. Small coefficients together.
        large = self._together()
        # 2, 3. Large ones jointly, then one at a time.
        if large.any():
            self._visit(large)
        # 4. pi and omega.
        self._weigh(*self._shares(self.best))
        # 5. The noise.
        if not self.prior.known_noise:
            least = NO_NOISE * np.maximum(self.data.total, LEAST)
            self.sigma2 = np.maximum(self._expected(), least) / self.data.n
        return np.asarray(np.abs(self.b - old).sum(axis=1))

    def _together(self) -> Mask:
        """Move the small columns at once, and return the others.

        Where that would lower the ELBO they stay, and those that would change most are visited too.
        """
        u = self.data.pull() + self.data.squares * self.b
        if self.size is None:
            first = _norm(u / np.sqrt(np.maximum(self.data.total, LEAST))[:, None])
            self.size = np.round(first / np.maximum(first.max(axis=0), LEAST), DIGITS)
        best = self._best(u)
        mean = u * best.share
        large = self._largest(np.maximum(np.abs(self.b), np.abs(mean)), SMALL)
        change = np.where(large, 0.0, mean - self.b)
        shift = self.data.fit(change)
        lost = self._gain(u, best, large, change, shift) < -ROUNDING
        if lost.any():
            large[:, lost] |= self._largest(mean - self.b, 0.0)[:, lost]
            change[..., lost], shift[..., lost] = 0.0, 0.0
        self.data.subtract_fit(shift)
        goes = ~(large | lost)
        self.b = self.b + change
        self.u = np.where(goes, u, self.u)
        self.best = best.mixed(goes, self.best)
        return large

    def _largest(self, size: Cube, least: float) -> Mask:
        """Return the columns above ``least`` standard deviations, but no more than `VISITED` allows."""
        norm = _norm(size / (self.unit * np.sqrt(len(size)))[:, None])
        large = norm > least
        for t in np.flatnonzero(large.sum(axis=0) > VISITED * self.data.n):
            most = max(int(VISITED * self.data.n[t]), 1)
            large[:, t] &= norm[:, t] >= np.partition(norm[:, t], -most)[-most]
        return np.asarray(large)

    def _gain(self, u: Cube, best: _Best, large: Mask, change: Cube, shift: Cube) -> Vector:
        """Return what the ELBO gains if all but the large columns go to their best; ``shift`` is X change.

        Column j alone would gain log z_j less what its present q_j has. Together they gain the sum of these,
        less (|X change|^2 - sum_j d_j change_j^2) / (2 sigma2).
        """
        has = (self.b * (u - 0.5 * self.u) / self.sigma2[:, None]).sum(axis=0) + self._prior_part()
        alone = np.where(large, 0.0, best.log_z - has).sum(axis=0)
        crossed = np.einsum("qit,qit->qt", shift, shift)
        crossed -= (self.data.squares * change * change).sum(axis=1)
        return np.asarray(alone - (crossed / (2.0 * self.sigma2)).sum(axis=0))

    def _prior_part(self) -> Matrix:
        """Return E[log prior] and the entropy of every column, but for what depends on its pulls."""
        known = self.slabs.log_prior(self.best.alphas, len(self.b))
        return np.asarray(_over_slabs(self.best.phi, known) + self.best.entropy)

    def _visit(self, large: Mask) -> None:
        """Move large columns jointly given their weights, then visit them one at a time."""
        problems, where = np.nonzero(large.T)
        where = where[np.lexsort((-self.size[where, problems], problems))]
        ends = np.searchsorted(problems, np.arange(large.shape[1] + 1)).tolist()
        parts = [(t, slice(*ends[t : t + 2])) for t in range(large.shape[1]) if ends[t] < ends[t + 1]]
        each = [(t, part, where[part]) for t, part in parts]
        before, squares = self.b[:, where, problems], self.data.squares[where, problems]
        inverse = 1.0 / np.maximum(self.best.share[:, where, problems], LEAST_KEPT)
        inverse = inverse[:1] if self.prior.freedom else inverse
        slabs, half = self.slabs.at(where, problems), 1.0 / (2.0 * self.sigma2)
        locals_, b = [], before.copy()
        for t, part, some in each:
            gram, work = self.data.local(t, some)
            b[:, part], work = _jointly(gram, work, inverse[:, part], before[:, part])
            locals_.append((part, gram, work))
        if len(b) == 1:
            u = visit_in_turn(locals_, squares, b[0], slabs.base, slabs.keep, half[0, problems])[None]
        else:
            u = _in_turn(locals_, squares, b, slabs, half[:, [t for t, _ in parts]])
        best = _best(u * u * half[:, problems], slabs)
        new = u * best.share
        change = new - before
        for t, part, some in each:
            self.data.update_residual(t, some, change[:, part])
        self.b[:, where, problems], self.u[:, where, problems] = new, u
        for mine, found in zip(self.best, best, strict=True):
            if mine is not None:
                mine[..., where, problems] = found

    def _expected(self) -> Matrix:
        """Return |y - X b|^2 + sum_j b_j (u_j - d_j b_j) of every target."""
        spread = (self.b * (self.u - self.data.squares * self.b)).sum(axis=1)
        return np.asarray(self.data.rss() + spread)

    def elbo(self) -> Vector:
        """Return F."""
        prior = self._prior_part().sum(axis=0) + self.b.shape[1] * np.log(self.pi[0])
        fit = self.data.n * np.log(2.0 * math.pi * self.sigma2) + self._expected() / self.sigma2
        return np.asarray(prior - 0.5 * fit.sum(axis=0))

    def result(self) -> tuple[Any, ...]:
        """Return the first fields of `Mixture`."""
        reach = self.best.phi.sum(axis=0) if self.best.reach is None else self.best.reach
        return self.b, self.sigma2, self.pi, self.omega, np.minimum(reach, 1.0)


def _norm(values: Cube) -> Matrix:
    """Return the root of the sum of squares over the targets."""
    return np.asarray(np.abs(values[0]) if len(values) == 1 else np.sqrt((values * values).sum(axis=0)))


def _jointly(gram: Matrix, work: Matrix, inverse: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """Return the best means (q, k) of columns given their phi, and X'r there: ridge regressions.

    ``inverse`` is 1 / sum_k phi_k alpha_k c_k of each target, or one row for all of them.
    """
    right, new = work + gram @ b.T, np.empty(b.shape)
    each = [slice(None)] if len(inverse) == 1 else [slice(o, o + 1) for o in range(len(b))]
    for own, diagonal in zip(each, inverse, strict=True):
        system = gram.copy()
        system.flat[:: len(gram) + 1] = diagonal
        _, solved, info = lapack.dposv(system.T, right[:, own], lower=1, overwrite_a=1)
        if info != 0 or not np.isfinite(solved).all():
            return b, work
        new[own] = solved.T
    return new, work - gram @ (new - b).T


def _in_turn(locals_: list[Any], squares: Vector, b: Matrix, slabs: _Slabs, half: Matrix) -> Matrix:
    """Visit the columns of all problems in turn, the first of each, then the second; return their pulls.

    Problems with fewer columns are padded with columns of zeros. ``half`` (q, T) is 1 / (2 sigma2).
    """
    most, q, m = max(len(gram) for _, gram, _ in locals_), len(b), squares.size
    place = np.full((most, len(locals_)), m)  # the last one is the padding
    grams, works = np.zeros((most, most, len(locals_))), np.zeros((q, most, len(locals_)))
    for t, (part, gram, work) in enumerate(locals_):
        k = len(gram)
        place[:k, t] = np.arange(part.start, part.stop)
        grams[:k, :k, t], works[:, :k, t] = gram, work.T

    def padded(values: Any) -> Any:
        return np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)[..., place]

    keep, base, d, start = padded(slabs.keep), padded(slabs.base), padded(squares), padded(b)
    odds, outside = None, 0.0
    if slabs.odds is not None:
        odds, outside = padded(slabs.odds), slabs.outside[[part.start for part, _, _ in locals_]]
    u = np.zeros((q, m + 1))
    for i in range(most):
        pull = works[:, i] + d[i] * start[:, i]
        u[:, place[i]] = pull
        here = _Slabs(keep[:, i], base[:, i], None if odds is None else odds[:, i], outside)
        change = pull * _share(pull * pull * half, here) - start[:, i]
        works -= grams[i] * change[:, None]
    return u[:, :m]
