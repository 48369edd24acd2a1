"""Priors of the local and the global scales: small classes that know two formulas each.

With v = lambda_j^2 and W_j = E[b_j^2] / (2 sigma2 tau2), the M-step for every local prior minimises

    A log v + W / v + rest(v),        A = (1 + c)/2 - (power of v in the density of v),

where ``c`` is the coordinate: the mode is that of the density of lambda**c (2 is the paper, 1 is lambda
itself, c -> 0 is log lambda). A null coefficient then follows v <- v / (2 A): the prior is sparse when
A > 1/2.

Any object with the methods of `LocalPrior` can be used in place of these. To be sampled from it needs one
more: ``draw(w, lambda2, rng)``, which moves lambda2 by a step that leaves its conditional distribution given
W = b^2 / (2 sigma2 tau2) as it is.

Examples
--------
>>> import numpy as np
>>> from farrier.priors import Horseshoe
>>> Horseshoe().mode(np.array([1.0]), coordinate=2.0)  # (sqrt(1 + 6 + 1) + 1 - 1) / 4, Eq. (16)
array([0.70710678])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from farrier._types import Vector
from farrier.variates import (
    HUGE,
    TINY,
    Source,
    gamma_above,
    power_exponential_step,
    reciprocal_inverse_gaussian,
)

MIXTURE_STEPS, SLICE_STEPS = 2, 4
"""How often the draws that are not exact are repeated: they cost little beside the coefficients."""
NEWTON_STEPS, NEWTON_CHANGE = 50, 1e-15
"""Newton's method for a mode without a closed form ends at this relative change; about five steps do."""

__all__ = [
    "FixedScale",
    "GammaScale",
    "GlobalPrior",
    "GlobalSampler",
    "HalfCauchy",
    "Horseshoe",
    "HorseshoeLike",
    "InverseGammaGlobal",
    "InverseGammaScale",
    "InvertedBeta",
    "Lasso",
    "LocalPrior",
    "LocalSampler",
    "NormalGamma",
    "Ridge",
    "StrawdermanBerger",
    "StudentT",
    "resolve_global",
    "resolve_local",
]


@runtime_checkable
class LocalPrior(Protocol):
    """The prior of one local scale."""

    def null_rate(self, coordinate: float) -> float:
        """Return A: lambda2 of a null coefficient shrinks by 1/(2A) an iteration, if A > 1/2.

        Return 0 for a prior under which it does not go to zero.
        """
        ...

    def mode(self, w: Vector, coordinate: float) -> Vector:
        """Return the lambda2 that minimises the expected negative log posterior, Eq. (16)."""
        ...

    def neg_log_density(self, lambda2: Vector, coordinate: float) -> Vector:
        """Return -log of the density of lambda**coordinate, as a function of lambda2, up to a constant."""
        ...


@runtime_checkable
class GlobalPrior(Protocol):
    """The prior of the global scale, as a function of tau2."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of tau2."""
        ...

    def neg_log_density(self, tau2: float) -> float:
        """Return -log density, up to a constant."""
        ...

    def slope(self, tau2: float) -> float:
        """Return the derivative of `neg_log_density` in log tau2; must not fall as tau2 grows."""
        ...


@runtime_checkable
class LocalSampler(Protocol):
    """A local prior that can be sampled from."""

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Move lambda2 by a step that leaves its distribution given W as it is."""
        ...


@runtime_checkable
class GlobalSampler(Protocol):
    """A global prior that can be sampled from."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of tau2."""
        ...

    def log_density(self, log_tau: float) -> float:
        """Return the log density of log tau within the bounds, up to a constant."""
        ...

    def draw(self, n: int, s: Vector, tau2: Vector, rng: Source) -> Vector:
        """Move tau2 by a step that leaves its density times tau2^(-n/2) exp(-s / tau2) as it is."""
        ...


def _positive_root(quadratic: float, linear: Vector, w: Vector) -> Vector:
    """Solve quadratic v^2 + linear v - w = 0 for v > 0 without cancellation on either side."""
    total = np.sqrt(linear * linear + (4.0 * quadratic) * w) + np.abs(linear)
    root = total / (2.0 * quadratic)  # where linear <= 0
    np.divide(2.0 * w, total, out=root, where=linear > 0.0)
    return root


