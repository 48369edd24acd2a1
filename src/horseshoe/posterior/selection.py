"""From draws, none of which is zero, to the few columns that matter.

"credible" looks at each column on its own. "decoupled" is the decoupled shrinkage and selection of Hahn and
Carvalho (2015): the posterior has shrunk already, and its mean b is approximated by fewer columns.

1. *The path.* The adaptive lasso, with weights 1 / |b_j|, explains the linear predictor X b of the data,
   which has no noise. The columns that are not zero at its corners are the candidates; of several with as
   many columns the one that comes nearest to X b is kept.
2. *The refit.* Of each candidate, least squares towards X b. The lasso's own coefficients would be shrunk a
   second time, and its penalty is only there to find the columns: given these, least squares is what loses
   least.
3. *The choice.* With g the coefficients of a candidate, each draw (b', sigma2') of the posterior says which
   share of the variation it would explain,

       rho2 = |X b'|^2 / (|X b'|^2 + sigma2' + |X b' - X g|^2),

   |v|^2 the mean square over the rows. The full model is the end of the path: all columns, g = b. Chosen is
   the smallest candidate whose interval of rho2 reaches the posterior mean of the full model's rho2.

Squares are weighted by the sample weights and, for families other than the Gaussian, by the working weights
at the posterior mean of the linear predictor (by the expected information, where it is the same for all
rows): there a row of the working response has variance sigma2 / weight. Where there is an intercept, columns
are centred in that metric; offsets are known, and take no part.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from horseshoe._checks import check_choice, check_level
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.linalg import scatter
from horseshoe.sampling.diagnostics import equal_tailed

if TYPE_CHECKING:
    from horseshoe.posterior.draws import Posterior

# Size of the linear predictors that are worked on at a time.
METHODS = ("credible", "decoupled")
CHUNK_BYTES = 64 << 20
# The size of the targets of the path: `lars_path` stops where gradients are about 1e-7.
SHARP = 1e3
# A column of which no more than this share is left, given those before it, adds nothing.
DEPENDENT = 1e-10


class Path(NamedTuple):
    """The candidates of "decoupled", from no column to all of them.

    Attributes
    ----------
    supports : bool array of shape (candidates, p)
        Which columns each has; no two candidates have as many.
    explained : array of shape (candidates,)
        The posterior mean of the share of the variation that it explains.
    interval : array of shape (candidates, 2)
        The equal-tailed interval of that share.
    """

    supports: Mask
    explained: Vector
    interval: Matrix

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of columns of each candidate."""
        return np.asarray(self.supports.sum(axis=1))


class Selection(NamedTuple):
    """Which columns are selected, with coefficients that are zero for the others.

    Attributes
    ----------
    support : bool array of shape (p,)
        The columns; possibly none.
    coef : array of shape (p,)
        Their coefficients in the user's units, and zeros.
    intercept : float
        The intercept with these coefficients.
    path : Path, or None
        What was to choose from; only of "decoupled".
    """

    support: Mask
    coef: Vector
    intercept: float
    path: Path | None = None


def select(posterior: Posterior, method: str = "credible", level: float = 0.95) -> Selection:
    """Return which columns matter.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    method : {"credible", "decoupled"}, default="credible"
        "credible": the columns whose equal-tailed interval leaves out zero, with their posterior means.
        "decoupled": the fewest columns that explain as much of the variation as all of them, as far as the
        posterior tells, with coefficients fitted anew. Where columns stand in for one another, their
        intervals may all hold zero, and the first method selects none of them; the second selects one.
    level : float, default=0.95
        The probability in the intervals: of the coefficients, or of the variation explained. The higher, the
        fewer columns are selected. "decoupled" leaves out what adds little to the prediction, real or not;
        its authors take 0.9.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> posterior = sample_posterior(X, 2.0 * X[:, 1] + np.sin(9.0 * X[:, 0]), random_state=0)
    >>> select(posterior, "credible").support
    array([False,  True, False, False, False])
    >>> found = select(posterior, "decoupled")
    >>> found.support, found.path.sizes
    (array([False,  True, False, False, False]), array([0, 1, 2, 3, 4, 5]))
    """
    check_choice("method", method, METHODS)
    level = check_level(level)
    metric = _metric(posterior)
    if method == "decoupled":
        return _decoupled(posterior, metric, level)
    interval = posterior.interval(level)
    support = (interval[:, 0] > 0.0) | (interval[:, 1] < 0.0)
    return _selection(posterior, metric, support, np.where(support, posterior.mean(), 0.0))


class Metric(NamedTuple):
    """How squares are weighted, and the point at which the intercept is fitted."""

    weights: Vector
    center: Vector
    has_intercept: bool


def _metric(posterior: Posterior) -> Metric:
    """Return the weights of the rows at the posterior mean of the linear predictor."""
    rows, family = posterior.rows, posterior.family
    if posterior.nuisance is not None:
        family = family.with_nuisance(posterior.mean("nuisance"))
    information = family.information()
    if information is None:
        eta = rows.columns.matvec(posterior.mean()) + posterior.mean("intercept") + rows.offset
        each = family.working(rows.y, eta, float(posterior.mean("sigma2"))).weights
    else:
        each = np.full_like(rows.y, information)
    weights = rows.counts * each
    has_intercept = bool(posterior.intercept.any())
    center = np.zeros(rows.columns.shape[1])
    if has_intercept or not family.has_intercept:
        center = rows.columns.rmatvec(weights) / weights.sum()
    return Metric(weights / rows.counts.sum(), center, has_intercept)


