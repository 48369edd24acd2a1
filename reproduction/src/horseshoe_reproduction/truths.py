"""Truths to be found: each a named function of a generator, from all columns to none.

A truth is a `Population`: how many rows are seen, how the columns are correlated, the effects, the noise. All
columns have mean 0 and variance 1. `observe` draws a data set of it, with a response of one of three kinds.

With ``tuning`` a truth has other sizes, some other effects and noise, and the experiment "tuning" draws it
from a stream of its own: what is tuned on those has never seen the data sets of the experiment "adaptive".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import Kind

# The standard deviation of the log odds, and of the log of the mean count; with any signal at all.
SPREAD = {"binomial": 2.0, "poisson": 0.8}
# The log of the mean count where all columns are 0.
LOG_COUNT = 1.0
# Fresh rows to predict; fewer where there are more columns than ``WIDE``.
NEW_ROWS, WIDE, NEW_ROWS_WIDE = 1000, 3000, 200


class Design(NamedTuple):
    """Normal columns of variance 1, correlated by ``rho`` within groups of ``group`` neighbours.

    Examples
    --------
    >>> round(Design(4, group=2, rho=0.5).variance(np.array([1.0, 1.0, 2.0, 0.0])), 9)  # 3 + 4
    7.0
    """

    columns: int
    group: int = 1
    rho: float = 0.0

    def draw(self, rows: int, rng: np.random.Generator) -> Matrix:
        """Draw rows."""
        own = rng.standard_normal((rows, self.columns))
        if self.rho == 0.0:
            return own
        shared = rng.standard_normal((rows, self.columns // self.group)).repeat(self.group, axis=1)
        return np.asarray(math.sqrt(self.rho) * shared + math.sqrt(1.0 - self.rho) * own)

    def variance(self, coef: Vector) -> float:
        """Return the variance of what the coefficients predict, b' Sigma b."""
        sums = coef.reshape(-1, self.group).sum(axis=1)
        return float((1.0 - self.rho) * (coef @ coef) + self.rho * (sums @ sums))


class Population(NamedTuple):
    """What a data set is a sample of.

    ``heavy`` is t noise with 2 degrees of freedom, times ``sigma``; fits are not told.
    """

    rows: int
    design: Design
    coef: Vector
    sigma: float = 1.0
    heavy: bool = False


Truth = Callable[[np.random.Generator, bool], Population]


def dense(rng: np.random.Generator, tuning: bool = False) -> Population:
    """100 x 200 (tuning 90 x 170): every column has an effect, drawn from N(0, 0.1); noise 1."""
    rows, columns = (90, 170) if tuning else (100, 200)
    return Population(rows, Design(columns), rng.normal(0.0, math.sqrt(0.1), columns))


def one(rng: np.random.Generator, tuning: bool = False) -> Population:
    """100 x 200 (tuning 80 x 240): one effect of 1; noise 1."""
    rows, columns = (80, 240) if tuning else (100, 200)
    return Population(rows, Design(columns), _first(columns, np.ones(1)))


def none(rng: np.random.Generator, tuning: bool = False) -> Population:
    """100 x 200 (tuning 120 x 180): no effect; noise 1."""
    rows, columns = (120, 180) if tuning else (100, 200)
    return Population(rows, Design(columns), np.zeros(columns))


def groups(rng: np.random.Generator, tuning: bool = False) -> Population:
    """100 x 200 (tuning 90 x 180) in groups of five (six) with rho .95; all of four groups +-1; noise 3."""
    rows, columns, size = (90, 180, 6) if tuning else (100, 200, 5)
    signs = _alternating(4).repeat(size)
    return Population(rows, Design(columns, size, 0.95), _first(columns, signs), sigma=3.0)


def tall(rng: np.random.Generator, tuning: bool = False) -> Population:
    """300 x 50 (tuning 250 x 60): ten effects that fall evenly from 1 to 0.1; noise 1."""
    rows, columns = (250, 60) if tuning else (300, 50)
    return Population(rows, Design(columns), _first(columns, _alternating(10) * np.linspace(1.0, 0.1, 10)))


def heavy(rng: np.random.Generator, tuning: bool = False) -> Population:
    """100 x 200 (tuning 110 x 180): eight effects of +-1; t noise with 2 degrees of freedom."""
    rows, columns = (110, 180) if tuning else (100, 200)
    return Population(rows, Design(columns), _first(columns, _alternating(8)), heavy=True)


def wide(rng: np.random.Generator, tuning: bool = False) -> Population:
    """150 x 3,000 (tuning 140 x 2,000): eight effects of +-1.5; noise 2."""
    rows, columns = (140, 2000) if tuning else (150, 3000)
    return Population(rows, Design(columns), _first(columns, 1.5 * _alternating(8)), sigma=2.0)


