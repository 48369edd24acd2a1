"""Simulated data with a known answer, and how far a fit is from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted

RHO = 0.7


@dataclass(frozen=True)
class Quality:
    """What a fit found in one simulated data set."""

    seed: int
    selected: int
    true_positives: int
    false_positives: int
    model_error: float


@dataclass(frozen=True)
class Family:
    """Responses with a canonical link: up to constants, their negative log-likelihood is cumulant - y eta."""

    draw: Callable[[Array, np.random.Generator], Array]
    cumulant: Callable[[Array], Array]
    link: Callable[[float], float]

    def loss(self, y: Array, eta: Array) -> float:
        """Return the mean negative log-likelihood, up to constants."""
        return float(np.mean(self.cumulant(eta) - y * eta))


@dataclass(frozen=True)
class Simulation:
    """Responses of a family with mean ``link^-1(intercept + X b)``; the first columns have the effects."""

    family: Family
    effects: tuple[float, ...]
    intercept: float

    def make_data(self, n: int, p: int, seed: int) -> tuple[Array, Array]:
        """Draw ``X`` with AR(1) rows and standard normal margins, and ``y``.

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
        eta = self.intercept + X[:, : len(self.effects)] @ np.array(self.effects)
        return X, self.family.draw(eta, rng)

    def model_error(self, coef: Array) -> float:
        """Return ``(b - b_hat)' Sigma (b - b_hat)`` with ``Sigma[i, j] = rho ** |i - j|``, in O(p)."""
        difference = coef.copy()
        difference[: len(self.effects)] -= self.effects
        carried, total = 0.0, 0.0
        for d in difference.tolist():
            total += d * (d + 2.0 * carried)
            carried = RHO * (carried + d)
        return total

    def quality(self, fitted: Fitted, seed: int) -> Quality:
        """Compare an answer with the truth."""
        hits = int(fitted.selected[: len(self.effects)].sum())
        total = int(fitted.selected.sum())
        return Quality(seed, total, hits, total - hits, self.model_error(fitted.coef))

    def check(self, X: Array, y: Array, fitted: Fitted) -> None:
        """Refuse an answer that cannot be one: of another size, not finite, or worse than a constant."""
        coef, intercept, selected = fitted
        if coef.shape != (X.shape[1],):
            raise ValueError(f"{coef.size} coefficients for {X.shape[1]} columns")
        if selected.shape != coef.shape:
            raise ValueError(f"a selection of shape {selected.shape} for {X.shape[1]} columns")
        eta = intercept + X @ coef
        if not np.isfinite(eta).all():
            raise ValueError("the answer is not finite")
        constant = np.full_like(y, self.family.link(float(y.mean())))
        alone = self.family.loss(y, constant)  # what an answer without any variable has, but for rounding
        if not self.family.loss(y, eta) <= alone + 1e-6 * abs(alone):
            raise ValueError("the answer fits its own data worse than a constant")
