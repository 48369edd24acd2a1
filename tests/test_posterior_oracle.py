"""The sampler against slow truths: quadrature, closed forms, and distributions whose CDF is known."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize, special, stats

import oracles
from farrier import sample_posterior
from farrier.conditional.sampled import Conditional, draw_coefficients
from farrier.data.design import System
from farrier.families import Binomial, Laplace, NegativeBinomial, Poisson
from farrier.families import StudentT as StudentNoise
from farrier.priors import GammaScale, HalfCauchy, HorseshoeLike, InverseGammaGlobal, InvertedBeta
from farrier.sampling.diagnostics import mcse_mean
from farrier.sampling.streams import Streams
from farrier.variates import gamma_above, power_exponential_step, reciprocal_inverse_gaussian, slice_step
from registry import GLOBAL_PRIORS, LOCAL_PRIORS, name

pytest.importorskip("polyagamma")

ERRORS = 4.5
"""Monte Carlo standard errors within which a mean must be; about 100 are compared here."""
LEVEL = 1e-4
"""Of each Kolmogorov-Smirnov test; about 80 are made here."""


def quiet_posterior(*args, **kwargs):
    """Sample in this process; short chains are what is wanted, so no word on them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return sample_posterior(*args, n_jobs=1, **kwargs)


def assert_follows(draws, log_density, low, high, level=LEVEL):
    """Compare positive draws with a density of their logarithm on (low, high), by Kolmogorov and Smirnov."""
    t = np.linspace(np.log(low), np.log(high), 40_001)
    with np.errstate(all="ignore"):
        height = log_density(t)
    height = np.exp(height - height.max())
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]))])
    found = stats.kstest(draws, lambda v: np.interp(np.log(v), t, mass / mass[-1]))
    assert found.pvalue > level, found


# --- one column, quadrature ------------------------------------------------------


def _normal(y, eta, scale, nuisance):
    return -0.5 * ((y - eta) / scale) ** 2 - np.log(scale)


def _student(y, eta, scale, nuisance):
    df = nuisance
    constant = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df) - 0.5 * np.log(df)
    return constant - 0.5 * (df + 1.0) * np.log1p(((y - eta) / scale) ** 2 / df) - np.log(scale)


def _laplace(y, eta, scale, nuisance):
    return -np.abs(y - eta) / scale - np.log(scale)


def _binomial(y, eta, scale, nuisance):
    return y * eta - np.logaddexp(0.0, eta)


def _poisson(y, eta, scale, nuisance):
    return y * eta - np.exp(eta)


def _negative_binomial(y, eta, scale, nuisance):
    size, mu = nuisance, np.exp(eta)
    choose = special.gammaln(y + size) - special.gammaln(size)
    return choose + size * np.log(size / (size + mu)) + y * np.log(mu / (size + mu))


def _log_prior_df(df):
    return np.where((df > 2.1) & (df < 200.0), stats.gamma.logpdf(df, 2.0, scale=10.0), -np.inf)


def _log_prior_size(size):
    """1 / sqrt(size) is half-Cauchy: the density of s = size^-1/2 times |ds/d size|."""
    inside = stats.halfcauchy.logpdf(size**-0.5) + np.log(0.5 * size**-1.5)
    return np.where((size > 0.01) & (size < 1000.0), inside, -np.inf)


@dataclass(frozen=True)
class Family:
    """A family as its definition has it; the last unknown is free, fixed, or not there."""

    name: str
    log_density: object
    location: bool
    given: object = None
    fixed: float | None = None
    log_prior: object = None
    bounds: tuple[float, float] = (0.0, np.inf)

    @property
    def argument(self):
        return self.name if self.given is None else self.given


FAMILIES = [
    Family("gaussian", _normal, True),
    Family("student_t", _student, True, StudentNoise(df=4.0), fixed=4.0),
    Family("student_t", _student, True, log_prior=_log_prior_df, bounds=(2.1, 200.0)),
    Family("laplace", _laplace, True),
    Family("binomial", _binomial, False),
    Family("poisson", _poisson, False),
    Family("negative_binomial", _negative_binomial, False, NegativeBinomial(size=1.5), fixed=1.5),
    Family("negative_binomial", _negative_binomial, False, log_prior=_log_prior_size, bounds=(0.01, 1000.0)),
]


def _case_name(family):
    return family.name + ("" if family.log_prior is None else "-free")


