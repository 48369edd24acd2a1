"""Rows: with weights, and their cross-products in extended precision."""

from __future__ import annotations

import numpy as np

from oracles.arrays import Matrix, Vector


def weighted_centred(X: Matrix, z: Vector, weights: Vector, center: bool) -> tuple[Matrix, Vector]:
    """The rows that have weight, times its root, after what has no intercept is off: plain least squares."""
    rows = np.flatnonzero(weights)
    X, z, root = X[rows], z[rows], np.sqrt(weights[rows])
    if center:
        X = X - np.average(X, axis=0, weights=weights[rows])
        z = z - np.average(z, weights=weights[rows])
    return root[:, None] * X, root * z


def cross_products(x, y, weights=None):
    """Total weight, means and centred cross-products of (x, y), in extended precision."""
    both = np.column_stack([x, y]).astype(np.longdouble)
    w = np.ones(len(both), dtype=np.longdouble) if weights is None else weights.astype(np.longdouble)
    mean = (w[:, None] * both).sum(axis=0) / w.sum()
    around = both - mean
    products = sum(w_i * np.outer(row, row) for w_i, row in zip(w, around, strict=True))
    return float(w.sum()), mean.astype(float), products.astype(float)
