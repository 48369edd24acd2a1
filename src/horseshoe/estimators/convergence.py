"""Warnings and remarks on how a fit ended, and on weights that are small."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from horseshoe._checks import check_choice
from horseshoe._types import Status, Vector
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.validation import check_weights

# Weights that add up to less than this share of the rows are pointed out.
WEIGHT_TYPES = ("count", "precision")
LIGHT = 0.1
# The statuses that are warned of.
UNFINISHED = (Status.MAX_ITER, Status.STALLED, Status.UNSETTLED)


def check_weight_type(weight_type: Any) -> str:
    """Return what sample weights mean.

    Examples
    --------
    >>> check_weight_type("count")
    'count'
    """
    return check_choice("weight_type", weight_type, WEIGHT_TYPES)


def weigh(sample_weight: Any, n_rows: int, weight_type: Any) -> Vector | None:
    """Return the weights as numbers of rows; "precision" makes their mean 1 where they are positive.

    Examples
    --------
    >>> weigh([0.01, 0.03, 0.0], 3, "precision")
    array([0.5, 1.5, 0. ])
    """
    if check_weight_type(weight_type) == "count":
        return check_weights(sample_weight, n_rows)
    weights = check_weights(sample_weight, n_rows, any_total=True)
    if weights is None:
        return None
    shares = weights / weights.max()  # whose sum cannot overflow
    return check_weights(shares / shares[shares > 0.0].mean(), n_rows)


def remark_weights(fitted: Fitted, rows: Rows) -> Fitted:
    """Return the fit with a word on weights that add up to far less than the number of rows."""
    status = fitted.result.status
    if rows.weights is None or status not in (Status.CONVERGED, Status.NOTHING_SELECTED):
        return fitted
    if float(rows.weights.sum()) >= LIGHT * rows.n_seen:
        return fitted
    return replace(fitted, result=fitted.result.with_status(Status.LIGHT_WEIGHTS))


def warn_unfinished(status: Status | Sequence[Status], classes: Sequence[Any] = ()) -> None:
    """Warn the caller of the caller if a fit did not converge; of several, say for which classes.

    Examples
    --------
    >>> warn_unfinished(Status.CONVERGED)
    """
    if isinstance(status, Status):
        if status in UNFINISHED:
            _warn(str(status))
        return
    for ended in UNFINISHED:
        named = [repr(label) for label, one in zip(classes, status, strict=True) if one is ended]
        if named:
            _warn(f"{ended} (of the classes {', '.join(named)} against the rest)")


def first_remark(statuses: Sequence[Status]) -> Status:
    """Return the first ending of several regressions that is none, else the first that says more than that.

    Examples
    --------
    >>> first_remark([Status.CONVERGED, Status.NO_NOISE]).name
    'NO_NOISE'
    """
    unfinished = [status for status in statuses if not status.converged]
    constant = (Status.CONVERGED, Status.CONSTANT_RESPONSE)
    remarks = [status for status in statuses if status not in constant]
    settled = [Status.CONVERGED] if Status.CONVERGED in statuses else []
    return (*unfinished, *remarks, *settled, Status.CONSTANT_RESPONSE)[0]


def warn_unfinished_mode(status: Status) -> None:
    """Warn the caller of the caller if the mode around which chains start is none.

    Examples
    --------
    >>> warn_unfinished_mode(Status.CONVERGED)
    """
    if status in UNFINISHED:
        _warn(
            "the fit around which the chains start did not converge: posterior.mode is not quite the mode; "
            "the draws only start there"
        )


def _warn(text: str) -> None:
    from sklearn.exceptions import ConvergenceWarning  # imported here: most fits never need it

    warnings.warn(text, ConvergenceWarning, stacklevel=4)
