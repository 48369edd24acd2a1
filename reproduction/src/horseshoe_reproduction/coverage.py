"""How often intervals cover what they are meant to cover: at the mode and from the posterior, by family.

Not a table of the paper, which has no intervals. 120 rows, 15 columns, five of them with an effect. Intervals
of 95 % are judged by the coefficients that are not zero, by those that are selected, by all of them, and by
the responses of 200 new rows; of two classes by their true probabilities, of censored times by the true risks
beside that of the average row. The quantile is that of level 0.8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from horseshoe.families import Huber, Quantile, Tweedie
from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import QUANTILE, Experiment, Fit, Kind, Note, Problem
from horseshoe_reproduction.scores import covered

# Of the largest effect.
ROWS, COLUMNS, NEW_ROWS, LEVEL = 120, 15, 200, 0.95
EFFECTS = np.array([1.0, -0.8, 0.6, -0.5, 0.4])
SIZES: dict[Kind, float] = {
    "gaussian": 1.0,
    "student_t": 1.0,
    "laplace": 1.0,
    "poisson": 0.5,
    "negative_binomial": 0.5,
    "binomial": 1.5,
    "gamma": 0.5,
    "tweedie": 0.5,
    "quantile": 1.0,
    "huber": 1.0,
    "ordinal": 1.5,
    "survival": 0.8,
}
# Between five ordered levels.
THRESHOLDS = (-2.0, -0.5, 0.5, 2.0)
METRICS = ("Not zero", "Selected", "All", "Predictions")

# Times are censored uniformly up to here: about four in ten.
LONGEST = 3.0


def _lifetimes(eta: Vector, rng: np.random.Generator) -> Matrix:
    """Return times and whether the event was seen, side by side."""
    lived, followed = rng.exponential(np.exp(-eta)), rng.uniform(0.0, LONGEST, eta.size)
    return np.column_stack([np.minimum(lived, followed), lived <= followed])


Draw = Callable[[Vector, np.random.Generator], Vector | Matrix]
RESPONSES: dict[Kind, Draw] = {
    "gaussian": lambda eta, rng: eta + rng.standard_normal(eta.size),
    "student_t": lambda eta, rng: eta + rng.standard_t(4.0, eta.size),
    "laplace": lambda eta, rng: eta + rng.laplace(size=eta.size),
    "poisson": lambda eta, rng: rng.poisson(np.exp(eta)).astype(float),
    "negative_binomial": lambda eta, rng: rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, eta.size)).astype(
        float
    ),
    "gamma": lambda eta, rng: np.exp(eta) * rng.gamma(2.0, 0.5, eta.size),
    "tweedie": lambda eta, rng: Tweedie(power=1.5, unit=1.0).simulate(eta, 1.0, rng),
    "quantile": lambda eta, rng: Quantile(level=QUANTILE).simulate(eta, 0.5, rng),
    "huber": lambda eta, rng: Huber().simulate(eta, 1.0, rng),
    "binomial": lambda eta, rng: (rng.random(eta.size) < expit(eta)).astype(float),
    "ordinal": lambda eta, rng: np.digitize(eta + rng.logistic(size=eta.size), THRESHOLDS).astype(float),
    "survival": _lifetimes,
}


def draw(setting: str, rng: np.random.Generator) -> Problem:
    """Draw one data set, and new rows to predict.

    Examples
    --------
    >>> problem = draw("poisson", np.random.default_rng(0))
    >>> wide = np.array([[-9.0, 9.0]])
    >>> fit = Fit(np.ones(15), 0.0, (wide.repeat(15, axis=0), 1e9 * wide.repeat(200, axis=0)))
    >>> problem.score(fit)
    {'Not zero': 1.0, 'Selected': 1.0, 'All': 1.0, 'Predictions': 1.0}
    """
    kind: Any = setting
    beta = np.zeros(COLUMNS)
    beta[: EFFECTS.size] = SIZES[kind] * EFFECTS
    X, new = rng.standard_normal((ROWS, COLUMNS)), rng.standard_normal((NEW_ROWS, COLUMNS))
    y, unseen = RESPONSES[kind](X @ beta, rng), RESPONSES[kind](new @ beta, rng)
    if kind == "survival":
        unseen = (new - X.mean(axis=0)) @ beta
    target = expit(new @ beta) if kind == "binomial" else unseen

    def score(fit: Fit) -> dict[str, float]:
        assert fit.intervals is not None
        of_coef, of_new = fit.intervals
        there, chosen = beta != 0.0, fit.coef != 0.0
        return {
            "Not zero": covered(of_coef[there], beta[there]),
            "Selected": covered(of_coef[chosen], beta[chosen]) if chosen.any() else 1.0,
            "All": covered(of_coef, beta),
            "Predictions": covered(of_new, target),
        }

    return Problem(kind, X, y, score, new)


EXPERIMENT = Experiment(
    name="coverage",
    title="How often intervals of 95 % cover, 120 rows, 15 columns, 5 effects",
    settings={kind: kind for kind in SIZES},
    metrics=METRICS,
    methods=("interval-mode", "interval-posterior"),
    replicates=200,
    draw=draw,
    notes=(
        Note(
            'A data set in which nothing is selected counts as covered under "Selected". The intervals of '
            "the posterior are of the same coefficients: those that are selected at the mode."
        ),
    ),
    explanation=(
        "Means over replicates of the share that the intervals cover, with their standard errors in "
        "parentheses: of the coefficients that are not zero, of those selected, of all, and of new responses "
        "(of two classes, of their true probabilities; of censored times, of the true risks)."
    ),
)
