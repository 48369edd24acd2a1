"""Weights, gain and slope against their definitions, row by row; what the average is made of."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from average_sets import make_sets
from horseshoe.average import weights as room
from horseshoe.average.components import PLAIN, Fitting, prior_of
from horseshoe.average.sets import Fits, Sets
from horseshoe.average.weights import average, judge, judge_all, shrinkage, variance_gain, weigh
from horseshoe.data.dense import Dense

N, P = 30, 5
FOLDS = tuple((np.flatnonzero(np.arange(N) % 3 != f), np.arange(f, N, 3)) for f in range(3))


def some_fits(sets, seed=0, size=0.3, inclusion=1.0):
    """Return fits that differ from set to set, around the two effects that there are."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((sets.columns.shape[1], 1))
    truth[:2, 0] = 1.0, -0.7
    coef = truth + size * rng.standard_normal((truth.size, sets.n_sets))
    level = 0.2 * rng.standard_normal(sets.n_sets)
    every = np.full_like(coef, inclusion)
    return Fits(coef, level, np.full(sets.n_sets, 0.8), every, (sets.family,) * sets.n_sets)


def left_out(sets, fits):
    """Yield each row that is predicted, with what the fit without it says."""
    X = sets.columns.dense()
    for t, (_, test) in enumerate(sets.folds):
        for i in test:
            yield i, X[i] @ fits.coef[:, t] + fits.intercept[t] + sets.offset[i]


def spread_of_rows(sets, coef, intercept):
    """Return the mean variance over the folds of what is predicted of a row."""
    X, total = sets.columns.dense(), 0.0
    for i in range(N):
        said = [X[i] @ coef[:, t] + intercept[t] for t in range(len(sets.folds))]
        total += sets.counts[i] * np.var(said)
    return total / sets.counts.sum()


def gain_of(sets, coef, intercept):
    """Return the lesser of the two variances, from their definitions."""
    among_columns = sum(np.var(coef[j, :-1]) for j in range(coef.shape[0]))
    return min(spread_of_rows(sets, coef, intercept), among_columns)


@pytest.mark.parametrize("counts", [False, True])
def test_the_loss_of_a_gaussian_response(counts):
    sets = make_sets("gaussian", N, P, FOLDS, counts=counts)
    fits = some_fits(sets)
    found = judge(sets, fits, sets.eta(fits.coef, fits.intercept))
    squares = sum(sets.counts[i] * (sets.y[i] - eta) ** 2 for i, eta in left_out(sets, fits))
    total = sets.counts.sum()
    gain = gain_of(sets, fits.coef, fits.intercept)
    error = squares / total
    assert 0.0 < gain < room.MOST_GAIN * error  # what is taken off is the gain itself
    np.testing.assert_allclose(found.error, error)
    np.testing.assert_allclose(found.loss, 0.5 * total * np.log(error - gain))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_gain_is_the_lesser_of_two_variances(seed):
    """Of rows where columns say much the same, of coefficients where these cancel each other less."""
    sets = make_sets("gaussian", N, P, FOLDS)
    X = sets.columns.dense()
    X = X[:, :1] * (1.0 if seed else 0.1) + (0.1 if seed else 1.0) * X
    sets = Sets(Dense(np.asfortranarray(X)), *(getattr(sets, name) for name in Sets.__match_args__[1:]))
    fits = some_fits(sets, seed)
    fit = sets.columns.matvec(fits.coef) + fits.intercept
    said = variance_gain(sets, fits.coef, fit)
    np.testing.assert_allclose(said, gain_of(sets, fits.coef, fits.intercept))
    assert said <= spread_of_rows(sets, fits.coef, fits.intercept) + 1e-12


