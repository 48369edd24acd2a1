"""A fit with its unpenalised columns, which were projected out, back in their places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from horseshoe._types import Covariance, FitResult, Mask, Vector
from horseshoe.data.adjusted import Free
from horseshoe.linalg import scatter

# In the place of a coefficient that is exactly zero and yet in.
LEAST = 1e-150


def with_unpenalized(result: FitResult, free: Free, shrunk: Mask) -> FitResult:
    """Return a fit to the shrunk columns as one to all columns; ``shrunk`` is the mask of the former.

    The predictor is level + X~ b + B g, X~ = X - B M, so that the coefficients of B are g - M b.
    """
    own, q = ~shrunk, free.turn.shape[0]
    alone = np.ndim(result.intercept) == 0  # of a Gaussian response, from which the rest was taken off
    level = np.atleast_1d(result.intercept)
    found = free.level if alone else level[level.size - q :]
    coef = free.turn @ (found - free.loads @ result.coef)
    coef = np.where(np.abs(coef) < LEAST, LEAST, coef)
    covariance = _turned(result, free, shrunk)
    variance = covariance.variance[_behind(result, shrunk)]
    middle = np.zeros(q) if result.free is None else result.free
    center = np.asarray(np.linalg.solve(free.turn.T, middle), dtype=np.float64)
    moments = result.moments

    def whole(values: Vector, others: Vector) -> Vector:
        out: Vector = scatter(shrunk, values)
        out[own] = others
        return out

    return replace(
        result,
        coef=whole(result.coef, coef),
        intercept=float(level[0]) if alone or level.size > q else 0.0,
        scales=result.scales._replace(lambda2=scatter(shrunk, result.scales.lambda2)),
        moments=moments._replace(mean=whole(moments.mean, coef), variance=whole(moments.variance, variance)),
        active=np.where(own, True, scatter(shrunk, result.active)),
        covariance=covariance,
        center=whole(result.center, center),
        free=None,
    )


def _behind(result: FitResult, shrunk: Mask) -> Mask:
    """Tell which of the columns with coefficients other than zero are unpenalised."""
    whole = np.where(shrunk, scatter(shrunk, result.support), True)
    return np.asarray(~shrunk[whole])


def _turned(result: FitResult, free: Free, shrunk: Mask) -> Covariance:
    """Return the covariance of the coefficients that are not zero, in their places."""
    assert result.covariance is not None
    behind = _behind(result, shrunk)
    given, q = result.covariance.factor, free.turn.shape[0]
    factor = np.empty_like(given)
    factor[:, ~behind], factor[:, behind] = given[:, :-q], given[:, -q:] @ free.turn.T
    return Covariance(np.zeros(behind.size), factor, 1.0)
