"""Priors of the local scales, small classes that know two formulas each, and their names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import Vector
from horseshoe.priors.base import (
    LocalPrior,
    estimated,
    held,
    refusal,
    require_positive,
)
from horseshoe.priors.shapes import CENTRE, Shapes
from horseshoe.variates import Source, power_exponential_step, reciprocal_inverse_gaussian

# How often the draws that are not exact are repeated: they cost little beside the coefficients.
MIXTURE_STEPS, SLICE_STEPS = 2, 4
# Newton's method for a mode without a closed form ends at this relative change; about five steps do.
NEWTON_STEPS, NEWTON_CHANGE = 50, 1e-15


def _positive_root(quadratic: float, linear: Vector | float, w: Vector) -> Vector:
    """Solve quadratic v^2 + linear v - w = 0 for v > 0 without cancellation on either side."""
    total: Vector = np.sqrt(linear * linear + (4.0 * quadratic) * w) + abs(linear)
    if isinstance(linear, float):
        return 2.0 * w / total if linear > 0.0 else total / (2.0 * quadratic)
    root = total / (2.0 * quadratic)  # where linear <= 0
    np.divide(2.0 * w, total, out=root, where=linear > 0.0)
    return root


@dataclass(frozen=True)
class InvertedBeta:
    """lambda2 ~ inverted beta(a, b), Eq. (15): the generalised horseshoe.

    Parameters
    ----------
    a : float or "estimate", default=0.5
        How strong the pole at zero is: smaller is stronger.
    b : float or "estimate", default=0.5
        How heavy the tail is: smaller is heavier.

    Notes
    -----
    "estimate" is for `horseshoe.sample_posterior`, which draws a and b with the rest, so that the posterior
    mean adapts to how sparse the truth is. A priori log a and log b are independent, normal around log(1/2),
    the horseshoe, with standard deviation 1, between 1/20 and 20: from very sparse to all but ridge
    regression, and no farther than floats can bear. The posterior mode has no estimate of them, and the
    estimators refuse to look for one.

    Examples
    --------
    >>> InvertedBeta(a=0.5, b=0.5) == InvertedBeta()
    True
    >>> InvertedBeta(a="estimate", b="estimate").estimated
    ('a', 'b')
    """

    a: float | str = 0.5
    b: float | str = 0.5

    def __post_init__(self) -> None:
        for name, value in (("a", self.a), ("b", self.b)):
            if not isinstance(value, str) or value != "estimate":
                check_number(f"{type(self).__name__}: {name}", value, instead=" or 'estimate'")

    @property
    def estimated(self) -> tuple[str, ...]:
        """The names of those shapes that are to be estimated."""
        return ("a",) * isinstance(self.a, str) + ("b",) * isinstance(self.b, str)

    def settled(self) -> InvertedBeta:
        """Return the prior with 1/2, that of the horseshoe, for what is to be estimated."""
        return replace(self, **dict.fromkeys(self.estimated, CENTRE)) if self.estimated else self

    def shapes(self) -> Shapes:
        """Return what moves the shapes."""
        a, b = (None if isinstance(shape, str) else float(shape) for shape in (self.a, self.b))
        return Shapes(a, b)

    @property
    def _numbers(self) -> tuple[float, float]:
        """The shapes, if both are known."""
        if isinstance(self.a, str) or isinstance(self.b, str):
            raise ValueError(refusal(self))
        return self.a, self.b

    def null_rate(self, lambda_power: float) -> float:
        """Return A = (1 + c)/2 - a."""
        return (1.0 + lambda_power) / 2.0 - self._numbers[0]

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Solve (A + m) v^2 + (A - W) v - W = 0, m = a + b; Eq. (16) is a = b = 1/2, c = 2."""
        a, b = self._numbers
        rate = (1.0 + lambda_power) / 2.0 - a
        return _positive_root(rate + a + b, rate - w, w)

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return (c/2 - a) log v + (a + b) log(1 + v)."""
        a, b = self._numbers
        return (lambda_power / 2.0 - a) * np.log(lambda2) + (a + b) * np.log1p(lambda2)

    def draw(self, w: Vector, lambda2: Vector, rng: Source, size: float = 1.0) -> Vector:
        """Draw from lambda2 ~ inverse gamma(b, nu), nu ~ gamma(a, 1): the mixture that inverted betas are."""
        a, b = self._numbers
        for _ in range(MIXTURE_STEPS):
            nu = rng.standard_gamma(a + b, w.shape) / (1.0 + 1.0 / lambda2)
            nu += w
            lambda2 = nu / rng.standard_gamma(b + 0.5 * size, w.shape)
        return held(lambda2)


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

    def __init__(self, a: float | str = 0.5, b: float | str = 1.0) -> None:
        super().__init__(a, b)


@dataclass(frozen=True)
class HorseshoeLike:
    """The horseshoe-like prior of Bhadra and others (2019): lambda is a uniform over a half-normal variate.

    Its pole and its tail are of the same order as the horseshoe's, and a coefficient has a density in closed
    form, log(1 + tau2 / b^2) / (2 pi tau) in units of sigma.

    Examples
    --------
    >>> HorseshoeLike().mode(np.array([0.0, 1.0]), lambda_power=2.0).round(6)
    array([0.      , 0.608059])
    """

    def null_rate(self, lambda_power: float) -> float:
        """Return A = c/2, as for the horseshoe."""
        return lambda_power / 2.0

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Return v = W / r, where r = A + s / (e^s - 1) and s = r / (2 W)."""
        return w / _horseshoe_like_ratio(held(w), self.null_rate(lambda_power))

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return (c - 1)/2 log v - log(1 - exp(-1 / (2 v)))."""
        power = (lambda_power - 1.0) / 2.0 * np.log(lambda2)
        return power - np.log(-np.expm1(-0.5 / held(lambda2)))

    def draw(self, w: Vector, lambda2: Vector, rng: Source, size: float = 1.0) -> Vector:
        """Draw 1 / (2 v): gamma, of a rate r between 2 W and 2 W + 1 whose density is r^(-m - 1).

        Its shape is m + 1, m = (size - 1)/2. Of one coefficient it is exponential, and log r is uniform.
        """
        w, m = held(w), 0.5 * (size - 1.0)
        up = rng.random(w.shape)
        if m == 0.0:
            rate = w * np.exp(up * np.log1p(0.5 / w))  # half of it
            return held(rate / rng.standard_exponential(w.shape))
        up *= np.expm1(-m * np.log1p(0.5 / w))
        return held(w * np.exp(-np.log1p(up) / m) / rng.standard_gamma(m + 1.0, w.shape))


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
        require_positive(self, shape=self.shape, rate=self.rate)

    def null_rate(self, lambda_power: float) -> float:
        """Return A = (1 + c)/2 - shape."""
        return (1.0 + lambda_power) / 2.0 - self.shape

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Solve rate v^2 + A v - W = 0."""
        return _positive_root(self.rate, self.null_rate(lambda_power), w)

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return (c/2 - shape) log v + rate v."""
        return (lambda_power / 2.0 - self.shape) * np.log(lambda2) + self.rate * lambda2

    def draw(self, w: Vector, lambda2: Vector, rng: Source, size: float = 1.0) -> Vector:
        """Draw from the generalised inverse Gaussian: exactly for shape 1, by slices for others."""
        if self.shape == 1.0 and size == 1.0:
            half_width = 2.0 * np.sqrt(self.rate * w)
            return held(reciprocal_inverse_gaussian(half_width, rng) / (2.0 * self.rate))
        power = self.shape - 0.5 * size
        for _ in range(SLICE_STEPS):
            lambda2 = held(power_exponential_step(lambda2, power, self.rate, w, rng))
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
    >>> InverseGammaScale(shape=0.5, scale=0.5).mode(np.array([1.5]), lambda_power=2.0)
    array([1.])
    """

    shape: float = 0.5
    scale: float = 0.5
    dense: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self, shape=self.shape, scale=self.scale)

    def null_rate(self, lambda_power: float) -> float:
        """Return 0: lambda2 never falls below scale / A, so nothing is sparse here."""
        return 0.0

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Return v = (W + scale) / A, A = (1 + c)/2 + shape."""
        return (w + self.scale) / ((1.0 + lambda_power) / 2.0 + self.shape)

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return (c/2 + shape) log v + scale / v."""
        return (lambda_power / 2.0 + self.shape) * np.log(lambda2) + self.scale / lambda2

    def draw(self, w: Vector, lambda2: Vector, rng: Source, size: float = 1.0) -> Vector:
        """Draw from the inverse gamma distribution (shape + size/2, scale + W)."""
        return held((self.scale + w) / rng.standard_gamma(self.shape + 0.5 * size, w.shape))


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
        require_positive(self, df=df)
        super().__init__(shape=df / 2.0, scale=df / 2.0)


