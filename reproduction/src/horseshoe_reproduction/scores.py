"""How an answer is scored where more than its coefficients count: errors, ranks, coverage, calibration."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy
from sklearn.metrics import roc_auc_score

from horseshoe_reproduction.arrays import Mask, Matrix, Vector
from horseshoe_reproduction.experiment import Fit, Kind
from horseshoe_reproduction.table6 import FLOOR

# Logs of mean counts beyond this do not count as further out.
BINS = 10
EXTREME = 30.0


def means(fit: Fit, kind: Kind, X: Matrix) -> Vector:
    """Return the means of new rows: what the method says of them, or what its coefficients say.

    Examples
    --------
    >>> means(Fit(np.array([1.0]), -2.0), "binomial", np.array([[2.0]]))
    array([0.5])
    """
    if fit.predicted is not None:
        return fit.predicted
    eta = X @ fit.coef + fit.intercept
    if kind == "poisson":
        return np.asarray(np.exp(np.clip(eta, -EXTREME, EXTREME)))
    return np.asarray(expit(eta) if kind == "binomial" else eta)


def log_loss(y: Vector, probability: Vector) -> float:
    """Return the mean of -log(probability of the true class); no probability counts as 0, as in Table 6.

    Examples
    --------
    >>> round(log_loss(np.array([1.0, 0.0]), np.array([0.5, 0.5])), 6)  # log 2
    0.693147
    """
    return float(-np.mean(xlogy(y, _held(probability)) + xlogy(1.0 - y, _held(1.0 - probability))))


def _held(probability: Vector) -> Vector:
    return np.asarray((probability + FLOOR) / (1.0 + 2.0 * FLOOR))


def loss(kind: Kind, y: Vector, mean: Vector) -> float:
    """Return what predictions of y cost on average: squared error, log loss, or Poisson deviance.

    Examples
    --------
    >>> loss("gaussian", np.array([1.0, 3.0]), np.array([2.0, 3.0])), loss("poisson", np.ones(2), np.ones(2))
    (0.5, 0.0)
    """
    return log_loss(y, mean) if kind == "binomial" else excess(kind, y, mean)


def excess(kind: Kind, truth: Vector, found: Vector) -> float:
    """Return how much is lost by predicting means other than the true ones, on average over rows.

    Squared error; Kullback-Leibler divergence of two classes, which is the log loss beyond that of the true
    probabilities; of counts the Poisson deviance beyond that of the true means.

    Examples
    --------
    >>> excess("poisson", np.array([2.0]), np.array([2.0])), excess("gaussian", np.zeros(2), np.ones(2))
    (0.0, 1.0)
    """
    if kind == "binomial":
        return log_loss(truth, found) - log_loss(truth, truth)
    if kind == "poisson":
        return float(2.0 * np.mean(xlogy(truth, truth / found) - (truth - found)))
    return float(np.mean((truth - found) ** 2))


def covered(interval: Matrix, value: Vector) -> float:
    """Return the share of values within their intervals.

    Examples
    --------
    >>> covered(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0.5, 2.0]))
    0.5
    """
    return float(np.mean((interval[:, 0] <= value) & (value <= interval[:, 1])))


def selection(fit: Fit, coef: Vector) -> dict[str, float]:
    """Return what is found of the true columns: counts, ranks, coverage of effects, and inclusion in bins.

    Examples
    --------
    >>> fit = Fit(np.array([1.0, 0.5, 0.0]), inclusion=np.array([0.95, 0.31, 0.32]))
    >>> selection(fit, np.array([1.0, 0.0, 0.0]))  # doctest: +NORMALIZE_WHITESPACE
    {'True': 1.0, 'False': 1.0, 'Empty': 0.0, 'AUC': 1.0,
     'columns 3': 2.0, 'inclusion 3': 0.63, 'true 3': 0.0,
     'columns 9': 1.0, 'inclusion 9': 0.95, 'true 9': 1.0}
    """
    true = coef != 0.0
    kept = fit.coef != 0.0 if fit.support is None else fit.support
    found = {"True": float(np.count_nonzero(kept & true)), "False": float(np.count_nonzero(kept & ~true))}
    found["Empty"] = float(not kept.any())
    if fit.inclusion is not None:
        found |= _ranks(fit.inclusion, true)
        found |= _bins(fit.inclusion, true) if fit.inclusion.ndim == 1 else {}
    if fit.intervals is not None and true.any():
        found["Effects covered"] = covered(fit.intervals[0][true], coef[true])
    return found


def _ranks(inclusion: Matrix, true: Mask) -> dict[str, float]:
    """Return the AUC, of a method with several answers that of each."""
    if not true.any() or true.all():
        return {}
    if inclusion.ndim == 1:
        return {"AUC": float(roc_auc_score(true, inclusion))}
    return {f"AUC {k}": float(roc_auc_score(true, column)) for k, column in enumerate(inclusion.T)}


def _bins(inclusion: Vector, true: Mask) -> dict[str, float]:
    """Return of each bin that is not empty how many columns it has, and the sums of inclusion and truth."""
    number = np.minimum((BINS * inclusion).astype(int), BINS - 1)
    found = {}
    for k in np.unique(number):
        inside = number == k
        found[f"columns {k}"] = float(np.count_nonzero(inside))
        found[f"inclusion {k}"] = float(inclusion[inside].sum())
        found[f"true {k}"] = float(np.count_nonzero(true & inside))
    return found
