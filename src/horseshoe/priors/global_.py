"""Priors of the global scale, and that which a user's arguments name."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from horseshoe._types import Vector
from horseshoe.priors.base import TAU_RANGE, GlobalPrior, check_tau, held, require_positive
from horseshoe.variates import Source, gamma_above

# The scale of a half-Cauchy distribution is between these: its square must be a float.
SCALE_RANGE = 1e-40, 1e40


@dataclass(frozen=True)
class HalfCauchy:
    """tau ~ half-Cauchy(0, scale) on (0, tau_max), as a density of tau (Eqs. 13-14).

    Examples
    --------
    >>> HalfCauchy(tau_max=1.0).bounds
    (1e-20, 1.0)
    """

    tau_max: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, scale=self.scale)
        if not SCALE_RANGE[0] <= self.scale <= SCALE_RANGE[1]:
            low, high = SCALE_RANGE
            raise ValueError(f"HalfCauchy: scale={self.scale!r} must be between {low:g} and {high:g}")
        if self.tau_max != np.inf:
            check_tau("HalfCauchy: tau_max", self.tau_max)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of tau2."""
        top = self.tau_max**2
        return (1e-20 * min(top, self.scale**2), top)

    def neg_log_density(self, tau2: float) -> float:
        """Return log(1 + tau2 / scale^2)."""
        return float(np.log1p(tau2 / self.scale**2))

    def slope(self, tau2: float) -> float:
        """Return tau2 / (scale^2 + tau2)."""
        return tau2 / (self.scale**2 + tau2)

    def log_density(self, log_tau: float) -> float:
        """Return the log density of log tau, t - log(1 + e^2t / scale^2) within the bounds."""
        return log_tau - _log1p_exp(2.0 * (log_tau - math.log(self.scale)))

    def draw(self, n: int, s: Vector, tau2: Vector, rng: Source) -> Vector:
        """Draw from tau2 ~ inverse gamma(1/2, nu), nu ~ gamma(1/2, scale^2): the mixture it is."""
        nu = rng.standard_exponential(s.shape) / (1.0 / self.scale**2 + 1.0 / tau2)
        return held(1.0 / gamma_above(0.5 * (n + 1.0), s + nu, self.tau_max**-2.0, rng))


@dataclass(frozen=True)
class InverseGammaGlobal:
    """tau2 ~ inverse gamma(shape, scale) on (0, tau_max^2).

    Examples
    --------
    >>> InverseGammaGlobal().slope(1.0)
    1.0
    """

    shape: float = 1.0
    scale: float = 1.0
    tau_max: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, shape=self.shape, scale=self.scale)
        check_tau("InverseGammaGlobal: tau_max", self.tau_max)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of tau2."""
        top = self.tau_max**2
        return (1e-20 * top, top)

    def neg_log_density(self, tau2: float) -> float:
        """Return (shape + 1) log tau2 + scale / tau2."""
        return float((self.shape + 1.0) * np.log(tau2) + self.scale / tau2)

    def slope(self, tau2: float) -> float:
        """Return shape + 1 - scale / tau2."""
        return self.shape + 1.0 - self.scale / tau2

    def log_density(self, log_tau: float) -> float:
        """Return the log density of log tau, -2 shape t - scale e^-2t within the bounds."""
        return -2.0 * self.shape * log_tau - self.scale * math.exp(-2.0 * log_tau)

    def draw(self, n: int, s: Vector, tau2: Vector, rng: Source) -> Vector:
        """Draw from the inverse gamma distribution (shape + n/2, scale + s) below tau_max^2."""
        return held(1.0 / gamma_above(self.shape + 0.5 * n, s + self.scale, self.tau_max**-2.0, rng))


@dataclass(frozen=True)
class FixedScale:
    """tau2 is known.

    Examples
    --------
    >>> FixedScale(tau2=0.01).bounds
    (0.01, 0.01)
    """

    tau2: float

    def __post_init__(self) -> None:
        require_positive(self, tau2=self.tau2)
        low, high = TAU_RANGE
        if not low * low <= self.tau2 <= high * high:
            raise ValueError(
                f"FixedScale: tau2={self.tau2!r} must be between {low * low:g} and {high * high:g}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The one value of tau2."""
        return (self.tau2, self.tau2)

    def neg_log_density(self, tau2: float) -> float:
        """Return 0."""
        return 0.0

    def slope(self, tau2: float) -> float:
        """Return 0."""
        return 0.0

    def log_density(self, log_tau: float) -> float:
        """Return 0."""
        return 0.0

    def draw(self, n: int, s: Vector, tau2: Vector, rng: Source) -> Vector:
        """Return the one value."""
        return np.full_like(tau2, self.tau2)


def resolve_global(tau: object, tau_max: float) -> GlobalPrior:
    """Return the global prior that a user's arguments name.

    Examples
    --------
    >>> resolve_global(0.5, tau_max=1.0)
    FixedScale(tau2=0.25)
    """
    if isinstance(tau, str):
        if tau != "estimate":
            raise ValueError(f"tau={tau!r} is not known: use 'estimate' or a positive number")
        return HalfCauchy(check_tau("tau_max", tau_max))
    if isinstance(tau, GlobalPrior):
        return tau
    return FixedScale(check_tau("tau", tau) ** 2)


def _log1p_exp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))
