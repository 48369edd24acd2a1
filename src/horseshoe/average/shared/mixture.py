"""Normal mixtures on rows of coefficients: a column is in for all regressions together, or out.

The coefficients b_j1, ..., b_jq of column j are all zero with probability pi_0, or belong to slab k with
probability pi_k. Then each of them is N(0, sigma2_o s_k), or zero after all with probability 1 - omega: omega
is the share of the regressions that a column reaches, 1 where it is in for all or for none, 1/q where they
share nothing. It is estimated like pi, so the data say how much there is to share.

With d = x_j'x_j, the pulls u_o = x_j'(y_o - fit of the others) and c_k = s_k / (1 + d s_k), the best q_j
given the others has

    z_ko = 1 - omega + omega (1 + d s_k)^(-1/2) exp(c_k u_o^2 / (2 sigma2_o)),
    phi_k ~ pi_k prod_o z_ko,      alpha_ko = 1 - (1 - omega) / z_ko,
    b_jo = u_o sum_k phi_k alpha_ko c_k.

All else is as in `horseshoe.average.mixture`, which this is for q = 1: visits, steps of small columns
together and of large ones jointly, and none of them lowers the ELBO. Columns are visited in all sets at the
same time, the first of each, then the second.

With ``whole`` omega is 1, and ``freedom`` directions are left to the q coefficients: q - 1 of classes, whose
coefficients add up to zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.batch import Index
from horseshoe.average.mixture import (
    DIGITS,
    GRID,
    LEAST,
    LEAST_KEPT,
    NO_NOISE,
    ROUNDING,
    SMALL,
    START_LEAST,
    START_STEPS,
    VISITED,
)
from horseshoe.average.shared.batch import Cube, Padded, SharedBatch

START_OMEGA, LEAST_OMEGA = 0.5, 1e-3
"""Where omega starts, and how near 0 or 1 it may come."""


class SharedMixture(NamedTuple):
    """Fitted mixtures of T sets: ``coef`` (p, T, q), ``sigma2`` (T, q), and of the rows the rest.

    ``pi`` (K + 1, T) are the weights of spike and slabs, ``omega`` (T,) the share of regressions that a
    column reaches, and ``reach`` (p, T, q) the probability that a column is in for each.
    """

    coef: Cube
    sigma2: Matrix
    pi: Matrix
    omega: Vector
    reach: Cube


def fit_shared_mixture(
    data: SharedBatch,
    start: Cube,
    sigma2: Matrix,
    *,
    grid: Vector = GRID,
    weights: tuple[Matrix, Vector] | None = None,
    known_noise: bool = False,
    whole: bool = False,
    freedom: float | None = None,
    tol: float = 1e-3,
    max_sweeps: int = 50,
    callback: Callable[[Vector], Any] | None = None,
) -> SharedMixture:
    """Fit a mixture to each set of a stack; the columns are standardised.

    Parameters
    ----------
    data : SharedBatch
        The columns and the targets.
    start : array of shape (p, T, q)
        The coefficients to start at.
    sigma2 : array of shape (T, q)
        The noise variances to start at.
    grid : array of shape (K,)
        The variances of the slabs in units of sigma2.
    weights : tuple of pi (K + 1, T) and omega (T,), optional
        To start at; those that the start suggests if not given.
    known_noise : bool
        Whether sigma2 stays what it is.
    whole : bool
        Whether omega is 1.
    freedom : float, optional
        The directions that the q coefficients have, if these are fewer.
    tol, max_sweeps, callback
        As in `horseshoe.average.mixture.fit_mixture`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 100))
    >>> Y = np.outer(X[:, 0], [1.0, -1.0, 0.5]) + rng.standard_normal((60, 3))
    >>> data = SharedBatch(Dense(X), Y[:, None], np.ones((60, 1)), np.array([60.0]))
    >>> fit = fit_shared_mixture(data, np.zeros((100, 1, 3)), np.ones((1, 3)))
    >>> fit.coef[0, 0].round(1), fit.reach[:2, 0, 0].round(1)
    (array([ 0.9, -1.3,  0.7]), array([1., 0.]))
    """
    p, sets, q = start.shape
    none, spike = np.zeros_like(start), np.zeros((grid.size + 1, sets))
    spike[0] = 1.0
    found = SharedMixture(none, sigma2.copy(), spike, np.ones(sets), none.copy())
    left: Index = np.flatnonzero(data.total.any(axis=1))
    if not p or not left.size:
        return found
    data.begin(start)
    prior = _Prior(grid, whole, q if freedom is None else freedom, known_noise)
    known = None if weights is None else (weights[0][:, left], weights[1][left])
    state = _State(data.only(left), prior, start[:, left], sigma2[left], known)
    for sweep in range(1, max_sweeps + 1):
        change = state.sweep()
        size = np.abs(state.b).sum(axis=0) / state.unit
        done = np.asarray((change <= tol * (1.0 + size)).all(axis=1))
        if callback is not None:
            callback(state.elbo())
        if sweep == max_sweeps or done.any():
            _keep(found, left, state)
            left = left[~done]
            if not left.size:
                break
            state = state.only(~done)
    return found


def _keep(found: SharedMixture, left: Index, state: _State) -> None:
    """Write down what the sets that are left have come to."""
    found.coef[:, left], found.sigma2[left] = state.b, state.sigma2
    found.pi[:, left], found.omega[left] = state.pi, state.omega
    found.reach[:, left] = np.minimum(state.reach, 1.0)


class _Prior(NamedTuple):
    """What does not change: the slabs, and how coefficients share them."""

    grid: Vector
    whole: bool
    freedom: float
    known_noise: bool


class _Best(NamedTuple):
    """The best q_j at given pulls.

    ``share`` is b / u, ``phi`` (K, ...) the weights of the slabs, ``alphas`` (K, ...) the sums over the
    regressions of alpha, ``reach`` (..., q) the probability of each to be in, ``entropy`` that of all of
    these, and ``log_z`` the log of the normaliser over pi_0.
    """

    share: Any
    phi: Any
    alphas: Any
    reach: Any
    entropy: Any
    log_z: Any


class _Weights(NamedTuple):
    """The logs of pi_k / pi_0, of omega and of 1 - omega, as sets have them."""

    slabs: Any
    inside: Any
    outside: Any

    def of(self, sets: Any) -> _Weights:
        return _Weights(self.slabs[:, sets], self.inside[sets], self.outside[sets])


def _best(half: Any, keep: Any, width: Any, weights: _Weights, prior: _Prior) -> _Best:
    """Return the best q_j where u^2 / (2 sigma2) is ``half`` (..., q), by slabs ``keep`` and ``width``."""
    q = half.shape[-1]
    if prior.whole:
        logs = weights.slabs + prior.freedom * width + keep * half.sum(axis=-1)
        phi, log_z = _softmax(logs)
        share = _over_slabs(phi, keep)[..., None]
        whole = phi.sum(axis=0)[..., None]
        entropy = log_z - _over_slabs(phi, logs)
        return _Best(share, phi, np.full_like(phi, q), whole, entropy, log_z)
    odds = (width + (weights.inside - weights.outside))[..., None] + keep[..., None] * half
    outside = weights.outside[..., None]
    log_each = outside + np.logaddexp(0.0, odds)
    alpha = np.exp(np.minimum(odds - log_each + outside, 0.0))
    phi, log_z = _softmax(weights.slabs + log_each.sum(axis=-1))
    reached = phi[..., None] * alpha
    share = np.einsum("k...q,k...->...q", reached, keep)
    # sum_k phi_k E[log of the joint prior and of what a slab gains], less log_z, is minus the entropy
    alphas = alpha.sum(axis=-1)
    inner = weights.slabs + alphas * (weights.inside + width) + (q - alphas) * weights.outside
    inner += (alpha * (keep[..., None] * half)).sum(axis=-1)
    return _Best(share, phi, alphas, reached.sum(axis=0), log_z - _over_slabs(phi, inner), log_z)


def _softmax(logs: Any) -> tuple[Any, Any]:
    """Return the weights of the slabs beside a spike of log weight 0, and the log of their sum."""
    top = np.maximum(logs.max(axis=0), 0.0)
    phi = np.exp(logs - top)
    total = phi.sum(axis=0) + np.exp(-top)
    phi /= total
    return phi, top + np.log(total)


class _State:
    """All that a sweep changes: ``b`` are the means, ``u`` the pulls that they were made from."""

    size: Any = None

    def __init__(
        self,
        data: SharedBatch,
        prior: _Prior,
        start: Cube,
        sigma2: Matrix,
        weights: tuple[Matrix, Vector] | None,
    ) -> None:
        self.data, self.prior, self.sigma2 = data, prior, sigma2
        d = data.squares
        widened = 1.0 + prior.grid[:, None, None] * d
        self.keep, self.width = prior.grid[:, None, None] / widened, -0.5 * np.log(widened)
        self.b = np.where(d[..., None] > 0.0, start, 0.0)
        self.unit = np.sqrt(np.maximum(data.total, LEAST) / data.n[:, None])
        self._weigh(*(self._suggested() if weights is None else weights))
        best = self._best(d[..., None] * self.b)
        self.phi, self.alphas, self.entropy = best.phi, best.alphas, best.entropy
        self.share, self.reach = (np.broadcast_to(one, self.b.shape) for one in (best.share, best.reach))
        self.u = self.b / np.maximum(self.share, LEAST_KEPT)

    def only(self, which: Mask) -> _State:
        """Return the state of some of the sets."""
        part = object.__new__(_State)
        part.data, part.prior = self.data.only(which), self.prior
        part.sigma2, part.unit, part.omega = self.sigma2[which], self.unit[which], self.omega[which]
        for name in ("b", "u", "share", "reach"):
            part.__dict__[name] = self.__dict__[name][:, which]
        for name in ("keep", "width", "phi", "alphas", "entropy", "size", "pi"):
            part.__dict__[name] = np.ascontiguousarray(self.__dict__[name][..., which])
        part._weigh(part.pi, part.omega)
        return part

    def _weigh(self, pi: Matrix, omega: Vector) -> None:
        self.pi = np.maximum(pi, LEAST)
        self.omega = np.clip(omega, LEAST_OMEGA, 1.0 if self.prior.whole else 1.0 - LEAST_OMEGA)
        log_pi = np.log(self.pi)
        outside = np.log1p(-self.omega) if not self.prior.whole else np.zeros_like(self.omega)
        self.weights = _Weights((log_pi[1:] - log_pi[0])[:, None], np.log(self.omega), outside)

    def _best(self, u: Cube) -> _Best:
        return _best(u * u / (2.0 * self.sigma2), self.keep, self.width, self.weights, self.prior)

    def _suggested(self) -> tuple[Matrix, Vector]:
        """Return the weights at which the start is most likely; one row stands for all that are zero."""
        rows = np.flatnonzero(self.b.any(axis=(1, 2)))
        p, sets, q = self.b.shape
        b, mean = np.concatenate([self.b[rows], np.zeros((1, sets, q))]), self.data.squares.mean(axis=0)
        d = np.where(b.any(axis=2), np.vstack([self.data.squares[rows], mean]), mean)
        u = d[..., None] * b
        widened = 1.0 + self.prior.grid[:, None, None] * d
        keep, width = self.prior.grid[:, None, None] / widened, -0.5 * np.log(widened)
        count = np.append(np.ones(rows.size), p - rows.size)
        half = u * u / (2.0 * self.sigma2)
        slabs = self.prior.grid.size
        self._weigh(np.full((slabs + 1, sets), 1.0 / (slabs + 1)), np.full(sets, START_OMEGA))
        for _ in range(START_STEPS):
            best = _best(half, keep, width, self.weights, self.prior)
            self._weigh(*self._shares(best.phi, best.alphas, count))
        pi = np.maximum(self.pi, START_LEAST)
        return pi / pi.sum(axis=0), self.omega

    def _shares(self, phi: Any, alphas: Any, count: Any = None) -> tuple[Matrix, Vector]:
        """Return pi and omega at their best."""
        count = np.ones(phi.shape[1]) if count is None else count
        slabs = np.einsum("kjt,j->kt", phi, count) / count.sum()
        pi = np.vstack([np.maximum(1.0 - slabs.sum(axis=0), 0.0), slabs])
        inside = np.einsum("kjt,kjt,j->t", phi, alphas, count) / count.sum()
        reached = inside / np.maximum(self.b.shape[2] * slabs.sum(axis=0), LEAST)
        return pi, np.ones_like(reached) if self.prior.whole else reached

    def sweep(self) -> Matrix:
        """Move every column, then the weights and the noise; return the sums of |changes| (T, q)."""
        old = self.b.copy()
        large = self._together()
        if large.any():
            self._visit(large)
        self._weigh(*self._shares(self.phi, self.alphas))
        if not self.prior.known_noise:
            least = NO_NOISE * np.maximum(self.data.total, LEAST)
            self.sigma2 = np.maximum(self._expected(), least) / self.data.n[:, None]
        return np.asarray(np.abs(self.b - old).sum(axis=0) / self.unit)

    def _together(self) -> Mask:
        """Move the small columns at once, and return the others.

        Where that would lower the ELBO they stay, and those that would change most are visited too.
        """
        u = self.data.pull() + self.data.squares[..., None] * self.b
        if self.size is None:
            first = np.sqrt((u * u / np.maximum(self.data.total, LEAST)).sum(axis=2))
            self.size = np.round(first / np.maximum(first.max(axis=0), LEAST), DIGITS)
        best = self._best(u)
        mean = u * best.share
        large = self._largest(np.maximum(np.abs(self.b), np.abs(mean)) / self.unit, SMALL)
        change = np.where(large[..., None], 0.0, mean - self.b)
        shift = self.data.fit(change)
        lost = self._gain(u, best, large, change, shift) < -ROUNDING
        if lost.any():
            most = self._largest(np.abs(mean - self.b) / self.unit, 0.0)
            large[:, lost] |= most[:, lost]
            change[:, lost], shift[:, lost] = 0.0, 0.0
        self.data.subtract_fit(shift)
        stays = large | lost
        self.b = self.b + change
        self._accept(~stays, u, best)
        return large

    def _accept(self, which: Mask, u: Any, best: _Best) -> None:
        """Take over the best q_j of some columns."""
        wide = which[..., None]
        self.u = np.where(wide, u, self.u)
        self.share = np.where(wide, best.share, self.share)
        self.reach = np.where(wide, best.reach, self.reach)
        self.phi, self.alphas = np.where(which, best.phi, self.phi), np.where(which, best.alphas, self.alphas)
        self.entropy = np.where(which, best.entropy, self.entropy)

    def _largest(self, size: Cube, least: float) -> Mask:
        """Return the columns that are visited: of some size, but no more than rows can bear."""
        size = np.sqrt((size * size).mean(axis=2))
        large = size > least
        for t in np.flatnonzero(large.sum(axis=0) > VISITED * self.data.n):
            most = max(int(VISITED * self.data.n[t]), 1)
            large[:, t] &= size[:, t] >= np.partition(size[:, t], -most)[-most]
        return np.asarray(large)

    def _gain(self, u: Cube, best: _Best, large: Mask, change: Cube, shift: Cube) -> Vector:
        """Return what the ELBO gains if all but the large columns go to their best."""
        has = (self.b * (u - 0.5 * self.u) / self.sigma2).sum(axis=2) + self._prior_part()
        alone = np.where(large, 0.0, best.log_z - has).sum(axis=0)
        crossed = np.einsum("itq,itq->tq", shift, shift)
        crossed = crossed - np.einsum("jt,jtq,jtq->tq", self.data.squares, change, change)
        return np.asarray(alone - (crossed / (2.0 * self.sigma2)).sum(axis=1))

    def _prior_part(self) -> Matrix:
        """Return E[log prior] and the entropy of every column, but for what depends on its pulls."""
        slabs, inside, outside = self.weights
        scale = self.prior.freedom / self.b.shape[2]
        outer = (self.b.shape[2] - self.alphas) * outside if not self.prior.whole else 0.0
        known = slabs + self.alphas * (inside + scale * self.width) + outer
        return np.asarray(_over_slabs(self.phi, known) + self.entropy)

    def _visit(self, large: Mask) -> None:
        """Move large columns jointly given their weights, then visit them one at a time."""
        where = []
        for t in range(large.shape[1]):
            some = np.flatnonzero(large[:, t])
            where.append(some[np.argsort(-self.size[some, t], kind="stable")])
        block = self.data.padded(where)
        sets = np.arange(len(where))[:, None]
        before = np.where(block.known[..., None], self.b[block.places, sets], 0.0)
        b = self._jointly(block, before, self.share[block.places, sets])
        u, best = self._one_at_a_time(block, b)
        change = np.where(block.known[..., None], u * best.share - before, 0.0)
        self.data.update_residual(where, change)
        here = (block.places[block.known], np.nonzero(block.known)[0])
        self.b[here], self.u[here] = (before + change)[block.known], u[block.known]
        self.share[here] = np.broadcast_to(best.share, u.shape)[block.known]
        self.reach[here] = np.broadcast_to(best.reach, u.shape)[block.known]
        self.entropy[here] = best.entropy[block.known]
        for mine, new in ((self.phi, best.phi), (self.alphas, best.alphas)):
            mine[:, here[0], here[1]] = new[:, block.known]

    def _jointly(self, block: Padded, b: Any, share: Any) -> Any:
        """Return the best means of columns given their weights: a ridge regression for each target."""
        inverse = np.where(block.known[..., None], 1.0 / np.maximum(share, LEAST_KEPT), 1.0)
        q, k = b.shape[2], b.shape[1]
        right = block.work + block.gram @ b
        diagonal = np.arange(k)
        if self.prior.whole:
            system = block.gram.copy()
            system[:, diagonal, diagonal] = inverse[..., 0]
            new = np.linalg.solve(system, right)
        else:
            system = np.repeat(block.gram[:, None], q, axis=1)
            system[:, :, diagonal, diagonal] = inverse.transpose(0, 2, 1)
            new = np.linalg.solve(system, right.transpose(0, 2, 1)[..., None])[..., 0].transpose(0, 2, 1)
        if not np.isfinite(new).all():
            return b
        np.subtract(block.work, block.gram @ (new - b), out=block.work)
        return new

    def _one_at_a_time(self, block: Padded, b: Any) -> tuple[Any, _Best]:
        """Visit the columns of all sets in turn; return their pulls and what these make of them."""
        sets = np.arange(b.shape[0])[:, None]
        keep, width = self.keep[:, block.places, sets], self.width[:, block.places, sets]
        squares = self.data.squares[block.places, sets][..., None]
        work, u = block.work, np.empty_like(b)
        scale = 1.0 / (2.0 * self.sigma2)
        weights = _Weights(self.weights.slabs[:, 0], self.weights.inside, self.weights.outside)
        for i in range(b.shape[1]):
            pull = work[:, i] + squares[:, i] * b[:, i]
            u[:, i] = pull
            new = pull * _share(pull * pull * scale, keep[:, :, i], width[:, :, i], weights, self.prior)
            change = new - b[:, i]
            work -= block.gram[:, i, :, None] * change[:, None, :]
        weights = _Weights(
            self.weights.slabs[:, 0, :, None], self.weights.inside[:, None], self.weights.outside[:, None]
        )
        return u, _best(u * u * scale[:, None], keep, width, weights, self.prior)

    def _expected(self) -> Matrix:
        """Return |y - X b|^2 + sum_j b_j (u_j - d_j b_j), of every target."""
        spread = (self.b * (self.u - self.data.squares[..., None] * self.b)).sum(axis=0)
        return np.asarray(self.data.rss() + spread)

    def elbo(self) -> Vector:
        """Return the lower bound of the log marginal likelihood of each set."""
        prior = self._prior_part().sum(axis=0) + self.b.shape[0] * np.log(self.pi[0])
        n, s2 = self.data.n[:, None], self.sigma2
        fit = 0.5 * (n * np.log(2.0 * math.pi * s2) + self._expected() / s2)
        return np.asarray(prior - fit.sum(axis=1))


def _share(half: Any, keep: Any, width: Any, weights: _Weights, prior: _Prior) -> Any:
    """Return b / u alone: what a visit needs of `_best`."""
    if prior.whole:
        phi, _ = _softmax(weights.slabs + prior.freedom * width + keep * half.sum(axis=-1))
        return _over_slabs(phi, keep)[..., None]
    odds = (width + (weights.inside - weights.outside))[..., None] + keep[..., None] * half
    each = np.logaddexp(0.0, odds)
    phi, _ = _softmax(weights.slabs + (each + weights.outside[..., None]).sum(axis=-1))
    return np.einsum("k...q,k...->...q", phi[..., None] * np.exp(odds - each), keep)


def _over_slabs(a: Any, b: Any) -> Any:
    """Return sum_k a_k b_k."""
    return np.einsum("k...,k...->...", a, b)