def _data(family, known):
    """Twelve rows; with ``known`` an offset and weights, fractional where the family takes them."""
    rng = np.random.default_rng([7, known])
    n = 12
    x = 1.0 + 2.0 * rng.standard_normal(n)
    offset = 0.7 * rng.standard_normal(n) if known else np.zeros(n)
    weights = np.ones(n)
    if known:
        whole = family.name in ("student_t", "laplace")
        weights = rng.integers(1, 4, n) * 1.0 if whole else rng.uniform(0.3, 3.0, n)
    eta = 0.4 + 0.5 * (x - 1.0) + offset
    if family.location:
        y = 10.0 * eta + 6.0 * rng.standard_t(4.0, n)
        return x, y, 10.0 * offset, weights
    if family.name == "binomial":
        trials = weights if known else np.ones(n)
        p = special.expit(eta)
        y = np.clip(np.round(trials * p + 0.4 * rng.standard_normal(n)) / np.ceil(trials), 0.0, 1.0)
        y = y if known else (rng.random(n) < p) * 1.0
        return x, y, offset, weights
    return x, rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, n)) * 1.0, offset, weights


class Quadrature:
    """The posterior of (intercept, b, log sigma2, log nuisance), those that there are, on a grid.

    b has prior variance sigma2 tau2 / s^2, s the standard deviation of x by the weights; the intercept is
    that of the centred column here, and flat; log sigma2 is flat.
    """

    def __init__(self, family, x, y, offset, weights, tau):
        self.family, self.y, self.offset, self.weights, self.tau = family, y, offset, weights, tau
        self.center = np.average(x, weights=weights)
        self.spread = np.sqrt(np.average((x - self.center) ** 2, weights=weights))
        self.x = x - self.center

    def log_posterior(self, *unknowns):
        """Return the log density at broadcastable arrays of the unknowns."""
        rest = list(unknowns[2:])
        log_sigma2 = rest.pop(0) if self.family.location else 0.0
        log_nuisance = rest.pop(0) if rest else None
        scale = np.exp(0.5 * log_sigma2)
        nuisance = self.family.fixed if log_nuisance is None else np.exp(log_nuisance)
        total = _normal(unknowns[1], 0.0, scale * self.tau / self.spread, None)
        if log_nuisance is not None:
            total = total + self.family.log_prior(nuisance) + log_nuisance
        for x, y, offset, weight in zip(self.x, self.y, self.offset, self.weights, strict=True):
            eta = unknowns[0] + unknowns[1] * x + offset
            total = total + weight * self.family.log_density(y, eta, scale, nuisance)
        return total

    def box(self):
        """Return the ends of the grid: the mode and many standard deviations either way."""
        start = [0.0, 0.0]
        if self.family.location:
            start = [np.mean(self.y - self.offset), 0.0, 2.0 * np.log(np.std(self.y))]
        if self.family.log_prior is not None:
            start.append(np.log(5.0))
        found = optimize.minimize(
            lambda u: -float(self.log_posterior(*u)), start, method="Nelder-Mead",
            options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 10_000},
        )  # fmt: skip
        ends = []
        for j, middle in enumerate(found.x):
            reach = []
            for sign in (-1.0, 1.0):  # where the density along the axis has fallen by 25
                step = 1e-3
                while self._along(found.x, j, sign * step) > -found.fun - 25.0:
                    step *= 1.1
                reach.append(middle + sign * 1.5 * step)
            ends.append(reach)
        if self.family.log_prior is not None:
            inner = 1e-9 * np.array([1.0, -1.0])
            ends[-1] = list(np.log(self.family.bounds) + inner)
        return ends

    def _along(self, point, j, step):
        moved = np.array(point)
        moved[j] += step
        value = float(self.log_posterior(*moved))
        return value if np.isfinite(value) else -np.inf

    def moments(self):
        """Return the mean and the variance of each unknown; trapezoids on a grid."""
        ends = self.box()
        fine = 121 if self.family.name == "laplace" else 41  # its density has kinks
        points = [fine, fine, 41, 61][: len(ends)]
        axes = [np.linspace(low, high, count) for (low, high), count in zip(ends, points, strict=True)]
        grid = np.meshgrid(*axes, indexing="ij", sparse=True)
        density = self.log_posterior(*grid)
        density = np.exp(density - density.max())
        for j in range(len(axes)):  # the ends count half
            edge = np.ones(points[j])
            edge[[0, -1]] = 0.5
            density = density * edge.reshape([-1 if i == j else 1 for i in range(len(axes))])
        density /= density.sum()
        mean = [float((density * g).sum()) for g in grid]
        variance = [float((density * (g - m) ** 2).sum()) for g, m in zip(grid, mean, strict=True)]
        return mean, variance


