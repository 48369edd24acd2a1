"""Columns in a sparse matrix, centred and scaled by algebra.

The columns are S - u m', S sparse: centring subtracts m from every row, and weighting the rows by u keeps
that form. So products cost what S costs, and nothing larger than the active columns or n x n is ever dense.

Centring by algebra loses digits where a mean is far larger than the spread around it. Such a column has an
entry in almost every row, and is centred in S itself; so is a row that has much of the weight.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csc_array

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Compressed, Spread, extreme_units, varies
from horseshoe.data.less import Less
from horseshoe.linalg import half_solved, is_single, syrk, triangle
from horseshoe.threads import call_threads

CHUNK = 1 << 22
"""Entries of what is made dense, or pairs of entries of a column, that are worked on at a time."""
PAIRS_PAY = 8.0
"""A pair of entries of a sparse column costs as much as so many entries of a dense product."""
SMALL = 2**14
"""Up to so many entries, zeros counted, products of dense blocks are quicker whatever is zero in them."""
HEAVY, FAR = 0.1, 1e4
"""A row with more than this share of the weight is centred in S itself, and so is a column whose squared mean
is so many times its variance: by algebra, too little would be left of them."""


class Sparse:
    """Sparse columns less a multiple of one vector of rows: S - u m'.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        S, in any format.
    shift : array of shape (k,), optional
        m; zero if left out.
    level : array of shape (n,), optional
        u; ones if left out.

    Examples
    --------
    >>> x = Sparse(csc_array(np.array([[0.0, 2.0], [4.0, 0.0]])))
    >>> centred, _ = x.standardised(None, center=True, scale=False)
    >>> centred.dense()
    array([[-2.,  1.],
           [ 2., -1.]])
    """

    orthogonal = False
    remote = False
    names: Any = None

    def __init__(self, matrix: Any, shift: Vector | None = None, level: Vector | None = None) -> None:
        self._s = matrix if type(matrix) is csc_array else csc_array(matrix)
        n, k = self._s.shape
        self.shape: tuple[int, int] = (int(n), int(k))
        self._shift = np.zeros(k, self._s.dtype) if shift is None else shift
        self._level = np.ones(n, self._s.dtype) if level is None else level
        self._room: Room | None = None

    def matvec(self, coef: Any) -> Any:
        """Return X b."""
        coef = coef.astype(self._s.dtype, copy=False)
        return self._s @ coef - _times(self._level, self._shift @ coef)

    def rmatvec(self, rows: Any) -> Any:
        """Return X' r."""
        rows = rows.astype(self._s.dtype, copy=False)
        return self._across @ rows - _times(self._shift, self._level @ rows)

    @lazy
    def _across(self) -> Any:
        """S'."""
        return self._s.T

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)'."""
        if weights is not None or center is not None:
            root = np.ones(self.shape[0]) if weights is None else np.sqrt(weights)
            return self.reweighted(root, center).gram()
        out: Matrix = (self._across @ self._s).toarray()
        pull = self._across @ self._level
        out -= np.outer(pull - float(self._level @ self._level) * self._shift, self._shift)
        out -= np.outer(self._shift, pull)
        return out

    def squares(self, weights: Any = None) -> Any:
        """Return sum_i w_i x_ij^2: entries less their shift, and the shifts of rows that have no entry."""
        if weights is None:
            return self._weighted_squares(np.ones(self.shape[0]))
        if weights.ndim == 1:
            return self._weighted_squares(weights)
        return np.column_stack([self._weighted_squares(column) for column in weights.T])

    def scaled(self, root: Vector, dtype: Any = np.float64) -> ScaledSparse:
        """Return the columns times ``root``."""
        matrix = _columns_times(self._s.astype(dtype, copy=False), root.astype(dtype))
        return ScaledSparse(matrix, (self._shift * root).astype(dtype), self._level.astype(dtype))

    def stretched(self, factor: Vector) -> Sparse:
        """Return the columns times ``factor``."""
        return Sparse(_columns_times(self._s, factor), self._shift * factor, self._level)

    def less(self, rows: Matrix, loads: Matrix) -> Less:
        """Return X - C M', by algebra."""
        dtype = self._s.dtype
        return Less(self, rows.astype(dtype, copy=False), loads.astype(dtype, copy=False))

    def take(self, keep: Mask) -> Sparse:
        """Return the columns in ``keep``."""
        return Sparse(self._s[:, np.flatnonzero(keep)], self._shift[keep], self._level)

    def rows(self, which: Any) -> Sparse:
        """Return some of the rows."""
        out = Sparse(self._s.tocsr()[which], self._shift, self._level[which])
        out.names = self.names
        return out

    def reweighted(self, root: Vector, center: Vector | None = None) -> Sparse:
        """Return diag(root) (X - 1 center')."""
        root, matrix, level = root.astype(self._s.dtype, copy=False), self._s, self._level
        heavy = root * root > HEAVY * float(root @ root)
        if heavy.any() and not heavy.all():  # centred in S itself, or they would cancel
            if self._room is None or not np.array_equal(self._room.which, heavy):  # seldom: weights move
                self._room = _room(matrix, heavy, self.rows(heavy).dense())
            matrix = self._room.filled(self._room.rows - (0.0 if center is None else center))
            level = np.where(heavy, np.zeros_like(level), level)
        return Sparse(_rows_times(matrix, root), self._about(center), level * root)

    def single(self) -> Sparse:
        """Return the columns in single precision."""
        half = np.float32
        return Sparse(self._s.astype(half), self._shift.astype(half), self._level.astype(half))

    def compressed(self, targets: Vector) -> Compressed:
        """Return R and Q'z, X = QR, from some rows at a time."""
        n, k = self.shape
        if n <= k:
            return Compressed(self.dense(), targets, 0.0)
        matrix, root, step = self._s.tocsr(), np.zeros((0, k + 1)), max(k + 1, CHUNK // (k + 1))
        for start in range(0, n, step):
            some = slice(start, start + step)
            block = matrix[some].toarray() - np.outer(self._level[some], self._shift)
            root = triangle(np.vstack([root, np.column_stack([block, targets[some]])]))
        rest = float(root[k, k] ** 2) if len(root) > k else 0.0
        return Compressed(root[:k, :k], root[:k, k], rest)

    def summed(self, targets: Vector, weights: Vector | None) -> None:
        """Return None: products with few entries are cheap."""

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Sparse, Spread]:
        """Return the columns that vary, centred and scaled by algebra."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # then units are taken out
            part, found = self._standardised(weights, center, scale)
            powers = extreme_units(found.spread, self._largest)
            if powers is None:
                return part, found
            part, found = Sparse(_columns_shifted(self._s, -powers))._standardised(weights, center, scale)
        if not scale:
            back = powers[found.varies]
            part = Sparse(_columns_shifted(part._s, back), np.ldexp(part._shift, back))
        mean, spread = np.ldexp(found.mean, powers), np.ldexp(found.spread, powers)
        return part, Spread(mean, spread, found.varies)

    def _largest(self) -> Vector:
        """Return max |x_ij| of each column."""
        return np.asarray(abs(self._s).max(axis=0).toarray()).ravel()

    def _standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[Sparse, Spread]:
        n, k = self.shape
        each = np.ones(n) if weights is None else weights
        total, mean = float(each.sum()), np.zeros(k)
        found = self
        if center:
            mean = np.asarray(self._across @ each) / total
            found = Sparse(self._s, mean)
            far = total * mean * mean > FAR * found._weighted_squares(each)
            far |= np.diff(self._s.indptr) == n
            if far.any():  # centred in S itself
                values = found.take(far).dense()
                shift = np.where(far, 0.0, mean)
                found = Sparse(_with_rows(self._s.T, far, values.T).T, shift)
        spread = np.sqrt(found._weighted_squares(each) / total)
        moves = varies(spread, mean, n)
        unit = 1.0 / spread[moves] if scale else np.ones(int(moves.sum()))
        part = found.take(moves)
        return Sparse(_columns_times(part._s, unit), part._shift * unit), Spread(mean, spread, moves)

    def dense(self) -> Matrix:
        """Return the array."""
        out: Matrix = self._s.toarray() - np.outer(self._level, self._shift)
        return out

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return the arrays of the sparse matrix."""
        return self._s.data, self._s.indices.astype(np.int64), self._s.indptr.astype(np.int64)

    def _about(self, center: Vector | None) -> Vector:
        """Return the shift about another centre, which takes rows that are not weighted yet."""
        return self._shift if center is None else self._shift + center.astype(self._s.dtype, copy=False)

    def _weighted_squares(self, weights: Vector) -> Vector:
        s, counts, shift = self._s, np.diff(self._s.indptr), self._shift
        gap = s.data - np.repeat(shift, counts) * self._level[s.indices]
        within = _add_up(weights[s.indices] * gap * gap, s.indptr)
        each = weights * self._level * self._level
        without = np.maximum(float(each.sum()) - _add_up(each[s.indices], s.indptr), 0.0)
        return np.asarray(within + np.where(counts < self.shape[0], without, 0.0) * shift * shift)


