"""The covariance of coefficients that are shrunk and of those beside them that are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Covariance, Mask, Matrix


def joint(given: Any, sigma2: float, of: Mask, loads: Matrix, variance: Matrix) -> Covariance:
    """Return the covariance of some coefficients b and, behind them, of e - loads b, e of this variance.

    ``given`` are the coefficients given the scales, all of them; None where there are none.

    Examples
    --------
    >>> none = np.zeros(0, dtype=np.bool_)
    >>> joint(None, 1.0, none, np.zeros((1, 0)), np.array([[4.0]])).variance
    array([4.])
    """
    q, own = len(variance), np.asarray(np.linalg.cholesky(variance).T, dtype=np.float64)
    if given is None:
        return Covariance(np.zeros(q), own, 1.0)
    found = given.covariance(sigma2)
    both = np.hstack([found.factor[:, of], -(found.factor @ loads.T)])
    if found.sign < 0.0 or found.diagonal.any():  # no factor of the whole is at hand
        pull = -(found.diagonal * loads)
        whole = np.block([[np.diag(found.diagonal[of]), pull[:, of].T], [pull[:, of], -pull @ loads.T]])
        values, vectors = np.linalg.eigh(whole + found.sign * (both.T @ both))
        both = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    more = np.hstack([np.zeros((q, both.shape[1] - q)), own])
    return Covariance(np.zeros(both.shape[1]), np.vstack([both, more]), 1.0)
