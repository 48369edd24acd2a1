"""X as a fit sees it: one class for centring, scaling, weighting and projecting, wherever X is stored.

A view is diag(root) (X diag(unit) - C M') around a storage of X. Nothing but vectors and the few columns of C
is held for it, so any number of responses, classes or chains share one X. Products are those of the storage,
put right by algebra. Sums of squares (X'X, X D X', leverages) are taken of transformed blocks, in which
nothing cancels; a sparse matrix, for which blocks are dear, puts these right by algebra, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.columns import Compressed, Spread, varies
from horseshoe.data.products import CrossProducts, cross_products
from horseshoe.linalg import half_solved, is_single, mirrored, syrk, triangle

# Rows that are transformed at a time: few enough to stay in the cache.
BLOCK_ROWS = 4096
# Size of the blocks of columns that are transformed at a time.
BLOCK_BYTES = 64 << 20
# Means of no more than so many standard deviations cost products less than two digits.
NEAREST = 8.0
# Takes a block, and the pieces of vectors that belong to it; can be sent to where the block is.
Work = Callable[..., Any]


class Sums(NamedTuple):
    """Weight, means, centred squares and largest sizes of the columns over some rows."""

    weight: float
    mean: Vector
    squares: Vector
    largest: Vector

    @np.errstate(over="ignore", invalid="ignore")  # units that are refused
    def plus(self, other: Sums) -> Sums:
        """Return those of both sets of rows."""
        weight, gap = self.weight + other.weight, other.mean - self.mean
        share = other.weight / weight if weight else 0.0
        squares = self.squares + other.squares + share * self.weight * gap * gap
        return Sums(weight, self.mean + share * gap, squares, np.maximum(self.largest, other.largest))


class Transform(NamedTuple):
    """What a view does to X: diag(root) (X diag(unit) - rows loads'); None stands for 1 and for nothing."""

    root: Vector | None = None
    unit: Vector | None = None
    rows: Matrix | None = None
    loads: Matrix | None = None

    def scaled(self, factor: Vector) -> Transform:
        """Return this with the columns times ``factor``."""
        unit = factor if self.unit is None else self.unit * factor
        loads = None if self.loads is None else self.loads * factor[:, None]
        return Transform(self.root, unit, self.rows, loads)

    def less(self, rows: Matrix, loads: Matrix) -> Transform:
        """Return this less another C M', where rows are not weighted yet."""
        if self.rows is None or self.loads is None:
            return Transform(self.root, self.unit, rows, loads)
        both = np.hstack([self.rows, rows]), np.hstack([self.loads, loads])
        return Transform(self.root, self.unit, *both)

    def weighted(self, root: Vector) -> Transform:
        """Return this with the rows times ``root``."""
        return Transform(root if self.root is None else self.root * root, *self[1:])

    def part(self, axis: int, which: Any) -> Transform:
        """Return this for some of the rows (axis 0) or columns (axis 1)."""
        names = ("root", "rows") if axis == 0 else ("unit", "loads")
        return self._replace(**{name: values[which] for name, values in self._given(names).items()})

    def along(self, axis: int) -> tuple[Transform, dict[str, Any]]:
        """Return what is the same for all rows (axis 0) or columns (axis 1), and what is cut with them."""
        cut = self._given(("root", "rows") if axis == 0 else ("unit", "loads"))
        return self._replace(**dict.fromkeys(cut)), cut

    @property
    def shift(self) -> Vector | None:
        """What is added to every row, if that is all that is done."""
        root, unit, rows, loads = self
        if rows is None or loads is None or root is not None or unit is not None or rows.shape[1] > 1:
            return None
        return -loads[:, 0] if bool((rows == 1.0).all()) else None

    def astype(self, dtype: Any) -> tuple[Any, Any, Any, Any]:
        """Return root, unit, C and M in another precision."""
        root, unit, rows, loads = (
            None if values is None else values.astype(dtype, copy=False) for values in self
        )
        return root, unit, rows, loads

    def apply(self, block: Any, dtype: Any = np.float64, order: Any = "K") -> Any:
        """Return the transformed block; an array of its own unless there is nothing to do."""
        if self is PLAIN or all(values is None for values in self):
            return block.astype(dtype, order=order, copy=False)
        order = order if order != "K" else "F" if block.flags.f_contiguous else "C"
        exact = self.rows is not None and block.dtype != np.float32  # or what is taken off could cancel
        out = np.empty(block.shape, np.float64 if exact else dtype, order)
        root, unit, rows, loads = self.astype(out.dtype)
        at_once = root is not None and unit is None and rows is None
        factor = root[:, None] if at_once else 1.0 if unit is None else unit
        np.multiply(block, factor, out=out, casting="same_kind")
        if rows is not None:
            out = minus_product(out, rows, loads)
        if root is not None and not at_once:
            out *= root[:, None]
        return out.astype(dtype, copy=False)

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


PLAIN = Transform()


def minus_product(out: Any, rows: Any, loads: Any) -> Any:
    """Return ``out`` - rows loads', in place; whatever the order of ``out``.

    Examples
    --------
    >>> minus_product(np.ones((2, 2)), np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([[-2., -3.],
           [-5., -7.]])
    """
    if not out.size:
        return out
    call = blas.sgemm if is_single(out) else blas.dgemm
    if out.flags.f_contiguous:
        return call(-1.0, rows, loads, 1.0, out, trans_b=1, overwrite_c=1)
    return call(-1.0, loads, rows, 1.0, out.T, trans_b=1, overwrite_c=1).T


def ones(n: int) -> Matrix:
    """Return a column of ones, which takes no memory."""
    return np.broadcast_to(1.0, (n, 1))


class View:
    """diag(root) (X diag(unit) - C M'), X wherever it is stored: what a fit asks of the columns.

    Parameters
    ----------
    storage : Storage
        X.
    transform : Transform
        root, unit, C and M.
    dtype : type
        The precision of the blocks that are formed.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> x = Dense(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> view = x.less(np.ones((2, 1)), np.array([[2.0], [3.0]])).scaled(np.array([1.0, 10.0]))
    >>> view.dense(), view.matvec(np.ones(2)), view.gram()
    (array([[ -1., -10.],
           [  1.,  10.]]), array([-11.,  11.]), array([[  2.,  20.],
           [ 20., 200.]]))
    """

    # Rows and columns.
    shape: tuple[int, int]
    # Those that the user gave to the columns, for errors; None if there are none.
    names: Any = None
    # Whether X'X is diagonal by construction: then nothing else is asked than what `Identity` has.
    orthogonal = False
    _block: Any = None  # the columns as they are seen, kept from `outer` for `leverages`
    # Whether a pass over X takes longer than the arithmetic: then all sums are taken in one.
    remote: bool = False

    def __init__(self, storage: Storage, transform: Transform, dtype: Any = np.float64) -> None:
        self._inner, self._transform, self._dtype = storage, transform, dtype
        self.shape, self.remote = storage.shape, storage.remote

    @property
    def storage(self) -> Storage:
        """X as it is stored."""
        return self._inner

    @property
    def shift(self) -> Vector | None:
        """What is added to every row of the stored X, if that is all that is done to it."""
        return self._transform.shift

    @property
    def by_rows(self) -> bool:
        """Whether cross-products of all columns are worth a pass over the rows."""
        return self.storage.sums_rows

    @property
    def fuses_passes(self) -> bool:
        """Whether X b and the next cross-products can be taken in one pass: `ahead`."""
        return self.remote and self.by_rows

    def matvec(self, coef: Any) -> Any:
        """Return X b, for a vector or for each column of a matrix."""
        root, unit, rows, loads = self._transform
        out = self.storage.matvec(_times(unit, coef))
        out = out if rows is None or loads is None else out - rows @ (loads.T @ coef)
        return _times(root, out).astype(self._dtype, copy=False)

    def rmatvec(self, values: Any) -> Any:
        """Return X' r, for a vector or for each column of a matrix."""
        root, unit, rows, loads = self._transform
        values = _times(root, values)
        out = _times(unit, self.storage.rmatvec(values))
        out = out if rows is None or loads is None else out - loads @ (rows.T @ values)
        return out.astype(self._dtype, copy=False)

    def gram(self, weights: Vector | None = None, center: Vector | None = None) -> Matrix:
        """Return sum_i w_i (x_i - center)(x_i - center)', both triangles."""
        if center is not None:
            return self.less(ones(self.shape[0]), center[:, None]).gram(weights)
        here = self._transform if weights is None else self._transform.weighted(np.sqrt(weights))
        return mirrored(self.storage.gram_of(here))

    def squares(self, weights: Any = None) -> Any:
        """Return ||x_j||^2, or sum_i w_i x_ij^2 for a vector of weights or for each column of a matrix."""
        return self.storage.squares_of(self._transform, weights)

    def outer(self, base: Any = None) -> Any:
        """Return base + X X': the lower triangle, Fortran-ordered."""
        self._block = block = self._one_block()
        if block is None:
            return self.storage.outer_of(self._transform, self._dtype, base)
        return syrk(block, None if base is None else base.astype(self._dtype, order="F"))

    def leverages(self, factor: Any) -> Vector:
        """Return x_j'M^-1 x_j from the Cholesky factor of M."""
        block = self._one_block() if self._block is None else self._block
        self._block = None  # overwritten
        if block is None:
            return self.storage.leverages_of(self._transform, self._dtype, factor)
        return leverages(factor, block, overwrite=True)

    def half_solved(self, factor: Any) -> Matrix:
        """Return L^-1 X, dense, from the Cholesky factor L of M."""
        return np.asarray(half_solved(factor, np.asfortranarray(self.dense())))

    def scaled(self, factor: Vector, dtype: Any = None) -> View:
        """Return the columns times ``factor``, in single or double precision."""
        return self._seen(self._transform.scaled(factor), self._dtype if dtype is None else dtype)

    def less(self, rows: Matrix, loads: Matrix) -> View:
        """Return X - C M', C of shape (n, q) and M of shape (k, q)."""
        here = self if self._transform.root is None else held(self.dense())
        return here._seen(here._transform.less(rows, loads))

    def reweighted(self, root: Vector, center: Vector | None = None) -> View:
        """Return diag(root) (X - 1 center')."""
        here = self if center is None else self.less(ones(self.shape[0]), center[:, None])
        return here._seen(here._transform.weighted(root))

    def take(self, keep: Mask) -> View:
        """Return the columns in ``keep``."""
        storage = self.storage.some(1, keep)
        return (
            storage if self._transform is PLAIN else View(storage, self._transform.part(1, keep), self._dtype)
        )

    def rows(self, which: Any) -> View:
        """Return some of the rows."""
        storage = self.storage.some(0, which)
        plain = self._transform is PLAIN
        out = storage if plain else View(storage, self._transform.part(0, which), self._dtype)
        out.names = self.names
        return out

    def single(self) -> View:
        """Return the columns in single precision, where arithmetic takes longer than passes.

        Of weighted rows only the blocks are: products put right by algebra could cancel.
        """
        if self.storage.remote and self.by_rows:
            return self
        storage = self.storage if self._transform.root is not None else self.storage.single()
        return storage if self._transform is PLAIN else View(storage, self._transform, np.float32)

    def dense(self) -> Matrix:
        """Return the array: for a few columns, or rows."""
        return np.asarray(self.storage.dense_of(self._transform, self._dtype))

    def formed(self) -> View:
        """Return the columns as they are seen, formed once, unless X is too large for that or sparse."""
        return held(np.asfortranarray(self.dense())) if self.storage.is_small else self

    def compressed(self, targets: Vector) -> Compressed:
        """Return R and Q'z, X = QR, if n > k; else the rows as they are."""
        n, k = self.shape
        if n <= k:
            return Compressed(self.dense(), targets, 0.0)
        root = self.storage.total(_triangle, 0, self._transform, np.float64, targets, add=_joined)
        left_over = float(root[k, k] ** 2) if len(root) > k else 0.0
        return Compressed(root[:k, :k], root[:k, k], left_over)

    def cross_products(self, targets: Vector, weights: Vector | None = None) -> CrossProducts:
        """Return the cross-products of columns and targets over all rows, in one pass."""
        along = (targets,) if weights is None else (targets, weights)
        out: CrossProducts = self.storage.total(
            cross_products, 0, self._transform, np.float64, *along, add=CrossProducts.plus
        )
        return out

    def cross_products_by(
        self, part: Any, k: int, targets: Vector, weights: Vector | None
    ) -> tuple[CrossProducts, ...]:
        """Return those of each of k parts of the rows, in one pass; ``part`` says which is whose."""
        along = (part, targets) if weights is None else (part, targets, weights)
        work = partial(_products_by, k)
        out: tuple[CrossProducts, ...] = self.storage.total(
            work, 0, self._transform, np.float64, *along, add=_plus_each
        )
        return out

    def ahead(self, coef: Any, look: Work, *along: Vector) -> tuple[Any, CrossProducts]:
        """Return X b, and the `CrossProducts` of columns and targets that ``look`` sees there, in one pass.

        ``look`` takes X b of some rows, that of the last column if b is a matrix, and their parts of
        ``along``; it returns their targets and weights.
        """
        return self.storage.fused(partial(_ahead, coef, look), self._transform, *along)

    def standardised(self, weights: Vector | None, center: bool, scale: bool) -> tuple[View, Spread]:
        """Return the columns that vary, centred and scaled by the weights, and what they were before.

        What lies far from zero may be stored as deviations from a point: then no digit of them is lost.
        """
        away = self.shift
        if away is None or not center:
            return held(self.dense()).standardised(weights, center, scale)
        part, found = self.storage.standardised(weights, center, scale)
        mean = found.mean + away
        moves = varies(found.spread, mean, self.shape[0])
        if not moves[found.varies].all():
            part = part.take(moves[found.varies])
        return part, Spread(mean, found.spread, moves & found.varies)

    def digest(self, brief: bool = False) -> tuple[Any, ...]:
        """Return arrays that tell these columns from others; ``brief`` where a pass over them is dear."""
        return (*self.storage.digest(brief), *(values for values in self._transform if values is not None))

    def _one_block(self) -> Any:
        """Return all columns as they are seen, where they are small and not stored like this."""
        small = self.storage.is_small and 8 * self.shape[0] * self.shape[1] <= BLOCK_BYTES
        if self._transform is PLAIN or not small or not self.shape[1]:
            return None
        return self.storage.dense_of(self._transform, self._dtype, "F")

    def _seen(self, transform: Transform, dtype: Any = None) -> View:
        return View(self.storage, transform, self._dtype if dtype is None else dtype)


class Storage(View):
    """A place where X is: eight questions, and whatever follows from them by blocks.

    A storage is a view of itself, of which nothing is transformed. A subclass has `matvec`,
    `rmatvec`, `each`, `some`, `single`, `standardised` and `digest`, and `summed` if it adds up in a way of
    its own; where blocks are dear, as those of a sparse matrix, it also has algebra of its own for the sums
    of squares.
    """

    # Whether natural blocks are rows (0) or columns (1).
    axis = 1
    # Whether cross-products of all columns are worth a pass over the rows.
    sums_rows: bool = False
    # Whether a transformed copy takes less than several passes.
    is_small = False
    _transform = PLAIN
    _dtype: Any = np.float64

    def __init__(self) -> None:
        """Leave the parameters to the subclass."""

    @property
    def storage(self) -> Storage:
        """The storage itself."""
        return self

    def matvec(self, coef: Any) -> Any:
        """Return X b, for a vector or for each column of a matrix."""
        raise NotImplementedError

    def rmatvec(self, values: Any) -> Any:
        """Return X' r, for a vector or for each column of a matrix."""
        raise NotImplementedError

    def each(self, work: Work, axis: int, transform: Transform, dtype: Any, *along: Any) -> Iterator[Any]:
        """Yield work(block, *pieces) of each transformed block of rows or columns, in order.

        ``along`` are arrays as long as the axis, which are cut into pieces with it.
        """
        raise NotImplementedError

    def total(
        self,
        work: Work,
        axis: int,
        transform: Transform,
        dtype: Any,
        *along: Any,
        add: Work = operator.add,
    ) -> Any:
        """Return the sum of what `each` yields; None where there is no block."""
        found = self.each(work, axis, transform, dtype, *along)
        first = next(found, None)
        return None if first is None else reduce(add, found, first)

    def some(self, axis: int, which: Any) -> Storage:
        """Return some of the rows (axis 0) or columns (axis 1)."""
        raise NotImplementedError

    def fused(self, work: Work, transform: Transform, *along: Any) -> tuple[Any, Any]:
        """Return of work that yields pairs the first ones, joined, and the sum of the second ones."""
        raise NotImplementedError

    def single(self) -> Storage:
        """Return the columns in single precision, or as they are where passes take longer."""
        raise NotImplementedError

    def gram_of(self, transform: Transform) -> Any:
        """Return X'X of transformed columns: the lower triangle."""
        found = self.total(_gram, 0, transform, np.float64) if self.shape[1] else None
        return np.zeros((self.shape[1], self.shape[1])) if found is None else found

    def outer_of(self, transform: Transform, dtype: Any, base: Any = None) -> Any:
        """Return base + X X' of transformed columns: the lower triangle."""
        n = self.shape[0]
        found = self.total(syrk, 1, transform, dtype) if n else None
        found = np.zeros((n, n), dtype, "F") if found is None else found
        return found if base is None else np.add(found, base, out=found)

    def squares_of(self, transform: Transform, weights: Any = None) -> Any:
        """Return the sums of squares of transformed columns."""
        along = () if weights is None else (weights,)
        if self.axis == 0:
            return self.total(_squares, 0, transform, np.float64, *along)
        found = self.each(partial(_squares, weights=weights), 1, transform, np.float64)
        return np.concatenate([*found, np.zeros((0, *np.shape(weights)[1:]))])

    def leverages_of(self, transform: Transform, dtype: Any, factor: Any) -> Vector:
        """Return x_j'M^-1 x_j of transformed columns."""
        work = partial(leverages, factor, overwrite=transform is not PLAIN)
        return np.concatenate([*self.each(work, 1, transform, dtype), np.zeros(0)])

    def dense_of(self, transform: Transform, dtype: Any, order: Any = "K") -> Any:
        """Return the transformed array."""
        out, place = np.empty(self.shape, dtype, order="F"), 0
        for block in self.each(np.asarray, self.axis, transform, dtype):
            stop = place + block.shape[self.axis]
            out[(slice(None),) * self.axis + (slice(place, stop),)] = block
            place = stop
        return out

    def moments(self, weights: Vector | None) -> Sums:
        """Return means, centred squares and largest sizes of all columns, in one pass."""
        each = np.ones(self.shape[0]) if weights is None else weights
        if self.axis == 0 or self.sums_rows:
            out: Sums = self.total(sums_of, 0, PLAIN, np.float64, each, add=Sums.plus)
            return out
        found = list(self.each(partial(sums_of, weights=each), 1, PLAIN, np.float64))
        _, *values = zip(*found, strict=True)
        return Sums(float(each.sum()), *(np.concatenate(value) for value in values))


def when_read(storage: Storage, mean: Vector | None, spread: Spread, scale: bool) -> View:
    """Return the columns that vary, less ``mean`` and in units of their spread, whenever they are read."""
    n, keep = storage.shape[0], spread.varies
    out = View(storage, PLAIN)
    if mean is not None:
        out = out.less(ones(n), mean[:, None])
    if scale:
        out = out.scaled(np.divide(1.0, spread.spread, out=np.ones(keep.size), where=keep))
    return out if keep.all() else out.take(keep)


@np.errstate(over="ignore", invalid="ignore")  # units that are refused, or taken out
def spread_of(sums: Sums, center: bool, n_rows: int) -> Spread:
    """Return the means and the root mean squares around them, or around zero if not to be centred."""
    mean = sums.mean if center else np.zeros(sums.mean.size)
    squares = sums.squares if center else sums.squares + sums.weight * sums.mean**2
    spread = np.sqrt(squares / sums.weight)
    return Spread(mean, spread, varies(spread, mean, n_rows))


def are_near(found: Spread) -> bool:
    """Tell whether no column lies so far from zero that products put right by algebra lose digits."""
    return bool(np.all((np.abs(found.mean) <= NEAREST * found.spread) | ~found.varies))


def held(array: Any) -> Storage:
    """Return an array in memory as a storage."""
    from horseshoe.data.dense import Dense  # a subclass

    return Dense(array)


@np.errstate(over="ignore", invalid="ignore")
def sums_of(block: Matrix, weights: Vector) -> Sums:
    """Return weight, means, centred squares and largest sizes of the columns of a block.

    Examples
    --------
    >>> sums_of(np.array([[1.0], [-3.0]]), np.ones(2))
    Sums(weight=2.0, mean=array([-1.]), squares=array([8.]), largest=array([3.]))
    """
    total = float(weights.sum())
    mean = weights @ block / total if total else np.zeros(block.shape[1])
    around = block - mean
    squares = np.asarray(np.einsum("ij,ij,i->j", around, around, weights))
    return Sums(total, mean, squares, np.abs(block).max(axis=0, initial=0.0))


def _times(vector: Any, values: Any) -> Any:
    """Return a vector times each column."""
    return values if vector is None else (vector * values.T).T


def multiplied(block: Any, coef: Any) -> Any:
    """Return a block times coefficients."""
    return block @ coef


def _gram(block: Any) -> Any:
    across = block.flags.c_contiguous
    return syrk(block.T if across else block, trans=not across)


def _squares(block: Any, weights: Any = None) -> Any:
    return np.einsum("ij,ij->j", block, block) if weights is None else (block * block).T @ weights


def leverages(factor: Any, block: Any, overwrite: bool) -> Vector:
    """Return x_j'M^-1 x_j from the Cholesky factor of M.

    Examples
    --------
    >>> leverages(np.array([[2.0]]), np.array([[3.0]]), overwrite=False)
    array([2.25])
    """
    half = half_solved(factor, block, overwrite=overwrite)
    return np.asarray(np.einsum("ij,ij->j", half, half), dtype=np.float64)


def _triangle(block: Matrix, targets: Vector) -> Matrix:
    return triangle(np.column_stack([block, targets]))


def _joined(one: Matrix, other: Matrix) -> Matrix:
    return triangle(np.vstack([one, other]))


def _ahead(coef: Any, look: Work, block: Matrix, *along: Vector) -> tuple[Any, CrossProducts]:
    fit = block @ coef
    return fit, cross_products(block, *look(fit if fit.ndim == 1 else fit[:, -1], *along))


def _products_by(
    k: int, block: Matrix, part: Any, targets: Vector, weights: Vector | None = None
) -> tuple[CrossProducts, ...]:
    each = [np.flatnonzero(part == number) for number in range(k)]
    counts = [None if weights is None else weights[rows] for rows in each]
    return tuple(
        cross_products(block[rows], targets[rows], some) for rows, some in zip(each, counts, strict=True)
    )


def _plus_each(one: tuple[CrossProducts, ...], other: tuple[CrossProducts, ...]) -> tuple[CrossProducts, ...]:
    return tuple(mine.plus(theirs) for mine, theirs in zip(one, other, strict=True))
