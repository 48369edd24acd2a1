"""Nothing to find, nothing that varies, no noise: a fit, not an error."""

from __future__ import annotations

import numpy as np
import pytest

from horseshoe import HorseshoeRegressor, Status
from refusals import assert_says, refused
from refused_data import N, P, make_data

pytestmark = pytest.mark.filterwarnings("error")


def assert_no_variables(est: HorseshoeRegressor, X: np.ndarray, expected: float) -> None:
    np.testing.assert_array_equal(est.coef_, np.zeros(X.shape[1]))
    np.testing.assert_array_equal(est.coef_std_, np.zeros(X.shape[1]))
    np.testing.assert_array_equal(est.support_, np.zeros(X.shape[1], dtype=bool))
    np.testing.assert_allclose(est.predict(X), np.full(len(X), expected), rtol=1e-12, atol=1e-15)
    mean, std = est.predict(X, return_std=True)
    np.testing.assert_allclose(mean, np.full(len(X), expected), rtol=1e-12, atol=1e-15)
    assert np.all(np.isfinite(std))
    assert np.all(std >= 0)
    np.testing.assert_array_equal(np.asarray(est.coef_interval(method="mode"), dtype=float), 0.0)
    assert np.all(np.isfinite(est.predict_interval(X, method="mode")))
    assert len(est.summary(method="mode")) == X.shape[1] + bool(est.fit_intercept)
    assert not np.any(np.asarray(est.summary(method="mode")["selected"]))


@pytest.mark.parametrize("family", ["student_t", "laplace"])
def test_constant_y_without_an_intercept_has_a_scale(family: str) -> None:
    """All deviations from the median are zero, but y is not: its size is then its scale."""
    X, _ = make_data()
    est = HorseshoeRegressor(family=family, fit_intercept=False, max_iter=300).fit(X, np.full(N, 3.0))
    larger = HorseshoeRegressor(family=family, fit_intercept=False, max_iter=300).fit(X, np.full(N, 12.0))
    np.testing.assert_allclose(larger.coef_, 4.0 * est.coef_, rtol=1e-9)
    assert np.isfinite(est.predict(X)).all()


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e8 / 3, 1e-300])
@pytest.mark.parametrize("wide", [False, True])
def test_constant_y(value: float, wide: bool) -> None:
    """0.1 and 1e8/3 are here because their rounded mean need not be the value itself."""
    X, _ = make_data()
    X = np.random.default_rng(4).standard_normal((N, 2 * N)) if wide else X
    est = HorseshoeRegressor().fit(X, np.full(N, value))
    assert_no_variables(est, X, value)
    assert_says(str(est.status_), r"\by\b|response|target", "constant")
    np.testing.assert_allclose(est.sigma2_, 0.0, rtol=0, atol=1e-20 * max(1.0, value**2))


def test_y_constant_where_the_weights_are_not_zero() -> None:
    X, y = make_data()
    weights = np.zeros(N)
    weights[:20] = 1.5
    y[:20] = 0.1
    est = HorseshoeRegressor().fit(X, y, sample_weight=weights)
    assert_no_variables(est, X, 0.1)
    assert_says(str(est.status_), "constant")


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e8 / 3])
@pytest.mark.parametrize("columns", [1, P, 2 * N])
def test_constant_x(value: float, columns: int) -> None:
    _, y = make_data()
    X = np.full((N, columns), value)
    est = HorseshoeRegressor().fit(X, y)
    assert_no_variables(est, X, float(y.mean()))
    assert_says(str(est.status_), r"\bX\b|column|feature|variable", "constant")
    np.testing.assert_allclose(est.sigma2_, y.var(), rtol=1e-12)


def test_one_constant_column_is_an_exact_zero() -> None:
    X, y = make_data()
    want = HorseshoeRegressor(tol=1e-10).fit(X, y)
    given = np.insert(X, 3, 0.1, axis=1)
    est = HorseshoeRegressor(tol=1e-10).fit(given, y)
    assert est.coef_[3] == 0.0
    assert est.coef_std_[3] == 0.0
    np.testing.assert_array_equal(
        np.asarray(est.coef_interval(method="mode"), dtype=float).reshape(-1, 2)[3], [0.0, 0.0]
    )
    np.testing.assert_allclose(np.delete(est.coef_, 3), want.coef_, rtol=1e-10, atol=0)
    np.testing.assert_array_equal(np.flatnonzero(want.coef_), [1])


def test_nothing_to_find_is_a_fit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 4)), rng.standard_normal(200)
    est = HorseshoeRegressor().fit(X, y)
    assert_no_variables(est, X, float(y.mean()))
    assert_says(str(est.status_), r"no variable|nothing")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(50, 6), (20, 20), (30, 80)], ids=["long", "square", "wide"])
def test_data_without_noise_are_a_fit(shape: tuple[int, int], seed: int) -> None:
    """sigma2 goes to zero and lambda2 to infinity: the fit has to stop before they overflow."""
    X = np.random.default_rng(seed).standard_normal(shape)
    y = 2.0 * X[:, 0] - X[:, 1]
    est = HorseshoeRegressor(max_iter=500).fit(X, y)
    assert np.all(np.isfinite(est.coef_))
    assert np.all(np.isfinite(est.coef_std_))
    assert 0.0 <= est.sigma2_ < 0.1 * y.var()
    np.testing.assert_allclose(est.predict(X), y, rtol=0, atol=0.5 * y.std())


@pytest.mark.parametrize("rows", [3, 200])
@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace"])
def test_constant_y_in_families_with_noise(family: str, rows: int) -> None:
    """There is no noise: an interval is a point, and y has no density."""
    X, _ = make_data()
    est = HorseshoeRegressor(family=family).fit(X, np.full(N, 2.5))
    new = np.random.default_rng(1).standard_normal((rows, P))
    np.testing.assert_array_equal(est.predict_interval(new, method="mode"), np.full((rows, 2), 2.5))
    np.testing.assert_array_equal(est.predict(new, return_std=True)[1], np.zeros(rows))
    assert_says(refused(lambda: est.log_likelihood(X, np.full(N, 2.5))), "noise variance is 0", "constant y")


@pytest.mark.parametrize("family", ["gaussian", "student_t"])
@pytest.mark.parametrize("prior", ["lasso", "student_t"])
def test_a_noise_variance_that_runs_to_zero_is_said(prior: str, family: str) -> None:
    """More columns than rows, and a prior under which nothing vanishes: the fit goes through every row."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 120))
    y = X[:, :4].sum(axis=1) + rng.standard_normal(30)
    est = HorseshoeRegressor(prior=prior, family=family, lambda_power=1.0).fit(X, y)
    assert est.sigma2_ < 1e-5 * y.var()
    assert est.status_ is Status.NO_NOISE
    assert est.status_.converged
    assert_says(str(est.status_), "noise variance ran towards zero", "every row", "sigma2")


def test_a_fit_with_noise_is_not_said_to_have_none() -> None:
    X, y = make_data()
    assert HorseshoeRegressor().fit(X, y).status_ is Status.CONVERGED
    known = HorseshoeRegressor(prior="lasso", sigma2=1e-9).fit(X, y)
    assert known.status_ is Status.CONVERGED  # the user knows
