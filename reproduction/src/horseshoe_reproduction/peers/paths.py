"""Penalised regressions along a path of penalties, and ten-fold cross-validation to choose one.

Lasso and ridge are glmnet's own (python-glmnet). MCP and SCAD are skglm's for linear models, `descent`'s for
two classes, with the defaults of R's ncvreg: gamma 3 and 3.7, one hundred penalties down to a twentieth of
the largest where p > n. Those of counts are all from `descent`, with the grids of the two packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.environment import require
from horseshoe_reproduction.experiment import Fit, Kind
from horseshoe_reproduction.peers.descent import FARTHEST, penalised_path
from horseshoe_reproduction.peers.standardised import standardised

# The defaults of ncvreg.
FOLDS, PENALTIES = 10, 100
GAMMA = {"MCPenalty": 3.0, "SCAD": 3.7}
# Log odds beyond this do not count as surer: both R packages hold probabilities within 1e-5 and 1 - 1e-5.
SUREST = float(np.log((1.0 - 1e-5) / 1e-5))
Rule = Literal["min", "1se"]


class Path(NamedTuple):
    """Fits at falling penalties: ``coef`` has a column, ``intercept`` an entry for each."""

    penalties: Vector
    coef: Matrix
    intercept: Vector

    def predict(self, X: Matrix) -> Matrix:
        """Return the linear predictor of every row at every penalty."""
        return X @ self.coef + self.intercept


# From X, y and the penalties (None: choose them) to a path, which may end before the last of them.
Solver = Callable[[Matrix, Vector, Vector | None], Path]


def glmnet(kind: Kind, alpha: float) -> Solver:
    """Return glmnet's path: ``alpha`` 1 is the lasso, 0 is ridge. That of counts is ours.

    Examples
    --------
    >>> X, y = np.eye(8), np.arange(8.0)
    >>> glmnet("gaussian", 1.0)(X, y, None).coef[:, 0]  # at the largest penalty nothing is in the model
    array([0., 0., 0., 0., 0., 0., 0., 0.])
    """
    if kind == "poisson":
        return _elastic_counts(alpha)
    library = require("glmnet")
    family = library.ElasticNet if kind == "gaussian" else library.LogitNet

    def solve(X: Matrix, y: Vector, penalties: Vector | None) -> Path:
        ratio = 1e-2 if X.shape[0] < X.shape[1] else 1e-4
        model = family(alpha=alpha, n_splits=0, lambda_path=penalties, min_lambda_ratio=ratio)
        model.fit(X, y)
        coef = np.asarray(model.coef_path_).reshape(X.shape[1], -1)
        intercept = np.asarray(model.intercept_path_).ravel()
        if penalties is None:
            return Path(np.asarray(model.lambda_path_), coef, intercept)
        index = np.minimum(np.arange(penalties.size), intercept.size - 1)  # stopped: nothing left to gain
        return Path(penalties, coef[:, index], intercept[index])

    return solve


def _elastic_counts(alpha: float) -> Solver:
    """Return the path of counts with glmnet's grid; the largest penalty of ridge is that of alpha 0.001."""

    def solve(X: Matrix, y: Vector, penalties: Vector | None) -> Path:
        Z, shift, scale = standardised(X)
        if penalties is None:
            largest = np.abs(Z.T @ (y - y.mean())).max() / y.size / max(alpha, 1e-3)
            penalties = largest * np.geomspace(1.0, 1e-2 if X.shape[0] < X.shape[1] else 1e-4, PENALTIES)
        path = penalised_path(Z, y, penalties, alpha, "elastic", "poisson")
        coef = path[1:] / scale[:, None]
        return Path(penalties[: path.shape[1]], coef, path[0] - shift @ coef)

    return solve


