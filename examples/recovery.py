"""Which columns are found, and how good the intervals are: 50 data sets for each family.

300 rows, 100 columns, 5 effects. Prints the mean number of effects found, of false ones, and the share of
95 % intervals of the effects found that cover the truth, for tau at its bound of 1, at 0.3 and at 0.05.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horseshoe import HorseshoeClassifier, HorseshoeRegressor

N, P, N_DATA = 300, 100, 50
SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0])

Draw = Callable[[np.random.Generator, Any], Any]


def cases() -> dict[str, tuple[Any, float, Draw]]:
    """Return for each family the model, the size of the effects, and how y comes from eta."""
    logistic: Draw = lambda rng, eta: rng.random(N) < 1 / (1 + np.exp(-eta))  # noqa: E731
    return {
        "gaussian": (HorseshoeRegressor(), 1.0, lambda rng, eta: eta + rng.standard_normal(N)),
        "student_t": (
            HorseshoeRegressor(family="student_t"),
            1.0,
            lambda rng, eta: eta + rng.standard_t(3, N),
        ),
        "laplace": (HorseshoeRegressor(family="laplace"), 1.0, lambda rng, eta: eta + rng.laplace(size=N)),
        "two classes, polya_gamma": (HorseshoeClassifier(), 1.0, logistic),
        "two classes, irls": (HorseshoeClassifier(augmentation="irls"), 1.0, logistic),
        "poisson": (
            HorseshoeRegressor(family="poisson"),
            0.4,
            lambda rng, eta: rng.poisson(np.exp(0.5 + eta)),
        ),
        "negative_binomial": (
            HorseshoeRegressor(family="negative_binomial"),
            0.5,
            lambda rng, eta: rng.negative_binomial(2, 2 / (2 + np.exp(1 + eta))),
        ),
    }


def recovery(model: Any, size: float, draw: Draw) -> tuple[float, float, float]:
    """Return the means of true and false positives, and the coverage."""
    found, false, covered = [], [], []
    beta = np.zeros(P)
    beta[: SIGNS.size] = size * SIGNS
    for seed in range(N_DATA):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((N, P))
        model.fit(X, draw(rng, X @ beta))
        hit = model.support_ & (beta != 0)
        lower, upper = model.coef_interval(method="mode")[hit].T
        found.append(hit.sum())
        false.append((model.support_ & (beta == 0)).sum())
        covered.extend((lower <= beta[hit]) & (beta[hit] <= upper))
    return float(np.mean(found)), float(np.mean(false)), float(np.mean(covered))


def main() -> None:
    """Print the table."""
    print("| family | tau | found of 5 | false of 95 | coverage of 95 % intervals |\n|---|---|---|---|---|")
    for name, (model, size, draw) in cases().items():
        for tau in ("estimate", 0.3, 0.05):
            true, false, covered = recovery(model.set_params(tau=tau), size, draw)
            shown = 1 if tau == "estimate" else tau
            print(f"| {name} | {shown} | {true:.2f} | {false:.2f} | {covered:.0%} |", flush=True)


if __name__ == "__main__":
    main()
