"""Simulation-based calibration of ordered levels: thresholds and coefficients from the prior, data from them.

Only data sets in which every level occurs are fitted: a condition on y alone, so the ranks stay uniform.
"""

import warnings

import numpy as np
import pytest
from scipy import stats

from horseshoe import sample_posterior
from horseshoe.families import Ordinal

pytest.importorskip("polyagamma")
pytestmark = pytest.mark.slow

REPLICATIONS, KEPT, TAU = 200, 9, 0.5


def draw_data(rng, prior, n=40, p=3, levels=4):
    """Return columns of mean 0 and variance 1, levels, coefficients and thresholds."""
    while True:
        X = rng.standard_normal((n, p))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        scale = np.abs(rng.standard_cauchy(p)) if prior == "horseshoe" else np.ones(p)
        coef = TAU * scale * rng.standard_normal(p)
        theta = np.sort(rng.logistic(size=levels - 1))
        y = np.digitize(X @ coef + rng.logistic(size=n), theta)
        if np.unique(y).size == levels:
            return X, y, coef, theta


@pytest.mark.parametrize("prior", ["ridge", "horseshoe"])
def test_ranks_are_uniform(prior):
    ranks = []
    for seed in range(REPLICATIONS):
        X, y, coef, theta = draw_data(np.random.default_rng(seed), prior)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draws = sample_posterior(
                X,
                y,
                family=Ordinal(),
                prior=prior,
                tau=TAU,
                n_draws=KEPT,
                n_warmup=200,
                thin=15,
                n_chains=1,
                random_state=seed,
            )
        found = np.column_stack([draws.coef[0], draws.nuisance[0]])
        ranks.append((found < np.concatenate([coef, theta])).sum(axis=0))
    for of in np.array(ranks).T:
        counts = np.bincount(of, minlength=KEPT + 1)
        assert stats.chisquare(counts).pvalue > 1e-4