@dataclass(frozen=True)
class InvertedBeta:
    """lambda2 ~ inverted beta(a, b), Eq. (15): the generalised horseshoe.

    Parameters
    ----------
    a : float
        How strong the pole at zero is.
    b : float
        How heavy the tail is: smaller is heavier.

    Examples
    --------
    >>> InvertedBeta(a=0.5, b=0.5) == InvertedBeta()
    True
    """

    a: float = 0.5
    b: float = 0.5

    def __post_init__(self) -> None:
        _require_positive(self, a=self.a, b=self.b)

    def null_rate(self, coordinate: float) -> float:
        """Return A = (1 + c)/2 - a."""
        return (1.0 + coordinate) / 2.0 - self.a

    def mode(self, w: Vector, coordinate: float) -> Vector:
        """Solve (A + m) v^2 + (A - W) v - W = 0, m = a + b; Eq. (16) is a = b = 1/2, c = 2."""
        rate = self.null_rate(coordinate)
        return _positive_root(rate + self.a + self.b, rate - w, w)

    def neg_log_density(self, lambda2: Vector, coordinate: float) -> Vector:
        """Return (c/2 - a) log v + (a + b) log(1 + v)."""
        return (coordinate / 2.0 - self.a) * np.log(lambda2) + (self.a + self.b) * np.log1p(lambda2)

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Draw from lambda2 ~ inverse gamma(b, nu), nu ~ gamma(a, 1): the mixture that inverted betas are."""
        for _ in range(MIXTURE_STEPS):
            nu = rng.standard_gamma(self.a + self.b, w.shape) / (1.0 + 1.0 / lambda2)
            nu += w
            lambda2 = nu / rng.standard_gamma(self.b + 0.5, w.shape)
        return _held(lambda2)


class Horseshoe(InvertedBeta):
    """The horseshoe: lambda is half-Cauchy.

    Examples
    --------
    >>> Horseshoe().null_rate(2.0)  # a null coefficient's lambda2 halves at every iteration
    1.0
    """


class StrawdermanBerger(InvertedBeta):
    """The Strawderman-Berger prior: inverted beta (1/2, 1), a lighter tail than the horseshoe's.

    Examples
    --------
    >>> StrawdermanBerger().b
    1.0
    """

    def __init__(self, a: float = 0.5, b: float = 1.0) -> None:
        super().__init__(a, b)


@dataclass(frozen=True)
class HorseshoeLike:
    """The horseshoe-like prior of Bhadra and others (2019): lambda is a uniform over a half-normal variate.

    Its pole and its tail are of the same order as the horseshoe's, and a coefficient has a density in closed
    form, log(1 + tau2 / b^2) / (2 pi tau) in units of sigma.

    Examples
    --------
    >>> HorseshoeLike().mode(np.array([0.0, 1.0]), coordinate=2.0).round(6)
    array([0.      , 0.608059])
    """

    def null_rate(self, coordinate: float) -> float:
        """Return A = c/2, as for the horseshoe."""
        return coordinate / 2.0

    def mode(self, w: Vector, coordinate: float) -> Vector:
        """Return v = W / r, where r = A + s / (e^s - 1) and s = r / (2 W)."""
        return w / _horseshoe_like_ratio(_held(w), self.null_rate(coordinate))

    def neg_log_density(self, lambda2: Vector, coordinate: float) -> Vector:
        """Return (c - 1)/2 log v - log(1 - exp(-1 / (2 v)))."""
        power = (coordinate - 1.0) / 2.0 * np.log(lambda2)
        return power - np.log(-np.expm1(-0.5 / _held(lambda2)))

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Draw 1 / (2 v): exponential, of a rate between 2 W and 2 W + 1 whose logarithm is uniform."""
        w = _held(w)
        rate = w * np.exp(rng.random(w.shape) * np.log1p(0.5 / w))  # half of it
        return _held(rate / rng.standard_exponential(w.shape))


