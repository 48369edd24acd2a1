"""Estimated shapes of the inverted-beta prior: their conditionals against the oracles, and refusals."""

import numpy as np
import pytest
from scipy import stats

import oracles
from distributions import LEVEL, assert_follows
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, horseshoe_path, normal_means
from horseshoe.priors import Horseshoe, InvertedBeta, Slab, StrawdermanBerger, estimated, settled, shapes
from horseshoe.priors.shapes import SHAPE_RANGE, Lifted, Shapes, log_prior
from refusals import assert_says, refused
from registry import ESTIMATING, LOCAL_PRIORS, name

X = np.random.default_rng(1).standard_normal((20, 3))
Y = X[:, 0] + 0.1 * X[:, 1]


def follows(draws, neg_log_density):
    """Compare shapes with the density of their logarithm, which is smooth enough for a few hundred points."""
    points = np.linspace(*np.log(SHAPE_RANGE), 600)
    heights = [-neg_log_density(np.exp(t)) for t in points]
    assert_follows(draws, lambda t: np.interp(t, points, heights), *SHAPE_RANGE)


# --- given the local scales ------------------------------------------------------


def test_the_prior_is_that_of_the_oracle():
    t = np.linspace(np.log(0.04), np.log(25.0), 50)
    expected = [-oracles.neg_log_shape_prior(np.exp(s)) for s in t]
    np.testing.assert_allclose([log_prior(s) for s in t], expected, rtol=1e-12)


@pytest.mark.parametrize("size", [2, 40])
def test_a_given_the_local_scales_is_that_of_the_oracle(size):
    rng, b = np.random.default_rng(31), 0.7
    lambda2 = stats.betaprime(0.3, b).rvs(size, random_state=rng)
    draws = np.full(1500, 0.5)
    for _ in range(12):
        draws = [shapes._draw_shape(s, -np.log1p(1.0 / lambda2), b, rng) for s in draws]
    follows(draws, lambda a: oracles.neg_log_shapes(a, b, lambda2))


@pytest.mark.parametrize("size", [2, 40])
def test_b_given_what_is_above_and_the_coefficients_is_that_of_the_oracle(size):
    rng = np.random.default_rng(32)
    above = rng.standard_gamma(0.5, size)
    w = 0.5 * above / rng.standard_gamma(0.6, size) * rng.standard_normal(size) ** 2
    draws = np.full(1500, 0.5)
    for _ in range(12):
        draws = [shapes._draw_shape(s, np.log(above / (above + w)), 0.5, rng) for s in draws]
    follows(draws, lambda b: oracles.neg_log_tail(b, above, w))


# --- from the prior to the prior -------------------------------------------------


def from_the_prior(prior, rng, size=3):
    """Draw the shapes that are estimated, and local scales."""
    values = np.array([oracles.draw_shape(rng) for _ in estimated(prior)])
    a, b = prior.shapes().both(values)
    return values, np.maximum(rng.standard_gamma(a, size) / rng.standard_gamma(b, size), 1e-150)


def assert_from_the_prior(prior, found):
    """Assert that shapes follow their prior, and local scales theirs given the shapes."""
    values = np.array([v for v, _ in found])
    for drawn in values.T:
        assert stats.kstest(oracles.shape_cdf(drawn), stats.uniform.cdf).pvalue > LEVEL
    a, b = np.array([prior.shapes().both(v) for v in values]).T
    for place in (0, -1):
        lambda2 = np.array([v[place] for _, v in found])
        ranks = stats.betaprime(a, b).cdf(lambda2)
        assert stats.kstest(ranks, stats.uniform.cdf).pvalue > LEVEL


@pytest.mark.parametrize("prior", ESTIMATING, ids=name)
def test_a_step_given_coefficients_from_the_prior_leads_to_the_prior(prior):
    rng, moves, found = np.random.default_rng(33), prior.shapes(), []
    for _ in range(3000):
        values, lambda2 = from_the_prior(prior, rng)
        w = 0.5 * lambda2 * rng.standard_normal(3) ** 2
        found.append(moves.draw(values, w, lambda2, rng))
        assert (found[-1][0] != values).all()
    assert_from_the_prior(prior, found)


