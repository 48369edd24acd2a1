"""Ridge regressions of families whose weights move, along a path of penalties.

From penalty to penalty all training sets take a few steps of Newton's method, or of EM. Each is a weighted
ridge regression, and conjugate gradients solve those of all sets side by side: one product with X X', or with
X and X', serves all of them. A set that has its solution stays there, so that it does not hang on the others.

Where modes may start the evidence is asked for. It needs a determinant, so there the matrix is factorised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.ridge_path import NO_NOISE, START, Path, Point, normal_equations, outer
from horseshoe.average.sets import HALVED, Sets
from horseshoe.em.working import longest_share
from horseshoe.families import Family
from horseshoe.linalg import add_identity, cholesky, inverse_trace, log_det

# So many penalties in a row that are worse than the best are enough, for a family that iterates.
RISES = 3
# Newton steps at the first penalty and at each other one.
FIRST_STEPS, STEPS = 6, 2
# The residual of a solution that is one, as a share of what is solved for, and the most conjugate gradients:
# where these do not do, the matrix is factorised, there and at smaller penalties.
SOLVED, GRADIENTS = 1e-11, 30


def iterated(sets: Sets, penalties: Vector) -> Path:
    """Return the path of any family, by Newton's method from penalty to penalty."""
    p = sets.columns.shape[1]
    newton = Newton(sets)
    points: list[Point] = []
    losses: list[float] = []
    for penalty in penalties:
        point = points[-1] if points else _nowhere(sets)
        asked = [one.evidence for one in points if one.penalty <= START * p]
        past = np.asarray(_passed(asked))
        for _ in range((STEPS if points else FIRST_STEPS) - 1):
            point = newton.step(point, float(penalty), -np.inf if penalty <= START * p else None)
        beat = np.min(asked, axis=0, initial=np.inf) if penalty <= START * p else None
        point = newton.step(point, float(penalty), beat)
        point = point._replace(evidence=np.where(past, np.inf, point.evidence))
        points.append(point)
        losses.append(sets.cross_validated(point.eta, point.sigma2, point.families))
        if np.all(past) and _passed(losses):
            break
    return Path(tuple(points), newton.K is not None)


def _passed(values: Any) -> Any:
    """Tell of each column whether its smallest value lies `RISES` behind."""
    return len(values) > RISES and len(values) - 1 - np.argmin(values, axis=0) >= RISES


def _nowhere(sets: Sets) -> Point:
    """Return the intercepts alone, near the best."""
    n, p = sets.columns.shape
    T = sets.n_sets
    level = np.zeros(T)
    if sets.center:
        for t, weights in enumerate(sets.weights.T):
            rows = weights > 0.0
            level[t] = sets.family.intercept_alone(sets.y[rows], weights[rows], sets.offset[rows])
    eta = sets.offset[:, None] + level
    none = np.zeros(T)
    solution = np.zeros((n if p > n else p, T))
    return Point(np.inf, solution, level, eta, np.ones(T), none, none, sets.families)


