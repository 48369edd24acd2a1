"""The predictive distribution of a new response: the family's, mixed over the uncertainty of eta.

eta is Gaussian at the mode. Where its standard deviation is small beside the noise of one y, a Gauss-Hermite
sum over a few of its values is accurate; far from the data, where it is not, a fine grid takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import ndtri

from horseshoe._types import Matrix, Vector
from horseshoe.families import Family, Ordered, Predictive
from horseshoe.families.base import EXTREME

END, PLACES = 7.0, np.linspace(0.0, 1.0, 281)


def _rule(nodes: Vector, weights: Vector) -> tuple[Vector, Vector]:
    """Return nodes and weights that add up to 1."""
    return nodes, weights / weights.sum()


# A few nodes do where eta's standard deviation is below this share of the noise of a single y.
FEW = _rule(*np.polynomial.hermite_e.hermegauss(15))
MANY = _rule(np.linspace(-END, END, 281), np.exp(-0.5 * np.linspace(-END, END, 281) ** 2))
WELL_KNOWN = 0.7
# Rows that are worked through at a time.
CHUNK = 1024
# The most bisections, and where they end: at the first share of the spread, or of amounts at the second.
BISECTIONS, PRECISION, SHARE = 80, 1e-12, 1e-8
# Of the polynomial that stands for the quantile as a function of the spread, for y = eta + noise.
DEGREE = 32


def predictive_std(family: Family, eta: Vector, spread: Vector, sigma2: float) -> Vector:
    """Return the standard deviation of y when eta has standard deviation ``spread``.

    Behind a log link it grows like exp(spread^2): infinite where its square is too large to be computed.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> predictive_std(Gaussian(), np.array([1.0]), np.array([3.0]), 16.0)
    array([5.])
    """
    if family.constant_weights:
        return np.sqrt(sigma2 + spread**2)
    first, second, total = np.zeros_like(eta), np.zeros_like(eta), np.zeros_like(eta)
    reach = 2.0 * spread if family.log_link else 0.0  # where exp(2 eta) times the density of eta is largest
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite standard deviation is an answer
        center = family.mean(eta)
        for place in PLACES:
            node = END * (2.0 * place - 1.0) + place * reach
            weight = np.exp(-0.5 * node * node)
            point = eta + node * spread
            gap = family.mean(point) - center
            first += weight * gap
            second += weight * (family.variance(point, sigma2) + gap * gap)
            total += weight
        first, second = first / total, second / total
        variance = second - np.minimum(first * first, second)
        return np.sqrt(np.where(np.isfinite(variance), variance, np.inf))


def half_width(level: float) -> float:
    """Return how many standard deviations a central normal interval reaches to either side.

    From the lower tail, which is more than 0 for every level below 1; the upper one may be rounded to 1.

    Examples
    --------
    >>> round(half_width(0.95), 6), round(half_width(np.nextafter(1.0, 0.0)), 2)
    (1.959964, 8.29)
    """
    return -float(ndtri(0.5 - level / 2.0))


def predictive_interval(family: Family, eta: Vector, spread: Vector, sigma2: float, level: float) -> Matrix:
    """Return the central interval of y, one row (lower, upper) for each eta.

    Of a family that has no distribution function, as that of two classes, it is the interval of the mean.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> predictive_interval(Poisson(), np.log([4.0]), np.array([0.0]), 1.0, level=0.9)
    array([[1., 8.]])
    """
    z = half_width(level)
    if family.constant_weights or (family.is_location and sigma2 == 0.0):  # without noise: of a constant y
        half = z * np.sqrt(sigma2 + spread**2)
        return np.column_stack([eta - half, eta + half])
    if isinstance(family, Ordered):
        return level_interval(family, _level_shares(family, eta, spread), level)
    if not isinstance(family, Predictive):
        ends = family.mean(eta - z * spread), family.mean(eta + z * spread)
        return np.sort(np.column_stack(ends), axis=1)
    tails = (0.5 - level / 2.0, 0.5 + level / 2.0)
    return np.column_stack([_quantile(family, eta, spread, sigma2, tail) for tail in tails])


def level_interval(family: Ordered, shares: Matrix, level: float) -> Matrix:
    """Return the central interval of ordered levels that have these probabilities, as numbers.

    Examples
    --------
    >>> from horseshoe.families import Ordinal
    >>> family = Ordinal().learn(np.array([1.0, 2.0, 5.0]))
    >>> level_interval(family, np.array([[0.1, 0.6, 0.3]]), 0.7)
    array([[2., 5.]])
    """
    reached = np.cumsum(shares, axis=1)[:, :-1]
    tails = (0.5 - level / 2.0, 0.5 + level / 2.0)
    return np.column_stack([family.points_[(reached < tail).sum(axis=1)] for tail in tails])


def _level_shares(family: Ordered, eta: Vector, spread: Vector) -> Matrix:
    """Return the probabilities of levels where eta is not quite known."""
    nodes, weights = MANY
    shares = np.zeros((eta.size, family.points_.size))
    for node, weight in zip(nodes, weights, strict=True):
        shares += weight * family.probabilities(eta + node * spread)
    return shares


def _quantile(family: Family, eta: Vector, spread: Vector, sigma2: float, probability: float) -> Vector:
    """Return the quantile of y for each row."""
    if not (family.is_location and eta.size > 2 * DEGREE):
        return _each_quantile(family, eta, spread, sigma2, probability)
    low, half = float(spread.min()), 0.5 * float(np.ptp(spread))

    def above_eta(position: Any) -> Any:  # from -1 to 1, for the smallest and the largest spread
        at = low + half * (1.0 + position)
        return _each_quantile(family, np.zeros_like(at), at, sigma2, probability)

    series = chebyshev.chebinterpolate(above_eta, DEGREE)
    position = (spread - low) / half - 1.0 if half > 0.0 else np.zeros_like(spread)
    return np.asarray(eta + chebyshev.chebval(position, series))


def _each_quantile(family: Family, eta: Vector, spread: Vector, sigma2: float, probability: float) -> Vector:
    information = family.information()
    if information is None:
        noise = np.sqrt(sigma2 / family.working(family.mean(eta), eta, sigma2).weights)
    else:
        noise = np.full_like(eta, np.sqrt(sigma2 / information))
    known, out = spread < WELL_KNOWN * noise, np.empty_like(eta)
    for chosen, rule in ((known, FEW), (~known, MANY)):
        places = np.flatnonzero(chosen)
        for begin in range(0, places.size, CHUNK):
            rows = places[begin : begin + CHUNK]
            mixture = Mixture(family, eta[rows], spread[rows], sigma2, *rule)
            out[rows] = mixture.quantile(probability)
    return out


class Mixture:
    """The distribution of y for some rows: a weighted sum of the family's over values of eta.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> Mixture(Poisson(), np.log([4.0]), np.zeros(1), 1.0, np.zeros(1), np.ones(1)).quantile(0.05)
    array([1.])
    """

    def __init__(
        self,
        family: Family,
        eta: Vector,
        spread: Vector,
        sigma2: float,
        nodes: Vector,
        weights: Vector,
    ) -> None:
        self._family, self._sigma2, self._weights = family, sigma2, weights
        self._points = eta[:, None] + nodes * spread[:, None]
        self._center = family.mean(eta)
        shifted = family.mean(eta + spread)
        self._width = np.sqrt(sigma2) + np.abs(shifted - self._center) + np.sqrt(np.abs(self._center))

    def quantile(self, probability: float) -> Vector:
        """Return the smallest y with P(Y <= y) of at least ``probability``, by bisection."""
        if self._family.positive_only and not self._family.discrete:
            return self._amount(probability)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = self._bracket(probability)
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                if self._family.discrete:
                    middle = np.floor(middle)
                if np.all((middle <= low) | (high - low <= PRECISION * self._width)):
                    break
                enough = self._cdf(middle) >= probability
                low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def _amount(self, probability: float) -> Vector:
        """Return the quantile of an amount: the root in its logarithm, by the Illinois method."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            level = np.log(self._center)
            zero = self._cdf(np.zeros_like(level)) >= probability

            def excess(log_y: Vector) -> Vector:
                return np.where(zero, 1.0, self._cdf(np.exp(log_y)) - probability)

            low, high, reach = level - 1.0, level + 1.0, 2.0
            below, above = excess(low), excess(high)
            while (short := above < 0.0).any() and reach < EXTREME:
                low, below = np.where(short, high, low), np.where(short, above, below)
                high, reach = np.where(short, level + reach, high), 2.0 * reach
                above = excess(high)
            reach = 2.0
            while (long := (below >= 0.0) & ~zero).any() and reach < EXTREME:
                high, above = np.where(long, low, high), np.where(long, below, above)
                low, reach = np.where(long, level - reach, low), 2.0 * reach
                below = excess(low)
            last = np.zeros_like(zero)
            for k in range(BISECTIONS):
                if np.all((high - low <= SHARE) | zero):
                    break
                share = np.clip(below / (below - above), 0.0, 1.0)
                middle = low + share * (high - low)
                at = excess(middle)
                enough, there = at >= 0.0, np.abs(at) < SHARE * probability
                low = np.where(enough & ~there, low, middle)
                high = np.where(enough | there, middle, high)
                same = (enough == last) & (k > 0)  # an end that stays counts for less
                below = np.where(enough, np.where(same, 0.5, 1.0) * below, at)
                above = np.where(enough, at, np.where(same, 0.5, 1.0) * above)
                last = enough
            return np.where(zero, 0.0, np.exp(0.5 * (low + high)))

    def _cdf(self, y: Vector) -> Vector:
        points = self._points
        assert isinstance(self._family, Predictive)
        cdf = self._family.cdf(np.broadcast_to(y[:, None], points.shape), points, self._sigma2)
        return np.asarray(cdf @ self._weights)

    def _bracket(self, probability: float) -> tuple[Vector, Vector]:
        """Return values of y on either side of the quantile; whole numbers, for counts' sake."""
        low, high = np.floor(self._center - self._width), np.ceil(self._center + self._width)
        reach = 2.0
        while (short := ~(self._cdf(high) >= probability)).any() and reach < 1e300:
            high = np.where(short, np.ceil(self._center + reach * self._width), high)
            reach *= 2.0
        if self._family.positive_only:
            return np.full_like(low, -1.0 if self._family.discrete else 0.0), high
        reach = 2.0
        while (long := self._cdf(low) >= probability).any() and reach < 1e300:
            low = np.where(long, np.floor(self._center - reach * self._width), low)
            reach *= 2.0
        return low, high
