"""Whether it pays to estimate the shapes of the inverted-beta prior.

``python -m benchmarks.shapes`` prints the mean squared error of the posterior mean, in predicting the means
of new rows, with a = b = 1/2 (the horseshoe) and with a and b estimated: for truths to tune on, from one
effect to all columns, and a setting of Table 3.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe import sample_posterior
from horseshoe.priors import Horseshoe, InvertedBeta
from horseshoe_reproduction import table3
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.truths import TRUTHS, observe

PRIORS = {"a = b = 1/2": Horseshoe(), "a, b estimated": InvertedBeta("estimate", "estimate")}
TABLE3 = "rho=0.7,sigma2=9"
PLAN: dict[str, Any] = {"n_chains": 2, "n_warmup": 500, "n_draws": 500, "n_jobs": 1}


class Data(NamedTuple):
    """A data set, and the error of a fit to it."""

    X: Any
    y: Any
    error: Callable[[Fit], float]


class Found(NamedTuple):
    """What one run says: the error, the median shapes (NaN where fixed), their least ESS, seconds."""

    error: float
    a: float
    b: float
    ess: float
    seconds: float


def draw(name: str, seed: int) -> Data:
    """Draw a data set of a truth to tune on, or of Table 3."""
    rng = np.random.default_rng([11, seed])
    if name == TABLE3:
        problem = table3.draw(name, rng)
        return Data(problem.design, problem.y, lambda fit: problem.score(fit)["MSE"])
    sample = observe(TRUTHS[name](rng, True), "gaussian", rng)

    def error(fit: Fit) -> float:
        gap = sample.new @ fit.coef + fit.intercept - sample.new_mean
        return float(gap @ gap) / gap.size

    return Data(sample.X, sample.y, error)


def run(data: Data, prior: Any, seed: int) -> Found:
    """Sample, and look at the posterior mean."""
    start = time.process_time()
    found = sample_posterior(data.X, data.y, prior=prior, random_state=seed, **PLAN)
    seconds = time.process_time() - start
    error = data.error(Fit(found.mean(), float(found.mean("intercept"))))
    drawn = [of for of in ("a", "b") if getattr(found, of) is not None]
    a, b = (float(found.median(of)) if of in drawn else np.nan for of in ("a", "b"))
    return Found(error, a, b, min((float(found.ess(of=of)) for of in drawn), default=np.nan), seconds)


def line(name: str, replicates: int) -> str:
    """Return a line of the table."""
    sets = [draw(name, seed) for seed in range(replicates)]
    runs = {key: np.array([run(d, p, i) for i, d in enumerate(sets)]) for key, p in PRIORS.items()}
    fixed, free = (runs[key] for key in PRIORS)
    root = np.sqrt(replicates)
    errors = [f"{r[:, 0].mean():.3g} ({r[:, 0].std(ddof=1) / root:.2g})" for r in (fixed, free)]
    gap = free[:, 0] - fixed[:, 0]
    z = gap.mean() / (gap.std(ddof=1) / root)
    _, a, b, ess, _ = np.median(free, axis=0)
    times = fixed[:, 4].mean(), free[:, 4].mean()
    shapes = f"{a:.2g}, {b:.2g} | {ess:.0f} | {times[0]:.1f}, {times[1]:.1f}"
    return f"| {name} | {errors[0]} | {errors[1]} | {z:+.1f} | {shapes} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Whether it pays to estimate the shapes of the prior.")
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--settings", nargs="+", default=["dense", "geometric", "one", TABLE3])
    options = parser.parse_args()
    print(f"| data | {' | '.join(PRIORS)} | z | median a, b | ESS | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in options.settings:
        print(line(name, options.replicates), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
