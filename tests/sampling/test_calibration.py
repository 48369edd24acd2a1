"""Slow statistics of the sampler: parameters are drawn from the prior, data from them, and both must fit.

Nothing but the sampler itself comes from `farrier`: priors and data are simulated with NumPy.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special, stats

import oracles
from family_cases import CompoundPoisson
from farrier import sample_posterior
from farrier.data.dense import Dense
from farrier.families import (
    Binomial,
    Gaussian,
    Huber,
    Laplace,
    NegativeBinomial,
    Poisson,
    Quantile,
    StudentT,
    Tweedie,
)
from farrier.priors import (
    GammaScale,
    HalfCauchy,
    Horseshoe,
    HorseshoeLike,
    InverseGammaScale,
    InvertedBeta,
    NormalGamma,
    Ridge,
    StrawdermanBerger,
    estimated,
)
from farrier.sampling.gibbs import Model, State
from farrier.sampling.metropolis import sampler
from farrier.sampling.streams import Streams
from registry import ESTIMATING, LOCAL_PRIORS, name

pytest.importorskip("polyagamma")
pytestmark = pytest.mark.slow

LOCATION = ("gaussian", "student_t", "laplace", "quantile", "huber")
LIKELIHOODS = {"quantile": Quantile(level=0.8), "tweedie": Tweedie(unit=1.0)}
KNOWN = {"gamma": 0.5, "tweedie": 0.8}
"""The sigma2 of amounts, which must be known here: 1/sigma2 is no density to draw it from."""
EDGE = 1.345
"""The threshold of Huber's density."""


# --- the prior and the data, from their definitions ------------------------------


def draw_shapes(prior, rng):
    """Draw what the prior leaves to be estimated, by name."""
    return {key: oracles.draw_shape(rng) for key in estimated(prior)}


def draw_lambda2(prior, size, rng, shapes=None):
    """Draw the local scales; ``shapes`` are what the prior leaves to be estimated."""
    if isinstance(prior, InvertedBeta):
        a, b = ({"a": prior.a, "b": prior.b} | (shapes or {})).values()
        return rng.standard_gamma(a, size) / rng.standard_gamma(b, size)
    if isinstance(prior, GammaScale):
        return rng.standard_gamma(prior.shape, size) / prior.rate
    if isinstance(prior, InverseGammaScale):
        return prior.scale / rng.standard_gamma(prior.shape, size)
    if isinstance(prior, HorseshoeLike):
        return (rng.random(size) / rng.standard_normal(size)) ** 2
    assert isinstance(prior, Ridge)
    return np.ones(size)


def draw_tau(tau_max, scale, rng, size=None):
    """Draw from half-Cauchy(0, scale) below tau_max, by inversion."""
    return scale * np.tan(rng.random(size) * np.arctan(tau_max / scale))


def draw_nuisance(family, rng):
    """Draw the degrees of freedom, or the size, by rejection; NaN where there is neither."""
    proposals = {
        "student_t": (2.1, 200.0, lambda: 10.0 * rng.standard_gamma(2.0)),
        "negative_binomial": (0.01, 1000.0, lambda: rng.standard_cauchy() ** -2.0),
    }
    if family not in proposals:
        return np.nan
    low, high, propose = proposals[family]
    while not low < (value := propose()) < high:
        pass
    return value


def draw_y(family, eta, nuisance, rng):
    """Draw the data; the noise of location families has scale 1."""
    if family == "gaussian":
        return eta + rng.standard_normal(eta.shape)
    if family == "student_t":
        return eta + rng.standard_normal(eta.shape) / np.sqrt(rng.chisquare(nuisance, eta.shape) / nuisance)
    if family == "laplace":
        return eta + rng.exponential(size=eta.shape) - rng.exponential(size=eta.shape)
    if family == "quantile":  # of two exponential tails the lower one has a share of 0.8
        return eta + rng.exponential(1.0 / 1.6, eta.shape) - rng.exponential(1.0 / 0.4, eta.shape)
    if family == "huber":
        return eta + np.array([draw_huber(rng) for _ in range(eta.size)])
    if family == "binomial":
        return (rng.random(eta.shape) < special.expit(eta)) * 1.0
    mean = np.exp(eta)
    if family == "gamma":
        return mean * KNOWN["gamma"] * rng.standard_gamma(1.0 / KNOWN["gamma"], eta.shape)
    if family == "tweedie":
        return CompoundPoisson(eta, KNOWN["tweedie"], 1.5).rvs(rng)
    if family == "negative_binomial":
        mean = mean * rng.gamma(nuisance, 1.0 / nuisance, eta.shape)
    return rng.poisson(mean) * 1.0


