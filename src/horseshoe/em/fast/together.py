"""Newton's method in the tail of several responses that share their scales: `tail` for more than one.

The unknowns are u = (log d_j, log sigma2_l), d_j = tau2 lambda2_j; one EM step is a map F of them. With
P = (X'X + D^-1)^-1, m = P X'Z, the pull m_il / d_i, and the trace T = k - sum_j P_jj / d_j,

    S_jl = m_jl^2 + sigma2_l P_jj,         dS_jl / d log d_i = 2 m_jl P_ji pull_il + sigma2_l P_ji^2 / d_i,
    E_l = ||z_l - X m_l||^2 + sigma2_l T,  dE_l / d log d_i = -2 (P pull_l)_i pull_il + sigma2_l dT_i,

sigma2_l after the step is E_l / n, W_j = sum_l S_jl / (2 sigma2_l tau2) with it, and d log lambda2 is rho
times d log W.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horseshoe._types import Matrix, Scales, Vector
from horseshoe.conditional.base import condition
from horseshoe.data.problem import LeastSquares
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.tail import SMALLEST, attracts
from horseshoe.em.mstep import Hyper, m_step
from horseshoe.priors import Groups


class SharedMap(NamedTuple):
    """One EM step as a function of the scales; ``pull`` is X'Z, and ``known`` says that sigma2 is."""

    problem: LeastSquares
    targets: Matrix
    pull: Matrix
    hyper: Hyper
    known: bool
    groups: Groups | None = None

    def step(self, d: Vector, sigma2: Vector) -> tuple[Vector, Vector, Matrix]:
        """Return the scales that follow, and the derivatives of log d and log sigma2 in them."""
        (k, q), total = self.pull.shape, self.problem.total_weight
        half = condition(self.problem, d).covariance(1.0).factor
        p = half.T @ half
        mean = p @ self.pull
        slope = mean / d[:, None]
        square = p * p / d
        trace = k - float((p.diagonal() / d).sum())
        left = self.targets - self.problem.weighted.matvec(mean)
        rss = np.einsum("ij,ij->j", left, left) + sigma2 * trace
        second = mean**2 + p.diagonal()[:, None] * sigma2
        noise = sigma2 if self.known else rss / total
        scales = m_step(self.hyper, (second / noise).sum(axis=1), 1.0, self.groups)
        d_trace = (p.diagonal() - (p * p) @ (1.0 / d)) / d
        to_noise = np.zeros((q, k + q))
        if not self.known:
            to_noise[:, :k] = (-2.0 * (p @ slope) * slope + np.outer(d_trace, sigma2)).T / rss[:, None]
            to_noise[:, k:] = np.diag(sigma2 * trace / rss)
        share = second / noise
        share /= share.sum(axis=1, keepdims=True)
        to_w = np.zeros((k, k + q))
        weight = share / second
        to_w[:, :k] = 2.0 * p * ((weight * mean) @ slope.T) + square * (weight @ sigma2)[:, None]
        to_w[:, k:] = weight * p.diagonal()[:, None] * sigma2
        to_w -= share @ to_noise
        if self.groups is not None:  # d log W of a group is the mean of those of its columns, by their W
            w = (second / noise).sum(axis=1)
            w /= self.groups.spread(self.groups.totals(w))
            to_w = self.groups.spread(self.groups.totals(w * to_w.T)).T
        rho = self._elasticity(second, noise, scales)
        return scales.prior_variance, noise, np.vstack([rho[:, None] * to_w, to_noise])

    def _elasticity(self, second: Matrix, noise: Vector, scales: Scales) -> Vector:
        w = (second / noise).sum(axis=1) / (2.0 * scales.tau2)
        h = 1e-5
        up, down = (self.hyper.mode(w * np.exp(s), self.groups) for s in (h, -h))
        bent = scales.prior_variance / (scales.tau2 * scales.lambda2)
        return np.asarray(bent * np.log(up / down) / (2.0 * h))


def jump(em: SharedMap, d: Vector, sigma2: Vector) -> tuple[Vector, Vector] | None:
    """Return the fixed point near these scales, or None if going there is not safe: as in `tail`."""
    point = np.log(np.concatenate([d, sigma2]))
    last, k, free = np.inf, d.size, slice(None, d.size if em.known else None)
    for _ in range(LIMITS.newton_steps):
        here = np.exp(point)
        after, noise, jacobian = em.step(here[:k], here[k:])
        if not min(after.min(initial=1.0), noise.min()) >= SMALLEST:
            return None
        gap = np.log(np.concatenate([after, noise])) - point
        size = float(np.abs(gap).max())
        inner = jacobian[free, free]
        if size < LIMITS.newton_solved or (size < LIMITS.newton_enough and size > 0.1 * last):
            return (after, noise) if attracts(inner) else None
        if not size < 0.5 * last:
            return None
        last = size
        try:
            move = np.linalg.solve(np.eye(len(inner)) - inner, gap[free])
        except np.linalg.LinAlgError:
            return None
        if not np.abs(move).max() < LIMITS.newton_near:
            return None
        point[free] += move
    return None
