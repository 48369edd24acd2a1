"""Table 4: the diabetes data, the posterior mode, and the posterior mean with its 95 % interval.

The printed posterior is one run of R's bayesreg of its default length. Each replicate here is a run of that
length, so the spread over replicates is how far such a run strays.
"""

from __future__ import annotations

import numpy as np

from horseshoe_reproduction.datasets import load
from horseshoe_reproduction.experiment import Experiment, Fit, Note, Problem

NAMES = ("AGE", "SEX", "BMI", "BP", "S1", "S2", "S3", "S4", "S5", "S6")


def draw(setting: str, rng: np.random.Generator) -> Problem:
    """Return the data: they are the same for every replicate.

    Examples
    --------
    >>> problem = draw("diabetes", np.random.default_rng(0))
    >>> problem.design.shape
    (442, 10)
    """
    data = load(setting)

    def score(fit: Fit) -> dict[str, float]:
        return dict(zip(NAMES, map(float, fit.coef), strict=True))

    return Problem("gaussian", data.values, data.target, score)


EXPERIMENT = Experiment(
    name="table4",
    title="Diabetes: posterior mean, 95 % interval and mode",
    settings={"diabetes": "Diabetes (n = 442, p = 10)"},
    metrics=NAMES,
    methods=("run-mean", "run-low", "run-high", "hs-em"),
    replicates=100,
    signed=True,
    draw=draw,
    notes=(
        Note(
            "The printed mode is the 24th iteration of the released code; here it is the fixed point.",
            ("hs-em",),
        ),
        Note(
            "The paper prints no standard errors here. A printed number of the posterior is one run of 1,000 "
            "draws, so its error is the standard deviation of one of our runs of that length.",
            ("run-mean", "run-low", "run-high"),
        ),
    ),
)
