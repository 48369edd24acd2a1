"""Conjugate gradients: means as exact as asked, variances as wrong as stated, and the mode of exact steps."""

import numpy as np
import pytest
from scipy import sparse

from farrier import HorseshoeClassifier, HorseshoeRegressor
from farrier.conditional.base import condition
from farrier.conditional.gradient import Gradient
from farrier.data.problem import plain


@pytest.fixture
def few(monkeypatch):
    """Exact steps take over late, so that small data take the way of large ones."""
    monkeypatch.setattr("farrier.em.gradient.FEW", 20)


def table(n, p, seed=0, rho=0.0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1.0 - rho**2) * x[:, j]
    return x, x[:, [3, 40, 77]] @ np.array([2.0, -2.0, 2.0]) + rng.standard_normal(n), rng


@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize(("n", "p"), [(150, 80), (80, 150)])
def test_variances_are_as_wrong_as_stated(n, p, rho):
    x, y, rng = table(n, p, rho=rho)
    problem, d = plain(x, y), rng.gamma(0.5, 0.05, p)
    exact = condition(problem, d)
    errors, stated, traces = [], [], []
    for seed in range(10):
        given = Gradient(problem, d, np.random.default_rng(seed))
        np.testing.assert_allclose(given.mean, exact.mean, rtol=0, atol=1e-5 * np.abs(exact.mean).max())
        errors.append(np.mean(((given.variance() - exact.variance()) / d) ** 2))
        stated.append(given.error)
        traces.append(given.fit_trace)
    assert np.sqrt(np.mean(errors)) < 1.5 * np.mean(stated)
    assert np.mean(stated) < 0.05
    assert abs(np.mean(traces) - exact.fit_trace) < 0.02 * exact.fit_trace + 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_mode_is_that_of_exact_steps(few, seed):
    x, y, _ = table(200, 400, seed)
    exact = HorseshoeRegressor(tol=1e-9).fit(x, y)
    ours = HorseshoeRegressor(expectation="conjugate_gradient", random_state=0, tol=1e-9).fit(x, y)
    assert np.count_nonzero(ours.support_ != exact.support_) <= 1
    assert ours.support_[[3, 40, 77]].all()
    if np.array_equal(ours.support_, exact.support_):
        np.testing.assert_allclose(ours.coef_, exact.coef_, rtol=1e-6)
        np.testing.assert_allclose(ours.coef_std_, exact.coef_std_, rtol=1e-5)
    told = [line.error for line in ours.trace_]
    assert told[0] is not None
    assert told[-1] is None  # the last steps were exact


def test_seeds_decide_and_sparse_is_dense(few):
    x, y, _ = table(120, 200)
    x = np.where(np.abs(x) < 1.0, 0.0, x)
    model = HorseshoeRegressor(expectation="conjugate_gradient", random_state=3)
    coef = model.fit(x, y).coef_
    assert np.array_equal(model.fit(x, y).coef_, coef)
    np.testing.assert_allclose(model.fit(sparse.csc_array(x), y).coef_, coef, rtol=1e-6, atol=1e-9)


def test_many_columns_to_the_end(monkeypatch):
    monkeypatch.setattr("farrier.em.gradient.FEW", 0)
    x, y, _ = table(150, 100)
    ours = HorseshoeRegressor(expectation="conjugate_gradient", random_state=0).fit(x, y)
    exact = HorseshoeRegressor().fit(x, y)
    assert ours.trace_[-1].error is not None
    assert ours.support_[[3, 40, 77]].all()
    np.testing.assert_allclose(ours.coef_[[3, 40, 77]], exact.coef_[[3, 40, 77]], rtol=0.02)
    np.testing.assert_allclose(ours.coef_std_[[3, 40, 77]], exact.coef_std_[[3, 40, 77]], rtol=0.2)
    ours.predict_interval(x[:3])


def test_classes(few):
    x, y, _ = table(300, 100)
    exact = HorseshoeClassifier().fit(x, y > 0.0)
    ours = HorseshoeClassifier(expectation="conjugate_gradient", random_state=0).fit(x, y > 0.0)
    assert np.count_nonzero(ours.support_ != exact.support_) <= 1


@pytest.mark.slow
def test_2000_by_5000_within_one_variable():
    apart = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((2000, 5000))
        b = np.zeros(5000)
        b[:15] = rng.choice([-1.0, 1.0], 15) * rng.uniform(0.3, 1.5, 15)
        y = x @ b + rng.standard_normal(2000)
        exact = HorseshoeRegressor().fit(x, y)
        ours = HorseshoeRegressor(expectation="conjugate_gradient", random_state=0).fit(x, y)
        apart.append(np.count_nonzero(ours.support_ != exact.support_))
    assert max(apart) <= 1, apart


def test_what_has_no_room_is_refused_and_the_engine_named(monkeypatch):
    monkeypatch.setattr("farrier._checks._free_memory", lambda: 1e5)
    monkeypatch.setattr("farrier._checks.NOTABLE", 1e5)
    x, y, _ = table(300, 200)
    with pytest.raises(ValueError, match=r"an exact fit of 300 rows and 200 columns.*conjugate_gradient"):
        HorseshoeRegressor().fit(x, y)
    HorseshoeRegressor(expectation="conjugate_gradient", random_state=0).fit(x, y)
