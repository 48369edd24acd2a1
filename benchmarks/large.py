"""Large data beside the peers that take them.

``python -m benchmarks.large`` fits 1,000,000 x 200 by glum and dask-ml and 500 x 200,000 by adelie and
LassoCV, and both by us, one after the other, each in a process and an environment of its own with one thread:
CPU seconds, wall seconds, the most memory of the process (the data included: 1.5 and 0.75 GiB), and how many
of the planted columns were selected. ``--only NAME ...`` and ``--small`` shorten it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.clocks import peak_bytes

SHAPES = {"tall": (1_000_000, 200), "wide": (500, 200_000)}
SMALL = {"tall": (20_000, 50), "wide": (200, 2_000)}
LIMIT = 1800
"""Seconds after which a peer is stopped."""


def data(shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return standard normal columns, by Fortran's order where they are many, ten of which matter."""
    n, p = shape
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, p)) if n > p else rng.standard_normal((p, n)).T
    size = 0.5 if n > p else 1.5
    return x, x[:, :10] @ (size * np.tile([1.0, -1.0], 5)) + rng.standard_normal(n)


def ours(x: Any, y: Any) -> Any:
    """Fit the mode."""
    from horseshoe import HorseshoeRegressor

    return HorseshoeRegressor().fit(x, y).coef_


def averaged(x: Any, y: Any) -> Any:
    """Fit the average, and take its sparse answer."""
    from horseshoe import AdaptiveRegressor

    return AdaptiveRegressor().fit(x, y).sparse_coef_


def glum(x: Any, y: Any) -> Any:
    """Fit the lasso of glum with three folds."""
    package = import_module("glum")
    return package.GeneralizedLinearRegressorCV(family="normal", l1_ratio=1, cv=3).fit(x, y).coef_


def dask_ml(x: Any, y: Any) -> Any:
    """Fit the lasso of dask-ml at one penalty: the universal one of the noise, for it has no path."""
    array, package = import_module("dask.array"), import_module("dask_ml.linear_model")
    n, p = x.shape
    chunks = max(1, n // 20)
    model = package.LinearRegression(penalty="l1", solver="admm", C=float(np.sqrt(2.0 * n * np.log(p))))
    return model.fit(array.from_array(x, chunks=(chunks, p)), array.from_array(y, chunks=chunks)).coef_


def adelie(x: Any, y: Any) -> Any:
    """Fit the lasso of adelie with five folds, its path down to a hundredth of the largest penalty."""
    package = import_module("adelie")
    family = package.glm.gaussian(y)
    options = {"progress_bar": False, "n_threads": 1}
    search = package.cv_grpnet(x, family, n_folds=5, seed=0, min_ratio=0.01, **options)
    return np.asarray(search.fit(x, family, **options).betas[-1].todense()).ravel()


def lasso(x: Any, y: Any) -> Any:
    """Fit the lasso of scikit-learn with five folds."""
    from sklearn.linear_model import LassoCV

    return LassoCV(cv=5).fit(x, y).coef_


class Entrant(NamedTuple):
    """What is fitted, to which data, and whose environment it needs."""

    shape: str
    what: str
    environment: str | None
    fit: Callable[[Any, Any], Any]


ENTRANTS = {
    "tall-mode": Entrant("tall", "horseshoe HorseshoeRegressor()", None, ours),
    "tall-average": Entrant("tall", "horseshoe AdaptiveRegressor()", None, averaged),
    "glum": Entrant("tall", "glum GeneralizedLinearRegressorCV(l1_ratio=1, cv=3)", "glum", glum),
    "dask-ml": Entrant("tall", 'dask-ml LinearRegression(penalty="l1"), one penalty', "dask-ml", dask_ml),
    "wide-mode": Entrant("wide", "horseshoe HorseshoeRegressor()", None, ours),
    "wide-average": Entrant("wide", "horseshoe AdaptiveRegressor()", None, averaged),
    "adelie": Entrant("wide", "adelie cv_grpnet(n_folds=5, min_ratio=0.01)", "adelie", adelie),
    "lasso": Entrant("wide", "scikit-learn LassoCV(cv=5)", "scikit-learn", lasso),
}


def work(name: str, shape: tuple[int, int]) -> None:
    """Fit once, and print what it took as one line."""
    x, y = data(shape)
    fit = ENTRANTS[name].fit
    fit(*data((60, 30)))  # imports and compilation are not counted
    wall, cpu = time.perf_counter(), time.process_time()
    coef = np.asarray(fit(x, y))
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    held = peak_bytes() / 2**30
    chosen = np.abs(coef) > 1e-8
    print(json.dumps(took | {"gib": held, "true": int(chosen[:10].sum()), "all": int(chosen.sum())}))


def ask(name: str, small: bool) -> str:
    """Run one entrant in its own process; return its row of the table."""
    from benchmarks.harness.environments import ensure, last_line
    from benchmarks.harness.processes import ONE_THREAD, ROOT

    entrant = ENTRANTS[name]
    place = None if entrant.environment is None else ensure(entrant.environment)
    shape = (SMALL if small else SHAPES)[entrant.shape]
    head = f"| {shape[0]:,} x {shape[1]:,} | {entrant.what} |"
    if place is not None and place.python is None:
        return f"{head} {place.reason} | | | |"
    python = sys.executable if place is None or place.python is None else place.python
    command = [python, "-m", "benchmarks.large", "--work", name, *["--small"] * small]
    kept = {k: v for k, v in os.environ.items() if place is None or k != "PYTHONPATH"}
    settings = kept | ONE_THREAD
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{head} stopped after {LIMIT} s | | | |"
    if done.returncode:
        return f"{head} {last_line(done.stderr)} | | | |"
    found = json.loads(done.stdout.splitlines()[-1])
    cost = f"{found['cpu']:.3g} | {found['wall']:.3g} | {found['gib']:.1f}"
    return f"{head} {cost} | {found['true']} of 10, and {found['all']} in all |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Large data beside the peers that take them.")
    parser.add_argument("--only", nargs="+", choices=tuple(ENTRANTS), default=tuple(ENTRANTS))
    parser.add_argument("--small", action="store_true", help="small data, to see that everything runs")
    parser.add_argument("--work", choices=tuple(ENTRANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, (SMALL if options.small else SHAPES)[ENTRANTS[options.work].shape])
        return
    print(
        "| data | fit | CPU s | wall s | GiB | planted columns found |\n|---|---|---|---|---|---|", flush=True
    )
    for name in options.only:
        print(ask(name, options.small), flush=True)


if __name__ == "__main__":
    main()
