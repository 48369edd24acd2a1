"""Newton's method on the fixed point of EM, for the tail only.

EM converges linearly, and slowly when a coefficient stands near the edge of being selected. Once the
active set has settled and the next Newton step is small, the fixed point that EM is walking to can be
solved for directly. The path before that decides which mode it is, so nothing here touches it: a Newton
run counts only if it contracts at every step, stays near, and ends where EM itself is attracted.

The unknowns are u = (log E[b_j^2], log E[RSS]); one EM step is a map F of them, whose Jacobian follows
from P = (X'X + D^-1)^-1:

    d m_j / d log d_l = P_jl m_l / d_l,        d P_jj / d log d_l = P_jl^2 / d_l,
    d log d_l = rho_l (d log E[b_l^2] - d log sigma2),        rho = d log lambda2 / d log W.

With approximate expectations P_jj is replaced by q_j = d_j / (1 + d_j ||x_j||^2), and d q_j / d log d_j =
d_j / (1 + d_j ||x_j||^2)^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horseshoe._types import Matrix, Moments, Scales, Vector
from horseshoe.conditional.base import condition, moments
from horseshoe.data.problem import LeastSquares
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.mstep import Hyper, m_step, noise_variance
from horseshoe.em.schedule import approximate
from horseshoe.priors import Groups

SMALLEST = float(np.finfo(np.float64).tiny)
"""The reciprocal of anything smaller may be too large for a float."""


class EMMap(NamedTuple):
    """One EM step as a function of E[b^2] and E[RSS], the global scale fixed."""

    problem: LeastSquares
    hyper: Hyper
    known_sigma2: float | None
    approximate: bool = False
    groups: Groups | None = None

    def step(self, log_second: Vector, log_rss: float) -> tuple[Scales, Moments]:
        """Return the scales and the moments that follow."""
        second = np.exp(log_second)
        sigma2 = self.known_sigma2 or noise_variance(float(np.exp(log_rss)), self.problem.total_weight)
        scales = m_step(self.hyper, second, sigma2, self.groups)
        form = approximate if self.approximate else condition
        return scales, moments(form(self.problem, scales.prior_variance), sigma2)

    def jacobian(self, log_second: Vector, scales: Scales, found: Moments) -> Matrix:
        """Return d (log E[b^2], log E[RSS]) after the step / d the same before it."""
        k, d, sigma2, mean = log_second.size, scales.prior_variance, scales.sigma2, found.mean
        half = condition(self.problem, d).covariance(1.0).factor
        p = half.T @ half
        pull = mean / d  # = X'r
        d_variance, d_trace = self._spread_derivatives(p, d)
        d_second = 2.0 * p * np.outer(mean, pull) + sigma2 * d_variance
        d_rss = -2.0 * (p @ pull) * pull + sigma2 * d_trace
        jac = np.empty((k + 1, k + 1))
        rho = self._elasticity(log_second, scales)
        jac[:k, :k] = d_second * rho / found.second_moment[:, None]
        jac[k, :k] = d_rss * rho / found.expected_rss
        if self.groups is not None:
            jac[:, :k] = self.groups.mixed(jac[:, :k], np.exp(log_second))
        direct = np.append(found.variance / found.second_moment, 0.0)
        direct[k] = sigma2 * found.fit_trace / found.expected_rss
        jac[:, k] = direct - jac[:, :k].sum(axis=1)
        return jac if self.known_sigma2 is None else jac[:k, :k]

    def _spread_derivatives(self, p: Matrix, d: Vector) -> tuple[Matrix, Vector]:
        """Return the derivatives of Var[b] / sigma2 and of its trace with X'X in log d."""
        if self.approximate:
            slope = d / (1.0 + d * self.problem.diagonal) ** 2
            return np.diag(slope), slope * self.problem.diagonal
        return p * p / d, (p.diagonal() - (p * p) @ (1.0 / d)) / d

    def _elasticity(self, log_second: Vector, scales: Scales) -> Vector:
        w = np.exp(log_second) / (2.0 * scales.sigma2 * scales.tau2)
        h = 1e-5
        up, down = (self.hyper.mode(w * np.exp(s), self.groups) for s in (h, -h))
        bent = scales.prior_variance / (scales.tau2 * scales.lambda2)  # by the slab: 1 without one
        return np.asarray(bent * np.log(up / down) / (2.0 * h))


def find_fixed_point(em: EMMap, found: Moments) -> list[tuple[Scales, Moments]]:
    """Solve for the fixed point near ``found``; return the steps to it, or none if it is not safe.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> problem = plain(np.eye(4)[:, :1] * 2.0, np.array([4.0, 1.0, 0.5, 0.2]))
    >>> em = EMMap(problem, Hyper(Horseshoe(), 2.0, HalfCauchy()), 0.3)
    >>> near = Moments(np.array([1.9]), np.array([0.06]), 1.5, 0.9, None)
    >>> path = find_fixed_point(em, near)
    >>> scales, moments = path[-1]
    >>> again = em.step(np.log(moments.second_moment), np.log(moments.expected_rss))[1]
    >>> bool(abs(again.mean - moments.mean).max() < 1e-12)
    True
    """
    if not (found.expected_rss > 0.0 and found.second_moment.min() > 0.0):
        return []  # the noise ran to its floor: what fades, to second order, takes more than there is
    log_second, log_rss = np.log(found.second_moment), float(np.log(found.expected_rss))
    path: list[tuple[Scales, Moments]] = []
    last = np.inf
    for _ in range(LIMITS.newton_steps):
        scales, found = em.step(log_second, log_rss)
        if not scales.prior_variance.min() >= SMALLEST:
            return []  # a column is all but gone: there is no derivative left to take
        path.append((scales, found))
        gap = np.append(np.log(found.second_moment) - log_second, np.log(found.expected_rss) - log_rss)
        size = float(np.abs(gap).max())
        jacobian = em.jacobian(log_second, scales, found)
        if size < LIMITS.newton_solved or (size < LIMITS.newton_enough and size > 0.1 * last):
            return path if attracts(jacobian) else []
        if not size < 0.5 * last:
            return []
        last = size
        k = jacobian.shape[0]
        try:
            step = np.linalg.solve(np.eye(k) - jacobian, gap[:k])
        except np.linalg.LinAlgError:
            return []
        if not np.abs(step).max() < LIMITS.newton_near:
            return []
        log_second = log_second + step[: log_second.size]
        log_rss += float(step[-1] if k > log_second.size else gap[-1])
    return []


def attracts(jacobian: Matrix) -> bool:
    """Tell whether EM is drawn to the fixed point: the largest eigenvalue is below 1.

    Examples
    --------
    >>> attracts(np.array([[0.5, 0.1], [0.0, 0.2]])), attracts(np.array([[1.5]]))
    (True, False)
    """
    vector = np.full(jacobian.shape[0], 1.0 / np.sqrt(jacobian.shape[0]))
    growth = 0.0
    for _ in range(100):
        vector, before = jacobian @ vector, growth
        growth = float(np.linalg.norm(vector))
        if growth == 0.0 or abs(growth - before) < 1e-3 * (1.0 - growth):
            break
        vector /= growth
    return growth < 1.0
