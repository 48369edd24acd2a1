"""The average: how much each member counts, and what all of them say together.

**Each member is half the mean of its fold fits and half its fit to all rows.** Modes jump: take a few rows
away and another column stands for the same effect. The mean over the folds averages such jumps out, as
bagging does; the fit to all rows has seen the most.

**Weights.** A member has the weight exp(-loss / 4), where the loss is minus the log-likelihood of the rows
by the fits that have not seen them; of Gaussian data n/2 log(mean squared error). The power 1/4 keeps
members whose losses differ by chance only.

**What averaging gains is taken off the loss.** The loss is that of single fits, but their mean is what
counts: its squared error is that of the fits less their variance around the mean. On rows that the fits
have seen this variance is too small, and summed over the coefficients, as if columns were uncorrelated, it
may be too large; the lesser of the two is taken off, and never more than half of the error.

**The average is shrunk towards the intercept alone** by the slope at which it predicts the rows left out
best: by little if it predicts well, to nothing if what it says is no better than noise. With the likelihood
ratio LR of that slope against 0, the slope is multiplied by 1 - 2/LR, and is at most 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from farrier._types import Matrix, Vector
from farrier.adaptive.sets import Fits, Sets, information, sizes, summed

TEMPER = 4.0
"""By how much log-likelihoods are divided before they become weights."""
MOST_GAIN = 0.5
"""What averaging gains is at most this share of the error."""
SLOPES = np.linspace(0.0, 2.0, 81)
"""Among which the slope of the average is looked for."""
COSTS = 2.0
"""The likelihood ratio that a slope must have to be more than noise: what Akaike asks of a parameter."""
LEVEL_STEPS = 5
"""Steps to the intercept alone of families whose weights move."""
SCALES = np.geomspace(1e-3, 1e3, 121)
"""Noise variances among which the best for the rows left out is looked for, in units of the family's."""


class Judged(NamedTuple):
    """What cross-validation says of a member.

    ``error`` is the mean squared error, or twice the mean loss where there is no noise variance; ``loss`` is
    minus the log-likelihood of the rows left out, less what averaging gains.
    """

    error: float
    loss: float
    sigma2: float


class Average(NamedTuple):
    """The answer, on the scale of the prior.

    ``weights`` has one entry for each member, ``slope`` is what the average was multiplied by, and
    ``evidence`` twice the log-likelihood of rows left out beyond that of the intercept alone; ``coef``
    (p,) and ``intercept`` are the average, ``fold_coef`` (p, K) and ``fold_intercept`` (K,) the average of
    the fold fits of each fold, ``predicted`` what these say of the rows they have not seen (linear
    predictor, in the order of `Sets.tested`).
    """

    judged: tuple[Judged, ...]
    weights: Vector
    slope: float
    evidence: float
    coef: Vector
    intercept: float
    fold_coef: Matrix
    fold_intercept: Vector
    predicted: Vector
    inclusion: Vector


def average(sets: Sets, members: tuple[Fits, ...]) -> Average:
    """Weigh the members and put them together.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.families import Gaussian
    >>> X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> folds = (([0, 1], [2, 3]), ([2, 3], [0, 1]))
    >>> sets = Sets(Dense(X), 2.0 * X[:, 0], np.zeros(4), np.ones(4), folds, Gaussian())
    >>> both = (Gaussian(),) * 3
    >>> good = Fits(np.full((1, 3), 1.9), np.zeros(3), np.ones(3), np.ones((1, 3)), both)
    >>> bad = good._replace(coef=np.zeros((1, 3)))
    >>> average(sets, (good, bad)).weights.round(2)
    array([0.95, 0.05])
    """
    judged = judge_all(sets, members)
    return averaged(sets, members, judged, tempered(np.array([one.loss for one in judged])))


def judge_all(sets: Sets, members: tuple[Fits, ...]) -> tuple[Judged, ...]:
    """Return what cross-validation says of each member."""
    return tuple(judge(sets, fits, sets.eta(fits.coef, fits.intercept)) for fits in members)


def averaged(sets: Sets, members: tuple[Fits, ...], judged: tuple[Judged, ...], weights: Vector) -> Average:
    """Put the members together, each by its weight."""
    parts = list(zip(weights, members, strict=True))
    coef = np.asarray(sum(w * fits.coef for w, fits in parts))
    intercept = np.asarray(sum(w * fits.intercept for w, fits in parts))
    selecting = [(w, fits) for w, fits in parts if fits.selects]
    share = sum(w for w, _ in selecting)
    included = sum(w * half_and_half(fits.inclusion) for w, fits in selecting)
    inclusion = included / share if share > 0.0 else 0.0
    level = intercepts(sets)
    slope, evidence = shrinkage(sets, coef, intercept, level, float(weights @ [one.sigma2 for one in judged]))
    coef, intercept = slope * coef, level + slope * (intercept - level)
    rows, folds = sets.tested
    return Average(
        judged,
        weights,
        slope,
        evidence,
        half_and_half(coef),
        float(half_and_half(intercept)),
        coef[:, :-1],
        intercept[:-1],
        sets.eta(coef, intercept)[rows, folds],
        np.broadcast_to(inclusion, coef.shape[:1]).copy(),
    )


def intercepts(sets: Sets) -> Vector:
    """Return the intercept alone of every training set."""
    if not (sets.center and sets.has_level):
        return np.zeros(sets.n_sets)
    if sets.family.constant_weights:
        return np.asarray((sets.weights.T @ sets.y) / sets.total)
    found = []
    for weights in sets.weights.T:
        rows = weights > 0.0
        y, offset, counts = sets.y[rows], sets.offset[rows], weights[rows]
        level, family = sets.family.intercept_alone(y, counts, offset), sets.family
        for _ in range(LEVEL_STEPS):
            working = family.working(y, offset + level, 1.0)
            level = float(np.average(working.targets - offset, weights=counts * working.weights))
        found.append(level)
    return np.array(found)


