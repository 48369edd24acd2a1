"""X as a sparse matrix: nothing larger than the active columns, or n x n, is ever dense.

A view of it is T - C M', T = diag(root) S diag(unit), and sums of squares are those of T put right by
algebra. That loses digits where a mean is far larger than the spread around it. Such a column has an entry in
almost every row, and is centred in S itself; and so is a row that has much of the weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csc_array

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Vector
from horseshoe.data.columns import Spread, extreme_units, varies
from horseshoe.data.view import PLAIN, Storage, Transform, View, Work, leverages, when_read
from horseshoe.linalg import is_single
from horseshoe.threads import call_threads

# Entries of what is made dense, or pairs of entries of a column, that are worked on at a time.
CHUNK = 1 << 22
# A pair of entries of a sparse column costs as much as so many entries of a dense product.
PAIRS_PAY = 8.0
# Up to so many entries, zeros counted, products of dense blocks are quicker whatever is zero in them.
SMALL = 2**14
# A row with more than this share of the weight is centred in S itself, and so is a column whose squared mean
# is so many times its variance: by algebra, too little would be left of them.
HEAVY, FAR = 0.1, 1e4


class Sparse(Storage):
    """Columns in a sparse matrix.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        S, in any format.

    Examples
    --------
    >>> x = Sparse(csc_array(np.array([[0.0, 2.0], [4.0, 0.0]])))
    >>> centred, _ = x.standardised(None, center=True, scale=False)
    >>> centred.dense()
    array([[-2.,  1.],
           [ 2., -1.]])
    """

    def __init__(self, matrix: Any) -> None:
        self._s = matrix if type(matrix) is csc_array else csc_array(matrix)
        self.shape = int(self._s.shape[0]), int(self._s.shape[1])

    @lazy
    def _transposed(self) -> Any:
        """S'."""
        return self._s.T

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        return self._s @ coef.astype(self._s.dtype, copy=False)

    def rmatvec(self, values: Any) -> Any:
        """Return X' r."""
        return self._transposed @ values.astype(self._s.dtype, copy=False)

    def each(self, work: Work, axis: int, transform: Transform, dtype: Any, *along: Any) -> Iterator[Any]:
        """Yield work(block, *pieces) of each block of rows or columns, as an array."""
        size, other = self.shape[axis], self.shape[1 - axis]
        matrix = self._s if axis else self._s.tocsr()
        step = max(1, CHUNK // max(1, other), 0 if axis else other + 1)
        for start in range(0, size, step):
            span = slice(start, start + step)
            block = (matrix[:, span] if axis else matrix[span]).toarray(order="F")
            yield work(
                transform.part(axis, span).apply(block, dtype, "F" if axis else "K"),
                *(values[span] for values in along),
            )

    def some(self, axis: int, which: Any) -> Sparse:
        """Return some of the rows or columns."""
        if axis == 0:
            return Sparse(self._s.tocsr()[which])
        return Sparse(self._s[:, np.flatnonzero(which)])

    def single(self) -> Sparse:
        """Return the columns in single precision."""
        return Sparse(self._s.astype(np.float32, copy=False))

    def gram_of(self, transform: Transform) -> Any:
        """Return X'X = T'T - P M' - M P', P = T'C - M C'C / 2: the lower triangle."""
        t, rows, loads = self._transformed(transform, np.float64)
        out = (t.T @ t).toarray()
        if rows is not None:
            half = t.T @ rows - 0.5 * (loads @ (rows.T @ rows))
            out -= half @ loads.T + loads @ half.T
        return np.tril(out)

    def outer_of(self, transform: Transform, dtype: Any, base: Any = None) -> Any:
        """Return base + X X', X X' = T T' - Q C' - C Q', Q = T M - C M'M / 2: the lower triangle."""
        t, rows, loads = self._transformed(transform, dtype)
        counts, n = np.diff(t.indptr).astype(np.float64), t.shape[0]
        few = n * counts.size > SMALL and PAIRS_PAY * float(counts @ counts) < float(n) ** 2 * counts.size
        if few:
            out = np.asfortranarray((t @ t.T).toarray())
        else:
            out = super(Sparse, Sparse(t)).outer_of(PLAIN, dtype)
        if rows is not None:
            half = t @ loads - 0.5 * (rows @ (loads.T @ loads))
            out -= half @ rows.T + rows @ half.T
        return out if base is None else np.add(out, base, out=out)

    def squares_of(self, transform: Transform, weights: Any = None) -> Any:
        """Return sum_i w_i x_ij^2: of entries, and of rows without one; nothing cancels between them."""
        t, rows, loads = self._transformed(transform, np.float64)
        if weights is None:
            return _squares(t, rows, loads, np.ones(self.shape[0]))
        if weights.ndim == 1:
            return _squares(t, rows, loads, weights)
        return np.column_stack([_squares(t, rows, loads, column) for column in weights.T])

    def leverages_of(self, transform: Transform, dtype: Any, factor: Any) -> Vector:
        """Return x_j'M^-1 x_j: of columns with few entries from the pairs of them, of others as dense."""
        t, rows, loads = self._transformed(transform, dtype)
        n, counts = t.shape[0], np.diff(t.indptr).astype(np.float64)
        light = (n * counts.size > SMALL) & (PAIRS_PAY * counts * counts < float(n) ** 2)
        if light.sum() < n:  # M^-1 would not pay
            light[:] = False
        out = np.empty(light.size)
        for which, way in ((light, _pair_leverages), (~light, _dense_leverages)):
            if which.any():
                some = None if loads is None else loads[which]
                out[which] = way(t if which.all() else t[:, np.flatnonzero(which)], rows, some, factor)
        return out

    def _transformed(self, transform: Transform, dtype: Any) -> tuple[Any, Any, Any]:
        """Return T, C and M: a row that has much of the weight is in T as a whole, or it would cancel."""
        root, unit, rows, loads = transform
        t = self._s
        factor = None if unit is None else np.repeat(unit, np.diff(t.indptr))
        factor = factor if root is None else root[t.indices] * (1.0 if factor is None else factor)
        t = t if factor is None else _with_data(t, t.data * factor)
        rows = rows if rows is None or root is None else root[:, None] * rows
        heavy = np.zeros(0, dtype=np.bool_) if root is None else root * root > HEAVY * float(root @ root)
        if rows is not None and heavy.any() and not heavy.all():
            values = Sparse(t.tocsr()[heavy]).dense_of(Transform(None, None, rows[heavy], loads), np.float64)
            t = _with_block(t, heavy, np.ones(t.shape[1], dtype=np.bool_), values)
            rows = np.where(heavy[:, None], 0.0, rows)
        return t.astype(dtype, copy=False), *Transform(rows=rows, loads=loads).astype(dtype)[2:]

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[View, Spread]:
        """Return the columns that vary, centred and scaled by algebra."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # then units are taken out
            part, found = self._standardised(weights, center, scale)
            largest = lambda: np.asarray(abs(self._s).max(axis=0).toarray()).ravel()  # noqa: E731
            powers = extreme_units(found.spread, largest)
            if powers is None:
                return part, found
            part, found = Sparse(_shifted(self._s, -powers))._standardised(weights, center, scale)
        if not scale:
            part = part.scaled(np.ldexp(1.0, powers[found.varies]))
        mean, spread = np.ldexp(found.mean, powers), np.ldexp(found.spread, powers)
        return part, Spread(mean, spread, found.varies)

    def _standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[View, Spread]:
        n, k = self.shape
        each, here, left = np.ones(n) if weights is None else weights, self, None
        total, mean, level = float(each.sum()), np.zeros(k), np.ones((n, 1))
        if center:
            left = mean = np.asarray(self.rmatvec(each)) / total
            far = total * mean * mean > FAR * _squares(self._s, level, mean[:, None], each)
            far |= np.diff(self._s.indptr) == n
            if far.any():  # centred in S itself
                values = self.take(far).dense() - mean[far]
                here = Sparse(_with_block(self._s, np.ones(n, dtype=np.bool_), far, values))
                left = np.where(far, 0.0, mean)
        squares = _squares(here._s, level, np.zeros((k, 1)) if left is None else left[:, None], each)
        found = Spread(mean, np.sqrt(squares / total), np.empty(0, dtype=np.bool_))
        found = found._replace(varies=varies(found.spread, mean, n))
        return when_read(here, left, found, scale), found

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return the arrays of the sparse matrix."""
        return self._s.data, self._s.indices.astype(np.int64), self._s.indptr.astype(np.int64)


def _squares(t: Any, rows: Any, loads: Any, weights: Vector) -> Any:
    """Return sum_i w_i (t_ij - c_i'm_j)^2, entries and rows without one apart."""
    heavy = weights[t.indices]
    if rows is None:
        return _add_up(heavy * t.data * t.data, t.indptr)
    counts, fit = np.diff(t.indptr), np.zeros(t.data.size)
    for c, m in zip(rows.T, loads.T, strict=True):
        fit += c[t.indices] * np.repeat(m, counts)
    gap = t.data - fit
    every = np.einsum("ij,jk,ik->i", loads, rows.T @ (weights[:, None] * rows), loads)
    without = np.maximum(every - _add_up(heavy * fit * fit, t.indptr), 0.0)
    return _add_up(heavy * gap * gap, t.indptr) + np.where(counts < t.shape[0], without, 0.0)


def _dense_leverages(t: Any, rows: Any, loads: Any, factor: Any) -> Any:
    work = partial(leverages, factor, overwrite=True)
    found = Sparse(t).each(work, 1, Transform(None, None, rows, loads), t.dtype.type)
    return np.concatenate(list(found), dtype=np.float64)


def _pair_leverages(t: Any, rows: Any, loads: Any, factor: Any) -> Any:
    """Return t_j'A t_j - 2 m_j'C'A t_j + m_j'C'A C m_j, A = M^-1."""
    with call_threads(2.0 * len(factor) ** 3 / 3.0):
        inverse = (lapack.spotri if is_single(factor) else lapack.dpotri)(factor, lower=1)[0]
    inverse = inverse + np.tril(inverse, -1).T
    own = _pairs(t, inverse)
    if rows is None:
        return own
    seen = inverse @ rows
    return own + np.einsum("ij,ij->i", loads, loads @ (rows.T @ seen) - 2.0 * (t.T @ seen))


def _pairs(t: Any, inverse: Any) -> Any:
    """Return t_j'A t_j for every column, added up over the pairs of its entries."""
    counts = np.diff(t.indptr).astype(np.int64)
    out, pairs, start = np.zeros(counts.size), np.cumsum(counts * counts), 0
    while start < counts.size:
        before = int(pairs[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(pairs, before + CHUNK // 16, "right")))
        part = slice(start, stop)
        lengths, entries = counts[part], np.arange(t.indptr[start], t.indptr[stop])
        mates = np.repeat(lengths, lengths)  # of each entry, as many as its column has
        first = np.repeat(entries, mates)
        offsets = np.arange(first.size) - np.repeat(np.cumsum(mates) - mates, mates)
        second = np.repeat(np.repeat(t.indptr[:-1][part], lengths), mates) + offsets
        values = t.data[first] * t.data[second] * inverse[t.indices[first], t.indices[second]]
        out[part] = _add_up(values, np.append(0, np.cumsum(lengths**2)))
        start = stop
    return out


def _with_block(matrix: Any, rows: Mask, columns: Mask, values: Any) -> Any:
    """Return a sparse matrix with its entries in some rows of some columns replaced by an array."""
    counts = np.diff(matrix.indptr)
    others = ~(rows[matrix.indices] & np.repeat(columns, counts))
    places = np.flatnonzero(rows)
    ends = np.append(0, np.cumsum(np.where(columns, places.size, 0)))
    index = np.tile(places, int(columns.sum()))
    block = csc_array((values.ravel(order="F"), index, ends), shape=matrix.shape)
    return csc_array(_with_data(matrix, np.where(others, matrix.data, 0.0)) + block)


def _with_data(matrix: Any, data: Any) -> Any:
    """Return a matrix with other entries in the same places, which both share: nothing changes them."""
    out = copy(matrix)  # a new one would be checked all over, which takes longer than small products
    out.data = data
    return out


def _shifted(matrix: Any, powers: Any) -> Any:
    """Return the columns times 2^powers, which is exact."""
    return _with_data(matrix, np.ldexp(matrix.data, np.repeat(powers, np.diff(matrix.indptr))))


def _add_up(values: Any, ends: Any) -> Any:
    """Return the sums of ``values`` between neighbouring ``ends``."""
    counts = np.diff(ends)
    groups = np.repeat(np.arange(counts.size), counts)
    return np.bincount(groups, weights=values, minlength=counts.size)
