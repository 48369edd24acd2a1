"""Many means from one observation each: appendix A of the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from farrier._types import FitResult, Status
from farrier.data.design import Identity, mean_square
from farrier.data.validation import check_y
from farrier.em import loop as em
from farrier.em.mstep import SIGMA2_FLOOR
from farrier.estimators.regressor import HorseshoeRegressor
from farrier.estimators.settings import em_options
from farrier.model import empty_result
from farrier.priors import GlobalPrior, LocalPrior, resolve_global, resolve_local


def normal_means(
    y: Any,
    sigma2: str | float = "estimate",
    prior: str | LocalPrior = "horseshoe",
    coordinate: float = 2.0,
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
    prior, coordinate, tau, tau_max, tol, max_iter, zero_threshold
        As in `HorseshoeRegressor`; the unit of ``zero_threshold`` is the root mean square of y.

    Returns
    -------
    FitResult
        ``coef`` are the estimated means, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> from farrier import normal_means
    >>> normal_means([0.3, -0.2, 8.0, 0.5, -0.1, 0.2], sigma2=1.0).coef.round(2)
    array([0.  , 0.  , 7.49, 0.  , 0.  , 0.  ])
    """
    params = HorseshoeRegressor(
        coordinate=coordinate, sigma2=sigma2, tol=tol, max_iter=max_iter, zero_threshold=zero_threshold
    )
    options = em_options(params)
    local, global_ = resolve_local(prior), resolve_global(tau, tau_max)
    vector = np.asarray(None if hasattr(y, "nnz") else y)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"y must be a dense array of one dimension, at least one value long; got shape {vector.shape}"
        )
    vector = check_y(vector, vector.size)
    scale = float(np.sqrt(mean_square(vector[:, None], None)[0]))
    if scale == 0.0:
        return empty_result(Status.CONSTANT_RESPONSE, vector.size, float(vector.size), global_)
    if isinstance(options.sigma2, float):
        options = options._replace(sigma2=max(options.sigma2 / scale**2, SIGMA2_FLOOR))
    return _rescale(em.solve(Identity(vector / scale), local, global_, options), scale)


def _rescale(result: FitResult, scale: float) -> FitResult:
    """Return a fit of z as a fit of ``scale * z``."""
    moments, covariance = result.moments, result.covariance
    if covariance is not None:
        covariance = covariance.rescale(np.full(covariance.diagonal.size, scale))
    return replace(
        result,
        coef=result.coef * scale,
        scales=result.scales._replace(sigma2=result.scales.sigma2 * scale**2),
        moments=moments._replace(
            mean=moments.mean * scale,
            variance=moments.variance * scale**2,
            expected_rss=moments.expected_rss * scale**2,
        ),
        covariance=covariance,
        intercept_variance=0.0,
    )