@pytest.mark.parametrize("known", [False, True], ids=["plain", "offset-weights"])
@pytest.mark.parametrize("family", FAMILIES, ids=_case_name)
def test_one_column_agrees_with_quadrature(family, known):
    x, y, offset, weights = _data(family, known)
    tau = 0.6
    truth = Quadrature(family, x, y, offset, weights, tau)
    mean, variance = truth.moments()
    extra = {"offset": offset, "sample_weight": weights} if known else {}
    posterior = quiet_posterior(
        x[:, None], y, family.argument, "ridge", tau=tau, n_chains=2, n_draws=3000, n_warmup=200,
        random_state=11, **extra,
    )  # fmt: skip
    coef = posterior.coef[..., 0]
    draws = [posterior.intercept + coef * truth.center, coef]
    if family.location:
        draws.append(np.log(posterior.sigma2))
    if family.log_prior is not None:
        draws.append(np.log(posterior.nuisance))
    assert len(draws) == len(mean)
    for drawn, expected, spread in zip(draws, mean, variance, strict=True):
        error = mcse_mean(drawn)
        assert error < 0.1 * np.sqrt(spread)  # enough draws to say anything
        assert abs(drawn.mean() - expected) < ERRORS * error
        squared = (drawn - expected) ** 2
        assert abs(squared.mean() - spread) < ERRORS * mcse_mean(squared)


# --- Gaussian data, everything known but the coefficients ------------------------


@pytest.mark.parametrize(("n", "p"), [(15, 4), (6, 9)])
def test_known_scales_give_the_closed_form(n, p):
    rng = np.random.default_rng(3)
    X, tau, sigma2 = rng.standard_normal((n, p)) * rng.uniform(0.5, 3.0, p) + 1.0, 0.8, 2.0
    y = X[:, 0] + rng.standard_normal(n) + 5.0
    posterior = quiet_posterior(
        X, y, prior="ridge", tau=tau, sigma2=sigma2, n_chains=2, n_draws=10_000, n_warmup=2, random_state=0
    )
    center, spread = X.mean(axis=0), X.std(axis=0)
    exact = oracles.conditional_moments(X - center, y - y.mean(), tau**2 / spread**2, sigma2)
    joint = np.zeros((p + 1, p + 1))  # with the intercept: mean of y - center b, plus noise / n
    joint[:p, :p] = exact.covariance
    joint[p, p] = sigma2 / n + center @ exact.covariance @ center
    joint[p, :p] = joint[:p, p] = -exact.covariance @ center
    mean = np.append(exact.mean, y.mean() - center @ exact.mean)
    draws = np.concatenate([posterior.coef, posterior.intercept[..., None]], axis=2).reshape(-1, p + 1)
    size = len(draws)  # and these are independent
    white = (draws - mean) @ np.linalg.inv(np.linalg.cholesky(joint)).T
    assert stats.kstest((white**2).sum(axis=1), stats.chi2(p + 1).cdf).pvalue > LEVEL
    assert size * np.sum(white.mean(axis=0) ** 2) < stats.chi2(p + 1).isf(LEVEL)
    product = white.T @ white / size - np.eye(p + 1)
    assert np.abs(product).max() < 5.0 * np.sqrt(2.0 / size)
    np.testing.assert_array_equal(posterior.sigma2, sigma2)
    np.testing.assert_allclose(posterior.tau2, tau**2, rtol=1e-14)


def test_sigma2_of_gaussian_data_is_inverse_gamma_given_fixed_shrinkage():
    """With tau fixed and ridge, sigma2 | y is inverse gamma((n - 1)/2, z' M^-1 z / 2)."""
    rng = np.random.default_rng(5)
    n, p, tau = 14, 3, 0.5
    X = rng.standard_normal((n, p))
    y = 30.0 + 4.0 * (X @ np.array([1.0, -1.0, 0.0]) + rng.standard_normal(n))
    posterior = quiet_posterior(X, y, prior="ridge", tau=tau, n_draws=5000, n_warmup=2, random_state=0)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    M = np.eye(n) + tau**2 * S @ S.T
    z = y - y.mean()
    exact = stats.invgamma(0.5 * (n - 1), scale=0.5 * z @ np.linalg.solve(M, z))
    assert stats.kstest(posterior.sigma2.ravel(), exact.cdf).pvalue > LEVEL


# --- one model after another -----------------------------------------------------


