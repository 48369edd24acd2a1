"""Simulated data with a known answer, and how far a fit is from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RHO = 0.7
NOISE_SD = 3.0
EFFECT = 3.0
N_EACH_SIGN = 10

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Quality:
    """What a fit found in one simulated data set."""

    seed: int
    selected: int
    true_positives: int
    false_positives: int
    model_error: float


def true_coefficients(p: int) -> Array:
    """Ten effects of +3, then ten of -3, then zeros."""
    beta = np.zeros(p)
    beta[:N_EACH_SIGN] = EFFECT
    beta[N_EACH_SIGN : 2 * N_EACH_SIGN] = -EFFECT
    return beta


def make_data(n: int, p: int, seed: int) -> tuple[Array, Array]:
    """Draw ``X`` with AR(1) rows and standard normal margins, and ``y = X beta + noise``.

    The recursion runs in place, so that making the data needs no memory beyond the data: the peak memory
    of a fit is read against it.
    """
    rng = np.random.default_rng(seed)
    X = np.empty((n, p))
    rng.standard_normal(out=X)
    innovation_sd = np.sqrt(1.0 - RHO**2)
    for j in range(1, p):
        X[:, j] *= innovation_sd
        X[:, j] += RHO * X[:, j - 1]
    signal = 2 * N_EACH_SIGN
    y = X[:, :signal] @ true_coefficients(p)[:signal] + NOISE_SD * rng.standard_normal(n)
    return X, y


def model_error(coef: Array) -> float:
    """Return ``(b - b_hat)' Sigma (b - b_hat)`` with ``Sigma[i, j] = rho ** |i - j|``, in O(p)."""
    carried, total = 0.0, 0.0
    for d in (coef - true_coefficients(coef.size)).tolist():
        total += d * (d + 2.0 * carried)
        carried = RHO * (carried + d)
    return total


def quality(coef: Array, seed: int) -> Quality:
    """Compare fitted coefficients with the truth; a coefficient is selected when it is not exactly zero."""
    selected = coef != 0.0
    hits = int(selected[: 2 * N_EACH_SIGN].sum())
    total = int(selected.sum())
    return Quality(seed, total, hits, total - hits, model_error(coef))
