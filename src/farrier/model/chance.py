"""What noise alone would select, and whether a selection is clearly more than that.

With orthogonal columns and unit noise a column is its z = sqrt(n) times its least-squares coefficient,
standard normal where it has no effect. EM keeps it if its map has a fixed point away from zero: with
s = n tau2 lambda2, E[b^2] = (z s / (1 + s))^2 + s / (1 + s) in units of sigma2 / n must give back lambda2 by
the M-step. Along the curve of all W the z of that fixed point is known, and the least of them is the
threshold that noise has to pass.

Whether there is more than noise is a matter of evidence, not of numbers: where columns are many, true ones
take the place of false ones. The extended Bayesian information criterion (Chen and Chen 2008) asks of k
columns out of p that twice their log-likelihood rises by k (log n + 2 log p); noise seldom gets there,
however it is searched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import gammaincc, ndtr

from farrier._types import Matrix, Status, Vector
from farrier.data.fitted import Fitted
from farrier.data.rows import Rows
from farrier.data.standardise import SIGMA2_FLOOR
from farrier.em.mstep import Hyper
from farrier.families import Family
from farrier.model.spec import ModelSpec
from farrier.priors import is_dense

GRID, FINER = 150, 60
"""Points of the curve of W, first and near its lowest."""
LARGEST_SHARE = 0.25
"""No more columns than this share of the rows are judged: more could explain anything."""
CLEARLY = 3.0
"""A selection of so many times what noise gives, and five more, is clear whatever the evidence."""
SMALLEST = 0.2
"""A coefficient below 1/(5 sqrt n) is zero: so many standard errors, where noise is all there is."""
REFITS = 30
"""Steps of the fit of a few columns without a prior."""


def threshold(hyper: Hyper, size: float, cutoff: float) -> float:
    """Return the |z| that a null column has to exceed to be selected; ``size`` is n tau2.

    ``cutoff`` is the size below which a coefficient counts as zero, in units of its standard error.

    Of a column that has coefficients in several regressions, |z| is the root of the sum of their squares.

    Examples
    --------
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> hyper = Hyper(Horseshoe(), 2.0, HalfCauchy())
    >>> round(threshold(hyper, 1e6, 0.2), 2), round(threshold(hyper, 1e-6, 0.2), 2)
    (2.41, 3.73)
    """
    w = np.geomspace(1e-4, 1e7, GRID) / size
    best = int(np.argmin(_squares(hyper, w, size, cutoff)))
    near = np.geomspace(w[max(best - 1, 0)], w[min(best + 1, w.size - 1)], FINER)
    return math.sqrt(float(_squares(hyper, near, size, cutoff).min()))


def _squares(hyper: Hyper, w: Vector, size: float, cutoff: float) -> Vector:
    """Return the z^2 whose fixed point has this W; infinite where there is none that counts."""
    s = size * hyper.mode(w)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean2 = 2.0 * size * w - hyper.size * (s / (1.0 + s))
        z2 = mean2 * ((1.0 + s) / s) ** 2
    return np.asarray(np.where(np.isfinite(z2) & (mean2 >= hyper.size * (cutoff * cutoff)), z2, np.inf))


def expected_by_chance(fitted: Fitted) -> float:
    """Return how many of the columns of a fit would be selected if none had an effect.

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> x = np.random.default_rng(0).standard_normal((300, 1000))
    >>> round(expected_by_chance(HorseshoeRegressor().fit(x, x[:, 0])._fitted), 1)
    15.6
    """
    result, hyper = fitted.result, fitted.hyper
    if hyper is None:  # nothing was fitted
        return 0.0
    if is_dense(hyper.local) or result.intercept_variance <= 0.0:
        return float(fitted.n_fitted)
    information = result.scales.sigma2 / result.intercept_variance
    least = SMALLEST if fitted.cutoff is None else fitted.cutoff * math.sqrt(information)
    passed = threshold(hyper, information * result.scales.tau2, least)
    if hyper.size == 1.0:
        return 2.0 * fitted.n_fitted * float(ndtr(-passed))
    return fitted.n_fitted * float(gammaincc(0.5 * hyper.size, 0.5 * passed**2))  # of a sum of squares


def remark(spec: ModelSpec, rows: Rows, fitted: Fitted) -> Status | None:
    """Return the status of a fit that found no more than noise would, if it is one."""
    result = fitted.result
    selected = int(np.count_nonzero(result.coef))
    if result.status not in (Status.CONVERGED, Status.SEPARATED) or not selected or not fitted.hyper.sparse:
        return None
    if _is_clear(spec, fitted, selected) or any(gain > 0.0 for gain in gains(spec, rows, fitted)):
        return None
    return None if selected > CLEARLY * expected_by_chance(fitted) + 5.0 else Status.CHANCE


def _is_clear(spec: ModelSpec, fitted: Fitted, selected: int) -> bool:
    """Tell whether a Gaussian fit as it stands is worth all of its columns, from what it left of y."""
    result = fitted.result
    if not spec.family.constant_weights or result.intercept_variance <= 0.0:
        return False
    n = result.scales.sigma2 / result.intercept_variance
    rss = result.moments.expected_rss - result.scales.sigma2 * result.moments.fit_trace
    if selected > LARGEST_SHARE * n or not 0.0 < rss < n:  # the squares of y add up to n
        return False
    return n * math.log(n / rss) > selected * _asked(n, fitted)


def _asked(n: float, fitted: Fitted) -> float:
    """Return what the criterion asks of each column."""
    return math.log(max(n, 2.0)) + 2.0 * math.log(max(fitted.n_fitted, 2))


def evidence(spec: ModelSpec, rows: Rows, fitted: Fitted) -> float:
    """Return the most that some of the selected columns have above what is asked of them, at least 0.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.families import Gaussian
    >>> from farrier.model.fit import fit
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> x = np.arange(20.0)
    >>> rows = Rows(Dense(x[:, None]), x + np.sin(7.0 * x), None, np.zeros(20))
    >>> spec = ModelSpec(Gaussian(), Horseshoe(), HalfCauchy())
    >>> evidence(spec, rows, fit(spec, rows)) > 0.0
    True
    """
    return max(0.0, *gains(spec, rows, fitted), 0.0)


def gains(spec: ModelSpec, rows: Rows, fitted: Fitted) -> Iterator[float]:
    """Yield it for the strongest column, the two strongest, and so on, as far as rows allow."""
    strength = np.abs(fitted.coef) * fitted.scale
    most = min(int((strength > 0.0).sum()), int(LARGEST_SHARE * rows.y.size))
    if most == 0:
        return
    chosen = np.argsort(-strength, kind="stable")[:most]
    keep = np.zeros(strength.size, dtype=np.bool_)
    keep[chosen] = True
    x = (rows.columns.take(keep).dense() / fitted.scale[keep])[:, np.argsort(np.argsort(chosen))]
    each = _asked(float(rows.counts.sum()), fitted)
    if spec.family.is_location:  # in units in which no square overflows
        known = rows.y - rows.offset
        rows = rows._replace(y=known / (np.abs(known).max() or 1.0), offset=np.zeros_like(known))
    for size, gain in _likelihood_gains(spec, rows, fitted.family, x):
        yield gain - size * each


def _likelihood_gains(spec: ModelSpec, rows: Rows, family: Family, x: Matrix) -> Iterator[tuple[int, float]]:
    """Yield twice the gain in log-likelihood of the first columns over none."""
    ones = np.full((len(x), int(spec.fit_intercept)), 1.0)
    if family.constant_weights:
        root = np.sqrt(rows.counts)
        basis = np.linalg.qr(np.column_stack([ones, x]) * root[:, None])[0]
        explained = np.cumsum(np.append(0.0, (basis.T @ (root * rows.y)) ** 2))
        left = (float(rows.counts @ rows.y**2) - explained)[ones.shape[1] :]
        left = np.maximum(left, SIGMA2_FLOOR * left[0])
        for size, rss in enumerate(left[1:], 1):
            yield size, float(rows.counts.sum()) * math.log(left[0] / rss)
        return
    none = _loss(family, rows, ones)
    for size in _sizes(x.shape[1]):
        yield size, 2.0 * (none - _loss(family, rows, np.column_stack([ones, x[:, :size]])))


def _sizes(most: int) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12, ... up to ``most``."""
    sizes = {round(2.0 ** (step / 2.0)) for step in range(2 * most.bit_length() + 1)}
    return sorted({size for size in sizes if size <= most} | {most})


def _loss(family: Family, rows: Rows, x: Matrix) -> float:
    """Return minus the log-likelihood of a fit without a prior, by iterated least squares."""
    y, counts, offset, sigma2 = rows.y, rows.counts, rows.offset, 1.0
    eta, best = offset + family.level(y, counts, offset), math.inf
    if family.has_dispersion:
        sigma2 = float(counts @ (y - eta) ** 2 / counts.sum()) or 1.0
    for _ in range(REFITS):
        weights, targets = family.working(y, eta, sigma2)
        root = np.sqrt(counts * weights)
        coef = np.linalg.lstsq(x * root[:, None], root * (targets - offset), rcond=None)[0]
        eta = x @ coef + offset
        if family.has_dispersion:
            weights = family.working(y, eta, sigma2).weights
            sigma2 = float(counts @ (weights * (y - eta) ** 2) / counts.sum()) or sigma2
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(counts @ family.neg_log_likelihood(y, eta, sigma2))
        if not loss < best - 1e-3:
            return min(best, loss if math.isfinite(loss) else math.inf)
        best = loss
    return best
