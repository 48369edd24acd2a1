"""The thresholds of ordered levels at a linear predictor: the best ones, and draws.

Minus the log-likelihood of thresholds theta_1 < ... < theta_m is convex, and each meets only its neighbours,
so that its second derivatives are a matrix of three diagonals: Newton's method takes O(n + m) a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.linalg import LinAlgError

from horseshoe._types import Matrix, Vector
from horseshoe.linalg import solve_banded

# The most steps, and a step so small that the one after it would change nothing.
STEPS, SMALL = 100, 1e-8
# No step moves a threshold by more than the first; the second, of the loss, is no rise.
LONGEST, ROUNDING = 5.0, 1e-13
# Multiples of it, but for their whole part, are spread evenly.
GOLDEN = 0.6180339887498949
# No step closes more of a gap than leaves this share of it.
KEPT = 0.1
# Of a gap, beside the size of its thresholds: a level of next to no weight is not narrower.
NARROWEST = 1e-12
# Of the slices in which thresholds are drawn.
WIDTH = 3.0


def summed(levels: Any, values: Vector, size: int) -> Vector:
    """Return the sum of the values of each of so many levels.

    Examples
    --------
    >>> summed(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 3)
    array([3., 0., 5.])
    """
    return np.asarray(np.bincount(levels, values, size), dtype=np.float64)


def first_thresholds(counts: Vector) -> Vector:
    """Return the thresholds at which the levels have these shares.

    Examples
    --------
    >>> first_thresholds(np.array([1.0, 2.0, 1.0])).round(3)
    array([-1.099,  1.099])
    """
    below, above = np.cumsum(counts)[:-1], np.cumsum(counts[::-1])[::-1][1:]
    return _apart(np.log(below) - np.log(above))


def _gaps(theta: Vector) -> Vector:
    return np.asarray(theta[1:] - theta[:-1])


def _apart(theta: Vector) -> Vector:
    """Return the thresholds with gaps that can be seen."""
    least = NARROWEST * (1.0 + np.abs(theta))
    if np.all(_gaps(theta) > least[1:]):
        return theta
    steps = np.cumsum(np.append(0.0, np.maximum(_gaps(theta), 2.0 * least[1:])))
    return np.asarray(theta[0] + steps)


def best_thresholds(theta: Vector, codes: Any, eta: Vector, weights: Vector, counts: Vector) -> Vector:
    """Return the thresholds of largest likelihood; ``codes`` are the levels and ``counts`` their weights.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 2, 2, 2])
    >>> counts = np.array([2.0, 1.0, 3.0])
    >>> found = best_thresholds(np.array([-1.0, 1.0]), codes, np.zeros(6), np.ones(6), counts)
    >>> np.allclose(found, first_thresholds(counts))
    True
    """
    loss, moved = _loss(theta, codes, eta, weights, counts), False
    for _ in range(STEPS):
        step = _newton(theta, codes, eta, weights, counts)
        if not np.abs(step).max() <= LONGEST:
            there = _spread_out(eta, weights, counts)
            better = _loss(there, codes, eta, weights, counts)
            if not moved and not loss <= better:
                theta, loss, moved = there, better, True
                continue
            bounded = np.nan_to_num(step, nan=0.0, posinf=LONGEST, neginf=-LONGEST)
            step = bounded * (LONGEST / max(float(np.abs(bounded).max()), LONGEST))
        step *= _longest(theta, step)
        while not (left := _loss(theta + step, codes, eta, weights, counts)) <= loss + ROUNDING * (
            1.0 + loss
        ):
            step *= 0.5
            if np.abs(step).max() < NARROWEST:
                return theta
        theta, loss = _apart(theta + step), left
        if np.abs(step).max() < SMALL:
            break
    return theta


def _newton(theta: Vector, codes: Any, eta: Vector, weights: Vector, counts: Vector) -> Vector:
    """Return a step of Newton's method; infinite where there is next to no curvature to tell it."""
    slope, band = _slope(theta, codes, eta, weights, counts), curvature(theta, codes, eta, weights, counts)
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return -np.asarray(solve_banded(band, slope))
    except (LinAlgError, ValueError):
        return np.full_like(theta, np.inf)


def _spread_out(eta: Vector, weights: Vector, counts: Vector) -> Vector:
    """Return thresholds between which eta and logistic noise, spread evenly over it, have these shares."""
    order = np.argsort(eta, kind="stable")
    noise = special.logit((np.arange(1.0, eta.size + 1.0) * GOLDEN) % 1.0 * (1.0 - 1e-9) + 5e-10)
    latent = eta[order] + noise
    again = np.argsort(latent, kind="stable")
    reached = np.cumsum(weights[order][again])
    place = np.searchsorted(reached, np.cumsum(counts)[:-1] - 0.5 * weights.min()).clip(max=eta.size - 2)
    theta = 0.5 * (latent[again][place] + latent[again][place + 1])
    gaps = np.maximum(_gaps(theta), counts[1:-1] / counts.sum())  # where even noise leaves some levels none
    return _apart(theta[0] + np.append(0.0, np.cumsum(gaps)))