class ScaledSparse:
    """T - u t', T = S D^1/2, t = D^1/2 m."""

    def __init__(self, matrix: Any, shift: Any, level: Any) -> None:
        self._t, self._shift, self._level = matrix, shift, level
        counts = np.diff(matrix.indptr).astype(np.float64)
        large = matrix.shape[0] * matrix.shape[1] > SMALL
        self._light = large & (PAIRS_PAY * counts * counts < float(matrix.shape[0]) ** 2)
        self._few = large and PAIRS_PAY * float(counts @ counts) < float(matrix.shape[0]) ** 2 * counts.size

    def outer(self, base: Any = None) -> Any:
        """Return base + X D X'."""
        t, level = self._t, self._level
        out = np.asfortranarray((t @ self._across).toarray()) if self._few else self._dense_outer()
        pull = t @ self._shift
        out -= np.outer(pull - (self._shift @ self._shift) * level, level)
        out -= np.outer(level, pull)
        return out if base is None else np.add(out, base, out=out)

    def leverages(self, factor: Any) -> Vector:
        """Return d_j x_j'M^-1 x_j: of columns with few entries from the pairs of them, of others as dense."""
        light = self._light
        if light.sum() < self._t.shape[0]:  # M^-1 would not pay
            return self._dense_leverages(factor)
        out = np.empty(light.size)
        out[light] = self._part(light)._pair_leverages(factor)
        if not light.all():
            out[~light] = self._part(~light)._dense_leverages(factor)
        return out

    def half_solved(self, factor: Any) -> Matrix:
        """Return L^-1 X D^1/2."""
        return np.asarray(half_solved(factor, np.asfortranarray(self._dense(slice(None)))))

    def matvec(self, coef: Any) -> Any:
        """Return X D^1/2 b."""
        return self._t @ coef - _times(self._level, self._shift @ coef)

    def rmatvec(self, rows: Any) -> Any:
        """Return D^1/2 X' r."""
        return self._across @ rows - _times(self._shift, self._level @ rows)

    @lazy
    def _across(self) -> Any:
        """T'."""
        return self._t.T

    def _part(self, keep: Mask) -> ScaledSparse:
        return ScaledSparse(self._t[:, np.flatnonzero(keep)], self._shift[keep], self._level)

    def _dense_leverages(self, factor: Any) -> Vector:
        blocks = (np.asfortranarray(self._dense(part)) for part in self._parts())
        halves = (half_solved(factor, block, overwrite=True) for block in blocks)
        found = [np.empty(0), *(np.einsum("ij,ij->j", half, half) for half in halves)]
        return np.concatenate(found, dtype=np.float64)

    def _pair_leverages(self, factor: Any) -> Vector:
        with call_threads(2.0 * len(factor) ** 3 / 3.0):
            inverse = (lapack.spotri if is_single(factor) else lapack.dpotri)(factor, lower=1)[0]
        inverse = inverse + np.tril(inverse, -1).T
        seen = inverse @ self._level
        own = self._pairs(inverse) - 2.0 * self._shift * (self._t.T @ seen)
        return np.asarray(own + self._shift**2 * (self._level @ seen), dtype=np.float64)

    def _pairs(self, inverse: Any) -> Any:
        """Return T_j' A T_j for every column, added up over the pairs of its entries."""
        t, counts = self._t, np.diff(self._t.indptr).astype(np.int64)
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

    def _dense_outer(self) -> Any:
        """Return T T', a block of columns at a time."""
        n = self._t.shape[0]
        out: Any = np.zeros((n, n), self._t.dtype, "F")
        for part in self._parts():
            out = syrk(np.asfortranarray(self._columns(part).toarray()), out)
        return out

    def _parts(self) -> Any:
        n, k = self._t.shape
        step = max(1, CHUNK // max(1, n))
        return (slice(start, min(start + step, k)) for start in range(0, k, step))

    def _columns(self, part: slice) -> Any:
        """Return some of the columns of T: most often all of them, which takes no copy."""
        return self._t if part.indices(self._t.shape[1]) == (0, self._t.shape[1], 1) else self._t[:, part]

    def _dense(self, part: slice) -> Any:
        return self._columns(part).toarray() - np.outer(self._level, self._shift[part])


class Room(NamedTuple):
    """A sparse matrix with room for every entry of some of its rows.

    ``places`` are the numbers of the entries of ``frame`` among those of the other rows, ``others``, and then
    those of these ``rows``, one after the other.
    """

    which: Mask
    rows: Matrix
    others: Any
    frame: Any
    places: Any

    def filled(self, rows: Matrix) -> Any:
        """Return the matrix with these rows."""
        values = np.concatenate([self.others, rows.astype(self.others.dtype, copy=False).ravel()])
        return _with_data(self.frame, values[self.places])


def _room(matrix: Any, which: Mask, rows: Matrix) -> Room:
    """Return a sparse matrix with room for other values of some of its rows, which are now ``rows``."""
    matrix, (places, k) = matrix.tocoo(), (np.flatnonzero(which), rows.shape[1])
    old = ~which[matrix.row]
    row = np.concatenate([matrix.row[old], np.repeat(places, k)])
    column = np.concatenate([matrix.col[old], np.tile(np.arange(k), places.size)])
    frame = csc_array((np.arange(row.size), (row, column)), shape=matrix.shape)
    return Room(which, rows, matrix.data[old], frame, frame.data)


def _with_rows(matrix: Any, which: Mask, rows: Matrix) -> Any:
    """Return a sparse matrix with some of its rows replaced."""
    return _room(matrix, which, rows).filled(rows)


def _times(vector: Any, numbers: Any) -> Any:
    """Return vector * number, or their outer product for several numbers."""
    return vector * numbers if np.ndim(numbers) == 0 else np.outer(vector, numbers)


def _with_data(matrix: Any, data: Any) -> Any:
    """Return a matrix with other entries in the same places, which both share: nothing changes them."""
    out = copy(matrix)  # a new one would be checked all over, which takes longer than small products
    out.data = data
    return out


def _rows_times(matrix: Any, weights: Any) -> Any:
    return _with_data(matrix, matrix.data * weights[matrix.indices])


def _columns_times(matrix: Any, factors: Any) -> Any:
    return _with_data(matrix, matrix.data * np.repeat(factors, np.diff(matrix.indptr)))


def _columns_shifted(matrix: Any, powers: Any) -> Any:
    """Return the columns times 2^powers, which is exact."""
    return _with_data(matrix, np.ldexp(matrix.data, np.repeat(powers, np.diff(matrix.indptr))))


def _add_up(values: Any, ends: Any) -> Any:
    """Return the sums of ``values`` between neighbouring ``ends``."""
    counts = np.diff(ends)
    groups = np.repeat(np.arange(counts.size), counts)
    return np.bincount(groups, weights=values, minlength=counts.size)
