"""Forward selection in all training sets at once: where a mixture starts that looks for very few columns.

Each step adds to each set the column that explains most of what is left, and fits those chosen by least
squares. Of all steps the one with the least n log(residual sum of squares) + k (log n + 2 log p) counts: the
extended Bayesian information criterion of k columns (Chen and Chen 2008). Effects that hide each other need
not pass it one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Matrix
from horseshoe.average.batch import Batch

SHARE, MOST = 0.25, 30
"""The most columns, as a share of the observations, and in all."""
PATIENCE = 12
"""So many columns in a row that do not pay end it."""
DIGITS = 9
"""Of the gains that are compared."""
LEFT, TIED = 1e-10, 1e-6
"""What is left of the targets when they are explained, and of a column that others make up."""


def forward(data: Batch) -> Matrix:
    """Return the coefficients (p, T) of forward selection in each problem of a stack.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 30))
    >>> y = 2.0 * X[:, 4] + 0.5 * rng.standard_normal(50)
    >>> coef = forward(Batch(Dense(X), y[:, None], np.ones((50, 1))))
    >>> np.flatnonzero(coef[:, 0]), coef[4].round(1)
    (array([4]), array([2.]))
    """
    p, problems = data.squares.shape
    coef, left = np.zeros((p, problems)), data.targets()
    total = np.maximum(data.total, 1e-300)
    most = int(min(MOST, SHARE * data.n.max(), p))
    asked = np.log(np.maximum(data.n, 2.0)) + 2.0 * np.log(max(p, 2))
    least, best = np.zeros(problems), np.zeros(problems, dtype=int)  # of the criterion; 0 with no column
    basis = np.zeros((problems, most, left.shape[0]))
    chosen = np.zeros((most, problems), dtype=int)
    for step in range(most):
        gain = np.divide(
            data.pull_of(left) ** 2, data.squares, out=np.zeros_like(coef), where=data.squares > 0.0
        )
        gain[chosen[:step], np.arange(problems)] = 0.0
        chosen[step] = np.argmax(rounded(gain), axis=0)
        left = orthogonalize_and_deflate(data.one_each(chosen[step]), basis, step, left)
        share = np.maximum((left * left).sum(axis=0) / total, LEFT)
        criterion = data.n * np.log(share) + (step + 1) * asked
        better = (criterion < least) & (step + 1 <= SHARE * data.n)
        least, best = np.where(better, criterion, least), np.where(better, step + 1, best)
        if np.all(step + 1 - best >= PATIENCE):
            break
    for t in range(problems):
        columns = np.sort(chosen[: best[t], t])
        if columns.size:
            gram, pull, _ = data.normal(t, columns)
            coef[columns, t] = np.linalg.lstsq(gram, pull, rcond=None)[0]
    return coef


def rounded(gain: Matrix) -> Matrix:
    """Return gains without the digits in which rounding differs: of tied columns the first is chosen."""
    return np.asarray(np.round(gain / np.maximum(gain.max(axis=0), 1e-300), DIGITS))


def orthogonalize_and_deflate(column: Matrix, basis: Matrix, step: int, left: Any) -> Any:
    """Put what is new of a column of each problem into the basis, and return what it leaves.

    ``left`` has a target, or several, for each problem.
    """
    known = basis[:, :step]
    new = column.T - ((known @ column.T[:, :, None]).transpose(0, 2, 1) @ known)[:, 0]
    size = np.sqrt(np.einsum("ti,ti->t", new, new))
    tied = size <= TIED * np.sqrt(np.einsum("it,it->t", column, column))
    new *= np.where(tied, 0.0, 1.0 / np.where(tied, 1.0, size))[:, None]
    basis[:, step] = new
    if left.ndim == 3:
        return left - new.T[:, :, None] * np.einsum("ti,itq->tq", new, left)
    return np.asarray(left - new.T * np.einsum("ti,it->t", new, left))
