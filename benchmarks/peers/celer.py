"""The lasso of celer."""

from __future__ import annotations

from importlib import import_module

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, attributes


def fit(X: Array, y: Array) -> Fitted:
    return attributes(import_module("celer").LassoCV(cv=10).fit(X, y))


LASSO = Method("celer", "celer LassoCV(cv=10)", "celer", ("celer",), True, fit)
