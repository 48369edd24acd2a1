"""What is known of the linear predictor beforehand: offsets and exposures, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.validation import check_offset


def check_known(offset: Any, exposure: Any, n_rows: int, family: Any) -> Vector | float:
    """Return the offset plus the logarithm of the exposure, one for each row, or 0; either may be one number.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> check_known(1.0, [1.0, 2.0], n_rows=2, family=Poisson())
    array([1.        , 1.69314718])
    """
    known = check_offset(_each_row(offset, n_rows), n_rows)
    if exposure is None:
        return known
    if not family.log_link:
        raise ValueError(
            f"exposure is for families with a log link, such as 'poisson', and {type(family).__name__} has "
            "none: leave it out, or give what is known of the linear predictor as offset"
        )
    return known + _log_exposure(exposure, n_rows)


def _log_exposure(exposure: Any, n_rows: int) -> Vector:
    try:
        values = np.asarray(check_offset(_each_row(exposure, n_rows), n_rows))
    except ValueError as error:
        raise ValueError(str(error).replace("offset", "exposure", 1)) from None
    if (values <= 0.0).any():
        row = int(np.argmax(values <= 0.0))
        raise ValueError(
            f"exposure in row {row} is {values[row]:g}, but exposures must be positive: leave out the rows "
            "that were not exposed"
        )
    return np.asarray(np.log(values))


def _each_row(value: Any, n_rows: int) -> Any:
    """Return one number as one for each row, and anything else as it is."""
    return np.full(n_rows, value) if value is not None and np.ndim(value) == 0 else value
