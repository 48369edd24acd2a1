"""What a method is.

Every method is a function from ``(X, y)`` to ``(coefficients on the raw scale, intercept)``. Libraries are
imported by name inside the functions, because each peer is installed only in its own environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.arrays import Array

Fitted = tuple[Array, float]

OURS = "farrier"
"""Name of our own default in every task; it runs in the interpreter that runs the benchmark."""


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


def attributes(model: Any) -> Fitted:
    """Read the coefficients of an estimator that follows scikit-learn."""
    return np.asarray(model.coef_, dtype=float).ravel(), float(np.asarray(model.intercept_).item())
