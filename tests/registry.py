"""Every prior, engine, family and estimator: the sweeps test what is listed here, with no new test code."""

from dataclasses import dataclass

import numpy as np

import oracles
from farrier import HorseshoeClassifier, HorseshoeRegressor
from farrier.conditional.engines import DiagonalVariance, Dual, Orthogonal, Primal, Stochastic
from farrier.families import FAMILIES, NegativeBinomial
from farrier.families import StudentT as StudentNoise
from farrier.priors import (
    FixedScale,
    GammaScale,
    HalfCauchy,
    Horseshoe,
    HorseshoeLike,
    InverseGammaGlobal,
    InverseGammaScale,
    InvertedBeta,
    Lasso,
    NormalGamma,
    Ridge,
    StrawdermanBerger,
    StudentT,
)


def name(value):
    """Return a test id that is the same in every process."""
    return getattr(value, "__name__", repr(value))


def _inverted_beta(prior):
    return lambda v: oracles.neg_log_inverted_beta(v, prior.a, prior.b)


def _horseshoe_like(prior):
    return oracles.neg_log_horseshoe_like


def _gamma(prior):
    return lambda v: oracles.neg_log_gamma(v, prior.shape, prior.rate)


def _inverse_gamma(prior):
    return lambda v: oracles.neg_log_inverse_gamma(v, prior.shape, prior.scale)


# each prior with the oracle for -log of its density of lambda2; ridge has none, for lambda2 is not free
LOCAL_PRIORS = [
    (Horseshoe(), _inverted_beta),
    (StrawdermanBerger(), _inverted_beta),
    (InvertedBeta(a=0.3, b=0.8), _inverted_beta),
    (InvertedBeta(a=1.2, b=0.25), _inverted_beta),
    (HorseshoeLike(), _horseshoe_like),
    (Lasso(), _gamma),
    (NormalGamma(shape=0.25, rate=2.0), _gamma),
    (GammaScale(shape=2.0, rate=1.0), _gamma),
    (StudentT(df=3.0), _inverse_gamma),
    (InverseGammaScale(shape=0.7, scale=0.1), _inverse_gamma),
    (Ridge(), None),
]
GLOBAL_PRIORS = [HalfCauchy(), HalfCauchy(tau_max=0.3), InverseGammaGlobal(), FixedScale(tau2=0.05)]
COORDINATES = [2.0, 1.75, 1.5, 1.0, 0.5]


@dataclass(frozen=True)
class EngineCase:
    """An engine, and what it promises: exact moments to ``rtol``, or only an exact mean."""

    engine: object
    moments: bool = True
    rtol: float = 1e-10
    orthogonal_only: bool = False

    @property
    def name(self):
        return type(self.engine).__name__ + ("" if self.engine.exact else "-inexact")


ENGINES = [
    EngineCase(Primal()),
    EngineCase(Dual()),
    EngineCase(Dual(single=True), rtol=2e-4),
    EngineCase(Orthogonal(), orthogonal_only=True),
    EngineCase(DiagonalVariance(), moments=False),
]
STOCHASTIC = Stochastic(np.random.default_rng(0), n_draws=40_000)

# all but expectation="stochastic", whose draws cannot be the same for a repeated row and for a weight of 2
ESTIMATORS = [
    HorseshoeRegressor(),
    HorseshoeRegressor(prior="lasso"),
    HorseshoeRegressor(prior="ridge", fit_intercept=False, standardize=False),
    HorseshoeRegressor(prior="student_t", coordinate=1.0),
    HorseshoeRegressor(prior="strawderman_berger", expectation="approximate"),
    HorseshoeRegressor(prior="normal_gamma", coordinate=1.5, start="variance"),
    HorseshoeRegressor(prior="horseshoe_like"),
    HorseshoeRegressor(tau=0.1, sigma2=1.0),
    HorseshoeRegressor(warm_start=True),
    *(HorseshoeRegressor(family=family) for family in FAMILIES if family != "gaussian"),
    HorseshoeRegressor(family="poisson", prior="lasso", standardize=False),
    HorseshoeRegressor(family=NegativeBinomial(size=2.0), expectation="approximate"),
    HorseshoeRegressor(family=StudentNoise(df=4.0), coordinate=1.5),
    HorseshoeClassifier(),
    HorseshoeClassifier(weights="irls", class_weight="balanced"),
    HorseshoeClassifier(prior="ridge", expectation="approximate", warm_start=True),
]
