"""What y means to a family: numbers, labels, or ordered levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.checks import read_array
from horseshoe.data.validation import check_labels, check_y
from horseshoe.families import Family, Ordered, Response


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
