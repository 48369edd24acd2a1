"""EM with groups: against dense algebra, plain EM against the fast one, and whole groups in and out."""

import numpy as np
import pytest

import oracles
from horseshoe.data.problem import plain
from horseshoe.em.fast.tail import EMMap
from horseshoe.em.likelihood import GaussianLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.state import Options
from horseshoe.priors import FixedScale, Groups, Horseshoe, HorseshoeLike, Lasso, NormalGamma, StudentT
from registry import LOCAL_PRIORS, name
from systems import PLAIN, hyper

ORACLES = {prior: oracle for prior, oracle in LOCAL_PRIORS if oracle is not None}
PRIORS = [Horseshoe(), HorseshoeLike(), NormalGamma(shape=0.25, rate=2.0), StudentT(df=3.0), Lasso()]


def system(n, label, seed=0, n_active=3, noise=1.0):
    """Return standardised X and y with some of the groups active."""
    rng = np.random.default_rng(seed)
    label = np.asarray(label)
    X = rng.standard_normal((n, label.size))
    on = rng.permutation(np.unique(label))[:n_active]
    beta = np.where(np.isin(label, on), rng.standard_normal(label.size), 0.0)
    X, y, *_ = oracles.standardise(X, X @ beta + noise * rng.standard_normal(n))
    return X, y


def gaussian(X, y):
    return GaussianLikelihood(plain(X, y))


def sizes(*each):
    return np.repeat(np.arange(len(each)), each)


LABELS = {"long": sizes(3, 1, 2, 4), "wide": sizes(5, 3, 1, 8, 2, 4, 4, 5)}


@pytest.mark.parametrize("lambda_power", [2.0, 1.5, 1.0])
@pytest.mark.parametrize("shape", LABELS)
@pytest.mark.parametrize("prior", PRIORS, ids=name)
def test_plain_em_is_that_of_dense_algebra(prior, shape, lambda_power):
    label = LABELS[shape]
    X, y = system(25, label)
    density = next(
        oracle(prior) for known, oracle in ORACLES.items() if known == prior or type(known) is type(prior)
    )
    expected = oracles.grouped_em(
        X, y, label, lambda w, size: oracles.local_mode(density, lambda_power, w, size), 6, tau2=0.5
    )
    options = Options(tol=0.0, max_iter=6, zero_threshold=0.0, **PLAIN)
    (found,) = solve(
        gaussian(X, y),
        hyper(prior, FixedScale(0.5), lambda_power),
        options,
        groups=Groups(label),
    )
    np.testing.assert_allclose(found.coef, expected.coef, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.moments.variance, expected.variance, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.scales.lambda2, expected.lambda2, rtol=1e-8)
    np.testing.assert_allclose(found.scales.sigma2, expected.sigma2, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "label"),
    [
        (100, sizes(*[5] * 40)),
        (60, sizes(*[2] * 60)),
        (80, sizes(*[1, 2, 3, 10] * 8)),
        (200, sizes(*[20] * 6)),
    ],
    ids=["fives", "pairs", "mixed", "large"],
)
def test_the_fast_mode_is_that_of_plain_em(n, label):
    for seed in range(3):
        X, y = system(n, label, seed, n_active=5)
        ways = ({}, {"tol": 1e-10, **PLAIN})
        fast, slow = (solve(gaussian(X, y), hyper(), Options(**way), groups=Groups(label))[0] for way in ways)
        np.testing.assert_array_equal(fast.support, slow.support)
        np.testing.assert_allclose(fast.coef, slow.coef, rtol=0, atol=2e-4)


@pytest.mark.slow
def test_the_fast_mode_is_that_of_plain_em_on_many():
    """200 data sets of four kinds: at least 98 of 100 end in the mode of plain EM."""
    elsewhere = 0
    for seed in range(50):
        for n, label in ((100, sizes(*[5] * 40)), (80, sizes(*[1, 2, 3, 10] * 8)), (60, sizes(*[3] * 60))):
            X, y = system(n, label, seed + 100, n_active=8)
            ways = ({}, {"tol": 1e-10, **PLAIN})
            fast, slow = (
                solve(gaussian(X, y), hyper(), Options(**way), groups=Groups(label))[0] for way in ways
            )
            elsewhere += not np.abs(fast.coef - slow.coef).max() <= 2e-4
    assert elsewhere <= 3


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("expectation", ["exact", "approximate"])
def test_a_group_is_in_or_out_as_a_whole(fast, expectation):
    label = sizes(*[4] * 25)
    X, y = system(70, label, 3, n_active=4)
    (found,) = solve(
        gaussian(X, y),
        hyper(),
        Options(fast=fast, expectation=expectation),
        groups=Groups(label),
    )
    inside = [found.support[label == one] for one in range(25)]
    assert {bool(part.any()) for part in inside} == {True, False}
    assert all(part.all() == part.any() for part in inside)
    lambda2 = found.scales.lambda2
    assert all(np.ptp(lambda2[label == one]) == 0.0 for one in range(25))


def test_the_marginal_objective_falls():
    """With sigma2 known exact EM never raises it; it is that of the definition up to a constant."""
    label = sizes(4, 4, 2, 1, 5)
    X, y = system(40, label, 5)
    options = Options(sigma2=0.3, tol=1e-8, **PLAIN)
    found = solve(gaussian(X, y), hyper(), options, groups=Groups(label))[0]
    values = np.array([line.objective for line in found.trace])
    assert (np.diff(values) <= 1e-9).all()

    def objective(scales):
        each = [oracles.neg_log_inverted_beta(scales[label == one][0], 0.5, 0.5) for one in range(5)]
        return oracles.marginal_objective(
            X, y, 0.3, 1.0, scales, lambda v: sum(each), lambda tau2: np.log1p(tau2)
        )

    results = [
        solve(gaussian(X, y), hyper(), options._replace(max_iter=k), groups=Groups(label))[0] for k in (2, 4)
    ]
    ours = [one.trace[-1].objective for one in results]
    theirs = [objective(one.scales.lambda2) for one in results]
    assert ours[1] - ours[0] == pytest.approx(theirs[1] - theirs[0], rel=1e-9)


@pytest.mark.parametrize("known", [None, 0.4])
def test_the_jacobian_of_the_tail(known):
    label = sizes(3, 1, 2)
    X, y = system(30, label, 2)
    em = EMMap(plain(X, y), hyper(), known, groups=Groups(label))
    u, h = np.log(np.append(np.linspace(0.05, 0.4, 6), 12.0)), 1e-6
    scales, found = em.step(u)
    jacobian = em.jacobian(u, scales, found)

    def image(point):
        return em.coordinates(em.step(point)[1])

    steps = h * np.eye(7)
    numeric = np.array([(image(u + step) - image(u - step)) / (2 * h) for step in steps]).T
    size = jacobian.shape[0]
    np.testing.assert_allclose(jacobian, numeric[:size, :size], atol=1e-7)
