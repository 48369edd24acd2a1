"""Priors of the local and the global scales: small classes that know two formulas each.

With v = lambda_j^2 and W_j = E[b_j^2] / (2 sigma2 tau2), the M-step for every local prior minimises

    A log v + W / v + rest(v),        A = (1 + c)/2 - (power of v in the density of v),

where ``c`` is the lambda power: the mode is that of the density of lambda**c (2 is the paper, 1 is lambda
itself, c -> 0 is log lambda). A null coefficient then follows v <- v / (2 A): the prior is sparse when
A > 1/2.

Any object with the methods of `LocalPrior` can be used in place of these. To be sampled from it needs one
more: ``draw(w, lambda2, rng)``, which moves lambda2 by a step that leaves its conditional distribution given
W = b^2 / (2 sigma2 tau2) as it is.

Examples
--------
>>> import numpy as np
>>> from horseshoe.priors import Horseshoe
>>> Horseshoe().mode(np.array([1.0]), lambda_power=2.0)  # (sqrt(1 + 6 + 1) + 1 - 1) / 4, Eq. (16)
array([0.70710678])
"""

from __future__ import annotations

from horseshoe.priors.base import (
    Estimating,
    GlobalPrior,
    GlobalSampler,
    LocalPrior,
    LocalSampler,
    estimated,
    is_dense,
    is_known,
    is_sparse,
    settled,
)
from horseshoe.priors.global_ import FixedScale, HalfCauchy, InverseGammaGlobal, resolve_global
from horseshoe.priors.groups import Groups, grouped
from horseshoe.priors.local import (
    GammaScale,
    Horseshoe,
    HorseshoeLike,
    InverseGammaScale,
    InvertedBeta,
    Lasso,
    NormalGamma,
    Ridge,
    StrawdermanBerger,
    StudentT,
    resolve_known,
    resolve_local,
)
from horseshoe.priors.slab import Slab

__all__ = [
    "Estimating",
    "FixedScale",
    "GammaScale",
    "GlobalPrior",
    "GlobalSampler",
    "Groups",
    "HalfCauchy",
    "Horseshoe",
    "HorseshoeLike",
    "InverseGammaGlobal",
    "InverseGammaScale",
    "InvertedBeta",
    "Lasso",
    "LocalPrior",
    "LocalSampler",
    "NormalGamma",
    "Ridge",
    "Slab",
    "StrawdermanBerger",
    "StudentT",
    "estimated",
    "grouped",
    "is_dense",
    "is_known",
    "is_sparse",
    "resolve_global",
    "resolve_known",
    "resolve_local",
    "settled",
]
