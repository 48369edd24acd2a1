"""The status of a fit that has converged: whether its selection is clearly more than noise would give.

**Reproduction.** Selected columns may reproduce y to rounding, as a copy of y does, or the terms of a sum. A
fit shrinks, so its own residual is no guide: some 1e-9 of the squares of y under a mode, 1e-3 under the
average of few rows. The residual of least squares on the selected columns is: 1e-29 where they reproduce y,
and the share of the noise where they do not.

**Noise.** With orthogonal columns and unit noise a column is its z = sqrt(n) times its least-squares
coefficient, standard normal where it has no effect. EM keeps it if its map has a fixed point away from
zero: with
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
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, ndtr

from horseshoe._types import Matrix, Status, Vector
from horseshoe.data.coupled import Coupled, CoupledTargets
from horseshoe.data.dense import Dense
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.data.view import View
from horseshoe.em.m_step import Hyper
from horseshoe.families import Family, Ordered
from horseshoe.model.spec import ModelSpec
from horseshoe.priors import Groups, is_dense

# Points of the curve of W, first and near its lowest.
GRID, FINER = 150, 60
# No more columns than this share of the rows are judged: more could explain anything.
LARGEST_SHARE = 0.25
# A selection of so many times what noise gives, and five more, is clear whatever the evidence.
CLEARLY = 3.0
# A coefficient below 1/(5 sqrt n) is zero: so many standard errors, where noise is all there is.
SMALLEST = 0.2
# Bytes of the columns that are judged: they are made dense, and factorised.
HELD = 256 << 20
# Steps of the fit of a few columns without a prior.
REFITS = 30
# The share of the squares of y below which the residual is rounding: R^2 is then 1 in double precision.
EXACT = 1e-16
# Fits whose squared correlation with y is below this are not looked at.
NEAR = 0.99
# The most columns that may reproduce y.
MOST = 500
# Endings in whose place the status goes.
REPLACEABLE = (Status.CONVERGED, Status.NO_NOISE)


def with_final_status(
    spec: ModelSpec, rows: Sequence[Rows], fitted: Sequence[Fitted], varying: Sequence[int]
) -> tuple[Fitted, ...]:
    """Return fits that share their scales, with the status of selections that need a word of caution.

    ``varying`` are the regressions whose y is not constant. Noise is blamed only where it may have made the
    selection of each of them: one that is clear vouches for the columns that they share.
    """
    # 1. columns that reproduce a response to rounding
    found = [k for k, one in enumerate(fitted) if _is_reproduced(spec, rows[k], one)]
    status = Status.REPRODUCED
    # 2. selections that noise could have made
    if not found and all(_is_chance(spec, rows[k], fitted[k]) for k in varying):
        found, status = list(varying), Status.CHANCE
    out = list(fitted)
    for k in found:
        out[k] = replace(out[k], result=out[k].result.with_status(status))
    return tuple(out)


def _is_reproduced(spec: ModelSpec, rows: Rows, fitted: Fitted) -> bool:
    """Tell whether the selected columns reproduce y to rounding, of fits that nothing else is said of."""
    if not spec.family.is_location or fitted.result.status not in REPLACEABLE:
        return False
    noise = fitted.sigma2 if spec.sigma2 == "estimate" else 0.0
    return reproduces(rows, fitted.coef, spec.fit_intercept, noise)


def reproduces(rows: Rows, coef: Vector, intercept: bool, noise: float = 0.0) -> bool:
    """Tell whether least squares on the columns with coefficients leaves nothing of y but rounding.

    As many columns as rows always do that, and mean nothing; of compressed rows no single one is known.
    Where ``noise``, the noise variance of the fit, is more than a few per cent of y, columns are not read.

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


def threshold(hyper: Hyper, size: float, cutoff: float, together: float = 1.0) -> float:
    """Return the |z| that a null column has to exceed to be selected; ``size`` is n tau2.

    ``cutoff`` is the size below which a coefficient counts as zero, in units of its standard error. Of
    columns that are selected ``together`` it is the root of the sum of their z^2.

    Of a column that has coefficients in several regressions, |z| is the root of the sum of their squares.

    Examples
    --------
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> hyper = Hyper(Horseshoe(), 2.0, HalfCauchy())
    >>> round(threshold(hyper, 1e6, 0.2), 2), round(threshold(hyper, 1e-6, 0.2), 2)
    (2.41, 3.73)
    """
    w = np.geomspace(1e-4, 1e7, GRID) / size
    best = int(np.argmin(_squares(hyper, w, size, cutoff, together)))
    near = np.geomspace(w[max(best - 1, 0)], w[min(best + 1, w.size - 1)], FINER)
    return math.sqrt(float(_squares(hyper, near, size, cutoff, together).min()))


