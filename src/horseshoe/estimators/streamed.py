"""Rows that come a chunk at a time: sums that grow, and a fit from the sums after each chunk."""

from __future__ import annotations

from collections.abc import Iterable
from types import MethodType
from typing import Any, NamedTuple, Self

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.products import CrossProducts
from horseshoe.data.rows import Rows
from horseshoe.data.validation import check_weights, check_x, check_y
from horseshoe.data.view import View
from horseshoe.estimators.selector import remember_columns, same_columns
from horseshoe.families import Family, resolve_family
from horseshoe.threads import one_thread

NOT_EXACT = (
    "partial_fit is exact for family='gaussian' alone, whose fit hangs on sums over the rows, and {} is not: "
    "use fit, for which X may be a memory map or a Parquet file that is read in parts (docs/scale.md)"
)


class Chunk(NamedTuple):
    """Some rows with a positive weight; ``number`` are their places among all rows that came."""

    columns: View
    y: Vector
    weights: Vector | None
    number: Any


class IfExact:
    """A method that an estimator has only where it is exact; elsewhere, asking for it says what to do."""

    def __init__(self, method: Any) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, model: Any, owner: Any = None) -> Any:
        """Return the method, or refuse."""
        if model is None:
            return self._method
        try:
            family = resolve_family(getattr(model, "family", "cox"))
        except (TypeError, ValueError):  # a family that is none: `fit` says so
            family = None
        if not getattr(family, "constant_weights", family is None and hasattr(model, "family")):
            raise AttributeError(NOT_EXACT.format(type(family or model).__name__))
        return MethodType(self._method, model)


class Streamed:
    """`partial_fit` and `fit_chunks`, for estimators that say how chunks add up and how sums are fitted.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(40.0)
    >>> chunks = ((part[:, None], 3.0 * part + np.cos(part)) for part in np.split(x, 4))
    >>> HorseshoeRegressor().fit_chunks(chunks).coef_.round(2)
    array([3.])
    """

    family: Any
    weight_type: Any
    n_features_in_: int

    @IfExact
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on with more rows: the fit to all rows so far, from their sums, to rounding what `fit` finds.

        For a Gaussian response only. The rows are not kept, so what needs them one by one is not to be had.
        After `fit` the rows of that fit come first. Each call fits anew; `fit_chunks` fits once, at the end.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`: as many columns each time, and any number of rows.

        Returns
        -------
        Self
            Itself.
        """
        with one_thread():
            self._add(False, X, y, sample_weight)
            self._fit_sums()
        return self

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in one pass.

        Parameters
        ----------
        chunks : iterable
            Of pairs (X, y) or triples (X, y, sample_weight).

        Returns
        -------
        Self
            Itself.
        """
        self.__dict__.pop("_sums", None)
        self.__dict__.pop("_training", None)
        for number, chunk in enumerate(chunks):
            if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
                raise ValueError(f"chunk {number} must be a pair (X, y) or a triple (X, y, sample_weight)")
            try:
                with one_thread():
                    self._add(number == 0, *chunk)
            except ValueError as error:
                raise ValueError(f"chunk {number}: {error}") from error
        if "_sums" not in self.__dict__:
            raise ValueError("there are no chunks: give at least one, with rows")
        with one_thread():
            self._fit_sums()
        return self

    def _add(self, first: bool, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Add the sums of some rows to those so far, or begin with them."""
        _check_family(resolve_family(self.family))
        columns = check_x(X)
        n, p = columns.shape
        sums = None if first else self._sums_so_far()
        if sums is None:
            remember_columns(self, X, p)
        else:
            same_columns(self, X, columns)
        response = check_y(y, n)
        weights = _check_weights(sample_weight, n)
        start = 0 if sums is None else sums.n_given
        number = start + np.arange(n)
        chunk = Chunk(columns, response, weights, number)
        if weights is not None and not weights.all():
            some = weights > 0.0
            chunk = Chunk(columns.rows(some), response[some], weights[some], number[some])
        self._sums = self._summed(sums, chunk)._replace(n_given=start + n)

    def _sums_so_far(self) -> Sums | None:
        found: Sums | None = self.__dict__.get("_sums")
        if found is not None or "coef_" not in self.__dict__:
            return found
        rows = self._rows_of_fit()
        if rows is None:
            raise ValueError(
                "this model holds neither rows nor sums to go on from, as after load_model or a copy of a "
                "fit: begin with a new estimator"
            )
        if np.any(rows.offset) or (rows.weights is not None and self.weight_type != "count"):
            raise ValueError(
                "partial_fit does not go on from a fit with an offset, nor from weights of which only the "
                "proportions mattered: begin with a new estimator"
            )
        chunk = Chunk(rows.columns, rows.y, rows.weights, np.arange(rows.y.size))
        return self._summed(None, chunk)._replace(n_given=rows.n_seen)

    def _rows_of_fit(self) -> Rows | None:
        """Return the rows that `fit` was given, as long as they are at hand."""
        training = self.__dict__.get("_training")
        return None if training is None else training.rows

    def _summed(self, sums: Sums | None, chunk: Chunk) -> Sums:
        raise NotImplementedError

    def _fit_sums(self) -> None:
        raise NotImplementedError


class Sums(NamedTuple):
    """The sums so far: of all rows, or of each fold; and how many rows were given."""

    parts: tuple[CrossProducts, ...]
    n_given: int = 0

    def plus(self, number: int, more: CrossProducts) -> Sums:
        """Return them with those of more rows in one part."""
        parts = list(self.parts)
        parts[number] = parts[number].plus(more)
        return self._replace(parts=tuple(parts))

    def scaled(self, weight_type: str) -> tuple[CrossProducts, ...]:
        """Return the sums with weights as counts; "precision" makes their mean 1."""
        if weight_type == "count":
            return self.parts
        factor = sum(part.n_rows for part in self.parts) / sum(part.weight for part in self.parts)
        return tuple(part.times(factor) for part in self.parts)


def products_of(columns: View, y: Vector, weights: Vector | None) -> CrossProducts:
    """Return the cross-products of rows, wherever their columns live.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> products_of(Dense(np.eye(2)), np.array([1.0, 3.0]), None).mean
    array([0.5, 0.5, 2. ])
    """
    return columns.cross_products(y, weights)


def check_sums(products: CrossProducts, names: Any) -> None:
    """Refuse sums that are out of range, by the column."""
    if products.n_rows == 0:
        raise ValueError("no row has a positive weight: at least one needs it")
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


def _check_family(family: Family) -> None:
    if not family.constant_weights:
        raise ValueError(NOT_EXACT.format(type(family).__name__))
