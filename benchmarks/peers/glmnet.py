"""The lasso of python-glmnet, for numbers and for classes."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, attributes


def fit(X: Array, y: Array, estimator: str) -> Fitted:
    """Lasso at the penalty of best cross-validated score, as the other cross-validated peers choose it."""
    kind = getattr(import_module("glmnet"), estimator)
    return attributes(kind(n_splits=10, cut_point=0.0, random_state=0).fit(X, y))


def _method(estimator: str) -> Method:
    label = f"python-glmnet {estimator}(n_splits=10)"
    return Method("glmnet", label, "python-glmnet", ("glmnet",), True, partial(fit, estimator=estimator))


LINEAR = _method("ElasticNet")
LOGISTIC = _method("LogitNet")
