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
from scipy.linalg import lapack

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.batch import Index
from horseshoe.average.ridge_newton import iterated
from horseshoe.average.ridge_path import NO_NOISE, Normal, Path, Point, may_start, outer, training_normals
from horseshoe.average.sets import Sets
from horseshoe.average.shifted_systems import shifted
from horseshoe.linalg import cholesky, eigen, log_det

# Of a path, in units of the number of columns: at 1 the prior expects to explain half of the variance.
PENALTIES: Vector = np.geomspace(1e4, 1e-3, 29)
# The least penalty as a share of the largest eigenvalue of X X': below it I - H is what rounding leaves, as
# where rows count a million times.
LEAST_PENALTY = 1e-7


def ridge_paths(
    each: tuple[Sets, ...], normals: tuple[tuple[Normal, ...], ...] | None = None
) -> tuple[Path, ...]:
    """Fit ridge regressions to all training sets, along the path, of one or several responses.

    ``normals`` are the normal equations of each, used if they are known.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 30))
    >>> X -= X.mean(axis=0)
    >>> folds = tuple((np.flatnonzero(np.arange(20) % 2 != f), np.arange(f, 20, 2)) for f in range(2))
    >>> sets = Sets(Dense(X), X[:, 0], np.zeros(20), np.ones(20), folds, Gaussian())
    >>> (path,) = ridge_paths((sets,))
    >>> len(path.points), path.points[0].eta.shape, path.coef(sets, path.points[0].solution).shape
    (29, (20, 3), (30, 3))
    """
    sets = each[0]
    n, p = sets.columns.shape
    penalties = PENALTIES * max(p, 1)
    if not sets.family.constant_weights:
        return tuple(iterated(one, penalties[::2]) for one in each)
    if p > n:
        return _among_rows(each, penalties)
    known = normals or training_normals(each)
    return tuple(_among_columns(one, penalties, own) for one, own in zip(each, known, strict=True))


def _among_rows(each: tuple[Sets, ...], penalties: Vector) -> tuple[Path, ...]:
    """Return the paths of Gaussian responses, p > n, from one eigendecomposition."""
    sets, n = each[0], each[0].y.size
    root, K = np.sqrt(sets.counts), outer(sets)
    values, U = eigen(K * root[:, None] * root)
    values = np.maximum(values, 0.0)
    penalties = np.maximum(penalties, LEAST_PENALTY * values[-1])
    q = root / np.sqrt(sets.counts.sum()) if sets.center else np.zeros(n)
    rows = _Rows(U, q, penalties, penalties / (values[:, None] + penalties))
    start, y = may_start(penalties, sets.columns.shape[1]), np.column_stack([root * one.y for one in each])
    degrees, found = _degrees(sets), []
    for t, weights in enumerate(sets.weights.T):
        test = sets.folds[t][1] if t < len(sets.folds) else np.arange(0)
        fit = _without(rows, np.flatnonzero(weights == 0.0), y, float(degrees[t]), start)
        dual, level = root[:, None, None] * fit.dual, fit.level / np.sqrt(sets.counts.sum())
        eta = np.full(dual.shape, np.nan)
        eta[test] = np.tensordot(K[test], dual, axes=1) + level
        found.append((dual, level, eta, fit.square / sets.total[t], fit.evidence, fit.trace))
    stacked = [np.stack(values, axis=-1) for values in zip(*found, strict=True)]
    families = [(one.family,) * one.n_sets for one in each]
    return tuple(
        Path(
            tuple(
                Point._make((penalty, *(values[..., i, o, :] for values in stacked), families[o]))
                for i, penalty in enumerate(penalties)
            ),
            dual=True,
        )
        for o in range(len(each))
    )


class _Rows(NamedTuple):
    """I - H of all rows is U kept U' - q q' at a penalty; ``kept`` has a column for each."""

    U: Matrix
    q: Vector
    penalties: Vector
    kept: Matrix


class _Ridge(NamedTuple):
    """The fits of one set; the last two axes are penalties and responses."""

    dual: Any
    level: Matrix
    square: Matrix
    evidence: Matrix
    trace: Matrix