@pytest.mark.parametrize(
    "second",
    [
        {"prior": "horseshoe"},
        {"prior": "ridge", "sigma2": 9.0},
        {"prior": "ridge", "standardize": False},
        {"prior": "ridge", "fit_intercept": False},
        {"prior": "ridge", "family": "binomial"},
        {"prior": "ridge", "tau": HalfCauchy(tau_max=0.01)},
    ],
    ids=lambda second: "-".join(second),
)
def test_draws_do_not_depend_on_what_was_sampled_before(second):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((20, 3)) * np.array([1.0, 4.0, 0.2])
    y = (X[:, 0] + rng.standard_normal(20) > 0.0) * 1.0
    plan = {"n_draws": 30, "n_warmup": 20, "n_chains": 1, "random_state": 4}
    other = rng.standard_normal(20)
    quiet_posterior(X, other, **plan)  # nothing of this model is left behind by a third one
    alone = quiet_posterior(X, y, **plan, **second)
    quiet_posterior(X, other, **plan)
    quiet_posterior(X, y, prior="ridge", **plan)
    after = quiet_posterior(X, y, **plan, **second)
    for quantity in ("coef", "intercept", "tau2", "sigma2"):
        np.testing.assert_array_equal(getattr(after, quantity), getattr(alone, quantity))


# --- the coefficients given the scales -------------------------------------------

SCALES = {
    "ones": lambda rng, p: np.ones(p),
    "spread": lambda rng, p: np.exp(2.0 * rng.standard_normal(p)),
    "almost-zero": lambda rng, p: np.where(np.arange(p) % 2 == 0, 1e-150, 1.0),
    "large": lambda rng, p: np.where(np.arange(p) % 3 == 0, 1e100, 1e98),
    "both": lambda rng, p: 10.0 ** np.linspace(-150.0, 2.0, p),
}


@pytest.mark.parametrize("tau2", [1e-4, 0.3, 50.0])
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize(("n", "p"), [(9, 4), (5, 8)], ids=["primal", "dual"])
def test_conditional_moments(n, p, scales, tau2):
    rng = np.random.default_rng(2)
    X, z = rng.standard_normal((n, p)), 3.0 * rng.standard_normal(n)
    lambda2 = SCALES[scales](rng, p)
    if scales == "large":  # they come about where tau2 is small
        tau2 *= 1e-100
    factor = Conditional(System(np.asfortranarray(X), z, float(n)), lambda2).at(tau2)
    exact = oracles.conditional_moments_mp(X, z, tau2 * lambda2, 1.0)
    M = np.eye(n) + (X * (tau2 * lambda2)) @ X.T
    np.testing.assert_allclose(factor.mean, exact.mean, rtol=1e-8, atol=1e-160)
    np.testing.assert_allclose(factor.log_det, exact.log_det, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(factor.quadratic, z @ np.linalg.solve(M, z), rtol=1e-9)

    sigma, count = 0.7, 20_000
    draws = factor.draw(sigma, np.random.default_rng(1), count).T
    unit = sigma * np.sqrt(np.diagonal(exact.covariance))
    scaled = (draws - exact.mean) / unit
    correlation = sigma**2 * exact.covariance / np.outer(unit, unit)
    assert np.abs(scaled.mean(axis=0)).max() < 5.0 / np.sqrt(count)
    assert np.abs(scaled.T @ scaled / count - correlation).max() < 5.0 * np.sqrt(2.0 / count)


@pytest.mark.parametrize(("n", "p"), [(9, 4), (5, 8)], ids=["primal", "dual"])
def test_one_draw_at_a_time_is_no_different(n, p):
    rng = np.random.default_rng(6)
    X, z, lambda2 = rng.standard_normal((n, p)), rng.standard_normal(n), rng.exponential(size=p)
    system = System(np.asfortranarray(X), z, float(n))
    exact = oracles.conditional_moments(X, z, 0.5 * lambda2, 4.0)
    factor = Conditional(system, lambda2).at(0.5)
    one = np.array([factor.draw(2.0, rng) for _ in range(4000)])
    many = draw_coefficients(system, 0.5 * lambda2, 4.0, rng, 4000).T
    root = np.linalg.inv(np.linalg.cholesky(exact.covariance))
    for draws in (one, many):
        white = (draws - exact.mean) @ root.T
        assert stats.kstest((white**2).sum(axis=1), stats.chi2(p).cdf).pvalue > LEVEL


def test_more_wide_columns_than_rows_do_not_break_the_factor():
    """tau2 lambda2 of 1e100 in more columns than rows: what can be known is finite and fits the data."""
    rng = np.random.default_rng(0)
    X, z = rng.standard_normal((4, 7)), rng.standard_normal(4)
    factor = Conditional(System(np.asfortranarray(X), z, 4.0), np.full(7, 1e100)).at(1.0)
    np.testing.assert_allclose(X @ factor.mean, z, atol=1e-8)
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(X @ X.T)[1] + 400.0 * np.log(10.0))
    assert np.isfinite(factor.draw(1.0, rng)).all()


