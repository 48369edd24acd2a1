"""Columns that fade give the others what they would give as columns."""

import numpy as np
import pytest

from horseshoe._types import Scales
from horseshoe.conditional.base import moments
from horseshoe.conditional.dual import DualKernel
from horseshoe.em.fast.fading import MatrixFading, Weight, absorb
from horseshoe.em.fast.schedule import worth_keeping
from systems import problem


def matrix_fading(k):
    return MatrixFading(Weight(np.trace(k), np.trace(k) ** 2 / 3), np.asfortranarray(np.tril(k)))


def exact(system, d, sigma2):
    return moments(DualKernel(system, d).at(1.0), sigma2)


def columns_aside(shape, size):
    """Return a problem, three of its columns put aside, and their matrix K."""
    system, d, sigma2 = problem(shape)
    aside = np.zeros(d.size, dtype=bool)
    aside[3:6] = True
    d[aside] *= size
    return (
        system,
        d,
        sigma2,
        aside,
        (system.columns.dense()[:, aside] * d[aside]) @ system.columns.dense()[:, aside].T,
    )


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_background_matrix_is_columns_put_aside(shape):
    """Columns in the background give the others what they would give as columns."""
    system, d, sigma2, aside, k = columns_aside(shape, size=1.0)
    background = matrix_fading(k)
    found = background.moments(system.take(~aside), d[~aside], sigma2, approximate=False, single=False)
    whole = exact(system, d, sigma2)
    np.testing.assert_allclose(found.mean, whole.mean[~aside], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.variance, whole.variance[~aside], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.expected_rss, whole.expected_rss, rtol=1e-9)


@pytest.mark.parametrize("absorbed", [True, False], ids=["absorbed", "expanded"])
def test_expanded_background_is_right_to_the_second_order(absorbed):
    """Halving K divides the error by eight."""
    errors = []
    for size in (2e-3, 1e-3):
        system, d, sigma2, aside, k = columns_aside("long", size)
        matrix = matrix_fading(k)
        rest = system.take(~aside)
        background = absorb(None, system, aside, d[aside]) if absorbed else matrix.expanded(rest)
        whole = exact(system, d, sigma2)
        part = background.moments(rest, d[~aside], sigma2, approximate=False, single=False)
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
    d[aside] = 1e-3 / system.squares[aside]
    k = (system.columns.dense()[:, aside] * d[aside]) @ system.columns.dense()[:, aside].T
    whole = exact(system, d, sigma2)
    expected = np.mean(whole.second_moment[aside] / (sigma2 * d[aside]))
    rest = system.take(~aside)
    background = matrix_fading(k) if shape == "wide" else absorb(None, system, aside, d[aside])
    part = background.moments(rest, d[~aside], sigma2, approximate=False, single=False)
    assert part.fading_growth - 1 == pytest.approx(expected - 1, rel=2e-2)


def test_background_fades_and_shrinks_with_the_columns():
    system, d, _, aside, k = columns_aside("long", 1e-2)
    background = absorb(None, system, aside, d[aside])
    half, part = background.faded(0.5), background.first.take(np.arange(5) < 2)
    direct = absorb(None, system, aside, 0.5 * d[aside])
    for ours, expected in zip(half.first + half.second, direct.first + direct.second, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)
    np.testing.assert_array_equal(part.gram, background.first.gram[:2, :2])
    assert matrix_fading(k).faded(0.5).level == pytest.approx(np.trace(k) / 2 / len(k))


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_approximate_variances_count_what_fades_in_the_trace(shape):
    """Diagonal variances beside a background: the mean sees it, the trace has its weight."""
    system, d, sigma2, aside, k = columns_aside(shape, size=1e-4)
    background = matrix_fading(k) if shape == "wide" else absorb(None, system, aside, d[aside])
    rest, d = system.take(~aside), d[~aside]
    rough = background.moments(rest, d, sigma2, approximate=True, single=False)
    fine = background.moments(rest, d, sigma2, approximate=False, single=False)
    np.testing.assert_allclose(rough.mean, fine.mean, rtol=1e-12)
    shrunk = d / (1.0 + d * rest.diagonal)
    np.testing.assert_allclose(rough.variance, sigma2 * shrunk, rtol=1e-12)
    np.testing.assert_allclose(rough.fit_trace, (shrunk * rest.diagonal).sum() + np.trace(k), rtol=1e-9)


def test_pruned_columns_fade_at_the_null_rate():
    """What `worth_keeping` lets go has E[b^2] halved by the next M-step, within six per cent."""
    system, d, sigma2 = problem("wide", size=1e-3)
    d[:5] = 0.5
    found = exact(system, d, sigma2)
    leaving = ~worth_keeping(found, Scales(d, 1.0, sigma2)) & (d > 0)
    assert leaving.sum() > 3
    ratio = found.second_moment[leaving] / (sigma2 * d[leaving])
    assert (np.abs(ratio - 1) < 0.06).all()
