"""What a method is.

Every method is a function from ``(X, y)`` to its answer on the raw scale. Libraries are imported by name
inside the functions, because each peer is installed only in its own environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.arrays import Array

OURS = "horseshoe"
"""Name of our own default in every task; it runs in the interpreter that runs the benchmark."""
ADAPTIVE = "horseshoe-cv"
"""Name of our estimator that adapts to the unknown sparsity, in every task that has one."""


class Fitted(NamedTuple):
    """An answer: the coefficients and the intercept that predict, and which columns are selected."""

    coef: Array
    intercept: float
    selected: NDArray[np.bool_]


@dataclass(frozen=True)
class Method:
    """One row of a comparison; without an environment it is ours.

    ``modules`` are what a fit needs: modules, or ``module:name`` where a name is loaded when asked for.
    """

    name: str
    label: str
    environment: str | None
    modules: tuple[str, ...]
    cross_validated: bool
    fit: Callable[[Array, Array], Fitted]


def named(*methods: Method) -> dict[str, Method]:
    """Return methods by name, in the order of the report."""
    return {m.name: m for m in methods}


def nonzero(coef: Array, intercept: float) -> Fitted:
    """Return an answer that selects the columns whose coefficients are not exactly zero."""
    return Fitted(coef, intercept, coef != 0.0)


def attributes(model: Any) -> Fitted:
    """Read the coefficients of an estimator that follows scikit-learn."""
    return nonzero(np.asarray(model.coef_, dtype=float).ravel(), float(np.asarray(model.intercept_).item()))


def adaptive(estimator: str) -> Method:
    """Return an adaptive estimator of ours: the average predicts, its sparse answer selects."""

    def fit(X: Array, y: Array) -> Fitted:
        model = getattr(import_module("horseshoe"), estimator)().fit(X, y)
        return attributes(model)._replace(selected=np.asarray(model.support_, dtype=bool))

    return Method(ADAPTIVE, f"horseshoe {estimator}()", None, (f"horseshoe:{estimator}",), True, fit)
