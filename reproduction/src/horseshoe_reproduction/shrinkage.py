"""Three estimators of one mean from one observation b_LS ~ N(b, 1), and where each leaves zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from horseshoe import normal_means
from horseshoe_reproduction.arrays import Vector
from horseshoe_reproduction.peers.horseshoe_like import expected_precision

# Horseshoe estimates below this are zero: near the threshold EM takes forever to fade what it fades.
NEGLIGIBLE = 0.02
# b^2 of a horseshoe-like estimate on its way to zero is held above this.
SMALLEST_SQUARE = 1e-200


def soft_threshold(b_ls: Vector, threshold: float) -> Vector:
    """Return the mode under the double exponential prior exp(-threshold |b|).

    Examples
    --------
    >>> soft_threshold(np.array([-3.0, 0.5, 3.0]), 1.0)
    array([-2.,  0.,  2.])
    """
    return np.asarray(np.sign(b_ls) * np.maximum(np.abs(b_ls) - threshold, 0.0))


def horseshoe(b_ls: Vector, tau: float, lambda_power: float) -> Vector:
    """Return where EM with the coefficient as missing data ends; each value is on its own.

    Examples
    --------
    >>> horseshoe(np.array([1.0, 2.9, 3.1, 9.0]), tau=1.0, lambda_power=2.0).round(2)
    array([0.  , 0.  , 1.44, 8.55])
    """
    root_mean_square = float(np.sqrt(np.mean(b_ls**2)))
    return normal_means(
        b_ls, 1.0, "horseshoe", lambda_power, tau, tol=1e-8, zero_threshold=NEGLIGIBLE / root_mean_square
    ).coef


def horseshoe_like(b_ls: Vector, tau: float) -> Vector:
    """Return where the conventional EM ends that starts from the least squares estimate.

    Each step is a ridge estimate with weight 2 E[u | b] / a, a = tau2, and so goes down to the largest b for
    which (b - b_LS)^2 / 2 - log log(1 + a / b^2) is stationary. Zero is always a mode: it has a pole there.

    Examples
    --------
    >>> horseshoe_like(np.array([-2.0, 1.0, 2.0, 9.0]), tau=1.0).round(2)
    array([0.  , 0.  , 0.  , 8.77])
    """
    b, a = b_ls, tau * tau
    for _ in range(10_000):
        old, b = b, b_ls / (1.0 + ridge_weight(b, a))
        if np.abs(b - old).max() < 1e-14:
            break
    return np.where(np.abs(b) > 1e-12, b, 0.0)


def ridge_weight(b: Vector, a: float) -> Vector:
    """Return 2 E[u | b] / a.

    Examples
    --------
    >>> ridge_weight(np.array([1.0]), 1.0).round(3)  # 1 / log 2
    array([1.443])
    """
    return 2.0 / a * expected_precision(np.maximum(b * b, SMALLEST_SQUARE), a, normalised=True)


def horseshoe_threshold(tau: float, lambda_power: float) -> float:
    """Return the largest |b_LS| at which EM has no fixed point but zero.

    With d = tau2 lambda2 and A = c/2, EM stands still where E[b^2] = (b_LS d / (1 + d))^2 + d / (1 + d) is
    2 d ((A + 1) d + A tau2) / (d + tau2), which is Eq. (16) for A = 1. Here b_LS^2 is minimised over d.

    Examples
    --------
    >>> [round(horseshoe_threshold(1.0, lambda_power=power), 6) for power in (2.0, 1.0)]
    [3.0, 1.732051]
    """
    rate, tau2 = lambda_power / 2.0, tau * tau

    def square(log_d: float) -> float:
        d = float(np.exp(log_d))
        gap = tau2 * (2.0 * rate - 1.0) + d * (2.0 * rate + 1.0 + 2.0 * rate * tau2 + 2.0 * (rate + 1.0) * d)
        return (1.0 + d) / d * gap / (tau2 + d)

    return float(np.sqrt(square(_lowest(square))))


def horseshoe_like_jump(tau: float) -> tuple[float, float]:
    """Return the largest |b_LS| at which zero is the only mode, and the size of the estimate just above.

    Examples
    --------
    >>> [round(value, 3) for value in horseshoe_like_jump(1.0)]
    [2.42, 0.783]
    """
    a = tau * tau

    def b_ls(log_b: float) -> float:
        b = np.exp(np.array([log_b]))
        return float((b * (1.0 + ridge_weight(b, a)))[0])

    best = _lowest(b_ls)
    return b_ls(best), float(np.exp(best))


def solve_tau(threshold_of: Callable[[float], float], threshold: float) -> float:
    """Return the tau at which an estimator has this threshold, which must fall as tau grows.

    Examples
    --------
    >>> round(solve_tau(lambda tau: horseshoe_threshold(tau, lambda_power=2.0), 3.0), 6)
    1.0
    """
    low, high = np.log(1e-3), np.log(1e6)

    def gap(log_tau: float) -> float:
        return threshold_of(float(np.exp(log_tau))) - threshold

    if not gap(low) > 0.0 > gap(high):
        raise ValueError(
            f"no tau gives a threshold of {threshold!r}: the estimator has those from "
            f"{gap(high) + threshold:.4g} to {gap(low) + threshold:.4g}"
        )
    return float(np.exp(brentq(gap, low, high, xtol=1e-12)))


def _lowest(function: Callable[[float], float]) -> float:
    """Return the minimiser, a logarithm."""
    found = minimize_scalar(function, bounds=(-30.0, 10.0), method="bounded", options={"xatol": 1e-10})
    return float(found.x)
