"""What users touch: intervals, predictions, starts, tables."""

import sys
import warnings
from zlib import crc32

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes

import oracles
from horseshoe import HorseshoeRegressor, Status
from horseshoe_reproduction import table3
from simulate import linear


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def direct_covariance(model, X):
    """Cov of the selected coefficients in the user's units, by inversion of the conditional posterior."""
    support = model.support_
    x = X[:, support] - X[:, support].mean(axis=0)
    scale = x.std(axis=0)
    d = model.tau2_ * model.lambda2_[support] / scale**2  # Var[b] = sigma2 d in the units of X and y
    return model.sigma2_ * np.linalg.inv(x.T @ x + np.diag(1 / d))


@pytest.mark.parametrize("shape", [(120, 10), (60, 150)])
def test_predictive_deviation_is_noise_and_coefficients_and_intercept(shape):
    X, y, _ = linear(*shape, n_signals=4)
    model = HorseshoeRegressor().fit(X, y)
    new = linear(7, shape[1], seed=1)[0]
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(new))
    np.testing.assert_allclose(mean, new @ model.coef_ + model.intercept_)
    centred = (new - X.mean(axis=0))[:, model.support_]
    spread = np.einsum("ij,jk,ik->i", centred, direct_covariance(model, X), centred)
    np.testing.assert_allclose(std, np.sqrt(model.sigma2_ * (1 + 1 / len(y)) + spread), rtol=1e-8)
    coef_std = np.sqrt(np.diag(direct_covariance(model, X)))
    np.testing.assert_allclose(model.coef_std_[model.support_], coef_std, rtol=1e-8)


def test_predictive_deviation_in_the_dual_form():
    """A dense prior with p > n keeps every column: the covariance is n x p inside."""
    X, y, _ = linear(30, 80, n_signals=4)
    model = HorseshoeRegressor(prior="student_t").fit(X, y)
    assert model.support_.all()
    new = linear(5, 80, seed=1)[0]
    centred = new - X.mean(axis=0)
    spread = np.einsum("ij,jk,ik->i", centred, direct_covariance(model, X), centred)
    _, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(std, np.sqrt(model.sigma2_ * (1 + 1 / 30) + spread), rtol=1e-7)


def test_intervals_are_gaussian_and_a_zero_is_a_zero(diabetes):
    X, y = diabetes
    model = HorseshoeRegressor().fit(X, y)
    interval = model.coef_interval(0.9)
    np.testing.assert_allclose(interval.mean(axis=1), model.coef_, atol=1e-12)
    np.testing.assert_allclose(np.diff(interval)[:, 0], 2 * 1.6448536269514722 * model.coef_std_)
    assert (interval[~model.support_] == 0).all()
    assert (model.coef_std_[~model.support_] == 0).all()
    wide, narrow = model.predict_interval(X, 0.95), model.predict_interval(X, 0.5)
    assert ((wide[:, 0] < narrow[:, 0]) & (narrow[:, 1] < wide[:, 1])).all()
    assert 0.92 < np.mean((wide[:, 0] < y) & (y < wide[:, 1])) < 0.98


def test_summary_is_the_fit(diabetes):
    X, y = diabetes
    model = HorseshoeRegressor().fit(X, y)
    table = model.summary(level=0.8)
    assert list(table.columns) == [
        *("feature", "coef", "std", "lower", "upper", "per_sd", "shrinkage", "selected")
    ]
    assert list(table["feature"]) == ["(Intercept)", *X.columns]
    first, table = table.iloc[0], table[1:]
    assert first["coef"] == model.intercept_
    assert not first["selected"]
    assert np.isnan([first["per_sd"], first["shrinkage"]]).all()
    np.testing.assert_array_equal(table["per_sd"], model.coef_ * model.scale_)
    np.testing.assert_array_equal(table["coef"], model.coef_)
    np.testing.assert_array_equal(table[["lower", "upper"]], model.coef_interval(0.8))
    np.testing.assert_array_equal(table["selected"], model.support_)
    kappa = 1 / (1 + len(y) * model.tau2_ * model.lambda2_)
    np.testing.assert_allclose(table["shrinkage"], kappa)


def test_constant_columns_are_exact_zeros_and_change_nothing():
    X, y, _ = linear(80, 10, n_signals=4)
    with_constants = np.insert(X, [3, 7], [5.0, 0.1], axis=1)
    plain, model = HorseshoeRegressor().fit(X, y), HorseshoeRegressor().fit(with_constants, y)
    assert model.coef_[3] == model.coef_[8] == 0.0
    np.testing.assert_array_equal(np.delete(model.coef_, [3, 8]), plain.coef_)
    assert model.intercept_ == plain.intercept_


def test_without_intercept_nothing_is_centred():
    X, y, _ = linear(80, 6, n_signals=4)
    X = X + 3.0
    model = HorseshoeRegressor(fit_intercept=False, tol=1e-12).fit(X, y)
    assert model.intercept_ == 0.0
    x_scale, y_scale = np.sqrt((X**2).mean(axis=0)), np.sqrt((y**2).mean())
    expected = oracles.plain_em(X / x_scale, y / y_scale, 1e-12, 10_000)
    np.testing.assert_allclose(model.coef_, expected["coef"] * y_scale / x_scale, rtol=1e-8)


