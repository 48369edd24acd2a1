"""The components of an average: ridge regression and its evidence, the elastic net, the normal mixture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracles.arrays import Matrix, Vector

# --- ridge regression --------------------------------------------------------------


class RidgeFit(NamedTuple):
    """b ~ N(0, sigma2 / penalty) and a flat prior of the intercept: the posterior mean, and what is left."""

    coef: Vector
    intercept: float
    square: float  # y' P y
    evidence: float  # -log of the marginal likelihood of y, sigma2 at its best, up to a constant
    trace: float  # the degrees of freedom of the fit, less that of the intercept


def ridge_regression(X: Matrix, y: Vector, penalty: float, center: bool) -> RidgeFit:
    """Fit by the normal equations; y ~ N(0, sigma2 M) with M = I + X X'/penalty, and P = M^-1 without ones.

    With a flat intercept the likelihood is that of the contrasts of y, with |M| 1'M^-1 1 in the place of |M|.
    """
    n = len(y)
    A = np.column_stack([np.ones(n), X])[:, 0 if center else 1 :]
    ridge = penalty * np.eye(A.shape[1])
    ridge[0, 0] = 0.0 if center else penalty
    solution = np.linalg.solve(A.T @ A + ridge, A.T @ y)
    P = np.linalg.inv(np.eye(n) + X @ X.T / penalty)
    log_det = -np.linalg.slogdet(P)[1]
    if center:
        log_det += np.log(P.sum())
        P = P - np.outer(P.sum(axis=1), P.sum(axis=0)) / P.sum()
    square = float(y @ P @ y)
    trace = float(np.trace(A @ np.linalg.solve(A.T @ A + ridge, A.T))) - center
    evidence = 0.5 * ((n - center) * np.log(square) + log_det)
    return RidgeFit(solution[center:], float(solution[0]) if center else 0.0, square, evidence, trace)


def laplace_evidence(
    X: Matrix, counts: Vector, loss: Vector, curvature: Vector, coef: Vector, penalty: float
) -> float:
    """-log of the marginal likelihood at the mode, up to a constant: b ~ N(0, 1 / penalty), a flat intercept.

    ``loss`` and ``curvature`` are -log p(y_i) and its second derivative in eta_i.
    """
    A = np.column_stack([np.ones(len(X)), X])
    ridge = np.diag(np.append(0.0, np.full(coef.size, penalty)))
    log_det = np.linalg.slogdet(A.T @ ((counts * curvature)[:, None] * A) + ridge)[1]
    joint = counts @ loss + 0.5 * penalty * coef @ coef - 0.5 * coef.size * np.log(penalty)
    return float(joint + 0.5 * log_det)


# --- the elastic net ---------------------------------------------------------------


def elastic_net_path(X: Matrix, y: Vector, shares: Vector, center: bool) -> tuple[Matrix, Vector]:
    """Descend along the coordinates of |y - a - X b|^2 / 2 + penalty (|b|_1 + |b|^2 / 2) until none moves.

    The penalties are shares of that at which the first column enters. Return the coefficients, one column for
    each penalty, and the intercepts.
    """
    mean, level = (X.mean(axis=0), y.mean()) if center else (np.zeros(X.shape[1]), 0.0)
    x, z = X - mean, y - level
    gram, pull = x.T @ x, x.T @ z
    b, found = np.zeros(X.shape[1]), []
    for penalty in shares * np.abs(pull).max(initial=0.0):
        for _ in range(20_000):
            before = b.copy()
            for j in range(b.size):
                own = pull[j] - gram[j] @ b + gram[j, j] * b[j]
                shrunk = max(abs(own) - penalty, 0.0)
                b[j] = np.sign(own) * shrunk / (gram[j, j] + penalty) if shrunk else 0.0
            if np.abs(b - before).max(initial=0.0) < 1e-11:
                break
        found.append(b.copy())
    path = np.column_stack(found)
    return path, np.asarray(level - mean @ path)


# --- the normal mixture ------------------------------------------------------------
# b_j ~ sum_k pi_k N(0, sigma2 s_k) with s_0 = 0. Rows of phi, mean and variance are columns of X.


class MixtureFit(NamedTuple):
    """q_j = sum_k phi_jk N(mean_jk, variance_jk), and what was estimated with it."""

    phi: Matrix
    mean: Matrix
    variance: Matrix
    pi: Vector
    sigma2: float
    elbo: list[float]


def normal_means_mixture(
    seen: float, error2: float, pi: Vector, slab2: Vector
) -> tuple[Vector, Vector, Vector]:
    """Of seen ~ N(b, error2), b ~ sum_k pi_k N(0, slab2_k): weights, means and variances of the posterior."""
    log_weight = np.log(pi) - seen**2 / (2 * (slab2 + error2)) - np.log(slab2 + error2) / 2
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum(), seen * slab2 / (slab2 + error2), slab2 * error2 / (slab2 + error2)


def mixture_elbo(X: Matrix, y: Vector, s: Vector, q: MixtureFit) -> float:
    """E_q log N(y; X b, sigma2) - sum_j KL(q_j || prior), with the indicators of the components."""
    b = (q.phi * q.mean).sum(axis=1)
    var = (q.phi * (q.variance + q.mean**2)).sum(axis=1) - b**2
    rss = np.sum((y - X @ b) ** 2) + (X**2).sum(axis=0) @ var
    kl = q.phi[:, 0] * np.log(q.phi[:, 0] / q.pi[0])
    for k in range(1, s.size):
        ratio = (q.variance[:, k] + q.mean[:, k] ** 2) / (q.sigma2 * s[k])
        normal = (ratio - 1 - np.log(q.variance[:, k] / (q.sigma2 * s[k]))) / 2
        kl = kl + q.phi[:, k] * (np.log(q.phi[:, k] / q.pi[k]) + normal)
    return float(-y.size / 2 * np.log(2 * np.pi * q.sigma2) - rss / (2 * q.sigma2) - kl.sum())


def mixture_ascent(
    X: Matrix, y: Vector, b: Vector, sigma2: float, pi: Vector, s: Vector, sweeps: int
) -> MixtureFit:
    """Coordinate ascent on the ELBO, one column at a time; variances of q are sigma2 s_k / (1 + d s_k)."""
    n, p = X.shape
    d, b = (X**2).sum(axis=0), b.copy()
    phi, mean, variance = np.zeros((3, p, s.size))
    elbo = []
    for _ in range(sweeps):
        for j in range(p):
            seen = X[:, j] @ (y - X @ b + X[:, j] * b[j]) / d[j]
            phi[j], mean[j], variance[j] = normal_means_mixture(seen, sigma2 / d[j], pi, sigma2 * s)
            b[j] = phi[j] @ mean[j]
        pi = phi.mean(axis=0)
        slabs = (phi[:, 1:] * mean[:, 1:] ** 2 * (d[:, None] + 1 / s[1:])).sum()
        new = (np.sum((y - X @ b) ** 2) + slabs - d @ b**2) / n
        variance, sigma2 = variance * new / sigma2, new
        elbo.append(mixture_elbo(X, y, s, MixtureFit(phi, mean, variance, pi, sigma2, [])))
    return MixtureFit(phi, mean, variance, pi, sigma2, elbo)
