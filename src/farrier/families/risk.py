"""Who is at risk at which event: sums over risk sets, by additions only.

A row is at risk from its entry (not included) to its own time, in its own stratum. The times at which events
happen are numbered by stratum and time, and a row is at risk at a run of them. Sums over all rows at
risk, and over all events of a row, go through a tree of runs: each run is a few nodes of it, as many as the
logarithm of the number of times. Nothing is ever subtracted, so no digit is lost where large risks leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from farrier._types import Mask, Vector

MOST_STEPS = 100
"""Of Efron's correction at one time; where weights make more of them, as many nodes stand for all."""


class Lifetimes(NamedTuple):
    """What was seen of each row: from when to when, whether that ended in an event, in which stratum.

    ``counted`` says that weights count rows: then an event of weight 2 is a tie of two.
    """

    time: Vector
    event: Mask
    entry: Vector
    stratum: Any
    weights: Vector
    counted: bool = True

    def take(self, rows: Any) -> Lifetimes:
        """Return some of the rows."""
        time, event, entry, stratum, weights = (part[rows] for part in self[:-1])
        return Lifetimes(time, event, entry, stratum, weights, self.counted)


class RiskSets:
    """The risk sets of some rows, for all linear predictors.

    Parameters
    ----------
    seen : Lifetimes
        The rows.
    efron : bool
        Whether the rows of an event leave the risk set bit by bit (Efron), or all stay in it (Breslow).

    Examples
    --------
    >>> one = np.ones(3)
    >>> seen = Lifetimes(np.array([1.0, 2.0, 3.0]), np.ones(3, bool), 0 * one, np.zeros(3, int), one)
    >>> RiskSets(seen, efron=True).at_risk(one)
    array([3., 2., 1.])
    """

    def __init__(self, seen: Lifetimes, efron: bool) -> None:
        self.seen = seen
        ranks = np.unique(np.concatenate([seen.time, seen.entry]), return_inverse=True)[1]
        key = seen.stratum * (ranks.max(initial=0) + 1)
        ends, starts = key + ranks[: seen.time.size], key + ranks[seen.time.size :]
        times, first = np.unique(ends[seen.event], return_index=True)
        rows = np.flatnonzero(seen.event)
        self.time, self.stratum = seen.time[rows[first]], seen.stratum[rows[first]]
        self.size = times.size
        after = np.searchsorted(times, ends, side="right")
        self.rows, self.group = rows, after[rows] - 1
        self.dead = np.bincount(self.group, seen.weights[rows], self.size)
        places = (self.group, rows)
        self._events = sparse.csr_array((np.ones(rows.size), places), shape=(self.size, seen.time.size))
        self._nodes, self._up = _tree(np.searchsorted(times, starts, side="right"), after, self.size)
        self._nodes_back, self._down = self._nodes.T.tocsr(), self._up.T.tocsr()
        self.step_group, self.share, self.count = self._steps(efron)

    def at_risk(self, values: Any) -> Any:
        """Return the sum over the rows at risk at each time, for a vector or each column of a matrix."""
        return self._up @ (self._nodes @ values)

    def over_times(self, values: Vector) -> Vector:
        """Return the sum over the times at which each row is at risk."""
        return np.asarray(self._nodes_back @ (self._down @ values))

    def of_events(self, values: Any) -> Any:
        """Return the sum over the rows that have their event at each time."""
        if values.ndim == 1:
            return np.bincount(self.group, values[self.rows], self.size)
        return self._events @ values

    def largest(self, values: Vector) -> Vector:
        """Return the largest value among the rows at risk at each time."""
        tops = np.full(self._nodes.shape[0], -np.inf)
        entries = self._nodes.tocoo()
        np.maximum.at(tops, entries.row, values[entries.col])
        out = np.full(self.size, -np.inf)
        entries = self._up.tocoo()
        np.maximum.at(out, entries.row, tops[entries.col])
        return out

    def _steps(self, efron: bool) -> tuple[Any, Vector, Vector]:
        """Return the steps of each time: its number, the share of the events that have left, how many rows.

        Efron's d events leave one by one: before the step l the share l / d is gone.
        """
        number = np.bincount(self.group, minlength=self.size)
        size = self.dead if self.seen.counted else number.astype(np.float64)
        if not efron:
            size = np.minimum(size, 1.0)
        found = [_step(float(one)) for one in np.unique(size)]
        which = np.searchsorted(np.unique(size), size)
        groups = np.repeat(np.arange(self.size), [found[one][0].size for one in which])
        share = np.concatenate([np.empty(0), *(found[one][0] for one in which)])
        count = np.concatenate([np.empty(0), *(found[one][1] for one in which)])
        return groups, share, count * (self.dead / size)[groups]


def _step(size: float) -> tuple[Vector, Vector]:
    """Return 0, 1/d, ..., and how often each counts: once, the last by what is left of d.

    Of many, the nodes and weights of Gauss's rule for a sum over 0, ..., d - 1, by the recurrence of the
    discrete Chebyshev polynomials.
    """
    if size <= MOST_STEPS:
        count = np.ones(int(np.ceil(size)))
        count[-1] = size - (count.size - 1)
        return np.arange(count.size) / size, count
    k = np.arange(1.0, MOST_STEPS)
    beside = 0.5 * k * np.sqrt((1.0 - (k / size) ** 2) / (4.0 * k * k - 1.0))
    middle = np.full(MOST_STEPS, 0.5 * (1.0 - 1.0 / size))
    nodes, vectors = np.linalg.eigh(np.diag(middle) + np.diag(beside, 1) + np.diag(beside, -1))
    return np.maximum(nodes, 0.0), size * vectors[0] ** 2


def _tree(first: Any, after: Any, size: int) -> tuple[Any, Any]:
    """Return the rows of each node, and the nodes above each time; row i is at first[i] to after[i] - 1."""
    width = 1 << max(size - 1, 0).bit_length()
    left, right, rows = first + width, np.maximum(after, first) + width, np.arange(first.size)
    nodes: list[Any] = [np.empty(0, dtype=np.intp)]
    owners: list[Any] = [np.empty(0, dtype=np.intp)]
    while rows.size:
        odd_left, odd_right = left % 2 == 1, right % 2 == 1
        odd_left, odd_right = odd_left & (left < right), odd_right & (left < right)
        nodes += [left[odd_left], right[odd_right] - 1]
        owners += [rows[odd_left], rows[odd_right]]
        left, right = (left + odd_left) // 2, (right - odd_right) // 2
        open_ = left < right
        left, right, rows = left[open_], right[open_], rows[open_]
    node, owner = np.concatenate(nodes), np.concatenate(owners)
    below = sparse.csr_array((np.ones(node.size), (node, owner)), shape=(2 * width, first.size))
    levels = width.bit_length()
    place = np.repeat(np.arange(size), levels)
    above = (place + width) >> np.tile(np.arange(levels), size)
    return below, sparse.csr_array((np.ones(place.size), (place, above)), shape=(size, 2 * width))
