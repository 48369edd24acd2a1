"""Harrell's concordance: how often of two rows the one that has its event first has the higher risk."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.families.risk import Lifetimes

# Risks that differ by no more are tied, and count one half.
SAME = 1e-8


def concordance(time: Vector, event: Mask, risk: Vector, weights: Vector, stratum: Any) -> float:
    """Return the share of comparable pairs, of rows of the same stratum, whose risks are in the right order.

    A pair is comparable if the first has its event before the time of the second, or at the same time, if
    that is censored. It counts as the product of the weights. In O(n log^2 n).

    Examples
    --------
    >>> one, time = np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])
    >>> concordance(time, one > 0, np.array([4.0, 3.0, 1.0, 2.0]), one, 0 * one)
    0.8333333333333334
    """
    right, tied, pairs = _pairs(time, event, risk, weights, np.unique(stratum, return_inverse=True)[1])
    if pairs == 0.0:
        raise ValueError(
            "y has no two rows of which one is known to have its event first: there is nothing to compare"
        )
    return (right + 0.5 * tied) / pairs


def concordance_of(seen: Lifetimes, risk: Vector) -> float | None:
    """Return the concordance of rows with known risks; None where no two of them can be compared.

    Examples
    --------
    >>> one, time = np.ones(3), np.array([1.0, 2.0, 3.0])
    >>> seen = Lifetimes(time, one > 0, 0 * one, np.zeros(3, int), one)
    >>> concordance_of(seen, np.array([3.0, np.nan, 1.0])), concordance_of(seen, np.full(3, np.nan))
    (1.0, None)
    """
    known = seen.take(np.isfinite(risk))
    try:
        return concordance(known.time, known.event, risk[np.isfinite(risk)], known.weights, known.stratum)
    except ValueError:  # nobody is known to have the event before another
        return None


def _pairs(
    time: Vector, event: Mask, risk: Vector, weights: Vector, stratum: Any
) -> tuple[float, float, float]:
    """Return the weight of the pairs in the right order, of those with tied risks, and of all.

    Strata stand one after the other, and ranks rise from each to the next: rows of later ones never count.
    """
    order = np.lexsort((~event, time, stratum))
    time, event, weights, stratum = time[order], event[order], weights[order], stratum[order]
    rank = _ranks(risk[order], stratum)
    moment = 2 * np.unique(time, return_inverse=True)[1] + ~event  # a censored row outlives an event
    moment += stratum * (2 * time.size)
    first = np.searchsorted(moment, moment[event], side="right")
    total = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    mine = weights[event]
    below = mine @ _later(rank, weights, first, rank[event])
    up_to = mine @ _later(rank, weights, first, rank[event] + 1)
    end = np.searchsorted(stratum, stratum[event], side="right")
    return float(below), float(up_to - below), float(mine @ (total[first] - total[end]))


def _ranks(risk: Vector, stratum: Any) -> Any:
    """Return whole numbers in the order of strata and risks; a rank ends where the next is clearly larger."""
    order = np.lexsort((risk, stratum))
    rank = np.empty(risk.size, dtype=np.intp)
    larger = (np.diff(risk[order]) > SAME) | (np.diff(stratum[order]) > 0)
    rank[order] = np.concatenate([[0], np.cumsum(larger)])
    return rank


def _later(rank: Any, weights: Vector, first: Any, bound: Any) -> Vector:
    """Return the weight of the rows first[i], first[i] + 1, ... whose rank is below bound[i].

    first[i] is positive: such rows make up blocks of 1, 2, 4, ..., at most one of each length, all sorted.
    """
    n, width = rank.size, int(rank.max(initial=0)) + 2
    place, start, length, out = np.arange(n), np.array(first), 1, np.zeros(first.size)
    while length < 2 * n:
        key = place // length * width + rank
        order = np.argsort(key, kind="stable")
        sums, key = np.append(0.0, np.cumsum(weights[order])), key[order]
        asks = (start // length % 2 == 1) & (start < n)
        block = start[asks] // length
        low = np.searchsorted(key, block * width)
        out[asks] += sums[np.searchsorted(key, block * width + bound[asks])] - sums[low]
        start = start + length * asks
        length *= 2
    return out
