"""Units so large or so small that their squares are no floats: the same answer, or an error with a name."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, normal_means, sample_posterior
from horseshoe.data.dense import Dense
from horseshoe.data.standardise import standardise
from horseshoe.posterior.draws import Posterior
from loops import each
from refusals import NAMES, assert_says, at_column, at_row, refused
from registry import COLUMNS, IN_PARTS

pytestmark = pytest.mark.filterwarnings("error")

N, P = 60, 8
POWERS = [-940, -700, -515, 515, 700, 940]
"""Of two: beyond 512 the squares are out of range."""
HOMES = {"dense": np.asarray, "sparse": sparse.csc_array}
FAMILIES = ["gaussian", "student_t", "laplace", "poisson", "negative_binomial"]


def make_data(family: str = "gaussian") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = np.where(rng.random((N, P)) < 0.7, rng.standard_normal((N, P)), 0.0)
    eta = X[:, 0] - 0.7 * X[:, 3]
    if family in ("poisson", "negative_binomial"):
        return X, rng.poisson(np.exp(eta)).astype(float)
    return X, 5.0 + 2.0 * eta + rng.standard_normal(N)


def same(got: object, want: object) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-9)


# --- the columns ----------------------------------------------------------------------------------


@each("power", [-1060, *POWERS, 1020])
@each("weighted", [False, True])
@each("home", [home for home in COLUMNS if home not in IN_PARTS])
def test_columns_lose_their_units_exactly(home: str, weighted: bool, power: int) -> None:
    """Every other column has another unit; one is constant, one is zero."""
    X, _ = make_data()
    X = np.rint(8.0 * X)  # whole numbers: exact however small the unit is
    X[:, 1], X[:, 5] = 3.0, 0.0
    powers = power * (np.arange(P) % 2)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, N) if weighted else None
    for center in (True, False):
        ours, found = COLUMNS[home](np.ldexp(X, powers)).standardised(weights, center, True)
        theirs, expected = COLUMNS[home](X).standardised(weights, center, True)
        np.testing.assert_array_equal(found.varies, expected.varies)
        np.testing.assert_array_equal(ours.dense(), theirs.dense())
        if power > -1000:  # below, the floats have fewer digits
            np.testing.assert_array_equal(found.mean, np.ldexp(expected.mean, powers))
            np.testing.assert_array_equal(found.spread, np.ldexp(expected.spread, powers))


@each("power", [-1060, *POWERS, 1020])
@each("home", IN_PARTS)
def test_columns_in_parts_name_the_column_whose_unit_is_out_of_range(home: str, power: int) -> None:
    X, _ = make_data()
    X = np.ldexp(np.rint(8.0 * X), power * (np.arange(P) == 3))
    with pytest.raises(ValueError, match=r"column 3 of X has values up to .* change its unit"):
        COLUMNS[home](X).standardised(None, True, True)


@pytest.mark.parametrize("home", [home for home in COLUMNS if home not in IN_PARTS])
def test_columns_that_are_not_scaled_keep_their_units(home: str) -> None:
    X, _ = make_data()
    ours, _ = COLUMNS[home](np.ldexp(X, 600)).standardised(None, True, False)
    theirs, _ = COLUMNS[home](X).standardised(None, True, False)
    wanted = np.ldexp(theirs.dense(), 600)
    if (
        home == "long"
    ):  # units out of range are copied as other arrays are: their means add up in another order
        np.testing.assert_allclose(ours.dense(), wanted, rtol=1e-13, atol=np.ldexp(1e-15, 600))
    else:
        np.testing.assert_array_equal(ours.dense(), wanted)


def test_ordinary_columns_are_not_touched_beside_extreme_ones() -> None:
    X, _ = make_data()
    both = np.column_stack([X * 1e200, X / 3.0])
    alone = standardise(Dense(X / 3.0), None, center=True, scale=True)
    beside = standardise(Dense(both), None, center=True, scale=True)
    np.testing.assert_array_equal(beside.columns.dense()[:, P:], alone.columns.dense())


# --- fits -----------------------------------------------------------------------------------------


@each("power", POWERS)
@each("home", HOMES)
@each("family", FAMILIES)
def test_a_fit_to_columns_in_extreme_units(family: str, home: str, power: int) -> None:
    X, y = make_data(family)
    scaled = np.ldexp(X, power)
    got = HorseshoeRegressor(family=family).fit(HOMES[home](scaled), y)
    want = HorseshoeRegressor(family=family).fit(HOMES[home](X), y)
    assert want.support_.any()
    assert got.status_ is want.status_
    same(np.ldexp(got.coef_, power), want.coef_)
    same(np.ldexp(got.coef_std_, power), want.coef_std_)
    same([got.intercept_, got.sigma2_], [want.intercept_, want.sigma2_])
    same(got.lambda2_, want.lambda2_)
    same(got.predict_interval(scaled[:3], method="mode"), want.predict_interval(X[:3], method="mode"))
    same(np.stack(got.predict(scaled[:3], return_std=True)), np.stack(want.predict(X[:3], return_std=True)))
    same([got.score(scaled, y), got.log_likelihood(scaled, y)], [want.score(X, y), want.log_likelihood(X, y)])


@pytest.mark.parametrize("factor", [1e155, 1e-155])
@pytest.mark.parametrize("home", HOMES)
def test_classes_of_columns_in_extreme_units(home: str, factor: float) -> None:
    X, y = make_data()
    got = HorseshoeClassifier().fit(HOMES[home](X * factor), y > 5.0)
    want = HorseshoeClassifier().fit(HOMES[home](X), y > 5.0)
    same(got.coef_ * factor, want.coef_)
    same(got.predict_proba(X * factor), want.predict_proba(X))


@pytest.mark.parametrize("factor", [1e150, 1e-150])
@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace"])
def test_a_response_in_units_whose_squares_are_just_floats(family: str, factor: float) -> None:
    X, y = make_data()
    got = HorseshoeRegressor(family=family, tol=1e-9).fit(X * factor, y * factor)
    want = HorseshoeRegressor(family=family, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    np.testing.assert_allclose(got.sigma2_ / factor / factor, want.sigma2_, rtol=1e-6)
    same(got.score(X * factor, y * factor), want.score(X, y))


@pytest.mark.parametrize("value", [1e307, 1e-307, -1e308])
def test_a_constant_response_in_extreme_units(value: float) -> None:
    X, _ = make_data()
    model = HorseshoeRegressor().fit(X, np.full(N, value))
    same(model.predict(X), np.full(N, value))
    assert model.sigma2_ == 0.0


# --- what cannot be written as a float ------------------------------------------------------------


@each("factor", [1e155, 1e200, 1e300, 1e-155, 1e-200, 1e-300, 1e-310])
@each("family", ["gaussian", "student_t", "laplace"])
def test_a_response_whose_variance_is_no_float(family: str, factor: float) -> None:
    X, y = make_data()
    row = int(np.argmax(np.abs(y)))
    too = "too large" if factor > 1.0 else "too small"
    for action in (
        lambda: HorseshoeRegressor(family=family).fit(X, y * factor),
        lambda: sample_posterior(X, y * factor, family=family),
        lambda: normal_means(y * factor),
    ):
        assert_says(refused(action), r"\by\b", at_row(row), too, "rescale y")


@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace", "poisson", "negative_binomial"])
def test_one_response_that_is_far_too_large(family: str) -> None:
    X, y = make_data(family)
    y[7] = 1e300
    assert_says(refused(lambda: HorseshoeRegressor(family=family).fit(X, y)), r"\by\b", at_row(7), "1e\\+300")


def test_the_row_is_the_users_where_rows_have_no_weight() -> None:
    X, y = make_data()
    weights, y[7] = np.ones(N), 1e300
    weights[:3] = 0.0
    message = refused(lambda: HorseshoeRegressor().fit(X, y, sample_weight=weights))
    assert_says(message, at_row(7), "1e\\+300")


@pytest.mark.parametrize("family", ["student_t", "laplace"])
def test_an_outlier_beyond_all_bounds(family: str) -> None:
    X, y = make_data()
    y[7] = 1e120
    assert_says(refused(lambda: HorseshoeRegressor(family=family).fit(X, y)), at_row(7), "typical deviation")


@pytest.mark.parametrize(("x_factor", "y_factor"), [(1e-155, 1e150), (1e155, 1e-150), (1e-310, 1.0)])
def test_a_coefficient_that_is_no_float(x_factor: float, y_factor: float) -> None:
    X, y = make_data()
    X = X * np.where(np.arange(P) == 3, x_factor, 1.0)
    message = refused(lambda: HorseshoeRegressor().fit(X, y * y_factor))
    assert_says(message, at_column(3), r"\bX\b", "change.*unit")
    names = [*NAMES, "six", "seven", "eight"]
    frame = pd.DataFrame(X, columns=names)
    assert_says(refused(lambda: HorseshoeRegressor().fit(frame, y * y_factor)), at_column(names[3]))
    weights = np.where(np.arange(N) == 0, 0.0, 1.0)
    assert_says(refused(lambda: HorseshoeRegressor().fit(frame, y * y_factor, weights)), at_column(names[3]))


@pytest.mark.parametrize("factor", [1e155, 1e-155, 1e15, 1e-15])
@pytest.mark.parametrize("home", HOMES)
def test_columns_that_are_not_standardised(home: str, factor: float) -> None:
    X, y = make_data()
    X = HOMES[home](X * np.where(np.arange(P) == 3, factor, 1.0))
    message = refused(lambda: HorseshoeRegressor(standardize=False).fit(X, y))
    assert_says(message, at_column(3), "standardize=True", "large" if factor > 1.0 else "small")


# --- the sampler ----------------------------------------------------------------------------------

SHORT = {"n_draws": 50, "n_warmup": 50, "n_chains": 2, "random_state": 1}


def draws(sample: Any, *data: Any) -> Posterior:
    """Return draws that are too few to agree, which is said in a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat is not below")
        return sample(*data, **SHORT)


