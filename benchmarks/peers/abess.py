"""The best subset of abess."""

from __future__ import annotations

from importlib import import_module

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, attributes


def fit(X: Array, y: Array) -> Fitted:
    return attributes(import_module("abess").LinearRegression(ic_type="ebic").fit(X, y))


SUBSET = Method("abess", 'abess LinearRegression(ic_type="ebic")', "abess", ("abess",), False, fit)
