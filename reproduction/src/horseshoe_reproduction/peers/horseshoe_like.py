"""The horseshoe-like estimator by the conventional EM, in which the local scales are the missing data.

Bhadra, Datta, Polson and Willard (2019) put the density log(1 + a/b^2) / (2 pi sqrt(a)) on a coefficient b, a
normal mixture over u: b | u ~ N(0, a/(2u)). The E-step is E[u | b], the M-step a ridge regression with
weights 2 E[u | b] / a, and a itself is 2 mean(E[u | b] b^2). `horseshoe.priors.HorseshoeLike` is the same
prior in horseshoe's own loop, where the coefficients are the missing data.
"""

from __future__ import annotations

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.peers.standardised import standardised_fit

# Start and stopping rule of the code that was released with the paper.
FIRST_A, TOL, SHORTEST, LONGEST = 1e5, 1e-4, 21, 1000


def expected_precision(b2: Vector, a: float, normalised: bool) -> Vector:
    """Return E[u | b], given b^2.

    Without ``normalised`` the density of b, by which the integral over u is to be divided, is left out: the
    released code does so, and the printed figures follow from it.

    Examples
    --------
    >>> expected_precision(np.array([1.0]), 1.0, normalised=True)  # (1 - 1/2) / log 2
    array([0.72134752])
    """
    integral = a / b2 * (a / (a + b2))
    return integral / (np.log1p(a / b2) if normalised else 2.0 * np.pi * np.sqrt(a))


def horseshoe_like(
    X: Matrix | None, y: Vector, normalised: bool = False, a: float = FIRST_A, ridge: float = 1.0
) -> Fit:
    """Return the estimate; ``X`` None is the identity. The noise variance counts as 1, as released.

    EM starts from ``a`` and from a ridge estimate whose penalty is ``ridge``. A coefficient that has
    underflowed to zero stays there: those are the zeros.

    Examples
    --------
    >>> horseshoe_like(None, np.array([0.1, -0.3, 9.0])).coef.round(2)
    array([ 0., -0.,  9.])
    """
    if X is None:
        return Fit(_iterate(None, y, normalised, a, ridge))
    return standardised_fit(X, y, 1.0, lambda Z, centred: _iterate(Z, centred, normalised, a, ridge))


def _iterate(Z: Matrix | None, y: Vector, normalised: bool, a: float, ridge: float) -> Vector:
    b = _ridge(Z, y, np.full(y.size if Z is None else Z.shape[1], 1.0 / ridge))
    for iteration in range(LONGEST + 1):
        alive = b != 0.0
        b2 = np.square(b[alive])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # b^2 on its way to zero
            u = np.maximum(np.nan_to_num(expected_precision(b2, a, normalised), nan=np.inf), 1e-10)
            a = _next_a(b2, u, a, b.size, normalised)
            variance = np.zeros(b.size)
            variance[alive] = a / (2.0 * u)
        old, b = b, _ridge(Z, y, variance)
        if iteration >= SHORTEST and np.abs(old - b).sum() < TOL * (1.0 + np.abs(b).sum()):
            break
    return b


def _next_a(b2: Vector, u: Vector, a: float, p: int, normalised: bool) -> float:
    """Return 2 mean(u b^2); a coefficient at zero counts with its limit."""
    if normalised:
        return 2.0 * float((u * b2)[np.isfinite(u)].sum()) / p
    return float(a**1.5 / (p * np.pi) * ((1.0 / (a + b2)).sum() + (p - b2.size) / a))


def _ridge(Z: Matrix | None, y: Vector, variance: Vector) -> Vector:
    """Return the posterior mean for independent priors N(0, variance) and unit noise."""
    if Z is None:
        return y * (variance / (1.0 + variance))
    half = Z * np.sqrt(variance)
    gram = half @ half.T
    gram.flat[:: gram.shape[0] + 1] += 1.0
    return variance * (Z.T @ np.linalg.solve(gram, y))
