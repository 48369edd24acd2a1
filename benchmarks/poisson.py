"""The Poisson task: counts with a log link."""

from __future__ import annotations

from importlib import import_module
from math import log

import numpy as np

from data import Array, Family, Simulation
from methods import OURS, Fitted, Method, attributes, named


def _draw(eta: Array, rng: np.random.Generator) -> Array:
    return rng.poisson(np.exp(eta)).astype(float)


POISSON = Family(_draw, cumulant=lambda eta: np.exp(eta), link=lambda mean: log(mean))
SIMULATION = Simulation(POISSON, effects=(0.4,) * 3 + (-0.4,) * 2, intercept=0.5)

ABOUT = """The first three coefficients are 0.4, the next two -0.4; the intercept is 0.5. glum takes the
penalty of least cross-validated deviance."""


def fit_farrier(X: Array, y: Array) -> Fitted:
    return attributes(import_module("farrier").HorseshoeRegressor(family="poisson").fit(X, y))


def fit_glum(X: Array, y: Array) -> Fitted:
    glum = import_module("glum")
    return attributes(glum.GeneralizedLinearRegressorCV(family="poisson", l1_ratio=1, cv=10).fit(X, y))


METHODS = named(
    Method(OURS, 'farrier HorseshoeRegressor(family="poisson")', None, ("farrier",), False, fit_farrier),
    Method(
        "glum",
        'glum GeneralizedLinearRegressorCV(family="poisson", l1_ratio=1, cv=10)',
        "glum",
        ("glum",),
        True,
        fit_glum,
    ),
)
