"""Forward selection for several targets at once: a column enters for all of them, or for none.

As in `horseshoe.average.forward`; the criterion of k columns is n sum_o log(residual sum of squares of o) +
k (q log n + 2 log p).
"""

from __future__ import annotations

import numpy as np

from horseshoe.average.forward import LEFT, MOST, PATIENCE, SHARE, orthogonalize_and_deflate, rounded
from horseshoe.average.shared.batch import Cube, SharedBatch


def shared_forward(data: SharedBatch) -> Cube:
    """Return the coefficients (p, T, q) of forward selection in each set of a stack.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 30))
    >>> Y = np.outer(X[:, 4], [2.0, -1.0]) + 0.5 * rng.standard_normal((50, 2))
    >>> coef = shared_forward(SharedBatch(Dense(X), Y[:, None], np.ones((50, 1)), np.array([50.0])))
    >>> np.flatnonzero(coef.any(axis=(1, 2))), coef[4, 0].round(1)
    (array([4]), array([ 1.9, -1. ]))
    """
    (p, sets), q = data.squares.shape, data.total.shape[1]
    left, total = data.targets(), np.maximum(data.total, 1e-300)
    coef = np.zeros((p, sets, q))
    most = int(min(MOST, SHARE * data.n.max(), p))
    asked = q * np.log(np.maximum(data.n, 2.0)) + 2.0 * np.log(max(p, 2))
    least, best = np.zeros(sets), np.zeros(sets, dtype=int)
    basis = np.zeros((sets, most, left.shape[0]))
    chosen = np.zeros((most, sets), dtype=int)
    share = np.ones((sets, q))
    for step in range(most):
        pull2 = (data.pull_of(left) ** 2 / (total * share)).sum(axis=2)
        gain = np.divide(pull2, data.squares, out=np.zeros_like(pull2), where=data.squares > 0.0)
        gain[chosen[:step], np.arange(sets)] = 0.0
        chosen[step] = np.argmax(rounded(gain), axis=0)
        left = orthogonalize_and_deflate(data.one_each(chosen[step]), basis, step, left)
        share = np.maximum(np.einsum("itq,itq->tq", left, left) / total, LEFT)
        criterion = data.n * np.log(share).sum(axis=1) + (step + 1) * asked
        better = (criterion < least) & (step + 1 <= SHARE * data.n)
        least, best = np.where(better, criterion, least), np.where(better, step + 1, best)
        if np.all(step + 1 - best >= PATIENCE):
            break
    for t in range(sets):
        columns = np.sort(chosen[: best[t], t])
        if columns.size:
            coef[columns, t] = np.linalg.lstsq(*data.normal(t, columns), rcond=None)[0]
    return coef
