"""The families: what a likelihood has to say, and those that come with horseshoe.

The loop sees a family only through weights and targets: at the linear predictor eta, the log-likelihood of
row i is replaced by that of a Gaussian target z_i with variance sigma2 / w_i, so that the slope is the same,
w_i (z_i - eta_i) / sigma2 = d log p(y_i | eta_i) / d eta_i. The fixed point is then a stationary point of the
likelihood itself, whatever the weights are; they decide how fast it is reached and how wide the conditional
posterior of the coefficients is taken to be.
"""

from __future__ import annotations

from horseshoe.families.amounts import Gamma, Tweedie
from horseshoe.families.base import (
    Augmented,
    Direct,
    Family,
    Ordered,
    Predictive,
    Response,
    Shares,
    Working,
    weighted_median,
)
from horseshoe.families.binary import Binomial, polya_gamma_mean
from horseshoe.families.counts import Counts, NegativeBinomial, Poisson
from horseshoe.families.cox import Cox
from horseshoe.families.huber import Huber
from horseshoe.families.location import Gaussian, Location, StudentT
from horseshoe.families.names import FAMILIES, resolve_family
from horseshoe.families.ordinal import Ordinal
from horseshoe.families.quantile import Laplace, Quantile

__all__ = [
    "FAMILIES",
    "Augmented",
    "Binomial",
    "Counts",
    "Cox",
    "Direct",
    "Family",
    "Gamma",
    "Gaussian",
    "Huber",
    "Laplace",
    "Location",
    "NegativeBinomial",
    "Ordered",
    "Ordinal",
    "Poisson",
    "Predictive",
    "Quantile",
    "Response",
    "Shares",
    "StudentT",
    "Tweedie",
    "Working",
    "polya_gamma_mean",
    "resolve_family",
    "weighted_median",
]
