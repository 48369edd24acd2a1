"""The average: how much each component counts, and what all of them say together.

**Each component is half the mean of its fold fits and half its fit to all rows.** Fits that select jump: take
a few rows away and another column stands for the same effect. The mean over the folds averages such jumps
out, as bagging does; the fit to all rows has seen the most. Ridge does not jump, and is its fit to all rows.
Where training sets are small or grow, as those of time series, every component is its fit to all rows.

**Weights.** A component that is good alone should count, and so should one that is good beside another. The
loss l_m of a component is minus the log-likelihood of the rows by the fits that have not seen them; of
Gaussian data n/2 log(mean squared error). Two components together gain g_mk: by so much the loss of their
midpoint is below the mean of their losses. If losses were quadratic, the average with the weights w would
have the loss

    L(w) = sum_m w_m l_m - 2 sum_mk w_m w_k g_mk.

The weights minimise half of sum_m w_m l_m and half of L(w), over `TEMPER`, plus the divergence of w from what
components count before a look at the data. The first half alone gives w_m ~ exp(-l_m / TEMPER), which keeps
components whose losses differ by chance only; the second alone is stacking, which trusts chance too much.

**What averaging over folds gains is taken off l_m.** The loss is that of single fits, but their mean is what
counts: its squared error is that of the fits less their variance around the mean. On rows that the fits
have seen this variance is too small, and summed over the coefficients, as if columns were uncorrelated, it
may be too large; the lesser of the two is taken off, and never more than half of the error.

**The average is shrunk towards the intercept alone** by the slope at which it predicts held-out rows best, at
most 1. Where that gains no more than noise does, it is 0: nothing is said.

**Training sets that are small or grow**, as those of time series, say less. Losses are those of the largest
ones, and the slope is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.average.sets import Fits, Sets, sizes, summed

# By how much log-likelihoods are divided before they become weights.
TEMPER = 3.5
# How much of the loss that weights minimise is that of the average; the rest is that of components alone.
TOGETHER = 0.5
# The change at which weights are found, and the most steps to them.
WEIGHT_TOL, WEIGHT_STEPS = 1e-6, 500
# A loss beyond the least, over `TEMPER`, of which nothing is known but that it is too much.
HOPELESS = 1e6
# What averaging gains is at most this share of the error.
MOST_GAIN = 0.5
# Among which the slope of the average is looked for.
SLOPES = np.linspace(0.0, 2.0, 81)
# The likelihood ratio of a slope that is no more than noise: what Akaike asks of a parameter.
COSTS = 2.0
# Noise variances among which the best for held-out rows is looked for, in units of the family's.
SCALES = np.geomspace(1e-3, 1e3, 121)
# Of so many noise variances in a row one is tried first.
FEW_SCALES = 10


class Judged(NamedTuple):
    """What cross-validation says of a component.

    ``error`` is the mean squared error, or twice the mean loss where there is no noise variance; ``loss`` is
    minus the log-likelihood of the rows left out, less what averaging gains.
    """

    error: float
    loss: float
    sigma2: float


class Average(NamedTuple):
    """The answer, on the scale of the prior.

    ``weights`` has one entry for each component, ``slope`` is what the average was multiplied by, and
    ``evidence`` twice the log-likelihood of rows left out beyond that of the intercept alone; ``coef``
    (p,) and ``intercept`` are the average, ``fold_coef`` (p, K) and ``fold_intercept`` (K,) the average of
    the fold fits of each fold, ``predicted`` what these say of the rows they have not seen (linear
    predictor, in the order of `Sets.tested`). Of classes that are fitted together all of these have the
    classes on one more axis, the first.
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