def _selection(
    posterior: Posterior, metric: Metric, support: Mask, coef: Vector, path: Path | None = None
) -> Selection:
    """Return the selection with the intercept that leaves the mean of the linear predictor as it is."""
    intercept = 0.0
    if metric.has_intercept:
        intercept = float(posterior.mean("intercept") + metric.center @ (posterior.mean() - coef))
    return Selection(support, coef, intercept, path)


def _decoupled(posterior: Posterior, metric: Metric, level: float) -> Selection:
    mean = posterior.mean()
    x = posterior.rows.columns.reweighted(
        np.sqrt(metric.weights), metric.center
    ).dense()  # no larger than the draws
    supports, residuals = _candidates(x, mean)
    shares = _explained(posterior, x, mean, residuals)
    path = Path(supports, shares.mean(axis=0), equal_tailed(shares[None], level))
    enough = path.interval[:, 1] >= path.explained[-1]
    enough[-1] = True
    support = supports[int(np.argmax(enough))]
    return _selection(posterior, metric, support, _refit(x, mean, support), path)


def _refit(x: Matrix, mean: Vector, support: Mask) -> Vector:
    """Return least squares towards X b on some columns; with all of them it is b."""
    if support.sum() == (mean != 0.0).sum():
        return np.where(support, mean, 0.0)
    scale = np.sqrt((x[:, support] ** 2).sum(axis=0))
    solution = np.linalg.lstsq(x[:, support] / scale, x @ mean, rcond=None)[0]
    return np.asarray(scatter(support, solution / scale))


def _candidates(x: Matrix, mean: Vector) -> tuple[Mask, Matrix]:
    """Return the candidates, one of each size, and what each leaves of X b, in columns."""
    target, best = x @ mean, dict[int, tuple[Mask, Vector]]()
    for support, residual in _residuals(x, target, _supports(x, mean)):
        size = int(support.sum())
        if size not in best or residual @ residual < best[size][1] @ best[size][1]:
            best[size] = support, residual
    everything = mean != 0.0
    best[int(everything.sum())] = everything, np.zeros_like(target)
    chosen = [best[size] for size in sorted(best)]
    return np.array([support for support, _ in chosen]), np.column_stack([left for _, left in chosen])


def _supports(x: Matrix, mean: Vector) -> Iterator[Mask]:
    """Yield the columns that are not zero at each corner of the adaptive lasso's path, from none on."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path  # imported here: it is slow to import

    target = x @ mean
    size = float(np.sqrt((target**2).mean()))
    if size == 0.0:
        yield np.zeros(mean.size, dtype=bool)
        return
    used = mean != 0.0
    unit = SHARP / size
    with warnings.catch_warnings():  # that it ends early where columns depend on each other
        warnings.simplefilter("ignore", ConvergenceWarning)
        steps = 2 * min(len(x), int(used.sum())) + 1
        path = lars_path(x[:, used] * (mean[used] * unit), target * unit, max_iter=steps, method="lasso")[2]
    for coef in path.T:
        yield scatter(used, coef != 0.0)


def _residuals(x: Matrix, target: Vector, supports: Iterator[Mask]) -> Iterator[tuple[Mask, Vector]]:
    """Yield what least squares leaves of the target; a column that joins is one more step of Gram-Schmidt."""
    held = np.zeros(x.shape[1], dtype=bool)
    basis, residual = np.empty((len(x), 0)), target
    for support in supports:
        if (held & ~support).any():
            held, basis, residual = np.zeros_like(held), basis[:, :0], target
        for column in np.flatnonzero(support & ~held):
            left = x[:, column]
            length = dnrm2(left)
            for _ in range(2):  # twice is enough for full precision
                left = left - basis @ (basis.T @ left)
            if (rest := dnrm2(left)) > DEPENDENT * length:
                basis = np.column_stack([basis, left / rest])
                residual = residual - basis[:, -1] * (basis[:, -1] @ residual)
        held = support
        yield support, residual


def _explained(posterior: Posterior, x: Matrix, mean: Vector, residuals: Matrix) -> Matrix:
    """Return rho2, a line for each draw and a column for each candidate."""
    draws, target = posterior.coef.reshape(-1, mean.size), x @ mean
    sigma2 = posterior.sigma2.reshape(-1, 1)
    left = (residuals**2).sum(axis=0)
    out = np.empty((len(draws), left.size))
    step = max(1, CHUNK_BYTES // (8 * max(x.shape)))
    for start in range(0, len(draws), step):
        some = slice(start, start + step)
        off = (draws[some] - mean) @ x.T  # of the draw from the posterior mean
        signal = ((target + off) ** 2).sum(axis=1, keepdims=True)
        loss = (off**2).sum(axis=1, keepdims=True) + 2.0 * (off @ residuals) + left
        out[some] = signal / (signal + sigma2[some] + np.maximum(loss, 0.0))
    return out
