"""One local scale for several coefficients: its mode and its draws, against their definitions."""

import numpy as np
import pytest
from scipy.integrate import quad

import oracles
from horseshoe.priors import Groups, InvertedBeta, grouped
from loops import each
from registry import LAMBDA_POWERS, LOCAL_PRIORS, name

PROPER = [(prior, oracle) for prior, oracle in LOCAL_PRIORS if oracle is not None]
LABEL = np.array([2, 0, 2, 1, 2, 0, 3])


@each("lambda_power", LAMBDA_POWERS)
@each(("prior", "oracle"), PROPER, ids=name)
def test_the_mode_of_a_group_is_the_minimum(prior, oracle, lambda_power):
    w = np.array([1e-4, 0.3, 2.0, 1e-6, 0.1, 50.0, 0.7])
    found = Groups(LABEL).mode(prior, w, lambda_power)
    for one in range(4):
        own = LABEL == one
        expected = oracles.local_mode(oracle(prior), lambda_power, w[own].sum(), int(own.sum()))
        np.testing.assert_allclose(found[own], expected, rtol=1e-11)


@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS, ids=name)
def test_groups_of_one_are_no_groups(prior, oracle):
    w = np.geomspace(1e-9, 1e3, 5)
    np.testing.assert_array_equal(Groups(np.arange(5)).mode(prior, w, 1.5), prior.mode(w, 1.5))
    assert grouped(np.array([3, 1, 2])) is None


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_null_groups_fade_at_their_rate(size):
    prior, w = InvertedBeta(0.4, 0.8), 1e-12
    groups = Groups(np.zeros(size, dtype=np.int64))
    lambda2 = groups.mode(prior, np.full(size, w), 1.6)  # a null column of variance v has W = v / 2
    np.testing.assert_allclose(lambda2 / (2 * w), groups.slowest(prior, 1.6), rtol=1e-6)
    assert groups.slowest(prior, 1.6) == pytest.approx(size / (size + 1.6 - 0.8))


@each("size", [2, 5])
@each(("prior", "oracle"), PROPER, ids=name)
def test_draws_are_those_of_the_conditional(prior, oracle, size):
    """The mean of log lambda2 given W, by quadrature: v^(-size/2) exp(-W / v) times the prior."""
    w, rng = 0.8, np.random.default_rng(1)
    density = oracle(prior)

    def weight(t):
        return np.exp(t - oracles.normal_term(np.exp(t), w, size) - density(np.exp(t)))

    total, first, second = (quad(lambda t, k=k: t**k * weight(t), -12, 25, limit=400)[0] for k in range(3))
    mean, std = first / total, np.sqrt(second / total - (first / total) ** 2)
    groups = Groups(np.repeat(np.arange(4000), size))
    v, draws = np.ones(4000), []
    for sweep in range(60):
        v = groups.draw(prior, np.full(4000, w), v, rng)
        if sweep >= 40:
            draws.append(np.log(v))
    error = std / np.sqrt(4000)  # the sweeps of a column hang together: count columns only
    assert abs(np.mean(draws) - mean) < 5 * error
    assert np.std(draws) == pytest.approx(std, rel=0.06)


def test_sums_and_what_is_spread():
    groups, values = Groups(LABEL), np.arange(7.0)
    np.testing.assert_array_equal(groups.totals(values), [6.0, 3.0, 6.0, 6.0])
    np.testing.assert_array_equal(groups.totals(np.vstack([values, -values]))[1], [-6.0, -3.0, -6.0, -6.0])
    np.testing.assert_allclose(groups.rms(values)[1], np.sqrt((1 + 25) / 2))
    part = groups.take(np.array([True, False, True, True, True, False, False]))
    np.testing.assert_array_equal(part.label, [1, 1, 0, 1])
    assert groups.take(np.array([True, True, False, True, False, False, True])) is None
