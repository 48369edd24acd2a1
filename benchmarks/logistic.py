"""The logistic task: two classes."""

from __future__ import annotations

from importlib import import_module
from math import log
from typing import Any

import numpy as np

from data import Array, Family, Simulation
from methods import OURS, SKLEARN, Fitted, Method, attributes, named

UNPENALISED = "sklearn-lbfgs"


def _draw(eta: Array, rng: np.random.Generator) -> Array:
    return (rng.random(eta.size) < 1.0 / (1.0 + np.exp(-eta))).astype(float)


BERNOULLI = Family(
    _draw, cumulant=lambda eta: np.logaddexp(0.0, eta), link=lambda mean: log(mean / (1.0 - mean))
)
SIMULATION = Simulation(BERNOULLI, effects=(1.5,) * 3 + (-1.5,) * 2, intercept=0.0)

ABOUT = """The first three coefficients are 1.5, the next two -1.5; there is no intercept. The lasso fits take
the penalty of best cross-validated accuracy, which is the default of both libraries; the log loss, to which
scikit-learn's default is about to change, is shown beside it for the faster solver. Both
solvers keep their default limit of iterations."""


def _fit_farrier(X: Array, y: Array, **options: str) -> Fitted:
    return attributes(import_module("farrier").HorseshoeClassifier(**options).fit(X, y))


def fit_farrier(X: Array, y: Array) -> Fitted:
    return _fit_farrier(X, y)


def fit_farrier_irls(X: Array, y: Array) -> Fitted:
    return _fit_farrier(X, y, weights="irls")


def _fit_sklearn_cv(X: Array, y: Array, **options: Any) -> Fitted:
    """Lasso over the default grid of penalties, in the words that scikit-learn 1.9 asks for."""
    model = import_module("sklearn.linear_model").LogisticRegressionCV(
        l1_ratios=(1.0,), cv=10, random_state=0, use_legacy_attributes=False, **options
    )
    return attributes(model.fit(X, y))


def fit_liblinear(X: Array, y: Array) -> Fitted:
    return _fit_sklearn_cv(X, y, solver="liblinear", scoring="accuracy")


def fit_liblinear_log_loss(X: Array, y: Array) -> Fitted:
    return _fit_sklearn_cv(X, y, solver="liblinear", scoring="neg_log_loss")


def fit_saga(X: Array, y: Array) -> Fitted:
    return _fit_sklearn_cv(X, y, solver="saga", scoring="accuracy")


def fit_glmnet(X: Array, y: Array) -> Fitted:
    """Lasso at the penalty of best cross-validated accuracy, as the other cross-validated peers choose it."""
    model = import_module("glmnet").LogitNet(n_splits=10, cut_point=0.0, random_state=0)
    return attributes(model.fit(X, y))


def fit_unpenalised(X: Array, y: Array) -> Fitted:
    return attributes(import_module("sklearn.linear_model").LogisticRegression(C=np.inf).fit(X, y))


_MODULES = ("sklearn.linear_model",)
_CV = "scikit-learn LogisticRegressionCV(l1_ratios=(1,), cv=10, "

METHODS = named(
    Method(OURS, "farrier HorseshoeClassifier()", None, ("farrier",), False, fit_farrier),
    Method(
        "farrier-irls",
        'farrier HorseshoeClassifier(weights="irls")',
        None,
        ("farrier",),
        False,
        fit_farrier_irls,
    ),
    Method(
        "sklearn-liblinear",
        _CV + 'solver="liblinear", scoring="accuracy")',
        SKLEARN,
        _MODULES,
        True,
        fit_liblinear,
    ),
    Method(
        "sklearn-liblinear-log-loss",
        _CV + 'solver="liblinear", scoring="neg_log_loss")',
        SKLEARN,
        _MODULES,
        True,
        fit_liblinear_log_loss,
    ),
    Method("sklearn-saga", _CV + 'solver="saga", scoring="accuracy")', SKLEARN, _MODULES, True, fit_saga),
    Method("glmnet", "python-glmnet LogitNet(n_splits=10)", "python-glmnet", ("glmnet",), True, fit_glmnet),
    Method(
        UNPENALISED,
        "scikit-learn LogisticRegression(C=np.inf), one fit",
        SKLEARN,
        _MODULES,
        False,
        fit_unpenalised,
    ),
)