def _without(rows: _Rows, out: Index, y: Matrix, degrees: float, start: Mask) -> _Ridge:
    """Fit all rows but some; the trace is known only where the mode starts."""
    U, q, penalties, kept = rows
    y = y.copy()
    y[out] = 0.0  # no set sees the others' y
    part, level_out = U[out], np.outer(q[out], q[out])
    shape = (penalties.size, y.shape[1])
    factors = [cholesky((part * one) @ part.T - level_out) if out.size else None for one in kept.T]
    more = np.array([0.0 if factor is None else log_det(factor) for factor in factors])
    among, level = (U.T @ y)[:, None], np.broadcast_to(q @ y, shape)
    if out.size:
        error = np.tensordot(part, kept[..., None] * among, axes=1) - np.multiply.outer(q[out], level)
        solved = [lapack.dpotrs(factors[i], error[:, i], lower=1)[0] for i in range(penalties.size)]
        fill = -np.stack(solved, axis=1)
        among = among + np.tensordot(part.T, fill, axes=1)
        level = level + np.tensordot(q[out], fill, axes=1)
    inner = kept[..., None] * among
    square = np.einsum("ilo,ilo->lo", inner, np.broadcast_to(among, inner.shape)) - level**2
    square = np.maximum(square, NO_NOISE * np.einsum("io,io->o", y, y) + 1e-300)
    evidence = 0.5 * (degrees * np.log(square) + (more - np.log(kept).sum(axis=0))[:, None])
    dual = (np.tensordot(U, inner, axes=1) - np.multiply.outer(q, level)) / penalties[:, None]
    trace = np.full(shape, np.nan)
    for o, i in enumerate(np.where(start[:, None], evidence, np.inf).argmin(axis=0)):
        left = float(kept[:, i].sum() - q @ q)
        if out.size:
            squared = (part * kept[:, i] ** 2) @ part.T - level_out
            left -= float(np.trace(lapack.dpotrs(factors[i], squared, lower=1)[0]))
        trace[i, o] = q.size - out.size - float(q.any()) - left
    return _Ridge(dual, level, square, evidence, trace)


def _degrees(sets: Sets) -> Vector:
    """Return how many observations of each set tell of the noise: a row of weight 2 is two of them."""
    return np.maximum(sets.total - float(sets.center), 0.0)


def _among_columns(sets: Sets, penalties: Vector, normals: tuple[Normal, ...]) -> Path:
    """Return the path of a Gaussian response, p <= n, from the normal equations of each set."""
    grams, pulls = [normal.gram for normal in normals], [normal.pull for normal in normals]
    found = shifted(grams, pulls, penalties)
    coef = found.solution
    square = np.array([normal.square for normal in normals])[:, None]
    explained = np.einsum("jt,jtl->tl", np.column_stack(pulls), coef)
    square = np.maximum(square - explained, NO_NOISE * square + 1e-300)
    evidence = 0.5 * (_degrees(sets)[:, None] * np.log(square) + found.log_det)
    x_mean = np.column_stack([normal.x_mean for normal in normals])
    z_mean = np.array([normal.z_mean for normal in normals])[:, None]
    intercept = z_mean - np.einsum("jt,jtl->tl", x_mean, coef)
    sigma2, families = square / sets.total[:, None], (sets.family,) * sets.n_sets
    eta = _tested(sets, coef)
    eta += intercept
    return Path(
        tuple(
            Point(penalty, coef[..., i], intercept[:, i], eta[..., i], *rest, families)
            for i, penalty in enumerate(penalties)
            for rest in [(sigma2[:, i], evidence[:, i], found.trace[:, i])]
        ),
        dual=False,
    )


def _tested(sets: Sets, coef: Any) -> Any:
    """Return X b of the rows that a set is tested on; others are not asked for."""
    fit = np.full((sets.y.size, *coef.shape[1:]), np.nan)
    for t, (_, test) in enumerate(sets.folds):
        fit[test, t] = sets.columns.rows(test).matvec(coef[:, t])
    return fit
