"""Normal-mixture empirical Bayes as in the paper of Kim, Wang, Carbonetto and Stephens ("mr.ash").

b_j ~ pi_0 delta_0 + sum_k pi_k N(0, sigma2 s_k), with independent posteriors q_j. The settings are the
defaults of the authors' R package: twenty variances, the first of them zero; a start at the cross-validated
lasso, with the weights that this start suggests in one step from equal ones; columns visited one at a time,
in their order, until they change by no more than 1e-8 each or a thousand sweeps are done. The columns are
standardised, as for the lasso of the start.
"""

from __future__ import annotations

import math

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.peers.compiled import compiled
from horseshoe_reproduction.peers.paths import cross_validate, glmnet
from horseshoe_reproduction.peers.standardised import column_scale, standardised_fit

# The variances of the mixture in units of sigma2, for columns of unit variance; the first is zero.
GRID: Vector = (2.0 ** (np.arange(20) / 20.0) - 1.0) ** 2
# The change at which the sweeps end, for each column, and how many there are at most.
TOL, MAX_SWEEPS = 1e-8, 1000
# The least weight of a variance, and the least noise variance as a share of the variance of y.
LEAST, NO_NOISE = 1e-300, 1e-12


def normal_mixture(X: Matrix, y: Vector, rng: np.random.Generator) -> Fit:
    """Return the posterior means of the mixture, the lasso's folds being drawn from ``rng``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = 3.0 * X[:, 0] + rng.standard_normal(60)
    >>> print(normal_mixture(X, y, rng).coef[0].round(1))
    3.1
    """
    _, std, varies = column_scale(X)
    lasso = cross_validate(glmnet("gaussian", 1.0), "gaussian", X, y, rng)["min"].coef
    unit = float(y.std()) or 1.0
    start = (lasso * std)[varies] / unit
    return standardised_fit(X, y, unit, lambda Z, centred: _ascend(Z, centred, start))


def _ascend(Z: Matrix, y: Vector, start: Vector) -> Vector:
    """Return the posterior means where coordinate ascent ends that begins at ``start``."""
    n, b, residual = y.size, start.copy(), y - Z @ start
    sigma2 = float(np.mean(residual**2))
    if not sigma2 > 0.0:
        return start
    visit = compiled(_visit)
    weights = _suggested_weights(start, sigma2 / n, sigma2 * GRID)
    for _ in range(MAX_SWEEPS):
        shares, change, spread = visit(np.asfortranarray(Z), residual, b, np.log(weights), sigma2, GRID)
        weights = np.maximum(shares / b.size, LEAST)
        sigma2 = max(float(residual @ residual) + spread, NO_NOISE * float(y @ y)) / n
        if change <= TOL * b.size * (float(y.std()) + np.abs(b).sum()):
            break
    return b


def _suggested_weights(b: Vector, error2: float, variances: Vector) -> Vector:
    """Return how often b + e, e ~ N(0, error2), comes from each variance, if all are equally probable."""
    spread = variances + error2
    likelihood = np.exp(-(b[:, None] ** 2) / (2.0 * spread)) / np.sqrt(spread)
    shares: Vector = (likelihood / likelihood.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.maximum(shares, LEAST)


def _visit(
    Z: Matrix, residual: Vector, b: Vector, log_weights: Vector, sigma2: float, grid: Vector
) -> tuple[Vector, float, float]:
    """Put each q_j to its best in turn, moving b and the residual.

    Returns the sums over columns of the weights in q_j, of |changes|, and of b_j (u_j - n b_j), by which the
    expected residual sum of squares is above that at b. The pull u_j is z_j'(residual) + n b_j. In q_j the
    mean of variance k is c_k u_j, c_k = s_k / (1 + n s_k), and its weight is proportional to
    pi_k (1 + n s_k)^(-1/2) exp(c_k u_j^2 / (2 sigma2)).
    """
    n = residual.size
    keep = grid / (1.0 + n * grid)
    logs = log_weights - 0.5 * np.log(1.0 + n * grid)
    shares, change, spread = np.zeros(grid.size), 0.0, 0.0
    for j in range(b.size):
        pull = n * b[j]
        for i in range(n):
            pull += Z[i, j] * residual[i]
        found = logs + keep * (pull * pull / (2.0 * sigma2))
        weights = np.exp(found - found.max())
        weights /= weights.sum()
        shares += weights
        mean = pull * (weights * keep).sum()
        move = mean - b[j]
        for i in range(n):
            residual[i] -= move * Z[i, j]
        b[j] = mean
        change += math.fabs(move)
        spread += mean * (pull - n * mean)
    return shares, change, spread
