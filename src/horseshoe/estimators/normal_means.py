"""Many means from one observation each: appendix A of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import FitResult, Status, Vector, VectorLike
from horseshoe.data.checks import read_array
from horseshoe.data.dense import Identity
from horseshoe.data.fitted import rescale
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import Units, standardise_response
from horseshoe.data.validation import check_y, refuse_masked, refuse_sparse
from horseshoe.em.likelihood import GaussianLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.estimators.convergence import warn_unfinished
from horseshoe.estimators.parameters import ModeParameters, check_sigma2, em_options
from horseshoe.model.fit import empty_result
from horseshoe.priors import GlobalPrior, LocalPrior, resolve_global, resolve_known


def normal_means(
    y: VectorLike,
    sigma2: str | float = "estimate",
    prior: str | LocalPrior = "horseshoe",
    lambda_power: float = 2.0,
    tau: str | float | GlobalPrior = "estimate",
    tau_max: float = 1.0,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    zero_threshold: str | float = "auto",
) -> FitResult:
    """Estimate many means from one observation each: y_i ~ N(b_i, sigma2), appendix A of the paper.

    Parameters
    ----------
    y : array-like of shape (n,)
        The observations.
    sigma2 : "estimate" or float, default="estimate"
        Their variance, if known.
    prior, lambda_power, tau, tau_max, tol, max_iter, zero_threshold
        As in `HorseshoeRegressor`; the unit of ``zero_threshold`` is the root mean square of y.

    Returns
    -------
    FitResult
        ``coef`` are the estimated means, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import normal_means
    >>> normal_means([0.3, -0.2, 8.0, 0.5, -0.1, 0.2], sigma2=1.0).coef.round(2)
    array([0.  , 0.  , 7.49, 0.  , 0.  , 0.  ])
    """
    params = ModeParameters(tol=tol, max_iter=max_iter, zero_threshold=zero_threshold)
    options, known = em_options(params), check_sigma2(sigma2)
    hyper = Hyper(
        resolve_known(prior),
        check_number("lambda_power", lambda_power, high=2.0),
        resolve_global(tau, tau_max),
    )
    vector = _observations(y)
    n = vector.size
    response = standardise_response(vector, None, center=False)
    if response.unit == 0.0:
        return empty_result(Status.CONSTANT_RESPONSE, n, float(n), hyper.tau)
    likelihood = GaussianLikelihood(LeastSquares(Identity(n), Targets(response.values, float(n))))
    units = Units(np.ones(n, dtype=np.bool_), np.zeros(n), np.ones(n), 0.0, response.unit, False)
    known = known if isinstance(known, str) else units.from_sigma2(known)
    result = rescale(solve(likelihood, hyper, options._replace(sigma2=known))[0], units)
    warn_unfinished(result.status)
    return result


def _observations(y: Any) -> Vector:
    refuse_sparse("y", y)
    refuse_masked("y", y)
    vector = read_array("y", y)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"y must be a dense array of one dimension, at least one value long; got shape {vector.shape}"
        )
    return check_y(vector, vector.size)
