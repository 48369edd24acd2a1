"""Rows that come a chunk at a time: sums that grow, of all rows or of each fold, from which fits are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.products import CrossProducts
from horseshoe.data.validation import check_weights, check_x, check_y
from horseshoe.data.view import View
from horseshoe.estimators.base import Header, read_header, same_columns
from horseshoe.estimators.convergence import check_weight_type
from horseshoe.estimators.training import Training
from horseshoe.families import Family, resolve_family

# So many rows for each fold are dealt out at a time.
DEALT = 1000


class FoldSums(NamedTuple):
    """The sums so far, of each of ``n_folds`` folds: one where there is no cross-validation.

    ``n_given`` rows have come. Rows go to folds by their number, as ``seed`` decides.
    """

    n_folds: int = 1
    seed: int = 0
    parts: tuple[CrossProducts, ...] = ()
    n_given: int = 0

    def plus(self, columns: View, y: Vector, weights: Vector | None, number: Any) -> FoldSums:
        """Return the sums with more rows, which have a ``number`` each and a positive weight."""
        fold = deal(number, self.n_folds, self.seed) if self.n_folds > 1 else np.zeros(y.size)
        parts = self.parts or (_no_products(columns.shape[1] + 1),) * self.n_folds
        for place, part in enumerate(parts):
            rows = np.flatnonzero(fold == place)
            if rows.size:
                some = columns if rows.size == y.size else columns.rows(rows)
                more = some.cross_products(y[rows], None if weights is None else weights[rows])
                parts = (*parts[:place], part.plus(more), *parts[place + 1 :])
        return self._replace(parts=parts)

    def scaled(self, weight_type: str, names: Any) -> tuple[CrossProducts, ...]:
        """Return the sums with weights as counts; "precision" makes their mean 1."""
        parts = self.parts
        precision = check_weight_type(weight_type) == "precision"
        for number, part in enumerate(parts):
            if part.n_rows == 0:
                raise ValueError(
                    "no row has a positive weight: at least one needs it"
                    if len(parts) == 1
                    else f"fold {number} of {len(parts)} has no row yet: begin with a larger chunk, or use "
                    "fit_chunks"
                )
        if precision:
            factor = sum(part.n_rows for part in parts) / sum(part.weight for part in parts)
            parts = tuple(part.times(factor) for part in parts)
        for part in parts:
            _check_sums(part, names)
        return parts


def check_exact(family: Family) -> None:
    """Refuse a family whose fit does not depend on sums over the rows alone.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> check_exact(Gaussian())
    """
    if not family.constant_weights:
        raise ValueError(
            "partial_fit is exact for family='gaussian' alone, whose fit depends on sums over the rows, and "
            f"{type(family).__name__} is not: use fit, for which X may be a memory map or a Parquet file "
            "that is read in parts (docs/scale.md)"
        )


def add_rows(
    model: Any, earlier: Any, sums: FoldSums, X: Any, y: Any, sample_weight: Any = None
) -> tuple[Header, FoldSums]:
    """Return the columns of X and the sums with those of more rows, as ``model`` takes them.

    ``earlier`` is an estimator that knows the columns of the rows before, if there were any.
    """
    check_exact(resolve_family(model.family))
    columns = check_x(X)
    n = columns.shape[0]
    if earlier is None:
        header = read_header(X, columns)
    else:
        same_columns(earlier, X, columns)
        header = Header(earlier.n_features_in_, vars(earlier).get("feature_names_in_"))
    response, weights = check_y(y, n), _check_weights(sample_weight, n)
    number = sums.n_given + np.arange(n)
    if weights is not None and not weights.all():
        some = weights > 0.0
        columns, response, weights, number = columns.rows(some), response[some], weights[some], number[some]
    return header, sums.plus(columns, response, weights, number)._replace(n_given=sums.n_given + n)


def sums_of_chunks(model: Any, chunks: Iterable[Any], sums: FoldSums) -> tuple[Header, FoldSums]:
    """Return the columns and the sums of all chunks of rows."""
    header, earlier = None, None
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
            raise ValueError(f"chunk {number} must be a pair (X, y) or a triple (X, y, sample_weight)")
        try:
            header, sums = add_rows(model, earlier, sums, *chunk)
        except ValueError as error:
            raise ValueError(f"chunk {number}: {error}") from error
        if earlier is None:
            earlier = type(model)()
            earlier._keep_header(header)
    if header is None:
        raise ValueError("there are no chunks: give at least one, with rows")
    return header, sums


def sums_of_rows(training: Training | None, weight_type: str, sums: FoldSums) -> FoldSums:
    """Return the sums of the rows of a fit, as long as they are at hand."""
    if training is None:
        raise ValueError(
            "this model holds neither rows nor sums to go on from, as after load_model or a copy of a "
            "fit: begin with a new estimator"
        )
    rows = training.rows
    if np.any(rows.offset) or (rows.weights is not None and weight_type != "count"):
        raise ValueError(
            "partial_fit does not go on from a fit with an offset, nor from weights of which only the "
            "proportions mattered: begin with a new estimator"
        )
    found = sums.plus(rows.columns, rows.y, rows.weights, np.arange(rows.y.size))
    return found._replace(n_given=rows.n_seen)


def deal(number: Any, k: int, seed: int) -> Any:
    """Return the fold of each row by its number: of each k in a row every fold gets one, which one is drawn.

    Examples
    --------
    >>> sorted(deal(np.arange(3, 6), 3, seed=0).tolist())
    [0, 1, 2]
    """
    stretch = k * DEALT
    fold = np.empty(len(number), dtype=np.intp)
    for part in np.unique(number // stretch):
        draw = np.random.default_rng([seed, int(part)])
        order = draw.permuted(np.tile(np.arange(k), (DEALT, 1)), axis=1).ravel()
        here = number // stretch == part
        fold[here] = order[number[here] % stretch]
    return fold


def _no_products(size: int) -> CrossProducts:
    """Return the cross-products of no rows."""
    return CrossProducts(0, 0.0, np.zeros(size), np.zeros(size), np.zeros((size, size), order="F"))


def _check_sums(products: CrossProducts, names: Any) -> None:
    """Refuse sums that are out of range, by the column."""
    if products.is_usable:
        return
    squares = products.products.diagonal()
    j = int(np.argmax(~np.isfinite(squares) | (squares > 1e200) | ((squares > 0.0) & (squares < 1e-200))))
    what = "y" if j == products.n_columns else f"column {j if names is None else repr(names[j])} of X"
    raise ValueError(f"{what} is in a unit in which its squares are out of range: change its unit")


def _check_weights(sample_weight: Any, n_rows: int) -> Vector | None:
    """Return the weights of a chunk, which may all be zero."""
    if sample_weight is not None and np.shape(sample_weight) == (n_rows,) and not np.any(sample_weight):
        return np.zeros(n_rows)
    return check_weights(sample_weight, n_rows, any_total=True)
