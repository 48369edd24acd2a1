"""The protocols of priors, and the checks that they share."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import Vector
from horseshoe.variates import HUGE, TINY, Source

# Global scales are between these: beside a larger one, the data are lost in rounding.
TAU_RANGE = 1e-40, 1e12


@runtime_checkable
class LocalPrior(Protocol):
    """The prior of one local scale."""

    def null_rate(self, lambda_power: float) -> float:
        """Return A: lambda2 of a null coefficient shrinks by 1/(2A) an iteration, if A > 1/2.

        Return 0 for a prior under which it does not go to zero.
        """

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Return the lambda2 that minimises the expected negative log posterior, Eq. (16)."""

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return -log of the density of lambda**lambda_power, as a function of lambda2, up to a constant."""


@runtime_checkable
class GlobalPrior(Protocol):
    """The prior of the global scale, as a function of tau2."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of tau2."""

    def neg_log_density(self, tau2: float) -> float:
        """Return -log density, up to a constant."""

    def slope(self, tau2: float) -> float:
        """Return the derivative of `neg_log_density` in log tau2; must not fall as tau2 grows."""


@runtime_checkable
class LocalSampler(Protocol):
    """A local prior that can be sampled from."""

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Move lambda2 by a step that leaves its distribution given W as it is.

        Where one lambda2 is shared by several coefficients, as many as ``size`` says (a fourth argument, 1 if
        left out), W is their sum, and lambda2^(-size/2) takes the place of lambda2^(-1/2).
        """


@runtime_checkable
class GlobalSampler(Protocol):
    """A global prior that can be sampled from."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of tau2."""

    def log_density(self, log_tau: float) -> float:
        """Return the log density of log tau within the bounds, up to a constant."""

    def draw(self, n: int, s: Vector, tau2: Vector, rng: Source) -> Vector:
        """Move tau2 by a step that leaves its density times tau2^(-n/2) exp(-s / tau2) as it is."""


@runtime_checkable
class Estimating(Protocol):
    """A local prior with shapes that may be left to be estimated, which only the sampler does."""

    @property
    def estimated(self) -> tuple[str, ...]:
        """The names of those that are."""

    def settled(self) -> LocalPrior:
        """Return the prior with a number for each: that of the mode, around which chains start."""

    def shapes(self) -> Any:
        """Return what moves the shapes: a `horseshoe.priors.shapes.Shapes`."""


def estimated(prior: object) -> tuple[str, ...]:
    """Return the names of what a local prior leaves to be estimated.

    Examples
    --------
    >>> from horseshoe.priors import Horseshoe, InvertedBeta
    >>> estimated(InvertedBeta(a="estimate")), estimated(Horseshoe())
    (('a',), ())
    """
    return prior.estimated if isinstance(prior, Estimating) else ()


def settled(prior: LocalPrior) -> LocalPrior:
    """Return the prior with a number for all that it leaves to be estimated.

    Examples
    --------
    >>> from horseshoe.priors import InvertedBeta
    >>> settled(InvertedBeta(a="estimate", b=0.8))
    InvertedBeta(a=0.5, b=0.8)
    """
    return prior.settled() if isinstance(prior, Estimating) else prior


def refusal(prior: object) -> str:
    """Return why a prior with something to be estimated has no mode."""
    names = " and ".join(estimated(prior))
    return (
        f"prior={prior!r}: the posterior mode has no estimate of {names}: draw from the posterior with "
        f"horseshoe.sample_posterior, or give a number for {names}"
    )


def held(lambda2: Vector) -> Vector:
    """Hold scales between TINY and HUGE: their squares and reciprocals stay finite."""
    return np.minimum(np.maximum(lambda2, TINY), HUGE)


def is_sparse(prior: LocalPrior, lambda_power: float) -> bool:
    """Tell whether null coefficients go to exactly zero under this prior in this lambda power."""
    return prior.null_rate(lambda_power) > 0.5


def is_dense(prior: LocalPrior) -> bool:
    """Tell whether small coefficients are meant to stay: then none is set to zero by default."""
    return getattr(prior, "dense", False)


def is_known(prior: LocalPrior) -> bool:
    """Tell whether the local scales are known beforehand, whatever the coefficients are."""
    return getattr(prior, "known", False)


def check_tau(name: str, value: object) -> float:
    """Return a global scale whose square, times or over that of any local scale, is within range.

    Examples
    --------
    >>> check_tau("tau", 1e200)
    Traceback (most recent call last):
    ValueError: tau=1e+200 must be between 1e-40 and 1e+12: the prior variance is its square
    """
    tau, (low, high) = check_number(name, value), TAU_RANGE
    if not low <= tau <= high:
        raise ValueError(
            f"{name}={value!r} must be between {low:g} and {high:g}: the prior variance is its square"
        )
    return tau


def require_positive(prior: object, **values: object) -> None:
    """Refuse parameters of a prior that are not positive numbers."""
    for name, value in values.items():
        check_number(f"{type(prior).__name__}: {name}", value)
