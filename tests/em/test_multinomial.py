"""Softmax regression with shared scales: against its definition, other programs, and two classes."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import oracles
from horseshoe._types import Status
from horseshoe.data.dense import Dense
from horseshoe.data.standardise import standardise
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.multinomial import MultinomialLikelihood
from horseshoe.em.state import Options
from horseshoe.model.fit import _begin_classes
from horseshoe.priors import FixedScale, HalfCauchy, Horseshoe, Ridge

TIGHT = Options(tol=1e-13)
SHAPES = [(200, 6, 3), (150, 4, 5), (40, 70, 3), (120, 5, 2)]


def data(n, p, q, seed=0, weights=None):
    rng = np.random.default_rng([n, p, q, seed])
    x = rng.standard_normal((n, p))
    coef = np.zeros((p, q))
    coef[:3] = 1.2 * rng.standard_normal((3, q))
    codes = (x @ coef + rng.gumbel(size=(n, q))).argmax(axis=1)
    codes[:q] = np.arange(q)
    return standardise(Dense(x), weights, center=True, scale=True), np.eye(q)[codes], codes


def hyper(q, prior=None, tau=None):
    return Hyper(prior or Horseshoe(), 2.0, tau or HalfCauchy(), size=q - 1.0)


def solve_multinomial(design, chosen, hyper, options, augmentation="polya_gamma", start="linear"):
    likelihood = MultinomialLikelihood(design, chosen, True, augmentation)
    options = options._replace(sigma2=1.0)
    return solve(
        likelihood,
        hyper,
        options,
        partial(_begin_classes, None, start, likelihood, hyper, options, None, None),
    )


def stacked(results):
    return np.array([one.coef for one in results]), np.array([one.intercept for one in results])


@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
@pytest.mark.parametrize(("n", "p", "q"), SHAPES)
def test_at_fixed_scales_it_is_scikit_learns(n, p, q, weights):
    design, chosen, codes = data(n, p, q)
    results = solve_multinomial(
        design, chosen, hyper(q, Ridge(), FixedScale(0.3)), TIGHT, augmentation=weights
    )
    coef, level = stacked(results)
    peer = LogisticRegression(C=0.3 if q > 2 else 0.6, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    peer.fit(design.columns.dense(), codes)
    if q == 2:
        coef, level = coef[1:] - coef[:1], level[1:] - level[:1]
    np.testing.assert_allclose(coef, peer.coef_, atol=1e-8)
    np.testing.assert_allclose(level - level.mean() * (q > 2), peer.intercept_, atol=1e-8)


def test_without_shrinkage_it_is_statsmodels():
    import statsmodels.api as sm

    design, chosen, codes = data(300, 4, 3)
    coef, level = stacked(solve_multinomial(design, chosen, hyper(3, Ridge(), FixedScale(1e8)), TIGHT))
    peer = sm.MNLogit(codes, sm.add_constant(design.columns.dense())).fit(disp=0, tol=1e-14, maxiter=100)
    np.testing.assert_allclose((coef[1:] - coef[0]).T, np.asarray(peer.params)[1:], atol=1e-6)
    np.testing.assert_allclose(level[1:] - level[0], np.asarray(peer.params)[0], atol=1e-6)


@pytest.mark.parametrize(("n", "p", "q"), [(200, 6, 3), (40, 70, 3)])
@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
def test_the_end_is_a_mode_at_its_own_scales(n, p, q, weights):
    """No program for minimisation finds anything better than where the loop ends, given lambda2 and tau2."""
    rng = np.random.default_rng(4)
    counts = rng.integers(1, 4, n).astype(float)
    design, chosen, _ = data(n, p, q, weights=counts)
    results = solve_multinomial(
        design, chosen, hyper(q), TIGHT._replace(fast=False, zero_threshold=0.0), augmentation=weights
    )
    coef, level = stacked(results)
    x, d = design.columns.dense(), results[0].scales.prior_variance
    some = d > 1e-8

    def value(point):
        both = point.reshape(q, -1)
        return oracles.softmax_objective(both[:, 1:].T, both[:, 0], x[:, some], chosen, d[some], counts)

    point = np.column_stack([level, coef[:, some]]).ravel()
    best = minimize(value, point, method="BFGS", options={"gtol": 1e-7}).fun
    assert value(point) <= best + 1e-7 * abs(best)
    np.testing.assert_allclose(coef.sum(axis=0), 0.0, atol=1e-12)
    assert abs(level.sum()) < 1e-10
    assert some.sum() >= 2


def test_two_classes_are_a_binomial_regression_with_twice_the_prior_variance():
    design, chosen, _ = data(120, 5, 2)
    from horseshoe.em.likelihood import WorkingLikelihood
    from horseshoe.families import Binomial

    pair = solve_multinomial(design, chosen, hyper(2, Ridge(), FixedScale(0.4)), TIGHT)
    weights = WorkingLikelihood(design, chosen[:, 1], np.zeros(120), Binomial(), center=True)
    (alone,) = solve(weights, Hyper(Ridge(), 2.0, FixedScale(0.8)), TIGHT._replace(sigma2=1.0))
    np.testing.assert_allclose(pair[1].coef - pair[0].coef, alone.coef, atol=1e-10)
    np.testing.assert_allclose(
        2.0 * np.sqrt(pair[1].covariance.variance), np.sqrt(alone.covariance.variance), rtol=1e-8
    )


def test_the_covariance_is_the_inverse_of_the_joint_information():
    rng = np.random.default_rng(5)
    counts = rng.uniform(0.5, 2.0, 150)
    design, chosen, _ = data(150, 4, 4, weights=counts)
    results = solve_multinomial(design, chosen, hyper(4, Ridge(), FixedScale(0.5)), TIGHT)
    coef, level = stacked(results)
    x, d = design.columns.dense(), results[0].scales.prior_variance
    joint = oracles.softmax_covariance(coef.T, level, x, d, counts)
    row = rng.standard_normal(4)
    for k, one in enumerate(results):
        part = joint[5 * k : 5 * k + 5, 5 * k : 5 * k + 5]
        np.testing.assert_allclose(one.covariance.variance, np.diag(part)[1:], rtol=1e-6)
        away = np.append(1.0, row)
        got = one.intercept_variance + one.covariance.quadratic((row - one.center)[None])[0]
        assert got == pytest.approx(float(away @ part @ away), rel=1e-6)


@pytest.mark.parametrize("start", ["marginal", "linear", "paper"])
@pytest.mark.parametrize("seed", range(4))
def test_leaving_columns_out_ends_in_the_mode_of_the_plain_loop(seed, start):
    design, chosen, _ = data(*((150, 12, 3), (60, 90, 4))[seed % 2], seed=seed)
    q = chosen.shape[1]
    fast, slow = (
        stacked(solve_multinomial(design, chosen, hyper(q), Options(tol=1e-12, fast=fast), start=start))[0]
        for fast in (True, False)
    )
    np.testing.assert_allclose(fast, slow, atol=1e-8)


def test_the_order_of_classes_means_nothing_and_a_column_is_in_for_all():
    design, chosen, _ = data(200, 6, 3)
    coef, level = stacked(solve_multinomial(design, chosen, hyper(3), TIGHT))
    order = [2, 0, 1]
    again, other = stacked(solve_multinomial(design, chosen[:, order], hyper(3), TIGHT))
    np.testing.assert_allclose(again, coef[order], atol=1e-10)
    np.testing.assert_allclose(other, level[order], atol=1e-10)
    assert ((coef != 0.0).all(axis=0) == (coef != 0.0).any(axis=0)).all()


def test_classes_that_are_separated_are_said_to_be_where_the_way_ends(monkeypatch):
    monkeypatch.setattr("horseshoe.em.schedule.MOST_STALLS", 0)  # the first step is the last
    design, chosen, _ = data(120, 5, 3)
    assert solve_multinomial(design, chosen, hyper(3), Options())[0].status is Status.STALLED
    apart = np.eye(3)[np.arange(120) % 3]
    design = standardise(Dense(apart @ np.eye(3, 5)), None, center=True, scale=True)
    flat = hyper(3, Ridge(), FixedScale(1e3))
    assert solve_multinomial(design, apart, flat, Options())[0].status is Status.SEPARATED
