"""The sampler of Cox's model: against quadrature, and by ranks where the partial likelihood is a likelihood.

Without ties and censoring it is the probability of the order of the rows, whatever the baseline hazard is
(Kalbfleisch and Prentice, 1973). So effects drawn from the prior, times drawn given them, and draws of the
posterior given the order must have uniform ranks.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import oracles
from distributions import LEVEL
from horseshoe import HorseshoeSurvival
from horseshoe.sampling.diagnostics import mcse_mean
from survival_data import survival

ERRORS = 4.5
"""Monte Carlo standard errors within which a mean must be."""


def draws(model: HorseshoeSurvival, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return model.sample_posterior(n_jobs=1, **options)


def agree(drawn: Any, points: Any, density: Any) -> None:
    """Compare the mean and the variance of one coefficient with those on a grid."""
    density = density / density.sum()
    mean = float(density @ points)
    spread = float(density @ (points - mean) ** 2)
    assert mcse_mean(drawn) < 0.1 * np.sqrt(spread)
    assert abs(drawn.mean() - mean) < ERRORS * mcse_mean(drawn)
    squared = (drawn - mean) ** 2
    assert abs(squared.mean() - spread) < ERRORS * mcse_mean(squared)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_two_columns_agree_with_quadrature(ties: str) -> None:
    data, tau = survival(16, p=2, seed=3), 0.6
    strata = np.where(np.arange(16) % 2, "a", "b")
    weights = 1.0 + data.weights
    center = np.average(data.X, axis=0, weights=weights)
    unit = np.sqrt(np.average((data.X - center) ** 2, axis=0, weights=weights))
    model = HorseshoeSurvival(prior="ridge", tau=tau, ties=ties).fit(
        data.X, data.y, sample_weight=weights, offset=data.offset, entry=data.entry, strata=strata
    )
    found = draws(model, n_chains=2, n_draws=3000, n_warmup=300, random_state=1).coef * unit
    axis = np.linspace(-4.5, 5.5, 41)
    log = np.empty((41, 41))
    for i, first in enumerate(axis):
        for j, second in enumerate(axis):
            eta = ((data.X - center) / unit) @ (first, second) + data.offset
            fit = oracles.partial_log_likelihood(
                eta, data.time, data.event, data.entry, strata, weights, ties == "efron"
            )
            log[i, j] = fit - 0.5 * (first**2 + second**2) / tau**2
    density = np.exp(log - log.max())
    assert max(density[0].max(), density[-1].max(), density[:, 0].max(), density[:, -1].max()) < 1e-6
    agree(found[..., 0], axis, density.sum(axis=1))
    agree(found[..., 1], axis, density.sum(axis=0))


def test_a_horseshoe_agrees_with_quadrature() -> None:
    data, tau = survival(14, p=1, seed=5), 0.7
    center, unit = data.X.mean(axis=0), data.X.std(axis=0)
    model = HorseshoeSurvival(tau=tau).fit(data.X, data.y)
    found = draws(model, n_chains=2, n_draws=4000, n_warmup=300, random_state=2).coef[..., 0] * unit
    size = np.exp(np.linspace(-25.0, np.log(12.0), 300))  # steep near 0, so by the logarithm
    axis = np.concatenate([-size[::-1], size])
    x, entry = ((data.X - center) / unit)[:, 0], np.full(14, -1.0)
    fit = np.array(
        [
            oracles.partial_log_likelihood(
                b * x, data.time, data.event, entry, np.zeros(14), np.ones(14), True
            )
            for b in axis
        ]
    )
    z = 0.5 * (axis / tau) ** 2
    prior = np.exp(np.minimum(z, 600.0)) * special.exp1(z)  # the scales integrated out, up to a constant
    density = np.exp(fit - fit.max()) * prior * np.abs(axis)
    assert max(density[0], density[-1]) < 1e-6 * density.max()
    agree(found, axis, density)


def test_the_posterior_says_what_it_can() -> None:
    data = survival()
    model = HorseshoeSurvival().fit(data.X, data.y, strata=data.strata)
    posterior = draws(model, n_chains=2, n_draws=200, n_warmup=200, random_state=0)
    assert posterior.coef.shape == (2, 200, 4)
    assert not posterior.intercept.any()
    risk, std = posterior.predict(data.X[:5], return_std=True)
    np.testing.assert_allclose(risk, data.X[:5] @ posterior.mean(), rtol=1e-10)
    assert np.all(std > 0.0)
    assert posterior.select("decoupled", 0.9).support[0]
    with pytest.raises(ValueError, match="no log-likelihood of their own"):
        posterior.log_likelihood()
    with pytest.raises(ValueError, match="not when"):
        posterior.simulate()
    pytest.importorskip("arviz_base")
    assert "log_likelihood" not in posterior.to_arviz().children


def test_intervals_of_the_risk_do_not_move_with_the_columns() -> None:
    data = survival()
    options = {"method": "posterior", "n_chains": 2, "n_draws": 300, "n_warmup": 200}
    near = HorseshoeSurvival(random_state=0).fit(data.X, data.y)
    far = HorseshoeSurvival(random_state=0).fit(data.X + 1024.0, data.y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        first = near.predict_interval(data.X[:5], **options) - near.predict(data.X[:5])[:, None]
        second = (
            far.predict_interval(data.X[:5] + 1024.0, **options) - far.predict(data.X[:5] + 1024.0)[:, None]
        )
    np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-4)
    assert np.all(first[:, 0] < 0.3)
    assert np.all(first[:, 1] > -0.3)


def _ranks(n: int, p: int, tau: float | str, seed: int, sets: int) -> Any:
    """Return where effects drawn from the prior stand among 99 draws of their posteriors."""
    rng = np.random.default_rng(seed)
    out = []
    for number in range(sets):
        X = rng.standard_normal((n, p))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        top = tau if isinstance(tau, float) else np.tan(0.25 * np.pi * rng.random())  # half-Cauchy up to 1
        coef = top * np.abs(rng.standard_cauchy(p)) * rng.standard_normal(p)
        order = np.log(rng.standard_exponential(n)) - X @ coef  # of the times, whose logarithms these are
        time = np.argsort(np.argsort(order)) + 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = HorseshoeSurvival(tau=tau).fit(X, time)
        posterior = draws(model, n_chains=1, n_draws=99, n_warmup=400, thin=10, random_state=number)
        out.append((posterior.coef[0] < coef).sum(axis=0))
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "tau"), [(25, 2, 0.5), (20, 3, "estimate"), (8, 10, "estimate")])
def test_ranks_of_true_effects_are_uniform(n: int, p: int, tau: Any) -> None:
    ranks = _ranks(n, p, tau, seed=n, sets=120)
    for column in (0, p - 1):
        counts = np.bincount(ranks[:, column] // 10, minlength=10)
        assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.slow
def test_intervals_cover_the_truth_of_censored_data() -> None:
    rng = np.random.default_rng(11)
    inside = []
    for number in range(60):
        X = rng.standard_normal((150, 6))
        coef = np.array([0.8, -0.8, 0.6, 0.0, 0.0, 0.0])
        lived, censored = rng.exponential(np.exp(-X @ coef)), rng.exponential(1.5, 150)
        y = np.c_[np.minimum(lived, censored), lived <= censored]
        model = HorseshoeSurvival(random_state=number).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = model.coef_interval(0.9, n_chains=2, n_draws=500, n_warmup=300).T
        inside.append(((low <= coef) & (coef <= high))[:3])
    assert abs(np.mean(inside) - 0.9) < 3.5 * np.sqrt(0.09 / (3 * 60))
