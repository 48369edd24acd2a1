"""Every prior, form, family, home of the data and estimator: the sweeps test what is listed here."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

import oracles
from farrier import HorseshoeClassifier, HorseshoeClassifierCV, HorseshoeRegressor, HorseshoeRegressorCV
from farrier.conditional.dual import Dual, DualKernel
from farrier.conditional.orthogonal import Orthogonal
from farrier.conditional.primal import PrimalKernel
from farrier.data.dense import Dense
from farrier.data.sparse import Sparse
from farrier.em.schedule import approximate
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
# priors that leave something to be estimated, which only the sampler does
ESTIMATING = [
    InvertedBeta(a="estimate", b="estimate"),
    InvertedBeta(a="estimate", b=0.8),
    StrawdermanBerger(b="estimate"),
]
GLOBAL_PRIORS = [HalfCauchy(), HalfCauchy(tau_max=0.3), InverseGammaGlobal(), FixedScale(tau2=0.05)]
COORDINATES = [2.0, 1.75, 1.5, 1.0, 0.5]


def _single(problem, d):
    scaled = problem.weighted.scaled(np.sqrt(d), np.float32)
    return Dual(problem, np.sqrt(d), scaled.outer(), scaled)


@dataclass(frozen=True)
class Form:
    """A form of b given the scales, and what it promises: exact moments to ``rtol``, or only the mean."""

    name: str
    given: object
    moments: bool = True
    exact: bool = True
    rtol: float = 1e-10
    orthogonal_only: bool = False


FORMS = [
    Form("primal", lambda problem, d: PrimalKernel(problem, d).at(1.0)),
    Form("dual", lambda problem, d: DualKernel(problem, d).at(1.0)),
    Form("dual-single", _single, exact=False, rtol=2e-4),
    Form("orthogonal", Orthogonal, orthogonal_only=True),
    Form("diagonal", approximate, moments=False, exact=False),
]

# homes of the data: each makes columns of an array, and must say of them what `Dense` says
COLUMNS = {
    "fortran": lambda x: Dense(np.asfortranarray(x)),
    "c": lambda x: Dense(np.ascontiguousarray(x)),
    "csc": lambda x: Sparse(sparse.csc_array(x)),
    "csr-matrix": lambda x: Sparse(sparse.csr_matrix(x)),
    "coo": lambda x: Sparse(sparse.coo_array(x)),
}

SCHEDULES = {"plain": {"fast": False}, "fast": {"fast": True}}

# without "binomial", whose y is between 0 and 1: scikit-learn's checks have others
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
    *(HorseshoeRegressor(family=family) for family in FAMILIES if family not in ("gaussian", "binomial")),
    HorseshoeRegressor(family="poisson", prior="lasso", standardize=False),
    HorseshoeRegressor(family=NegativeBinomial(size=2.0), expectation="approximate"),
    HorseshoeRegressor(family=StudentNoise(df=4.0), coordinate=1.5),
    HorseshoeClassifier(),
    HorseshoeClassifier(weights="irls", class_weight="balanced"),
    HorseshoeClassifier(prior="ridge", expectation="approximate", warm_start=True),
    HorseshoeClassifier(multi_class="multinomial"),
    HorseshoeRegressorCV(),
    HorseshoeRegressorCV(family="poisson", cv=5),
    HorseshoeRegressorCV(family="student_t", cv=5, selection="paired"),
    HorseshoeClassifierCV(cv=3),
]