def test_no_more_than_a_share_of_the_error_is_gained():
    sets = make_sets("gaussian", N, P, FOLDS)
    fits = some_fits(sets, size=1.0)._replace(intercept=np.array([5.0, -5.0, 5.0, 0.0]))
    fits.coef[:, :2] *= [10.0, -10.0]
    found = judge(sets, fits, sets.eta(fits.coef, fits.intercept))
    least = 0.5 * N * np.log((1.0 - room.MOST_GAIN) * found.error)
    assert found.loss >= least - 1e-9


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_the_loss_of_other_families_is_that_of_scipy(family):
    sets = make_sets(family, N, P, FOLDS, counts=True, offset=True)
    fits = some_fits(sets)
    eta = sets.eta(fits.coef, fits.intercept)
    found = judge(sets, fits, eta)
    loss = 0.0
    for i, at in left_out(sets, fits):
        law = stats.poisson(np.exp(at)) if family == "poisson" else stats.bernoulli(1 / (1 + np.exp(-at)))
        loss -= sets.counts[i] * law.logpmf(sets.y[i])
    total = sets.counts.sum()
    np.testing.assert_allclose(found.error, 2.0 * loss / total)
    assert found.sigma2 == 1.0
    gained = loss - found.loss
    assert 0.0 < gained <= room.MOST_GAIN * loss + 1e-9
    still = fits._replace(coef=np.repeat(fits.coef[:, :1], 4, axis=1), intercept=np.zeros(4))
    unmoved = judge(sets, still, sets.eta(still.coef, still.intercept))  # folds that agree gain nothing
    np.testing.assert_allclose(unmoved.loss, 0.5 * unmoved.error * total)


@pytest.mark.parametrize("family", ["student_t", "laplace"])
def test_noise_is_at_its_likeliest(family):
    sets = make_sets(family, N, P, FOLDS)
    fits = some_fits(sets)
    found = judge(sets, fits, sets.eta(fits.coef, fits.intercept))
    rows, etas = zip(*left_out(sets, fits), strict=True)

    def loss(log_sigma2):
        return sets.family.neg_log_likelihood(sets.y[list(rows)], np.array(etas), np.exp(log_sigma2)).sum()

    best = minimize_scalar(loss, bounds=(-6, 6), method="bounded")
    np.testing.assert_allclose(np.log(found.sigma2), best.x, atol=np.log(room.SCALES[1] / room.SCALES[0]))


def test_a_row_that_is_predicted_twice_is_one_row():
    sets = make_sets("gaussian", N, P, FOLDS)
    twice = Sets(sets.columns, sets.y, sets.offset, sets.counts, FOLDS + FOLDS, sets.family)
    fits = some_fits(sets)
    again = [0, 1, 2, 0, 1, 2, 3]
    one = judge(sets, fits, sets.eta(fits.coef, fits.intercept))
    two = judge(twice, fits.only(again), sets.eta(fits.coef, fits.intercept)[:, again])
    np.testing.assert_allclose(two, one)


# --- weights ------------------------------------------------------------------------------------------------


def test_a_perfect_component_has_all_the_weight():
    sets = make_sets("gaussian", N, P, FOLDS)
    bad = some_fits(sets)
    good = bad._replace(coef=np.tile(np.linspace(1.0, 2.0, P)[:, None], 4), intercept=np.full(4, 0.3))
    y = sets.columns.matvec(good.coef[:, 0]) + 0.3
    exact = Sets(sets.columns, y, sets.offset, sets.counts, FOLDS, sets.family)
    (found,) = average(exact, (bad, good, bad))
    np.testing.assert_allclose(found.weights, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.coef, found.slope * good.coef[:, 0])
    assert found.slope == pytest.approx(1.0, abs=0.01)


def test_components_that_say_the_same_count_the_same():
    sets = make_sets("poisson", N, P, FOLDS)
    fits = some_fits(sets)
    (found,), (alone,) = average(sets, (fits, fits)), average(sets, (fits,))
    np.testing.assert_allclose(found.weights, 0.5)
    assert alone.weights.tolist() == [1.0]
    np.testing.assert_allclose(found.coef, alone.coef)
    np.testing.assert_allclose(found.predicted, alone.predicted)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("family", ["gaussian", "poisson", "student_t"])