# --- the local and the global scales ---------------------------------------------

CHAINS = 4000
REACH = 1e-16, 1e16


@pytest.mark.parametrize("w", [1e-8, 0.3, 30.0])
@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS, ids=name)
def test_local_draws_are_those_of_the_density(prior, oracle, w):
    """Many chains from both ends of the scale, long enough to forget where they began."""
    rng = np.random.default_rng(21)
    start = np.where(np.arange(CHAINS) % 2 == 0, 1e-4, 1e2)
    given, lambda2 = np.full(CHAINS, w), start
    if oracle is None:
        np.testing.assert_array_equal(prior.draw(given, lambda2, rng), 1.0)
        return
    for _ in range(250):
        lambda2 = prior.draw(given, lambda2, rng)
    neg_log = oracle(prior)

    def log_density(t):
        v = np.exp(t)
        return t - neg_log(v) - 0.5 * t - w / v

    assert_follows(lambda2, log_density, *REACH)


@pytest.mark.parametrize("prior", [p for p, oracle in LOCAL_PRIORS if oracle is not None], ids=name)
def test_one_local_draw_leaves_the_density_as_it_is(prior):
    """From the distribution itself a single step must lead to it again, whatever the mixing."""
    rng = np.random.default_rng(22)
    t = np.linspace(np.log(1e-12), np.log(1e12), 40_001)
    w = 0.02
    height = t - prior.neg_log_density(np.exp(t), 2.0) - 0.5 * t - w * np.exp(-t)
    mass = np.cumsum(np.exp(height - height.max()))
    start = np.exp(np.interp(rng.random(20_000), mass / mass[-1], t))
    moved = prior.draw(np.full(start.size, w), start, rng)

    def log_density(s):
        return np.interp(s, t, height)

    assert_follows(moved, log_density, 1e-12, 1e12)


@pytest.mark.parametrize("prior", [p for p, oracle in LOCAL_PRIORS if oracle is not None], ids=name)
def test_local_draws_given_coefficients_from_the_prior_are_from_the_prior(prior):
    """lambda2 from the prior, b given it, and one draw of lambda2 given b, for every size of W at once."""
    rng = np.random.default_rng(24)
    if isinstance(prior, InvertedBeta):
        exact = stats.betaprime(prior.a, prior.b)
    elif isinstance(prior, GammaScale):
        exact = stats.gamma(prior.shape, scale=1.0 / prior.rate)
    elif isinstance(prior, HorseshoeLike):
        exact = oracles.HorseshoeLikeScale()
    else:
        exact = stats.invgamma(prior.shape, scale=prior.scale)
    lambda2 = exact.rvs(200_000, random_state=rng)
    moved = prior.draw(0.5 * lambda2 * rng.standard_normal(lambda2.size) ** 2, lambda2, rng)
    assert stats.kstest(moved, exact.cdf).pvalue > LEVEL
    assert (moved != lambda2).all()


@pytest.mark.parametrize("n", [1, 4, 50])
@pytest.mark.parametrize("prior", [HalfCauchy(), HalfCauchy(0.3), HalfCauchy(np.inf, 0.2)], ids=name)
def test_global_draws_given_coefficients_from_the_prior_are_from_the_prior(prior, n):
    rng = np.random.default_rng(25)
    angle = np.arctan(prior.tau_max / prior.scale)
    tau2 = (prior.scale * np.tan(angle * rng.random(100_000))) ** 2
    moved = prior.draw(n, 0.5 * tau2 * rng.chisquare(n, tau2.size), tau2, rng)
    assert stats.kstest(np.arctan(np.sqrt(moved) / prior.scale) / angle, stats.uniform.cdf).pvalue > LEVEL


FREE_GLOBALS = [
    *(p for p in GLOBAL_PRIORS if p.bounds[0] < p.bounds[1]),
    HalfCauchy(np.inf, 0.1),
    HalfCauchy(2.0, 3.0),
    InverseGammaGlobal(0.5, 0.01, 5.0),
]


