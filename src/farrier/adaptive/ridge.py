"""Ridge regressions of all training sets along a path of penalties.

With more columns than rows everything happens among the rows: K = X X' is formed once, and a fit is its dual
coefficients alpha, b = X' alpha. With fewer columns, X'WX of each set takes the place of K. Each set has an
intercept: its columns are centred by its own weights, by algebra.

Of a Gaussian response and p > n the fits without a fold follow from one eigendecomposition. Let H take y to
its fit to all rows. A fit without the rows o predicts them with the errors (I - H_oo)^-1 (y - Hy)_o, it is
the fit to all rows whose y_o are replaced by these predictions, and log det of the covariance of the other
rows is that of all rows plus log det (I - H_oo). What y_o was does not matter: it is taken to be 0. The trace
of I - H without the rows o is that of I - H less that of (I - H)_oo^-1 [(I - H)^2]_oo.

The evidence of a penalty is the marginal likelihood of y with b ~ N(0, sigma2 / penalty); of other families
that of Laplace's approximation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, lapack

from farrier._types import Matrix, Vector
from farrier.adaptive.sets import Sets, summed
from farrier.families import Family
from farrier.linalg import add_identity, both_triangles, cholesky, log_det

PENALTIES: Vector = np.geomspace(1e4, 1e-3, 29)
"""Of a path, in units of the number of columns: at 1 the prior expects to explain half of the variance."""
START = 0.1
"""The largest penalty at which modes start, in the same unit: from a larger one, at which next to nothing is
explained, EM finds nothing."""
RISES = 3
"""So many penalties in a row that are worse than the best are enough, for a family that iterates."""
FIRST_STEPS, STEPS, HALVINGS = 6, 2, 8
"""Newton steps at the first penalty and at each other one, and how often one is halved."""
LEAST_PENALTY = 1e-7
"""The least penalty as a share of the largest eigenvalue of X X': below it I - H is what rounding leaves, as
where rows count a million times."""
NO_NOISE = 1e-12
"""The least noise variance, as a share of the variance of y."""


class Point(NamedTuple):
    """The fits of all T sets at one penalty.

    ``solution`` are the dual coefficients (n, T) or, with fewer columns than rows, the coefficients (p, T);
    ``evidence`` is minus the log marginal likelihood of each set, up to a constant; infinite where a family
    that iterates need not have gone on, for how far it did is up to the other sets. ``fit_trace`` are the
    degrees of freedom that the fit uses up.
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


def ridge_path(sets: Sets) -> Path:
    """Fit ridge regressions to all training sets, along the path.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 30))
    >>> X -= X.mean(axis=0)
    >>> folds = tuple((np.flatnonzero(np.arange(20) % 2 != f), np.arange(f, 20, 2)) for f in range(2))
    >>> sets = Sets(Dense(X), X[:, 0], np.zeros(20), np.ones(20), folds, Gaussian())
    >>> path = ridge_path(sets)
    >>> len(path.points), path.points[0].eta.shape, path.coef(sets, path.points[0].solution).shape
    (29, (20, 3), (30, 3))
    """
    n, p = sets.columns.shape
    penalties = PENALTIES * max(p, 1)
    if not sets.family.constant_weights:
        return _iterated(sets, penalties[::2])
    return _among_rows(sets, penalties) if p > n else _among_columns(sets, penalties)


def outer(sets: Sets) -> Matrix:
    """Return X X', both triangles."""
    return both_triangles(sets.columns.scaled(np.ones(sets.columns.shape[1])).outer())


