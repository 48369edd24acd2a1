"""Where EM starts on a least-squares problem."""

from __future__ import annotations

import numpy as np

from farrier._types import Start, Vector
from farrier.data.design import System


def paper_start(system: System, expected_rss: float = 1e10) -> Start:
    """Return the start of Algorithm 1: marginal least squares, and a noise variance beyond all bounds.

    Examples
    --------
    >>> paper_start(System(np.eye(2, order="F"), np.array([3.0, 0.0]), size=2.0)).mean
    array([3., 0.])
    """
    mean = np.divide(system.xz, system.column_ss, out=np.zeros_like(system.xz), where=system.column_ss > 0.0)
    return Start(mean, mean * mean, expected_rss)


def variance_start(system: System) -> Start:
    """Return marginal least squares with the noise variance at that of the targets.

    Examples
    --------
    >>> variance_start(System(np.eye(2, order="F"), np.array([3.0, 0.0]), size=2.0)).expected_rss
    9.0
    """
    return paper_start(system, expected_rss=system.zz)


def earlier_start(system: System, coef: Vector, variance: Vector, sigma2: float) -> Start:
    """Return a start at an earlier fit; what was zero there starts from its fit to the residual.

    Zero is absorbing, so a coefficient that starts at zero could never enter: give it marginal least
    squares on what the earlier fit leaves.

    Examples
    --------
    >>> system = System(np.eye(2, order="F"), np.array([3.0, 1.0]), size=2.0)
    >>> earlier_start(system, np.array([2.5, 0.0]), np.array([0.1, 0.0]), 0.5).second_moment
    array([6.35, 1.  ])
    """
    left = paper_start(System(system.x, system.residual(coef), system.size))
    second = np.where(coef != 0.0, coef * coef + variance, left.second_moment)
    return Start(coef, second, sigma2 * system.size)
