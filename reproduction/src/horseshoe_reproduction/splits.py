"""What tables 5 and 6 share: data sets cut at random into rows to learn from and rows to test on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.designs import Base, replicate
from horseshoe_reproduction.experiment import Fit, Kind, Problem

# Of each data set its name in print, and how many columns its design has.
REPLICATES = 50
DESIGNS = {
    "diabetes": ("Diabetes", 385),
    "boston": ("Boston", 473),
    "concrete": ("Concrete", 327),
    "eye": ("Eye", 200),
    "pima": ("Pima", 214),
    "heart": ("Heart", 400),
}

# From a fit and the rows to test on to the metrics of the table.
Score = Callable[[Fit, Matrix, Vector], dict[str, float]]


def heading(name: str, rows: int) -> str:
    """Return what a reader sees above a setting.

    Examples
    --------
    >>> heading("pima", 100)
    'Pima (n = 100, p = 214)'
    """
    title, columns = DESIGNS[name]
    return f"{title} (n = {rows}, p = {columns})"


def split_problem(kind: Kind, data: Base, rows: int, rng: np.random.Generator, score: Score) -> Problem:
    """Draw one split of a data set, with its noise columns, to be scored on the rows that are left out.

    Examples
    --------
    >>> from horseshoe_reproduction.designs import base
    >>> problem = split_problem(
    ...     "gaussian", base("diabetes"), 100, np.random.default_rng(0), lambda fit, X, y: {"rows": len(y)}
    ... )
    >>> problem.design.shape, problem.score(Fit(np.zeros(385)))
    ((100, 385), {'rows': 342})
    """
    drawn = replicate(data, rows, rng)

    def scored(fit: Fit) -> dict[str, float]:
        return score(fit, drawn.X_test, drawn.y_test)

    return Problem(kind, drawn.X, drawn.y, scored, drawn.X_test)
