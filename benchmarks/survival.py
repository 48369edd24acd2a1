"""Recovery of effects from censored times, beside scikit-survival's lasso tuned by cross-validation.

``python -m benchmarks.survival`` prints the table: 300 rows, 1,000 columns of which 10 have an effect, four
in ten rows censored; the squared error of the coefficients, true and false columns selected, concordance of
1,000 new rows, and CPU seconds. ``--replicates``, ``--n`` and ``--p`` shorten it; ``--starts`` compares our
starts. All are timed in turns in one process, with one thread.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from typing import Any, NamedTuple

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # before NumPy

import numpy as np  # noqa: E402
from sklearn.model_selection import KFold  # noqa: E402
from sksurv.linear_model import CoxnetSurvivalAnalysis  # noqa: E402
from sksurv.metrics import concordance_index_censored  # noqa: E402

from benchmarks.selection import f1  # noqa: E402
from horseshoe import AdaptiveSurvival, HorseshoeSurvival  # noqa: E402

N_EFFECTS, CENSORED, N_NEW = 10, 0.4, 1000
SETTINGS = {
    "independent, strong": (0.0, 0.8),
    "independent, weak": (0.0, 0.4),
    "correlated .7, strong": (0.7, 0.8),
    "correlated .7, weak": (0.7, 0.4),
}
"""The correlation of columns side by side, and the size of the effects."""


class Data(NamedTuple):
    """Columns, censored times, the truth, and new rows."""

    X: Any
    y: Any
    coef: Any
    new: Any
    new_y: Any


class Found(NamedTuple):
    """How far from the truth, how many true and false columns and their F1, concordance, and CPU seconds."""

    error: float
    true: float
    false: float
    f1: float
    concordance: float
    seconds: float


def simulate(n: int, p: int, rho: float, size: float, seed: int) -> Data:
    """Return Weibull times of which four in ten are censored, uniformly in time."""
    rng = np.random.default_rng([seed, p])
    X = rng.standard_normal((n + N_NEW, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    coef = np.zeros(p)
    coef[rng.choice(p, N_EFFECTS, replace=False)] = size * rng.choice([-1.0, 1.0], N_EFFECTS)
    lived = rng.weibull(1.5, n + N_NEW) * np.exp(-X @ coef / 1.5)
    low, high = 0.0, 1e6
    uniform = rng.random(n + N_NEW)
    for _ in range(60):  # the follow-up that censors so many
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.mean(uniform * middle < lived) < CENSORED else (middle, high)
    censored = uniform * high
    y = np.empty(n + N_NEW, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = lived <= censored, np.minimum(lived, censored)
    return Data(X[:n], y[:n], coef, X[n:], y[n:])


def horseshoe(data: Data) -> Any:
    """Return our coefficients."""
    return HorseshoeSurvival().fit(data.X, data.y).coef_


def average(data: Data) -> Any:
    """Return those of the average, and which columns are in its sparse answer."""
    model = AdaptiveSurvival().fit(data.X, data.y)
    return model.coef_, model.support_


def coxnet(data: Data, folds: int = 5) -> Any:
    """Return those of the lasso, whose penalty has the best concordance in the folds: one path a fold."""
    whole = CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=0.05, n_alphas=50).fit(data.X, data.y)
    scores = np.zeros(whole.alphas_.size)
    for train, test in KFold(folds, shuffle=True, random_state=0).split(data.X):
        path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=whole.alphas_).fit(data.X[train], data.y[train])
        risks = data.X[test] @ path.coef_
        seen = data.y[test]
        scores += [concordance_index_censored(seen["event"], seen["time"], risk)[0] for risk in risks.T]
    return whole.coef_[:, int(np.argmax(scores))]


METHODS = {
    "HorseshoeSurvival": horseshoe,
    "AdaptiveSurvival, 10 folds": average,
    "Coxnet, 5 folds": coxnet,
    "Coxnet, 10 folds": lambda data: coxnet(data, folds=10),
}
STARTS = {
    f'start="{start}"': lambda data, start=start: HorseshoeSurvival(start=start).fit(data.X, data.y).coef_
    for start in ("marginal", "linear", "paper")
}
OTHER_SEEDS = 1000
"""Starts are compared on other data sets than methods."""


def judge(method: Any, data: Data) -> Found:
    """Fit, and compare with the truth."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = method(data)
    seconds = time.process_time() - start
    coef, chosen = found if isinstance(found, tuple) else (found, np.not_equal(found, 0.0))
    real = data.coef != 0.0
    ordered = concordance_index_censored(data.new_y["event"], data.new_y["time"], data.new @ coef)[0]
    error = float(np.sum((coef - data.coef) ** 2))
    true, false = float((chosen & real).sum()), float((chosen & ~real).sum())
    return Found(error, true, false, f1(true, false, N_EFFECTS), float(ordered), seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=50)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--p", type=int, default=1000)
    parser.add_argument("--starts", action="store_true", help="compare our starts instead")
    chosen = parser.parse_args()
    methods, first = (STARTS, OTHER_SEEDS) if chosen.starts else (METHODS, 0)
    print(f"{chosen.replicates} data sets each, {chosen.n} x {chosen.p}, {N_EFFECTS} effects\n")
    print("| setting | method | squared error (s.e.) | true | false | F1 | concordance | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for setting, (rho, size) in SETTINGS.items():
        rows: dict[str, list[Found]] = {name: [] for name in methods}
        for seed in range(first, first + chosen.replicates):
            data = simulate(chosen.n, chosen.p, rho, size, seed)
            for name, method in methods.items():
                rows[name].append(judge(method, data))
        for name, found in rows.items():
            mean = Found(*np.mean(found, axis=0))
            spread = np.std([one.error for one in found], ddof=1) / np.sqrt(len(found))
            print(
                f"| {setting} | {name} | {mean.error:.2f} ({spread:.2f}) | {mean.true:.1f} | "
                f"{mean.false:.1f} | {mean.f1:.2f} | {mean.concordance:.3f} | {mean.seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