def average(sets: Sets, components: tuple[Fits, ...], prior: Vector | None = None) -> tuple[Average, ...]:
    """Weigh the components by the loss of all responses, and put them together for each.

    ``prior`` are the prior weights of the components.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> folds = (([0, 1], [2, 3]), ([2, 3], [0, 1]))
    >>> sets = Sets(Dense(X), 2.0 * X[:, 0], np.zeros(4), np.ones(4), folds, Gaussian())
    >>> both = (Gaussian(),) * 3
    >>> good = Fits(np.full((1, 3), 1.9), np.zeros(3), np.ones(3), np.ones((1, 3)), both)
    >>> bad = good._replace(coef=np.zeros((1, 3)))
    >>> average(sets, (good, bad))[0].weights.round(2)
    array([0.97, 0.03])
    """
    split = [fits.responses(len(sets.responses)) for fits in components]
    each = list(zip(sets.responses, zip(*split, strict=True), strict=True))
    found = [judge_all(one, fits) for one, fits in each]
    losses = np.array([[one.loss for one in judged] for judged, _ in found]).sum(axis=0)
    weights = weigh(losses, np.sum([together for _, together in found], axis=0), prior)
    return tuple(
        averaged(one, fits, judged, weights) for (one, fits), (judged, _) in zip(each, found, strict=True)
    )


def judge_all(sets: Sets, components: tuple[Fits, ...]) -> tuple[tuple[Judged, ...], Matrix]:
    """Return what cross-validation says of each component, and what two of them gain together."""
    etas = [sets.eta(fits.coef, fits.intercept, fits.free) for fits in components]
    judged = tuple(judge(sets, fits, eta) for fits, eta in zip(components, etas, strict=True))
    if sets.large.size < len(sets.folds):  # fits to few rows do not tell how those to all of them predict
        found, together = judge_all(sets.largest, tuple(fits.only(sets.large_and_all) for fits in components))
        return tuple(b._replace(error=a.error) for a, b in zip(judged, found, strict=True)), together
    return judged, gains(etas, _losses_of(sets, [one.sigma2 for one in judged]))


def averaged(
    sets: Sets, components: tuple[Fits, ...], judged: tuple[Judged, ...], weights: Vector
) -> Average:
    """Put the components together, each by its weight."""

    def blend(values: Sequence[Any]) -> Any:
        return np.asarray(sum(w * value for w, value in zip(weights, values, strict=True)))

    # 1. The fits of each training set, and their slope.
    coef, intercept = (
        blend([fits.coef for fits in components]),
        blend([fits.intercept for fits in components]),
    )
    level, own = sets.null
    free = None if own is None else blend([fits.free for fits in components])
    noise = float(weights @ [one.sigma2 for one in judged])
    slope, evidence = shrinkage(sets, (coef, intercept, free), noise)
    # 2. Half the mean over the folds, and half the fit to all rows; ridge of one response does not jump.
    half = [sets.even and (sets.softmax or fits.selects) for fits in components]

    def both(values: list[Any]) -> Any:
        return blend([half_and_half(value, one) for value, one in zip(values, half, strict=True)])

    said, at = both([fits.coef for fits in components]), both([fits.intercept for fits in components])
    base = half_and_half(level, sets.even)
    # 3. Inclusion, by the components that select.
    selecting = [(w, fits.inclusion) for w, fits in zip(weights, components, strict=True) if fits.selects]
    share = sum(w for w, _ in selecting)
    included = sum(w * half_and_half(one, sets.even) for w, one in selecting)
    inclusion = np.broadcast_to(included / share if share > 0.0 else 0.0, coef.shape[-2:-1]).copy()
    # 4. All of it shrunk towards the null model.
    coef, intercept = slope * coef, level + slope * (intercept - level)
    free = None if own is None else own + slope * (free - own)
    rows, folds = sets.tested
    predicted = sets.eta(coef, intercept, free)[..., rows, folds]
    final = base + slope * (at - base)
    return Average(
        judged,
        weights,
        slope,
        evidence,
        slope * said,
        final if final.ndim else float(final),
        coef[..., :-1],
        intercept[..., :-1],
        predicted,
        inclusion,
    )


def gains(etas: Sequence[Matrix], loss: Callable[..., float]) -> Matrix:
    """Return by how much the midpoint of two components has less loss than they have on average.

    ``loss`` is asked for a linear predictor, with the numbers of the components that it is made of.

    Examples
    --------
    >>> gains([np.array([2.0]), np.array([-1.0])], lambda eta, *_: float(eta @ eta))  # 2.5 less 0.25
    array([[0.  , 2.25],
           [2.25, 0.  ]])
    """
    alone, found = [loss(eta, m) for m, eta in enumerate(etas)], np.zeros((len(etas), len(etas)))
    for m, k in combinations(range(len(etas)), 2):
        gain = 0.5 * (alone[m] + alone[k]) - loss(0.5 * (etas[m] + etas[k]), m, k)
        found[m, k] = found[k, m] = max(gain, 0.0)
    return found


