"""How many threads BLAS uses: one, except for a single call that is worth more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, get_ident
from typing import Any, ClassVar

# Floating-point operations of one BLAS call from which on several threads are worth it: 0.1 s of a core.
#
# Threads are woken for a call and wait actively for the next one, for up to 0.1 s each. So smaller calls cost
# more CPU time in waiting than in work, and on a busy machine more wall time too.
LARGE_CALL = 5e9


class _Hold:
    """Who holds BLAS to one thread right now, and the numbers of threads before."""

    lock = Lock()
    holders: ClassVar[Counter[int]] = Counter()
    strict = 0
    found: tuple[tuple[Any, int], ...] = ()


@contextmanager
def one_thread(strict: bool = False) -> Iterator[None]:
    """Hold BLAS to one thread; the last holder to end gives the threads back.

    A fit is a long chain of small operations, for which one thread is best. The number of threads belongs to
    the process, so all fits that run at the same time share one hold. With ``strict`` large calls have one
    thread too: where processes or threads of our own work side by side.

    Examples
    --------
    >>> with one_thread():
    ...     max((pool.num_threads for pool in _blas_pools()), default=1)
    1
    """
    own = get_ident()
    with _Hold.lock:
        if not _Hold.holders:
            _Hold.found = _numbers_of_threads()
        _Hold.holders[own] += 1
        _Hold.strict += strict
        _set_threads(1)
    try:
        yield
    finally:
        with _Hold.lock:
            _Hold.holders -= Counter((own,))
            _Hold.strict -= strict
            if own not in _Hold.holders:  # OpenMP counts for each thread separately
                _set_threads(None, every=not _Hold.holders)


def call_threads(operations: float) -> AbstractContextManager[None]:
    """Give BLAS its threads back for one call of so many floating-point operations, if it is worth them.

    Where several threads hold BLAS, each has a core to itself, and large calls have one thread too.

    Examples
    --------
    >>> with one_thread(), call_threads(1e6):
    ...     max((pool.num_threads for pool in _blas_pools()), default=1)
    1
    """
    return _given_back() if operations >= LARGE_CALL else nullcontext()


@contextmanager
def _given_back() -> Iterator[None]:
    with _Hold.lock:
        alone = set(_Hold.holders) == {get_ident()} and not _Hold.strict
        if alone:
            _set_threads(None)
    try:
        yield
    finally:
        if alone:
            with _Hold.lock:
                _set_threads(1)


def available_threads() -> int:
    """Return how many threads BLAS may use when nobody holds it to one.

    Examples
    --------
    >>> available_threads() >= 1
    True
    """
    with _Hold.lock:
        found = _Hold.found if _Hold.holders else _numbers_of_threads()
    return max((threads for _, threads in found), default=1)


def _numbers_of_threads() -> tuple[tuple[Any, int], ...]:
    """Return the pools, and how many threads each has."""
    return tuple([(pool, pool.num_threads) for pool in _blas_pools()])


def _set_threads(number: int | None, every: bool = True) -> None:
    """Give the pools that were found so many threads, or what they had; not ``every``: those of OpenMP."""
    for pool, before in _Hold.found:
        wanted = before if number is None else number
        openmp = getattr(pool, "threading_layer", "") == "openmp"
        if (every or openmp) and pool.num_threads != wanted:
            pool.set_num_threads(wanted)
            if hasattr(pool, "clear_controlling_thread"):  # or only one thread could ever set it
                pool.clear_controlling_thread(force=True)


@cache
def _blas_pools() -> tuple[Any, ...]:
    """Return the thread pools of the BLAS libraries of NumPy and SciPy, which are loaded for it."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return tuple(pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "blas")