@pytest.mark.parametrize("power", [-700, -515, 515, 700])
@pytest.mark.parametrize("home", HOMES)
def test_draws_for_columns_in_extreme_units(home: str, power: int) -> None:
    X, y = make_data()
    scaled = np.ldexp(X, power)
    got = draws(sample_posterior, HOMES[home](scaled), y)
    want = draws(sample_posterior, HOMES[home](X), y)
    for one, other in ((got.mean(), want.mean()), (got.std(), want.std()), (got.interval(), want.interval())):
        same(np.ldexp(one, power), other)
    same(got.std("intercept"), want.std("intercept"))
    same(np.stack(got.predict(scaled, return_std=True)), np.stack(want.predict(X, return_std=True)))
    table, expected = got.summary(), want.summary()
    same(table["rhat"], expected["rhat"])


def test_a_fitted_model_draws_in_extreme_units() -> None:
    X, y = make_data()
    got = draws(HorseshoeRegressor().fit(X * 1e-155, y).sample_posterior)
    want = draws(HorseshoeRegressor().fit(X, y).sample_posterior)
    same(got.std() * 1e-155, want.std())


# --- new rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_new_rows_that_are_far_too_large(family: str) -> None:
    X, y = make_data(family)
    model, posterior = HorseshoeRegressor(family=family).fit(X, y), draws(sample_posterior, X, y)
    new = X[:5].copy()
    new[3] = 1e200
    assert np.isfinite(model.predict(new)).all()
    for action in (
        lambda: model.predict(new, return_std=True),
        lambda: model.predict_interval(new, method="mode"),
        lambda: posterior.predict(new, return_std=True),
    ):
        assert_says(refused(action), at_row(3), r"\bX\b", "units")


@pytest.mark.parametrize("family", ["gaussian", "student_t"])
@pytest.mark.parametrize("ask", ["mode", "sampler"])
def test_a_noise_variance_beside_which_y_is_nothing(family: str, ask: str) -> None:
    X, y = np.random.default_rng(3).standard_normal((20, 2)), 1e-6 * np.arange(20.0)
    fit = HorseshoeRegressor(family=family, sigma2=1e300).fit
    with pytest.raises(ValueError, match=r"sigma2=1e\+300 .* spread of y"):
        fit(X, y) if ask == "mode" else sample_posterior(X, y, family=family, sigma2=1e300)


def test_a_column_whose_spread_is_rounded_to_zero() -> None:
    X = np.random.default_rng(3).standard_normal((20, 2))
    X[:, 1] = 0.0
    X[7, 1] = 5e-324
    assert_says(refused(lambda: HorseshoeRegressor().fit(X, np.arange(20.0))), r"\bX\b", at_column(1))
