"""New rows: predictions, intervals, simulated responses and their log-likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from horseshoe.families import NegativeBinomial, Poisson
from horseshoe.posterior import draws as posterior_module
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.predictive import predictive_std
from horseshoe.sampling.diagnostics import ess_mean
from posterior_runs import CASES, FAMILIES, TALL, WHOLE, flat_draws, long, run
from simulate import DRAWS

NEW = np.random.default_rng(2).standard_normal((7, 5))
NEW_OFFSET = np.linspace(-0.5, 0.5, 7)
MEANS = {
    "binomial": lambda eta: 1.0 / (1.0 + np.exp(-eta)),
    "negative_binomial": np.exp,
    "poisson": np.exp,
}
VARIANCES = {
    "gaussian": lambda mean, sigma2, extra: sigma2,
    "student_t": lambda mean, sigma2, extra: sigma2 * extra / (extra - 2.0),
    "laplace": lambda mean, sigma2, extra: 2.0 * sigma2,
    "binomial": lambda mean, sigma2, extra: mean * (1.0 - mean),
    "negative_binomial": lambda mean, sigma2, extra: mean + mean**2 / extra,
    "poisson": lambda mean, sigma2, extra: mean,
}


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 2.5, 4.0, 8.0])
@pytest.mark.parametrize("size", [np.inf, 2.0])
def test_the_standard_deviation_of_counts_is_that_of_a_lognormal_mean(spread: float, size: float) -> None:
    """However badly the mean is known: E[exp(2 eta)] comes from far out in the tail of eta."""
    family = Poisson() if size == np.inf else NegativeBinomial(size=size)
    mean, square = np.exp(1.0 + 0.5 * spread**2), np.exp(2.0 + 2.0 * spread**2)
    expected = np.sqrt(mean + square / size + square * -np.expm1(-(spread**2)))
    found = predictive_std(family, np.array([1.0]), np.array([spread]), 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_standard_deviation_of_counts_beyond_all_floats_is_infinite() -> None:
    std = predictive_std(Poisson(), np.zeros(2), np.array([1.0, 1000.0]), 1.0)
    assert np.isfinite(std).tolist() == [True, False]
    assert std[1] == np.inf


@pytest.mark.parametrize("family", FAMILIES)
def test_predictions(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = long(family)
    coef, level, sigma2, extra = flat_draws(found)
    eta = coef @ NEW.T + level + NEW_OFFSET
    mean = MEANS.get(family, lambda eta: eta)(eta)
    variance = VARIANCES[family](mean, sigma2, extra) + 0.0 * mean
    np.testing.assert_allclose(found.predict(NEW, offset=NEW_OFFSET), mean.mean(axis=0), rtol=1e-10)
    expected = np.sqrt(variance.mean(axis=0) + mean.var(axis=0))
    for size in (posterior_module.CHUNK_BYTES, 8 * 1600 * 3, 1):
        monkeypatch.setattr(posterior_module, "CHUNK_BYTES", size)
        first, std = found.predict(NEW, return_std=True, offset=NEW_OFFSET)
        np.testing.assert_allclose(first, mean.mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(std, expected, rtol=1e-10)
        credible = found.predict_interval(NEW, 0.8, kind="credible", offset=NEW_OFFSET)
        np.testing.assert_allclose(credible, np.quantile(mean, [0.1, 0.9], axis=0).T, rtol=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_predictive_intervals_are_wider_than_credible_ones(family: str) -> None:
    found = long(family)
    new, mean = found.predict_interval(NEW), found.predict_interval(NEW, kind="credible")
    assert new.shape == mean.shape == (7, 2)
    if family == "binomial":
        np.testing.assert_array_equal(new, mean)
        return
    assert (np.diff(new) > np.diff(mean)).all()
    assert (np.diff(found.predict_interval(NEW, level=0.99)) > np.diff(new)).all()
    np.testing.assert_array_equal(new, found.predict_interval(NEW, random_state=0))
    if family in ("poisson", "negative_binomial"):
        assert (new >= 0.0).all()


TRUTH = {
    "gaussian": lambda eta: stats.norm(eta),
    "student_t": lambda eta: stats.t(3, eta),
    "negative_binomial": lambda eta: stats.nbinom(2, 2.0 / (2.0 + np.exp(1.0 + 0.5 * eta))),
    "poisson": lambda eta: stats.poisson(np.exp(0.5 + 0.4 * eta)),
}
"""What `simulate.DRAWS` draws from."""


@pytest.mark.parametrize("family", TRUTH)
def test_coverage_of_new_responses(family: str) -> None:
    """About that of the intervals of who knows the truth, which for whole numbers is above the level."""
    rng = np.random.default_rng(21)
    X, new = rng.standard_normal((150, 6)), rng.standard_normal((1500, 6))
    y, y_new = (DRAWS[family](rng, rows[:, 0] - rows[:, 1]) for rows in (X, new))
    found = run({"X": X, "y": y, "family": family}, n_draws=250, n_warmup=150)
    truth = TRUTH[family](new[:, 0] - new[:, 1])
    ends = {"found": found.predict_interval(new, level=0.9).T, "known": (truth.ppf(0.05), truth.ppf(0.95))}
    covered = {name: ((low <= y_new) & (y_new <= high)).mean() for name, (low, high) in ends.items()}
    assert abs(covered["found"] - covered["known"]) < 0.04, covered


@pytest.mark.parametrize("family", FAMILIES)
def test_simulated_responses(family: str) -> None:
    found = long(family)
    again = found.simulate(NEW, n_draws=1600, offset=NEW_OFFSET)
    assert again.shape == (1600, 7)
    mean, std = found.predict(NEW, return_std=True, offset=NEW_OFFSET)
    if family not in ("student_t", "negative_binomial"):  # the tails of these are too heavy for the next line
        np.testing.assert_array_less(np.abs(again.mean(axis=0) - mean), 5.0 * std / np.sqrt(1600))
    if family == "binomial":
        assert set(np.unique(again)) == {0.0, 1.0}
    if family in ("poisson", "negative_binomial"):
        assert (again >= 0.0).all()
        assert (again == np.round(again)).all()
    np.testing.assert_array_equal(again, found.simulate(NEW, n_draws=1600, offset=NEW_OFFSET, random_state=0))
    other = found.simulate(NEW, n_draws=1600, offset=NEW_OFFSET, random_state=1)
    assert not np.array_equal(again, other)
    assert found.simulate().shape == (100, 24)
    assert found.simulate(n_draws=3).shape == (3, 24)


def densities(found: Posterior, y: Any, eta: Any) -> Any:
    """Return log p(y) by SciPy, one line for each draw."""
    _, _, sigma2, extra = flat_draws(found)
    sigma = np.sqrt(sigma2)
    return {
        "Gaussian": lambda: stats.norm.logpdf(y, eta, sigma),
        "StudentT": lambda: stats.t.logpdf(y, extra, eta, sigma),
        "Laplace": lambda: stats.laplace.logpdf(y, eta, sigma),
        "Binomial": lambda: stats.bernoulli.logpmf(y, 1.0 / (1.0 + np.exp(-eta))),
        "NegativeBinomial": lambda: stats.nbinom.logpmf(y, extra, extra / (extra + np.exp(eta))),
        "Poisson": lambda: stats.poisson.logpmf(y, np.exp(eta)),
    }[type(found.family).__name__]()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_log_likelihood_is_that_of_scipy(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = long(family)
    coef, level, _, _ = flat_draws(found)
    y = CASES[family]["y"]
    own = densities(found, y, coef @ TALL.T + level)
    for size in (posterior_module.CHUNK_BYTES, 8 * 1600 * 15):
        monkeypatch.setattr(posterior_module, "CHUNK_BYTES", size)
        assert found.log_likelihood().shape == (4, 400, 24)
        np.testing.assert_allclose(found.log_likelihood().reshape(1600, 24), own, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.log_likelihood(TALL, y), found.log_likelihood())
    new = densities(found, y[:7], coef @ NEW.T + level + NEW_OFFSET)
    got = found.log_likelihood(NEW, y[:7], offset=NEW_OFFSET)
    np.testing.assert_allclose(got.reshape(1600, 7), new, rtol=1e-9, atol=1e-9)


WEIGHTED = [
    "weights",
    "whole weights, student_t",
    "whole weights, laplace",
    "weights, poisson",
    "weights, negative_binomial",
    "trials",
]


@pytest.mark.parametrize("which", WEIGHTED)
def test_the_log_likelihood_with_weights_and_an_offset(which: str) -> None:
    found, given = run(which), CASES[which]
    coef, level, _, _ = flat_draws(found)
    rows = given["sample_weight"] > 0.0
    weights, offset = given["sample_weight"][rows], given.get("offset", np.zeros(24))[rows]
    own = weights * densities(found, given["y"][rows], coef @ TALL[rows].T + level + offset)
    got = found.log_likelihood().reshape(len(own), -1)
    np.testing.assert_allclose(got, own, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("which", ["whole weights, student_t", "whole weights, laplace"])
def test_whole_weights_are_rows_that_are_repeated(which: str) -> None:
    """The draws are others, since one sum is drawn for all that are the same; what they say is the same."""
    given = CASES[which]
    again = np.repeat(np.arange(24), WHOLE.astype(int))
    repeated = {**given, "X": TALL[again], "y": given["y"][again], "sample_weight": None}
    if "offset" in given:
        repeated["offset"] = given["offset"][again]
    plan = {"n_draws": 4000, "n_warmup": 500}
    one, other = run(which, **plan), run(repeated, **plan)
    for mine, theirs in ((one.coef, other.coef), (np.log(one.sigma2), np.log(other.sigma2))):
        pair = [values.reshape(*values.shape[:2], -1) for values in (mine, theirs)]
        error = np.hypot(*(draws.std(axis=(0, 1)) / np.sqrt(ess_mean(draws)) for draws in pair))
        assert np.all(np.abs(pair[0].mean(axis=(0, 1)) - pair[1].mean(axis=(0, 1))) < 4.5 * error)
        np.testing.assert_allclose(pair[0].std(axis=(0, 1)), pair[1].std(axis=(0, 1)), rtol=0.15)
    assert one.simulate(n_draws=3).shape == (3, int((WHOLE > 0.0).sum()))


def test_an_offset_for_the_data_of_the_posterior_is_not_ignored() -> None:
    """The data have their own: to ask for another one without X would have no effect."""
    for method in (long().log_likelihood, long().simulate):
        with pytest.raises(ValueError, match="offset"):
            method(offset=np.ones(24))
