"""Regressions that share the local scales: several responses, and classes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oracles.arrays import Matrix, Vector
from oracles.conditional import conditional_moments
from oracles.scales import jacobian


def shared_objective(
    v: Any, w: float, size: float, lambda_power: float, neg_log_density: Callable[[Any], Any]
) -> Any:
    """What the M-step minimises over the v that ``size`` coefficients share; w is the sum of theirs."""
    return 0.5 * size * np.log(v) + w / v + neg_log_density(v) + jacobian(v, lambda_power)


def several_em(
    X: Matrix, Z: Matrix, lambda_power: float, n_iter: int, label: Any = None
) -> tuple[Matrix, Vector, Vector]:
    """EM for several responses under the horseshoe, tau = 1: E[b] (a column each), lambda2, sigma2 each.

    Every response has its own inverse of X'X + D^-1; nothing is shared but the sum in W. The local scale is
    the root of the derivative of `shared_objective`: (q + c)/2 - 1/2 + v/(1 + v) = w/v. Columns with the same
    label share it too: of g of them w is the sum, and g q stands in the place of q.
    """
    n, q = Z.shape
    label = np.arange(X.shape[1]) if label is None else label
    mean = X.T @ Z / np.sum(X**2, axis=0)[:, None]
    second, sigma2 = mean**2, np.full(q, 1e10 / n)
    for _ in range(n_iter):
        w = np.sum(second / (2 * sigma2), axis=1)
        lambda2 = np.empty_like(w)
        for own in (label == one for one in np.unique(label)):
            A, total = (own.sum() * q + lambda_power - 1) / 2, w[own].sum()
            lambda2[own] = _positive_root_of(A + 1, A - total, -total)
        rss = np.empty(q)
        for k in range(q):
            found = conditional_moments(X, Z[:, k], lambda2, sigma2[k])
            mean[:, k], second[:, k] = found.mean, found.mean**2 + np.diag(found.covariance)
            rss[k] = found.rss + sigma2[k] * found.fit_trace
        sigma2 = rss / n
    return mean, lambda2, sigma2


def _positive_root_of(a: float, b: float, c: float) -> float:
    """The positive root of a v^2 + b v + c = 0, c < 0, by the form that does not cancel."""
    root = np.sqrt(b * b - 4 * a * c)
    return float(2 * -c / (b + root) if b > 0 else (root - b) / (2 * a))


def softmax_objective(
    B: Matrix, level: Vector, X: Matrix, chosen: Matrix, d: Vector, counts: Vector
) -> float:
    """-log of the likelihood of the classes times N(b_jk; 0, d_j), up to a constant; a column a class."""
    eta = X @ B + level
    log_share = eta - np.log(np.sum(np.exp(eta - eta.max(axis=1, keepdims=True)), axis=1, keepdims=True))
    log_share = log_share - eta.max(axis=1, keepdims=True)
    return float(-counts @ np.sum(chosen * log_share, axis=1) + 0.5 * np.sum(B**2 / d[:, None]))


def softmax_covariance(B: Matrix, level: Vector, X: Matrix, d: Vector, counts: Vector) -> Matrix:
    """Cov of (level, b), class by class, at B, with what classes share taken out: of what adds up to zero.

    The inverse of the Hessian of `softmax_objective`, written out for every pair of classes; a tiny precision
    holds the level that no data tell.
    """
    q, A = B.shape[1], np.column_stack([np.ones(len(X)), X])
    eta = X @ B + level
    share = np.exp(eta - eta.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    blocks = [
        [A.T @ ((counts * share[:, k] * ((k == m) - share[:, m]))[:, None] * A) for m in range(q)]
        for k in range(q)
    ]
    precision = np.block(blocks) + np.kron(np.eye(q), np.diag(np.append(1e-9, 1 / d)))
    apart = np.kron(np.eye(q) - 1 / q, np.eye(A.shape[1]))
    return apart @ np.linalg.inv(precision) @ apart


def shared_mixture_mean(
    x: Vector, Y: Matrix, sigma2: Vector, pi: Vector, omega: float, grid: Vector
) -> tuple[Vector, Vector]:
    """Posterior mean of the coefficients of one column in q regressions, and the probability that each is in.

    With probability pi_0 all are zero; in slab k each is N(0, sigma2_o s_k) with probability omega, else
    zero. The sum is over the slabs and all 2^q subsets of the regressions; y_o ~ N(0, sigma2_o (I + s x x')).
    """
    n, q = Y.shape

    def log_density(o: int, variance: float) -> float:
        cov = sigma2[o] * (np.eye(n) + variance * np.outer(x, x))
        return -0.5 * (np.linalg.slogdet(cov)[1] + Y[:, o] @ np.linalg.solve(cov, Y[:, o]))

    def mean_of(o: int, variance: float) -> float:
        return float(variance * (x @ Y[:, o]) / (1.0 + variance * (x @ x)))

    logs, means, inside = [], [], []
    for k in range(len(pi)):
        for subset in range(2**q):
            chosen = [bool(subset >> o & 1) for o in range(q)]
            chance = np.prod([omega if one else 1.0 - omega for one in chosen])
            if k == 0:
                chance = float(not any(chosen))
            if pi[k] * chance == 0.0:
                continue
            variance = [grid[k - 1] if one else 0.0 for one in chosen]
            logs.append(np.log(pi[k] * chance) + sum(log_density(o, variance[o]) for o in range(q)))
            means.append([mean_of(o, variance[o]) for o in range(q)])
            inside.append([float(one) for one in chosen])
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    return weights @ np.array(means), weights @ np.array(inside)
