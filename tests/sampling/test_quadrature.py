"""The sampler against slow truths: quadrature and closed forms."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize, special, stats

import oracles
from distributions import LEVEL
from horseshoe import sample_posterior
from horseshoe.families import NegativeBinomial, Quantile, Tweedie
from horseshoe.families import StudentT as StudentNoise
from horseshoe.sampling.diagnostics import mcse_mean

pytest.importorskip("polyagamma")

ERRORS = 4.5
"""Monte Carlo standard errors within which a mean must be; about 100 are compared here."""


def quiet_posterior(*args, **kwargs):
    """Sample in this process; short chains are what is wanted, so no word on them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return sample_posterior(*args, n_jobs=1, **kwargs)


# --- one column, quadrature ------------------------------------------------------


def _normal(y, eta, scale, nuisance):
    return -0.5 * ((y - eta) / scale) ** 2 - np.log(scale)


def _student(y, eta, scale, nuisance):
    df = nuisance
    constant = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df) - 0.5 * np.log(df)
    return constant - 0.5 * (df + 1.0) * np.log1p(((y - eta) / scale) ** 2 / df) - np.log(scale)


def _laplace(y, eta, scale, nuisance):
    return -np.abs(y - eta) / scale - np.log(scale)


def _quantile(y, eta, scale, nuisance):
    r = (y - eta) / scale
    return -2.0 * np.where(r > 0.0, 0.7 * r, -0.3 * r) - np.log(scale)


def _huber(y, eta, scale, nuisance):
    u = np.abs(y - eta) / scale
    return np.where(u < 1.345, -0.5 * u**2, 0.5 * 1.345**2 - 1.345 * u) - np.log(scale)


def _gamma(y, eta, scale, nuisance):
    shape = scale**-2.0
    rate = shape * np.exp(-eta)
    return shape * np.log(rate) - special.gammaln(shape) + (shape - 1.0) * np.log(y) - rate * y


def _tweedie(y, eta, scale, nuisance):
    """A Poisson number of exponential amounts: at power 1.5 their shape is 1."""
    number, size = 2.0 * np.exp(0.5 * eta) / scale**2, 0.5 * np.exp(0.5 * eta) * scale**2
    if y == 0.0:
        return -number
    total = -np.inf
    for j in range(1, 40):
        term = j * np.log(number * y / size) - special.gammaln(j + 1.0) - special.gammaln(j)
        total = np.logaddexp(total, term)
    return total - number - y / size - np.log(y)


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
    amounts: bool = False

    @property
    def noisy(self):
        return self.location or self.amounts

    @property
    def argument(self):
        return self.name if self.given is None else self.given


FAMILIES = [
    Family("gaussian", _normal, True),
    Family("student_t", _student, True, StudentNoise(df=4.0), fixed=4.0),
    Family("student_t", _student, True, log_prior=_log_prior_df, bounds=(2.1, 200.0)),
    Family("laplace", _laplace, True),
    Family("quantile", _quantile, True, Quantile(level=0.7)),
    Family("huber", _huber, True),
    Family("gamma", _gamma, False, amounts=True),
    Family("tweedie", _tweedie, False, Tweedie(unit=1.0), amounts=True),
    Family("binomial", _binomial, False),
    Family("poisson", _poisson, False),
    Family("negative_binomial", _negative_binomial, False, NegativeBinomial(size=1.5), fixed=1.5),
    Family("negative_binomial", _negative_binomial, False, log_prior=_log_prior_size, bounds=(0.01, 1000.0)),
]


def _case_name(family):
    return family.name + ("" if family.log_prior is None else "-free")


def _data(family, known):
    """Twelve rows; with ``known`` an offset and weights, which are fractional."""
    rng = np.random.default_rng([7, known])
    n = 12
    x = 1.0 + 2.0 * rng.standard_normal(n)
    offset = 0.7 * rng.standard_normal(n) if known else np.zeros(n)
    weights = rng.uniform(0.3, 3.0, n) if known else np.ones(n)
    eta = 0.4 + 0.5 * (x - 1.0) + offset
    if family.location:
        y = 10.0 * eta + 6.0 * rng.standard_t(4.0, n)
        return x, y, 10.0 * offset, weights
    if family.amounts:
        number = rng.poisson(2.0 * np.exp(0.5 * eta)) if family.name == "tweedie" else np.full(n, 2.0)
        return x, rng.standard_gamma(number) * 0.5 * np.exp(0.5 * eta), offset, weights
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
        log_sigma2 = rest.pop(0) if self.family.noisy else 0.0
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
        if self.family.amounts:
            start = [np.log(np.mean(self.y)), 0.0, 0.0]
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
        fine = {"laplace": 121, "quantile": 121, "tweedie": 25}.get(
            self.family.name, 41
        )  # its density has kinks
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


@pytest.mark.parametrize(
    "known",
    [pytest.param(False, marks=pytest.mark.slow, id="plain"), pytest.param(True, id="offset-weights")],
)
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
    if family.noisy:
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
