"""Table 2: a thousand normal means, twenty of them not zero, one observation of unit variance each."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe_reproduction.experiment import HORSESHOE_LIKE, Experiment, Fit, Note, Problem, Reason

MEANS, EFFECTS = 1000, 20
SETTINGS = {"b=3": 3.0, "b=10": 10.0}


def draw(setting: str, rng: np.random.Generator) -> Problem:
    """Draw one observation of each mean.

    Examples
    --------
    >>> problem = draw("b=3", np.random.default_rng(0))
    >>> problem.score(Fit(np.zeros(1000)))
    {'MSE': 180.0, 'Inc_z': 0.0, 'No.V': 0.0}
    """
    size = SETTINGS[setting]
    means = np.zeros(MEANS)
    means[: EFFECTS // 2], means[EFFECTS // 2 : EFFECTS] = size, -size

    def score(fit: Fit) -> dict[str, float]:
        return {
            "MSE": float(((fit.coef - means) ** 2).sum()),
            "Inc_z": float(np.count_nonzero(fit.coef[EFFECTS:])),
            "No.V": float(np.count_nonzero(fit.coef)),
        }

    return Problem("means", None, means + rng.standard_normal(MEANS), score)


def nothing_kept(cells: list[Any], method: str) -> bool:
    """Tell whether a method kept no variable in any replicate."""
    return all(cell.mean == 0.0 for cell in cells if cell.method == method and cell.metric == "No.V")


EXPERIMENT = Experiment(
    name="table2",
    title="A thousand normal means, twenty of them not zero",
    settings={key: f"ten means of {size:g}, ten of {-size:g}" for key, size in SETTINGS.items()},
    metrics=("MSE", "Time", "Inc_z", "No.V"),
    methods=(
        "hs-em-small",
        "hs-em",
        *HORSESHOE_LIKE,
        "bayes-shrink",
        "visu-shrink",
        "posterior-mean",
    ),
    replicates=100,
    draw=draw,
    notes=(
        Note("The global scale behind the printed HS-EM column is not stated.", ("hs-em", "hs-em-small")),
        Note("HS-EM estimates tau2, at most 1.", ("hs-em",)),
        Note(
            "The code behind the printed HS-like column was not released; here the released regression "
            "code's EM is run with the identity as X.",
            ("hs-like",),
        ),
        Note(
            "HS-like, mended, ends with nothing: with so many zeros its estimate of a runs to zero.",
            ("hs-like-mended",),
            lambda cells: nothing_kept(cells, "hs-like-mended"),
        ),
    ),
    reasons=(
        Reason(
            "The code was not released, and the released EM does not end there from any start that was tried "
            "(docs/deviations.md).",
            methods=("hs-like",),
        ),
        Reason(
            "The global scale behind the printed column is not stated; here tau2 is estimated, at most 1.",
            methods=("hs-em",),
        ),
    ),
)