def _among_rows(sets: Sets, penalties: Vector) -> Path:
    """Return the path of a Gaussian response, p > n, from one eigendecomposition."""
    root = np.sqrt(sets.counts)
    K = outer(sets)
    values, U = eigh(K * root[:, None] * root, driver="evd")
    values = np.maximum(values, 0.0)
    penalties = np.maximum(penalties, LEAST_PENALTY * values[-1])
    q = root / np.sqrt(sets.counts.sum()) if sets.center else np.zeros_like(root)
    known = np.where(sets.weights > 0.0, (root * sets.y)[:, None], 0.0)  # no set sees the others' y
    among, level = U.T @ known, q @ known
    left_out = [np.flatnonzero(column == 0.0) for column in sets.weights[:, :-1].T]
    least = NO_NOISE * np.einsum("it,it->t", known, known) + 1e-300
    degrees = _degrees(sets)
    inside = sets.y.size - np.array([rows.size for rows in left_out] + [0])
    points = []
    for penalty in penalties:
        kept = penalty / (values + penalty)  # I - H = U kept U' - q q'
        Y, more, left = known.copy(), np.zeros(sets.n_sets), np.full(sets.n_sets, kept.sum() - q @ q)
        for t, rows in enumerate(left_out):
            if not rows.size:
                continue
            part = U[rows]
            factor = cholesky((part * kept) @ part.T - np.outer(q[rows], q[rows]))
            error = part @ (kept * among[:, t]) - q[rows] * level[t]
            Y[rows, t] = -lapack.dpotrs(factor, error, lower=1)[0]
            more[t] = log_det(factor)
            squared = (part * kept**2) @ part.T - np.outer(q[rows], q[rows])
            left[t] -= float(np.trace(lapack.dpotrs(factor, squared, lower=1)[0]))
        A = (U @ (kept[:, None] * (U.T @ Y)) - np.outer(q, q @ Y)) / penalty
        alpha, intercept = root[:, None] * A, (q @ Y) / np.sqrt(sets.counts.sum())
        square = np.maximum(penalty * np.einsum("it,it->t", Y, A), least)
        evidence = 0.5 * (degrees * np.log(square) - np.log(kept).sum() + more)
        trace = inside - float(sets.center) - left
        eta = K @ alpha + intercept
        families = (sets.family,) * sets.n_sets
        points.append(Point(penalty, alpha, intercept, eta, square / sets.total, evidence, trace, families))
    return Path(tuple(points), dual=True)


def _degrees(sets: Sets) -> Vector:
    """Return how many observations of each set tell of the noise: a row of weight 2 is two of them."""
    return np.maximum(sets.total - float(sets.center), 0.0)


class Normal(NamedTuple):
    """X'WX, X'Wz, z'Wz of a set, centred by its weights, and what was taken off."""

    gram: Matrix
    pull: Vector
    square: float
    x_mean: Vector
    z_mean: float


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


def _among_columns(sets: Sets, penalties: Vector) -> Path:
    """Return the path of a Gaussian response, p <= n, from an eigendecomposition of each set."""
    found = [_one_set(sets, t, gram, penalties) for t, gram in enumerate(training_grams(sets))]
    families = (sets.family,) * sets.n_sets
    points = []
    for i, penalty in enumerate(penalties):
        coef, intercept, sigma2, evidence, trace = (
            np.stack([one[k][..., i] for one in found], axis=-1) for k in range(5)
        )
        eta = sets.columns.matvec(coef) + intercept
        points.append(Point(penalty, coef, intercept, eta, sigma2, evidence, trace, families))
    return Path(tuple(points), dual=False)


def training_grams(sets: Sets) -> list[Matrix]:
    """Return X'X of each training set, not centred: that of all rows less that of the rows left out."""
    whole = sets.columns.gram(sets.counts)
    found = []
    for column in sets.weights[:, :-1].T:
        rows = np.flatnonzero(column == 0.0)
        found.append(whole - sets.columns.rows(rows).gram(sets.counts[rows]) if rows.size else whole.copy())
    return [*found, whole]


