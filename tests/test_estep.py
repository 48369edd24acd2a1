"""Every engine against plain inversion, on long, square, wide, collinear and ill-conditioned problems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from farrier.conditional.engines import (
    Context,
    Dual,
    Orthogonal,
    Primal,
    choose_e_step,
    posterior_covariance,
)
from farrier.conditional.sampled import draw_coefficients
from farrier.data.design import Identity, System
from farrier.em.fast.fading import MatrixBackground, Size, absorb
from farrier.em.fast.resting import WAKE_LIMIT, LazyDual
from farrier.em.loop import worth_keeping
from registry import ENGINES, STOCHASTIC, EngineCase

SHAPES = {"long": (30, 8), "square": (12, 12), "wide": (10, 30)}
WITH_MOMENTS = [case for case in ENGINES if case.moments and not case.orthogonal_only]


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
    return System(np.asfortranarray(x), z, float(n)), d, 0.7


def reference(system, d, sigma2, kind):
    oracle = oracles.conditional_moments_mp if kind == "ill" else oracles.conditional_moments
    return oracle(system.x, system.z, d, sigma2)


def assert_moments(moments, expected, sigma2, rtol):
    scale = np.abs(expected.mean).max()
    np.testing.assert_allclose(moments.mean, expected.mean, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(moments.variance, np.diag(expected.covariance), rtol=rtol, atol=rtol * 1e-3)
    np.testing.assert_allclose(moments.fit_trace, expected.fit_trace, rtol=rtol)
    np.testing.assert_allclose(moments.expected_rss, expected.rss + sigma2 * expected.fit_trace, rtol=rtol)


@pytest.mark.parametrize("kind", ["random", "collinear", "ill"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", WITH_MOMENTS, ids=lambda case: case.name)
def test_engine_is_the_inverse(case: EngineCase, shape, kind):
    system, d, sigma2 = problem(shape, kind)
    moments = case.engine(system, d, sigma2, Context())
    expected = reference(system, d, sigma2, kind)
    assert_moments(moments, expected, sigma2, case.rtol)
    if case.engine.exact:
        np.testing.assert_allclose(moments.log_det, expected.log_det, rtol=case.rtol)
    else:
        assert moments.log_det is None


@given(st.integers(0, 10_000), st.sampled_from(sorted(SHAPES)), st.floats(1e-6, 1e3))
def test_primal_and_dual_agree(seed, shape, size):
    system, d, sigma2 = problem(shape, seed=seed, size=size)
    primal, dual = (engine(system, d, sigma2, Context()) for engine in (Primal(), Dual()))
    scale = np.abs(primal.mean).max()
    np.testing.assert_allclose(primal.mean, dual.mean, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(primal.variance, dual.variance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(primal.fit_trace, dual.fit_trace, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(primal.expected_rss, dual.expected_rss, rtol=1e-9)
    np.testing.assert_allclose(primal.log_det, dual.log_det, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_approximate_variances_are_one_over_the_diagonal(shape):
    from farrier.conditional.engines import DiagonalVariance

    system, d, sigma2 = problem(shape)
    moments = DiagonalVariance()(system, d, sigma2, Context())
    norm2 = (system.x**2).sum(axis=0)
    with np.errstate(divide="ignore", over="ignore"):
        diagonal = 1 / (norm2 + 1 / d)
    np.testing.assert_allclose(moments.mean, reference(system, d, sigma2, "").mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(moments.variance, sigma2 * diagonal, rtol=1e-12)  # Eq. (11)
    np.testing.assert_allclose(moments.fit_trace, (diagonal * norm2).sum(), rtol=1e-12)  # Eq. (12)
    assert moments.log_det is None


def test_orthogonal_engine_is_exact_for_orthogonal_columns():
    rng = np.random.default_rng(0)
    x = np.linalg.qr(rng.standard_normal((20, 6)))[0] * np.arange(1.0, 7.0)
    system, d = System(np.asfortranarray(x), rng.standard_normal(20), 20.0), rng.gamma(1.0, 1.0, 6)
    moments = Orthogonal()(system, d, 0.5, Context())
    expected = oracles.conditional_moments(x, system.z, d, 0.5)
    assert_moments(moments, expected, 0.5, 1e-10)
    np.testing.assert_allclose(moments.log_det, expected.log_det, rtol=1e-10)


def test_normal_means_never_form_the_identity():
    z, d = np.array([3.0, -1.0, 0.2]), np.array([2.0, 0.5, 0.0])
    moments = Orthogonal()(Identity(z), d, 0.5, Context())
    expected = oracles.conditional_moments(np.eye(3), z, d, 0.5)
    assert_moments(moments, expected, 0.5, 1e-12)
    assert Identity(z).x.size == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_have_the_exact_moments(shape):
    system, d, sigma2 = problem(shape)
    expected = reference(system, d, sigma2, "")
    draws = draw_coefficients(system, d, sigma2, np.random.default_rng(1), n_draws=200_000)
    error = np.sqrt(np.diag(expected.covariance) / 200_000)
    assert (np.abs(draws.mean(axis=1) - expected.mean) <= 5 * error).all()
    np.testing.assert_allclose(
        np.cov(draws), expected.covariance, atol=0.02 * np.abs(expected.covariance).max()
    )


def test_stochastic_engine_averages_with_its_step():
    system, d, sigma2 = problem("long")
    expected = reference(system, d, sigma2, "")
    first = STOCHASTIC(system, d, sigma2, Context())
    np.testing.assert_allclose(first.mean, expected.mean, atol=0.03)
    np.testing.assert_allclose(first.expected_rss, expected.rss + sigma2 * expected.fit_trace, rtol=0.01)
    stale = first._replace(mean=first.mean + 10.0)
    later = STOCHASTIC(system, d, sigma2, Context(previous=stale, iteration=100))
    step = (100 / 10) ** -0.7
    np.testing.assert_allclose(later.mean, stale.mean + step * (first.mean - stale.mean), atol=0.03)


def matrix_background(k):
    return MatrixBackground(Size(np.trace(k), np.trace(k) ** 2 / 3), np.asfortranarray(np.tril(k)))


def columns_aside(shape, size):
    """Return a problem, three of its columns put aside, and their matrix K."""
    system, d, sigma2 = problem(shape)
    aside = np.zeros(d.size, dtype=bool)
    aside[3:6] = True
    d[aside] *= size
    return system, d, sigma2, aside, (system.x[:, aside] * d[aside]) @ system.x[:, aside].T


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_background_matrix_is_columns_put_aside(shape):
    """Columns in the background give the others what they would give as columns."""
    system, d, sigma2, aside, k = columns_aside(shape, size=1.0)
    background = matrix_background(k)
    moments = Dual()(system.take(~aside), d[~aside], sigma2, Context(background))
    whole = Dual()(system, d, sigma2, Context())
    np.testing.assert_allclose(moments.mean, whole.mean[~aside], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(moments.variance, whole.variance[~aside], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(moments.expected_rss, whole.expected_rss, rtol=1e-9)


@pytest.mark.parametrize("absorbed", [True, False], ids=["absorbed", "expanded"])
def test_expanded_background_is_right_to_the_second_order(absorbed):
    """Halving K divides the error by eight."""
    errors = []
    for size in (2e-3, 1e-3):
        system, d, sigma2, aside, k = columns_aside("long", size)
        matrix = matrix_background(k)
        rest = system.take(~aside)
        background = absorb(None, system, aside, d[aside]) if absorbed else matrix.expanded(rest)
        whole = Dual()(system, d, sigma2, Context())
        part = Primal()(rest, d[~aside], sigma2, Context(background))
        assert background.level == pytest.approx(np.trace(k) / system.n_rows)
        errors.append(
            [
                np.abs(part.mean - whole.mean[~aside]).max(),
                abs(part.expected_rss - whole.expected_rss),
                abs(part.fit_trace - whole.fit_trace),
            ]
        )
    assert (np.array(errors[1]) < np.array(errors[0]) / 6).all()
    assert np.max(errors[1]) < 1e-3


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_background_growth_is_that_of_its_columns(shape):
    """(1 - leverage + gain) of three columns with equal weights, from sums that an engine has anyway."""
    system, d, sigma2, aside, _ = columns_aside(shape, size=1e-3)
    d[aside] = 1e-3 / system.column_ss[aside]
    k = (system.x[:, aside] * d[aside]) @ system.x[:, aside].T
    whole = Dual()(system, d, sigma2, Context())
    expected = np.mean(whole.second_moment[aside] / (sigma2 * d[aside]))
    rest, engine = system.take(~aside), Dual() if shape == "wide" else Primal()
    background = matrix_background(k) if shape == "wide" else absorb(None, system, aside, d[aside])
    part = engine(rest, d[~aside], sigma2, Context(background))
    assert part.background_growth - 1 == pytest.approx(expected - 1, rel=2e-2)


def test_background_fades_and_shrinks_with_the_columns():
    system, d, _, aside, k = columns_aside("long", 1e-2)
    background = absorb(None, system, aside, d[aside])
    half, part = background.faded(0.5), background.take(np.arange(5) < 2)
    direct = absorb(None, system, aside, 0.5 * d[aside])
    for ours, expected in zip(half.first + half.second, direct.first + direct.second, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)
    np.testing.assert_array_equal(part.first.gram, background.first.gram[:2, :2])
    assert matrix_background(k).faded(0.5).level == pytest.approx(np.trace(k) / 2 / len(k))


@pytest.mark.parametrize("shape", SHAPES)
def test_posterior_covariance(shape):
    system, d, sigma2 = problem(shape)
    covariance = posterior_covariance(system, d, sigma2)
    expected = reference(system, d, sigma2, "").covariance
    rows = np.random.default_rng(3).standard_normal((7, d.size))
    np.testing.assert_allclose(
        covariance.quadratic(rows), np.einsum("ij,jk,ik->i", rows, expected, rows), rtol=1e-9
    )
    part = covariance.take(np.arange(d.size) < 3).rescale(np.array([2.0, 1.0, 0.5]))
    np.testing.assert_allclose(part.quadratic(np.eye(3)), np.diag(expected)[:3] * [4.0, 1.0, 0.25], rtol=1e-9)
    if shape == "wide":
        assert covariance.factor.shape == system.x.shape  # n x p, never p x p


def test_blocks_do_not_change_the_answer(monkeypatch):
    import farrier.conditional.engines

    system, d, sigma2 = problem("wide")
    whole = Dual()(system, d, sigma2, Context())
    monkeypatch.setattr(
        farrier.conditional.engines, "BLOCK_BYTES", 8 * system.n_rows * 7
    )  # seven columns a block
    parts = Dual()(system, d, sigma2, Context())
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-12)
    np.testing.assert_allclose(parts.variance, whole.variance, rtol=1e-11, atol=1e-18)


@pytest.mark.parametrize(
    ("n", "k", "expectation", "iteration", "expected"),
    [
        (100, 20, "exact", 0, "Primal"),
        (100, 100, "exact", 0, "Primal"),
        (100, 101, "exact", 0, "Dual"),
        (100, 20, "approximate", 8, "Primal"),
        (100, 20, "approximate", 9, "DiagonalVariance"),
        (100, 500, "approximate", 8, "Dual"),
        (100, 500, "approximate", 9, "DiagonalVariance"),
        (100, 20, "stochastic", 0, "Stochastic"),
    ],
)
def test_choice_of_engine(n, k, expectation, iteration, expected):
    assert type(choose_e_step(n, k, expectation, iteration)).__name__ == expected


def test_only_the_dual_form_carries_a_background_matrix():
    background = matrix_background(np.eye(100, dtype=np.float32))
    assert isinstance(choose_e_step(100, 20, background=background), Dual)


def test_pruned_columns_fade_at_the_null_rate():
    """What `worth_keeping` lets go has E[b^2] halved by the next M-step, within six per cent."""
    system, d, sigma2 = problem("wide", size=1e-3)
    d[:5] = 0.5
    moments = Dual()(system, d, sigma2, Context())
    from farrier._types import Scales

    leaving = ~worth_keeping(moments, Scales(d, 1.0, sigma2)) & (d > 0)
    assert leaving.sum() > 3
    ratio = moments.second_moment[leaving] / (sigma2 * d[leaving])
    assert (np.abs(ratio - 1) < 0.06).all()


def wide_path(n=40, p=400, steps=6):
    """Yield the prior variances of a fit in its first iterations, when most columns fade."""
    rng = np.random.default_rng(5)
    x = np.asfortranarray(rng.standard_normal((n, p)))
    system = System(x, 3.0 * x[:, 0] - 2.0 * x[:, 1] + rng.standard_normal(n), float(n))
    d = 1e-3 * rng.gamma(0.5, 1.0, p)
    d[:2] = 0.5
    fade = np.full(p, 0.8)
    fade[:2] = 1.2
    return system, [d * fade**step for step in range(steps)]


def test_lazy_engine_stays_near_the_exact_one_while_most_columns_rest():
    system, path = wide_path()
    lazy = LazyDual(system)
    for d in path:
        ours, exact = lazy(system, d, 0.5), Dual()(system, d, 0.5)
        np.testing.assert_allclose(ours.mean, exact.mean, rtol=1e-4, atol=1e-6 * np.abs(exact.mean).max())
        np.testing.assert_allclose(ours.variance, exact.variance, rtol=5e-3)
        np.testing.assert_allclose(ours.fit_trace, exact.fit_trace, rtol=1e-3)
        np.testing.assert_allclose(ours.expected_rss, exact.expected_rss, rtol=1e-3)
        assert lazy.n_awake < 0.5 * system.n_columns
    assert ours.log_det is None


def test_lazy_engine_wakes_what_stirs():
    system, path = wide_path()
    lazy = LazyDual(system)
    lazy(system, path[0], 0.5)
    resting = np.flatnonzero(~lazy.awake)[:3]
    stirred = path[1].copy()
    stirred[resting] = 1.0
    lazy(system, stirred, 0.5)
    assert lazy.awake[resting].all()
    ours, exact = lazy(system, stirred, 0.5), Dual()(system, stirred, 0.5)
    np.testing.assert_allclose(ours.variance[resting], exact.variance[resting], rtol=1e-4)
    np.testing.assert_allclose(ours.variance, exact.variance, rtol=WAKE_LIMIT)  # at most the leverage


def test_lazy_engine_hands_over_what_leaves():
    system, path = wide_path()
    lazy = LazyDual(system)
    for d in path[:2]:
        lazy(system, d, 0.5)
    keep = np.arange(400) < 30
    background = lazy.background(system, keep, path[1])
    leaving = system.x[:, ~keep]
    expected = (leaving * path[1][~keep]) @ leaving.T
    np.testing.assert_allclose(np.tril(background.matrix), np.tril(expected), atol=1e-3 * expected.max())
    assert background.level == pytest.approx(np.trace(expected) / 40, rel=1e-6)
