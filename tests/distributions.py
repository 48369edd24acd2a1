"""Draws against a distribution that is known."""

import numpy as np
from scipy import stats

LEVEL = 1e-4
"""Of each Kolmogorov-Smirnov test; about 80 are made in all."""
CHAINS = 4000
REACH = 1e-16, 1e16


def assert_follows(draws, log_density, low, high, level=LEVEL):
    """Compare positive draws with a density of their logarithm on (low, high), by Kolmogorov and Smirnov."""
    t = np.linspace(np.log(low), np.log(high), 40_001)
    with np.errstate(all="ignore"):
        height = log_density(t)
    height = np.exp(height - height.max())
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]))])
    found = stats.kstest(draws, lambda v: np.interp(np.log(v), t, mass / mass[-1]))
    assert found.pvalue > level, found
