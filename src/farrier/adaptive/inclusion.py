"""How sure each column is in."""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier._types import Vector
from farrier.adaptive.average import Average
from farrier.adaptive.sets import Sets


def calibrated(sets: Sets, found: Average, fits: list[Any]) -> Vector:
    """Return how sure each column is in: the weighted share of the fits that have it."""
    return np.clip(found.inclusion, 0.0, 1.0)
