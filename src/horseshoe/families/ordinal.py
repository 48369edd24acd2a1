"""Ordered levels: proportional odds.

P(y <= level k) = F(theta_k - eta) with F the logistic distribution function: one linear predictor for all
levels, and thresholds theta_1 < ... < theta_(K-1) between them, which take the place of the intercept. With
a = theta_k - eta and b = theta_(k-1) - eta, the thresholds above and below its level, a row has

    P = F(a) - F(b) = F(a) F(-b) (1 - exp(-(a - b))),

so that its log-likelihood is that of two logistic observations and a term in the gap between the thresholds
alone: concave in eta and the thresholds together, and Gaussian given two Polya-gamma variates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from horseshoe._types import Matrix, Status, Vector
from horseshoe.families.base import WEIGHT_FLOOR, Family, Response, Shared, Working
from horseshoe.families.binary import check_log_odds, draw_polya_gamma
from horseshoe.families.thresholds import (
    best_thresholds,
    curvature,
    draw_thresholds,
    first_thresholds,
    summed,
)

# Where a fit starts, an end level reaches so far: its rows then have a probability of 3/4.
FAR = 2.0 * math.log(3.0)
# How far beyond the thresholds an end level is certain, and the steps to the eta of a mean.
BEYOND, HALVINGS = 40.0, 60


@dataclass(frozen=True)
class Ordinal(Family):
    """Ordered levels by proportional odds: P(y <= level k) = logistic(theta_k - eta).

    A positive coefficient makes higher levels more likely, and its exponential is the ratio of the odds of
    being above any threshold. Numbers are their own order, and each that occurs is a level.

    Parameters
    ----------
    levels : sequence, optional
        The levels from the lowest to the highest: labels, whose order nothing else tells, or increasing
        numbers. Left out for numbers, and for an ordered categorical of pandas, which has its order.

    Attributes
    ----------
    levels_ : array of shape (n_levels,)
        The levels in their order, after a fit.
    thresholds_ : array of shape (n_levels - 1,)
        theta, increasing.
    thresholds_std_ : array of shape (n_levels - 1,)
        Their standard deviations, given the selection; empty where ``continuous``.
    continuous : bool
        Whether no two rows of y were the same.

    Examples
    --------
    >>> family = Ordinal(levels=["low", "mid", "high"]).learn(np.array(["mid", "low", "high", "mid"]))
    >>> family.thresholds_.round(2), family.encode(np.array(["high", "low"])).values
    (array([-1.1,  1.1]), array([2., 0.]))
    >>> family.probabilities(np.array([0.0])).round(2)
    array([[0.25, 0.5 , 0.25]])
    """

    interval = "posterior"
    levels: tuple[bool | int | str | float, ...] | None = None
    labels_: tuple[bool | int | str | float, ...] | None = field(default=None, repr=False)
    points_: Vector = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    continuous: bool = field(default=False, repr=False)
    thresholds_: Vector = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    thresholds_std_: Vector = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.levels is not None:
            object.__setattr__(self, "levels", _check_levels(self.levels))
        known = self.points_.size
        sizes = known - 1 if known else 0, known if self.labels_ is None else len(self.labels_)
        if (self.thresholds_.size, known) != sizes and self.thresholds_.size:
            raise ValueError(f"{self.thresholds_.size} thresholds do not go with {known} levels")

    # --- what y means -------------------------------------------------------------------------------

    def learn(self, y: Any, weights: Vector | None = None, order: Sequence[Any] | None = None) -> Ordinal:
        """Return the family with the levels of y, and the thresholds that go with their shares.

        ``order`` is that of an ordered categorical.
        """
        counts = np.ones(y.size) if weights is None else weights
        given = self.levels if self.levels is not None or order is None else _check_levels(order)
        numbers = y.dtype.kind in "biuf"
        if given is None:
            if not numbers:
                (label,) = y[:1].tolist()
                raise ValueError(
                    f"y holds labels, such as {label!r}, and nothing tells their order: use family=Ordinal("
                    "levels=[...]) of horseshoe.families, from the lowest to the highest, or an ordered "
                    "categorical of pandas"
                )
            labels, points = None, np.unique(y[counts > 0.0]).astype(np.float64)
        else:
            labels = None if numbers and _are_numbers(given) else given
            points = np.asarray(np.arange(len(given)) if labels else given, dtype=np.float64)
        family = replace(self, labels_=labels, points_=points)
        codes = family._codes(y if given is None else family.encode(y).values)
        shares = summed(codes, counts, points.size)
        family._refuse_missing(shares, "" if weights is None else " among the rows with a positive weight")
        lone = points.size == np.count_nonzero(counts)
        return replace(family, thresholds_=first_thresholds(shares), continuous=lone)

    def _refuse_missing(self, shares: Vector, where: str) -> None:
        if self.points_.size < 2:
            raise ValueError(
                f"y has one level only, {self.levels_.tolist()[0]!r}{where} (one class): ordered levels are "
                "two or more"
            )
        if not shares.all():
            missing = self.levels_.tolist()[int(np.argmin(shares))]
            raise ValueError(
                f"the level {missing!r} never occurs in y{where}, and its "
                "thresholds cannot be told apart: leave it out of the levels (of a categorical: "
                "y.cat.remove_unused_categories())"
            )

    @property
    def levels_(self) -> Any:
        """The levels, as y has them."""
        return self.points_ if self.labels_ is None else np.array(self.labels_, dtype=_dtype(self.labels_))

    def encode(self, y: Any) -> Response:
        """Return numbers as they are, and labels as their places in the order."""
        if self.labels_ is None:
            self.check(y)
            return Response(y.astype(np.float64, copy=False))
        places = {label: float(k) for k, label in enumerate(self.labels_)}
        for row, label in enumerate(y.tolist()):
            if label not in places:
                raise ValueError(f"y in row {row} is {label!r}, which is not among the levels: {[*places]}")
        return Response(np.array([places[label] for label in y.tolist()]), self.levels_)

    def check(self, y: Vector) -> None:
        """Refuse numbers that are no levels of the fit."""
        if self.points_.size == 0:
            return
        known = np.isin(y, self.points_)
        if not known.all():
            row = int(np.argmin(known))
            some = ", ".join(f"{point:g}" for point in self.points_[:10])
            raise ValueError(
                f"y in row {row} is {y[row]:g}, which is not among the levels: {some}"
                f"{', ...' if self.points_.size > 10 else ''}"
            )

    def check_offset(self, offset: Vector) -> None:
        """Refuse log odds whose squares are out of range."""
        check_log_odds(offset)

    def _codes(self, y: Vector) -> Any:
        """Return the level of each row, from 0."""
        return np.minimum(np.searchsorted(self.points_, y), self.points_.size - 1)

    def _ends(self, y: Vector, eta: Vector) -> tuple[Any, Vector, Vector]:
        """Return the level of each row, and how far above eta its upper and lower thresholds are."""
        codes = self._codes(y)
        padded = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        return codes, padded[codes + 1] - eta, padded[codes] - eta

    # --- the likelihood -----------------------------------------------------------------------------

    def start(self, y: Vector) -> Vector:
        """Return the middle of each level, where an end level reaches 2 log 3 beyond its threshold."""
        theta = self.thresholds_
        padded = np.concatenate([[theta[0] - FAR], theta, [theta[-1] + FAR]])
        codes = self._codes(y)
        return np.asarray(0.5 * (padded[codes] + padded[codes + 1]))

    def intercept_alone(self, y: Vector, weights: Vector, offset: Vector) -> float:
        """Return minus the mean offset: the thresholds have the rest."""
        return -float(weights @ offset / weights.sum())

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the weights of Newton's method, F(a) F(-a) + F(b) F(-b), and eta + (F(b) - F(-a)) / w."""
        _, above, below = self._ends(y, eta)
        weights = np.maximum(_spread(above) + _spread(below), WEIGHT_FLOOR)
        return Working(weights, eta + (special.expit(below) - special.expit(-above)) / weights)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return log(1 + e^-a) + log(1 + e^b) - log(1 - e^-(a - b))."""
        codes, above, below = self._ends(y, eta)
        gaps = -np.log(-np.expm1(-np.diff(self.thresholds_)))
        padded = np.concatenate([[0.0], gaps, [0.0]])
        return np.asarray(np.logaddexp(0.0, -above) + np.logaddexp(0.0, below) + padded[codes])

    def saturated(self, y: Vector) -> Vector:
        """Return 0: a fit that knows each level is certain of it."""
        return np.zeros_like(y)

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> Ordinal:
        """Return the family with the thresholds that maximise the likelihood at eta.

        One threshold is the intercept, which the coefficients bring with them.
        """
        return self if self.thresholds_.size == 1 else self.at_best(y, eta, weights)

    def at_best(self, y: Vector, eta: Vector, weights: Vector) -> Ordinal:
        """Return the family with the best thresholds at eta."""
        codes = self._codes(y)
        counts = summed(codes, weights, self.points_.size)
        if not counts.all():  # some rows only, as at the start of a long fit: they do not tell all thresholds
            return self
        return replace(self, thresholds_=best_thresholds(self.thresholds_, codes, eta, weights, counts))

    def shared(self, y: Vector, eta: Vector, weights: Vector) -> Shared:
        """Return how eta and the thresholds curve the likelihood together, and the thresholds alone."""
        codes, above, below = self._ends(y, eta)
        counts = summed(codes, weights, self.points_.size)
        alone = curvature(self.thresholds_, codes, eta, weights, counts)
        return Shared(codes, weights * _spread(above), weights * _spread(below), alone)

    @property
    def ratio(self) -> str:
        """What exp of a coefficient is."""
        return "odds_ratio"

    @property
    def nuisance(self) -> str | None:
        """The thresholds."""
        return "thresholds_"

    def with_threshold_se(self, std: Vector) -> Ordinal:
        """Return the family with the standard deviations of its thresholds."""
        return replace(self, thresholds_std_=std)

    def with_intercept_absorbed(self, intercept: Any) -> Ordinal:
        """Return the family with the intercept taken off its thresholds, which then do without."""
        return replace(self, thresholds_=self.thresholds_ - intercept)

    def remark(self, y: Vector, eta: Vector) -> Status | None:
        """Say so if eta tells all levels apart without error."""
        high, low = self._sides(y, eta)
        return Status.SEPARATED if np.all(high < low) else None

    def is_unbounded_along(self, y: Vector, eta: Vector) -> bool:
        """Tell whether no level reaches beyond the next, though two may share an end."""
        high, low = self._sides(y, eta)
        return bool(np.all(high <= low) and eta.min() < eta.max())

    def _sides(self, y: Vector, eta: Vector) -> tuple[Vector, Vector]:
        """Return the largest eta up to each level but the last, and the smallest of the level after it."""
        codes, size = self._codes(y), self.points_.size
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, codes, eta)
        np.maximum.at(high, codes, eta)
        return np.maximum.accumulate(high)[:-1], low[1:]

    # --- the distribution of y ----------------------------------------------------------------------

    def probabilities(self, eta: Vector) -> Matrix:
        """Return the probability of each level, one row for each eta."""
        theta = np.append(self.thresholds_, np.inf)
        above, below = theta - eta[:, None], np.append(-np.inf, self.thresholds_) - eta[:, None]
        shares = -np.expm1(-np.diff(self.thresholds_))
        return np.asarray(special.expit(above) * special.expit(-below) * np.r_[1.0, shares, 1.0])

    def predicted(self, eta: Vector) -> Vector:
        """Return the median level: the one between whose thresholds eta lies."""
        return np.asarray(self.points_[np.searchsorted(self.thresholds_, eta)])

    def named(self, y: Vector) -> Any:
        """Return numbers that stand for levels as the levels that y had."""
        return y if self.labels_ is None else self.levels_[y.astype(int)]

    def mean(self, eta: Vector) -> Vector:
        """Return the mean of the numbers that stand for the levels."""
        return np.asarray(self.points_[0] + self._summed(eta, np.diff(self.points_)))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return the variance of the numbers that stand for the levels."""
        with np.errstate(over="ignore"):
            return np.asarray(self._range**2 * self._relative_variance(eta))

    def deviation(self, eta: Vector) -> Vector:
        """Return their standard deviation, whatever their unit; at least a millionth of their range."""
        return np.asarray(self._range * np.sqrt(np.maximum(self._relative_variance(eta), 1e-12)))

    @property
    def _range(self) -> Any:
        return self.points_[-1] - self.points_[0]

    def _relative_variance(self, eta: Vector) -> Vector:
        """Return the variance in units of the range, squares of which may be no floats."""
        around = (self.points_ - self.points_[0]) / self._range - 0.5
        first = around[0] + self._summed(eta, np.diff(around))
        second = around[0] ** 2 + self._summed(eta, np.diff(around**2))
        return np.asarray(np.maximum(second - first * first, 0.0))

    def _summed(self, eta: Vector, steps: Vector) -> Vector:
        """Return sum_k steps_k P(y > level k)."""
        total = np.zeros(np.shape(eta))
        for step, theta in zip(steps, self.thresholds_, strict=True):
            total += step * special.expit(eta - theta)
        return total

    def link(self, mean: Vector) -> Vector:
        """Return the eta whose mean is ``mean``, by bisection."""
        low = np.full(np.shape(mean), self.thresholds_[0] - BEYOND)
        high = np.full(np.shape(mean), self.thresholds_[-1] + BEYOND)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            less = self.mean(middle) < mean
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return np.asarray(0.5 * (low + high))

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return F(theta_k - eta) at the highest level that is not above y."""
        padded = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        return np.asarray(special.expit(padded[np.searchsorted(self.points_, y, "right")] - eta))

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta: the level in which eta and logistic noise lie."""
        return np.asarray(self.points_[np.searchsorted(self.thresholds_, eta + rng.logistic(size=eta.shape))])

    # --- the sampler --------------------------------------------------------------------------------

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Draw Polya-gamma weights (counts, a) and (counts, b), one for each threshold of a level.

        A row is then Gaussian with their sum as weight; its target is their mean of the thresholds, and for
        an end level counts / 2w beyond its own.
        """
        codes, above, below = self._ends(y, eta)
        last = self.thresholds_.size
        weights, pull = np.zeros_like(eta), 0.5 * counts * ((codes == last) * 1.0 - (codes == 0))
        for inside, place, gap in ((codes < last, codes, above), (codes > 0, codes - 1, below)):
            drawn = draw_polya_gamma(counts[inside], gap[inside], rng)
            weights[inside] += drawn
            pull[inside] += drawn * self.thresholds_[place[inside]]
        weights = np.maximum(weights, WEIGHT_FLOOR**2)
        return Working(weights, pull / weights)

    def redraw(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Ordinal:
        """Return the family with a draw of the thresholds, a priori logistic variates in their order."""
        return replace(self, thresholds_=draw_thresholds(self.thresholds_, self._codes(y), eta, counts, rng))


def _spread(gap: Vector) -> Vector:
    return np.asarray(special.expit(gap) * special.expit(-gap))


def _dtype(labels: Sequence[Any]) -> Any:
    """Return the type of an array of labels: text as such, anything else as objects."""
    return None if all(isinstance(label, str) for label in labels) else object


def _are_numbers(levels: Sequence[Any]) -> bool:
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _check_levels(levels: Any) -> tuple[Any, ...]:
    """Return the levels as a tuple of plain values, different ones, numbers in their order."""
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        raise TypeError(f"levels={levels!r} must be a sequence of levels, from the lowest to the highest")
    found = tuple(level.item() if hasattr(level, "item") else level for level in levels)
    for place, level in enumerate(found):
        if not isinstance(level, bool | int | float | str):
            raise TypeError(f"levels[{place}] is {level!r}: levels are text, numbers or booleans")
        if level in found[:place]:
            raise ValueError(f"levels[{place}] is {level!r}, which is there before: levels must be different")
    if len(found) < 2:
        raise ValueError(f"levels={list(found)!r} must be two levels or more")
    if _are_numbers(found):
        for place, (before, level) in enumerate(pairwise(found), 1):
            if not before < level < math.inf:
                raise ValueError(
                    f"levels[{place}] is {level!r} after {before!r}: levels that are numbers must increase; "
                    "for another order make them text, in y too"
                )
    return found
