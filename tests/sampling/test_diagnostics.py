"""Diagnostics of chains: against ArviZ, against simulation, against brute force, and at the edges."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import norm, rankdata

from horseshoe.sampling import diagnostics
from horseshoe.sampling.diagnostics import (
    equal_tailed,
    ess_bulk,
    ess_mean,
    ess_quantile,
    ess_tail,
    highest_density,
    mcse_mean,
    mcse_quantile,
    rhat,
)
from loops import each
from selections import in_pairs

CHAINS, LENGTHS = (1, 2, 4, 7), (10, 11, 121, 400)
EVERY = {
    "rhat": rhat,
    "ess_bulk": ess_bulk,
    "ess_tail": ess_tail,
    "ess_mean": ess_mean,
    "ess_quantile": lambda draws: ess_quantile(draws, 0.3),
    "mcse_mean": mcse_mean,
    "mcse_quantile": lambda draws: mcse_quantile(draws, 0.3),
    "equal_tailed": lambda draws: equal_tailed(draws, 0.8),
    "highest_density": lambda draws: highest_density(draws, 0.8),
}
CHAIN_ONLY = {name: function for name, function in EVERY.items() if name.startswith(("rhat", "ess", "mcse"))}
SIZES = {name: function for name, function in EVERY.items() if name.startswith("ess")}


def ar1(rng: Any, shape: tuple[int, ...], rho: float) -> Any:
    """Return stationary chains with unit variance and autocorrelation rho^lag."""
    noise = rng.normal(size=shape) * np.sqrt(1.0 - rho**2)
    noise[:, 0] /= np.sqrt(1.0 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise, axis=1)


def shifted(rng: Any, shape: tuple[int, ...]) -> Any:
    return rng.normal(size=shape) + 0.7 * np.arange(shape[0])[:, None, None]


def wider(rng: Any, shape: tuple[int, ...]) -> Any:
    return rng.normal(size=shape) * (1.0 + np.arange(shape[0]))[:, None, None]


def spiked(rng: Any, shape: tuple[int, ...]) -> Any:
    return np.where(rng.random(shape) < 0.4, 0.0, rng.normal(size=shape))


KINDS = {
    "iid": lambda rng, shape: rng.normal(size=shape),
    "ar 0.3": lambda rng, shape: ar1(rng, shape, 0.3),
    "ar 0.9": lambda rng, shape: ar1(rng, shape, 0.9),
    "ar 0.995": lambda rng, shape: ar1(rng, shape, 0.995),
    "antithetic": lambda rng, shape: ar1(rng, shape, -0.5),
    "very antithetic": lambda rng, shape: ar1(rng, shape, -0.97),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "far from zero": lambda rng, shape: 1e6 + ar1(rng, shape, 0.5),
    "shifted": shifted,
    "wider": wider,
    "spiked": spiked,
    "counts": lambda rng, shape: rng.poisson(20.0, shape).astype(float),
}


@pytest.fixture(scope="module")
def arviz() -> Any:
    """Return ArviZ's statistics of arrays."""
    module = pytest.importorskip("arviz_stats.base", reason="the oracle, arviz-stats, is not installed")
    return module.array_stats


def last_axes(draws: Any) -> Any:
    """Return the draws as ArviZ wants them: (..., chains, draws)."""
    return np.moveaxis(draws, (0, 1), (-2, -1))


def split_rhat(draws: Any, arviz: Any) -> float:
    """Return the rank-normalised split R-hat of one parameter, made of ArviZ's plain R-hat."""
    half = draws.shape[1] // 2
    halves = np.vstack([draws[:, :half], draws[:, -half:]])

    def scores(values: Any) -> Any:
        ranks = rankdata(values).reshape(values.shape)
        return norm.ppf((ranks - 0.375) / (values.size + 0.25))

    folded = np.abs(halves - np.median(halves))
    return max(float(arviz.rhat(scores(values), method="identity")) for values in (halves, folded))


# --- ArviZ ---


