"""Every form of the coefficients given the scales, against plain inversion.

Long, square, wide, collinear and ill-conditioned problems.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

import oracles
from horseshoe._types import Scales
from horseshoe.conditional.base import condition, kernel, moments
from horseshoe.conditional.dual import Dual, DualKernel
from horseshoe.conditional.orthogonal import Orthogonal
from horseshoe.conditional.primal import Primal, PrimalKernel
from horseshoe.data import dense
from horseshoe.data.dense import Identity
from horseshoe.data.problem import LeastSquares, Targets, plain
from horseshoe.data.sparse import Sparse
from horseshoe.em.schedule import approximate, average_draws
from loops import each
from registry import FORMS
from systems import SHAPES, assert_moments, problem, reference

WITH_MOMENTS = [form for form in FORMS if form.moments and not form.orthogonal_only]


@each("kind", ["random", "collinear", "ill"])
@each("shape", SHAPES)
@each("form", WITH_MOMENTS, ids=lambda form: form.name)
def test_form_is_the_inverse(form, shape, kind):
    system, d, sigma2 = problem(shape, kind)
    found = moments(form.given(system, d), sigma2)
    expected = reference(system, d, sigma2, kind)
    assert_moments(found, expected, sigma2, form.rtol)
    if form.exact:
        np.testing.assert_allclose(found.log_det, expected.log_det, rtol=form.rtol)
    else:
        assert found.log_det is None


@given(st.integers(0, 10_000), st.sampled_from(sorted(SHAPES)), st.floats(1e-6, 1e3))
def test_primal_and_dual_agree(seed, shape, size):
    system, d, sigma2 = problem(shape, seed=seed, size=size)
    primal, dual = (moments(kind(system, d).at(1.0), sigma2) for kind in (PrimalKernel, DualKernel))
    scale = np.abs(primal.mean).max()
    np.testing.assert_allclose(primal.mean, dual.mean, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(primal.variance, dual.variance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(primal.fit_trace, dual.fit_trace, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(primal.expected_rss, dual.expected_rss, rtol=1e-9)
    np.testing.assert_allclose(primal.log_det, dual.log_det, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("home", [dense.Dense, lambda x: Sparse(csc_array(x))], ids=["dense", "sparse"])
def test_a_row_that_outweighs_the_others_leaves_them_their_digits(home):
    """X'X has 1e16 in its diagonal, and the prior adds 1: of what the other rows say four digits are left."""
    rng = np.random.default_rng(3)
    x, z, d = rng.standard_normal((12, 3)), rng.standard_normal(12), np.array([1.0, 0.5, 2.0])
    x[-1] *= 1e4
    weights = np.where(np.arange(12) == 11, 1e6, rng.uniform(0.5, 2.0, 12))
    system = LeastSquares(home(np.asfortranarray(x)), Targets(z, 12.0, weights))
    exact = oracles.conditional_moments_mp(np.sqrt(weights)[:, None] * x, system.z, d, 0.5)
    found = condition(system, d)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-7)
    np.testing.assert_allclose(0.5 * found.variance(), exact.covariance.diagonal(), rtol=1e-7)
    np.testing.assert_allclose(found.log_det, exact.log_det, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_approximate_variances_are_one_over_the_diagonal(shape):
    system, d, sigma2 = problem(shape)
    found = moments(approximate(system, d), sigma2)
    norm2 = (system.columns.dense() ** 2).sum(axis=0)
    with np.errstate(divide="ignore", over="ignore"):
        diagonal = 1 / (norm2 + 1 / d)
    np.testing.assert_allclose(found.mean, reference(system, d, sigma2).mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.variance, sigma2 * diagonal, rtol=1e-12)  # Eq. (11)
    np.testing.assert_allclose(found.fit_trace, (diagonal * norm2).sum(), rtol=1e-12)  # Eq. (12)
    assert found.log_det is None


def test_orthogonal_form_is_exact_for_orthogonal_columns():
    rng = np.random.default_rng(0)
    x = np.linalg.qr(rng.standard_normal((20, 6)))[0] * np.arange(1.0, 7.0)
    system, d = plain(x, rng.standard_normal(20)), rng.gamma(1.0, 1.0, 6)
    given = Orthogonal(system, d)
    expected = oracles.conditional_moments(x, system.z, d, 0.5)
    assert_moments(moments(given, 0.5), expected, 0.5, 1e-10)
    np.testing.assert_allclose(given.log_det, expected.log_det, rtol=1e-10)
    primal = PrimalKernel(system, d).at(1.0)
    np.testing.assert_allclose(given.quadratic, primal.quadratic, rtol=1e-10)
    np.testing.assert_allclose(given.covariance(0.5).quadratic(np.eye(6)), np.diag(expected.covariance))
    draws = given.draw(np.sqrt(0.5), np.random.default_rng(1), 100_000)
    np.testing.assert_allclose(draws.mean(axis=1), expected.mean, atol=0.01)
    np.testing.assert_allclose(draws.var(axis=1), np.diag(expected.covariance), rtol=0.03)


def test_normal_means_never_form_the_identity(monkeypatch):
    monkeypatch.setattr(Identity, "_x", property(lambda self: pytest.fail("the identity was formed")))
    z, d = np.array([3.0, -1.0, 0.2]), np.array([2.0, 0.5, 0.0])
    given = condition(LeastSquares(Identity(3), Targets(z, 3.0)), d)
    assert_moments(moments(given, 0.5), oracles.conditional_moments(np.eye(3), z, d, 0.5), 0.5, 1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_have_the_exact_moments(shape):
    system, d, sigma2 = problem(shape)
    expected = reference(system, d, sigma2)
    draws = condition(system, d).draw(np.sqrt(sigma2), np.random.default_rng(1), 200_000)
    error = np.sqrt(np.diag(expected.covariance) / 200_000)
    assert (np.abs(draws.mean(axis=1) - expected.mean) <= 5 * error).all()
    np.testing.assert_allclose(
        np.cov(draws), expected.covariance, atol=0.02 * np.abs(expected.covariance).max()
    )


def test_stochastic_em_averages_with_its_step():
    system, d, sigma2 = problem("long")
    scales, rng = Scales(d, 1.0, sigma2), np.random.default_rng(0)
    expected = reference(system, d, sigma2)
    first = average_draws(system, scales, None, 0, rng, n_draws=40_000)
    np.testing.assert_allclose(first.mean, expected.mean, atol=0.03)
    np.testing.assert_allclose(first.expected_rss, expected.rss + sigma2 * expected.fit_trace, rtol=0.01)
    stale = first._replace(mean=first.mean + 10.0)
    later = average_draws(system, scales, stale, 100, rng, n_draws=40_000)
    step = (100 / 10) ** -0.7
    np.testing.assert_allclose(later.mean, stale.mean + step * (first.mean - stale.mean), atol=0.03)


@pytest.mark.parametrize("shape", SHAPES)
def test_covariance(shape):
    system, d, sigma2 = problem(shape)
    covariance = condition(system, d).covariance(sigma2)
    expected = reference(system, d, sigma2).covariance
    rows = np.random.default_rng(3).standard_normal((7, d.size))
    np.testing.assert_allclose(
        covariance.quadratic(rows), np.einsum("ij,jk,ik->i", rows, expected, rows), rtol=1e-9
    )
    part = covariance.take(np.arange(d.size) < 3).rescale(np.array([2.0, 1.0, 0.5]))
    np.testing.assert_allclose(part.quadratic(np.eye(3)), np.diag(expected)[:3] * [4.0, 1.0, 0.25], rtol=1e-9)
    if shape == "wide":
        assert covariance.factor.shape == system.shape  # n x p, never p x p


def test_blocks_do_not_change_the_answer(monkeypatch):
    system, d, sigma2 = problem("wide")
    whole = moments(condition(system, d), sigma2)
    monkeypatch.setattr(dense, "BLOCK_BYTES", 8 * system.n_rows * 7)  # seven columns a block
    given = condition(system, d)
    draw, parts = given.draw(1.0, np.random.default_rng(0)), moments(given, sigma2)
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-12)
    np.testing.assert_allclose(parts.variance, whole.variance, rtol=1e-11, atol=1e-18)
    monkeypatch.undo()
    np.testing.assert_allclose(draw, condition(system, d).draw(1.0, np.random.default_rng(0)), rtol=1e-9)


@pytest.mark.parametrize(("n", "k", "form"), [(20, 5, Primal), (20, 20, Primal), (20, 21, Dual)])
def test_the_smaller_matrix_is_factorised(n, k, form):
    rng = np.random.default_rng(0)
    assert type(condition(plain(rng.standard_normal((n, k)), np.zeros(n)), np.ones(k))) is form


@pytest.mark.parametrize("shape", SHAPES)
def test_variances_do_not_spoil_what_is_asked_after_them(shape):
    system, d, _ = problem(shape)
    scaled = kernel(system, d)
    given = scaled.at(0.7)
    before, first = given.draw(1.0, np.random.default_rng(0)), given.variance()
    np.testing.assert_array_equal(given.draw(1.0, np.random.default_rng(0)), before)
    np.testing.assert_array_equal(scaled.at(0.7).variance(), first)
    some = np.arange(d.size) % 3 == 0
    whole, part = given.covariance(2.0), given.covariance(2.0, some)
    np.testing.assert_allclose(part.quadratic(np.eye(some.sum())), whole.quadratic(np.eye(d.size))[some])
