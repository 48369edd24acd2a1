"""Groups beside the cross-validated group lasso of skglm: ten of forty groups of five columns are active.

    python -m benchmarks.structure --datasets 50

Error is (b - beta)' S (b - beta), S the covariance of the columns, in units of the noise variance; then the
groups found, true and false, and CPU seconds of one thread, in turns, without the first call (skglm
compiles).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.selection import f1

N, GROUPS, SIZE, ACTIVE, RHO = 200, 40, 5, 10, 0.5
LABEL = np.repeat(np.arange(GROUPS), SIZE)
SIGNALS = {"signal = noise": 1.0, "signal = 4 noise": 4.0}
FOLDS, PENALTIES, LEAST = 10, 30, 0.01
"""Of the group lasso: folds, penalties on its path, and the last of them as a share of the first."""


class Data(NamedTuple):
    """One data set, its truth, and the covariance of its columns."""

    X: Any
    y: Any
    beta: Any
    covariance: Any


def draw(seed: int, ratio: float) -> Data:
    """Return rows N(0, RHO^|i-j|) with noise of variance 1 and a signal of variance ``ratio``."""
    rng = np.random.default_rng(seed)
    p = GROUPS * SIZE
    covariance = RHO ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    X = rng.standard_normal((N, p)) @ np.linalg.cholesky(covariance).T
    active = rng.permutation(GROUPS)[:ACTIVE]
    beta = np.where(np.isin(LABEL, active), rng.standard_normal(p), 0.0)
    beta *= np.sqrt(ratio / (beta @ covariance @ beta))
    return Data(X, X @ beta + rng.standard_normal(N), beta, covariance)


def group_lasso(data: Data) -> Any:
    """Return the coefficients of skglm's group lasso at the penalty of least ten-fold error."""
    lasso = import_module("skglm").GroupLasso
    scale = data.X.std(axis=0)
    X, y = (data.X - data.X.mean(axis=0)) / scale, data.y - data.y.mean()
    pull = np.linalg.norm((X.T @ y).reshape(GROUPS, SIZE), axis=1).max() / N
    penalties = pull * np.geomspace(1.0, LEAST, PENALTIES)
    fold = np.arange(N) % FOLDS  # the rows are in no order
    errors = np.zeros(PENALTIES)
    for k in range(FOLDS):
        model = lasso(groups=SIZE, fit_intercept=True, warm_start=True)
        for i, penalty in enumerate(penalties):
            model.set_params(alpha=penalty).fit(X[fold != k], y[fold != k])
            errors[i] += ((y[fold == k] - model.predict(X[fold == k])) ** 2).sum()
    best = penalties[int(np.argmin(errors))]
    return lasso(groups=SIZE, alpha=best, fit_intercept=True).fit(X, y).coef_.ravel() / scale


def mode(data: Data) -> Any:
    """Return the horseshoe mode with groups."""
    from horseshoe import HorseshoeRegressor

    return HorseshoeRegressor(feature_groups=LABEL).fit(data.X, data.y).coef_


def plain_mode(data: Data) -> Any:
    """Return the horseshoe mode without them."""
    from horseshoe import HorseshoeRegressor

    return HorseshoeRegressor().fit(data.X, data.y).coef_


def average(data: Data) -> Any:
    """Return the adaptive average, and the support of its sparse answer."""
    from horseshoe import AdaptiveRegressor

    model = AdaptiveRegressor(feature_groups=LABEL).fit(data.X, data.y)
    return model.coef_, model.support_


METHODS: dict[str, Callable[[Data], Any]] = {
    "mode, groups": mode,
    "mode, no groups": plain_mode,
    "average, groups": average,
    "group lasso, 10 folds": group_lasso,
}


def judged(data: Data, found: Any) -> tuple[float, int, int, float]:
    """Return the error, how many active and how many other groups were found, and the F1 of that."""
    coef, support = found if isinstance(found, tuple) else (found, found != 0.0)
    gap = coef - data.beta
    inside = {int(one) for one in LABEL[support]}
    true = {int(one) for one in LABEL[data.beta != 0.0]}
    hits, false = len(inside & true), len(inside - true)
    return float(gap @ data.covariance @ gap), hits, false, f1(hits, false, len(true))


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for method in METHODS.values():
        method(draw(10**6, 1.0))
    print(f"{options.datasets} data sets each, seeds from {options.seed}\n")
    print("| | method | error (s.e.) | true of 10 | false of 30 | F1 | CPU s | paired z |")
    print("|---|---|---|---|---|---|---|---|")
    for signal, ratio in SIGNALS.items():
        rows: dict[str, list[Any]] = {name: [] for name in METHODS}
        for seed in range(options.seed, options.seed + options.datasets):
            data = draw(seed, ratio)
            for name, method in METHODS.items():
                start = time.process_time()
                found = method(data)
                rows[name].append((*judged(data, found), time.process_time() - start))
        peer = np.array(rows["group lasso, 10 folds"])[:, 0]
        for name, values in rows.items():
            table = np.array(values)
            error, true, false, share, seconds = table.mean(axis=0)
            spread = table[:, 0].std(ddof=1) / np.sqrt(len(table))
            gap = table[:, 0] - peer
            z = gap.mean() / (gap.std(ddof=1) / np.sqrt(len(gap))) if gap.any() else 0.0
            said = f"{error:.3f} ({spread:.3f}) | {true:.1f} | {false:.1f} | {share:.2f}"
            print(f"| {signal} | {name} | {said} | {seconds:.3f} | {z:+.1f} |", flush=True)


if __name__ == "__main__":
    main()
