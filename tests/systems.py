"""Least-squares problems for the conditionals and for the loop."""

import numpy as np

import oracles
from horseshoe.data.problem import plain
from horseshoe.em.likelihood import GaussianLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import Options
from horseshoe.priors import HalfCauchy, Horseshoe
from simulate import linear

PLAIN = {"fast": False}


def standard_system(n, p, **kwargs):
    X, y, _ = linear(n, p, **kwargs)
    x, z, *_ = oracles.standardise(X, y)
    return plain(x, z)


def hyper(prior=None, tau=None, lambda_power=2.0):
    return Hyper(prior or Horseshoe(), lambda_power, tau or HalfCauchy())


def run(system, prior=None, tau=None, lambda_power=2.0, **options):
    return solve(GaussianLikelihood(system), hyper(prior, tau, lambda_power), Options(**options))[0]


SHAPES = {"long": (30, 8), "square": (12, 12), "wide": (10, 30)}


def problem(shape, kind="random", seed=0, size=1.0):
    n, p = SHAPES[shape]
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    if kind == "collinear":
        x[:, 1] = x[:, 0]
        x[:, 3] = x[:, 0] - x[:, 2]
    if kind == "ill":  # condition number 1e12
        u, _, vt = np.linalg.svd(x, full_matrices=False)
        x = (u * np.geomspace(1.0, 1e-12, min(n, p))) @ vt * np.sqrt(n)
    z = x[:, :3] @ np.array([2.0, -1.0, 0.5]) + rng.standard_normal(n)
    d = size * rng.gamma(0.5, 1.0, p)
    d[-1] = 0.0
    d[-2] = 1e-300
    return plain(x, z), d, 0.7


def reference(system, d, sigma2, kind=""):
    oracle = oracles.conditional_moments_mp if kind == "ill" else oracles.conditional_moments
    return oracle(system.columns.dense(), system.z, d, sigma2)


def assert_moments(moments, expected, sigma2, rtol):
    scale = np.abs(expected.mean).max()
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(moments.variance, np.diag(expected.covariance), rtol=rtol, atol=rtol * 1e-3)
    np.testing.assert_allclose(moments.fit_trace, expected.fit_trace, rtol=rtol)
    np.testing.assert_allclose(moments.expected_rss, expected.rss + sigma2 * expected.fit_trace, rtol=rtol)