# --- one step -------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """A weighted ridge regression: the solution, X b, b'b, and the least of |z - X b|^2 + penalty b'b.

    ``log_det`` is that of the curvature, with the intercept, and ``trace`` returns that of the fit; both are
    known where the matrix was factorised.
    """

    solution: Vector
    intercept: float
    fit: Vector
    norm2: float
    square: float
    log_det: float = np.inf
    trace: Any = None


class Newton:
    """Steps of all sets; which of them conjugate gradients do for is known from larger penalties."""

    def __init__(self, sets: Sets) -> None:
        n, p = sets.columns.shape
        self.sets, self.K = sets, outer(sets) if p > n else None
        self._quick = np.ones(sets.n_sets, dtype=np.bool_)

    def step(self, point: Point, penalty: float, beat: Any = None) -> Point:
        """Take one step of every set, halved where the penalised likelihood would fall.

        ``beat`` is the evidence so far, where that is asked for: what is more likely has its trace too.
        """
        sets = self.sets
        targets, weights = sets.linearised(point.eta, point.sigma2, point.families)
        steps = self._solved(targets, weights, penalty, asked=beat is not None)
        found = [_accepted(sets, self.K, point, t, step, penalty) for t, step in enumerate(steps)]
        solution, eta = (np.column_stack([one[k] for one in found]) for k in (0, 2))
        intercept, sigma2, loss = (np.array([one[k] for one in found]) for k in (1, 3, 4))
        evidence, trace = np.full(sets.n_sets, np.inf), np.full(sets.n_sets, np.nan)
        if beat is not None:
            evidence = loss + 0.5 * np.array([step.log_det for step in steps])
            for t in np.flatnonzero(evidence < beat):
                trace[t] = steps[t].trace()
        families = sets.updated(point.families, eta, sigma2)
        return Point(penalty, solution, intercept, eta, sigma2, evidence, trace, families)

    def _solved(self, targets: Matrix, weights: Matrix, penalty: float, asked: bool) -> list[_Step]:
        """Solve the weighted ridge regressions of all sets; where the evidence is asked for, factorise."""
        sets, K = self.sets, self.K
        steps: list[Any] = [None] * sets.n_sets
        if self._quick.any() and not asked:
            steps, self._quick = solve_all(sets, K, targets, weights, penalty, self._quick)
        for t in range(sets.n_sets):
            if asked or not self._quick[t]:
                steps[t] = _factorised(sets, K, targets[:, t], weights[:, t], penalty)
        return steps


def _accepted(
    sets: Sets, K: Matrix | None, point: Point, t: int, step: _Step, penalty: float
) -> tuple[Any, ...]:
    """Return solution, intercept, eta, noise variance and penalised loss of as much of a step as pays."""
    family, sigma2 = point.families[t], float(point.sigma2[t])

    def at(*place: Any) -> tuple[Any, ...]:
        return *place, _penalised(sets, t, family, place[2], sigma2, penalty * _norm2(K, place[0]))

    there = step.solution, step.intercept, step.fit + step.intercept + sets.offset
    found = *there, np.inf
    if step.trace is not None or not family.never_overshoots:
        found = *there, _penalised(sets, t, family, there[2], sigma2, penalty * step.norm2)
    if not family.never_overshoots:
        here = at(point.solution[:, t], float(point.intercept[t]), point.eta[:, t])
        rows = sets.weights[:, t] > 0.0
        for share in longest_share(here[2][rows], there[2][rows]) * HALVED:
            if share < 1.0:
                found = at(*(old + share * (new - old) for old, new in zip(here, there, strict=False)))
            if found[3] <= here[3] + 1e-9:
                break
        else:  # there is no way on
            found = here
    return *found[:3], _noise(sets, K, t, family, step, penalty, found, sigma2), found[3]


def _noise(
    sets: Sets,
    K: Matrix | None,
    t: int,
    family: Family,
    step: _Step,
    penalty: float,
    found: Any,
    sigma2: float,
) -> float:
    """Return the noise variance: of amounts that which is left where the step ended."""
    if not family.has_dispersion:
        return sigma2
    left, held = step.square - penalty * step.norm2, penalty * step.norm2
    if not family.is_location:
        rows = sets.weights[:, t] > 0.0
        weights, targets = family.working(sets.y[rows], found[2][rows], sigma2)
        left = float((sets.weights[rows, t] * weights) @ (targets - found[2][rows]) ** 2)
        held = penalty * _norm2(K, found[0])
    square = (
        step.square if family.is_location and family.noise_share == 1.0 else left / family.noise_share + held
    )
    return max(square / float(sets.total[t]), NO_NOISE)


def _norm2(K: Matrix | None, solution: Vector) -> float:
    return float(solution @ (solution if K is None else K @ solution))


def _penalised(sets: Sets, t: int, family: Family, eta: Vector, sigma2: float, square: float) -> float:
    """Return minus the penalised log-likelihood of a set; infinite where a step leads out of range."""
    with np.errstate(over="ignore"):
        return sets.loss(t, family, eta, sigma2) + 0.5 * square / sigma2


# --- all sets side by side --------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def solve_all(
    sets: Sets, K: Matrix | None, targets: Matrix, weights: Matrix, penalty: float, quick: Mask
) -> tuple[list[_Step], Mask]:
    """Solve the regressions of the sets in ``quick`` by conjugate gradients, and tell of which this did.

    Where targets are out of range, it does not.
    """
    targets = np.where(weights > 0.0, targets, 0.0)
    weights = np.where(weights > 0.0, weights, 0.0)
    total = weights.sum(axis=0)
    center = 1.0 if sets.center else 0.0
    mean = center * _dots(weights, targets) / total
    if K is None:
        solution, solved = _among_columns(sets, targets - mean, weights, penalty, quick)
        fit = np.asarray(sets.columns.matvec(solution))
        norm2 = _dots(solution, solution)
    else:
        solution, solved = _among_rows(sets, K, targets - mean, weights, penalty, quick)
        fit = K @ solution
        norm2 = _dots(solution, fit)
    level = mean - center * _dots(weights, fit) / total
    left = targets - level - fit
    square = _dots(weights * left, left) + penalty * norm2
    return list(map(_Step, solution.T, level.tolist(), fit.T, norm2.tolist(), square.tolist())), solved


def _among_rows(
    sets: Sets, K: Matrix, targets: Matrix, weights: Matrix, penalty: float, quick: Mask
) -> tuple[Matrix, Mask]:
    """Return the dual coefficients of all sets: W^1/2 (I + W^1/2 K W^1/2 / penalty)^-1 W^1/2 z / penalty."""
    root = np.sqrt(weights)
    half, level = root / np.sqrt(penalty), root / np.sqrt(weights.sum(axis=0))

    def centred(rows: Matrix) -> Matrix:
        return np.asarray(rows - level * _dots(level, rows)) if sets.center else rows

    def curved(rows: Matrix) -> Matrix:
        return rows + centred(half * (K @ (half * rows)))

    solution, solved = _conjugate(curved, root * targets, quick)
    return root * centred(solution) / penalty, solved


def _among_columns(
    sets: Sets, targets: Matrix, weights: Matrix, penalty: float, quick: Mask
) -> tuple[Matrix, Mask]:
    """Return the coefficients of all sets: (X'WX + penalty I)^-1 X'Wz."""
    columns, total = sets.columns, weights.sum(axis=0)

    def curved(coef: Matrix) -> Matrix:
        fit = columns.matvec(coef)
        if sets.center:
            fit = fit - _dots(weights, fit) / total
        return np.asarray(columns.rmatvec(weights * fit) + penalty * coef)

    return _conjugate(curved, np.asarray(columns.rmatvec(weights * targets)), quick)


def _conjugate(apply: Callable[[Matrix], Matrix], wanted: Matrix, which: Mask) -> tuple[Matrix, Mask]:
    """Solve a positive definite system for some columns; tell for which of them this did.

    The others go along: so no column hangs on how many there are, not even in the last digit.
    """
    solution, left, way = np.zeros_like(wanted), wanted, wanted
    square = _dots(left, left)
    enough = SOLVED**2 * square
    going = which & (square > enough)
    for _ in range(GRADIENTS):
        if not going.any():
            break
        moved = apply(way)
        step = np.divide(square, _dots(way, moved), out=np.zeros_like(square), where=going)
        solution = solution + step * way
        left = left - step * moved
        before, square = square, np.where(going, _dots(left, left), square)
        way = left + np.divide(square, before, out=np.zeros_like(square), where=going) * way
        going = going & (square > enough)
    return solution, which & ~going & np.isfinite(square)


def _dots(a: Matrix, b: Matrix) -> Vector:
    return np.asarray(np.einsum("it,it->t", a, b))


# --- one set ----------------------------------------------------------------------------------------------


def _factorised(sets: Sets, K: Matrix | None, targets: Vector, weights: Vector, penalty: float) -> _Step:
    """Solve the weighted ridge regression of one set, and say how likely the penalty is."""
    if K is None:
        return _primal_step(sets, targets, weights, penalty)
    return _dual_step(sets, K, targets, weights, penalty)


def _dual_step(sets: Sets, K: Matrix, targets: Vector, weights: Vector, penalty: float) -> _Step:
    """Solve among rows: with M = I + W^1/2 K W^1/2 / penalty, the intercept is a row more of the system."""
    rows = weights > 0.0
    root, z = np.sqrt(weights[rows]), targets[rows]
    half = root / np.sqrt(penalty)

    def system() -> Matrix:
        inner = K.T[rows].T[rows]
        inner *= half[:, None]
        inner *= half
        return np.asarray(add_identity(inner))

    factor = cholesky(system(), system)
    solved, one = lapack.dpotrs(factor, np.column_stack([root * z, root]), lower=1)[0].T
    curvature, level, used = log_det(factor), 0.0, 0.0
    if sets.center:
        among = float(root @ one)
        level = float(root @ solved) / among
        solved = solved - level * one
        curvature += np.log(among)
        used = 1.0 - float(one @ one) / among
    solution = np.zeros(weights.size)
    solution[rows] = root * solved / penalty
    fit = K @ solution
    square = float((root * (z - level)) @ solved)

    def trace() -> float:
        return float(z.size - used - inverse_trace(factor))

    return _Step(solution, level, fit, float(solution @ fit), square, curvature, trace)


def _primal_step(sets: Sets, targets: Vector, weights: Vector, penalty: float) -> _Step:
    """Solve among columns."""
    normal = normal_equations(sets, targets, weights)
    level = np.log(weights.sum()) if sets.center else 0.0
    if not normal.pull.size:
        return _Step(
            normal.pull, normal.z_mean, np.zeros(weights.size), 0.0, normal.square, level, lambda: 0.0
        )
    factor = cholesky(add_identity(np.asfortranarray(normal.gram / penalty)))
    coef = lapack.dpotrs(factor, normal.pull, lower=1)[0] / penalty
    square = max(normal.square - float(normal.pull @ coef), NO_NOISE * normal.square)
    intercept = normal.z_mean - float(normal.x_mean @ coef)
    fit = np.asarray(sets.columns.matvec(coef))

    def trace() -> float:
        return float(coef.size - inverse_trace(factor))

    return _Step(coef, intercept, fit, float(coef @ coef), square, log_det(factor) + level, trace)