def _horseshoe_like_ratio(w: Vector, rate: float) -> Vector:
    """Solve r = A + s / (e^s - 1), s = r / (2 W), for r = W / v, which is between A and A + 1.

    r - A - s / (e^s - 1) rises and is concave in r, so that Newton's method climbs to the root from any
    point below it. Three are known, and each is the root in a limit: A, for small W; that of the tangent
    s / (e^s - 1) >= 1 - s/2, for large W; and 2 W log(1 + 1 / (2 W)), for A = 0.
    """
    double = 2.0 * w
    tangent = (rate + 1.0) / (1.0 + 0.5 / double)
    ratio = np.maximum(np.maximum(tangent, rate), double * np.log1p(1.0 / double))
    for _ in range(NEWTON_STEPS):
        s = np.minimum(ratio / double, 700.0)  # where e^s is still finite, and s / (e^s - 1) is nothing
        share = s / np.expm1(s)
        fall = np.where(s < 1e-4, 0.5 - s / 6.0, share * (s + share - 1.0) / s)  # minus its derivative
        step = (rate + share - ratio) / (1.0 + fall / double)
        ratio = ratio + step
        if np.all(np.abs(step) <= NEWTON_CHANGE * ratio):
            break
    return ratio


@dataclass(frozen=True)
class GammaScale:
    """lambda2 ~ gamma(shape, rate): normal-gamma coefficients; shape 1 is the lasso.

    Examples
    --------
    >>> GammaScale(shape=1.0, rate=0.5).null_rate(1.0)
    0.0
    """

    shape: float = 1.0
    rate: float = 0.5

    def __post_init__(self) -> None:
        _require_positive(self, shape=self.shape, rate=self.rate)

    def null_rate(self, coordinate: float) -> float:
        """Return A = (1 + c)/2 - shape."""
        return (1.0 + coordinate) / 2.0 - self.shape

    def mode(self, w: Vector, coordinate: float) -> Vector:
        """Solve rate v^2 + A v - W = 0."""
        return _positive_root(self.rate, np.full_like(w, self.null_rate(coordinate)), w)

    def neg_log_density(self, lambda2: Vector, coordinate: float) -> Vector:
        """Return (c/2 - shape) log v + rate v."""
        return (coordinate / 2.0 - self.shape) * np.log(lambda2) + self.rate * lambda2

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Draw from the generalised inverse Gaussian: exactly for shape 1, by slices for others."""
        if self.shape == 1.0:
            half_width = 2.0 * np.sqrt(self.rate * w)
            return _held(reciprocal_inverse_gaussian(half_width, rng) / (2.0 * self.rate))
        for _ in range(SLICE_STEPS):
            lambda2 = _held(power_exponential_step(lambda2, self.shape - 0.5, self.rate, w, rng))
        return lambda2


class Lasso(GammaScale):
    """The Bayesian lasso: exponential lambda2, so double exponential coefficients.

    Examples
    --------
    >>> Lasso() == Lasso(shape=1.0, rate=0.5)
    True
    """


class NormalGamma(GammaScale):
    """The normal-gamma prior: a shape below 1 shrinks null coefficients harder than the lasso does.

    Examples
    --------
    >>> NormalGamma(shape=0.25).null_rate(2.0)
    1.25
    """

    def __init__(self, shape: float = 0.5, rate: float = 0.5) -> None:
        super().__init__(shape, rate)


@dataclass(frozen=True)
class InverseGammaScale:
    """lambda2 ~ inverse gamma(shape, scale): Student-t coefficients.

    Examples
    --------
    >>> InverseGammaScale(shape=0.5, scale=0.5).mode(np.array([1.5]), coordinate=2.0)
    array([1.])
    """

    shape: float = 0.5
    scale: float = 0.5
    dense: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require_positive(self, shape=self.shape, scale=self.scale)

    def null_rate(self, coordinate: float) -> float:
        """Return 0: lambda2 never falls below scale / A, so nothing is sparse here."""
        return 0.0

    def mode(self, w: Vector, coordinate: float) -> Vector:
        """Return v = (W + scale) / A, A = (1 + c)/2 + shape."""
        return (w + self.scale) / ((1.0 + coordinate) / 2.0 + self.shape)

    def neg_log_density(self, lambda2: Vector, coordinate: float) -> Vector:
        """Return (c/2 + shape) log v + scale / v."""
        return (coordinate / 2.0 + self.shape) * np.log(lambda2) + self.scale / lambda2

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Draw from the inverse gamma distribution (shape + 1/2, scale + W)."""
        return _held((self.scale + w) / rng.standard_gamma(self.shape + 0.5, w.shape))