def test_the_average_is_half_the_folds_and_half_all_rows(family, center):
    sets = make_sets(family, N, P, FOLDS, counts=True, center=center)
    components = [some_fits(sets, seed, inclusion=i) for seed, i in ((0, 1.0), (1, 0.4), (2, 0.0))]
    if not center:
        components = [fits._replace(intercept=np.zeros(4)) for fits in components]
    (found,) = average(sets, tuple(components))
    judged, together = judge_all(sets, tuple(components))
    assert found.judged == judged
    np.testing.assert_allclose(found.weights, weigh(np.array([one.loss for one in judged]), together))
    level = sets.null[0]
    coef, intercept = np.zeros((P, 4)), np.zeros(4)
    for weight, fits in zip(found.weights, components, strict=True):
        coef += weight * found.slope * fits.coef
        intercept += weight * (level + found.slope * (fits.intercept - level))
    np.testing.assert_allclose(found.fold_coef, coef[:, :3])
    np.testing.assert_allclose(found.fold_intercept, intercept[:3], atol=1e-12)
    np.testing.assert_allclose(found.coef, 0.5 * coef[:, :3].mean(axis=1) + 0.5 * coef[:, 3])
    np.testing.assert_allclose(found.intercept, 0.5 * intercept[:3].mean() + 0.5 * intercept[3], atol=1e-12)
    np.testing.assert_allclose(found.inclusion, found.weights @ [1.0, 0.4, 0.0])
    whole = Fits(coef, intercept, np.ones(4), coef, ())
    np.testing.assert_allclose(found.predicted, [eta for _, eta in left_out(sets, whole)])


# --- the slope ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_what_does_not_select_is_its_fit_to_all_rows(family, center):
    """Ridge does not jump from fold to fold; what predicts the rows left out are still its fold fits."""
    sets = make_sets(family, N, P, FOLDS, counts=True, center=center)
    ridge, other = some_fits(sets, 0, inclusion=np.nan), some_fits(sets, 1, inclusion=0.4)
    if not center:
        ridge, other = (fits._replace(intercept=np.zeros(4)) for fits in (ridge, other))
    (found,) = average(sets, (ridge, other))
    level, (w, v), slope = sets.null[0], found.weights, found.slope
    assert min(w, v, slope) > 0.03  # both have a say
    half = 0.5 * other.coef[:, :3].mean(axis=1) + 0.5 * other.coef[:, 3]
    np.testing.assert_allclose(found.coef, slope * (w * ridge.coef[:, 3] + v * half))
    at = w * ridge.intercept[3] + v * (0.5 * other.intercept[:3].mean() + 0.5 * other.intercept[3])
    base = 0.5 * level[:3].mean() + 0.5 * level[3]
    np.testing.assert_allclose(found.intercept, base + slope * (at - base), atol=1e-12)
    np.testing.assert_allclose(found.inclusion, 0.4)
    both = w * ridge.coef + v * other.coef
    np.testing.assert_allclose(found.fold_coef, slope * both[:, :3])
    (alone,) = average(sets, (ridge,))
    np.testing.assert_allclose(alone.coef, alone.slope * ridge.coef[:, 3])
    assert not alone.inclusion.any()


