"""Columns that are one and the same up to their sign: the data cannot tell which of them matters.

EM treats such columns alike, and ends where they share an effect: a stationary point, but no mode of a prior
that selects. So the first of them is fitted in the place of all.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Mask, Vector
from horseshoe.data.problem import LeastSquares

# Columns are tied whose difference is below the first share of their own length, and selected ones below the
# second: then their correlation is 1 to ten digits. On the diabetes data EM parts those farther away itself.
SAME, NEARLY = 1e-9, 1e-5
# Coefficients that differ by less than this share may belong to columns that share an effect.
ALIKE = 0.01
# Random combinations of the rows by which columns are compared, and how many standard deviations of what a
# tied column would differ by are let pass.
N_PROBES, REACH = 3, 4.0


class Ties(NamedTuple):
    """Which columns are fitted, and for which others they stand.

    Attributes
    ----------
    keep : bool array of shape (k,)
        The columns that are fitted: all but the second and later ones of a tied set.
    first : int array of shape (k,)
        The column that stands for each: itself, or the first that it is tied to.
    sign : array of shape (k,)
        -1 where a column is the other's negative, otherwise 1.
    """

    keep: Mask
    first: NDArray[np.intp]
    sign: Vector

    def fold(self, coef: Vector) -> Vector:
        """Return the coefficients of the columns that are fitted, with what those they stand for had."""
        total: Vector = np.bincount(self.first, self.sign * coef, coef.size).astype(np.float64)
        return total[self.keep]

    def then(self, more: Ties) -> Ties:
        """Return these ties with more among the columns that are fitted."""
        fitted = np.flatnonzero(self.keep)
        first, sign = np.arange(self.keep.size), np.ones(self.keep.size)
        first[fitted], sign[fitted] = fitted[more.first], more.sign
        keep = self.keep.copy()
        keep[fitted] = more.keep
        return Ties(keep, first[self.first], sign[self.first] * self.sign)


def whole_ties(ties: Ties | None, label: NDArray[np.int64]) -> Ties | None:
    """Return the ties between whole groups: the columns of one are tied to those of an earlier one.

    Other ties are none where columns come in groups: within a group tied columns share its effect, and a
    column may be there once for each of several groups.

    Examples
    --------
    >>> some = Ties(np.array([True, True, False, False, False]), np.array([0, 1, 1, 0, 0]), np.ones(5))
    >>> whole_ties(some, np.array([0, 0, 1, 1, 2])).first
    array([0, 1, 1, 0, 4])
    """
    if ties is None:
        return None
    leads: dict[tuple[int, ...], list[int]] = {}
    found: list[tuple[int, int, float]] = []
    for number in np.unique(label):
        own = sorted(np.flatnonzero(label == number).tolist(), key=lambda j: int(ties.first[j]))
        lead = leads.setdefault(tuple(int(ties.first[j]) for j in own), own)
        if lead is not own:
            found += [(j, i, float(ties.sign[i] * ties.sign[j])) for j, i in zip(own, lead, strict=True)]
    return _ties(label.size, np.arange(label.size), found)


def find_ties(problem: LeastSquares) -> Ties | None:
    """Return the ties among the columns, or None if there are none.

    Tied columns have the same product with any vector. So first the products with the targets are compared,
    which a fit needs anyway, and then those with random vectors, of the few columns that are left.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> x = np.array([[1.0, 0.5, -1.0], [2.0, 4.0, -2.0], [-3.0, 1.0, 3.0]])
    >>> found = find_ties(plain(x, np.array([1.0, 2.0, 0.0])))
    >>> found.keep, found.first, found.sign
    (array([ True,  True, False]), array([0, 1, 0]), array([ 1.,  1., -1.]))
    """
    pull = np.abs(problem.xz)
    if not _are_close(pull, SAME * math.sqrt(problem.targets.zz * float(problem.squares.max(initial=0.0)))):
        return None
    order = pull.argsort()
    ordered = pull[order]
    close = ordered[1:] - ordered[:-1] <= SAME * np.sqrt(problem.targets.zz * problem.squares[order[1:]])
    if not close.any():
        return None
    near = np.zeros(pull.size, dtype=np.bool_)
    near[order[1:][close]] = near[order[:-1][close]] = True
    part = problem.columns.take(near)
    probes = np.random.default_rng(0).standard_normal((problem.n_rows, N_PROBES))
    seen = np.asarray(part.rmatvec(probes))
    return _ties(pull.size, np.flatnonzero(near), _runs(seen, REACH * SAME * np.sqrt(problem.squares[near])))


def find_near_ties(problem: LeastSquares, coef: Vector) -> Ties | None:
    """Return the ties among the selected columns, up to differences that the data cannot tell from none.

    Columns that share an effect have coefficients of almost the same size, and of unit length almost the
    same products with the targets; others are not looked at.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> x = np.array([[1.0, 0.5, -1.0], [2.0, 4.0, -2.0], [-3.0, 1.0, 3.00001]])
    >>> find_near_ties(plain(x, np.array([1.0, 2.0, 0.0])), np.array([0.4, 0.9, -0.4])).first
    array([0, 1, 0])
    """
    chosen = coef != 0.0
    size = np.abs(coef[chosen])
    size.sort()
    if not (size[1:] - size[:-1] <= ALIKE * size[1:]).any():
        return None
    zz = problem.targets.zz
    if zz > 0.0:  # else there are no targets yet
        pull = np.abs(problem.xz[chosen]) / np.sqrt(problem.squares[chosen])
        if not _are_close(pull, 2.0 * NEARLY * math.sqrt(zz)):  # twice: rounding is not what decides
            return None
    gram = problem.columns.take(chosen).gram()
    length = np.sqrt(gram.diagonal())
    correlation = gram / np.outer(length, length)
    apart = 1.0 - np.abs(correlation)
    np.fill_diagonal(apart, 1.0)
    if not (apart < 0.5 * NEARLY**2).any():
        return None
    lead = np.argmax(np.tril(apart < 0.5 * NEARLY**2, -1), axis=1)
    tied = apart[np.arange(lead.size), lead] < 0.5 * NEARLY**2
    tied &= lead < np.arange(lead.size)
    later = np.flatnonzero(tied).tolist()
    found = [(j, int(lead[j]), float(np.sign(correlation[j, lead[j]]))) for j in later]
    return _ties(chosen.size, np.flatnonzero(chosen), found)


def _are_close(values: Vector, reach: float) -> bool:
    """Tell whether any two of the values are so close; far quicker than to say which."""
    ordered = np.sort(values)
    return ordered.size > 1 and not float((ordered[1:] - ordered[:-1]).min()) > reach


def _runs(seen: Any, reach: Vector) -> list[tuple[int, int, float]]:
    """Return, of the rows that agree with an earlier one up to their sign, (row, the earlier, the sign)."""
    size = np.abs(seen[:, 0])
    order = np.argsort(size, kind="stable")
    ends = np.flatnonzero(np.diff(size[order]) > reach[order[1:]]) + 1
    found: list[tuple[int, int, float]] = []
    for run in np.split(order, ends):
        left = np.sort(run)
        while left.size > 1:
            lead, others = int(left[0]), left[1:]
            gap = np.abs(seen[others] - seen[lead]).max(axis=1)
            across = np.abs(seen[others] + seen[lead]).max(axis=1)
            tied = np.minimum(gap, across) <= reach[lead]
            signs = np.where(gap <= across, 1.0, -1.0)
            found += [(int(j), lead, float(s)) for j, s in zip(others[tied], signs[tied], strict=True)]
            left = others[~tied]
    return found


def _ties(n_columns: int, places: NDArray[np.intp], found: list[tuple[int, int, float]]) -> Ties | None:
    """Return the ties of all columns from those among some of them."""
    if not found:
        return None
    first, sign = np.arange(n_columns), np.ones(n_columns)
    for later, lead, direction in found:
        first[places[later]] = first[places[lead]]
        sign[places[later]] = sign[places[lead]] * direction
    return Ties(first == np.arange(n_columns), first, sign)
