"""The Poisson task: counts with a log link."""

from __future__ import annotations

from importlib import import_module
from math import log

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers import glum
from benchmarks.peers.methods import OURS, Fitted, Method, attributes, named
from benchmarks.tasks.data import Family, Simulation
from benchmarks.tasks.task import Contest, Task


def _draw(eta: Array, rng: np.random.Generator) -> Array:
    return rng.poisson(np.exp(eta)).astype(float)


POISSON = Family(_draw, cumulant=lambda eta: np.exp(eta), link=lambda mean: log(mean))
SIMULATION = Simulation(POISSON, effects=(0.4,) * 3 + (-0.4,) * 2, intercept=0.5)

ABOUT = """The first three coefficients are 0.4, the next two -0.4; the intercept is 0.5. glum takes the
penalty of least cross-validated deviance."""


def fit_horseshoe(X: Array, y: Array) -> Fitted:
    return attributes(import_module("horseshoe").HorseshoeRegressor(family="poisson").fit(X, y))


METHODS = named(
    Method(
        OURS,
        'horseshoe HorseshoeRegressor(family="poisson")',
        None,
        ("horseshoe:HorseshoeRegressor",),
        False,
        fit_horseshoe,
    ),
    glum.POISSON,
)

TASK = Task(
    "poisson",
    ABOUT,
    SIMULATION,
    METHODS,
    (Contest(("100x400", "1000x200"), tuple(METHODS)),),
    Contest(("100x400",), tuple(METHODS)),
)
