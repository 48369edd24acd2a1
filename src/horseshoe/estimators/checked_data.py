"""The data of a fit as users hand them in, checked: y as the family sees it, weights, offsets, responses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.checks import read_array
from horseshoe.data.offsets import check_known
from horseshoe.data.responses import check_responses, refuse_several_responses
from horseshoe.data.rows import Rows, known_rows
from horseshoe.data.validation import check_labels, check_x, check_y
from horseshoe.data.view import View
from horseshoe.estimators.convergence import weigh
from horseshoe.families import Family, Ordered, Response, resolve_family


class RegressionData(NamedTuple):
    """Rows that count, of one response or of several.

    Attributes
    ----------
    rows : Rows
        With the first of several responses.
    family : Family
        With what it learned of y.
    given : array of shape (n,) or (n, n_outputs)
        y of all rows, those without a weight included.
    labels : array, optional
        The two labels of a binomial response.
    outputs : tuple of str
        The names of several responses.
    """

    rows: Rows
    family: Family
    given: Any
    labels: Any = None
    outputs: tuple[str, ...] = ()

    @property
    def each(self) -> tuple[Rows, ...]:
        """The rows with each of several responses."""
        values = self.given if self.rows.number is None else self.given[self.rows.number]
        return tuple(self.rows._replace(y=one.copy()) for one in values.T)


def check_regression(
    X: Any,
    y: Any,
    family: str | Family,
    weight_type: str,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    *,
    two_labels: bool = False,
) -> tuple[View, RegressionData]:
    """Return the columns of X, and the rows that count; ``two_labels`` says whether y may be labels.

    Examples
    --------
    >>> columns, data = check_regression([[1], [2], [3]], [1, 2, 4], "gaussian", "count", [1, 0, 2])
    >>> columns.shape, data.rows.y, data.family
    ((3, 1), array([1., 4.]), Gaussian())
    """
    family, columns = resolve_family(family), check_x(X)
    n = columns.shape[0]
    several = check_responses(y, n)
    if several is not None and not family.constant_weights:
        refuse_several_responses(y, n, f"the family {type(family).__name__}", family.several)
    weights = weigh(sample_weight, n, weight_type)
    first = y if several is None else several.values[:, 0]
    family, response = learned(family, first, n, weights, two_labels)
    known = check_known(offset, exposure, n, family)
    family.check_offset(np.asarray(known))
    rows = known_rows(columns, response.values, weights, known)
    family = family.adapt_to(rows.y, rows.counts, rows.offset)
    if several is not None:
        return columns, RegressionData(rows, family, several.values, outputs=several.names)
    return columns, RegressionData(rows, family, response.values, response.labels)


def learned(
    family: Family, y: Any, n_rows: int, weights: Vector | None, two_labels: bool = False
) -> tuple[Family, Response]:
    """Return the family with what it has to know of y before a fit, and y as the family sees it.

    ``two_labels`` says whether labels will do for two classes too.

    Examples
    --------
    >>> from horseshoe.families import Ordinal
    >>> family, response = learned(Ordinal(levels=["low", "high"]), ["high", "low", "high"], 3, None)
    >>> response.values, family.levels_
    (array([1., 0., 1.]), array(['low', 'high'], dtype='<U4'))
    """
    given = _checked(y, n_rows, isinstance(family, Ordered) or (two_labels and family.is_binary))
    if isinstance(family, Ordered) and weights is not None:  # rows without weight may be of any level
        given = np.where(weights > 0.0, given, given[np.argmax(weights > 0.0)])
    family = family.learn(given, weights, _order(y))
    return family, family.encode(given)


def encoded(family: Family, y: Any, n_rows: int) -> Vector:
    """Return y as a fitted family sees it.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> encoded(Poisson(), [1, 2], 2)
    array([1., 2.])
    """
    return family.encode(_checked(y, n_rows, isinstance(family, Ordered))).values


def _checked(y: Any, n_rows: int, takes_labels: bool) -> Any:
    """Return y as an array: of labels where it holds such and the family takes them."""
    labels = takes_labels and y is not None and read_array("y", y).dtype.kind in "OUSb"
    return check_labels(y, n_rows) if labels else check_y(y, n_rows)


def _order(y: Any) -> Any:
    """Return the order of the categories of y, if it has one."""
    dtype: Any = getattr(y, "dtype", None)
    return dtype.categories if getattr(dtype, "ordered", False) else None
