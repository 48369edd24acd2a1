"""Where EM starts on a least-squares problem."""

from __future__ import annotations

import numpy as np

from horseshoe._types import Start, Vector
from horseshoe.data.problem import LeastSquares

FAINT = 1e-12
"""What is so much smaller than its marginal E[b^2] only fades: the prior divides it by 2A an iteration."""


def paper_start(problem: LeastSquares, expected_rss: float = 1e10) -> Start:
    """Return the start of Algorithm 1: marginal least squares, and a noise variance beyond all bounds.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> paper_start(plain(np.eye(2), np.array([3.0, 0.0]))).mean
    array([3., 0.])
    """
    mean = _marginal(problem, problem.xz)
    return Start(mean, mean * mean, expected_rss)


def variance_start(problem: LeastSquares) -> Start:
    """Return marginal least squares with the noise variance at that of the targets.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> variance_start(plain(np.eye(2), np.array([3.0, 0.0]))).expected_rss
    9.0
    """
    return paper_start(problem, expected_rss=problem.targets.zz)


def marginal_start(problem: LeastSquares, expected_rss: float) -> Start:
    """Return marginal least squares, with E[b^2] less the variance that noise alone gives it.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> marginal_start(plain(np.eye(2), np.array([3.0, 0.5])), 2.0).second_moment
    array([8., 0.])
    """
    mean, variance = _marginal(problem, problem.xz), _marginal(problem, np.ones_like(problem.xz))
    return Start(mean, np.maximum(mean * mean - variance, 0.0), expected_rss)


def earlier_start(
    problem: LeastSquares, coef: Vector, variance: Vector, sigma2: float, again: bool = True
) -> Start:
    """Return a start at an earlier fit; what was zero there starts from its fit to the residual.

    Zero is absorbing, so a coefficient that starts at zero could never enter: give it marginal least
    squares on what the earlier fit leaves, unless it is not to be tried ``again``.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem = plain(np.eye(2), np.array([3.0, 1.0]))
    >>> earlier_start(problem, np.array([2.5, 0.0]), np.array([0.1, 0.0]), 0.5).second_moment
    array([6.35, 1.  ])
    >>> earlier_start(problem, np.array([2.5, 0.0]), np.array([0.1, 0.0]), 0.5, again=False).second_moment
    array([6.35e+00, 1.00e-12])
    """
    left = _marginal(problem, problem.left_pull(coef))
    chance = left * left if again else FAINT * left * left
    second = np.where(coef != 0.0, coef * coef + variance, chance)
    return Start(coef, second, sigma2 * problem.total_weight)


def _marginal(problem: LeastSquares, pull: Vector) -> Vector:
    return np.divide(pull, problem.squares, out=np.zeros_like(pull), where=problem.squares > 0.0)
