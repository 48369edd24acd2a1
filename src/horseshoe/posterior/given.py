"""The rows that a posterior is asked about: new ones, checked, or those that it was drawn for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names

from horseshoe._types import Vector
from horseshoe.data.offsets import check_known
from horseshoe.data.validation import check_labels, check_x, check_y
from horseshoe.data.view import View
from horseshoe.families import Ordered
from horseshoe.posterior.summaries import Summaries


def new_rows(posterior: Summaries, X: Any, offset: Any, exposure: Any) -> tuple[View, Any]:
    """Return new rows, checked, with what is known of their linear predictor."""
    matrix = check_x(X)
    p = posterior.coef.shape[2]
    if matrix.shape[1] != p:
        raise ValueError(f"X has {matrix.shape[1]} columns, but the posterior is that of {p} coefficients")
    names = _get_feature_names(X) if posterior.has_names else None
    pairs = zip(() if names is None else names, posterior.feature_names, strict=False)
    for j, (name, known) in enumerate(pairs):
        if str(name) != known:
            raise ValueError(
                f"column {j} of X is {str(name)!r}, but it was {known!r} when the posterior was drawn: "
                "give the same columns in the same order"
            )
    n_rows = matrix.shape[0]
    return matrix, np.zeros(n_rows) + check_known(offset, exposure, n_rows, posterior.family)


def own_rows(posterior: Summaries, offset: Any, exposure: Any) -> tuple[View, Vector]:
    """Return the rows that the posterior was drawn for, which have their own offset."""
    if offset is not None or exposure is not None:
        name = "exposure" if offset is None else "offset"
        raise ValueError(f"the data of the posterior have their own {name}: leave it out, or give X too")
    return posterior.rows.columns, posterior.rows.offset


def responses(posterior: Summaries, y: Any, n_rows: int) -> Vector:
    """Return responses as numbers, as they were when the posterior was drawn."""
    if isinstance(posterior.family, Ordered):
        return posterior.family.encode(check_labels(y, n_rows)).values
    if posterior.classes is None:
        response = check_y(y, n_rows)
        posterior.family.check(response)
        return response
    labels = check_labels(y, n_rows)
    known = np.isin(labels, posterior.classes)
    if not known.all():
        row = int(np.argmin(known))
        label, classes = labels.tolist()[row], posterior.classes.tolist()
        raise ValueError(f"y in row {row} is {label!r}, which is none of {classes}")
    return np.asarray(labels == posterior.classes[1], dtype=np.float64)