def _one_set(sets: Sets, t: int, gram: Matrix, penalties: Vector) -> tuple[Any, ...]:
    weights = sets.weights[:, t]
    normal = normal_equations(sets, sets.y, weights, gram)
    values, V = eigh(normal.gram, driver="evd")
    values = np.maximum(values, 0.0)[:, None]
    coef = V @ ((V.T @ normal.pull)[:, None] / (values + penalties))
    square = np.maximum(normal.square - normal.pull @ coef, NO_NOISE * normal.square + 1e-300)
    evidence = 0.5 * (_degrees(sets)[t] * np.log(square) + np.log1p(values / penalties).sum(axis=0))
    trace = (values / (values + penalties)).sum(axis=0)
    return coef, normal.z_mean - normal.x_mean @ coef, square / sets.total[t], evidence, trace


# --- families whose weights move ----------------------------------------------------------------------


class _Step(NamedTuple):
    solution: Vector
    intercept: float
    fit: Vector
    norm2: float
    square: float
    log_det: float
    fit_trace: float


def _dual_step(sets: Sets, K: Matrix, targets: Vector, weights: Vector, penalty: float) -> _Step:
    """Solve one weighted ridge regression among its rows; ``norm2`` is b'b, ``square`` z' M^-1 z."""
    rows, total = weights > 0.0, float(weights.sum())
    w = weights[rows]
    root, inner = np.sqrt(w), K[np.ix_(rows, rows)]
    mean = float(w @ targets[rows]) / total if sets.center else 0.0
    if sets.center:
        pull = inner @ w / total
        inner = inner - pull[:, None] - pull + float(pull @ w) / total
    system = np.asfortranarray(inner * root[:, None] * root)
    factor = cholesky(add_identity(system / penalty))
    z = root * (targets[rows] - mean)
    a = lapack.dpotrs(factor, z, lower=1)[0] / penalty
    solution = np.zeros(weights.size)
    solution[rows] = root * a
    if sets.center:
        solution -= weights * (solution.sum() / total)
    fit = K @ solution
    intercept = mean - (float(weights @ fit) / total if sets.center else 0.0)
    half = lapack.dtrtri(factor, lower=1)[0]
    trace = z.size - float(np.einsum("ij,ij->", half, half))
    return _Step(
        solution, intercept, fit, float(solution @ fit), penalty * float(z @ a), log_det(factor), trace
    )


def _primal_step(sets: Sets, targets: Vector, weights: Vector, penalty: float) -> _Step:
    """Solve one weighted ridge regression among its columns."""
    normal = normal_equations(sets, targets, weights)
    if not normal.pull.size:
        return _Step(normal.pull, normal.z_mean, np.zeros(weights.size), 0.0, normal.square, 0.0, 0.0)
    factor = cholesky(add_identity(np.asfortranarray(normal.gram / penalty)))
    coef = lapack.dpotrs(factor, normal.pull, lower=1)[0] / penalty
    square = max(normal.square - float(normal.pull @ coef), NO_NOISE * normal.square)
    half = lapack.dtrtri(factor, lower=1)[0]
    trace = coef.size - float(np.einsum("ij,ij->", half, half))
    intercept = normal.z_mean - float(normal.x_mean @ coef)
    fit = np.asarray(sets.columns.matvec(coef))
    return _Step(coef, intercept, fit, float(coef @ coef), square, log_det(factor), trace)


def _iterated(sets: Sets, penalties: Vector) -> Path:
    """Return the path of any family, by Newton's method from penalty to penalty."""
    n, p = sets.columns.shape
    K = outer(sets) if p > n else None
    points: list[Point] = []
    losses: list[float] = []
    for penalty in penalties:
        before = points[-1] if points else _nowhere(sets)
        point = before
        for _ in range(STEPS if points else FIRST_STEPS):
            point = _newton(sets, K, point, float(penalty))
        past = np.asarray(_passed([one.evidence for one in points if one.penalty <= START * p]))
        point = point._replace(evidence=np.where(past, np.inf, point.evidence))
        points.append(point)
        losses.append(cross_validated(sets, point.eta, point.sigma2, point.families))
        if np.all(past) and _passed(losses):
            break
    return Path(tuple(points), dual=p > n)


