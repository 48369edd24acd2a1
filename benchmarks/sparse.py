"""Sparse X: what it saves beside the same X as an array, and how large it may be.

``python -m benchmarks.sparse`` prints the table.

Each fit has a process of its own with one BLAS thread, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.clocks import cpu_of, peak_bytes
from benchmarks.harness.processes import ONE_THREAD

Problem = tuple[Any, Any, Any]
"""X, sparse; y; and which columns have an effect."""


def one_hot(n: int = 20_000, levels: int = 2_000) -> Problem:
    """One factor: twenty of its levels have an effect of 2 to 4, with unit noise."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    level = rng.integers(0, levels, n)
    coef = np.zeros(levels)
    coef[:20] = rng.choice([-1.0, 1.0], 20) * rng.uniform(2.0, 4.0, 20)
    X = csr_array((np.ones(n), (np.arange(n), level)), shape=(n, levels))
    return X, coef[level] + rng.standard_normal(n), coef != 0.0


def wide(n: int = 2_000, p: int = 200_000, density: float = 1e-3) -> Problem:
    """Draw counts of 1 to 3 in few places; the ten fullest columns have effects of 4, the noise is a half."""
    from scipy.sparse import random_array

    rng = np.random.default_rng(0)
    X = random_array((n, p), density=density, rng=rng, format="csc")
    X.data[:] = 1.0 + rng.integers(0, 3, X.nnz)
    coef = np.zeros(p)
    coef[np.argsort(-np.diff(X.indptr))[:10]] = 4.0 * rng.choice([-1.0, 1.0], 10)
    return X, X @ coef + 0.5 * rng.standard_normal(n), coef != 0.0


PROBLEMS: dict[str, Callable[[], Problem]] = {"one-hot 20000x2000": one_hot, "wide 2000x200000": wide}
RUNS = [
    ("one-hot 20000x2000", "sparse", "regression"),
    ("one-hot 20000x2000", "array", "regression"),
    ("one-hot 20000x2000", "sparse", "classes"),
    ("one-hot 20000x2000", "array", "classes"),
    ("wide 2000x200000", "sparse", "regression"),
]


def measure(problem: str, form: str, kind: str) -> dict[str, Any]:
    """Fit once, in this process."""
    from horseshoe import HorseshoeClassifier, HorseshoeRegressor

    X, y, real = PROBLEMS[problem]()
    X = X if form == "sparse" else X.toarray()
    model = HorseshoeRegressor() if kind == "regression" else HorseshoeClassifier()
    before = peak_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cpu, _ = cpu_of(lambda: model.fit(X, y if kind == "regression" else y > 1.0))
    found = model.support_
    return {
        "cpu": cpu,
        "mib": (peak_bytes() - before) / 2**20,
        "true": int((found & real).sum()),
        "false": int((found & ~real).sum()),
        "real": int(real.sum()),
    }


def main() -> None:
    """Measure everything and print a table, or one fit for the process that asked."""
    parser = argparse.ArgumentParser(description="Fits to sparse X beside the same X as an array.")
    parser.add_argument("--one", nargs=3, metavar=("PROBLEM", "FORM", "KIND"), help="measure one fit as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    print("| X | as | fit | CPU s | MiB above the data | found + false |\n|---|---|---|---|---|---|")
    for run in RUNS:
        command = [sys.executable, "-m", "benchmarks.sparse", "--one", *run]
        environment = {**os.environ, **ONE_THREAD}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        got = json.loads(done.stdout)
        tally = f"{got['true']} of {got['real']} + {got['false']}"
        print(f"| {' | '.join(run)} | {got['cpu']:.2f} | {got['mib']:.0f} | {tally} |", flush=True)


if __name__ == "__main__":
    main()
