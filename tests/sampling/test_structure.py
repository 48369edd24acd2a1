"""Groups and flat columns in the sampler: ranks of the truth among draws, and huge prior variances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from horseshoe import sample_posterior
from horseshoe.priors import InvertedBeta
from simulate import DRAWS

pytestmark = pytest.mark.slow
LABEL = np.array([9, 8, 0, 0, 0, 1, 1, 2])


def quietly(*args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sample_posterior(*args, **options)


@pytest.mark.parametrize("prior", [InvertedBeta(0.5, 1.5), InvertedBeta(0.8, 2.0)], ids=repr)
@pytest.mark.parametrize("n", [30, 6])
def test_ranks_of_the_truth_are_uniform(prior: InvertedBeta, n: int) -> None:
    """Simulation-based calibration: groups of 3, 2 and 1, an intercept and two flat columns.

    A flat prior has no draws, but the ranks do not depend on where its coefficients are, so that they are
    held.
    """
    ranks = []
    for seed in range(160):
        rng = np.random.default_rng([seed, n])
        X = rng.standard_normal((n, 8))
        scales = rng.standard_gamma(prior.a, 3) / rng.standard_gamma(prior.b, 3)
        coef = 0.5 * np.sqrt(scales[[0, 0, 0, 1, 1, 2]]) * rng.standard_normal(6)
        y = 2.0 + X @ np.append([1.0, -3.0], coef) + rng.standard_normal(n)
        found = quietly(
            X, y, prior=prior, feature_groups=LABEL, unpenalized=[0, 1], tau=0.5, sigma2=1.0,
            standardize=False,
            n_chains=1, n_warmup=100, n_draws=39, thin=8, store_lambda2=True, random_state=seed,
        )  # fmt: skip
        truth = np.concatenate([[2.0, 1.0, -3.0], coef, scales])
        drawn = np.column_stack([found.intercept[0], found.coef[0], found.lambda2[0][:, [2, 5, 7]]])
        ranks.append((drawn < truth).sum(axis=0))
    for column in np.array(ranks).T:
        counts = np.bincount(column // 8, minlength=5)
        assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("family", ["poisson", "binomial", "negative_binomial"])
def test_a_flat_prior_is_a_huge_prior_variance(family: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = DRAWS[family](rng, 0.6 * X[:, 0] - 0.7 * X[:, 5])
    scale = np.where(np.arange(8) < 2, 1e4, 1.0)
    options = {
        "family": family, "prior": "ridge", "tau": 0.3, "standardize": False, "n_draws": 2000,
        "n_warmup": 500, "random_state": 1,
    }  # fmt: skip
    flat, huge = quietly(X, y, unpenalized=[0, 1], **options), quietly(X, y, prior_scale=scale, **options)
    error = flat.std() * np.sqrt(2.0 / np.minimum(flat.ess(), huge.ess()))
    assert (np.abs(flat.mean() - huge.mean()) < 4.5 * error).all()
    np.testing.assert_allclose(flat.std(), huge.std(), rtol=0.08)
