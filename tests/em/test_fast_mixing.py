"""Priors that shrink nothing to zero: mixed steps end where those of plain EM do, only sooner."""

import numpy as np
import pytest

from horseshoe._types import Status
from horseshoe.data.dense import Dense
from horseshoe.data.standardise import standardise
from horseshoe.em.likelihood import WorkingLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import Options
from horseshoe.families import Binomial, Laplace, Poisson
from horseshoe.priors import GammaScale, HalfCauchy, Horseshoe, InverseGammaScale, Lasso, Ridge, StudentT
from systems import run, standard_system

DENSE = {
    "ridge": (Ridge(), 2.0),
    "lasso": (Lasso(), 2.0),
    "student_t": (StudentT(), 2.0),
    "gamma": (GammaScale(2.0, 1.0), 2.0),
    "inverse gamma": (InverseGammaScale(0.7, 0.1), 2.0),
    "horseshoe": (Horseshoe(), 0.5),
}
TIGHT, EASY = 1e-10, ("ridge", "student_t", "gamma", "inverse gamma", "horseshoe")


def two_ways(weights, name, **options):
    """Return the fit of plain EM and the mixed one."""
    prior, lambda_power = DENSE[name]
    hyper, sigma2 = (
        Hyper(prior, lambda_power, HalfCauchy()),
        "estimate" if weights.family.has_dispersion else 1.0,
    )
    return [solve(weights, hyper, Options(sigma2=sigma2, fast=fast, **options))[0] for fast in (False, True)]


def moving(family, n=120, p=8, seed=0):
    """Return a likelihood that moves, on data with three effects."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    eta = x[:, :3] @ [0.8, -0.6, 0.4]
    noisy = eta + rng.standard_normal(n)
    if isinstance(family, Poisson):
        noisy = rng.poisson(np.exp(eta))
    elif isinstance(family, Binomial):
        noisy = noisy > 0.0
    design = standardise(Dense(np.asfortranarray(x)), None, center=True, scale=True)
    return WorkingLikelihood(design, np.asarray(noisy, float), np.zeros(n), family, center=True)


@pytest.mark.parametrize("name", EASY)
@pytest.mark.parametrize("shape", [(50, 10), (40, 80)])
def test_the_mode_is_that_of_plain_em(shape, name):
    system = standard_system(*shape, n_signals=4)
    prior, lambda_power = DENSE[name]
    plain, mixed = (run(system, prior, None, lambda_power, tol=TIGHT, fast=fast) for fast in (False, True))
    if plain.status is Status.CONVERGED:
        np.testing.assert_allclose(mixed.coef, plain.coef, rtol=1e-6, atol=1e-8 * np.abs(plain.coef).max())
    assert mixed.status is plain.status
    assert mixed.n_iter < plain.n_iter


@pytest.mark.parametrize("name", EASY)
@pytest.mark.parametrize("family", [Binomial(), Binomial("irls"), Poisson(), Laplace()], ids=repr)
def test_the_mode_is_that_of_plain_em_where_weights_move(family, name):
    plain, mixed = two_ways(moving(family), name, tol=TIGHT)
    np.testing.assert_allclose(mixed.coef, plain.coef, rtol=1e-6, atol=1e-8 * np.abs(plain.coef).max())
    np.testing.assert_allclose(mixed.scales.tau2, plain.scales.tau2, rtol=1e-6)
    assert mixed.n_iter <= plain.n_iter


def test_a_lasso_is_at_its_mode_and_not_on_the_way():
    """Plain EM creeps, and stops where its steps are small: the mixed fit is nearer the end, and sooner."""
    system = standard_system(50, 10, n_signals=4)
    exact = run(system, Lasso(), tol=TIGHT)
    plain, mixed = (run(system, Lasso(), tol=1e-7, fast=fast) for fast in (False, True))
    off = [np.abs(fit.coef - exact.coef).max() for fit in (plain, mixed)]
    assert off[1] < 0.5 * off[0]
    assert 10 * mixed.n_iter < plain.n_iter
    objective = [fit.trace[-1].objective for fit in (plain, mixed, exact)]
    assert objective[2] <= objective[1] + 1e-9 < objective[0]


def test_a_creeping_global_scale_is_not_waited_for():
    """Two classes without much in them: plain EM takes thousands of steps on the way to tau = 0."""
    weights = moving(Binomial(), n=21, p=58, seed=5)
    plain, mixed = two_ways(weights, "gamma", tol=1e-9)
    assert 10 * mixed.n_iter < plain.n_iter
    assert mixed.status.converged


def test_approximate_expectations_are_mixed_too():
    system = standard_system(50, 10, n_signals=4)
    plain, mixed = (
        run(system, StudentT(), expectation="approximate", tol=TIGHT, fast=fast) for fast in (False, True)
    )
    np.testing.assert_allclose(mixed.coef, plain.coef, rtol=1e-7)
