"""The linear task: least squares with Gaussian noise."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers import abess, adelie, celer, glmnet, scikit_learn, skglm
from benchmarks.peers.methods import ADAPTIVE, OURS, Fitted, Method, adaptive, attributes, named
from benchmarks.tasks.data import Family, Simulation
from benchmarks.tasks.task import Contest, Task

NOISE_SD = 3.0
LARGE, WIDE = "1000x20000", "100x200000"


def _draw(eta: Array, rng: np.random.Generator) -> Array:
    return eta + NOISE_SD * rng.standard_normal(eta.size)


GAUSSIAN = Family(_draw, cumulant=lambda eta: eta**2 / 2.0, link=lambda mean: mean)
SIMULATION = Simulation(GAUSSIAN, effects=(3.0,) * 10 + (-3.0,) * 10, intercept=0.0)

ABOUT = """The first ten coefficients are 3, the next ten -3; the noise has standard deviation 3. All lasso
and MCP fits take the penalty of least cross-validated error; adelie's default path ends at a tenth of the
largest penalty, so a longer one is shown beside it."""


def fit_horseshoe(X: Array, y: Array) -> Fitted:
    return attributes(import_module("horseshoe").HorseshoeRegressor().fit(X, y))


METHODS = named(
    Method(
        OURS, "horseshoe HorseshoeRegressor()", None, ("horseshoe:HorseshoeRegressor",), False, fit_horseshoe
    ),
    adaptive("AdaptiveRegressor"),
    scikit_learn.LASSO,
    celer.LASSO,
    glmnet.LINEAR,
    adelie.LASSO,
    adelie.LONG,
    skglm.MCP,
    abess.SUBSET,
    scikit_learn.ARD,
)

TASK = Task(
    "linear",
    ABOUT,
    SIMULATION,
    METHODS,
    (
        Contest(("70x350", "200x1000", "1000x200", "500x2000", "200x10000"), tuple(METHODS)),
        Contest((LARGE,), (OURS,), rounds=3),
        Contest((WIDE,), (OURS,)),
    ),
    Contest(("70x350", "200x1000"), (OURS, ADAPTIVE, scikit_learn.LASSO.name)),
)
