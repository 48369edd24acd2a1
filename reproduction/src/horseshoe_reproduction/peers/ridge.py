"""Ridge over every penalty that may be the best one.

glmnet's path of ridge ends at a hundredth of its largest penalty where p > n, far above the best one of a
strong dense signal. This one goes on to a millionth; that of a linear model is in closed form.
"""

from __future__ import annotations

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import Kind
from horseshoe_reproduction.peers.paths import PENALTIES, Path, Solver, glmnet
from horseshoe_reproduction.peers.standardised import standardised

# The ends of the grid, in units of the largest slope at zero.
LARGEST, SMALLEST = 1e3, 1e-3


def ridge(kind: Kind) -> Solver:
    """Return the path of ridge from nothing to almost no penalty.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0])
    >>> path = ridge("gaussian")(X, y, None)
    >>> path.coef[0, [0, -1]].round(2), path.intercept[[0, -1]].round(2)
    (array([0., 2.]), array([ 3., -1.]))
    """
    follow = None if kind == "gaussian" else glmnet(kind, 0.0)

    def solve(X: Matrix, y: Vector, penalties: Vector | None) -> Path:
        if penalties is None:
            Z = standardised(X)[0]
            slope = float(np.abs(Z.T @ (y - y.mean())).max()) / y.size
            penalties = slope * np.geomspace(LARGEST, SMALLEST, PENALTIES)
        return _linear(X, y, penalties) if follow is None else follow(X, y, penalties)

    return solve


def _linear(X: Matrix, y: Vector, penalties: Vector) -> Path:
    """Minimise mean squared error / 2 + penalty |b|^2 / 2 over standardised columns, y in its own unit."""
    Z, shift, scale = standardised(X)
    level, unit = float(y.mean()), float(y.std()) or 1.0
    U, d, Vt = np.linalg.svd(Z, full_matrices=False)
    parts = (d * (U.T @ (y - level)))[:, None] / (d[:, None] ** 2 + y.size * penalties / unit)
    coef = Vt.T @ parts / scale[:, None]
    return Path(penalties, coef, level - shift @ coef)