@dataclass(frozen=True)
class Ridge:
    """lambda2 = 1 for every coefficient: the global scale alone shrinks.

    Examples
    --------
    >>> Ridge().mode(np.array([0.1, 7.0]), lambda_power=2.0)
    array([1., 1.])
    """

    dense: ClassVar[bool] = True
    known: ClassVar[bool] = True

    def null_rate(self, lambda_power: float) -> float:
        """Return 0: nothing is sparse here."""
        return 0.0

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Return ones."""
        return np.ones_like(w)

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return zeros."""
        return np.zeros_like(lambda2)

    def draw(self, w: Vector, lambda2: Vector, rng: Source, size: float = 1.0) -> Vector:
        """Return ones."""
        return np.ones_like(w)


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
            "methods null_rate, mode and neg_log_density (see horseshoe.priors.LocalPrior)"
        )
    return candidate


def resolve_known(prior: object) -> LocalPrior:
    """Return the local prior that a user's argument names, if there is nothing in it to be estimated.

    Examples
    --------
    >>> resolve_known("horseshoe")
    Horseshoe(a=0.5, b=0.5)
    >>> resolve_known(Horseshoe(a="estimate"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: prior=Horseshoe(a='estimate', b=0.5): the posterior mode has no estimate of a: draw from ...
    """
    found = resolve_local(prior)
    if estimated(found):
        raise ValueError(refusal(found))
    return found
