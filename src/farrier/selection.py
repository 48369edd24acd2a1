"""From draws, none of which is zero, to the few columns that matter."""

from __future__ import annotations

from typing import NamedTuple

from farrier._types import Mask, Vector


class Selection(NamedTuple):
    """Which columns are selected, with coefficients that are zero for the others."""

    support: Mask
    coef: Vector
    intercept: float