def nonconvex(kind: Kind, penalty: str) -> Solver:
    """Return the path for "MCPenalty" or "SCAD" on standardised columns.

    It is skglm's for a linear model, and `penalised_path` for classes and counts.
    """
    require("skglm")

    def solve(X: Matrix, y: Vector, penalties: Vector | None) -> Path:
        Z, shift, scale = standardised(X)
        level, unit = float(y.mean()), float(y.std()) if kind == "gaussian" else 1.0
        if penalties is None:
            largest = np.abs(Z.T @ (y - level)).max() / y.size
            penalties = largest * np.geomspace(1.0, 0.05 if X.shape[0] < X.shape[1] else 0.001, PENALTIES)
        if kind == "gaussian":
            path = _linear(penalty, Z, (y - level) / unit, penalties / unit)
        else:
            path = penalised_path(Z, y, penalties, GAMMA[penalty], penalty, kind)
        coef = unit * path[1:] / scale[:, None]
        base = level if kind == "gaussian" else path[0]
        return Path(penalties[: path.shape[1]], coef, base - shift @ coef)

    return solve


def _linear(penalty: str, Z: Matrix, y: Vector, penalties: Vector) -> Matrix:
    """Follow the path of a linear model; each fit has its intercept, zero here, before its coefficients."""
    solver = require("skglm.solvers").AndersonCD(fit_intercept=False, warm_start=True)
    datafit = require("skglm.datafits").Quadratic()
    shape = getattr(require("skglm.penalties"), penalty)
    found, b, fitted = [], np.zeros(Z.shape[1]), np.zeros(y.size)
    for size in penalties:
        with np.errstate(divide="ignore", invalid="ignore"):  # an extrapolation of its own that it then drops
            b = solver.solve(Z, y, datafit, shape(float(size), GAMMA[penalty]), b.copy(), fitted)[0]
        found.append(np.append(0.0, b))
    return np.array(found).T


def cross_validate(
    solve: Solver, kind: Kind, X: Matrix, y: Vector, rng: np.random.Generator, stratify: bool = False
) -> dict[Rule, Fit]:
    """Return the fit at the penalty of least cross-validated loss, and within one standard error of it.

    The loss is the squared error or the deviance; the error of its mean over the folds is R glmnet's. With
    ``stratify`` every fold gets its share of each class, as in ncvreg.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = 3.0 * X[:, 0] + rng.standard_normal(60)
    >>> found = cross_validate(glmnet("gaussian", 1.0), "gaussian", X, y, rng)
    >>> found["1se"].coef.round(1)
    array([2.5, 0. , 0. , 0. , 0. ])
    """
    whole = solve(X, y, None)
    folds = _folds(y if stratify else None, y.size, rng)
    tried = []
    for k in range(FOLDS):
        held = folds == k
        path = solve(X[~held], y[~held], whole.penalties)
        tried.append(_loss(kind, y[held], path.predict(X[held])))
    shared = min(loss.size for loss in tried)
    losses, sizes = np.array([loss[:shared] for loss in tried]), np.bincount(folds)
    mean = np.average(losses, axis=0, weights=sizes)
    error = np.sqrt(np.average((losses - mean) ** 2, axis=0, weights=sizes) / (FOLDS - 1))
    least = int(mean.argmin())
    near = int(np.flatnonzero(mean <= mean[least] + error[least])[0])
    rules: dict[Rule, int] = {"min": least, "1se": near}
    return {rule: Fit(whole.coef[:, i], float(whole.intercept[i])) for rule, i in rules.items()}


def _folds(classes: Vector | None, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the number of the fold of each row."""
    order = rng.permutation(size)
    if classes is None:
        return order % FOLDS
    folds = np.empty(size, dtype=np.intp)
    folds[order[np.argsort(classes[order], kind="stable")]] = np.arange(size) % FOLDS
    return folds


def _loss(kind: Kind, y: Vector, eta: Matrix) -> Vector:
    """Return the mean loss of each column of linear predictors."""
    if kind == "gaussian":
        return np.asarray(((y[:, None] - eta) ** 2).mean(axis=0))
    if kind == "poisson":
        held = np.clip(eta, -FARTHEST, FARTHEST)
        return np.asarray(2.0 * (np.exp(held) - y[:, None] * held).mean(axis=0))  # up to a constant
    return _deviance(y, eta)


def _deviance(y: Vector, eta: Matrix) -> Vector:
    """Return the mean deviance of 0s and 1s for each column of log odds."""
    held = np.clip(eta, -SUREST, SUREST)
    return np.asarray(2.0 * np.logaddexp(0.0, np.where(y[:, None] > 0.5, -held, held)).mean(axis=0))
