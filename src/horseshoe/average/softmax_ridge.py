"""Ridge regressions of classes that are fitted together, along a path of penalties.

From penalty to penalty all training sets take a few parts of steps to the weighted ridge regressions that
stand for the softmax likelihood. Conjugate gradients solve those of all classes and sets side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import multiply_all
from horseshoe.average.ridge_newton import solve_all
from horseshoe.average.ridge_path import START, Start, blended, outer, over_penalties
from horseshoe.average.sets import Fits, sizes
from horseshoe.average.softmax_sets import SoftmaxSets, center_over_classes

# Of the path, in units of the number of columns.
PENALTIES: Vector = np.geomspace(1e3, 1e-2, 11)
# Steps at the first penalty and at each other one.
FIRST_STEPS, STEPS = 8, 4
# So many penalties in a row that are worse than the best are enough.
RISES = 2

# Coefficients or dual coefficients, intercepts, and unpenalised coefficients.
_Point = tuple[Any, Any, Any]


def softmax_ridge(sets: SoftmaxSets) -> tuple[Fits, Start]:
    """Return the ridge averaged over penalties by cross-validation, and the first at which modes start."""
    n, p = sets.columns.shape
    K = outer(sets) if p > n else None
    level, free = sets.null
    at: _Point = np.zeros((len(level), n if p > n else p, sets.n_sets)), level, free
    eta = np.zeros((len(level), n, sets.n_sets)) + level[:, None] + sets.explained(free)
    points, losses, start = list[_Point](), list[float](), None
    for i, penalty in enumerate(PENALTIES * max(p, 1)):
        for _ in range(FIRST_STEPS if i == 0 else STEPS):
            at, eta, solved = _step(sets, K, at, eta, penalty)
        if not solved and points:
            break
        points.append(at)
        losses.append(sets.left_out(sets.family, eta, 1.0))
        if penalty <= START * p and start is None:
            start = at
        if start is not None and len(losses) - 1 - int(np.argmin(losses)) >= RISES:
            break
    size, times = sizes(sets)
    weights = over_penalties(size / times * np.array(losses), PENALTIES[: len(losses)])
    coef, level, free = (blended(weights, parts) for parts in zip(*points, strict=True))
    coef, (first, *rest) = _coef(sets, K, coef), start or points[-1]
    first, one = _coef(sets, K, first), np.ones(sets.n_sets)
    return (
        Fits(coef, level, one, np.full(coef.shape[1:], np.nan), sets.families, free),
        Start(first, np.zeros_like(first), rest[0], one, sets.families, rest[1]),
    )


def _coef(sets: SoftmaxSets, K: Matrix | None, solution: Any) -> Any:
    return solution if K is None else multiply_all(sets.columns.rmatvec, solution)


def _step(
    sets: SoftmaxSets, K: Matrix | None, at: _Point, eta: Any, penalty: float
) -> tuple[_Point, Any, bool]:
    """Take a part of the step to the weighted ridge regressions near eta; tell whether these were solved."""
    (solution, level, free), (q, n, T) = at, eta.shape
    targets, weights = sets.linearised(eta, level, sets.families)
    held = (targets - sets.explained(free)).transpose(1, 0, 2).reshape(n, q * T)
    every = np.ones(q * T, dtype=np.bool_)
    steps, solved = solve_all(sets, K, held, np.tile(weights, q), penalty, every)
    # The columns of solutions, intercepts and fits are the classes, and in each the training sets.
    new = np.stack([step.solution for step in steps], axis=-1).reshape(-1, q, T).transpose(1, 0, 2)
    fit = np.stack([step.fit for step in steps], axis=-1).reshape(n, q, T).transpose(1, 0, 2)
    up, beside = np.array([step.intercept for step in steps]).reshape(q, T), free
    if sets.basis is not None:
        up, beside = sets.levels_of(targets - fit, weights)
    fit = fit + up[:, None] + sets.explained(beside)

    def part(old: Any, there: Any) -> Any:
        return center_over_classes(old + sets.step_share * (there - old))

    at = part(solution, new), part(level, up), part(free, beside)
    return at, part(eta, fit), bool(solved.all())