def widest(rng: np.random.Generator, tuning: bool = False) -> Population:
    """100 x 10,000 (tuning 110 x 8,000): eight effects of +-2; noise 1."""
    rows, columns = (110, 8000) if tuning else (100, 10_000)
    return Population(rows, Design(columns), _first(columns, 2.0 * _alternating(8)))


def half(rng: np.random.Generator, tuning: bool = False) -> Population:
    """150 x 100 (tuning 130 x 90): half of all columns have an effect, drawn from N(0, 0.3); noise 1."""
    rows, columns = (130, 90) if tuning else (150, 100)
    effects = rng.normal(0.0, math.sqrt(0.3), columns // 2)
    return Population(rows, Design(columns), _first(columns, effects))


def geometric(rng: np.random.Generator, tuning: bool = False) -> Population:
    """120 x 240 (tuning 110 x 200): twelve effects from 3, each -0.7 (-0.75) of the last; noise 2."""
    rows, columns, ratio = (110, 200, 0.75) if tuning else (120, 240, 0.7)
    effects = 3.0 * _alternating(12) * ratio ** np.arange(12)
    return Population(rows, Design(columns), _first(columns, effects), sigma=2.0)


# Those with binary and count responses too.
TRUTHS: dict[str, Truth] = {
    "dense": dense,
    "one": one,
    "none": none,
    "groups": groups,
    "tall": tall,
    "heavy": heavy,
    "wide": wide,
    "widest": widest,
    "half": half,
    "geometric": geometric,
}
CLASSES_AND_COUNTS = ("dense", "one", "none", "groups", "tall", "heavy")


def _first(columns: int, effects: Vector) -> Vector:
    return np.append(effects, np.zeros(columns - effects.size))


def _alternating(size: int) -> Vector:
    """Return 1, -1, 1, ..."""
    return np.where(np.arange(size) % 2 == 0, 1.0, -1.0)


class Sample(NamedTuple):
    """A data set and what is true of it: coefficients and intercept, and fresh rows with their means.

    The mean of two classes is the probability of the second.
    """

    kind: Kind
    X: Matrix
    y: Vector
    coef: Vector
    intercept: float
    new: Matrix
    new_mean: Vector
    new_y: Vector


def observe(truth: Population, kind: Kind, rng: np.random.Generator) -> Sample:
    """Draw a data set and fresh rows.

    Effects on classes and counts are scaled so that the linear predictor has the standard deviation `SPREAD`.
    What is heavy noise to a Gaussian response is to classes the link (y = 1 where the log odds plus t noise
    are above 0), and to counts a factor without variance, but of mean 1, on the mean of each.

    Examples
    --------
    >>> drawn = observe(tall(np.random.default_rng(0)), "poisson", np.random.default_rng(1))
    >>> drawn.X.shape, drawn.new.shape, round(float(np.std(drawn.new @ drawn.coef)), 1)
    ((300, 50), (1000, 50), 0.8)
    """
    coef, level = truth.coef, LOG_COUNT if kind == "poisson" else 0.0
    if kind in SPREAD and coef.any():
        coef = coef * (SPREAD[kind] / math.sqrt(truth.design.variance(coef)))
    fresh = NEW_ROWS if coef.size <= WIDE else NEW_ROWS_WIDE
    X, new = truth.design.draw(truth.rows, rng), truth.design.draw(fresh, rng)
    mean, new_mean = (_mean(kind, truth.heavy, level + rows @ coef) for rows in (X, new))
    y, new_y = (_respond(kind, truth, m, rng) for m in (mean, new_mean))
    return Sample(kind, X, y, coef, level, new, new_mean, new_y)


def _mean(kind: Kind, heavy: bool, eta: Vector) -> Vector:
    if kind == "binomial":  # the distribution function of t with 2 degrees of freedom, or the logistic one
        return 0.5 + 0.5 * eta / np.sqrt(2.0 + eta * eta) if heavy else np.asarray(expit(eta))
    return np.exp(eta) if kind == "poisson" else eta


def _respond(kind: Kind, truth: Population, mean: Vector, rng: np.random.Generator) -> Vector:
    if kind == "binomial":
        return (rng.random(mean.size) < mean).astype(float)
    if kind == "poisson":
        factor = 1.0 / rng.gamma(2.0, 1.0, mean.size) if truth.heavy else 1.0
        return rng.poisson(mean * factor).astype(float)
    noise = rng.standard_t(2.0, mean.size) if truth.heavy else rng.standard_normal(mean.size)
    return np.asarray(mean + truth.sigma * noise)
