"""Harrell's concordance: how often of two rows the one that has its event first has the higher risk."""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier._types import Mask, Vector

SAME = 1e-8
"""Risks that differ by no more are tied, and count one half."""


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
    right = tied = pairs = 0.0
    for label in np.unique(stratum):
        here = stratum == label
        found = _pairs(time[here], event[here], risk[here], weights[here])
        right, tied, pairs = right + found[0], tied + found[1], pairs + found[2]
    if pairs == 0.0:
        raise ValueError(
            "y has no two rows of which one is known to have its event first: there is nothing to compare"
        )
    return (right + 0.5 * tied) / pairs


def _pairs(time: Vector, event: Mask, risk: Vector, weights: Vector) -> tuple[float, float, float]:
    """Return the weight of the pairs in the right order, of those with tied risks, and of all."""
    order = np.lexsort((~event, time))
    time, event, weights = time[order], event[order], weights[order]
    rank = _ranks(risk)[order]
    moment = 2 * np.unique(time, return_inverse=True)[1] + ~event  # a censored row outlives an event
    first = np.searchsorted(moment, moment[event], side="right")
    total = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    mine = weights[event]
    below = mine @ _later(rank, weights, first, rank[event])
    up_to = mine @ _later(rank, weights, first, rank[event] + 1)
    return float(below), float(up_to - below), float(mine @ total[first])


def _ranks(risk: Vector) -> Any:
    """Return whole numbers in the order of the risks; a rank ends where the next is clearly larger."""
    order = np.argsort(risk, kind="stable")
    rank = np.empty(risk.size, dtype=np.intp)
    rank[order] = np.concatenate([[0], np.cumsum(np.diff(risk[order]) > SAME)])
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
