"""The coefficients given the data and the scales, in the form that fits the shape.

With D = diag(tau2 lambda2) they are N(m, sigma2 (X'X + D^-1)^-1). No form inverts D, which would overflow as
null coefficients vanish, and none has a p x p matrix when p > n. EM asks for moments, the sampler for draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from horseshoe._types import Matrix, Moments, Vector
from horseshoe.conditional.dual import Dual, DualKernel
from horseshoe.conditional.orthogonal import Orthogonal
from horseshoe.conditional.primal import Primal, PrimalKernel
from horseshoe.data.problem import LeastSquares


class Conditional(Protocol):
    """b given the scales; variances are in units of sigma2."""

    @property
    def mean(self) -> Vector:
        """E[b]."""

    @property
    def rss(self) -> float:
        """||z - X E[b]||^2."""

    @property
    def log_det(self) -> float | None:
        """Log det M, M = I + X D X', or None where the variances are approximate."""

    @property
    def fit_trace(self) -> float:
        """tr(X'X Cov[b]) / sigma2."""

    def variance(self) -> Vector:
        """Return Var[b_j] / sigma2."""

    def mean_of(self, targets: Matrix) -> Matrix:
        """Return E[b] for each column of other targets."""

    def solve_for(self, pull: Matrix) -> Matrix:
        """Return (X'X + D^-1)^-1 times each column of a matrix."""


# From a problem and the prior variances to the coefficients given them.
Form = Callable[[LeastSquares, Vector], Conditional]
# Exact ones: they can be drawn from, and have a covariance and z' M^-1 z too.
Drawable = Primal | Dual | Orthogonal
# What does not depend on tau2: formed once, factorised at each value of it.
Kernel = PrimalKernel | DualKernel | Orthogonal


def kernel(problem: LeastSquares, prior_variance: Vector) -> Kernel:
    """Return Rue's form for k <= n, Bhattacharya's for k > n, and the closed one for orthogonal columns.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe.data.problem import plain
    >>> given = kernel(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2)).at(tau2=1.0)
    >>> given.mean, round(given.quadratic, 6), round(given.log_det, 4)
    (array([2., 0.]), 8.0, 1.3863)
    """
    if problem.columns.orthogonal:
        return Orthogonal(problem, prior_variance)
    n, k = problem.shape
    return (PrimalKernel if k <= n else DualKernel)(problem, prior_variance)


def condition(problem: LeastSquares, prior_variance: Vector) -> Drawable:
    """Return the coefficients given the prior variances, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe.data.problem import plain
    >>> given = condition(plain(np.eye(2), np.array([4.0, 0.0])), np.array([1.0, 3.0]))
    >>> given.mean, given.variance()
    (array([2., 0.]), array([0.5 , 0.75]))
    """
    return kernel(problem, prior_variance).once()


def moments(given: Conditional, sigma2: float) -> Moments:
    """Return what an E-step says of the coefficients, Eqs. (7)-(12).

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe.data.problem import plain
    >>> found = moments(condition(plain(np.eye(2), np.array([4.0, 0.0])), np.ones(2)), 0.5)
    >>> round(found.expected_rss, 9), found.variance.round(9)
    (4.5, array([0.25, 0.25]))
    """
    variance = given.variance()
    trace = given.fit_trace
    return Moments(given.mean, sigma2 * variance, given.rss + sigma2 * trace, trace, given.log_det)


def moments_of_several(
    given: Conditional, problem: LeastSquares, sigma2: Any, targets: Matrix, pull: Matrix
) -> Moments:
    """Return what an E-step says of the coefficients of several responses, by one factor.

    ``pull`` is X'Z; each response has its own noise variance.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe.data.problem import plain
    >>> problem, z = plain(np.eye(2), np.zeros(2)), np.array([[4.0, 2.0], [0.0, 0.0]])
    >>> moments_of_several(condition(problem, np.ones(2)), problem, np.ones(2), z, z).mean
    array([[2., 1.],
           [0., 0.]])
    """
    n, k = problem.shape
    mean = given.mean_of(targets) if k > n else given.solve_for(pull)
    residual = targets - problem.weighted.matvec(mean)
    variance, trace = np.multiply.outer(given.variance(), sigma2), given.fit_trace
    rss = np.einsum("ij,ij->j", residual, residual)
    return Moments(mean, variance, rss + sigma2 * trace, trace, given.log_det)
