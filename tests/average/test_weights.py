"""Weights of components against a general minimiser of their cost, and gains against rows one at a time."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from average_sets import make_sets
from horseshoe.average.sets import Fits, Sets
from horseshoe.average.weights import SCALES, TEMPER, average, gains, judge_all, weigh

N, P, FEW = 30, 5, 5
FOLDS = tuple((np.flatnonzero(np.arange(N) % 3 != f), np.arange(f, N, 3)) for f in range(3))


# --- weights ------------------------------------------------------------------------------------------------


def cost(weights, losses, together, prior):
    """Return what weights minimise, term by term."""
    many = range(len(losses))
    alone = sum(weights[m] * losses[m] for m in many)
    average = alone - 2.0 * sum(weights[m] * weights[k] * together[m, k] for m in many for k in many)
    prior = prior / np.sum(prior)
    far = sum(weights[m] * np.log(weights[m] / prior[m]) for m in many if weights[m] > 0.0)
    return (0.5 * alone + 0.5 * average) / TEMPER + far


def softmax(logs):
    found = np.exp(logs - logs.max())
    return found / found.sum()


def slow(losses, together, prior):
    """Return the best weights that a general minimiser finds, from several starts."""
    rng = np.random.default_rng(0)
    starts = [np.zeros(len(losses)), *3.0 * rng.standard_normal((3, len(losses)))]
    found = [
        minimize(lambda logs: cost(softmax(logs), losses, together, prior), start, options={"gtol": 1e-9})
        for start in starts
    ]
    return softmax(min(found, key=lambda one: one.fun).x)


def drawn(seed, size):
    """Return losses, and gains that are a quarter of squared distances, as those of quadratic losses are."""
    rng = np.random.default_rng([seed, 3])
    said = np.sqrt(size) * rng.standard_normal((FEW, 3))
    together = 0.25 * ((said[:, None] - said) ** 2).sum(axis=2)
    return size * rng.standard_exponential(FEW), together, rng.uniform(0.3, 2.0, FEW)


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_weights_cost_the_least(seed, size):
    losses, together, prior = drawn(seed, size)
    for before in (prior, np.ones(FEW)):
        found = weigh(losses, together, before)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(found, slow(losses, together, before), rtol=0, atol=1e-5)
        least = cost(found, losses, together, before)
        for towards in np.eye(FEW):  # convex: no way down is the minimum
            assert least <= cost(0.999 * found + 0.001 * towards, losses, together, before)
    assert np.array_equal(weigh(losses, together), weigh(losses, together, np.ones(FEW)))
    assert np.abs(weigh(losses, together, prior) - weigh(losses, together)).max() > 1e-3  # it has a say


def test_gains_of_any_kind_end_where_no_way_leads_down():
    """Those of losses that are not quadratic need not be squared distances."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        losses, half = rng.exponential(5.0, FEW), np.triu(rng.exponential(1.0, (FEW, FEW)), 1)
        together, prior = half + half.T, rng.uniform(0.3, 2.0, FEW)
        found = weigh(losses, together, prior)
        pull = (losses - 2.0 * together @ found) / TEMPER + np.log(found / prior)
        np.testing.assert_allclose(pull, found @ pull, atol=1e-4)
        assert cost(found, losses, together, prior) <= cost(
            softmax(np.log(prior) - losses / TEMPER), losses, together, prior
        )


def test_weights_do_not_hang_on_a_constant_or_on_the_unit_of_the_prior():
    losses, together, prior = drawn(0, 3.0)
    found = weigh(losses, together, prior)
    for more in (-1e5, 7.0, 1e5):
        np.testing.assert_allclose(weigh(losses + more, together, prior), found, rtol=0, atol=1e-6)
    np.testing.assert_allclose(weigh(losses, together, 8.0 * prior), found, rtol=0, atol=1e-6)


def test_weights_go_with_their_components():
    losses, together, prior = drawn(1, 3.0)
    turned = np.array([3, 0, 4, 1, 2])
    again = weigh(losses[turned], together[np.ix_(turned, turned)], prior[turned])
    np.testing.assert_allclose(again, weigh(losses, together, prior)[turned], rtol=0, atol=1e-6)


def test_without_gains_weights_are_tempered_likelihoods():
    losses, none = np.array([3.0, 10.0, 3.5, 900.0]), np.zeros((4, 4))
    prior = np.array([1.0, 2.0, 0.5, 1.0])
    for before in (np.ones(4), prior):
        by_hand = np.array([b * np.exp(-loss / TEMPER) for b, loss in zip(before, losses, strict=True)])
        np.testing.assert_allclose(weigh(losses, none, before), by_hand / by_hand.sum(), rtol=1e-12)
    np.testing.assert_allclose(weigh(losses + 1e5, none), weigh(losses, none))
    np.testing.assert_allclose(weigh(np.zeros(4), none), 0.25)
    np.testing.assert_allclose(weigh(np.zeros(4), none, prior), prior / prior.sum())
    assert weigh(np.array([-1e7, 1e7]), np.zeros((2, 2))).tolist() == [1.0, 0.0]
    assert weigh(np.array([5.0]), np.zeros((1, 1))).tolist() == [1.0]


def test_what_is_good_beside_the_best_counts_more():
    losses, together = np.array([0.0, 6.0, 6.0]), np.zeros((3, 3))
    together[0, 2] = together[2, 0] = 4.0
    best, same, other = weigh(losses, together)
    assert other > 3.0 * same
    assert best > other


