"""Linear quantile regression without a prior: a linear program, solved from inside its bounds.

The least pinball loss of y around B g is the largest y'a over a with B'a = (1 - level) B'w and 0 <= a <= w,
the dual, of which g is the multiplier. Between the two is a gap that no other g can close: it says how far
the loss at g is above the least one. Steps are those of Frisch and Newton, with Mehrotra's correction
(Portnoy and Koenker 1997); each is a least-squares fit, and some twenty do whatever the number of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Vector

# The most steps, how much of the way to a bound one may go, and how far from all bounds they begin.
MOST_STEPS, NEARLY, EDGE = 100, 0.99995, 0.01
# The least share of the loss, and of y, that rounding lets the gap be.
LEAST_GAP, ROUNDING = 1e-12, 1e-15


class Inside(NamedTuple):
    """A point inside: ``low`` is a, ``high`` is w - a, ``up`` and ``down`` what their bounds push with."""

    coef: Vector
    low: Vector
    high: Vector
    up: Vector
    down: Vector

    @property
    def gap(self) -> float:
        """What the loss is above its least, or more."""
        return float(self.up @ self.low + self.down @ self.high)


def pinball(r: Vector, weights: Vector, level: float) -> float:
    """Return the sum of the losses of residuals: level r above zero, and (level - 1) r below.

    Examples
    --------
    >>> pinball(np.array([1.0, -1.0]), np.ones(2), 0.75)
    1.0
    """
    return float(weights @ (np.maximum(r, 0.0) * level + np.maximum(-r, 0.0) * (1.0 - level)))


def least_pinball(y: Vector, basis: Matrix, weights: Vector, level: float, tol: float) -> Vector:
    """Return the coefficients of the basis with the least pinball loss, or one above it by the share ``tol``.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 3.0, 4.0, 50.0])
    >>> least_pinball(y, np.ones((5, 1)), np.ones(5), 0.5, 1e-9).round(6)
    array([3.])
    """
    point, nothing = _begin(y, basis, weights, level), ROUNDING * float(weights @ np.abs(y))
    best, least = point.coef, pinball(y - basis @ point.coef, weights, level)
    with np.errstate(all="ignore"):  # what is out of range ends the steps
        for _ in range(MOST_STEPS):
            if not point.gap > max(tol, LEAST_GAP) * least + nothing:
                break
            try:
                point = _step(point, basis)
            except np.linalg.LinAlgError:
                break
            loss = pinball(y - basis @ point.coef, weights, level)
            if loss < least:
                best, least = point.coef, loss
    return best


def _begin(y: Vector, basis: Matrix, weights: Vector, level: float) -> Inside:
    root = np.sqrt(weights)
    coef: Vector = np.linalg.lstsq(basis * root[:, None], y * root, rcond=None)[0].astype(np.float64)
    r = y - basis @ coef
    size = float(weights @ np.abs(r)) / float(weights.sum())
    up, down = (np.maximum(side, 0.0) + EDGE * size for side in (-r, r))
    return Inside(coef, weights * (1.0 - level), weights * level, up, down)


def _step(point: Inside, basis: Matrix) -> Inside:
    """Return the point after a step towards the optimum, and one to the middle between the bounds."""
    _, low, high, up, down = point
    push = up - down
    inner = 1.0 / (up / low + down / high)
    root = np.sqrt(inner)
    turn, along = np.linalg.qr(basis * root[:, None])

    def towards(middle: float, cross: Any, other: Any) -> Inside:
        lack = push + cross - other - middle * (1.0 / low - 1.0 / high)
        d_coef = -np.linalg.solve(along, turn.T @ (root * lack))
        d_low = inner * (-(basis @ d_coef) - lack)
        d_up = (middle - up * d_low - cross * low) / low - up
        d_down = (middle + down * d_low - other * high) / high - down
        return Inside(d_coef, d_low, -d_low, d_up, d_down)

    way = towards(0.0, 0.0, 0.0)
    there, gap = _moved(point, way), point.gap
    middle = gap * (there.gap / gap) ** 3 / (2 * low.size)
    way = towards(middle, way.low * way.up / low, way.high * way.down / high)
    return _moved(point, way)


def _moved(point: Inside, way: Inside) -> Inside:
    """Go along a way, but not beyond the bounds."""
    coef, low, high, up, down = point
    first = _share(np.concatenate([low, high]), np.concatenate([way.low, way.high]))
    second = _share(np.concatenate([up, down]), np.concatenate([way.up, way.down]))
    return Inside(
        coef + second * way.coef,
        low + first * way.low,
        high + first * way.high,
        up + second * way.up,
        down + second * way.down,
    )


def _share(value: Vector, step: Vector) -> float:
    falls = step < 0.0
    return float(min(NEARLY * np.min(-value[falls] / step[falls], initial=np.inf), 1.0))
