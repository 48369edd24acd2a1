"""R bayesreg 1.3 on the diabetes data, measured once on the same kind of machine: R is not part of the run.

One chain of 1000 + 10,000 iterations. ``ERRORS`` are the Monte Carlo standard errors of its posterior means.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.arrays import Array

LABEL = "R bayesreg 1.3 (quoted)"
SIZE = "1 x (1000 + 10000)"
CPU = 2.5
ERRORS = {
    "age": 0.0014,
    "sex": 0.085,
    "bmi": 0.0086,
    "bp": 0.0027,
    "s1": 0.0051,
    "s2": 0.0037,
    "s3": 0.011,
    "s4": 0.097,
    "s5": 0.13,
    "s6": 0.0046,
}


def effective(sd: ArrayLike) -> Array:
    """Effective samples of each coefficient, from its posterior standard deviation: (sd / error)^2."""
    ratios: Array = np.asarray(sd, dtype=float) / np.array(list(ERRORS.values()))
    return ratios**2
