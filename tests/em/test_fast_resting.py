"""The engine whose columns rest stays near the exact one."""

import numpy as np
import pytest

from horseshoe.conditional.base import condition, moments
from horseshoe.data.problem import LeastSquares, Targets, plain
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.resting import let_rest
from registry import COLUMNS


def wide_path(n=40, p=400, steps=6):
    """Yield the prior variances of a fit in its first iterations, when most columns fade."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((n, p))
    system = plain(x, 3.0 * x[:, 0] - 2.0 * x[:, 1] + rng.standard_normal(n))
    d = 1e-3 * rng.gamma(0.5, 1.0, p)
    d[:2] = 0.5
    fade = np.full(p, 0.8)
    fade[:2] = 1.2
    return system, [d * fade**step for step in range(steps)]


def engine(system, single=True):
    return let_rest(system, system.columns.squares(), single)


def exact(system, d):
    return moments(condition(system, d), 0.5)


def assert_near(ours, theirs):
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-4, atol=1e-6 * np.abs(theirs.mean).max())
    np.testing.assert_allclose(ours.variance, theirs.variance, rtol=5e-3)
    np.testing.assert_allclose(ours.fit_trace, theirs.fit_trace, rtol=1e-3)
    np.testing.assert_allclose(ours.expected_rss, theirs.expected_rss, rtol=1e-3)
    assert ours.log_det is None


def test_it_stays_near_the_exact_one_while_most_columns_rest():
    system, path = wide_path()
    lazy = engine(system)
    for d in path:
        ours, lazy = lazy.moments(system, d, 0.5)
        assert_near(ours, exact(system, d))
        assert lazy.n_awake < 0.5 * system.n_columns


@pytest.mark.parametrize("home", ["fortran", "csc"])
def test_it_stays_near_the_exact_one_where_weights_move(home):
    """K is of the columns without weights, so that new weights cost an n x n matrix only."""
    system, path = wide_path()
    columns, rng = COLUMNS[home](system.columns.dense()), np.random.default_rng(1)
    lazy = engine(LeastSquares(columns, system.targets), single=False)
    for step, d in enumerate(path):
        weights = rng.uniform(0.8, 1.2, 40) * (1.0 + 0.1 * step)
        moved = LeastSquares(columns, Targets(system.z, 40.0, weights, center=True))
        ours, lazy = lazy.moments(moved, d, 0.5)
        assert_near(ours, exact(moved, d))
        assert lazy.n_awake < 0.5 * system.n_columns
    assert lazy.dtype is np.float32  # double only while the matrix is large


def test_it_wakes_what_stirs():
    system, path = wide_path()
    _, lazy = engine(system).moments(system, path[0], 0.5)
    resting = np.flatnonzero(~lazy.awake)[:3]
    stirred = path[1].copy()
    stirred[resting] = 1.0
    _, lazy = lazy.moments(system, stirred, 0.5)
    assert lazy.awake[resting].all()
    ours, _ = lazy.moments(system, stirred, 0.5)
    theirs = exact(system, stirred)
    np.testing.assert_allclose(ours.variance[resting], theirs.variance[resting], rtol=1e-4)
    np.testing.assert_allclose(ours.variance, theirs.variance, rtol=LIMITS.wake)  # at most the leverage


def test_it_hands_over_what_leaves():
    system, path = wide_path()
    lazy = engine(system)
    for d in path[:2]:
        _, lazy = lazy.moments(system, d, 0.5)
    keep = np.arange(400) < 30
    background = lazy.fading(keep, path[1])
    leaving = system.columns.dense()[:, ~keep]
    expected = (leaving * path[1][~keep]) @ leaving.T
    np.testing.assert_allclose(np.tril(background.matrix), np.tril(expected), atol=1e-3 * expected.max())
    assert background.level == pytest.approx(np.trace(expected) / 40, rel=1e-6)


def test_it_forgets_what_is_gone():
    system, path = wide_path()
    lazy = engine(system)
    for d in path[:2]:
        _, lazy = lazy.moments(system, d, 0.5)
    keep = np.arange(400) < 100
    ours, _ = lazy.take(keep).moments(system.take(keep), path[2][keep], 0.5)
    assert_near(ours, exact(system.take(keep), path[2][keep]))


def test_all_may_wake():
    """What is left of K when nobody rests is nothing, whatever rounding left of the matrix."""
    system, path = wide_path()
    _, lazy = engine(system).moments(system, path[0], 0.5)
    awake = lazy._replace(awake=np.ones(400, dtype=bool), in_k=np.zeros(400), part=lazy.columns)
    assert awake.k is not None
    ours, _ = awake.moments(system, path[1], 0.5)
    assert_near(ours, exact(system, path[1]))