@each(("kind", "chains", "length"), in_pairs(KINDS, CHAINS, LENGTHS))
def test_arviz_says_the_same(arviz: Any, kind: str, chains: int, length: int) -> None:
    draws = KINDS[kind](np.random.default_rng([chains, length]), (chains, length, 3))
    other = last_axes(draws)
    close = {"rtol": 1e-9, "atol": 0.0}
    np.testing.assert_allclose(ess_bulk(draws), arviz.ess(other, method="bulk"), **close)
    np.testing.assert_allclose(ess_tail(draws), arviz.ess(other, method="tail", prob=(0.05, 0.95)), **close)
    np.testing.assert_allclose(ess_mean(draws), arviz.ess(other, method="mean"), **close)
    np.testing.assert_allclose(mcse_mean(draws), arviz.mcse(other, method="mean"), **close)
    for share in (0.1, 0.3):
        expected = arviz.ess(other, method="quantile", prob=share)
        np.testing.assert_allclose(ess_quantile(draws, share), expected, **close)
        expected = arviz.mcse(other, method="quantile", prob=share)
        np.testing.assert_allclose(mcse_quantile(draws, share), expected, **close)
    for level in (0.5, 0.94):
        both = (-2, -1)
        np.testing.assert_allclose(equal_tailed(draws, level), arviz.eti(other, level, axis=both), **close)
        np.testing.assert_array_equal(highest_density(draws, level), arviz.hdi(other, level, axis=both))
    expected = [split_rhat(draws[..., j], arviz) for j in range(3)] if chains == 1 else arviz.rhat(other)
    np.testing.assert_allclose(rhat(draws), expected, **close)


@pytest.mark.parametrize("length", [4, 5, 6, 7, 8, 9])
def test_arviz_says_the_same_of_the_shortest_chains(arviz: Any, length: int) -> None:
    draws = np.random.default_rng(length).normal(size=(3, length, 20))
    other = last_axes(draws)
    np.testing.assert_allclose(rhat(draws), arviz.rhat(other), rtol=1e-12)
    np.testing.assert_allclose(ess_bulk(draws), arviz.ess(other, method="bulk"), rtol=1e-9)
    np.testing.assert_allclose(ess_mean(draws), arviz.ess(other, method="mean"), rtol=1e-9)
    expected = arviz.ess(other, method="quantile", prob=0.99)  # every draw but one is below
    np.testing.assert_allclose(ess_quantile(draws, 0.99), expected, rtol=1e-9)
    assert np.array_equal(ess_quantile(draws, 1.0), arviz.ess(other, method="quantile", prob=1.0))


def test_one_chain_by_hand_is_arviz_for_more(arviz: Any) -> None:
    draws = np.random.default_rng(0).standard_t(3, size=(3, 101))
    assert split_rhat(draws, arviz) == pytest.approx(float(arviz.rhat(draws)), rel=1e-12)


# --- statistics ---


def test_rhat_of_independent_draws_is_near_one() -> None:
    values = rhat(np.random.default_rng(1).normal(size=(4, 1000, 200)))
    assert values.max() < 1.012
    assert values.min() > 0.998


@pytest.mark.parametrize("kind", ["shifted", "wider"])
def test_rhat_sees_chains_that_disagree_in_place_or_in_width(kind: str) -> None:
    assert rhat(KINDS[kind](np.random.default_rng(2), (4, 500, 20))).min() > 1.1


def test_rhat_sees_a_single_chain_that_drifts() -> None:
    draws = np.random.default_rng(3).normal(size=(1, 1000)) + np.linspace(0.0, 3.0, 1000)
    assert rhat(draws) > 1.3


def test_ranks_alone_matter_and_not_which_way_is_up() -> None:
    draws = ar1(np.random.default_rng(4), (4, 301, 6), 0.5)
    assert np.array_equal(ess_bulk(draws), ess_bulk(np.exp(3.0 * draws)))
    for function in (rhat, ess_bulk, ess_mean):
        np.testing.assert_allclose(function(draws), function(-2.0 * draws), rtol=1e-10)


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.3, 0.6, 0.9])
def test_ess_of_an_autoregression(rho: float) -> None:
    draws = ar1(np.random.default_rng(5), (4, 4000, 40), rho)
    expected = 16_000 * (1.0 - rho) / (1.0 + rho)
    assert ess_mean(draws).mean() == pytest.approx(expected, rel=0.06)
    assert ess_bulk(draws).mean() == pytest.approx(expected, rel=0.06)


def test_tails_mix_worse_than_the_centre_where_the_scale_wanders() -> None:
    rng = np.random.default_rng(6)
    draws = rng.normal(size=(4, 2000, 10)) * np.exp(ar1(rng, (4, 2000, 10), 0.98))
    assert (ess_tail(draws) < 0.5 * ess_bulk(draws)).all()


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.7])
def test_mcse_is_the_spread_over_repetitions(rho: float) -> None:
    draws = ar1(np.random.default_rng(7), (4, 500, 1000), rho)  # each parameter is a repetition
    pooled = draws.reshape(2000, 1000)
    assert mcse_mean(draws).mean() == pytest.approx(pooled.mean(axis=0).std(), rel=0.1)
    for share in (0.5, 0.9):
        spread = np.quantile(pooled, share, axis=0).std()
        assert mcse_quantile(draws, share).mean() == pytest.approx(spread, rel=0.12)