def _losses_of(sets: Sets, sigma2: Sequence[float]) -> Callable[..., float]:
    """Return what a linear predictor of components loses on held-out rows, as in `gains`.

    ``sigma2`` are the noise variances of the components. Each predictor is judged at the noise variance that
    is best for it: at that of a better one, an improvement of a bad one would look like thousands.
    """
    (rows, folds), (size, times) = sets.tested, sizes(sets)
    counts, y = sets.counts[rows], sets.y[rows]
    if sets.family.constant_weights:
        return lambda eta, *_: (
            0.5 * size * float(np.log(max(float(counts @ (y - eta[rows, folds]) ** 2) / times, 1e-300)))
        )

    def loss(eta: Matrix, *components: int) -> float:
        noise, left_out = 1.0, partial(sets.left_out, sets.family, eta)
        if sets.family.has_dispersion:
            noise = best_noise(max(sigma2[m] for m in components), left_out)
        return size / times * left_out(noise)

    return loss


def weigh(losses: Vector, together: Matrix, prior: Vector | None = None) -> Vector:
    """Return the weights of least loss, half alone and half together, not too far from ``prior``.

    ``prior`` is what components count before a look at the data; all the same if it is not given.

    Examples
    --------
    >>> losses, alone = np.array([0.0, 3.5]), np.zeros((2, 2))
    >>> weigh(losses, alone).round(3)  # e to 1
    array([0.731, 0.269])
    >>> weigh(losses, 5.0 * (1.0 - np.eye(2))).round(3)  # the midpoint is better than both
    array([0.602, 0.398])
    """
    log_prior = np.zeros_like(losses) if prior is None else np.log(prior)
    alone, curve = (losses - losses.min()) / TEMPER - log_prior, 4.0 * TOGETHER * together / TEMPER

    curve = np.where(np.maximum.outer(alone, alone) < HOPELESS, curve, 0.0)

    def cost(weights: Vector) -> float:
        return float(weights @ (alone + np.log(np.maximum(weights, 1e-300)) - 0.5 * (curve @ weights)))

    weights = _normed(-alone)
    found, step = cost(weights), 1.0
    for _ in range(WEIGHT_STEPS):
        way = _normed(curve @ weights - alone)  # where the minimum would be, were the gains as they are here
        moved = weights + step * (way - weights)
        while not cost(moved) <= found and step > WEIGHT_TOL:
            step *= 0.5
            moved = weights + step * (way - weights)
        if not cost(moved) <= found:
            break
        far = float(np.abs(moved - weights).max())
        weights, found, step = moved, cost(moved), min(2.0 * step, 1.0)
        if far < WEIGHT_TOL:
            break
    return weights


