"""What a method is, and the environments that methods run in.

Every method is a function from ``(X, y)`` to ``(coefficients on the raw scale, intercept)``. Libraries are
imported by name inside the functions, because each peer is installed only in its own environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from data import Array

Fitted = tuple[Array, float]

OURS = "farrier"
"""Name of our own default in every task; it runs in the interpreter that runs the benchmark."""

SKLEARN = "scikit-learn"

ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    SKLEARN: ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "celer": ("celer==0.7.4", "scikit-learn==1.8.0", "numpy==2.4.6", "scipy==1.17.1"),
    "python-glmnet": ("python-glmnet==2.6.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "adelie": ("adelie==1.1.52", "scikit-learn==1.9.1", "numpy==1.26.4", "scipy==1.17.1"),
    "skglm": ("skglm==0.5", "numba==0.68.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "abess": ("abess==0.4.11", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "glum": ("glum==3.4.1", "tabmat==4.2.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "numpyro": ("numpyro==0.22.0", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6", "scipy==1.17.1"),
}
"""Pinned requirements of each peer's own environment."""


@dataclass(frozen=True)
class Method:
    """One row of a comparison; without an environment it is ours."""

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
