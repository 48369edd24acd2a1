"""Table 3: linear regression, n = 70, p = 350, twenty effects of +-3 at the start of the columns."""

from __future__ import annotations

import numpy as np

from horseshoe_reproduction.arrays import Vector
from horseshoe_reproduction.experiment import (
    FAULTS,
    LINEAR,
    Experiment,
    Fit,
    Problem,
    toeplitz_normal,
)

ROWS, COLUMNS, EFFECT = 70, 350, 3.0
SETTINGS = {f"rho={rho:g},sigma2={sigma2:g}": (rho, sigma2) for rho in (0.0, 0.7) for sigma2 in (1.0, 9.0)}


def truth() -> Vector:
    """Return ten effects of 3, ten of -3, and zeros.

    Examples
    --------
    >>> truth()[[0, 9, 10, 19, 20]]
    array([ 3.,  3., -3., -3.,  0.])
    """
    beta = np.zeros(COLUMNS)
    beta[:10], beta[10:20] = EFFECT, -EFFECT
    return beta


def draw(setting: str, rng: np.random.Generator) -> Problem:
    """Draw one data set.

    Examples
    --------
    >>> problem = draw("rho=0.7,sigma2=9", np.random.default_rng(0))
    >>> problem.score(Fit(truth()))
    {'MSE': 0.0, 'No.V': 20.0, 'TNZ': 20.0, 'FNZ': 0.0}
    """
    rho, sigma2 = SETTINGS[setting]
    beta = truth()
    X = toeplitz_normal(ROWS, COLUMNS, rho, rng)
    y = X @ beta + np.sqrt(sigma2) * rng.standard_normal(ROWS)
    sigma = rho ** np.abs(np.subtract.outer(np.arange(COLUMNS), np.arange(COLUMNS)))

    def score(fit: Fit) -> dict[str, float]:
        error, found = fit.coef - beta, fit.coef != 0.0
        return {
            "MSE": float(error @ sigma @ error),
            "No.V": float(np.count_nonzero(fit.coef)),
            "TNZ": float(np.count_nonzero(found & (beta != 0.0))),
            "FNZ": float(np.count_nonzero(found & (beta == 0.0))),
        }

    return Problem("gaussian", X, y, score)


EXPERIMENT = Experiment(
    name="table3",
    title="Linear regression, 70 rows, 350 columns, 20 effects",
    settings={key: f"rho = {rho:g}, sigma2 = {sigma2:g}" for key, (rho, sigma2) in SETTINGS.items()},
    metrics=("MSE", "Time", "No.V", "TNZ", "FNZ"),
    methods=LINEAR,
    replicates=100,
    draw=draw,
    notes=(FAULTS,),
)
