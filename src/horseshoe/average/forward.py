"""Forward selection in all training sets at once: the start of a mixture that looks for very few variables.

Each step adds to each set the variable that explains most of what is left, and fits those chosen by least
squares; with q targets a variable enters for all of them. Of all steps the one with the least

    n sum_o log(residual sum of squares of target o) + k (q log n + 2 log p)

counts: the extended Bayesian information criterion of k variables (Chen and Chen 2008). Effects that mask
each other need not pass it one by one.
"""

from __future__ import annotations

import numpy as np

from horseshoe._types import Matrix
from horseshoe.average.batch import Batch, Cube

# The most variables, as a share of the observations, and in all.
SHARE, MOST = 0.25, 30
# So many variables in a row that do not pay end it.
PATIENCE = 12
# Of the gains that are compared.
DIGITS = 9
# What is left of the targets when they are explained, and of a column that others make up.
LEFT, TIED = 1e-10, 1e-6


def forward(data: Batch) -> Cube:
    """Return the coefficients (q, p, T) of forward selection in each problem of a batch.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 30))
    >>> Y = np.outer([2.0, -1.0], X[:, 4]) + 0.5 * rng.standard_normal((2, 50))
    >>> coef = forward(Batch(Dense(X), Y[..., None], np.ones((50, 1))))
    >>> np.flatnonzero(coef[0, :, 0]), coef[:, 4, 0].round(1)
    (array([4]), array([ 2., -1.]))
    """
    q, p, problems = data.shape
    left, total = data.targets(), np.maximum(data.total, 1e-300)
    most = int(min(MOST, SHARE * data.n.max(), p))
    penalty = q * np.log(np.maximum(data.n, 2.0)) + 2.0 * np.log(max(p, 2))
    least, best = np.zeros(problems), np.zeros(problems, dtype=int)  # of the criterion; 0 without variables
    basis = np.zeros((problems, most, left.shape[1]))
    chosen = np.zeros((most, problems), dtype=int)
    share = np.ones((q, problems))  # of each target that is left
    for step in range(most):
        # 1. The variable whose explained share of what is left, summed over targets, is largest.
        pull = data.pull(left)
        pull2 = np.einsum("qjt,qjt,qt->jt", pull, pull, 1.0 / np.maximum(total * share, 1e-300))
        gain = np.divide(pull2, data.squares, out=np.zeros_like(pull2), where=data.squares > 0.0)
        gain[chosen[:step], np.arange(problems)] = 0.0
        chosen[step] = np.argmax(rounded(gain), axis=0)
        # 2. Least squares on all chosen, by Gram-Schmidt.
        left = orthogonalize_and_deflate(data.one_each(chosen[step]), basis, step, left)
        share = np.maximum(np.einsum("qit,qit->qt", left, left) / total, LEFT)
        # 3. The criterion.
        criterion = data.n * np.log(share).sum(axis=0) + (step + 1) * penalty
        better = (criterion < least) & (step + 1 <= SHARE * data.n)
        least, best = np.where(better, criterion, least), np.where(better, step + 1, best)
        if np.all(step + 1 - best >= PATIENCE):
            break
    coef = np.zeros(data.shape)
    for t in np.flatnonzero(best).tolist():
        columns = np.sort(chosen[: best[t], t])
        gram, pull = data.normal(t, columns)
        coef[:, columns, t] = np.linalg.lstsq(gram, pull, rcond=None)[0].T
    return coef


def rounded(gain: Matrix) -> Matrix:
    """Return gains without the digits in which rounding differs: of tied columns the first is chosen."""
    return np.asarray(np.round(gain / np.maximum(gain.max(axis=0), 1e-300), DIGITS))


def orthogonalize_and_deflate(column: Matrix, basis: Matrix, step: int, left: Cube) -> Cube:
    """Put what is new of a column (n, T) of each problem into the basis, and return what it leaves."""
    known = basis[:, :step]
    new = column.T - ((known @ column.T[:, :, None]).transpose(0, 2, 1) @ known)[:, 0]
    size = np.sqrt(np.einsum("ti,ti->t", new, new))
    tied = size <= TIED * np.sqrt(np.einsum("it,it->t", column, column))
    new *= np.where(tied, 0.0, 1.0 / np.where(tied, 1.0, size))[:, None]
    basis[:, step] = new
    return left - new.T * np.einsum("ti,qit->qt", new, left)[:, None]
