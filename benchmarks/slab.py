"""Whether a slab pays for two classes.

``python -m benchmarks.slab`` prints the mean log loss of the test rows of Table 6, of the mode and of the
posterior mean, for several slabs. It needs the data of the paper (HORSESHOE_DATA).
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from horseshoe import HorseshoeClassifier, sample_posterior
from horseshoe_reproduction.experiment import Fit, Problem
from horseshoe_reproduction.table6 import SETTINGS, draw

SLABS = (None, 5.0, 2.5, 1.0, 0.5)


def losses(problem: Problem, slab: float | None, seed: int) -> tuple[float, float]:
    """Return the negative log-likelihood of the test rows: of the mode, and of the posterior mean."""
    X, y = problem.design, problem.y
    mode = HorseshoeClassifier(slab=slab).fit(X, y)
    draws = sample_posterior(
        X, y, "binomial", slab=slab, n_chains=2, n_warmup=300, n_draws=300, random_state=seed, n_jobs=1
    )
    mean = Fit(draws.mean(), float(draws.mean("intercept")))
    found = [problem.score(fit)["NLL"] for fit in (Fit(mode.coef_, float(mode.intercept_)), mean)]
    return found[0], found[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Whether a slab pays for two classes.")
    parser.add_argument("--replicates", type=int, default=5)
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS))
    options = parser.parse_args()
    print("| data | of | " + " | ".join("no slab" if s is None else f"slab {s:g}" for s in SLABS) + " |")
    print("|---|---|" + "---|" * len(SLABS))
    for setting in options.settings:
        problems = [draw(setting, np.random.default_rng([7, seed])) for seed in range(options.replicates)]
        table = np.array([[losses(p, slab, i) for i, p in enumerate(problems)] for slab in SLABS])
        for k, name in enumerate(("mode", "posterior mean")):
            means, errors = table[:, :, k].mean(axis=1), table[:, :, k].std(axis=1) / np.sqrt(len(problems))
            cells = " | ".join(f"{m:.0f} ({e:.0f})" for m, e in zip(means, errors, strict=True))
            print(f"| {setting} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
