"""Where a GLM starts decides what it finds in wide data.

``python -m benchmarks.starts`` prints the table: of ten effects among p columns of 300 rows, how many each
start finds, and how many columns without one it selects beside. ``--p`` and ``--replicates`` shorten it.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np

from horseshoe import HorseshoeClassifier, HorseshoeRegressor

N_ROWS, N_EFFECTS = 300, 10
STARTS = ("paper", "marginal", "linear")
DISPERSED = ("student_t", "laplace")
"""Families with a noise variance have one start."""
SIZES = {
    "gaussian": (1.0, 0.4),
    "binomial": (1.5, 0.7),
    "poisson": (0.5, 0.2),
    "negative_binomial": (0.5, 0.2),
    "student_t": (1.0, 0.4),
    "laplace": (1.0, 0.4),
}
"""Of each effect for one standard deviation of its column: strong and weak."""


class Counts(NamedTuple):
    """Effects found, and columns selected that have none."""

    found: float
    false: float

    def __str__(self) -> str:
        return f"{self.found:.1f} + {self.false:.1f}"


def simulate(family: str, p: int, size: float, seed: int) -> tuple[Any, Any, Any]:
    """Return genotypes (0, 1 or 2), a response, and which columns have an effect."""
    rng = np.random.default_rng([seed, p])
    X = rng.binomial(2, rng.uniform(0.1, 0.5, p), (N_ROWS, p)).astype(float)
    real = rng.choice(p, N_EFFECTS, replace=False)
    part = X[:, real]
    eta = (part - part.mean(axis=0)) / part.std(axis=0) @ (size * rng.choice([-1.0, 1.0], N_EFFECTS))
    noise = {
        "gaussian": lambda: eta + rng.standard_normal(N_ROWS),
        "binomial": lambda: rng.random(N_ROWS) < 1.0 / (1.0 + np.exp(-eta)),
        "poisson": lambda: rng.poisson(np.exp(eta)),
        "negative_binomial": lambda: rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, N_ROWS)),
        "student_t": lambda: eta + rng.standard_t(3.0, N_ROWS),
        "laplace": lambda: eta + rng.laplace(size=N_ROWS),
    }
    y = noise[family]()
    return X, y if family == "binomial" else np.asarray(y, dtype=float), np.isin(np.arange(p), real)


def count(family: str, p: int, size: float, start: str, replicates: int) -> Counts:
    """Return means over the replicates."""
    model = HorseshoeClassifier(start=start)
    if family != "binomial":
        model = HorseshoeRegressor(family=family, start=start)
    found = []
    for seed in range(replicates):
        X, y, real = simulate(family, p, size, seed)
        support = model.fit(X, y).support_
        found.append(((support & real).sum(), (support & ~real).sum()))
    return Counts(*np.mean(found, axis=0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--p", nargs="+", type=int, default=[100, 1_000, 10_000, 50_000])
    parser.add_argument("--replicates", type=int, default=5)
    parser.add_argument("--families", nargs="+", default=list(SIZES))
    options = parser.parse_args()
    print(f"| family | effects | start | {' | '.join(f'p = {p:,}' for p in options.p)} |")
    print("|---|---|---|" + "---|" * len(options.p))
    for family in options.families:
        for strength, size in zip(("strong", "weak"), SIZES[family], strict=True):
            for start in STARTS if family not in (*DISPERSED, "gaussian") else STARTS[:1]:
                cells = [count(family, p, size, start, options.replicates) for p in options.p]
                row = " | ".join(map(str, cells))
                print(f"| {family} | {strength} ({size}) | {start} | {row} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
