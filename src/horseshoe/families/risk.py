"""Who is at risk at which event: sums over risk sets, by additions only.

A row is at risk from its entry (not included) to its own time, in its own stratum. The times at which events
happen are numbered by stratum and time, and a row is at risk at a run of them. Where all rows enter at the
beginning, sums over those at risk add up from the last time to the first. Otherwise, sums over all rows at
risk, and over all events of a row, go through a tree of runs: each run is a few nodes of it, as many as the
logarithm of the number of times. Nothing is ever subtracted, so no digit is lost where large risks leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Vector

# Of Efron's correction at one time; where weights make more of them, as many nodes stand for all.
MOST_STEPS = 100


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
        self.size, self.stratified = times.size, bool(seen.stratum.any())
        after = np.searchsorted(times, ends, side="right")
        self.rows, self.group = rows, after[rows] - 1
        self.dead = np.bincount(self.group, seen.weights[rows], self.size)
        first = np.searchsorted(times, starts, side="right")
        self._tree: Tree | Nested = Tree(first, after, self.size) if first.any() else Nested(after, self.size)
        order = np.argsort(self.group, kind="stable")
        self._in_turn = rows[order]
        self._first = np.searchsorted(self.group[order], np.arange(self.size))
        self.step_group, self.share, self.count = self._steps(efron)

    def at_risk(self, values: Any) -> Any:
        """Return the sum over the rows at risk at each time, for a vector or each column of a matrix."""
        return self._tree.down(np.add, values, 0.0)

    def over_times(self, values: Vector) -> Vector:
        """Return the sum over the times at which each row is at risk."""
        return self._tree.up(values)

    def of_events(self, values: Any) -> Any:
        """Return the sum over the rows that have their event at each time."""
        if values.ndim == 1 or self.size == 0:
            return np.bincount(self.group, values[self.rows], self.size) if values.ndim == 1 else values[:0]
        return np.add.reduceat(values[self._in_turn], self._first, axis=0)

    def largest(self, values: Vector) -> Vector:
        """Return the largest value among the rows at risk at each time."""
        return np.asarray(self._tree.down(np.maximum, values, -np.inf))

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


class Nested:
    """Runs of times that all begin with the first: row i is at the times 0, ..., after[i] - 1.

    Examples
    --------
    >>> runs = Nested(np.array([3, 2]), size=3)
    >>> runs.down(np.add, np.array([1.0, 10.0]), 0.0), runs.up(np.array([1.0, 2.0, 4.0]))
    (array([11., 11.,  1.]), array([7., 3.]))
    """

    def __init__(self, after: Any, size: int) -> None:
        self.size, self._after = size, after
        self._order = np.argsort(after, kind="stable")
        self._used, self._start = np.unique(after[self._order], return_index=True)

    def down(self, join: Any, values: Any, nothing: float) -> Any:
        """Return the values of the rows at each time, joined."""
        last = np.full((self.size + 1, *values.shape[1:]), nothing)  # by how many times a row is at
        if self._used.size:
            last[self._used] = join.reduceat(values[self._order], self._start, axis=0)
        return join.accumulate(last[:0:-1], axis=0)[::-1]

    def up(self, values: Vector) -> Vector:
        """Return the sum of the values of the times of each row."""
        return np.asarray(np.append(0.0, np.cumsum(values))[self._after])


class Tree:
    """Runs of times as nodes of a binary tree: the one over time t is t + width, above node k is k // 2.

    Row i is at the times first[i], ..., after[i] - 1.

    Examples
    --------
    >>> tree = Tree(np.array([0, 1]), np.array([3, 2]), size=3)
    >>> tree.down(np.add, np.array([1.0, 10.0]), 0.0), tree.up(np.array([1.0, 2.0, 4.0]))
    (array([ 1., 11.,  1.]), array([7., 2.]))
    """

    def __init__(self, first: Any, after: Any, size: int) -> None:
        self.size, self.width, self.n_rows = size, 1 << max(size - 1, 0).bit_length(), first.size
        left, right = first + self.width, np.maximum(after, first) + self.width
        rows, nodes, owners = np.arange(first.size), [], []
        while rows.size:
            odd_left, odd_right = (left % 2 == 1) & (left < right), (right % 2 == 1) & (left < right)
            nodes += [left[odd_left], right[odd_right] - 1]
            owners += [rows[odd_left], rows[odd_right]]
            left, right = (left + odd_left) // 2, (right - odd_right) // 2
            going = left < right
            left, right, rows = left[going], right[going], rows[going]
        node, owner = np.concatenate([[0], *nodes])[1:].astype(np.intp), np.concatenate([[0], *owners])[1:]
        order = np.argsort(node, kind="stable")
        self._node, self._owner = node[order], owner[order].astype(np.intp)
        self._used, self._start = np.unique(self._node, return_index=True)

    def down(self, join: Any, values: Any, nothing: float) -> Any:
        """Return the values of the rows at each time, joined."""
        tree = np.full((2 * self.width, *values.shape[1:]), nothing)
        if self._used.size:
            tree[self._used] = join.reduceat(values[self._owner], self._start, axis=0)
        level = 1
        while level < self.width:
            below = tree[2 * level : 4 * level]
            join(below, np.repeat(tree[level : 2 * level], 2, axis=0), out=below)
            level *= 2
        return tree[self.width : self.width + self.size]

    def up(self, values: Vector) -> Vector:
        """Return the sum of the values of the times of each row."""
        tree = np.zeros(2 * self.width)
        tree[self.width : self.width + self.size] = values
        level = self.width // 2
        while level:
            tree[level : 2 * level] = tree[2 * level : 4 * level : 2] + tree[2 * level + 1 : 4 * level : 2]
            level //= 2
        return np.asarray(np.bincount(self._owner, tree[self._node], self.n_rows), dtype=np.float64)
