"""Seeds of every kind, for whatever draws."""

import numpy as np
import pytest

from horseshoe import HorseshoeRegressor, sample_posterior
from horseshoe._checks import check_random_state
from refusals import told

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
Y = 2.0 * X[:, 1] + 0.3 * RNG.standard_normal(60)
SHORT = {"n_draws": 40, "n_warmup": 40, "n_chains": 2}
pytestmark = pytest.mark.filterwarnings("ignore:R-hat")


def old(seed=3):
    return np.random.RandomState(seed)


def stochastic(seed):
    options = {"expectation": "stochastic", "zero_threshold": 0}
    with pytest.warns(UserWarning, match="not converged"):
        return HorseshoeRegressor(max_iter=10, random_state=seed, **options).fit(X, Y)


def test_an_old_generator_gives_the_same_draws_again():
    draws = [sample_posterior(X, Y, random_state=old(seed), **SHORT).coef for seed in (3, 3, 4)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_an_old_generator_moves_on():
    seed = old()
    first, second = (sample_posterior(X, Y, random_state=seed, **SHORT).coef for _ in range(2))
    assert not np.array_equal(first, second)


def test_an_old_generator_seeds_a_fit():
    fits = [stochastic(old(seed)).coef_ for seed in (3, 3, 4)]
    assert np.array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_an_old_generator_of_an_estimator_seeds_its_draws():
    draws = [
        HorseshoeRegressor(random_state=old()).fit(X, Y).sample_posterior(**SHORT).coef for _ in range(2)
    ]
    assert np.array_equal(*draws)


def test_an_old_generator_seeds_predictions():
    posterior = sample_posterior(X, Y, random_state=0, **SHORT)
    for method in (posterior.predict_interval, posterior.simulate):
        found = [method(X, random_state=old(seed)) for seed in (3, 3, 4)]
        assert np.array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])


def test_new_seeds_give_what_they_gave():
    assert check_random_state(5).random() == np.random.default_rng(5).random()
    given = np.random.default_rng(1)
    assert check_random_state(given) is given


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True])
def test_what_is_no_seed_is_refused(seed):
    told(
        lambda: HorseshoeRegressor(expectation="stochastic", random_state=seed).fit(X, Y),
        r"\brandom_state=",
        "RandomState",
    )
