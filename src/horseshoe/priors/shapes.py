"""The two shapes of an inverted beta distribution, where they are estimated: their prior, and how they move.

log a and log b are normal around log(1/2), the horseshoe, with standard deviation 1, between 1/20 and 20. So
each is between 0.07 and 3.6 with probability 95 %, and the ends are what floats can bear: gamma variates of a
shape below 1/20 underflow, and above 20 lambda2 hardly varies, so that this is ridge regression already.

lambda2 = x_a / x_b with x_a ~ gamma(a, 1) and x_b ~ gamma(b, 1), and everything here comes from that.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.priors.base import held
from horseshoe.variates import TINY, slice_step

# The shapes are between these.
SHAPE_RANGE = 0.05, 20.0
# The median of each shape, but for the bounds, and the standard deviation of its logarithm.
LOG_RANGE = math.log(SHAPE_RANGE[0]), math.log(SHAPE_RANGE[1])
CENTRE, SPREAD = 0.5, 1.0
# How often the shapes and the local scales take turns in a sweep.
STEPS = 2
# Of the slices of a log shape given the local scales.
WIDTH = 3.0
# Times a gamma variate is lifted to the next shape before it is stretched.
LIFTS = 3


def log_prior(log_shape: float) -> float:
    """Return the log density of a log shape, up to a constant.

    Examples
    --------
    >>> log_prior(math.log(0.5)), log_prior(math.log(21.0))
    (-0.0, -inf)
    """
    if not LOG_RANGE[0] <= log_shape <= LOG_RANGE[1]:
        return -math.inf
    return -0.5 * ((log_shape - math.log(CENTRE)) / SPREAD) ** 2


def log_of(shape: float) -> float:
    """Return the logarithm of a shape, within the range whatever rounding does to its ends.

    Examples
    --------
    >>> log_of(SHAPE_RANGE[1]) == log_of(30.0) == LOG_RANGE[1]
    True
    """
    return min(max(math.log(shape), LOG_RANGE[0]), LOG_RANGE[1])


class Shapes:
    """Moves the shapes a and b of one chain; None is one that is estimated.

    Examples
    --------
    >>> shapes = Shapes(None, 0.5)
    >>> shapes.names, shapes.both(np.array([0.3]))
    (('a',), (0.3, 0.5))
    """

    def __init__(self, a: float | None, b: float | None) -> None:
        self._a, self._b = a, b
        self.names = tuple(name for name, value in (("a", a), ("b", b)) if value is None)

    def both(self, values: Vector) -> tuple[float, float]:
        """Return a and b, given those that are estimated."""
        a = float(values[0]) if self._a is None else self._a
        return a, float(values[-1]) if self._b is None else self._b

    def start(self, rng: np.random.Generator) -> Vector:
        """Draw those that are estimated about as far apart as their prior is wide."""
        low, high = LOG_RANGE
        log_shapes = math.log(CENTRE) + SPREAD * rng.standard_normal(len(self.names))
        return np.exp(np.clip(log_shapes, low, high))

    def draw(
        self, values: Vector, w: Vector, lambda2: Vector, rng: np.random.Generator, size: Any = 1.0
    ) -> tuple[Vector, Vector]:
        """Move the shapes and lambda2 given W = b^2 / (2 sigma2 tau2), a sum of ``size`` of them.

        With x_a known, lambda2 can be integrated out where b is drawn: Student's t is left. With lambda2
        known, x_a can be where a is.
        """
        a, b = self.both(values)
        for _ in range(STEPS):
            x = self._above(a + b, lambda2, rng)
            if self._b is None:
                b = _draw_shape(b, np.log(x / (x + w)), 0.5 * size, rng)
            lambda2 = held((x + w) / rng.standard_gamma(b + 0.5 * size, w.size))
            if self._a is None:
                a = _draw_shape(a, -np.log1p(1.0 / lambda2), b, rng)
        return np.array([v for v, known in ((a, self._a), (b, self._b)) if known is None]), lambda2

    def stretch(self, name: str, values: Vector, lambda2: Vector, rng: np.random.Generator) -> Stretch:
        """Return lambda2 as a function of one shape, all that is random in it held fixed."""
        a, b = self.both(values)
        x = self._above(a + b, lambda2, rng)
        below = np.maximum(x / lambda2, TINY)
        return Stretch(Lifted(x, a, rng), below, 1) if name == "a" else Stretch(Lifted(below, b, rng), x, -1)

    def log_density(self, values: Vector, log_lambda2: Vector) -> float:
        """Return the log density of all log lambda2 at some shapes, but for what depends on these alone."""
        a, b = self.both(values)
        return float((a * log_lambda2 - (a + b) * np.logaddexp(0.0, log_lambda2)).sum())

    def _above(self, shape: float, lambda2: Vector, rng: np.random.Generator) -> Vector:
        """Draw x_a given lambda2."""
        return np.maximum(rng.standard_gamma(shape, lambda2.size) / (1.0 + 1.0 / lambda2), TINY)


def _draw_shape(shape: float, pulls: Vector, other: Any, rng: np.random.Generator) -> float:
    """Move a shape s by a slice of log s: prior times (Gamma(s + other) / Gamma(s))^p exp(s sum(pulls)).

    ``other`` may differ from one of the p to the next.
    """
    pull = float(pulls.sum())
    others, times = np.unique(other, return_counts=True)
    times = times if np.ndim(other) else np.array([pulls.size])
    pairs = list(zip(others.tolist(), times.tolist(), strict=True))

    def log_density(t: float) -> float:
        prior = log_prior(t)
        if prior == -math.inf:
            return prior
        s = math.exp(t)
        log_gamma = math.lgamma(s)
        gammas = sum(p * (math.lgamma(s + more) - log_gamma) for more, p in pairs)
        return prior + s * pull + float(gammas)

    return math.exp(slice_step(log_density, log_of(shape), WIDTH, rng))


class Stretched(NamedTuple):
    """The local scales at another shape, and the log density of that, up to a constant."""

    lambda2: Vector
    log_density: float


class Stretch:
    """lambda2 = x_a / x_b as a function of the logarithm of one shape, all that is random held fixed.

    Attributes
    ----------
    log_shape : float
        Where it is now.
    sign : int
        1 where lambda2 grows with the shape, which is a; -1 for b.
    """

    def __init__(self, lifted: Lifted, fixed: Vector, sign: int) -> None:
        self._lifted, self._log_fixed, self.sign = lifted, np.log(fixed), sign
        self.log_shape = log_of(lifted.shape)

    def at(self, log_shape: float) -> Stretched | None:
        """Return the local scales at another shape, or None where there are none."""
        prior = log_prior(log_shape)
        found = self._lifted.at(math.exp(log_shape)) if prior > -math.inf else None
        if found is None:
            return None
        log_variates, weight = found
        with np.errstate(over="ignore", under="ignore"):
            lambda2 = held(np.exp(self.sign * (log_variates - self._log_fixed)))
        return Stretched(lambda2, prior + weight)


class Lifted:
    """Gamma variates that can be given another shape.

    x ~ gamma(s) plus an exponential variate is gamma(s + 1), and x over that sum, to the power s, is uniform
    and independent of it. After a few such lifts the cube root is all but normal (Wilson and Hilferty), and
    is moved as one; what it is not is in the log density. So the new variates are nearly independent of how
    the shape was changed, however small it is, and the density of the shape is nearly that of its prior.

    Parameters
    ----------
    x : array of shape (p,)
        The variates.
    shape : float
        Their shape.
    rng : numpy.random.Generator
        Draws the exponential variates.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> log_variates, _ = Lifted(rng.standard_gamma(0.2, 100_000), 0.2, rng).at(3.0)
    >>> round(float(np.exp(log_variates).mean()), 1)
    3.0
    """

    def __init__(self, x: Vector, shape: float, rng: np.random.Generator) -> None:
        self.shape, self._powers = shape, np.arange(LIFTS)[:, None]
        levels = np.empty((LIFTS + 1, x.size))
        levels[0] = x
        levels[1:] = x + rng.standard_exponential((LIFTS, x.size)).cumsum(axis=0)
        self._log_uniform: Matrix = np.log(levels[:-1] / levels[1:]) * (shape + self._powers)
        mean, spread = _cube_root(shape + LIFTS)
        self._normal = (np.cbrt(levels[-1]) - mean) / spread

    def at(self, shape: float) -> tuple[Vector, float] | None:
        """Return the logarithms of the variates of another shape, and the log density of what was held."""
        top = shape + LIFTS
        mean, spread = _cube_root(top)
        root = mean + spread * self._normal
        if (root <= 0.0).any():
            return None
        log_root = np.log(root)
        weight = float(((3.0 * top - 1.0) * log_root - root**3).sum())
        weight += self._normal.size * (math.log(spread) - math.lgamma(top))
        return 3.0 * log_root + (self._log_uniform / (shape + self._powers)).sum(axis=0), weight


def _cube_root(shape: float) -> tuple[float, float]:
    """Return mean and standard deviation of the cube root of a gamma variate, nearly."""
    return math.cbrt(shape) * (1.0 - 1.0 / (9.0 * shape)), shape ** (-1.0 / 6.0) / 3.0
