"""The posterior mean of many normal means: Gibbs sampling, every mean at once."""

from __future__ import annotations

import numpy as np

from horseshoe.priors import HalfCauchy, Horseshoe
from horseshoe_reproduction.arrays import Vector


def means_posterior(y: Vector, n_warmup: int, n_draws: int, rng: np.random.Generator) -> Vector:
    """Return the posterior mean of b for y_i ~ N(b_i, 1), b_i ~ N(0, tau2 lambda2_i), both half-Cauchy.

    The mean of b given the scales is averaged, which strays less than an average of draws of b.

    Examples
    --------
    >>> y = np.array([0.2, -0.5, 0.1, 8.0])
    >>> means_posterior(y, 200, 2000, np.random.default_rng(0)).round(1)
    array([ 0. , -0.1,  0. ,  7.7])
    """
    local, global_ = Horseshoe(), HalfCauchy()
    lambda2, tau2, total = np.ones(y.size), np.ones(1), np.zeros(y.size)
    for draw in range(n_warmup + n_draws):
        keep = lambda2 * tau2 / (1.0 + lambda2 * tau2)
        b = keep * y + np.sqrt(keep) * rng.standard_normal(y.size)
        if draw >= n_warmup:
            total += keep * y
        half = np.square(b) / 2.0
        lambda2 = local.draw(half / tau2, lambda2, rng)
        tau2 = global_.draw(y.size, np.array([(half / lambda2).sum()]), tau2, rng)
    return total / n_draws