def test_components_that_say_the_same_share_the_weight():
    losses, together = (
        np.array([1.0, 1.0, 4.0]),
        np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 0.0]]),
    )
    one, two, other = weigh(losses, together)
    assert one == two
    pair = weigh(losses[1:], together[1:, 1:], np.array([2.0, 1.0]))  # who is there twice counts twice
    np.testing.assert_allclose([one + two, other], pair, rtol=0, atol=1e-6)


def test_a_perfect_component_has_all_the_weight():
    losses, together, prior = drawn(2, 3.0)
    losses[3] = -1e4
    np.testing.assert_allclose(weigh(losses, together, prior), np.eye(FEW)[3], rtol=0, atol=1e-12)


# --- gains --------------------------------------------------------------------------------------------------


def some_fits(sets, seed, size=0.3):
    """Return fits that differ from set to set, around the two effects that there are."""
    rng = np.random.default_rng(seed)
    coef = np.zeros((P, 1)) + size * rng.standard_normal((P, sets.n_sets))
    coef[:2] += np.array([[1.0], [-0.7]])
    level = 0.2 * rng.standard_normal(sets.n_sets)
    return Fits(coef, level, np.full(sets.n_sets, 0.8), np.ones_like(coef), sets.families)


def left_out(sets, *components):
    """Yield each row that is predicted, with the mean of what the fits without it say."""
    X = sets.columns.dense()
    for t, (_, test) in enumerate(sets.folds):
        for i in test:
            said = [X[i] @ fits.coef[:, t] + fits.intercept[t] + sets.offset[i] for fits in components]
            yield i, np.mean(said)


def lost(family, sets, *components):
    """Return minus the log-likelihood of rows left out by the mean of some components, row by row."""
    total = 0.0
    for i, eta in left_out(sets, *components):
        if family == "gaussian":
            total += sets.counts[i] * (sets.y[i] - eta) ** 2
        else:
            law = (
                stats.poisson(np.exp(eta)) if family == "poisson" else stats.bernoulli(1 / (1 + np.exp(-eta)))
            )
            total -= sets.counts[i] * law.logpmf(sets.y[i])
    size = sets.counts.sum()
    return 0.5 * size * np.log(total / size) if family == "gaussian" else total


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_two_components_gain_what_their_midpoint_does(family):
    sets = make_sets(family, N, P, FOLDS, counts=True, offset=family != "gaussian")
    components = tuple(some_fits(sets, seed) for seed in range(3))
    judged, together = judge_all(sets, components)
    assert len(judged) == 3
    assert together.shape == (3, 3)
    for m, one in enumerate(components):
        for k, other in enumerate(components):
            mean = 0.5 * (lost(family, sets, one) + lost(family, sets, other))
            gain = mean - lost(family, sets, one, other)
            np.testing.assert_allclose(together[m, k], gain, rtol=1e-9, atol=1e-9)
    assert together[np.triu_indices(3, 1)].min() > 0.1


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_row_that_is_predicted_twice_gains_once(family):
    sets = make_sets(family, N, P, FOLDS)
    twice = Sets(sets.columns, sets.y, sets.offset, sets.counts, FOLDS + FOLDS, sets.family)
    components = tuple(some_fits(sets, seed) for seed in range(2))
    again = tuple(fits.only([0, 1, 2, 0, 1, 2, 3]) for fits in components)
    np.testing.assert_allclose(judge_all(twice, again)[1], judge_all(sets, components)[1])


@pytest.mark.parametrize("family", ["student_t", "gamma"])
def test_gains_are_taken_at_the_noise_that_is_best_for_each_predictor(family):
    sets = make_sets(family, N, P, FOLDS)
    components = tuple(some_fits(sets, seed, size) for seed, size in ((0, 0.1), (1, 1.0), (2, 0.5)))
    judged, together = judge_all(sets, components)
    assert len({one.sigma2 for one in judged}) > 1

    def loss(*some):
        rows, etas = zip(*left_out(sets, *(components[m] for m in some)), strict=True)
        y, eta = sets.y[list(rows)], np.array(etas)
        noises = max(judged[m].sigma2 for m in some) * SCALES
        return min(float(sets.family.neg_log_likelihood(y, eta, noise).sum()) for noise in noises)

    for m in range(3):
        for k in range(3):
            want = 0.0 if m == k else max(0.5 * (loss(m) + loss(k)) - loss(m, k), 0.0)
            np.testing.assert_allclose(together[m, k], want, rtol=1e-9, atol=1e-9)


def test_gains_are_never_negative_and_nothing_is_gained_from_oneself():
    etas = [np.array([value]) for value in (0.0, 1.0, 4.0)]
    hollow = gains(etas, lambda eta, *_: float(-(eta[0] ** 2)))  # midpoints are worse than the mean
    assert not hollow.any()
    round_about = gains(etas, lambda eta, *_: float(eta[0] ** 2))
    np.testing.assert_allclose(round_about, [[0.0, 0.25, 4.0], [0.25, 0.0, 2.25], [4.0, 2.25, 0.0]])


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_the_average_has_these_weights(family):
    sets = make_sets(family, N, P, FOLDS, counts=True)
    components = tuple(some_fits(sets, seed) for seed in range(3))
    judged, together = judge_all(sets, components)
    losses, prior = np.array([one.loss for one in judged]), np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(
        average(sets, components, prior)[0].weights, slow(losses, together, prior), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        average(sets, components)[0].weights, slow(losses, together, np.ones(3)), rtol=0, atol=1e-5
    )
