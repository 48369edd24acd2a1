"""How many threads BLAS has: one during a fit, except in single calls that are worth more."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor, linalg
from horseshoe.cli.app import app
from horseshoe.data import products
from horseshoe.families import Poisson
from horseshoe.intake import leakage, read
from horseshoe.threads import LARGE_CALL, _blas_pools, available_threads, call_threads, one_thread


@contextmanager
def two_threads():
    """Give BLAS two threads for a while."""
    pools = _blas_pools()
    with threadpool_limits(2, "blas"):
        yield pools


def counts():
    return {pool.num_threads for pool in _blas_pools()}


def spy(monkeypatch, place, name):
    """Record the number of threads whenever a function is called, and the arguments."""
    seen, there = [], getattr(place, name)

    def look(*args, **kwargs):
        seen.append((counts(), args))
        return there(*args, **kwargs)

    monkeypatch.setattr(place, name, look)
    return seen


def spy_calls(monkeypatch):
    """Record the number of threads in force in every call of dsyrk and dtrsm, and the size of its array."""
    seen = []

    class Spy:
        def __getattr__(self, name):
            there = getattr(linalg_blas, name)
            if name not in ("dsyrk", "ssyrk", "dtrsm", "strsm"):
                return there

            def look(*args, **kwargs):
                array = args[1] if name.endswith("syrk") else args[2]
                seen.append((counts(), name, array.shape))
                return there(*args, **kwargs)

            return look

    linalg_blas = linalg.blas
    monkeypatch.setattr(linalg, "blas", Spy())
    return seen


def test_threads_are_held_in_worker_threads_too():
    """Fits of several families beside each other, some of which fail: one thread throughout, two after."""
    X, y = load_diabetes(return_X_y=True)
    seen = []

    class Watched(Poisson):
        def working(self, y, eta, sigma2):  # also asked for while the fit is still being started
            seen.append(counts())
            return super().working(y, eta, sigma2)

    def fit(k):
        def look(_):
            seen.append(counts())
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
        HorseshoeRegressor(callback=lambda _: seen.append(counts())).fit(X, y)
        assert set().union(*seen) == {1}
        assert counts() == {2}

        def fail(_):
            raise RuntimeError

        with pytest.raises(RuntimeError):
            HorseshoeRegressor(callback=fail).fit(X, y)
        assert counts() == {2}


@pytest.mark.parametrize("estimator", [HorseshoeRegressor, AdaptiveRegressor])
def test_a_tall_fit_sums_its_blocks_with_one_thread(estimator, monkeypatch):
    """All rows together would be worth two threads, but BLAS is given 2,048 of them at a time."""
    n, p = 135_000, 200
    assert n * p * p > LARGE_CALL
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    y = X[:, 0] + rng.standard_normal(n)
    options = {} if estimator is HorseshoeRegressor else {"cv": 2, "components": ["ridge"]}
    model = estimator(**options)
    seen, blocks = [], spy(monkeypatch, products, "add_squares")
    model.set_params(callback=lambda _: seen.append(counts()))
    with two_threads():
        model.fit(X, y)
        assert counts() == {2}
    assert len(blocks) >= n / products.BLOCK_ROWS
    assert max(len(args[0]) for _, args in blocks) <= products.BLOCK_ROWS
    assert set().union(*(found for found, _ in blocks), *seen) == {1}


def test_a_tall_fit_with_moving_weights_has_one_thread(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((140_000, 200))
    y = rng.random(140_000) < 0.5
    calls, seen = spy_calls(monkeypatch), []
    model = HorseshoeClassifier(max_iter=2, callback=lambda _: seen.append(counts()))
    with two_threads(), pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert len(calls) > 30
    assert set().union(*seen, *(found for found, *_ in calls)) == {1}


def test_single_calls_that_are_worth_it_have_all_threads(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1600, 2500))
    y = 10.0 * X[:, 0] + rng.standard_normal(1600)
    calls, seen = spy_calls(monkeypatch), []
    model = HorseshoeRegressor(max_iter=2, callback=lambda _: seen.append(counts()))
    with two_threads(), pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    large = [found for found, _, (n, k) in calls if n * n * k >= LARGE_CALL]
    small = [found for found, _, (n, k) in calls if n * n * k < LARGE_CALL]
    assert len(large) >= 3
    assert set().union(*large) == {2}
    assert set().union(*small, *seen) == {1}


def test_the_size_of_a_call_decides():
    with two_threads(), one_thread():
        with call_threads(0.99 * LARGE_CALL):
            assert counts() == {1}
        with call_threads(2000.0 * 2000.0 * 5000.0):
            assert counts() == {2}
        assert counts() == {1}
        with pytest.raises(np.linalg.LinAlgError), call_threads(LARGE_CALL):
            np.linalg.cholesky(-np.eye(2))
        assert counts() == {1}
        assert available_threads() == 2


def test_large_calls_share_no_threads():
    """Where processes or threads work side by side, a large call has one thread too."""

    def inner():
        with one_thread(), call_threads(LARGE_CALL):
            return counts()

    with two_threads():
        with one_thread(strict=True), one_thread(), call_threads(LARGE_CALL):
            assert counts() == {1}
        with one_thread(), ThreadPoolExecutor(1) as pool:
            assert pool.submit(inner).result() == {1}
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(inner).result() == {2}
        assert counts() == {2}


def test_the_intake_and_the_command_line_have_one_thread(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    table = np.column_stack([X, X[:, 0] + rng.standard_normal(60)])
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    np.savetxt(path, table, delimiter=",", header="a,b,c,y", comments="")
    looked, tables = spy(monkeypatch, leakage, "_correlations"), spy(monkeypatch, read, "read_table")
    with two_threads():
        leakage.find_leaks({}, X, ("a", "b", "c"), table[:, 3], "y")
        for command in (["fit", path, "--target", "y", "--model", model], ["predict", model, path]):
            done = CliRunner().invoke(app, [str(word) for word in command])
            assert done.exit_code == 0, done.output
        assert [found for found, _ in looked] == [{1}] * 2
        assert [found for found, _ in tables] == [{1}] * 2
        assert counts() == {2}
