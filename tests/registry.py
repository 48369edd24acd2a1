"""Every prior, form, family, home of the data and estimator: the sweeps test what is listed here."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

import oracles
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    AdaptiveSurvival,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
)
from horseshoe.conditional.dual import Dual, DualKernel
from horseshoe.conditional.gradient import Gradient
from horseshoe.conditional.orthogonal import Orthogonal
from horseshoe.conditional.primal import PrimalKernel
from horseshoe.data.chunked import Chunked
from horseshoe.data.dense import Dense
from horseshoe.data.sources.parts import ArrayParts
from horseshoe.data.sparse import Sparse
from horseshoe.em.schedule import approximate
from horseshoe.families import FAMILIES, NegativeBinomial, Quantile, Tweedie
from horseshoe.families import StudentT as StudentNoise
from horseshoe.priors import (
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

AVERAGED = {family: make for family, make in FAMILIES.items() if family != "ordinal"}
"""The families of an average whose training sets share nothing but rows; `test_components` has levels too."""


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
LAMBDA_POWERS = [2.0, 1.75, 1.5, 1.0, 0.5]


def _single(problem, d):
    scaled = problem.weighted.scaled(np.sqrt(d), np.float32)
    return Dual(problem, np.sqrt(d), scaled.outer(), scaled)


def _gradient(problem, d):
    return Gradient(problem, d, np.random.default_rng(0))


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
    Form("gradient", _gradient, moments=False, exact=False, rtol=1e-6),
]


class LongDense(Dense):
    """An array that is taken to be too long to be copied, whatever its size."""

    _is_long = True


# homes of the data: each makes columns of an array, and must say of them what `Dense` says
COLUMNS = {
    "fortran": lambda x: Dense(np.asfortranarray(x)),
    "c": lambda x: Dense(np.ascontiguousarray(x)),
    "csc": lambda x: Sparse(sparse.csc_array(x)),
    "csr-matrix": lambda x: Sparse(sparse.csr_matrix(x)),
    "coo": lambda x: Sparse(sparse.coo_array(x)),
    "long": LongDense,
    "moved": lambda x: Dense(x - x[0]).less(np.ones((len(x), 1)), -x[0][:, None]),
    "row chunks": lambda x: Chunked(ArrayParts(x, axis=0, step=7)),
    "column blocks": lambda x: Chunked(ArrayParts(x, axis=1, step=16)),
}
IN_PARTS = ("row chunks", "column blocks")
"""Those that refuse units in which squares are out of range."""


def _chunks(x, rows=3, columns=3):
    import dask.array

    return dask.array.from_array(x, chunks=(max(1, len(x) // rows), max(1, x.shape[1] // columns)))


def _frame(x):
    import dask.dataframe
    import pandas

    table = pandas.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])])
    return dask.dataframe.from_pandas(table, npartitions=3)


# Dask collections of an array; the columns made of them are "row chunks" and "column blocks", which are swept
DASK = {
    "rows": lambda x: _chunks(x, columns=1),
    "columns": lambda x: _chunks(x, rows=1),
    "both": _chunks,
    "sparse": lambda x: _chunks(x).map_blocks(sparse.csr_array),
    "frame": _frame,
}

SCHEDULES = {"plain": {"fast": False}, "fast": {"fast": True}}

# without "binomial", whose y is between 0 and 1: scikit-learn's checks have others
# all but expectation="stochastic", whose draws cannot be the same for a repeated row and for a weight of 2
ESTIMATORS = [
    HorseshoeRegressor(),
    HorseshoeRegressor(prior="lasso"),
    HorseshoeRegressor(prior="ridge", fit_intercept=False, standardize=False),
    HorseshoeRegressor(prior="student_t", lambda_power=1.0),
    HorseshoeRegressor(prior="strawderman_berger", expectation="approximate"),
    HorseshoeRegressor(prior="normal_gamma", lambda_power=1.5, start="variance"),
    HorseshoeRegressor(prior="horseshoe_like"),
    HorseshoeRegressor(tau=0.1, sigma2=1.0),
    HorseshoeRegressor(warm_start=True),
    HorseshoeRegressor(feature_groups={"a": [0]}, unpenalized=None, prior_scale={0: 2.0}),
    *(HorseshoeRegressor(family=family) for family in FAMILIES if family not in ("gaussian", "binomial")),
    HorseshoeRegressor(family=Tweedie(power=1.1, unit=1.0)),
    HorseshoeRegressor(family=Quantile(level=0.9), expectation="approximate"),
    HorseshoeRegressor(family="poisson", prior="lasso", standardize=False),
    HorseshoeRegressor(family=NegativeBinomial(size=2.0), expectation="approximate"),
    HorseshoeRegressor(family=StudentNoise(df=4.0), lambda_power=1.5),
    HorseshoeClassifier(),
    HorseshoeClassifier(augmentation="irls", class_weight="balanced"),
    HorseshoeClassifier(prior="ridge", expectation="approximate", warm_start=True),
    HorseshoeClassifier(multi_class="multinomial"),
    AdaptiveRegressor(),
    AdaptiveRegressor(family="poisson", cv=5),
    AdaptiveRegressor(family="student_t", cv=5, selection="paired"),
    AdaptiveRegressor(family=Quantile(level=0.8), cv=3),
    AdaptiveRegressor(family="huber", cv=3),
    AdaptiveRegressor(family="gamma", cv=3),
    AdaptiveRegressor(family="tweedie", cv=3),
    AdaptiveRegressor(family="ordinal", cv=3),
    AdaptiveClassifier(cv=3),
    AdaptiveClassifier(cv=3, multi_class="multinomial"),
    HorseshoeSurvival(),
    HorseshoeSurvival(ties="breslow", prior="ridge", standardize=False),
    HorseshoeSurvival(prior="lasso", expectation="approximate", warm_start=True),
    AdaptiveSurvival(),
    AdaptiveSurvival(cv=3, ties="breslow", components=["ridge", "mixture_forward"], selection="paired"),
]
