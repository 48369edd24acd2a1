"""The coefficients given the scales, by plain inversion, in floats and in many digits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np

from oracles.arrays import Matrix, Vector


class ConditionalMoments(NamedTuple):
    """beta given the scales: N(mean, covariance), with the traces the E-step needs."""

    mean: Vector
    covariance: Matrix
    fit_trace: float  # tr(X'X Cov) / sigma2
    rss: float  # ||z - X mean||^2
    log_det: float  # log det(I + X D X')


def conditional_moments(X: Matrix, z: Vector, d: Vector, sigma2: float) -> ConditionalMoments:
    """Moments of beta | scales by plain inversion, with prior variances sigma2 * d.

    Two textbook forms, whichever matrix is better conditioned: A = X'X + D^-1, or M = I + X D X' with
    Woodbury's identity. Loses digits where both are badly conditioned: use `conditional_moments_mp` there.
    """
    n = len(z)
    M = np.eye(n) + (X * d) @ X.T
    with np.errstate(divide="ignore", over="ignore"):
        precision = 1.0 / d
    A = X.T @ X + np.diag(precision) if np.all(np.isfinite(precision)) else None
    if A is not None and np.linalg.cond(A) <= np.linalg.cond(M):
        inverse = np.linalg.inv(A)
        mean = inverse @ (X.T @ z)
    else:
        M_inverse = np.linalg.inv(M)
        DXt = d[:, None] * X.T
        inverse = np.diag(d) - DXt @ M_inverse @ DXt.T
        mean = DXt @ (M_inverse @ z)
    residual = z - X @ mean
    return ConditionalMoments(
        mean=mean,
        covariance=sigma2 * inverse,
        fit_trace=float(np.trace(X.T @ X @ inverse)),
        rss=float(residual @ residual),
        log_det=float(np.linalg.slogdet(M)[1]),
    )


def _solve_decimal(
    matrix: list[list[Decimal]], right: list[list[Decimal]]
) -> tuple[list[list[Decimal]], Decimal]:
    """Gauss-Jordan elimination with partial pivoting: the solution and the absolute determinant."""
    size = len(matrix)
    rows = [list(left) + list(r) for left, r in zip(matrix, right, strict=True)]
    determinant = Decimal(1)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        head = rows[k][k]
        determinant *= abs(head)
        rows[k] = [x / head for x in rows[k]]
        for i in range(size):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows], determinant


def conditional_moments_mp(
    X: Matrix, z: Vector, d: Vector, sigma2: float, digits: int = 80
) -> ConditionalMoments:
    """`conditional_moments` in decimal arithmetic of many digits, for small, badly conditioned cases.

    The floats are taken as the exact numbers they are. B = I + D^1/2 X'X D^1/2 holds for d = 0 and d huge.
    The standard library's `decimal` does what a multiple-precision package would, and is always there.
    """
    n, p = X.shape
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = digits, 10**9, -(10**9)
        x = [[Decimal(float(X[i, j])) for j in range(p)] for i in range(n)]
        target = [Decimal(float(t)) for t in z]
        root = [Decimal(float(t)).sqrt() for t in d]
        gram = [[sum((x[i][j] * x[i][k] for i in range(n)), Decimal(0)) for k in range(p)] for j in range(p)]
        B = [[root[j] * gram[j][k] * root[k] + (1 if j == k else 0) for k in range(p)] for j in range(p)]
        xz = [sum((x[i][j] * target[i] for i in range(n)), Decimal(0)) for j in range(p)]
        identity = [[Decimal(int(j == k)) for k in range(p)] for j in range(p)]
        inverse, determinant = _solve_decimal(B, identity)
        inverse = [[root[j] * inverse[j][k] * root[k] for k in range(p)] for j in range(p)]
        mean = [sum((inverse[j][k] * xz[k] for k in range(p)), Decimal(0)) for j in range(p)]
        residual = [target[i] - sum((x[i][j] * mean[j] for j in range(p)), Decimal(0)) for i in range(n)]
        trace = sum((gram[j][k] * inverse[k][j] for j in range(p) for k in range(p)), Decimal(0))
        variance = Decimal(float(sigma2))
        return ConditionalMoments(
            mean=np.array([float(m) for m in mean]),
            covariance=np.array([[float(variance * c) for c in row] for row in inverse]),
            fit_trace=float(trace),
            rss=float(sum((r * r for r in residual), Decimal(0))),
            log_det=float(determinant.ln()),
        )


def marginal_objective(
    X: Matrix,
    z: Vector,
    sigma2: float,
    tau2: float,
    lambda2: Vector,
    neg_log_local: Callable[[Vector], Any],
    neg_log_global: Callable[[float], float],
) -> float:
    """-log p(z, lambda2, tau2 | sigma2) with beta integrated out, up to a constant: what exact EM lowers.

    z | scales ~ N(0, sigma2 (I + X D X')) with D = tau2 diag(lambda2).
    """
    n = len(z)
    M = np.eye(n) + (X * (tau2 * lambda2)) @ X.T
    log_det = np.linalg.slogdet(M)[1]
    quadratic = z @ np.linalg.solve(M, z)
    likelihood = 0.5 * n * np.log(sigma2) + 0.5 * log_det + quadratic / (2 * sigma2)
    return float(likelihood + np.sum(neg_log_local(lambda2)) + neg_log_global(tau2))