class StudentT(InverseGammaScale):
    """Student-t coefficients with ``df`` degrees of freedom.

    Parameters
    ----------
    df : float
        Degrees of freedom; 1 is the Cauchy prior.

    Examples
    --------
    >>> StudentT(df=4).shape
    2.0
    """

    def __init__(self, df: float = 1.0) -> None:
        _require_positive(self, df=df)
        super().__init__(shape=df / 2.0, scale=df / 2.0)


@dataclass(frozen=True)
class Ridge:
    """lambda2 = 1 for every coefficient: the global scale alone shrinks.

    Examples
    --------
    >>> Ridge().mode(np.array([0.1, 7.0]), coordinate=2.0)
    array([1., 1.])
    """

    dense: ClassVar[bool] = True

    def null_rate(self, coordinate: float) -> float:
        """Return 0: nothing is sparse here."""
        return 0.0

    def mode(self, w: Vector, coordinate: float) -> Vector:
        """Return ones."""
        return np.ones_like(w)

    def neg_log_density(self, lambda2: Vector, coordinate: float) -> Vector:
        """Return zeros."""
        return np.zeros_like(lambda2)

    def draw(self, w: Vector, lambda2: Vector, rng: Source) -> Vector:
        """Return ones."""
        return np.ones_like(w)


def _held(lambda2: Vector) -> Vector:
    return np.minimum(np.maximum(lambda2, TINY), HUGE)


def is_sparse(prior: LocalPrior, coordinate: float) -> bool:
    """Tell whether null coefficients go to exactly zero under this prior in this coordinate."""
    return prior.null_rate(coordinate) > 0.5


def is_dense(prior: LocalPrior) -> bool:
    """Tell whether small coefficients are meant to stay: then none is set to zero by default."""
    return getattr(prior, "dense", False)


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
        _require_positive(self, scale=self.scale)
        if self.tau_max != np.inf:
            _require_positive(self, tau_max=self.tau_max)

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
        return _held(1.0 / gamma_above(0.5 * (n + 1.0), s + nu, self.tau_max**-2.0, rng))


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
        _require_positive(self, shape=self.shape, scale=self.scale, tau_max=self.tau_max)

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
        return _held(1.0 / gamma_above(self.shape + 0.5 * n, s + self.scale, self.tau_max**-2.0, rng))


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
        _require_positive(self, tau2=self.tau2)

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


LOCAL_PRIORS: dict[str, type[LocalPrior]] = {
    "horseshoe": Horseshoe,
    "horseshoe_like": HorseshoeLike,
    "strawderman_berger": StrawdermanBerger,
    "lasso": Lasso,
    "normal_gamma": NormalGamma,
    "student_t": StudentT,
    "ridge": Ridge,
}


def resolve_local(prior: object) -> LocalPrior:
    """Return the local prior that a user's argument names.

    Examples
    --------
    >>> resolve_local("lasso")
    Lasso(shape=1.0, rate=0.5)
    """
    if isinstance(prior, str):
        if prior not in LOCAL_PRIORS:
            raise ValueError(f"prior={prior!r} is not known: use one of {', '.join(map(repr, LOCAL_PRIORS))}")
        return LOCAL_PRIORS[prior]()
    candidate = prior() if isinstance(prior, type) else prior
    if not isinstance(candidate, LocalPrior):
        raise TypeError(
            f"prior={prior!r} must be a name ({', '.join(map(repr, LOCAL_PRIORS))}) or an object with the "
            "methods null_rate, mode and neg_log_density (see farrier.priors.LocalPrior)"
        )
    return candidate


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
        return HalfCauchy(_positive_number("tau_max", tau_max))
    if isinstance(tau, GlobalPrior):
        return tau
    return FixedScale(_positive_number("tau", tau) ** 2)


def _log1p_exp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))


def _positive_number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name}={value!r} must be a positive number")
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name}={value!r} must be a positive finite number")
    return float(value)


def _require_positive(prior: object, **values: object) -> None:
    for name, value in values.items():
        _positive_number(f"{type(prior).__name__}: {name}", value)