def _longest(theta: Vector, step: Vector) -> float:
    """Return how much of a step leaves the thresholds in their order."""
    closing = -_gaps(step) / _gaps(theta)
    return float((1.0 - KEPT) / max(closing.max(initial=0.0), 1.0 - KEPT))


def _loss(theta: Vector, codes: Any, eta: Vector, weights: Vector, counts: Vector) -> float:
    padded = np.concatenate([[-np.inf], theta, [np.inf]])
    rows = np.logaddexp(0.0, eta - padded[codes + 1]) + np.logaddexp(0.0, padded[codes] - eta)
    with np.errstate(divide="ignore", invalid="ignore"):  # where a gap is closed
        return float(weights @ rows) - float(counts[1:-1] @ np.log(-np.expm1(-_gaps(theta))))


def _slope(theta: Vector, codes: Any, eta: Vector, weights: Vector, counts: Vector) -> Vector:
    padded = np.concatenate([[-np.inf], theta, [np.inf]])
    slope = -summed(codes, weights * special.expit(eta - padded[codes + 1]), counts.size)[:-1]
    slope += summed(codes, weights * special.expit(padded[codes] - eta), counts.size)[1:]
    gap = counts[1:-1] * np.exp(-_gaps(theta)) / -np.expm1(-_gaps(theta))
    slope[1:] -= gap
    slope[:-1] += gap
    return slope


def curvature(theta: Vector, codes: Any, eta: Vector, weights: Vector, counts: Vector) -> Matrix:
    """Return the second derivatives in the thresholds: above the diagonal, and the diagonal.

    Examples
    --------
    >>> curvature(np.zeros(1), np.array([0, 1]), np.zeros(2), np.ones(2), np.ones(2))
    array([[0. ],
           [0.5]])
    """
    padded = np.concatenate([[-np.inf], theta, [np.inf]])
    above, below = padded[codes + 1] - eta, padded[codes] - eta
    band = np.zeros((2, theta.size))
    band[1] = summed(codes, weights * special.expit(above) * special.expit(-above), counts.size)[:-1]
    band[1] += summed(codes, weights * special.expit(below) * special.expit(-below), counts.size)[1:]
    gap = counts[1:-1] * np.exp(-_gaps(theta)) / np.expm1(-_gaps(theta)) ** 2
    band[1, 1:] += gap
    band[1, :-1] += gap
    band[0, 1:] = -gap
    return band


def draw_thresholds(
    theta: Vector, codes: Any, eta: Vector, weights: Vector, rng: np.random.Generator
) -> Vector:
    """Draw the thresholds: a priori logistic variates in their order, as if the shares were uniform.

    A threshold meets its neighbours only, so that every second one is drawn at once, by slices.

    Examples
    --------
    >>> codes, rng = np.array([0, 1, 2] * 100), np.random.default_rng(0)
    >>> drawn = draw_thresholds(np.array([-1.0, 1.0]), codes, np.zeros(300), np.ones(300), rng)
    >>> bool(drawn[0] < drawn[1])
    True
    """
    for first in (0, 1):
        moving = np.arange(first, theta.size, 2)
        if moving.size:
            theta = _slices(theta, moving, codes, eta, weights, rng)
    return theta


def _slices(
    theta: Vector, moving: Any, codes: Any, eta: Vector, weights: Vector, rng: np.random.Generator
) -> Vector:
    """Move some thresholds, no two of them neighbours, by a slice of each one's own density."""
    padded = np.concatenate([[-np.inf], theta, [np.inf]])
    here = theta[moving]
    low = here - WIDTH * rng.random(here.size)
    low, high = np.maximum(low, padded[moving]), np.minimum(low + WIDTH, padded[moving + 2])
    floor = _log_densities(theta, codes, eta, weights)[moving] - rng.standard_exponential(here.size)
    drawn, going = here.copy(), np.ones(here.size, dtype=np.bool_)
    while going.any():
        drawn = np.where(going, low + (high - low) * rng.random(here.size), drawn)
        there = theta.copy()
        there[moving] = drawn
        going = going & ~(_log_densities(there, codes, eta, weights)[moving] >= floor)
        low, high = (
            np.where(going & (drawn < here), drawn, low),
            np.where(going & (drawn >= here), drawn, high),
        )
        stuck = going & (high - low <= NARROWEST)
        drawn, going = np.where(stuck, here, drawn), going & ~stuck
    moved = theta.copy()
    moved[moving] = drawn
    return moved


def _log_densities(theta: Vector, codes: Any, eta: Vector, weights: Vector) -> Vector:
    """Return the log density of each threshold given the others, up to a constant."""
    padded, size = np.concatenate([[-np.inf], theta, [np.inf]]), theta.size + 1
    above = -summed(codes, weights * np.logaddexp(0.0, eta - padded[codes + 1]), size)[:-1]
    below = -summed(codes, weights * np.logaddexp(0.0, padded[codes] - eta), size)[1:]
    with np.errstate(divide="ignore"):
        gaps = summed(codes, weights, size) * np.log(-np.expm1(-_gaps(padded)))
    prior = -np.logaddexp(0.0, theta) - np.logaddexp(0.0, -theta)
    return np.asarray(above + below + gaps[:-1] + gaps[1:] + prior)