def huber_loss(u):
    """Return rho: a square in the middle, a line beyond."""
    return np.where(np.abs(u) < EDGE, 0.5 * u**2, EDGE * np.abs(u) - 0.5 * EDGE**2)


def draw_huber(rng):
    """Draw from exp(-rho), by rejection from Laplace noise with the same tails."""
    while True:
        u = rng.laplace(scale=1.0 / EDGE)
        if rng.random() < np.exp(EDGE * abs(u) - 0.5 * EDGE**2 - huber_loss(u)):
            return u


def log_likelihood(family, y, eta, sigma, nuisance):
    """Return the log likelihood; the rows are the last axis."""
    if family == "gaussian":
        terms = stats.norm.logpdf(y, eta, sigma)
    elif family == "student_t":
        terms = stats.t.logpdf(y, nuisance, eta, sigma)
    elif family == "laplace":
        terms = stats.laplace.logpdf(y, eta, sigma)
    elif family == "quantile":
        u = (y - eta) / sigma
        terms = -np.abs(u) - 0.6 * u - np.log(sigma)
    elif family == "huber":
        terms = -huber_loss((y - eta) / sigma) - np.log(sigma)
    elif family == "gamma":
        terms = stats.gamma.logpdf(y, sigma**-2, scale=sigma**2 * np.exp(eta))
    elif family == "tweedie":
        terms = CompoundPoisson(eta, float(KNOWN["tweedie"]), 1.5).logpdf(y)
    elif family == "binomial":
        terms = stats.bernoulli.logpmf(y, special.expit(eta))
    elif family == "poisson":
        terms = stats.poisson.logpmf(y, np.exp(eta))
    else:
        terms = stats.nbinom.logpmf(y, nuisance, nuisance / (nuisance + np.exp(eta)))
    return terms.sum(axis=-1)


# --- simulation-based calibration ------------------------------------------------

REPLICATIONS, KEPT, WARMUP = 200, 9, 200


@dataclass(frozen=True)
class Case:
    """A model to calibrate: where nothing else is said, tau is half-Cauchy(0, 1) below tau_max."""

    family: str
    n: int
    p: int
    prior: object
    tau_max: float | None = 1.0
    thin: int = 20
    spread: float = 1.0
    """Of the columns of X."""

    @property
    def name(self):
        tail = "-free" if self.tau_max is None else ""
        return f"{self.family}-{self.n}x{self.p}-{type(self.prior).__name__.lower()}{tail}"

    @property
    def location(self):
        return self.family in LOCATION