def _passed(values: Any) -> Any:
    """Tell of each column whether its smallest value lies `RISES` behind."""
    return len(values) > RISES and len(values) - 1 - np.argmin(values, axis=0) >= RISES


def cross_validated(sets: Sets, eta: Matrix, sigma2: Vector, families: tuple[Family, ...]) -> float:
    """Return minus the log-likelihood of the rows by the fits that have not seen them."""
    total = 0.0
    for t, (_, test) in enumerate(sets.folds):
        loss = families[t].neg_log_likelihood(sets.y[test], eta[test, t], float(sigma2[t]))
        total += summed(sets.counts[test], loss)
    return total


def _nowhere(sets: Sets) -> Point:
    """Return the intercepts alone, near the best."""
    n, p = sets.columns.shape
    T = sets.n_sets
    level = np.zeros(T)
    if sets.center:
        for t, weights in enumerate(sets.weights.T):
            rows = weights > 0.0
            level[t] = sets.family.level(sets.y[rows], weights[rows], sets.offset[rows])
    eta = sets.offset[:, None] + level
    none = np.zeros(T)
    families = (sets.family,) * T
    solution = np.zeros((n if p > n else p, T))
    return Point(np.inf, solution, level, eta, np.ones(T), none, none, families)


def _newton(sets: Sets, K: Matrix | None, point: Point, penalty: float) -> Point:
    """Take one step of every set, halved where the penalised likelihood would fall."""
    targets, weights = sets.linearised(point.eta, point.sigma2, point.families)
    columns = [
        _accepted(sets, K, point, t, targets[:, t], weights[:, t], penalty) for t in range(sets.n_sets)
    ]
    solution, eta = (np.column_stack([c[k] for c in columns]) for k in (0, 2))
    intercept, sigma2, evidence, trace = (np.array([c[k] for c in columns]) for k in (1, 3, 4, 5))
    families = sets.updated(point.families, eta, sigma2)
    return Point(penalty, solution, intercept, eta, sigma2, evidence, trace, families)


def _accepted(
    sets: Sets, K: Matrix | None, point: Point, t: int, targets: Vector, weights: Vector, penalty: float
) -> tuple[Any, ...]:
    if K is None:
        step = _primal_step(sets, targets, weights, penalty)
    else:
        step = _dual_step(sets, K, targets, weights, penalty)
    family, sigma2 = point.families[t], float(point.sigma2[t])
    solution, intercept = step.solution, step.intercept
    eta, norm2 = step.fit + intercept + sets.offset, step.norm2
    loss = _penalised(sets, t, family, eta, sigma2, penalty * norm2)
    if not family.never_overshoots:
        old, old_eta, level = point.solution[:, t], point.eta[:, t], float(point.intercept[t])
        bound = _penalised(sets, t, family, old_eta, sigma2, penalty * _norm2(K, old)) + 1e-9
        for _ in range(HALVINGS):
            if loss <= bound:
                break
            solution, intercept = 0.5 * (solution + old), 0.5 * (intercept + level)
            eta = 0.5 * (eta + old_eta)
            loss = _penalised(sets, t, family, eta, sigma2, penalty * _norm2(K, solution))
    if family.has_dispersion:
        sigma2 = max(step.square / float(sets.total[t]), NO_NOISE)
    curvature = step.log_det + (np.log(weights.sum()) if sets.center else 0.0)
    return solution, intercept, eta, sigma2, loss + 0.5 * curvature, step.fit_trace


def _norm2(K: Matrix | None, solution: Vector) -> float:
    return float(solution @ (solution if K is None else K @ solution))


def _penalised(sets: Sets, t: int, family: Family, eta: Vector, sigma2: float, square: float) -> float:
    """Return minus the penalised log-likelihood of a set; infinite where a step leads out of range."""
    weights = sets.weights[:, t]
    rows = weights > 0.0
    loss = family.neg_log_likelihood(sets.y[rows], eta[rows], sigma2)
    with np.errstate(over="ignore"):
        return float(weights[rows] @ loss) + 0.5 * square / sigma2
