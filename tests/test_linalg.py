"""The threads that a fit takes and gives back."""

import pytest
from sklearn.datasets import load_diabetes

from farrier import HorseshoeRegressor
from farrier.linalg import _blas_pools, fitting_threads


def test_threads_are_held_during_a_small_fit_and_given_back():
    X, y = load_diabetes(return_X_y=True)
    pools = _blas_pools()
    assert pools  # NumPy's BLAS at least
    before = [pool.num_threads for pool in pools]
    try:
        for pool in pools:
            pool.set_num_threads(2)
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
    finally:
        for pool, threads in zip(pools, before, strict=True):
            pool.set_num_threads(threads)