SHAPES = InvertedBeta(a="estimate", b="estimate")
CASES = [
    Case("gaussian", 20, 4, Horseshoe(), thin=30),
    Case("gaussian", 8, 12, Horseshoe(), tau_max=None),
    Case("student_t", 20, 4, NormalGamma(), thin=30),
    Case("student_t", 8, 12, Horseshoe()),
    Case("laplace", 20, 4, Horseshoe(), tau_max=None, thin=30),
    Case("laplace", 8, 12, NormalGamma()),
    Case("binomial", 30, 4, Horseshoe(), tau_max=0.5, thin=30),
    Case("binomial", 8, 12, NormalGamma(), tau_max=2.0),
    Case("negative_binomial", 20, 4, NormalGamma(), tau_max=0.3, thin=30, spread=0.7),
    Case("negative_binomial", 8, 12, NormalGamma(), tau_max=0.5, spread=0.7),
    Case("poisson", 20, 4, NormalGamma(), tau_max=0.3, spread=0.7),
    Case("poisson", 8, 12, NormalGamma(), tau_max=0.5, spread=0.7),
    Case("quantile", 20, 4, Horseshoe(), thin=30),
    Case("quantile", 8, 12, NormalGamma()),
    Case("huber", 20, 4, NormalGamma(), thin=30),
    Case("huber", 8, 12, NormalGamma(), thin=30),
    Case("gamma", 20, 4, NormalGamma(), tau_max=0.5, spread=0.7),
    Case("gamma", 8, 12, NormalGamma(), tau_max=0.5, spread=0.7),
    Case("tweedie", 20, 4, NormalGamma(), tau_max=0.5, spread=0.7),
    Case("gaussian", 20, 4, SHAPES, thin=60),
    Case("gaussian", 8, 12, SHAPES, tau_max=None, thin=60),
    # with b estimated too, one data set in seven is separated by effects of up to 1e5, where no chain gets in
    # a few hundred sweeps: test_parameters_and_data_in_turn_stay_with_their_prior has that
    Case("binomial", 30, 4, InvertedBeta(a="estimate", b=1.0), tau_max=0.5, thin=40),
]


def simulate(case, rng):
    """Return X, y and the truth in the user's units.

    Location families have an intercept of 0 and noise of scale 1, for others there is no intercept. The flat
    intercept and p(sigma2) = 1/sigma2 are the right Haar measure of shifts and scales, under which the model
    does not change: ranks are uniform whatever the true intercept and sigma2 are.
    """
    X = 0.5 + case.spread * rng.standard_normal((case.n, case.p))
    top, scale = (case.tau_max, 1.0) if case.tau_max is not None else (np.inf, case.n**-0.5)
    tau = draw_tau(top, scale, rng)
    shapes = draw_shapes(case.prior, rng)
    coef = tau * np.sqrt(draw_lambda2(case.prior, case.p, rng, shapes)) * rng.standard_normal(case.p)
    if case.location:  # the prior acts on columns of unit variance
        coef /= X.std(axis=0)
    coef *= np.sqrt(KNOWN.get(case.family, 1.0))
    nuisance = draw_nuisance(case.family, rng)
    y = draw_y(case.family, X @ coef, nuisance, rng)
    return X, y, {"coef": coef, "tau2": tau**2, "nuisance": nuisance, "shapes": shapes}


