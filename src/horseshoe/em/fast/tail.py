"""Newton's method on the fixed point of EM, for the tail only.

EM converges linearly, and slowly where a coefficient is near the edge of being selected. Once the active set
has settled and the next Newton step is small, the fixed point that EM converges to can be solved for
directly. The path before that decides which mode it is, so nothing here touches it: a Newton run counts only
if it contracts at every step, stays near, and ends where EM itself is attracted.

The unknowns are u = (log S_j, log R_l): S_j = s sum_l S_jl / sigma2_l over the responses l, S_jl = E[b_jl^2]
and s the geometric mean of the sigma2_l, so that it is E[b_j^2] for one response; R_l = E||z_l - X b_l||^2.
One EM step is a map F of them. With P = (X'X + D^-1)^-1, m = P X'Z, the pull m_il / d_i = x_i'r_l, the trace
T = k - sum_j P_jj / d_j, and W_j proportional to w_j = S_j / s,

    S_jl = m_jl^2 + sigma2_l P_jj,           dS_jl / d log d_i = 2 m_jl P_ji pull_il + sigma2_l P_ji^2 / d_i,
    R_l = ||z_l - X m_l||^2 + sigma2_l T,    dR_l / d log d_i = -2 (P pull_l)_i pull_il + sigma2_l dT_i,
    d log d_i = rho_i d log w_i,             rho = d log lambda2 / d log W,

and sigma2_l after the step is R_l / n, Eq. (18). With approximate expectations P_jj is replaced by q_j =
d_j / (1 + d_j ||x_j||^2), and d q_j / d log d_j = d_j / (1 + d_j ||x_j||^2)^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Moments, Scales, Vector
from horseshoe.conditional.base import condition, moments, moments_of_several
from horseshoe.data.problem import LeastSquares
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.m_step import Hyper, m_step, noise_variance, sum_of_responses
from horseshoe.em.schedule import approximate
from horseshoe.priors import Groups

# The reciprocal of anything smaller may be too large for a float.
SMALLEST = float(np.finfo(np.float64).tiny)


class EMMap(NamedTuple):
    """One EM step as a function of u, the global scale fixed.

    ``targets`` and ``pull``, X'Z, are those of several responses.
    """

    problem: LeastSquares
    hyper: Hyper
    known_sigma2: Any
    approximate: bool = False
    groups: Groups | None = None
    targets: Matrix | None = None
    pull: Matrix | None = None

    def coordinates(self, found: Moments) -> Vector:
        """Return u at these moments."""
        sigma2, rss = self._sigma2(found.expected_rss), np.array(found.expected_rss, ndmin=1)
        second = sum_of_responses(found.second_moment, sigma2) * _geometric_mean(sigma2)
        return np.asarray(np.log(np.concatenate((second, rss))))

    def _sigma2(self, rss: Any) -> Any:
        """Return the noise variances: known, or Eq. (18)."""
        if self.known_sigma2 is not None:
            return self.known_sigma2
        return noise_variance(rss, self.problem.total_weight)

    def step(self, u: Vector) -> tuple[Scales, Moments]:
        """Return the scales and the moments that follow."""
        k = self.problem.n_columns
        sigma2 = self._sigma2(float(np.exp(u[k])) if self.targets is None else np.exp(u[k:]))
        scales = m_step(self.hyper, np.exp(u[:k]), _geometric_mean(sigma2), self.groups)
        given = (approximate if self.approximate else condition)(self.problem, scales.prior_variance)
        scales = scales._replace(sigma2=sigma2)
        if self.targets is None or self.pull is None:
            return scales, moments(given, sigma2)
        return scales, moments_of_several(given, self.problem, sigma2, self.targets, self.pull)

    def jacobian(self, u: Vector, scales: Scales, found: Moments) -> Matrix:
        """Return the derivatives of u after the step in u before it; if sigma2 is known, of S alone."""
        d, sigma2 = scales.prior_variance, np.array(scales.sigma2, ndmin=1)
        k, q = d.size, sigma2.size
        mean, second = found.mean.reshape(k, q), found.second_moment.reshape(k, q)
        half = condition(self.problem, d).covariance(1.0).factor
        p = half.T @ half
        pull = mean / d[:, None]
        spread, d_spread, d_trace = self._spread_derivatives(p, d)
        # 1. log S_j in (log d, log sigma2): the S_jl of its responses, each by its share
        noise = np.array(self._sigma2(found.expected_rss), ndmin=1)
        share = second / noise
        share /= share.sum(axis=1, keepdims=True)
        weight = share / second
        jac = np.empty((k + q, k + q))
        jac[:k, :k] = 2.0 * p * ((weight * mean) @ pull.T) + d_spread * (weight @ sigma2)[:, None]
        jac[:k, k:] = weight * spread[:, None] * sigma2
        # 2. log R_l
        d_rss = -2.0 * (p @ pull) * pull + d_trace[:, None] * sigma2
        jac[k:, :k] = (d_rss / found.expected_rss).T
        jac[k:, k:] = 0.0
        jac[range(k, k + q), range(k, k + q)] = sigma2 * found.fit_trace / found.expected_rss
        if q > 1 and self.known_sigma2 is None:  # sigma2_l moves with R_l, in S_j too
            jac[:k] += (1.0 / q - share) @ jac[k:]
        # 3. from log d to log w before the step, and from log w to log S = log w + log s
        before = np.exp(u[:k])
        jac[:, :k] *= self._elasticity(before / _geometric_mean(scales.sigma2), scales)
        if self.groups is not None:
            jac[:, :k] = self.groups.mixed(jac[:, :k], before)
        if self.known_sigma2 is not None:
            return jac[:k, :k]
        jac[:, k:] -= jac[:, :k].sum(axis=1, keepdims=True) / q
        return jac

    def _spread_derivatives(self, p: Matrix, d: Vector) -> tuple[Vector, Matrix, Vector]:
        """Return Var[b] / sigma2, its derivatives in log d, and those of its trace with X'X."""
        if self.approximate:
            diagonal = self.problem.diagonal
            slope = d / (1.0 + d * diagonal) ** 2
            return d / (1.0 + d * diagonal), np.diag(slope), slope * diagonal
        variance = p.diagonal()
        return variance, p * p / d, (variance - (p * p) @ (1.0 / d)) / d

    def _elasticity(self, w: Vector, scales: Scales) -> Vector:
        """Return rho, with the bend of the slab: d log d / d log lambda2, 1 without one."""
        h, half_w = 1e-5, w / (2.0 * scales.tau2)
        up, down = (self.hyper.mode(half_w * np.exp(s), self.groups) for s in (h, -h))
        bend = scales.prior_variance / (scales.tau2 * scales.lambda2)
        return np.asarray(bend * np.log(up / down) / (2.0 * h))


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
    >>> again = em.step(em.coordinates(moments))[1]
    >>> bool(abs(again.mean - moments.mean).max() < 1e-12)
    True
    """
    if not (np.min(found.expected_rss) > 0.0 and found.second_moment.min() > 0.0):
        return []  # the noise ran to its floor: the expansion of the pruned covariance goes beyond it
    u, last = em.coordinates(found), np.inf
    path: list[tuple[Scales, Moments]] = []
    for _ in range(LIMITS.newton_steps):
        scales, found = em.step(u)
        if not scales.prior_variance.min() >= SMALLEST:
            return []  # a column is all but gone: there is no derivative left to take
        path.append((scales, found))
        gap = em.coordinates(found) - u
        size, jacobian = float(np.abs(gap).max()), em.jacobian(u, scales, found)
        # 1. solved, to rounding: the fixed point counts if EM is attracted to it
        if size < LIMITS.newton_solved or (size < LIMITS.newton_enough and size > 0.1 * last):
            return path if attracts(jacobian) else []
        # 2. each step must halve the residual
        if not size < 0.5 * last:
            return []
        last, m = size, len(jacobian)
        try:
            move = np.linalg.solve(np.eye(m) - jacobian, gap[:m])
        except np.linalg.LinAlgError:
            return []
        # 3. farther away is the region of another mode
        if not np.abs(move).max() < LIMITS.newton_near:
            return []
        u = u + np.append(move, gap[m:])
    return []


def _geometric_mean(sigma2: Any) -> float:
    return float(np.exp(np.log(sigma2).mean())) if isinstance(sigma2, np.ndarray) else sigma2


def attracts(jacobian: Matrix) -> bool:
    """Tell whether EM is attracted to the fixed point: the largest eigenvalue is below 1.

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
