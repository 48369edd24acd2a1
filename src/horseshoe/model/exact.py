"""Whether the selected columns reproduce y to rounding, as a copy of y does, or the terms of a sum.

A fit shrinks, so its own residual is no guide: some 1e-9 of the squares of y under a mode, 1e-3 under the
average of few rows. The residual of least squares on the selected columns is: 1e-29 where they reproduce y,
and the share of the noise where they do not.
"""

from __future__ import annotations

import numpy as np

from horseshoe._types import Matrix, Status, Vector
from horseshoe.data.rows import Rows
from horseshoe.data.view import View

EXACT = 1e-16
"""The share of the squares of y below which the residual is rounding: R^2 is then 1 in double precision."""
NEAR = 0.99
"""Fits whose squared correlation with y is below this are not looked at."""
MOST, HELD = 500, 256 << 20
"""Columns that are looked at, and their bytes: they are made dense, and factorised."""
REPLACEABLE = (Status.CONVERGED, Status.NO_NOISE)
"""Endings in whose place the status goes."""


def reproduces(rows: Rows, coef: Vector, intercept: bool, noise: float = 0.0) -> bool:
    """Tell whether least squares on the columns with coefficients leaves nothing of y but rounding.

    As many columns as rows always do that, and say nothing; of sums no single row is known. Where ``noise``,
    the noise variance that the fit has found, is more than a few per cent of y, columns are not passed over.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> x = np.random.default_rng(0).standard_normal((20, 3))
    >>> rows = Rows(Dense(x), 0.1 + x[:, 0] - x[:, 2], None, np.zeros(20))
    >>> reproduces(rows, np.array([0.9, 0.0, -0.9]), True), reproduces(rows, np.array([1.0, 0.0, 0.0]), True)
    (True, False)
    """
    chosen, n = coef != 0.0, rows.y.size
    k = int(np.count_nonzero(chosen))
    if not 0 < k < n - int(intercept) or k > MOST or 8 * n * k > HELD or rows.n_seen != n:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        y = rows.y + rows.level - rows.offset
        largest = float(np.abs(y).max()) or 1.0
        y = _unit(y, intercept)
        if noise / largest / largest > (1.0 - NEAR) * float(y @ y) / n:
            return False
        columns = rows.columns.take(chosen)
        fit = _unit(np.asarray(columns.matvec(coef[chosen])), intercept)
        close = float(y @ fit) ** 2 >= NEAR * float(fit @ fit) * float(y @ y)
    return close and _left(columns, y, intercept) <= EXACT * float(y @ y)


def _left(columns: View, y: Vector, intercept: bool) -> float:
    """Return the sum of squares that least squares on all columns leaves of y."""
    x: Matrix = np.column_stack([_unit(column, intercept) for column in columns.dense().T])
    basis = np.linalg.qr(x)[0]
    left = y - basis @ (basis.T @ y)
    left = left - basis @ (basis.T @ left)  # once leaves the rounding of what is taken off
    return float(left @ left)


def _unit(values: Vector, center: bool) -> Vector:
    """Return values divided by the largest, so that no square overflows, and without their mean."""
    scaled = values / (np.abs(values).max() or 1.0)
    return np.asarray(scaled - scaled.mean() if center else scaled)
