"""Logistic regression with MCP or SCAD along a path, by the coordinate descent that R's ncvreg is known for.

Each cycle takes new weights w and residuals, then moves one coefficient after the other to the minimum of its
own weighted problem. The penalty bends relative to that problem's curvature v = mean(w x^2), so that it is
firm thresholding of mean(w x r) + v b whatever the weights are. skglm has no such penalty.
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

EPS, MOST_CYCLES, SATURATED, SURE = 1e-4, 10_000, 0.01, 1e-4
"""ncvreg's: when a fit has converged, the cycles of a whole path, the share of the null deviance that ends
one, and the probability below which an observation counts as sure."""


def firm(u: float, size: float, gamma: float, scad: bool) -> float:
    """Return the minimiser of (b - u)^2 / 2 + penalty(b).

    Examples
    --------
    >>> [round(firm(u, 1.0, 3.0, scad=False), 6) for u in (0.5, 2.0, 4.0)]
    [0.0, 1.5, 4.0]
    >>> [round(firm(u, 1.0, 3.7, scad=True), 6) for u in (0.5, 2.0, 4.0)]
    [0.0, 1.0, 4.0]
    """
    a = abs(u)
    sign = 1.0 if u > 0.0 else -1.0
    if a <= size:
        return 0.0
    if a > gamma * size:
        return u
    if not scad:
        return sign * (a - size) / (1.0 - 1.0 / gamma)
    if a <= 2.0 * size:
        return sign * (a - size)
    return sign * (a - gamma * size / (gamma - 1.0)) / (1.0 - 1.0 / (gamma - 1.0))


def _reweight(y: Vector, eta: Vector, w: Vector, r: Vector) -> float:
    """Put weights and working residuals in place, and return the deviance."""
    deviance = 0.0
    for i in range(y.size):
        mean = 1.0 / (1.0 + math.exp(-min(max(eta[i], -30.0), 30.0)))
        deviance -= 2.0 * (math.log(mean) if y[i] > 0.5 else math.log(1.0 - mean))
        if mean < SURE or mean > 1.0 - SURE:
            mean = 0.0 if mean < 0.5 else 1.0
            w[i] = SURE
        else:
            w[i] = mean * (1.0 - mean)
        r[i] = (y[i] - mean) / w[i]
    return deviance


def _cycle(
    Z: Matrix, b: Vector, w: Vector, r: Vector, eta: Vector, size: float, gamma: float, scad: bool, all_: bool
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
        move = firm(slope / n + v * b[j + 1], size, gamma, scad) / v - b[j + 1]
        if move != 0.0:
            b[j + 1] += move
            for i in range(n):
                r[i] -= move * Z[i, j]
                eta[i] += move * Z[i, j]
            largest = max(largest, abs(move) * math.sqrt(v))
    return float(largest)


def _descend(Z: Matrix, y: Vector, penalties: Vector, gamma: float, scad: bool) -> tuple[Matrix, int]:
    """Return intercepts and coefficients, a column for each penalty, and how many columns there are."""
    share = y.mean()
    null = -2.0 * y.size * (share * math.log(share) + (1.0 - share) * math.log(1.0 - share))
    b = np.zeros(Z.shape[1] + 1)
    b[0] = math.log(share / (1.0 - share))
    eta, w, r = np.full(y.size, b[0]), np.ones(y.size), np.zeros(y.size)
    found = np.zeros((b.size, penalties.size))
    cycles = 0
    for k in range(penalties.size):
        all_ = True
        while True:
            if cycles == MOST_CYCLES or _reweight(y, eta, w, r) < SATURATED * null:
                return found, k
            cycles += 1
            change = _cycle(Z, b, w, r, eta, penalties[k], gamma, scad, all_)
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
    for function in (firm, _reweight, _cycle, _descend):
        scope[function.__name__] = njit(FunctionType(function.__code__, scope))
    return cast("Callable[..., Any]", scope["_descend"])


def logistic_path(Z: Matrix, y: Vector, penalties: Vector, gamma: float, scad: bool) -> Matrix:
    """Return the path of standardised columns: intercept and coefficients, a column for each penalty.

    It ends early where the model is saturated or the cycles are used up.
    """
    found, size = _compiled()(Z, y, penalties, gamma, scad)
    return np.asarray(found[:, :size])
