"""The linear task: least squares with Gaussian noise."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from data import Array, Family, Simulation
from methods import OURS, SKLEARN, Fitted, Method, attributes, named

NOISE_SD = 3.0


def _draw(eta: Array, rng: np.random.Generator) -> Array:
    return eta + NOISE_SD * rng.standard_normal(eta.size)


GAUSSIAN = Family(_draw, cumulant=lambda eta: eta**2 / 2.0, link=lambda mean: mean)
SIMULATION = Simulation(GAUSSIAN, effects=(3.0,) * 10 + (-3.0,) * 10, intercept=0.0)

ABOUT = """The first ten coefficients are 3, the next ten -3; the noise has standard deviation 3. All lasso
and MCP fits take the penalty of least cross-validated error; adelie's default path ends at a tenth of the
largest penalty, so a longer one is shown beside it."""


def fit_farrier(X: Array, y: Array) -> Fitted:
    return attributes(import_module("farrier").HorseshoeRegressor().fit(X, y))


def fit_sklearn_lasso(X: Array, y: Array) -> Fitted:
    return attributes(import_module("sklearn.linear_model").LassoCV(cv=10).fit(X, y))


def fit_sklearn_ard(X: Array, y: Array) -> Fitted:
    return attributes(import_module("sklearn.linear_model").ARDRegression().fit(X, y))


def fit_celer(X: Array, y: Array) -> Fitted:
    return attributes(import_module("celer").LassoCV(cv=10).fit(X, y))


def fit_glmnet(X: Array, y: Array) -> Fitted:
    """Lasso at the penalty of least cross-validated error, as the other cross-validated peers choose it."""
    model = import_module("glmnet").ElasticNet(n_splits=10, cut_point=0.0, random_state=0)
    return attributes(model.fit(X, y))


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
    return attributes(import_module("abess").LinearRegression(ic_type="ebic").fit(X, y))


_MODULES = ("sklearn.linear_model",)

METHODS = named(
    Method(OURS, "farrier HorseshoeRegressor()", None, ("farrier",), False, fit_farrier),
    Method(
        "sklearn-lasso",
        "scikit-learn LassoCV(cv=10)",
        SKLEARN,
        _MODULES,
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
        SKLEARN,
        _MODULES,
        False,
        fit_sklearn_ard,
    ),
)