# --- intervals ---


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 1.0])
def test_equal_tailed_is_two_quantiles(level: float) -> None:
    draws = np.random.default_rng(8).gamma(2.0, size=(3, 41, 2, 3))
    ends = np.quantile(draws.reshape(123, 2, 3), [(1 - level) / 2, 1 - (1 - level) / 2], axis=0)
    assert np.array_equal(equal_tailed(draws, level), np.moveaxis(ends, 0, -1))


@pytest.mark.parametrize("level", [0.01, 0.1, 0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("rounded", [False, True])
def test_highest_density_is_the_shortest_of_all(level: float, rounded: bool) -> None:
    draws = np.random.default_rng(9).gamma(1.5, size=(2, 30, 5))
    draws = draws.round(1) if rounded else draws
    for column, (low, high) in zip(draws.reshape(60, 5).T, highest_density(draws, level), strict=True):
        widths = [
            (b - a, a)
            for a in column
            for b in column
            if np.count_nonzero((column >= a) & (column <= b)) > level * column.size
        ]
        assert (high - low) == pytest.approx(min(widths)[0], abs=1e-15)
        assert np.mean((column >= low) & (column <= high)) >= level


def test_highest_density_at_its_ends() -> None:
    draws = np.random.default_rng(10).normal(size=(2, 50))
    assert np.array_equal(highest_density(draws, 1.0), [draws.min(), draws.max()])
    assert np.ptp(highest_density(draws, 1e-9)) == 0.0
    assert np.array_equal(highest_density(np.arange(10.0)[None], 0.5), [0.0, 5.0])  # the lowest of equals


@pytest.mark.parametrize("level", [-0.1, 0.0, 1.1, np.nan])
def test_levels_that_are_none(level: float) -> None:
    for interval in (equal_tailed, highest_density):
        with pytest.raises(ValueError, match="level must be"):
            interval(np.zeros((2, 10)), level)


# --- edges ---


@each("value", [0.0, 0.1, -1e300, 1e-310])
@each("shape", [(1, 4), (3, 7), (4, 500), (7, 101)])
def test_draws_that_are_all_the_same_number(value: float, shape: tuple[int, int]) -> None:
    draws = np.random.default_rng(11).normal(size=(*shape, 3))
    draws[..., 1] = value
    assert rhat(draws)[1] == 1.0
    for size in SIZES.values():
        assert size(draws)[1] == shape[0] * shape[1]
    assert mcse_mean(draws)[1] == mcse_quantile(draws, 0.9)[1] == 0.0
    assert (equal_tailed(draws, 0.9)[1] == value).all()
    assert (highest_density(draws, 0.9)[1] == value).all()


@pytest.mark.parametrize("chains", [2, 3, 7])
@pytest.mark.parametrize("length", [4, 9, 500])
def test_chains_that_stand_still_apart(chains: int, length: int) -> None:
    draws = np.repeat(0.1 * np.arange(1, chains + 1)[:, None], length, axis=1)
    assert rhat(draws) == np.inf
    for size in SIZES.values():
        assert size(draws) == chains
    assert mcse_mean(draws) == pytest.approx(draws.std(ddof=1) / np.sqrt(chains))


def test_one_chain_that_jumps_once() -> None:
    draws = np.repeat([[0.1, 0.3]], 50, axis=1)
    assert rhat(draws) == np.inf
    assert ess_bulk(draws) == ess_mean(draws) == ess_tail(draws) == 1.0


def test_one_chain_of_several_that_stands_still() -> None:
    draws = np.random.default_rng(12).normal(size=(4, 400, 3))
    draws[2] = [0.0, 0.3, 3.0]
    assert (rhat(draws) > 1.05).all()
    assert np.isfinite(rhat(draws)).all()
    assert ess_bulk(draws)[2] < 20.0


def test_two_values_are_as_far_from_their_median() -> None:
    draws = np.random.default_rng(13).choice([-1.0, 1.0], size=(4, 500, 50))
    values = rhat(draws)
    assert np.isfinite(values).all()
    assert values.max() < 1.03


def test_a_middle_draw_that_differs_is_not_in_the_halves() -> None:
    draws = np.full((2, 5), 0.3)
    draws[:, 2] = 7.0
    assert rhat(draws) == 1.0
    assert ess_mean(draws) == ess_bulk(draws) == 8.0
    assert mcse_mean(draws) > 0.0


@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("chains", [1, 4])
def test_too_few_draws(chains: int, length: int) -> None:
    draws = np.random.default_rng(14).normal(size=(chains, length, 2))
    for function in CHAIN_ONLY.values():
        assert np.isnan(function(draws)).all()
    assert np.isnan(equal_tailed(draws, 0.5)).all() == (length == 0)
    assert np.isnan(highest_density(draws, 0.5)).all() == (length == 0)


def test_no_chains_and_no_parameters() -> None:
    for name, function in EVERY.items():
        width = () if name in CHAIN_ONLY else (2,)
        assert np.isnan(function(np.empty((0, 10, 3)))).all()
        assert function(np.empty((0, 10, 3))).shape == (3, *width)
        assert function(np.empty((4, 10, 0, 2))).shape == (0, 2, *width)


@each("name", EVERY)
@each("value", [np.nan, np.inf, -np.inf])
def test_draws_that_are_not_finite(name: str, value: float) -> None:
    draws = np.random.default_rng(15).normal(size=(2, 41, 4))
    alone = EVERY[name](draws)
    draws[1, 20, 2] = value  # the middle one too, which the halves do not have
    answer = EVERY[name](draws)
    assert np.isnan(answer[2]).all()
    others = [0, 1, 3]
    assert np.array_equal(answer[others], alone[others])
    assert np.isnan(EVERY[name](np.full((2, 8, 3), value))).all()


@pytest.mark.parametrize("factor", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1018])
def test_draws_of_any_size(factor: float) -> None:
    draws = ar1(np.random.default_rng(16), (3, 200, 5), 0.5)
    for function in (rhat, *SIZES.values()):
        assert np.array_equal(function(draws), function(factor * draws))
    for error in (mcse_mean, lambda values: mcse_quantile(values, 0.3)):
        assert np.array_equal(factor * error(draws), error(factor * draws))


def test_draws_at_the_largest_numbers() -> None:
    draws = np.random.default_rng(17).choice([-1.7e308, -1.0, 2.0, 1.7e308], size=(4, 100))
    for function in EVERY.values():
        assert np.isfinite(function(draws)).all()


def test_one_axis_is_not_enough() -> None:
    with pytest.raises(ValueError, match=r"shape \(chains, draws, ...\), but it is \(10,\)"):
        rhat(np.zeros(10))


@pytest.mark.parametrize("probability", [-0.1, 1.1, np.nan])
def test_probabilities_that_are_none(probability: float) -> None:
    for function in (ess_quantile, mcse_quantile):
        with pytest.raises(ValueError, match="range"):
            function(np.random.default_rng(18).normal(size=(2, 10)), probability)


# --- arrays ---


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("shape", [(1, 100), (3, 251), (4, 10)])
def test_all_at_once_is_one_by_one(name: str, shape: tuple[int, int], monkeypatch: Any) -> None:
    rng = np.random.default_rng(19)
    draws = np.concatenate([kind(rng, (*shape, 3)) for kind in KINDS.values()], axis=2)
    draws[..., 5] = 0.2
    whole, function = EVERY[name](draws), EVERY[name]
    each = np.stack([function(draws[..., j]) for j in range(draws.shape[2])])
    assert np.array_equal(whole, each)
    for bytes_of_block in (1, 16 * 8 * shape[0] * shape[1] * 5, 2**40):
        monkeypatch.setattr(diagnostics, "BLOCK", bytes_of_block)
        assert np.array_equal(whole, function(draws))


@pytest.mark.parametrize("name", EVERY)
def test_shapes_orders_and_types(name: str) -> None:
    function, draws = EVERY[name], np.random.default_rng(20).poisson(30.0, size=(3, 50, 2, 4)).astype(float)
    before, width = draws.copy(), () if name in CHAIN_ONLY else (2,)
    answer = function(draws)
    assert answer.shape == (2, 4, *width)
    assert answer.dtype == np.float64
    assert np.array_equal(draws, before)
    for same in (draws.astype(int), draws.astype(np.float32), np.asfortranarray(draws), draws.tolist()):
        assert np.array_equal(function(same), answer)
    assert np.array_equal(function(draws[..., ::-1]), answer[:, ::-1])
    assert np.array_equal(function(draws[:, :, 1, 2]), answer[1, 2])
    assert np.shape(function(draws[:, :, 1, 2])) == width


@each("name", EVERY)
@each("ties", [False, True])
def test_memory_does_not_grow_with_the_number_of_parameters(name: str, ties: bool) -> None:
    draws = np.random.default_rng(21).normal(size=(2, 50, 8000))
    draws = draws.round() if ties else draws
    tracemalloc.start()
    EVERY[name](draws)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < diagnostics.BLOCK + 2**20
