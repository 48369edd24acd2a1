"""Posteriors to draw from, and who draws: us, and a peer in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers.methods import OURS
from benchmarks.peers.numpyro import nuts
from benchmarks.peers.pins import NUMPYRO
from benchmarks.peers.samplers import Drawn, Sample, Sampler
from benchmarks.tasks import linear

POSTERIOR = "posterior"
FOUR = "horseshoe-4-chains"
SHAPE = 70, 350
SEED = 1


@dataclass(frozen=True)
class Problem:
    """Data, the samplers that meet on them, and how often each takes a turn."""

    name: str
    about: str
    data: Callable[[], tuple[Array, Array]]
    rounds: int
    samplers: dict[str, Sampler] = field(default_factory=dict)


def _diabetes() -> tuple[Array, Array]:
    """Read the diabetes data of scikit-learn in their raw units."""
    X, y = import_module("sklearn.datasets").load_diabetes(return_X_y=True, scaled=False)
    return np.asarray(X, dtype=float), np.asarray(y, dtype=float)


def _prepare_ours(X: Array, y: Array, chains: int, warmup: int, draws: int) -> Sample:
    """Load what a call loads, by a short one that is not counted."""
    sample_posterior = import_module("horseshoe").sample_posterior

    def call(seed: int, warmup: int = warmup, draws: int = draws) -> Drawn:
        drawn = sample_posterior(
            X, y, n_draws=draws, n_warmup=warmup, n_chains=chains, random_state=seed, n_jobs=1
        )
        return Drawn(np.asarray(drawn.coef), {})

    call(0, warmup=20, draws=20)
    return call


def ours(chains: int, warmup: int, draws: int, name: str = OURS) -> Sampler:
    """Return our sampler for runs of one size."""
    prepare = partial(_prepare_ours, chains=chains, warmup=warmup, draws=draws)
    label = f"horseshoe sample_posterior(n_chains={chains})"
    return Sampler(name, label, None, ("horseshoe:sample_posterior",), chains, warmup, draws, False, prepare)


DIABETES = Problem(
    "diabetes 442x10",
    "The diabetes data of scikit-learn in raw units. With ten columns a sweep is mostly calls, which chains "
    "share: sixteen chains and four, with as many draws and warm-up sweeps in all.",
    _diabetes,
    5,
    {OURS: ours(16, 250, 625), FOUR: ours(4, 1000, 2500, FOUR)},
)
WIDE = Problem(
    "linear {}x{}".format(*SHAPE),
    "The timed data of the linear task.",
    partial(linear.SIMULATION.make_data, *SHAPE, SEED),
    4,
    {OURS: ours(4, 1000, 2000), NUMPYRO: nuts(4, 1000, 1000)},
)
PROBLEMS = {problem.name: problem for problem in (DIABETES, WIDE)}