@pytest.mark.parametrize("size", [3, 200])
@pytest.mark.parametrize("pair", [(0.05, 0.3), (0.2, 3.0), (3.0, 0.2), (0.5, 15.0)])
def test_lifted_variates_are_gamma_variates_of_the_other_shape(pair, size):
    """Weighted by the density that goes with them, which hardly varies."""
    rng, (shape, other) = np.random.default_rng(34), pair
    drawn, weights = [], []
    for _ in range(12_000 // size):
        lifted = Lifted(rng.standard_gamma(shape, size), shape, rng)
        log_variates, log_there = lifted.at(other)
        drawn.append(np.exp(log_variates))
        weights.append(log_there - lifted.at(shape)[1])
    assert np.std(weights) < 0.03 * np.sqrt(size)
    weights = np.exp(weights)
    for power in (0.5, 1.0):
        values = np.mean(np.power(drawn, power), axis=1)
        exact = stats.gamma(other).expect(lambda x, power=power: x**power)
        residual = weights * (values - exact)
        assert abs(residual.mean()) < 4.0 * residual.std() / np.sqrt(residual.size)


def test_variates_of_their_own_shape_stay():
    rng = np.random.default_rng(35)
    x = rng.standard_gamma(0.4, 100)
    log_variates, _ = Lifted(x, 0.4, rng).at(0.4)
    np.testing.assert_allclose(np.exp(log_variates), x, rtol=1e-10)


@pytest.mark.parametrize("which", ["a", "b"])
def test_local_scales_at_the_ends_are_finite(which):
    rng = np.random.default_rng(36)
    lambda2 = np.geomspace(1e-150, 1e150, 7)
    with np.errstate(all="raise", under="ignore"):
        stretch = Shapes(None, None).stretch(which, np.array([0.5, 0.5]), lambda2, rng)
        ends = [stretch.at(np.log(end)) for end in (0.05, 0.5, 20.0)]
        drawn = Shapes(None, None).draw(np.array([0.05, 20.0]), np.geomspace(1e-300, 1e300, 7), lambda2, rng)
    for end in ends:
        assert np.isfinite(end.lambda2).all()
        assert np.isfinite(end.log_density)
    assert stretch.at(np.log(21.0)) is None
    assert np.isfinite(drawn[1]).all()


@pytest.mark.parametrize("end", SHAPE_RANGE)
def test_a_shape_at_the_end_of_its_range_stays_within(end):
    """The logarithm of the exponential of a logarithm may be a little beyond it."""
    rng, (low, high) = np.random.default_rng(37), SHAPE_RANGE
    for beyond in (end, np.nextafter(end, 0.0), np.nextafter(end, 99.0)):
        for _ in range(50):
            drawn = shapes._draw_shape(beyond, np.full(3, -0.1), 0.5, rng)
            assert low * (1.0 - 1e-12) <= drawn <= high * (1.0 + 1e-12)
        stretch = Shapes(None, 0.5).stretch("a", np.array([beyond]), np.ones(3), rng)
        assert stretch.at(stretch.log_shape) is not None


# --- what is known, and what is refused ------------------------------------------


def test_which_shapes_are_estimated():
    both = InvertedBeta("estimate", "estimate")
    assert estimated(both) == ("a", "b")
    assert settled(both) == InvertedBeta(0.5, 0.5)
    assert settled(StrawdermanBerger(a="estimate")) == StrawdermanBerger()
    assert settled(InvertedBeta(0.3, "estimate")) == InvertedBeta(0.3, 0.5)
    assert estimated(Slab(2.0, both)) == ("a", "b")
    assert settled(Slab(2.0, both)) == Slab(2.0, InvertedBeta())
    for prior, _ in LOCAL_PRIORS:
        assert estimated(prior) == estimated(Slab(1.0, prior)) == ()
        assert settled(prior) is prior


@pytest.mark.parametrize("prior", [*ESTIMATING, Horseshoe(a="estimate"), Slab(1.0, ESTIMATING[0])], ids=name)
def test_the_mode_has_no_estimate_of_shapes(prior):
    calls = [
        lambda: HorseshoeRegressor(prior=prior).fit(X, Y),
        lambda: HorseshoeClassifier(prior=prior).fit(X, Y > 0.0),
        lambda: horseshoe_path(X, Y, estimator=HorseshoeRegressor(prior=prior)),
        lambda: normal_means(Y, prior=prior),
        lambda: prior.mode(np.ones(2), 2.0),
    ]
    for call in calls:
        which = " and ".join(estimated(prior))
        assert_says(refused(call), "prior=", f"mode has no estimate of {which}", "sample_posterior", "number")


@pytest.mark.parametrize("bad", [{"a": "guess"}, {"b": True}, {"a": 0.0}, {"b": None}])
def test_a_shape_is_a_number_or_estimated(bad):
    message = refused(lambda: InvertedBeta(**bad))
    assert_says(message, f"InvertedBeta: {next(iter(bad))}=", "positive")
