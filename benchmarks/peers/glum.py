"""The lasso of glum for counts."""

from __future__ import annotations

from importlib import import_module

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, attributes


def fit(X: Array, y: Array) -> Fitted:
    glum = import_module("glum")
    return attributes(glum.GeneralizedLinearRegressorCV(family="poisson", l1_ratio=1, cv=10).fit(X, y))


POISSON = Method(
    "glum",
    'glum GeneralizedLinearRegressorCV(family="poisson", l1_ratio=1, cv=10)',
    "glum",
    ("glum",),
    True,
    fit,
)
