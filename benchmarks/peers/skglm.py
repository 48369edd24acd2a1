"""The minimax concave penalty of skglm, cross-validated here."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, nonzero


def fit(X: Array, y: Array) -> Fitted:
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
    return nonzero(coef, float(y.mean() - centre @ coef))


MCP = Method("skglm-mcp", "skglm MCPRegression, 10-fold path", "skglm", ("skglm",), True, fit)