@pytest.mark.parametrize(("n", "s"), [(1, 1e-6), (3, 0.5), (40, 2.0), (5, 2000.0)])
@pytest.mark.parametrize("prior", FREE_GLOBALS, ids=name)
def test_global_draws_are_those_of_the_density(prior, n, s):
    rng = np.random.default_rng(23)
    pull = np.full(CHAINS, s)
    low, high = prior.bounds
    tau2 = np.clip(np.where(np.arange(CHAINS) % 2 == 0, 1e-3, 10.0), low, high)
    for _ in range(120):
        tau2 = prior.draw(n, pull, tau2, rng)
    assert tau2.max() <= high * (1.0 + 1e-12)

    def log_density(t):  # of log tau2; the prior as its own docstring has it
        tau2 = np.exp(t)
        if isinstance(prior, HalfCauchy):
            log_prior = -np.log1p(tau2 / prior.scale**2) + 0.5 * t
        else:
            log_prior = -prior.shape * t - prior.scale / tau2
        return log_prior - 0.5 * n * t - s / tau2

    if s > high:  # squeezed against the upper end
        assert_follows(tau2, log_density, high * np.exp(-60.0 * high / s), high)
    else:
        assert_follows(tau2, log_density, 1e-12, min(high, 1e16))


@pytest.mark.parametrize("prior", FREE_GLOBALS, ids=name)
def test_both_forms_of_the_global_density_agree(prior):
    """log_density is of log tau, neg_log_density of tau (half-Cauchy) or tau2 (inverse gamma)."""
    low, high = prior.bounds
    tau2 = np.geomspace(max(low, 1e-4), min(high, 1e4), 9)
    of_log = np.array([prior.log_density(0.5 * np.log(t)) for t in tau2])
    power = 0.5 if isinstance(prior, HalfCauchy) else 1.0
    plain = np.array([power * np.log(t) - prior.neg_log_density(t) for t in tau2])
    np.testing.assert_allclose(of_log - of_log[0], plain - plain[0], rtol=1e-10, atol=1e-12)


# --- what is latent in the families ----------------------------------------------


def _transform(trials, tilt, t):
    """Return E[exp(-t w)] of a Polya-gamma w: (cosh(c/2) / cosh(sqrt(c^2/4 + t/2)))^b."""

    def log_cosh(v):
        return np.logaddexp(v, -v)

    return np.exp(trials * (log_cosh(0.5 * tilt) - log_cosh(np.sqrt(0.25 * tilt**2 + 0.5 * t))))


def _assert_polya_gamma(weights, trials, tilt):
    """Compare the mean, the variance and the Laplace transform with what they must be."""
    half = 0.5 * abs(tilt)
    mean = trials * (0.25 if tilt == 0.0 else np.tanh(half) / (4.0 * half))
    root = np.sqrt(weights.size)
    assert np.isfinite(weights).all()
    assert weights.std() > 0.0
    assert abs(weights.mean() - mean) < 5.0 * weights.std() / root
    for t in (0.5 / mean, 2.0 / mean):
        value = np.exp(-t * weights)
        assert abs(value.mean() - _transform(trials, tilt, t)) < 5.0 * value.std() / root
    if tilt != 0.0:
        ratio = (1.0 - 2.0 * half * 2.0 * np.exp(-2.0 * half) - np.exp(-4.0 * half)) / (
            1.0 + np.exp(-2.0 * half)
        ) ** 2  # (sinh c - c) / (2 cosh(c/2)^2), which does not overflow
        variance = trials * ratio / (2.0 * abs(tilt) ** 3)
        squared = (weights - mean) ** 2
        assert abs(squared.mean() - variance) < 5.0 * squared.std() / root


@pytest.mark.parametrize(
    ("trials", "eta"),
    [
        *((1.0, eta) for eta in (0.0, 3.0, -60.0, 150.0, 200.0, -2000.0)),
        *((7.0, eta) for eta in (2.0, 80.0)),
        *((20.0, eta) for eta in (5.0, -60.0)),
        *((49.0, eta) for eta in (1.0, 35.0)),
        *((60.0, eta) for eta in (1.0, -50.0, 1500.0)),
        (2.5, 0.5),
        (0.7, 0.5),
    ],
)
def test_weights_of_the_binomial_family_are_polya_gamma(trials, eta):
    """|eta| is in the hundreds where the classes are apart and the prior has a heavy tail."""
    rows = np.ones(200_000)
    rng = np.random.default_rng(41)
    working = Binomial().augment(rows, eta * rows, 1.0, trials * rows, rng)
    _assert_polya_gamma(working.weights, trials, eta)
    np.testing.assert_allclose(working.weights * working.targets, 0.5 * trials)


@pytest.mark.parametrize(
    ("y", "size", "eta"),
    [
        (0.0, 0.6, 0.0),
        (1.0, 0.5, 0.3),
        (2.0, 0.7, 0.0),
        (0.0, 3.4, 1.0),
        (10.0, 30.5, 2.0),
        (3.0, 1000.0, -40.0),
    ],
)
def test_weights_of_the_negative_binomial_family_are_polya_gamma(y, size, eta):
    rows = np.ones(200_000)
    rng = np.random.default_rng(42)
    working = NegativeBinomial(size=size).augment(y * rows, eta * rows, 1.0, rows, rng)
    _assert_polya_gamma(working.weights, y + size, eta - np.log(size))
    np.testing.assert_allclose(working.weights * (working.targets - np.log(size)), 0.5 * (y - size))


