"""The points of a path of ridge regressions, and what is made of a training set to find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.sets import Sets
from horseshoe.families import Family
from horseshoe.linalg import both_triangles

# The largest penalty at which modes start, in the same unit: from a larger one, at which next to nothing is
# explained, EM finds nothing.
START = 0.1
# The least noise variance, as a share of the variance of y.
NO_NOISE = 1e-12


class Point(NamedTuple):
    """The fits of all T sets at one penalty.

    ``solution`` are the dual coefficients (n, T) or, with fewer columns than rows, the coefficients (p, T);
    ``eta`` may be not a number where a set is not tested;
    ``evidence`` is minus the log marginal likelihood of each set, up to a constant; infinite where it
    is not asked for: where no mode may start, and where a family that iterates need not have gone on, for how
    far it did is up to the other sets. ``fit_trace`` are the degrees of freedom that the fit uses up, not a
    number where a larger penalty has more evidence.
    """

    penalty: float
    solution: Matrix
    intercept: Vector
    eta: Matrix
    sigma2: Vector
    evidence: Vector
    fit_trace: Vector
    families: tuple[Family, ...]


class Path(NamedTuple):
    """Fits at falling penalties."""

    points: tuple[Point, ...]
    dual: bool

    def coef(self, sets: Sets, solution: Matrix) -> Matrix:
        """Return coefficients (p, T) from what solutions are."""
        return np.asarray(sets.columns.rmatvec(solution) if self.dual else solution)


class Start(NamedTuple):
    """Where the EM of all sets starts: coefficients, their E[b^2], intercepts, noise, families.

    Shapes are those of `Fits`, and ``free`` is as there.
    """

    coef: Any
    second_moment: Any
    intercept: Any
    sigma2: Any
    families: tuple[Family, ...]
    free: Any = None


def may_start(penalties: Vector, p: int) -> Mask:
    """Tell at which falling penalties modes may start: those that are small enough, or the last.

    Examples
    --------
    >>> may_start(np.array([20.0, 1.0, 0.1]), 10), may_start(np.array([20.0, 10.0]), 10)
    (array([False,  True,  True]), array([False,  True]))
    """
    found = np.asarray(penalties) <= START * max(p, 1)
    return np.asarray(found if found.any() else np.arange(found.size) == found.size - 1)


def ridge_start(sets: Sets, path: Path) -> Start:
    """Return the ridge of largest evidence of each set, with the mean variance of its coefficients.

    Where outliers get little weight, the weights depend on how closely the rows are fitted, and the evidence
    has no meaning: there it is the largest penalty.
    """
    start = may_start(np.array([point.penalty for point in path.points]), sets.columns.shape[1])
    points = tuple(point for point, may in zip(path.points, start, strict=True) if may)
    if sets.family.is_location and not sets.family.constant_weights:
        points = points[:1]
    chosen = [points[i] for i in np.argmin([point.evidence for point in points], axis=0)]
    each = list(enumerate(chosen))
    solution = np.column_stack([point.solution[:, t] for t, point in each])
    coef = path.coef(sets, solution)
    sigma2, trace, intercept = (
        np.array([values[t] for t, values in enumerate(column)])
        for column in zip(*((one.sigma2, one.fit_trace, one.intercept) for one in chosen), strict=True)
    )
    penalty = np.array([point.penalty for point in chosen])
    variance = sigma2 / penalty * np.maximum(1.0 - trace / max(len(coef), 1), 0.0)
    families = tuple(point.families[t] for t, point in each)
    return Start(coef, coef * coef + variance, intercept, sigma2, families)


def over_penalties(losses: Vector, penalties: Vector) -> Vector:
    """Return how much each penalty counts: the likelihood of rows left out, times a half-Cauchy prior.

    ``losses`` are minus log-likelihoods, ``penalties`` are in units of the number of columns. One over the
    root of such a penalty is the scale tau of all effects, in log tau the density of C+(0, 1) is
    tau / (1 + tau^2), and a path is even in that.

    Examples
    --------
    >>> over_penalties(np.zeros(3), np.array([100.0, 1.0, 0.01])).round(2)
    array([0.14, 0.72, 0.14])
    >>> over_penalties(np.array([9.0, 9.0, 0.0]), np.array([100.0, 1.0, 0.01])).round(2)
    array([0., 0., 1.])
    """
    cost = losses - 0.5 * np.log(penalties) + np.log1p(penalties)
    cost = np.where(np.isfinite(cost), cost, np.inf)
    if not np.isfinite(cost).any():
        return np.asarray(np.eye(cost.size)[0])
    weights = np.exp(cost.min() - cost)
    return np.asarray(weights / weights.sum())


def blended(weights: Vector, values: Sequence[Any]) -> Any:
    """Return the weighted sum of arrays; what has no weight need not be finite."""
    return np.asarray(sum(w * value for w, value in zip(weights, values, strict=True) if w > 0.0))


def outer(sets: Sets) -> Matrix:
    """Return X X', both triangles."""
    return both_triangles(sets.columns.scaled(np.ones(sets.columns.shape[1])).outer())


class Normal(NamedTuple):
    """X'WX, X'Wz, z'Wz of a set, centred by its weights, and what was taken off."""

    gram: Matrix
    pull: Vector
    square: float
    x_mean: Vector
    z_mean: float


def training_normals(responses: tuple[Sets, ...]) -> tuple[tuple[Normal, ...], ...]:
    """Return the normal equations of each response in all sets: X'X of all rows less those out."""
    sets = responses[0]
    whole, found = sets.columns.gram(sets.counts), []
    for weights in sets.weights.T:
        rows = np.flatnonzero(weights == 0.0)
        gram = whole - sets.columns.rows(rows).gram(sets.counts[rows]) if rows.size else whole.copy()
        found.append(normal_equations(sets, sets.y, weights, gram))
    return (tuple(found), *(_with_targets(one, found) for one in responses[1:]))


def normal_equations(sets: Sets, targets: Vector, weights: Vector, gram: Matrix | None = None) -> Normal:
    """Return the normal equations of one set; ``gram`` is X'WX, if it is known, and is overwritten."""
    columns, total = sets.columns, float(weights.sum())
    gram = columns.gram(weights) if gram is None else gram
    pull, x_mean, z_mean = columns.rmatvec(weights * targets), np.zeros(columns.shape[1]), 0.0
    if sets.center:
        x_mean, z_mean = columns.rmatvec(weights) / total, float(weights @ targets) / total
        gram -= np.outer(total * x_mean, x_mean)
        pull = pull - total * z_mean * x_mean
    return Normal(gram, pull, float(weights @ (targets - z_mean) ** 2), x_mean, z_mean)


def _with_targets(sets: Sets, known: list[Normal]) -> tuple[Normal, ...]:
    """Return the normal equations of other responses to the same columns, of which X'WX is known."""
    found = []
    for weights, normal in zip(sets.weights.T, known, strict=True):
        pull, z_mean = sets.columns.rmatvec(weights * sets.y), 0.0
        if sets.center:
            total = float(weights.sum())
            z_mean = float(weights @ sets.y) / total
            pull = pull - total * z_mean * normal.x_mean
        square = float(weights @ (sets.y - z_mean) ** 2)
        found.append(normal._replace(pull=pull, square=square, z_mean=z_mean))
    return tuple(found)
