"""Poisson regression along a path of penalties: elastic net, MCP and SCAD, by coordinate descent.

Neither python-glmnet nor skglm has all of these, so they are found as in `descent`: each cycle takes new
weights w = mu and residuals, then moves one coefficient after the other. Columns are standardised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, cast

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.paper.peers.descent import EPS, MOST_CYCLES, firm

SATURATED = 0.01
"""The share of the null deviance that ends a path, as ncvreg's."""
FARTHEST = 30.0
"""Logs of means are held within this."""
PENALTY = {"elastic": 0, "MCPenalty": 1, "SCAD": 2}


def _target(u: float, v: float, size: float, shape: float, penalty: int) -> float:
    """Return the minimiser of v b^2 / 2 - u b + penalty; ``shape`` is alpha of the elastic net, or gamma."""
    if penalty == 0:
        left = abs(u) - size * shape
        return math.copysign(left, u) / (v + size * (1.0 - shape)) if left > 0.0 else 0.0
    return firm(u, size, shape, penalty == 2) / v


def _reweight(y: Vector, eta: Vector, w: Vector, r: Vector) -> float:
    """Put weights and working residuals in place, and return the deviance."""
    deviance = 0.0
    for i in range(y.size):
        log_mean = min(max(eta[i], -FARTHEST), FARTHEST)
        mean = math.exp(log_mean)
        deviance += 2.0 * (mean - y[i])
        if y[i] > 0.0:
            deviance += 2.0 * y[i] * (math.log(y[i]) - log_mean)
        w[i] = max(mean, 1e-4)
        r[i] = (y[i] - mean) / w[i]
    return deviance


def _cycle(
    Z: Matrix,
    b: Vector,
    w: Vector,
    r: Vector,
    eta: Vector,
    size: float,
    shape: float,
    penalty: int,
    all_: bool,
) -> float:
    """Move the intercept and the coefficients, all or those that are not zero; return the largest change."""
    n, p = Z.shape
    move = (w * r).sum() / w.sum()
    r -= move
    eta += move
    b[0] += move
    largest = abs(move)
    for j in range(p):
        if not all_ and b[j + 1] == 0.0:
            continue
        slope, v = 0.0, 0.0
        for i in range(n):
            slope += w[i] * Z[i, j] * r[i]
            v += w[i] * Z[i, j] * Z[i, j]
        v /= n
        if v == 0.0:
            continue
        move = _target(slope / n + v * b[j + 1], v, size, shape, penalty) - b[j + 1]
        if move != 0.0:
            b[j + 1] += move
            for i in range(n):
                r[i] -= move * Z[i, j]
                eta[i] += move * Z[i, j]
            largest = max(largest, abs(move) * math.sqrt(v))
    return float(largest)


def _descend(Z: Matrix, y: Vector, penalties: Vector, shape: float, penalty: int) -> tuple[Matrix, int]:
    """Return intercepts and coefficients, a column for each penalty, and how many columns there are."""
    b = np.zeros(Z.shape[1] + 1)
    b[0] = math.log(y.mean())
    eta, w, r = np.full(y.size, b[0]), np.ones(y.size), np.zeros(y.size)
    null = _reweight(y, eta, w, r)
    found = np.zeros((b.size, penalties.size))
    cycles = 0
    for k in range(penalties.size):
        all_ = True
        size = penalties[k] * (1.0 + 1e-9)  # so that rounding lets nothing in at the largest
        while True:
            if cycles == MOST_CYCLES or _reweight(y, eta, w, r) < SATURATED * null:
                return found, k
            cycles += 1
            change = _cycle(Z, b, w, r, eta, size, shape, penalty, all_)
            if change >= EPS:
                all_ = False  # the others wait until these stand still
            elif all_:
                break
            else:
                all_ = True
        found[:, k] = b
    return found, penalties.size


@cache
def _compiled() -> Callable[..., Any]:
    """Compile the loops, once in each process."""
    njit = require("numba", extra="experiments").njit
    scope = dict(globals())
    for function in (firm, _target, _reweight, _cycle, _descend):
        scope[function.__name__] = njit(FunctionType(function.__code__, scope))
    return cast("Callable[..., Any]", scope["_descend"])


def count_path(Z: Matrix, y: Vector, penalties: Vector, shape: float, penalty: str) -> Matrix:
    """Return the path of standardised columns: intercept and coefficients, a column for each penalty.

    It ends early where the model is saturated or the cycles are used up.

    Examples
    --------
    >>> Z = np.asfortranarray([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([1.0, 7.0, 1.0, 7.0])
    >>> count_path(Z, y, np.array([3.0, 1.0]), 1.0, "elastic").round(2)  # the slope at zero is 3
    array([[1.39, 1.24],
           [0.  , 0.55],
           [0.  , 0.  ]])
    """
    found, size = _compiled()(Z, y, penalties, shape, PENALTY[penalty])
    return np.asarray(found[:, :size])