def test_noise_of_the_robust_families_is_a_mixture_of_normals():
    """Latent weights given residuals from the family make them normal: r sqrt(w) is standard normal."""
    rng = np.random.default_rng(43)
    zero, one = np.zeros(200_000), np.ones(200_000)
    for family in (StudentNoise(df=3.0), Laplace()):
        y = np.sqrt(2.0) * family.simulate(zero, 1.0, rng)
        weights = family.augment(y, zero, 2.0, one, rng).weights
        standard = y * np.sqrt(weights / 2.0)
        assert stats.kstest(standard, stats.norm.cdf).pvalue > LEVEL
        if isinstance(family, Laplace):
            assert stats.kstest(0.5 / weights, stats.expon.cdf).pvalue > LEVEL
        else:
            assert stats.kstest(3.0 * weights, stats.chi2(3).cdf).pvalue > LEVEL
        independent = stats.spearmanr(standard**2, weights).statistic
        assert abs(independent) < 5.0 / np.sqrt(y.size)


# --- variates --------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.0, 1e-6, 0.3, 2.0, 50.0, 1e6])
def test_reciprocal_inverse_gaussian(a):
    v = reciprocal_inverse_gaussian(np.full(20_000, a), np.random.default_rng(31))
    if a < 1e-5:
        expected = stats.chi2(1).cdf
        found = stats.kstest(v, expected)
    elif a > 1e4:  # (v - a - 1) / sqrt(a) is normal
        found = stats.kstest((v - a) / np.sqrt(a), stats.norm.cdf)
    else:  # 1 / v is inverse Gaussian with mean 1 / a
        found = stats.kstest(1.0 / v, stats.invgauss(1.0 / a).cdf)
    assert found.pvalue > LEVEL


def test_reciprocal_inverse_gaussian_does_not_cancel():
    a = np.repeat([1e-140, 1e-30, 1e30, 1e140], 1000)
    v = reciprocal_inverse_gaussian(a, np.random.default_rng(0))
    assert np.isfinite(v).all()
    assert (v > 0.0).all()
    far = a > 1.0
    np.testing.assert_allclose(v[far], a[far], rtol=1e-10)


@pytest.mark.parametrize("w", [1e-8, 0.4, 25.0])
@pytest.mark.parametrize(("power", "rate"), [(1.5, 1.0), (0.5, 0.5), (0.0, 2.0), (-0.25, 0.5), (-2.0, 3.0)])
def test_power_exponential_step(power, rate, w):
    rng = np.random.default_rng(32)
    v = np.where(np.arange(CHAINS) % 2 == 0, 1e-2, 1e1)
    given = np.full(CHAINS, w)
    for _ in range(600):
        v = power_exponential_step(v, power, rate, given, rng)
    assert_follows(v, lambda t: power * t - rate * np.exp(t) - w * np.exp(-t), *REACH)


@pytest.mark.parametrize(
    ("shape", "rate", "low"),
    [
        (0.5, 2.0, 0.0),
        (3.0, 2.0, 0.1),
        (0.5, 1.0, 30.0),
        (3.0, 2.0, 100.0),  # a tail of e-200
        (3.0, 1.0, 560.0),  # just before the far tail
        (3.0, 1.0, 600.0),  # just in it
        (0.5, 40.0, 300.0),
        (250.5, 1.0, 400.0),
        (250.5, 1.0, 1500.0),
        (5000.5, 1.0, 8000.0),
        (5000.5, 2e-9, 5e12),
    ],
)
def test_gamma_above(shape, rate, low):
    draws = gamma_above(shape, np.full(20_000, rate), low, np.random.default_rng(33))
    assert draws.min() >= low
    if low == 0.0:
        assert stats.kstest(draws * rate, stats.gamma(shape).cdf).pvalue > LEVEL
        return
    # the density above low, as a function of the distance from it
    start = max(low, (shape - 1.0) / rate)
    curve = max(rate - (shape - 1.0) / max(low, start), 1e-9 * rate)
    width = 40.0 * min(1.0 / curve, np.sqrt(shape) / rate) if low < start else 40.0 / curve
    e = np.linspace(0.0, start - low + width, 200_001)
    height = (shape - 1.0) * np.log1p(e / low) - rate * e
    height = np.exp(height - height.max())
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]))])
    found = stats.kstest(draws - low, lambda d: np.interp(d, e, mass / mass[-1]))
    assert found.pvalue > LEVEL, found