def shrinkage(
    sets: Sets, coef: Matrix, intercept: Vector, level: Vector, sigma2: float
) -> tuple[float, float]:
    """Return the slope by which the average is multiplied, and the likelihood ratio that speaks for it.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> from farrier.families import Gaussian
    >>> X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> folds = (([0, 1], [2, 3]), ([2, 3], [0, 1]))
    >>> sets = Sets(Dense(X), 2.0 * X[:, 0], np.zeros(4), np.ones(4), folds, Gaussian())
    >>> round(shrinkage(sets, np.full((1, 3), 2.0), np.zeros(3), np.zeros(3), 1.0)[0], 2)
    1.0
    >>> shrinkage(sets, np.full((1, 3), -2.0), np.zeros(3), np.zeros(3), 1.0)
    (0.0, 0.0)
    """
    rows, folds = sets.tested
    fit = sets.columns.matvec(coef) + (intercept - level)
    base, way = sets.offset[rows] + level[folds], fit[rows, folds]
    y, counts = sets.y[rows], sets.counts[rows]
    gain = variance_gain(sets, coef, fit)
    power = float(counts @ way**2) / float(counts.sum())
    if not power > 0.0:
        return 0.0, 0.0
    size, seen = sizes(sets)
    left_out = None if sets.family.constant_weights else sets.along(sets.offset[:, None] + level, fit, sigma2)

    def loss(slope: float) -> float:
        if left_out is not None:
            return size / seen * left_out(slope)
        left = float(counts @ (y - base - slope * way) ** 2)
        return 0.5 * (size / seen) * seen * float(np.log(max(left, 1e-300)))

    best, ratio = _best_slope(loss, sets.slope_steps)
    if not ratio > COSTS:
        return 0.0, ratio
    steadier = 1.0 / (1.0 - min(gain / power, MOST_GAIN))
    return float(min(best * steadier * (1.0 - COSTS / ratio), 1.0)), ratio


def _best_slope(loss: Callable[[float], float], steps: int) -> tuple[float, float]:
    """Return the slope of least loss, and its likelihood ratio against 0.

    Of ``steps`` slopes in a row one is tried first, and all of them near the best of these.
    """
    losses = {i: loss(float(SLOPES[i])) for i in range(0, SLOPES.size, steps)}
    near = min(losses, key=losses.__getitem__)
    for i in range(max(near - steps + 1, 0), min(near + steps, SLOPES.size)):
        losses[i] = losses[i] if i in losses else loss(float(SLOPES[i]))
    best = min(losses, key=losses.__getitem__)
    return float(SLOPES[best]), 2.0 * (losses[0] - losses[best])


def variance_gain(sets: Sets, coef: Matrix, fit: Matrix) -> float:
    """Return the variance of what the fold fits predict around their mean: the lesser of two estimates.

    That of the rows at hand is too small, since the fits have seen most of them; that of the coefficients,
    as if columns were uncorrelated, may be too large.
    """
    spread = fit[:, :-1] - fit[:, :-1].mean(axis=1, keepdims=True)
    apart = coef[:, :-1] - coef[:, :-1].mean(axis=1, keepdims=True)
    among_rows = float(sets.counts @ (spread**2).mean(axis=1)) / float(sets.counts.sum())
    return min(among_rows, float((apart**2).sum(axis=0).mean()))


def half_and_half(values: Matrix) -> Vector:
    """Return half the mean over the folds and half the value of all rows."""
    return np.asarray(0.5 * (values[..., :-1].mean(axis=-1) + values[..., -1]))


def tempered(losses: Vector) -> Vector:
    """Return weights that add up to 1 from minus log-likelihoods.

    Examples
    --------
    >>> tempered(np.array([0.0, 4.0])).round(3)
    array([0.731, 0.269])
    """
    weights = np.exp((losses.min() - losses) / TEMPER)
    return np.asarray(weights / weights.sum())


def judge(sets: Sets, fits: Fits, eta: Matrix) -> Judged:
    """Return how well a member predicts the rows that its fits have not seen."""
    rows, folds = sets.tested
    counts, y, seen = sets.counts[rows], sets.y[rows], eta[rows, folds]
    size, times = sizes(sets)
    gain = variance_gain(sets, fits.coef, eta)
    error = float(counts @ (y - seen) ** 2) / float(counts.sum())
    if sets.family.constant_weights:
        left = error - min(gain, MOST_GAIN * error)
        return Judged(error, 0.5 * size * float(np.log(max(left, 1e-300))), error)
    family, sigma2 = fits.families[-1], _best_noise(sets, fits, counts, y, seen)
    loss = sets.left_out(family, eta, sigma2) / times
    weights = sets.counts * information(family, sets.y, eta.mean(axis=1), sigma2)
    gain = min(0.5 * float(weights.sum()) * gain, MOST_GAIN * abs(size * loss))
    return Judged(error if family.squared_error else 2.0 * loss, size * loss - gain, sigma2)


def _best_noise(sets: Sets, fits: Fits, counts: Vector, y: Vector, eta: Vector) -> float:
    """Return the noise variance at which the rows left out are most likely; 1 for families without one."""
    if not sets.family.has_dispersion:
        return 1.0
    family, base = fits.families[-1], float(fits.sigma2[-1])
    losses = [summed(counts, family.neg_log_likelihood(y, eta, base * scale)) for scale in SCALES]
    return base * float(SCALES[int(np.argmin(losses))])
