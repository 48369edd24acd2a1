"""How likely a column determines the target by chance: the more columns and the fewer rows, the likelier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import betainc, gammaln, log_ndtr, ndtr

# A column is pointed out where fewer columns than this are expected to determine the target by chance: those
# without effect, and the share `MARKERS` of strong markers.
UNLIKELY = 0.05
# Standard deviations between two classes in a strong marker: the best genes of a tissue have as much.
APART = 3.0
# The share of columns that may be strong markers: a table of thousands is measured to find some.
MARKERS = 1e-3
POINTS = 2001


def correlates_by_chance(correlation: float, n_rows: int) -> float:
    """Return the probability that a normal column without effect correlates at least so much.

    Examples
    --------
    >>> round(correlates_by_chance(0.999, 5), 6)
    3.8e-05
    """
    return float(betainc(0.5 * n_rows - 1.0, 0.5, max(1.0 - correlation**2, 0.0)))


def separates_by_chance(counts: Sequence[int]) -> float:
    """Return the probability that a column without effect has the classes in ranges of their own.

    Examples
    --------
    >>> round(separates_by_chance([2, 2]), 3)  # 2 of the 6 orders of two classes of two rows
    0.333
    """
    return math.exp(min(float(gammaln(len(counts) + 1.0)) - _log_orders(counts), 0.0))


def marker_separates(counts: Sequence[int]) -> float:
    """Return the probability that a strong marker does so, for classes in the order of their ranges.

    Of two normal classes that is the probability that the largest of one is below the smallest of the other.

    Examples
    --------
    >>> [round(marker_separates([rows, rows]), 3) for rows in (1, 20, 250)]
    [0.983, 0.159, 0.0]
    """
    x = np.linspace(-10.0, 10.0 + APART, POINTS)
    log_density = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi)
    found = 1.0
    for below, above in pairwise(counts):
        largest = math.log(below) + log_density + (below - 1.0) * log_ndtr(x)
        found *= float(np.exp(largest + above * log_ndtr(APART - x)).sum() * (x[1] - x[0]))
    return min(found, 1.0)


def tells_by_chance(counts: Sequence[int], n_levels: int, wrong: int) -> float:
    """Return a bound on the probability that a category without effect leaves at most ``wrong`` rows open.

    Each level stands for one class; ``wrong`` rows have another one. Always guessing the largest class
    leaves as many rows open as are not in it, which is no feat.

    Examples
    --------
    >>> tells_by_chance([1999, 1], 3, 1), tells_by_chance([30, 30], 2, 0) < 1e-15
    (1.0, True)
    """
    rows, classes = sum(counts), len(counts)
    if wrong >= rows - max(counts):
        return 1.0
    ways = (
        n_levels * math.log(classes)
        + wrong * math.log(max(classes - 1, 1))
        + _log_orders([wrong, rows - wrong])
    )
    return math.exp(min(ways - _log_orders(counts), 0.0))


def marker_tells(n_rows: int) -> float:
    """Return the probability that a strong marker that is a category has the class of every row right.

    Examples
    --------
    >>> round(marker_tells(38), 3)
    0.072
    """
    return float(ndtr(0.5 * APART)) ** n_rows


def _log_orders(counts: Sequence[int]) -> float:
    """Return the logarithm of the number of ways to deal rows to classes of these sizes."""
    return float(gammaln(sum(counts) + 1.0) - gammaln(np.asarray(counts, dtype=float) + 1.0).sum())
