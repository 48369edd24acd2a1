"""Linear and logistic regressions of scikit-learn."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, attributes
from benchmarks.peers.pins import SKLEARN

MODULE = "sklearn.linear_model"


def _fit(X: Array, y: Array, estimator: str, **options: Any) -> Fitted:
    return attributes(getattr(import_module(MODULE), estimator)(**options).fit(X, y))


def _logistic_cv(X: Array, y: Array, solver: str, scoring: str) -> Fitted:
    """Lasso over the default grid of penalties, in the words that scikit-learn 1.9 asks for."""
    options = {"l1_ratios": (1.0,), "cv": 10, "random_state": 0, "use_legacy_attributes": False}
    return _fit(X, y, "LogisticRegressionCV", solver=solver, scoring=scoring, **options)


def _method(name: str, label: str, cross_validated: bool, fit: partial[Fitted]) -> Method:
    return Method(name, f"scikit-learn {label}", SKLEARN, (MODULE,), cross_validated, fit)


def _cross_validated(name: str, solver: str, scoring: str) -> Method:
    label = f'LogisticRegressionCV(l1_ratios=(1,), cv=10, solver="{solver}", scoring="{scoring}")'
    return _method(name, label, True, partial(_logistic_cv, solver=solver, scoring=scoring))


LASSO = _method("sklearn-lasso", "LassoCV(cv=10)", True, partial(_fit, estimator="LassoCV", cv=10))
ARD = _method("sklearn-ard", "ARDRegression()", False, partial(_fit, estimator="ARDRegression"))
LIBLINEAR = _cross_validated("sklearn-liblinear", "liblinear", "accuracy")
LIBLINEAR_LOG_LOSS = _cross_validated("sklearn-liblinear-log-loss", "liblinear", "neg_log_loss")
SAGA = _cross_validated("sklearn-saga", "saga", "accuracy")
UNPENALISED = _method(
    "sklearn-lbfgs",
    "LogisticRegression(C=np.inf), one fit",
    False,
    partial(_fit, estimator="LogisticRegression", C=np.inf),
)