def test_without_standardising_the_prior_acts_on_raw_columns():
    X, y, _ = linear(80, 6, n_signals=4)
    once = HorseshoeRegressor(standardize=False).fit(X, y)
    scaled = HorseshoeRegressor(standardize=False).fit(X * 10.0, y)
    assert np.abs(scaled.coef_ * 10.0 - once.coef_).max() > 1e-6
    x = X - X.mean(axis=0)
    d = once.tau2_ * once.lambda2_
    s = once.support_
    mean = np.linalg.solve(x[:, s].T @ x[:, s] + np.diag(1 / d[s]), x[:, s].T @ (y - y.mean()))
    np.testing.assert_allclose(once.coef_[s], mean, rtol=1e-6)


@pytest.mark.parametrize("family", ["gaussian", "student_t", "poisson", "binomial"])
@pytest.mark.parametrize("unit", [1e5, 1e-4])
def test_columns_in_large_units_are_fitted_to_the_end_too(family, unit):
    """Coefficients of 1e-5 for one unit of X are no small change."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 20))
    y = X[:, :3] @ [3.0, 2.0, 1.0] + rng.standard_normal(80)
    y = {"poisson": np.round(np.exp(y / 3.0)), "binomial": (y > 0.0) * 1.0}.get(family, y)
    loose, tight = (
        HorseshoeRegressor(family, standardize=False, tol=tol).fit(unit * X, y) for tol in (1e-5, 1e-10)
    )
    np.testing.assert_allclose(unit * loose.coef_, unit * tight.coef_, rtol=1e-4, atol=1e-4)


def test_known_noise_is_in_the_users_units():
    X, y, _ = linear(80, 10, n_signals=4)
    model = HorseshoeRegressor(sigma2=9.0).fit(X, y)
    assert model.sigma2_ == pytest.approx(9.0, rel=1e-12)
    thousand = HorseshoeRegressor(sigma2=9e6).fit(X, 1000.0 * y)
    np.testing.assert_allclose(thousand.coef_, 1000.0 * model.coef_, rtol=1e-9)


def test_offset_is_a_known_part():
    X, y, _ = linear(80, 10, n_signals=4)
    offset = np.linspace(-50, 50, 80)
    plain, model = HorseshoeRegressor().fit(X, y), HorseshoeRegressor().fit(X, y + offset, offset=offset)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X, offset=offset), plain.predict(X) + offset)
    with pytest.raises(ValueError, match="offset"):
        model.fit(X, y, offset=offset[:5])


def test_zero_threshold_keeps_or_drops():
    X, y, _ = linear(80, 10, n_signals=4)
    assert HorseshoeRegressor(prior="lasso", zero_threshold=0).fit(X, y).support_.all()
    assert not HorseshoeRegressor(zero_threshold=10.0).fit(X, y).support_.any()


def test_starts(diabetes):
    X, y = diabetes
    base = HorseshoeRegressor(tol=1e-10).fit(X, y)
    for start in ("variance", base):
        again = HorseshoeRegressor(tol=1e-10, start=start).fit(X, y)
        np.testing.assert_allclose(again.coef_, base.coef_, rtol=1e-8)
    assert HorseshoeRegressor(start=base).fit(X, y).n_iter_ < base.n_iter_
    with pytest.raises(ValueError, match="10 coefficients, but X has 3 columns"):
        HorseshoeRegressor(start=base).fit(X.iloc[:, :3], y)


def test_warm_start_lets_new_columns_in():
    X, y, _ = linear(100, 20, n_signals=4, rho=0.0, sigma2=1.0)
    model = HorseshoeRegressor(warm_start=True).fit(X, y)
    moved = y + 4.0 * X[:, 15]
    assert model.coef_[15] == 0.0
    model.fit(X, moved)
    cold = HorseshoeRegressor().fit(X, moved)
    assert model.support_[15]
    np.testing.assert_allclose(model.coef_, cold.coef_, rtol=1e-6)


def test_callback_sees_the_trace(diabetes):
    X, y = diabetes
    seen = []
    model = HorseshoeRegressor(callback=seen.append).fit(X, y)
    assert tuple(seen) == model.trace_
    assert model.n_iter_ == len(seen)


@pytest.mark.filterwarnings("ignore:not converged:sklearn.exceptions.ConvergenceWarning")
def test_a_fit_is_repeatable_and_clonable(diabetes):
    X, y = diabetes
    model = HorseshoeRegressor(expectation="stochastic", random_state=3, max_iter=60).fit(X, y)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_missing_extra_is_named(monkeypatch, diabetes):
    X, y = diabetes
    model = HorseshoeRegressor().fit(X.to_numpy(), y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"horseshoe\[pandas\]"):
        model.summary()


def test_a_fit_from_one_whose_noise_ran_to_zero():
    """What fades is expanded to second order, which fails where the lasso has left no noise."""
    stream = [2019, crc32(b"table3"), crc32(b"rho=0,sigma2=1"), 2, 0]
    problem = table3.draw("rho=0,sigma2=1", np.random.default_rng(stream))
    X, y = problem.X, problem.y
    lasso = HorseshoeRegressor(prior="lasso").fit(X, y)
    assert lasso.status_ is Status.NO_NOISE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HorseshoeRegressor(lambda_power=1.75, start=lasso).fit(X, y)
    assert model.support_.any()
    assert np.isfinite(model.coef_).all()
    assert 0.0 < model.sigma2_ < y.var()
    assert all(line.sigma2 < 1.0 for line in model.trace_[1:])
