"""The logistic task: two classes."""

from __future__ import annotations

from importlib import import_module
from math import log

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers import glmnet, scikit_learn
from benchmarks.peers.methods import ADAPTIVE, OURS, Fitted, Method, adaptive, attributes, named
from benchmarks.tasks.data import Family, Simulation
from benchmarks.tasks.task import Contest, Task

TALL = "100000x100"
IRLS = "horseshoe-irls"
UNPENALISED = scikit_learn.UNPENALISED.name


def _draw(eta: Array, rng: np.random.Generator) -> Array:
    return (rng.random(eta.size) < 1.0 / (1.0 + np.exp(-eta))).astype(float)


BERNOULLI = Family(
    _draw, cumulant=lambda eta: np.logaddexp(0.0, eta), link=lambda mean: log(mean / (1.0 - mean))
)
SIMULATION = Simulation(BERNOULLI, effects=(1.5,) * 3 + (-1.5,) * 2, intercept=0.0)

ABOUT = """The first three coefficients are 1.5, the next two -1.5; there is no intercept. The lasso fits take
the penalty of best cross-validated accuracy, which is the default of both libraries; the log loss, to which
scikit-learn's default is about to change, is shown beside it for the faster solver. Both
solvers keep their default limit of iterations."""


def _ours(name: str, **options: str) -> Method:
    """Return our classifier with some options."""

    def fit(X: Array, y: Array) -> Fitted:
        return attributes(import_module("horseshoe").HorseshoeClassifier(**options).fit(X, y))

    shown = ", ".join(f'{option}="{value}"' for option, value in options.items())
    label = f"horseshoe HorseshoeClassifier({shown})"
    return Method(name, label, None, ("horseshoe:HorseshoeClassifier",), False, fit)


METHODS = named(
    _ours(OURS),
    _ours(IRLS, augmentation="irls"),
    adaptive("AdaptiveClassifier"),
    scikit_learn.LIBLINEAR,
    scikit_learn.LIBLINEAR_LOG_LOSS,
    scikit_learn.SAGA,
    glmnet.LOGISTIC,
    scikit_learn.UNPENALISED,
)

TASK = Task(
    "logistic",
    ABOUT,
    SIMULATION,
    METHODS,
    (
        Contest(("100x400", "200x214"), tuple(m for m in METHODS if m != UNPENALISED)),
        Contest((TALL,), (OURS, IRLS, UNPENALISED)),
    ),
    Contest(("100x400",), (OURS, ADAPTIVE, scikit_learn.LIBLINEAR.name)),
)
