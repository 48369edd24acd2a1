"""Parameters from the prior and data from them, by their definitions, for statistics of the sampler.

Nothing comes from `horseshoe` but the classes by which priors are told apart: all is simulated with NumPy.
"""

import numpy as np
from scipy import special, stats

import oracles
from family_cases import CompoundPoisson
from horseshoe.priors import GammaScale, HorseshoeLike, InverseGammaScale, InvertedBeta, Ridge, estimated

LOCATION = ("gaussian", "student_t", "laplace", "quantile", "huber")
KNOWN = {"gamma": 0.5, "tweedie": 0.8}
"""The sigma2 of amounts, which must be known here: 1/sigma2 is no density to draw it from."""
EDGE = 1.345
"""The threshold of Huber's density."""


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
