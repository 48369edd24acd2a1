"""The lasso of adelie, with its default path and with a longer one."""

from __future__ import annotations

from functools import partial
from importlib import import_module

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers.methods import Fitted, Method, nonzero


def fit(X: Array, y: Array, **options: float) -> Fitted:
    adelie = import_module("adelie")
    design = np.asfortranarray(X)
    family = adelie.glm.gaussian(y)
    search = adelie.cv_grpnet(design, family, n_folds=10, seed=0, progress_bar=False, **options)
    state = search.fit(design, family, progress_bar=False)
    return nonzero(np.asarray(state.betas[-1].todense()).ravel(), float(state.intercepts[-1]))


LASSO = Method("adelie", "adelie cv_grpnet(n_folds=10)", "adelie", ("adelie",), True, fit)
LONG = Method(
    "adelie-long",
    "adelie cv_grpnet(n_folds=10, min_ratio=0.01)",
    "adelie",
    ("adelie",),
    True,
    partial(fit, min_ratio=0.01),
)
"""The path down to 0.01 of the largest penalty; the default, 0.1, ends before the best one."""
