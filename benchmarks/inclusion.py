"""Is inclusion calibrated where columns are shared: several responses, several classes, and survival.

``python -m benchmarks.inclusion`` draws the data sets of `benchmarks.together` and `benchmarks.survival` with
other seeds than theirs, sorts all columns by `inclusion_` of the average, and prints of each bin how many
columns it has, their mean inclusion, and the share of them that has an effect, by kind of response.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import survival, together
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, AdaptiveSurvival

FIRST = 5000
"""The seed of the first data set."""
BINS = 10


def responses(seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield the inclusion of each column for each response, and whether it has an effect on it."""
    for setting in together.RESPONSES:
        rng = np.random.default_rng([seed, setting.n, setting.p])
        X, coef = together.columns(setting, setting.n, rng), together.truth(setting, rng)
        Y = X @ coef + rng.standard_normal((setting.n, setting.q))
        yield AdaptiveRegressor().fit(X, Y).inclusion_, coef.T != 0.0


def classes(seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield the inclusion of each column for all classes, and whether it has an effect."""
    for setting in together.CLASSES:
        rng = np.random.default_rng([seed, setting.n, setting.p])
        X, coef = together.columns(setting, setting.n, rng), together.truth(setting, rng)
        y = (X @ coef + rng.gumbel(size=(setting.n, setting.q))).argmax(axis=1)
        y[: setting.q] = np.arange(setting.q)
        model = AdaptiveClassifier(multi_class="multinomial").fit(X, y)
        yield np.atleast_2d(model.inclusion_)[0], coef.any(axis=1)


def hazards(seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield the inclusion of each column, and whether it has an effect."""
    for rho, size in survival.SETTINGS.values():
        data = survival.simulate(300, 1000, rho, size, seed)
        yield AdaptiveSurvival().fit(data.X, data.y).inclusion_, data.coef != 0.0


def table(kind: str, inclusion: Any, true: Any) -> str:
    """Return a row for each bin."""
    place = np.minimum((inclusion * BINS).astype(int), BINS - 1)
    lines = []
    for k in range(BINS):
        inside = place == k
        if count := int(inside.sum()):
            share = true[inside].mean()
            spread = np.sqrt(share * (1.0 - share) / count)
            said = f"{inclusion[inside].mean():.3f} | {share:.3f} ({spread:.3f})"
            lines.append(f"| {kind} | {k / BINS:.1f} to {(k + 1) / BINS:.1f} | {count:,} | {said} |")
    return "\n".join(lines)


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=20)
    replicates = parser.parse_args().replicates
    print("| | inclusion | columns | mean inclusion | share with an effect (s.e.) |\n|---|---|---|---|---|")
    kinds = {"several responses": responses, "several classes": classes, "survival": hazards}
    for kind, draw in kinds.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pairs = [pair for seed in range(FIRST, FIRST + replicates) for pair in draw(seed)]
        inclusion, true = (
            np.concatenate([np.ravel(part) for part in parts]) for parts in zip(*pairs, strict=True)
        )
        print(table(kind, inclusion, true), flush=True)


if __name__ == "__main__":
    main()