@pytest.mark.parametrize("size", [0.05, 0.3, 1.0])
def test_the_slope_predicts_best_and_is_at_most_one(size):
    sets = make_sets("gaussian", N, P, FOLDS)
    fits, level = some_fits(sets, size=size), sets.null[0]
    found, evidence = shrinkage(sets, (fits.coef, fits.intercept, None), 1.0)
    folds = {i: t for t, (_, test) in enumerate(FOLDS) for i in test}

    def loss(slope):
        left = sum(
            (sets.y[i] - level[folds[i]] - slope * (eta - level[folds[i]])) ** 2
            for i, eta in left_out(sets, fits)
        )
        return 0.5 * N * np.log(left)

    best = min(room.SLOPES, key=loss)
    ratio = 2.0 * (loss(0.0) - loss(best))
    power = np.mean([(eta - level[folds[i]]) ** 2 for i, eta in left_out(sets, fits)])
    gain = min(gain_of(sets, fits.coef, fits.intercept - level) / power, room.MOST_GAIN)
    assert ratio > room.COSTS
    np.testing.assert_allclose(found, min(best / (1.0 - gain), 1.0))
    np.testing.assert_allclose(evidence, ratio, atol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_slope_that_gains_no_more_than_noise_is_zero(family):
    """Of rows that the fits know little of, on both sides of what noise gains."""
    rng, told = np.random.default_rng(0), []
    for seed in range(40):
        y = rng.standard_normal(N) if family == "gaussian" else rng.poisson(1.0, N)
        sets = make_sets(family, N, P, FOLDS, y=y, seed=seed)
        fits = some_fits(sets, seed)
        found, evidence = shrinkage(sets, (fits.coef, fits.intercept, None), 1.0)
        assert (found > 0.0) == (evidence > room.COSTS)
        told.append(evidence)
    assert (
        min(np.mean([0.0 < one <= room.COSTS for one in told]), np.mean(np.array(told) > room.COSTS)) > 0.05
    )


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_what_predicts_the_contrary_or_nothing_is_dropped(family):
    sets = make_sets(family, N, P, FOLDS)
    fits, level = some_fits(sets, size=0.01), sets.null[0]
    assert shrinkage(sets, (-fits.coef, level, None), 1.0) == (0.0, 0.0)
    assert shrinkage(sets, (np.zeros((P, 4)), level, None), 1.0) == (0.0, 0.0)
    assert 0.0 < shrinkage(sets, (fits.coef, level, None), 1.0)[0] <= 1.0
    (found,) = average(sets, (fits._replace(coef=-fits.coef),))
    assert found.slope == 0.0
    assert not found.coef.any()
    np.testing.assert_allclose(found.intercept, 0.5 * (level[:3].mean() + level[3]))


def test_without_a_signal_the_slope_is_mostly_zero():
    rng = np.random.default_rng(0)
    slopes = []
    for seed in range(20):
        sets = make_sets("gaussian", N, 20, FOLDS, y=rng.standard_normal(N), seed=seed)
        fitting = Fitting(sets)
        slopes.append(
            average(sets, tuple(fitting.component(name) for name in PLAIN), prior_of(PLAIN))[0].slope
        )
    assert np.mean(np.array(slopes) == 0.0) > 0.6
    assert np.mean(slopes) < 0.2


# --- the intercept alone ------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "negative_binomial", "student_t"])
def test_intercepts_are_the_likeliest(family, offset):
    sets = make_sets(family, N, P, FOLDS, counts=True, offset=offset and family != "gaussian")
    for t, level in enumerate(sets.null[0]):
        w = sets.weights[:, t]

        def loss(at, w=w):
            return w @ sets.family.neg_log_likelihood(sets.y, sets.offset + at, 1.0)

        best = minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9})
        assert loss(level) <= best.fun + 1e-3 * abs(best.fun)
    assert not make_sets(family, N, P, FOLDS, center=False).null[0].any()


def test_a_component_that_loses_all_gets_nothing_however_much_a_midpoint_gains():
    """At 1e106 what is left of a difference is rounding: it must not move the weights of the others."""
    together = np.full((3, 3), 5e105)
    together[:2, :2] = [[0.0, 0.5], [0.5, 0.0]]
    together[2, 2] = 0.0
    found = weigh(np.array([1.0, 2.0, 1e106]), together)
    assert found[2] == 0.0
    np.testing.assert_allclose(found.sum(), 1.0)
    without = weigh(np.array([1.0, 2.0]), together[:2, :2])
    np.testing.assert_allclose(found[:2], without)
