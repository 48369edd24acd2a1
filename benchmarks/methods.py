"""The methods that are compared, and the environments they run in.

Every method is a function from ``(X, y)`` to ``(coefficients on the raw scale, intercept)``. Libraries are
imported by name inside the functions, because each peer is installed only in its own environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from data import Array

Fitted = tuple[Array, float]

OURS = "farrier"
"""Name of our own method; it runs in the interpreter that runs the benchmark."""

ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    "scikit-learn": ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "celer": ("celer==0.7.4", "scikit-learn==1.8.0", "numpy==2.4.6", "scipy==1.17.1"),
    "python-glmnet": ("python-glmnet==2.6.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "adelie": ("adelie==1.1.52", "scikit-learn==1.9.1", "numpy==1.26.4", "scipy==1.17.1"),
    "skglm": ("skglm==0.5", "numba==0.68.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "abess": ("abess==0.4.11", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
}
"""Pinned requirements of each peer's own environment."""


@dataclass(frozen=True)
class Method:
    """One row of the comparison."""

    name: str
    label: str
    environment: str | None
    modules: tuple[str, ...]
    cross_validated: bool
    fit: Callable[[Array, Array], Fitted]


def _attributes(model: Any) -> Fitted:
    """Read the coefficients of an estimator that follows scikit-learn."""
    return np.asarray(model.coef_, dtype=float).ravel(), float(model.intercept_)


def fit_farrier(X: Array, y: Array) -> Fitted:
    return _attributes(import_module("farrier").HorseshoeRegressor().fit(X, y))


def fit_sklearn_lasso(X: Array, y: Array) -> Fitted:
    return _attributes(import_module("sklearn.linear_model").LassoCV(cv=10).fit(X, y))


def fit_sklearn_ard(X: Array, y: Array) -> Fitted:
    return _attributes(import_module("sklearn.linear_model").ARDRegression().fit(X, y))


def fit_celer(X: Array, y: Array) -> Fitted:
    return _attributes(import_module("celer").LassoCV(cv=10).fit(X, y))


def fit_glmnet(X: Array, y: Array) -> Fitted:
    """Lasso at the penalty of least cross-validated error, as the other cross-validated peers choose it."""
    model = import_module("glmnet").ElasticNet(n_splits=10, cut_point=0.0, random_state=0)
    return _attributes(model.fit(X, y))


def _fit_adelie(X: Array, y: Array, **options: float) -> Fitted:
    adelie = import_module("adelie")
    design = np.asfortranarray(X)
    family = adelie.glm.gaussian(y)
    search = adelie.cv_grpnet(design, family, n_folds=10, seed=0, progress_bar=False, **options)
    state = search.fit(design, family, progress_bar=False)
    return np.asarray(state.betas[-1].todense()).ravel(), float(state.intercepts[-1])


def fit_adelie(X: Array, y: Array) -> Fitted:
    return _fit_adelie(X, y)


def fit_adelie_long(X: Array, y: Array) -> Fitted:
    """Follow the path down to 0.01 of the largest penalty; the default, 0.1, ends before the best one."""
    return _fit_adelie(X, y, min_ratio=0.01)


def fit_skglm_mcp(X: Array, y: Array) -> Fitted:
    """MCP over 100 penalties, standardised columns, ten folds, then the path down to the best penalty."""
    model = import_module("skglm").MCPRegression(fit_intercept=False, warm_start=True)
    centre, scale = X.mean(axis=0), X.std(axis=0)
    Z = np.asfortranarray((X - centre) / scale)
    response = y - y.mean()
    penalties = np.geomspace(1.0, 0.01, 100) * np.abs(Z.T @ response).max() / y.size
    folds = np.random.default_rng(0).permutation(y.size) % 10
    loss = np.zeros(penalties.size)
    for k in range(10):
        train, test = folds != k, folds == k
        shift, level = Z[train].mean(axis=0), response[train].mean()
        coefs = model.path(np.asfortranarray(Z[train] - shift), response[train] - level, penalties)[1]
        residual = (response[test] - level)[:, None] - (Z[test] - shift) @ coefs
        loss += (residual**2).sum(axis=0)
    best = int(loss.argmin())
    coef = model.path(Z, response, penalties[: best + 1])[1][:, -1] / scale
    return coef, float(y.mean() - centre @ coef)


def fit_abess(X: Array, y: Array) -> Fitted:
    return _attributes(import_module("abess").LinearRegression(ic_type="ebic").fit(X, y))


_SKLEARN = ("sklearn.linear_model",)

METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        Method(OURS, "farrier HorseshoeRegressor()", None, ("farrier",), False, fit_farrier),
        Method(
            "sklearn-lasso",
            "scikit-learn LassoCV(cv=10)",
            "scikit-learn",
            _SKLEARN,
            True,
            fit_sklearn_lasso,
        ),
        Method("celer", "celer LassoCV(cv=10)", "celer", ("celer",), True, fit_celer),
        Method(
            "glmnet",
            "python-glmnet ElasticNet(n_splits=10)",
            "python-glmnet",
            ("glmnet",),
            True,
            fit_glmnet,
        ),
        Method("adelie", "adelie cv_grpnet(n_folds=10)", "adelie", ("adelie",), True, fit_adelie),
        Method(
            "adelie-long",
            "adelie cv_grpnet(n_folds=10, min_ratio=0.01)",
            "adelie",
            ("adelie",),
            True,
            fit_adelie_long,
        ),
        Method("skglm-mcp", "skglm MCPRegression, 10-fold path", "skglm", ("skglm",), True, fit_skglm_mcp),
        Method("abess", 'abess LinearRegression(ic_type="ebic")', "abess", ("abess",), False, fit_abess),
        Method(
            "sklearn-ard",
            "scikit-learn ARDRegression()",
            "scikit-learn",
            _SKLEARN,
            False,
            fit_sklearn_ard,
        ),
    )
}
