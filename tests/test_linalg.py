"""The threads that a fit takes and gives back, and inverses of triangles."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from threadpoolctl import threadpool_limits

from farrier import HorseshoeRegressor
from farrier.families import Poisson
from farrier.linalg import _blas_pools, fitting_threads, inverse_trace, triangular_inverse


@contextmanager
def two_threads():
    """Give BLAS two threads for a while."""
    pools = _blas_pools()
    with threadpool_limits(2, "blas"):
        yield pools


def test_threads_are_held_in_worker_threads_too():
    """Fits of several families beside each other, some of which fail: one thread throughout, two after."""
    X, y = load_diabetes(return_X_y=True)
    seen = []

    class Watched(Poisson):
        def working(self, y, eta, sigma2):  # also asked for while the fit is still being started
            seen.append({pool.num_threads for pool in _blas_pools()})
            return super().working(y, eta, sigma2)

    def fit(k):
        def look(_):
            seen.append({pool.num_threads for pool in _blas_pools()})
            if k % 4 == 3:
                raise RuntimeError

        family = Watched() if k % 2 else "gaussian"
        try:
            HorseshoeRegressor(family=family, callback=look).fit(X, np.rint(y / 50))
        except RuntimeError:
            return "failed"
        return "fitted"

    with two_threads() as pools:
        with ThreadPoolExecutor(3) as pool:
            ends = list(pool.map(fit, range(12)))
        assert ends.count("failed") == 3
        assert {pool.num_threads for pool in pools} == {2}
    assert set().union(*seen) == {1}


def test_threads_are_held_during_a_small_fit_and_given_back():
    X, y = load_diabetes(return_X_y=True)
    with two_threads() as pools:
        assert pools  # NumPy's BLAS at least
        seen = []
        model = HorseshoeRegressor(callback=lambda _: seen.append([pool.num_threads for pool in pools]))
        model.fit(X, y)
        assert all(count == 1 for counts in seen for count in counts)
        assert [pool.num_threads for pool in pools] == [2] * len(pools)

        def fail(_):
            raise RuntimeError

        with pytest.raises(RuntimeError):
            HorseshoeRegressor(callback=fail).fit(X, y)
        assert [pool.num_threads for pool in pools] == [2] * len(pools)
        with fitting_threads(5_000, 50_000):
            assert [pool.num_threads for pool in pools] == [2] * len(pools)


@pytest.mark.parametrize("size", [1, 64, 65, 150, 300])
def test_inverses_of_triangles(size):
    rng = np.random.default_rng(size)
    x = rng.standard_normal((2 * size, size))
    factor = np.asfortranarray(np.linalg.cholesky(x.T @ x))
    inverse = triangular_inverse(factor)
    np.testing.assert_allclose(inverse @ factor, np.eye(size), atol=1e-10)
    np.testing.assert_allclose(inverse_trace(factor), np.trace(np.linalg.inv(x.T @ x)), rtol=1e-9)
