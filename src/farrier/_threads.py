"""How many threads the linear algebra of a fit may use.

A fit is a long chain of small operations. For most shapes the threads of BLAS spend more time on waiting for
each other than on work, and on a busy machine far more: then one is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

MANY_FLOPS = 2e9
"""Products of a full-width iteration, n^2 p, from which on more threads are likely to pay."""


@contextmanager
def fitting_threads(n_rows: int, n_columns: int) -> Iterator[None]:
    """Hold BLAS to one thread unless the problem is large; give the threads back at the end.

    Examples
    --------
    >>> with fitting_threads(100, 1000):
    ...     max((pool.num_threads for pool in _blas_pools()), default=1)
    1
    """
    small = float(min(n_rows, n_columns)) ** 2 * max(n_rows, n_columns) < MANY_FLOPS
    busy = [(pool, pool.num_threads) for pool in _blas_pools() if small and pool.num_threads > 1]
    for pool, _ in busy:
        pool.set_num_threads(1)
    try:
        yield
    finally:
        for pool, threads in busy:
            pool.set_num_threads(threads)


@cache
def _blas_pools() -> tuple[Any, ...]:
    """Return the thread pools of the BLAS libraries that NumPy and SciPy have loaded."""
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return tuple(pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "blas")
