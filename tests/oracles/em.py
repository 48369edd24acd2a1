"""Algorithm 1 of the paper, and of groups and columns that are not shrunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from oracles.arrays import Matrix, Vector
from oracles.conditional import conditional_moments


def standardise(X: Matrix, y: Vector) -> tuple[Matrix, Vector, Vector, Vector, float, float]:
    """X and y to mean 0 and 1/n standard deviation 1: (X, y, x_mean, x_sd, y_mean, y_sd)."""
    x_mean, x_sd = X.mean(axis=0), X.std(axis=0)
    y_mean, y_sd = float(y.mean()), float(y.std())
    return (X - x_mean) / x_sd, (y - y_mean) / y_sd, x_mean, x_sd, y_mean, y_sd


def inverted_beta_mode(w: Vector, lambda_power: float, a: float, b: float) -> Vector:
    """The positive root of (A+m) v^2 + (A-w) v - w = 0, with the sum that does not cancel on either side."""
    A, m = (1 + lambda_power) / 2 - a, a + b
    root = np.hypot(w - A, 2 * np.sqrt((A + m) * w))
    small = w < A
    return np.where(small, 2 * w / np.where(small, root + A - w, 1.0), (w - A + root) / (2 * (A + m)))


def plain_em(
    X: Matrix,
    y: Vector,
    tol: float,
    max_iter: int,
    a: float = 0.5,
    b: float = 0.5,
    lambda_power: float = 2.0,
    sigma2: float | None = None,
    tau2: float = 1.0,
) -> dict[str, Any]:
    """Algorithm 1 of the paper on standardised X and y: no pruning, no acceleration, exact expectations.

    tau2 is held at its bound, where the M-step puts it for lambda power 2 and p >= 3; sigma2 is E[RSS]/n
    unless given.
    `coef` is thresholded at 1/(5 sqrt n); `coef_unthresholded` is what the loop ended with.
    """
    n, p = X.shape
    gram = X.T @ X if p <= n else None
    coef = X.T @ y / n  # marginal least squares: ||x_j||^2 = n
    second_moment, expected_rss = coef**2, 1e10
    variance = np.zeros(p)
    lambda2, noise = np.zeros(p), np.nan
    converged = False
    n_iter = 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        # M-step
        noise = expected_rss / n if sigma2 is None else sigma2
        lambda2 = inverted_beta_mode(second_moment / (2 * noise * tau2), lambda_power, a, b)
        # E-step
        d = tau2 * lambda2
        if gram is not None:
            s = np.sqrt(d)
            inverse = np.linalg.inv(np.eye(p) + s[:, None] * gram * s)
            mean = s * (inverse @ (s * (X.T @ y)))
            variance = noise * d * np.diag(inverse)
            fit_trace = p - np.trace(inverse)
        else:
            inverse = np.linalg.inv(np.eye(n) + (X * d) @ X.T)
            mean = d * (X.T @ (inverse @ y))
            variance = noise * d * (1 - d * np.einsum("ij,ij->j", X, inverse @ X))
            fit_trace = n - np.trace(inverse)
        residual = y - X @ mean
        expected_rss = residual @ residual + noise * fit_trace
        second_moment = mean**2 + variance
        change = np.sum(np.abs(mean - coef)) / (1 + np.sum(np.abs(mean)))
        coef = mean
        converged = bool(change < tol)
    return {
        "coef": np.where(np.abs(coef) < 1 / (5 * np.sqrt(n)), 0.0, coef),
        "coef_unthresholded": coef,
        "lambda2": lambda2,
        "sigma2": float(noise),
        "variance": variance,
        "n_iter": n_iter,
        "converged": converged,
    }


def em_step(
    X: Matrix, z: Vector, second_moment: Vector, sigma2: float, n: float, lambda_power: float
) -> tuple[Vector, Vector, float]:
    """One M-step of the horseshoe's local scales, tau being 1, and one E-step: E[b], E[b^2], E[RSS]/n."""
    lambda2 = inverted_beta_mode(second_moment / (2 * sigma2), lambda_power, 0.5, 0.5)
    found = conditional_moments(X, z, lambda2, sigma2)
    noise = (found.rss + sigma2 * found.fit_trace) / n
    return found.mean, found.mean**2 + np.diag(found.covariance), noise


class GroupedFit(NamedTuple):
    """Where EM is after some iterations, on the scale of the columns; flat coefficients first."""

    flat: Vector
    coef: Vector
    variance: Vector
    flat_variance: Vector
    lambda2: Vector
    sigma2: float


def grouped_em(
    X: Matrix,
    y: Vector,
    label: Any,
    mode: Callable[[float, int], float],
    iterations: int,
    tau2: float = 1.0,
    flat: Matrix | None = None,
    sigma2: float | None = None,
    flat_variance: float = np.inf,
) -> GroupedFit:
    """Algorithm 1 with one local scale for the columns of a label, and columns ``flat`` that are not shrunk.

    ``mode`` is the argmin over v of size/2 log v + w/v - log p(v). A flat column has a prior variance in
    units of sigma2 that is infinite, or what is given. X and y are orthogonal to ones, or there is no
    intercept; the start is marginal least squares on what the flat columns leave, and sigma2 is E[RSS] over
    the number of contrasts of y that they leave: what is seen of the noise once they are integrated out.
    """
    n, p = X.shape
    C = np.zeros((n, 0)) if flat is None else flat
    q = C.shape[1]
    M = np.eye(n) - C @ np.linalg.pinv(C)
    coef = (X.T @ (M @ y)) / np.einsum("ij,ij->j", M @ X, M @ X)
    second, rss, noise = coef**2, 1e10, np.nan
    A = np.column_stack([C, X])
    theta, covariance = np.zeros(q + p), np.zeros((q + p, q + p))
    lambda2 = np.zeros(p)
    for _ in range(iterations):
        noise = rss / (n - q) if sigma2 is None else sigma2
        for one in np.unique(label):
            own = label == one
            lambda2[own] = mode(float(second[own].sum() / (2 * noise * tau2)), int(own.sum()))
        precision = np.append(np.full(q, 1 / flat_variance), 1 / (tau2 * lambda2))
        covariance = noise * np.linalg.inv(A.T @ A + np.diag(precision))
        theta = covariance @ (A.T @ y) / noise
        second = theta[q:] ** 2 + np.diag(covariance)[q:]
        residual = M @ (y - X @ theta[q:])
        rss = float(residual @ residual + np.trace(X.T @ M @ X @ covariance[q:, q:]))
    variance = np.diag(covariance)
    return GroupedFit(theta[:q], theta[q:], variance[q:], variance[:q], lambda2, float(noise))