def _normed(logs: Vector) -> Vector:
    """Return weights that add up to 1 from their logarithms up to a constant."""
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def shrinkage(sets: Sets, fits: tuple[Any, Any, Any], sigma2: float) -> tuple[float, float]:
    """Return the slope by which the average is multiplied, and the likelihood ratio that speaks for it.

    ``fits`` are the coefficients, the intercepts and the unpenalised coefficients of the average.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> folds = (([0, 1], [2, 3]), ([2, 3], [0, 1]))
    >>> sets = Sets(Dense(X), 2.0 * X[:, 0], np.zeros(4), np.ones(4), folds, Gaussian())
    >>> round(shrinkage(sets, (np.full((1, 3), 2.0), np.zeros(3), None), 1.0)[0], 2)
    1.0
    >>> shrinkage(sets, (np.full((1, 3), -2.0), np.zeros(3), None), 1.0)
    (0.0, 0.0)
    """
    (coef, intercept, free), (level, own) = fits, sets.null
    beside = 0.0 if own is None else sets.explained(free - own)
    fit = sets.fit(coef) + (intercept - level)[..., None, :] + beside
    rows, folds = sets.tested
    counts, way = sets.counts[rows], fit[..., rows, folds]
    power = float((way**2 @ counts).sum()) / float(counts.sum())
    if not power > 0.0:
        return 0.0, 0.0
    (size, seen), left_out = sizes(sets), None
    if sets.family.constant_weights:
        base = sets.offset[rows] + level[folds]
    else:
        null = np.zeros_like(fit) + level[..., None, :] + sets.explained(own) + sets.offset[:, None]
        left_out = sets.along(null, fit, sigma2)

    def loss(slope: float) -> float:
        if left_out is not None:
            return size / seen * left_out(slope)
        left = float(counts @ (sets.y[rows] - base - slope * way) ** 2)
        return 0.5 * (size / seen) * seen * float(np.log(max(left, 1e-300)))

    best, ratio = _best_slope(loss, sets.slope_steps)
    if not ratio > COSTS:
        return 0.0, ratio
    if not sets.even:  # fits to fewer rows need more of it
        return 1.0, ratio
    steadier = 1.0 / (1.0 - min(variance_gain(sets, coef, fit) / power, MOST_GAIN))
    return min(best * steadier, 1.0), ratio


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
    as if columns were uncorrelated, may be too large. It is 0 where fold fits are not averaged.
    """
    if not sets.even:
        return 0.0
    spread, apart = (_away(values) for values in (fit, coef))
    among_rows = float((spread.mean(axis=-1) @ sets.counts).sum()) / float(sets.counts.sum())
    return min(among_rows, float(apart.sum(axis=-2).mean(axis=-1).sum()))


def _away(values: Any) -> Any:
    """Return the squared distances of fold fits from their mean."""
    return (values[..., :-1] - values[..., :-1].mean(axis=-1, keepdims=True)) ** 2


def half_and_half(values: Matrix, half: bool = True) -> Vector:
    """Return half the mean over the folds and half the value of all rows, or all of the latter.

    Examples
    --------
    >>> half_and_half(np.array([1.0, 3.0, 4.0])), half_and_half(np.array([1.0, 3.0, 4.0]), half=False)
    (array(3.), array(4.))
    """
    return np.asarray(0.5 * (values[..., :-1].mean(axis=-1) + values[..., -1]) if half else values[..., -1])


def judge(sets: Sets, fits: Fits, eta: Any) -> Judged:
    """Return how well a component predicts the rows that its fits have not seen."""
    (rows, folds), (size, times) = sets.tested, sizes(sets)
    counts, seen = sets.counts[rows], eta[..., rows, folds]
    gain, error = variance_gain(sets, fits.coef, eta), np.inf
    if sets.family.squared_error:
        error = float(counts @ (sets.y[rows] - seen) ** 2) / float(counts.sum())
    if sets.family.constant_weights:
        left = error - min(gain, MOST_GAIN * error)
        return Judged(error, 0.5 * size * float(np.log(max(left, 1e-300))), error)
    family, sigma2 = fits.families[-1], 1.0
    if family.has_dispersion:
        y = sets.y[rows]
        sigma2 = best_noise(
            float(fits.sigma2[-1]), lambda noise: summed(counts, family.neg_log_likelihood(y, seen, noise))
        )
    loss = sets.left_out(family, eta, sigma2) / times
    weight = float(sets.information(family, eta.mean(axis=-1), sigma2).sum())
    most = -0.5 * size * np.log(1.0 - MOST_GAIN) if family.has_dispersion else MOST_GAIN * abs(size * loss)
    error = error if family.squared_error else 2.0 * loss
    return Judged(error, size * loss - min(0.5 * weight * gain, most), sigma2)


def best_noise(base: float, loss: Callable[[float], float]) -> float:
    """Return the noise variance of least loss: among all near the best of a few, in units of ``base``.

    Examples
    --------
    >>> round(best_noise(2.0, lambda sigma2: float(np.log(sigma2)) + 4.0 / sigma2), 6)
    3.990525
    """
    losses = {i: loss(base * SCALES[i]) for i in range(0, SCALES.size, FEW_SCALES)}
    near = min(losses, key=losses.__getitem__)
    for i in range(max(near - FEW_SCALES + 1, 0), min(near + FEW_SCALES, SCALES.size)):
        losses[i] = losses[i] if i in losses else loss(base * SCALES[i])
    return base * float(SCALES[min(losses, key=losses.__getitem__)])
