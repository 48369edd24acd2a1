"""The covariance of the coefficients at the end of a fit, with that of the unpenalised ones behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Covariance, Mask, Matrix, Vector
from horseshoe.conditional.base import condition
from horseshoe.data.adjusted import Free
from horseshoe.em.state import State


class Uncertainty(NamedTuple):
    """Cov[b], and the variance of the linear predictor at the columns' values ``center``.

    ``at_information`` says that they come from the expected information, and not from the working weights;
    ``free`` is the centre of the unpenalised columns, whose coefficients are then behind the others in
    Cov[b]; ``family`` is that of an ordinal outcome, with the standard errors of its thresholds.
    """

    covariance: Covariance | None
    center: Vector
    intercept_variance: float
    at_information: bool = False
    free: Vector | None = None
    family: Any = None


class Independent(NamedTuple):
    """Coefficients of which the variances alone are known."""

    variance: Vector

    def covariance(self, sigma2: float, of: Mask | None = None) -> Covariance:
        """Return these variances, of all or of some of the coefficients."""
        variance = self.variance if of is None else self.variance[of]
        return Covariance(variance, np.zeros((0, variance.size)), 1.0)


def covariances(
    state: State, of: Mask, diagonal: bool = False, loads: Matrix | None = None, own: Any = None
) -> list[Covariance | None]:
    """Return Cov[b] of the coefficients in ``of``, for each response; None where there are none.

    ``diagonal`` takes the variances of the last E-step alone. With ``loads`` the unpenalised coefficients
    e - loads b are behind them, where e has the variance ``own``, one for each response.
    """
    sigma2 = np.array(state.scales.sigma2, ndmin=1).tolist()
    q = len(sigma2)
    given: list[Any] = [None] * q
    if diagonal and state.moments is not None:
        given = [Independent(one) for one in state.moments.variance.T.reshape(q, -1)]
    elif len(state.mean) and (loads is not None or of.any()):
        given = [condition(state.problem, state.scales.prior_variance)] * q
    each = zip(given, sigma2, of.T.reshape(q, -1), strict=True)
    if loads is None:
        return [one.covariance(s2, mask) if mask.any() else None for one, s2, mask in each]
    return [joint(*one, loads, variance) for one, variance in zip(each, own, strict=True)]


def sample_weighted(state: State, of: Mask, free: Free, center: Vector, diagonal: bool) -> list[Uncertainty]:
    """Return the uncertainty where the weights are those of the sample, in which the basis is orthogonal."""
    q, variances = free.basis.shape[1], np.atleast_1d(state.scales.sigma2) / free.total_weight
    own = [variance * np.eye(q) for variance in variances]
    found = covariances(state, of, diagonal, free.loads[:, state.active], own)
    pairs = zip(found, variances.tolist(), strict=True)
    return [Uncertainty(one, center, variance, free=np.zeros(q)) for one, variance in pairs]


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