def test_gamma_above_for_many_rates_at_once():
    """Rates on both sides of the far tail in one call."""
    rate = np.tile([0.1, 5.0, 2000.0], 6000)
    draws = gamma_above(2.0, rate, 1.0, np.random.default_rng(34)).reshape(-1, 3)
    for column, r in zip(draws.T, (0.1, 5.0, 2000.0), strict=True):
        # above 1 with shape 2: P(X > 1 + e) = (1 + r e / (1 + r)) exp(-r e)
        tail = (1.0 + r * (column - 1.0) / (1.0 + r)) * np.exp(-r * (column - 1.0))
        assert stats.kstest(tail, stats.uniform.cdf).pvalue > LEVEL


def test_streams_have_the_right_distributions():
    source = Streams([np.random.default_rng(seed) for seed in range(2)])
    draws = {
        "normal": (stats.norm, lambda: source.standard_normal((2, 7))),
        "exponential": (stats.expon, lambda: source.standard_exponential((2, 5))),
        "gamma": (stats.gamma(2.5), lambda: source.standard_gamma(2.5, (2, 3))),
        "another gamma": (stats.gamma(0.4), lambda: source.standard_gamma(0.4, (2, 3))),
        "gamma of shape 1": (stats.expon, lambda: source.standard_gamma(1.0, (2, 4))),
        "uniform": (stats.uniform, lambda: source.random((2,))),
    }
    found = {key: [] for key in draws}
    for _ in range(4000):  # asked for in turn, as a sweep does
        for key, (_, draw) in draws.items():
            found[key].append(np.array(draw()).reshape(2, -1))
    for key, (exact, _) in draws.items():
        together = np.concatenate(found[key], axis=1)
        for chain in together:
            assert stats.kstest(chain, exact.cdf).pvalue > LEVEL
            assert np.unique(chain).size == chain.size  # no number is given out twice
        assert abs(stats.spearmanr(*together).statistic) < 5.0 / np.sqrt(together.shape[1])
        lagged = stats.spearmanr(together[0, 1:], together[0, :-1]).statistic
        assert abs(lagged) < 5.0 / np.sqrt(together.shape[1])


def test_streams_go_on_from_their_pools():
    def draw(source, times):
        return [(source.standard_normal((1, 3)), source.standard_gamma(0.7, (1, 2))) for _ in range(times)]

    whole = draw(Streams([np.random.default_rng(5)]), 1500)
    first = Streams([np.random.default_rng(5)])
    parts = draw(first, 400)
    parts += draw(Streams(first.generators, first.pools), 1100)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def _two_humps(t):
    return np.logaddexp(-0.5 * (t + 2.0) ** 2, -2.0 * (t - 1.0) ** 2)


@pytest.mark.parametrize(
    ("log_density", "cdf", "start", "width"),
    [
        (lambda t: -0.5 * t * t, stats.norm.cdf, 0.0, 3.0),
        (lambda t: -0.5 * t * t, stats.norm.cdf, 0.0, 30.0),
        (lambda t: -t if t >= 0.0 else -np.inf, stats.expon.cdf, 0.5, 3.0),
        (lambda t: 0.0 if 0.0 <= t <= 1.0 else -np.inf, stats.uniform.cdf, 0.5, 3.0),
        (
            _two_humps,
            lambda t: (2.0 * stats.norm.cdf(t, -2.0) + stats.norm.cdf(t, 1.0, 0.5)) / 3.0,
            0.0,
            5.0,
        ),
    ],
    ids=["normal", "normal-wide", "exponential", "uniform", "two-humps"],
)
def test_slice_step(log_density, cdf, start, width):
    rng, x, kept = np.random.default_rng(35), start, []
    for sweep in range(30_000):
        x = slice_step(log_density, x, width, rng)
        if sweep % 15 == 14:
            kept.append(x)
    assert stats.kstest(kept, cdf).pvalue > LEVEL


def test_poisson_is_simulated_with_its_mean_and_variance():
    """Also where the mean is too large for whole numbers of the generator."""
    rng = np.random.default_rng(36)
    for eta in (-1.0, 2.0, 40.0):
        y = Poisson().simulate(np.full(20_000, eta), 1.0, rng)
        mean = np.exp(eta)
        assert abs(y.mean() / mean - 1.0) < 5.0 / np.sqrt(mean * y.size) + 1e-15
        assert abs(y.var() / mean - 1.0) < 0.1
