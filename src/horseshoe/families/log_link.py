"""What families with a log link have in common."""

from __future__ import annotations

import math

import numpy as np

from horseshoe._types import Vector
from horseshoe.families.base import EXTREME, Family

# Counts, or amounts, are below this: the squares of their means must be finite.
LARGEST = 1e50


class LogLink(Family):
    """Families whose mean is exp(eta)."""

    log_link = True
    positive_only = True
    wide_start: str | None = "marginal"

    def check_offset(self, offset: Vector) -> None:
        """Refuse logarithms of exposures that are out of range."""
        far = np.abs(offset) > EXTREME
        if far.any():
            row = int(np.argmax(far))
            raise ValueError(
                f"offset in row {row} is {offset[row]:g}, and its exponential is out of range: "
                "for a log link it is the logarithm of the exposure"
            )

    def mean(self, eta: Vector) -> Vector:
        """Return exp(eta)."""
        return np.exp(np.clip(eta, -EXTREME, EXTREME))

    def link(self, mean: Vector) -> Vector:
        """Return the logarithm."""
        return np.log(np.maximum(mean, math.exp(-EXTREME)))


def draw_poisson(mean: Vector, rng: np.random.Generator) -> Vector:
    """Draw counts; a mean too large for whole numbers gets a normal one.

    Examples
    --------
    >>> draw_poisson(np.array([0.0, 1e40]), np.random.default_rng(0)) > 0.0
    array([False,  True])
    """
    small = np.minimum(mean, 1e15)
    far = mean + np.sqrt(mean) * rng.standard_normal(mean.shape)
    return np.where(mean > small, np.round(far), rng.poisson(small).astype(np.float64))