def _squares(hyper: Hyper, w: Vector, size: float, cutoff: float, together: float) -> Vector:
    """Return the z^2 whose fixed point has this W; infinite where there is none that counts."""
    s = size * hyper.local.mode(w, hyper.lambda_power + (together - 1.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean2 = 2.0 * size * w - together * s / (1.0 + s)
        z2 = mean2 * ((1.0 + s) / s) ** 2
    return np.asarray(np.where(np.isfinite(z2) & (mean2 >= cutoff * cutoff * together), z2, np.inf))


def expected_by_chance(fitted: Fitted) -> float:
    """Return how many of the columns of a fit would be selected if none had an effect.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
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
    total, size = 0.0, information * result.scales.tau2
    for columns, groups in zip(*np.unique(fitted.group_sizes, return_counts=True), strict=True):
        together = float(columns) * hyper.size  # coefficients that share a scale
        passed = threshold(hyper, size, least, together)
        share = 2.0 * ndtr(-passed) if together == 1.0 else gammaincc(0.5 * together, 0.5 * passed**2)
        total += float(groups * columns * share)  # P(chi^2 > passed^2)
    return total


def _is_chance(spec: ModelSpec, rows: Rows, fitted: Fitted) -> bool:
    """Tell whether a fit found no more than noise would."""
    result = fitted.result
    selected = int(np.count_nonzero(_found(fitted)))
    ended = (Status.CONVERGED, Status.SEPARATED, Status.MONOTONE)
    if result.status not in ended or not selected or not fitted.hyper.sparse:
        return False
    if _is_clear(spec, fitted, selected) or any(gain > 0.0 for gain in gains(spec, rows, fitted)):
        return False
    return selected <= CLEARLY * expected_by_chance(fitted) + 5.0


def _is_clear(spec: ModelSpec, fitted: Fitted, selected: int) -> bool:
    """Tell whether a Gaussian fit as it stands is worth all of its columns, from what it left of y."""
    result = fitted.result
    if not spec.family.constant_weights or result.intercept_variance <= 0.0:
        return False
    n = result.scales.sigma2 / result.intercept_variance
    rss = result.moments.expected_rss - result.scales.sigma2 * result.moments.fit_trace
    # what the squares of y add up to
    whole = n if fitted.unpenalized is None else n - float(fitted.unpenalized.sum())
    if selected > LARGEST_SHARE * n or not 0.0 < rss < whole:
        return False
    return bool(n * math.log(whole / rss) > _asked(n, fitted, selected, _n_groups(fitted)))


def _asked(n: float, fitted: Fitted, columns: int, groups: int) -> float:
    """Return what the criterion asks of so many columns in so many groups, each found among all of them."""
    return columns * math.log(max(n, 2.0)) + groups * 2.0 * math.log(max(fitted.group_sizes.size, 2))


def _found(fitted: Fitted) -> Vector:
    """Return the coefficients, with zeros for unpenalised columns."""
    return fitted.coef if fitted.unpenalized is None else np.where(fitted.unpenalized, 0.0, fitted.coef)


def _n_groups(fitted: Fitted) -> int:
    """Return in how many groups the selected columns are."""
    label, chosen = fitted.groups, _found(fitted) != 0.0
    return int(np.count_nonzero(chosen) if label is None else np.unique(label[chosen]).size)


def evidence(spec: ModelSpec, rows: Rows, fitted: Fitted) -> float:
    """Return the most that some of the selected columns have above what is asked of them, at least 0.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.model.fit import fit
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> x = np.arange(20.0)
    >>> rows = Rows(Dense(x[:, None]), x + np.sin(7.0 * x), None, np.zeros(20))
    >>> spec = ModelSpec(Gaussian(), Horseshoe(), HalfCauchy())
    >>> evidence(spec, rows, fit(spec, rows)) > 0.0
    True
    """
    return max(0.0, *gains(spec, rows, fitted), 0.0)


def gains(spec: ModelSpec, rows: Rows, fitted: Fitted) -> Iterator[float]:
    """Yield it for the strongest column or group, the two strongest, and so on, as far as rows allow."""
    most = spec.family.total(rows.y, np.ones_like(rows.y)) * rows.n_seen / rows.y.size
    most = min(most, max(1, HELD // (8 * rows.y.size)) / LARGEST_SHARE)  # no more than can be held
    chosen, ends = _ranked(fitted, int(LARGEST_SHARE * most))
    if not ends:
        return
    keep = np.zeros(fitted.coef.size, dtype=np.bool_)
    keep[chosen] = True
    x = (rows.columns.take(keep).dense() / fitted.scale[keep])[:, np.argsort(np.argsort(chosen))]
    total = spec.family.total(rows.y, rows.counts)
    if spec.family.is_location:  # in units in which no square overflows
        known = rows.y - rows.offset
        rows = rows._replace(y=known / (np.abs(known).max() or 1.0), offset=np.zeros_like(known))
    family = spec.family if fitted.family == spec.family else fitted.family  # the former knows its rows
    ones = np.full((len(x), int(spec.fit_intercept)), 1.0)
    if fitted.unpenalized is not None:
        own = rows.columns.take(fitted.unpenalized).dense() / fitted.scale[fitted.unpenalized]
        ones = np.column_stack([ones, own])
    for number, gain in _likelihood_gains(ones, rows, family, x, ends):
        yield gain - _asked(total, fitted, ends[number - 1], number)


def _ranked(fitted: Fitted, most: int) -> tuple[NDArray[np.intp], list[int]]:
    """Return the selected columns, the strongest first, and how many there are after each, or each group."""
    strength, label = np.abs(_found(fitted)) * fitted.scale, fitted.groups
    if label is None:
        most = min(int((strength > 0.0).sum()), most)
        return np.argsort(-strength, kind="stable")[:most], list(range(1, most + 1))
    chosen = np.flatnonzero(strength > 0.0)
    groups = Groups(np.unique(label[chosen], return_inverse=True)[1])
    order = np.lexsort((groups.label, -groups.rms(strength[chosen])))
    sizes = groups.size[list(dict.fromkeys(groups.label[order].tolist()))]
    ends = [int(end) for end in np.cumsum(sizes) if end <= most]
    return chosen[order][: ends[-1] if ends else 0], ends


def _likelihood_gains(
    ones: Matrix, rows: Rows, family: Family, x: Matrix, ends: list[int]
) -> Iterator[tuple[int, float]]:
    """Yield, of the first columns or groups, how many, and twice their gain in likelihood over ``ones``."""
    if family.constant_weights:
        root = np.sqrt(rows.counts)
        basis = np.linalg.qr(np.column_stack([ones, x]) * root[:, None])[0]
        explained = np.cumsum(np.append(0.0, (basis.T @ (root * rows.y)) ** 2))
        left = (float(rows.counts @ rows.y**2) - explained)[ones.shape[1] :]
        left = np.maximum(left, SIGMA2_FLOOR * left[0])
        for number, rss in enumerate(left[ends], 1):
            yield number, float(rows.counts.sum()) * math.log(left[0] / rss)
        return
    none = _loss(family, rows, ones)
    for number in _sizes(len(ends)):
        yield number, 2.0 * (none - _loss(family, rows, np.column_stack([ones, x[:, : ends[number - 1]]])))


def _sizes(most: int) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12, ... up to ``most``."""
    sizes = {round(2.0 ** (step / 2.0)) for step in range(2 * most.bit_length() + 1)}
    return sorted({size for size in sizes if size <= most} | {most})


def _least_squares(family: Family, rows: Rows, x: Matrix, eta: Vector, sigma2: float) -> Vector:
    """Return the coefficients that fit the targets at eta best."""
    coupling = family.coupling(rows.y, eta)
    if coupling is not None:
        problem = Coupled(Dense(x), CoupledTargets(coupling, eta - rows.offset, 1.0))
        return np.asarray(np.linalg.lstsq(problem.gram, problem.xz, rcond=None)[0])
    weights, targets = family.working(rows.y, eta, sigma2)
    root = np.sqrt(rows.counts * weights)
    return np.asarray(np.linalg.lstsq(x * root[:, None], root * (targets - rows.offset), rcond=None)[0])


def _loss(family: Family, rows: Rows, x: Matrix) -> float:
    """Return minus the log-likelihood of a fit without a prior, by iterated least squares."""
    y, counts, offset, sigma2 = rows.y, rows.counts, rows.offset, 1.0
    alone = family.intercept_alone(y, counts, offset) if family.has_intercept else 0.0
    eta, best = offset + alone, math.inf
    if family.has_dispersion:
        left = family.working(y, eta, 1.0).targets - eta
        sigma2 = float(counts @ left**2 / counts.sum()) or 1.0
    for _ in range(REFITS):
        if isinstance(family, Ordered):
            family = family.at_best(y, eta, counts)
        eta = x @ _least_squares(family, rows, x, eta, sigma2) + offset
        if family.has_dispersion:
            weights, targets = family.working(y, eta, sigma2)
            noise = float(counts @ (weights * (targets - eta) ** 2) / counts.sum())
            sigma2 = noise / family.noise_share or sigma2
        with np.errstate(over="ignore", invalid="ignore"):
            loss = float(counts @ family.neg_log_likelihood(y, eta, sigma2))
        if not loss < best - 1e-3:
            return min(best, loss if math.isfinite(loss) else math.inf)
        best = loss
    return best
