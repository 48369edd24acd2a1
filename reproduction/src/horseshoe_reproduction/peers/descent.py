"""Paths of penalised regressions for two classes and for counts, by the coordinate descent of R's ncvreg.

Neither python-glmnet nor skglm has all of these. Each cycle takes new weights w and working residuals, then
moves one coefficient after the other to the minimum of its own weighted problem. The columns are
standardised. MCP and SCAD bend relative to the curvature v = mean(w x^2) of that problem, so that the
minimum is firm thresholding of mean(w x r) + v b, divided by v, whatever the weights are.
"""

from __future__ import annotations

import math

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.peers.compiled import compiled

# ncvreg's: when a fit has converged, the cycles of a whole path, the share of the null deviance that ends
# one, and the least weight of an observation, and the probability below which a class counts as certain.
EPS, MAX_CYCLES, SATURATED, SURE = 1e-4, 10_000, 0.01, 1e-4
# Log odds and logs of means are held within this.
FARTHEST = 30.0
PENALTIES = {"elastic": 0, "MCPenalty": 1, "SCAD": 2}
FAMILIES = {"binomial": 0, "poisson": 1}


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


def _minimiser(u: float, v: float, size: float, shape: float, penalty: int) -> float:
    """Return the minimiser of v b^2 / 2 - u b + penalty; ``shape`` is alpha of the elastic net, or gamma."""
    if penalty == 0:
        left = abs(u) - size * shape
        return math.copysign(left, u) / (v + size * (1.0 - shape)) if left > 0.0 else 0.0
    return firm(u, size, shape, penalty == 2) / v


def _reweight(y: Vector, eta: Vector, w: Vector, r: Vector, family: int) -> float:
    """Put weights and working residuals in place, and return the deviance."""
    deviance = 0.0
    for i in range(y.size):
        held = min(max(eta[i], -FARTHEST), FARTHEST)
        if family == 1:
            mean = math.exp(held)
            deviance += 2.0 * (mean - y[i])
            if y[i] > 0.0:
                deviance += 2.0 * y[i] * (math.log(y[i]) - held)
            w[i] = max(mean, SURE)
        else:
            mean = 1.0 / (1.0 + math.exp(-held))
            deviance -= 2.0 * (math.log(mean) if y[i] > 0.5 else math.log(1.0 - mean))
            if mean < SURE or mean > 1.0 - SURE:
                mean = 0.0 if mean < 0.5 else 1.0
                w[i] = SURE
            else:
                w[i] = mean * (1.0 - mean)
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
        move = _minimiser(slope / n + v * b[j + 1], v, size, shape, penalty) - b[j + 1]
        if move != 0.0:
            b[j + 1] += move
            for i in range(n):
                r[i] -= move * Z[i, j]
                eta[i] += move * Z[i, j]
            largest = max(largest, abs(move) * math.sqrt(v))
    return float(largest)


def _descend(
    Z: Matrix, y: Vector, penalties: Vector, shape: float, penalty: int, family: int
) -> tuple[Matrix, int]:
    """Return intercepts and coefficients, a column for each penalty, and how many columns there are."""
    b = np.zeros(Z.shape[1] + 1)
    b[0] = math.log(y.mean()) if family == 1 else math.log(y.mean() / (1.0 - y.mean()))
    eta, w, r = np.full(y.size, b[0]), np.ones(y.size), np.zeros(y.size)
    null = _reweight(y, eta, w, r, family)
    found = np.zeros((b.size, penalties.size))
    cycles = 0
    for k in range(penalties.size):
        all_ = True
        while True:
            if cycles == MAX_CYCLES or _reweight(y, eta, w, r, family) < SATURATED * null:
                return found, k
            cycles += 1
            change = _cycle(Z, b, w, r, eta, penalties[k], shape, penalty, all_)
            if change >= EPS:
                all_ = False  # the others wait until these stand still
            elif all_:
                break
            else:
                all_ = True
        found[:, k] = b
    return found, penalties.size


def penalised_path(
    Z: Matrix, y: Vector, penalties: Vector, shape: float, penalty: str, family: str
) -> Matrix:
    """Return the path of standardised columns: intercept and coefficients, a column for each penalty.

    It ends early where the model is saturated or the cycles are used up. ``shape`` is alpha of "elastic",
    gamma of "MCPenalty" and "SCAD".

    Examples
    --------
    >>> Z = np.asfortranarray([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([1.0, 7.0, 1.0, 7.0])
    >>> penalties = np.array([3.0, 1.0])  # the slope at zero is 3
    >>> penalised_path(Z, y, penalties, 1.0, "elastic", "poisson").round(2)
    array([[1.39, 1.24],
           [0.  , 0.55],
           [0.  , 0.  ]])
    """
    if family == "poisson":
        penalties = penalties * (1.0 + 1e-9)  # so that rounding lets nothing in at the largest
    descend = compiled(firm, _minimiser, _reweight, _cycle, _descend)
    found, size = descend(Z, y, penalties, shape, PENALTIES[penalty], FAMILIES[family])
    return np.asarray(found[:, :size])
