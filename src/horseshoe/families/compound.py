"""A Poisson number of gamma amounts: the density and the distribution function of Tweedie's families.

For a power between 1 and 2, y is the sum of N amounts, N Poisson with mean L = mu^(2-p) / (phi (2-p)), each
gamma with shape a = (2-p) / (p-1) and mean mu / L. Its density is a sum over N (Dunn and Smyth 2005).
With Stirling's formula in every term, and j0 = y^(2-p) / (phi (2-p)), where the terms are largest,

    log f(y) = -d / (2 phi) - log y + log(a) / 2 - log(2 pi) + log S,
    S = sum_j exp(-(1+a) j0 h(j/j0) - r(j) - r(a j)),  h(u) = u log u - u + 1,

with d the unit deviance and r what Stirling's formula leaves out. No large terms cancel, and S does not
depend on mu. Where the terms are a smooth hump, some thirty points of it give the sum to the last digits,
however many terms there are; elsewhere these are few.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from horseshoe._types import Mask, Matrix, Vector

# Between points of a smooth hump, in standard deviations of it, and their number on either side.
STEP, BELOW, ABOVE = 0.75, 12, 16
# A hump is smooth from this standard deviation on, if at 0 it is lower by e to the power of the second.
SMOOTH_WIDTH, SMOOTH_PEAK = 1.5, 40.0
# Up to this peak terms are added up from the first on; on either side of a later one so many.
EARLY, NARROW = 50.0, 15
# Rows at a time.
CHUNK = 4096
HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


def stirling_rest(x: Vector) -> Vector:
    """Return lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2.

    Examples
    --------
    >>> stirling_rest(np.array([1.0, 1e3])).round(9)
    array([8.1061467e-02, 8.3333000e-05])
    """
    square = 1.0 / np.maximum(x, 10.0) ** 2
    rest = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) * np.sqrt(square)
    small = x < 10.0
    if small.any():
        few = x[small]
        rest[small] = special.gammaln(few) - (few - 0.5) * np.log(few) + few - HALF_LOG_2PI
    return rest


def log_sum(y: Vector, power: float, dispersion: float) -> Vector:
    """Return log S of positive amounts; the last few answers are remembered, for eta has no part in it.

    Examples
    --------
    >>> log_sum(np.array([1.0]), 1.5, 1.0).round(6)
    array([0.809262])
    """
    return _log_sum(y.tobytes(), power, dispersion)


@lru_cache(maxsize=4)
def _log_sum(amounts: bytes, power: float, dispersion: float) -> Vector:
    y, a = np.frombuffer(amounts), (2.0 - power) / (power - 1.0)
    peak = np.maximum(y ** (2.0 - power) / (dispersion * (2.0 - power)), 1e-300)
    width = np.sqrt(peak / (1.0 + a))
    smooth = (width > SMOOTH_WIDTH) & ((1.0 + a) * peak > SMOOTH_PEAK)
    early = ~smooth & (peak <= EARLY)
    out = np.empty_like(peak)
    for rows in _chunks(early):
        out[rows] = _from_one(peak[rows], float(width[rows].max()), a)
    for rows in _chunks(smooth):
        step = STEP * width[rows]
        terms = peak[rows, None] + step[:, None] * np.arange(-BELOW, ABOVE + 1)
        out[rows] = np.log(step) + _around(terms, peak[rows], a)
    for rows in _chunks(~smooth & ~early):
        terms = np.floor(peak[rows])[:, None] + np.arange(-NARROW, NARROW + 1)
        out[rows] = _around(terms, peak[rows], a)
    out.flags.writeable = False
    return out


def _from_one(peak: Vector, width: float, a: float) -> Vector:
    """Return log S from the terms of 1, 2, ... amounts, as far as they count."""
    j = np.arange(1.0, np.ceil(float(peak.max()) + 11.0 * width + 15.0) + 1.0)
    fixed = (1.0 + a) * j * (1.0 - np.log(j)) - stirling_rest(j) - stirling_rest(a * j)
    values = fixed + ((1.0 + a) * np.log(peak))[:, None] * j
    top = values.max(axis=1)
    values -= top[:, None]
    return np.asarray(top + np.log(np.exp(values, out=values).sum(axis=1)) - (1.0 + a) * peak)


def _around(terms: Matrix, peak: Vector, a: float) -> Vector:
    """Return the log of the sum of the terms with these numbers of amounts, none far from the peak."""
    inside = np.maximum(terms, 1e-300)
    gap = (terms - peak[:, None]) / peak[:, None]
    values = -(1.0 + a) * peak[:, None] * _hump(gap) - stirling_rest(inside) - stirling_rest(a * inside)
    return np.asarray(np.log(np.where(terms > 0.0, np.exp(values), 0.0).sum(axis=1)))


def _hump(gap: Matrix) -> Matrix:
    """Return u log u - u + 1 for u = 1 + gap."""
    near = gap * gap * (0.5 - gap * (1 / 6 - gap * (1 / 12 - gap * (1 / 20 - gap / 30))))
    far = (1.0 + gap) * np.log1p(np.maximum(gap, -1.0 + 1e-16)) - gap
    return np.where(np.abs(gap) < 1e-3, near, far)


def _chunks(rows: Mask) -> list[Any]:
    places = np.flatnonzero(rows)
    return [places[start : start + CHUNK] for start in range(0, places.size, CHUNK)]


def compound_cdf(y: Vector, number: Vector, a: float, amounts: Vector) -> Vector:
    """Return P(Y <= y), given the mean number of amounts and the sum ``amounts`` = y / scale of one.

    The chances of each number of amounts, times those that so many come to less than y, are added up: of
    large numbers only some, as far apart as both are smooth.

    Examples
    --------
    >>> compound_cdf(np.array([0.0, 1e9]), np.ones(2), 1.0, np.array([0.0, 1e9])).round(6)
    array([0.367879, 1.      ])
    """
    root = np.sqrt(number)
    step = np.maximum(STEP * root / np.sqrt(1.0 + a), 1.0)
    step = np.where(number > SMOOTH_PEAK, step, 1.0)
    first = np.maximum(np.ceil(number - 9.0 * root), 1.0)
    last = number + 9.0 * root + 12.0
    total = np.exp(-number)
    for k in range(int(np.ceil(np.max((last - first) / step, initial=0.0))) + 1):
        j = first + k * step
        chance = np.exp(special.xlogy(j, number) - number - special.gammaln(j + 1.0))
        total = total + step * chance * special.gammainc(a * j, amounts)
    return np.where(y < 0.0, 0.0, np.minimum(total, 1.0))
