"""Numbers drawn ahead: their distributions, and that none is given out twice."""

import numpy as np
from scipy import stats

from distributions import LEVEL
from horseshoe.sampling.streams import Streams


def test_streams_have_the_right_distributions():
    source = Streams([np.random.default_rng(seed) for seed in range(2)])
    draws = {
        "normal": (stats.norm, lambda: source.standard_normal((2, 7))),
        "exponential": (stats.expon, lambda: source.standard_exponential((2, 5))),
        "gamma": (stats.gamma(2.5), lambda: source.standard_gamma(2.5, (2, 3))),
        "another gamma": (stats.gamma(0.4), lambda: source.standard_gamma(0.4, (2, 3))),
        "gamma of shape 1": (stats.expon, lambda: source.standard_gamma(1.0, (2, 4))),
        "uniform": (stats.uniform, lambda: source.random((2,))),
    }
    found = {key: [] for key in draws}
    for _ in range(4000):  # asked for in turn, as a sweep does
        for key, (_, draw) in draws.items():
            found[key].append(np.array(draw()).reshape(2, -1))
    for key, (exact, _) in draws.items():
        together = np.concatenate(found[key], axis=1)
        for chain in together:
            assert stats.kstest(chain, exact.cdf).pvalue > LEVEL
            assert np.unique(chain).size == chain.size  # no number is given out twice
        assert abs(stats.spearmanr(*together).statistic) < 5.0 / np.sqrt(together.shape[1])
        lagged = stats.spearmanr(together[0, 1:], together[0, :-1]).statistic
        assert abs(lagged) < 5.0 / np.sqrt(together.shape[1])


def test_streams_go_on_from_their_pools():
    def draw(source, times):
        return [(source.standard_normal((1, 3)), source.standard_gamma(0.7, (1, 2))) for _ in range(times)]

    whole = draw(Streams([np.random.default_rng(5)]), 1500)
    first = Streams([np.random.default_rng(5)])
    parts = draw(first, 400)
    parts += draw(Streams(first.generators, first.pools), 1100)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
