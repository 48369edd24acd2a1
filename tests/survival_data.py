"""Times and events with everything that Cox's model knows: ties, late entries, strata, weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe.families.risk import Lifetimes

COEF = np.array([1.0, -0.5, 0.0, 0.3])


class Survival(NamedTuple):
    """Columns of several scales, times, events, and what else there is to know of the rows."""

    X: Any
    time: Any
    event: Any
    entry: Any
    strata: Any
    weights: Any
    offset: Any

    @property
    def y(self) -> Any:
        """As scikit-survival has it."""
        return np.array(
            list(zip(self.event, self.time, strict=True)), dtype=[("event", bool), ("time", float)]
        )


def survival(
    n: int = 120, p: int = 4, seed: int = 0, ties: bool = True, entry_at_ties: bool = False
) -> Survival:
    """Return data in which two thirds of the rows have their event; some may enter when others have it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.geomspace(0.2, 30.0, p) + 1.0
    standard = (X - 1.0) / np.geomspace(0.2, 30.0, p)
    lived = rng.exponential(np.exp(-standard[:, :4] @ COEF[:p]))
    censored = rng.exponential(2.0, n)
    time = np.minimum(lived, censored)
    time = np.ceil(10.0 * time) if ties else time
    entry = np.where(rng.random(n) < 0.4, np.maximum(time - rng.exponential(0.5 * time.mean(), n), 0.0), 0.0)
    entry = np.floor(entry) if entry_at_ties else entry
    return Survival(
        X,
        time,
        lived <= censored,
        entry,
        np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        rng.integers(0, 4, n).astype(float),
        0.3 * rng.standard_normal(n),
    )


def lifetimes(data: Survival, weights: Any = None, counted: bool = True, entry: bool = True) -> Lifetimes:
    """Return the data as the family has them."""
    n = data.time.size
    return Lifetimes(
        data.time,
        data.event,
        data.entry if entry else np.full(n, -np.inf),
        np.unique(data.strata, return_inverse=True)[1],
        np.ones(n) if weights is None else weights,
        counted,
    )