def sample(case, X, y, seed, **plan):
    """Sample in this process; short chains are what is wanted, so no word on them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return sample_posterior(
            X, y, LIKELIHOODS.get(case.family, case.family), case.prior, random_state=seed, n_jobs=1,
            tau_max=case.tau_max, sigma2=KNOWN.get(case.family, "estimate"),
            fit_intercept=case.location, standardize=case.location, **plan,
        )  # fmt: skip


def statistics(case, X, y, coef, intercept, tau2, sigma2, nuisance):
    """Return what is ranked, by name; the draw is the first axis of all."""
    eta = coef @ X.T + intercept[:, None]
    found = {"first": coef[:, 0], "last": coef[:, -1], "sum of squares": (coef**2).sum(axis=1), "tau2": tau2}
    if case.location:
        found |= {"intercept": intercept, "sigma2": sigma2}
    if np.isfinite(nuisance).all():
        found["nuisance"] = nuisance
    found["fit"] = log_likelihood(case.family, y, eta, np.sqrt(sigma2)[:, None], nuisance[:, None])
    return found


def rank_of_truth(case, seed):
    """Return among how many of the draws each statistic of the truth is the larger."""
    rng = np.random.default_rng(seed)
    X, y, truth = simulate(case, rng)
    plan = {"n_chains": 1, "n_warmup": WARMUP, "n_draws": KEPT, "thin": case.thin}
    posterior = sample(case, X, y, int(rng.integers(2**31)), **plan)
    nuisance = posterior.nuisance[0] if posterior.nuisance is not None else np.full(KEPT, np.nan)
    chain = (posterior.coef[0], posterior.intercept[0], posterior.tau2[0], posterior.sigma2[0])
    drawn = statistics(case, X, y, *chain, nuisance)
    one = np.ones(1)
    exact = statistics(
        case,
        X,
        y,
        truth["coef"][None],
        0.0 * one,
        truth["tau2"] * one,
        KNOWN.get(case.family, 1.0) * one,
        truth["nuisance"] * one,
    )
    for key, value in truth["shapes"].items():
        drawn[key], exact[key] = getattr(posterior, key)[0], value
    return {key: int((drawn[key] < exact[key]).sum()) for key in drawn}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ranks_of_the_truth_are_uniform(case):
    """Simulation-based calibration (Talts et al.): 200 data sets, the rank of the truth among 9 draws.

    The draws are 20 to 30 sweeps apart, more than the slowest of them, tau2, takes to forget. Each statistic
    is tested by chi-square on the 10 ranks; the level of 1 % is that of a case, so that each of its K = 5 to
    8 statistics is tested at 1 % / K: of ten sets of seeds about one fails somewhere by chance.
    """
    seeds = [[1000 + CASES.index(case), replication] for replication in range(REPLICATIONS)]
    ranks = [rank_of_truth(case, seed) for seed in seeds]
    for key in ranks[0]:
        counts = np.bincount([rank[key] for rank in ranks], minlength=KEPT + 1)
        found = stats.chisquare(counts)
        assert found.pvalue > 0.01 / len(ranks[0]), (key, counts, found.pvalue)


# --- coverage --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "plan"),
    [
        (Case("gaussian", 20, 4, Horseshoe(), tau_max=None), {"n_chains": 4, "n_draws": 250}),
        (Case("binomial", 20, 4, NormalGamma(), tau_max=2.0), {"n_chains": 1, "n_draws": 600}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_intervals_cover_as_often_as_they_say(case, plan):
    """95 % intervals over 500 data sets from the prior, all coefficients together: 93 to 97 %.

    The ends are quantiles of draws worth a few hundred independent ones, so that a little less than 95 % is
    expected: 0.95 (N - 1) / (N + 1) for N of them, which is 94.4 % for N = 300.
    """
    inside, narrow = [], []
    for replication in range(500):
        rng = np.random.default_rng([1000, replication])
        X, y, truth = simulate(case, rng)
        posterior = sample(case, X, y, replication, n_warmup=60, **plan)
        for level, found in ((0.95, inside), (0.5, narrow)):
            low, high = posterior.interval(level).T
            found.append((low <= truth["coef"]) & (truth["coef"] <= high))
    assert 0.93 < np.mean(inside) < 0.97
    assert 0.46 < np.mean(narrow) < 0.54


# --- the joint distribution of parameters and data -------------------------------

TAU_MAX = 1.0


@dataclass(frozen=True)
class Joint:
    """A model on the scale on which the prior acts, for tests of `farrier.sampling.gibbs` itself.

    With ``proper`` sigma2 is known to be 1 and there is no intercept; otherwise a location family has both,
    with their improper priors.
    """

    family: str
    likelihood: object
    prior: object
    n: int
    p: int
    proper: bool = False

    @property
    def name(self):
        tail = "-proper" * self.proper + "-shapes" * bool(estimated(self.prior))
        return f"{self.family}-{self.n}x{self.p}{tail}"

    @property
    def free(self):
        return self.family in LOCATION and not self.proper

    def start(self, rng):
        """Draw the parameters from the prior, where it is one."""
        one = np.ones(1)
        tau2 = draw_tau(TAU_MAX, 1.0, rng) ** 2 * one
        shapes = draw_shapes(self.prior, rng)
        lambda2 = draw_lambda2(self.prior, (1, self.p), rng, shapes)
        nuisance = draw_nuisance(self.family, rng)
        return State(
            coef=np.sqrt(tau2 * lambda2) * rng.standard_normal((1, self.p)),
            intercept=0.0 * one,
            lambda2=lambda2,
            tau2=tau2,
            sigma2=1.0 * one,
            nuisance=np.nan_to_num(nuisance) * one,
            shrinkage=np.zeros((1, self.p)),
            angle=1.0 * one,
            accepted=0.0 * one,
            reference=np.zeros((1, self.n)),
            eta_sum=np.zeros((1, self.n)),
            shapes=np.array([list(shapes.values())]),
            source=Streams([rng]),
        )

    def data(self, X, state, rng):
        """Draw y given the parameters."""
        eta = X @ state.coef[0] + state.intercept[0]
        if self.family not in LOCATION:
            return draw_y(self.family, eta, state.nuisance[0], rng)
        return eta + np.sqrt(state.sigma2[0]) * draw_y(self.family, np.zeros(self.n), state.nuisance[0], rng)

    def sweep(self, X, y, state):
        """Move the parameters by one sweep given y: of a new sampler, for it holds what depends on y."""
        level = y.mean() if self.free and self.family == "gaussian" else 0.0  # which wants centred data
        zero, one = np.zeros(self.n), np.ones(self.n)
        known = None if self.free else 1.0
        tau = HalfCauchy(TAU_MAX)
        columns, center = Dense(X), self.free
        model = Model(columns, y - level, zero, one, self.likelihood, self.prior, tau, known, center)
        sampler(model, n_warmup=0).sweep(state)
        state.intercept += level

    def columns(self, rng):
        """Draw X, centred where there is an intercept."""
        X = rng.standard_normal((self.n, self.p)) / np.sqrt(self.p)
        return np.asfortranarray(X - X.mean(axis=0) if self.free else X)

    def seen(self, X, y, state):
        """Return the parameters in units of sigma, and the residuals or what takes their place."""
        sigma = np.sqrt(state.sigma2[0])
        eta = X @ state.coef[0] + state.intercept[0]
        rest = (y - eta) / sigma if self.family in LOCATION else eta * (2.0 * (y > 0.0) - 1.0)
        shapes = np.append(state.shapes[0], np.ones(2))[:2]
        values = (state.coef[0] / sigma, state.lambda2[0], state.tau2, state.nuisance, shapes, rest)
        return np.concatenate(values)

    def bounded(self, seen):
        """Return bounded functions of what is seen, one a column."""
        ends = np.cumsum([self.p, self.p, 1, 1, 2])
        coef, lambda2, tau2, nuisance, shapes, rest = np.split(seen, ends, axis=-1)
        log_shapes = np.arctan(np.log(shapes))
        first, wide = np.tanh(coef[..., 0]), np.arctan(np.log(lambda2[..., 0]) / 3.0)
        residual = np.tanh(0.5 * np.abs(rest).mean(axis=-1))
        return np.stack(
            [
                first,
                first**2,
                np.tanh(np.abs(coef).sum(axis=-1)),
                np.arctan(np.log(tau2[..., 0])),
                wide,
                wide * np.tanh(lambda2[..., 1]),
                wide * np.sqrt(tau2[..., 0]),
                np.arctan(np.log1p(nuisance[..., 0]) - 1.0),
                first * np.tanh(rest[..., 0]),
                residual,
                residual * np.sqrt(tau2[..., 0]),
                residual * first**2,
                log_shapes[..., 0],
                log_shapes[..., 1],
                log_shapes[..., 0] * wide,
                log_shapes[..., -1] * np.arctan(np.log(tau2[..., 0])),
            ],
            axis=-1,
        )


def standardised_gap(gap, error):
    """Return gaps in standard errors; what cannot vary (lambda2 of ridge) must not."""
    varies = error > 1e-12
    np.testing.assert_allclose(gap[~varies], 0.0, atol=1e-12)
    return gap[varies] / error[varies]


def restart_scores(joint, n_chains, n_sweeps, seed):
    """Many short chains of the same kind, each from the prior: before and after a sweep all is the same.

    This holds for the improper priors too, for functions that neither shifts nor scales of y change.
    """
    rng = np.random.default_rng(seed)
    before = np.empty((n_chains, n_sweeps, 2 * joint.p + 4 + joint.n))
    after = np.empty_like(before)
    for chain in range(n_chains):
        X, state = joint.columns(rng), joint.start(rng)
        for sweep in range(n_sweeps):
            y = joint.data(X, state, rng)
            before[chain, sweep] = joint.seen(X, y, state)
            joint.sweep(X, y, state)
            after[chain, sweep] = joint.seen(X, y, state)
    gap = (joint.bounded(after) - joint.bounded(before)).sum(axis=1)
    return standardised_gap(gap.mean(axis=0), gap.std(axis=0) / np.sqrt(n_chains))


@pytest.mark.parametrize(
    "joint",
    [
        Joint("gaussian", Gaussian(), StrawdermanBerger(), 6, 3, proper=True),
        Joint("gaussian", Gaussian(), Horseshoe(), 3, 5, proper=True),
        Joint("gaussian", Gaussian(), Horseshoe(), 6, 3),
        Joint("gaussian", Gaussian(), Horseshoe(), 4, 6),
        Joint("binomial", Binomial(), Horseshoe(), 8, 3),
        Joint("binomial", Binomial(), Horseshoe(), 4, 6),
        Joint("student_t", StudentT(), Horseshoe(), 6, 3),
        Joint("student_t", StudentT(), Horseshoe(), 4, 6),
        Joint("laplace", Laplace(), Horseshoe(), 6, 3),
        Joint("laplace", Laplace(), Horseshoe(), 4, 6),
        Joint("quantile", Quantile(level=0.8), Horseshoe(), 6, 3),
        Joint("quantile", Quantile(level=0.8), Horseshoe(), 4, 6),
        Joint("huber", Huber(), Horseshoe(), 6, 3),
        Joint("gaussian", Gaussian(), SHAPES, 4, 6),
        Joint("student_t", StudentT(), SHAPES, 6, 3),
        Joint("binomial", Binomial(), SHAPES, 4, 6),
    ],
    ids=lambda joint: joint.name,
)
def test_parameters_and_data_in_turn_stay_with_their_prior(joint):
    """Geweke's test of the joint distribution, in many chains that start from it: none has to forget.

    16 cases of 11 to 15 functions: one set of seeds in fifteen has some |z| above 3.5 by chance.
    """
    assert np.abs(restart_scores(joint, 2000, 5, [50, joint.n, joint.p])).max() < 3.5


@pytest.mark.parametrize("prior", [*(prior for prior, _ in LOCAL_PRIORS), *ESTIMATING], ids=name)
def test_sweeps_leave_the_joint_distribution_as_it_is_for_every_prior(prior):
    """14 priors of 11 to 15 functions: one set of seeds in fifteen has some |z| above 3.5 by chance."""
    joint = Joint("gaussian", Gaussian(), prior, 6, 3)
    assert np.abs(restart_scores(joint, 1500, 6, [60])).max() < 3.5


@pytest.mark.parametrize(
    "joint",
    [
        Joint("gaussian", Gaussian(), Horseshoe(), 4, 6),
        Joint("student_t", StudentT(), Horseshoe(), 10, 3),
        Joint("laplace", Laplace(), Horseshoe(), 10, 3),
        Joint("quantile", Quantile(level=0.8), Horseshoe(), 10, 3),
        Joint("huber", Huber(), NormalGamma(), 10, 3),
        Joint("binomial", Binomial(), Horseshoe(), 10, 3),
        Joint("negative_binomial", NegativeBinomial(), NormalGamma(), 10, 3),
        Joint("poisson", Poisson(), NormalGamma(), 10, 3),
        Joint("poisson", Poisson(), InvertedBeta(a="estimate", b=20.0), 10, 3),
    ],
    ids=lambda joint: joint.name,
)
def test_sweeps_leave_the_joint_distribution_as_it_is_for_every_family(joint):
    """9 cases of 11 to 15 functions: one set of seeds in twenty-five has some |z| above 3.5 by chance."""
    assert np.abs(restart_scores(joint, 1500, 6, [70])).max() < 3.5
