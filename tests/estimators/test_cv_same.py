"""What must not change the answer of the averaging regressor: order, units, weights, containers, threads."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from horseshoe import AdaptiveRegressor
from horseshoe.families import Laplace, Quantile
from registry import AVERAGED
from selections import in_turn
from simulate import glm

N, P = 60, 12


def data(family="gaussian", n=N, p=P, seed=0):
    X, y, _ = glm(family, n, p, seed, n_signals=3, size=1.5)
    return X, y


def fit(X, y, **options):
    rows = {
        name: options.pop(name)
        for name in ("sample_weight", "offset", "exposure", "groups")
        if name in options
    }
    return AdaptiveRegressor(**{"cv": 5, **options}).fit(X, y, **rows)


def rounding(model):
    """Weights of 1/|r| have lost half their digits where a fit comes close to a row."""
    return 1e-6 if isinstance(model.family_, Laplace | Quantile) else 1e-8


def same(one, two, columns=slice(None), factor=1.0):
    """Hold the answers of two fits to be the same, coefficients up to order and factor."""
    within = rounding(one)
    for name in ("coef_", "sparse_coef_"):
        ours, theirs = getattr(one, name)[columns], getattr(two, name) * factor
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=within * max(np.abs(ours).max(), 1e-3))
    np.testing.assert_allclose(two.inclusion_, one.inclusion_[columns], atol=within)
    np.testing.assert_allclose(two.component_weights_, one.component_weights_, atol=within)
    np.testing.assert_allclose(two.cv_error_, one.cv_error_, rtol=within)
    np.testing.assert_allclose(two.calibration_slope_, one.calibration_slope_, rtol=within)
    assert two.support_.tolist() == one.support_[columns].tolist()


# --- containers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(kind):
    X, y = data()
    want = fit(X, y)
    names = [f"c{j}" for j in range(P)]
    frame = kind(dict(zip(names, X.T, strict=True)))
    model = fit(frame, y)
    same(want, model)
    assert model.feature_names_in_.tolist() == names
    assert model.summary()["feature"].tolist() == ["(Intercept)", *names]
    assert model.get_feature_names_out().tolist() == [names[j] for j in np.flatnonzero(model.support_)]
    np.testing.assert_allclose(model.predict(frame), want.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict_interval(frame[names[1:]])


@pytest.mark.parametrize(
    ("family", "home"), in_turn(AVERAGED, [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
)
def test_sparse_columns_say_the_same(family, home):
    X, y = data(family)
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    one, two = fit(X, y, family=family), fit(home(X), y, family=family)
    same(one, two)
    np.testing.assert_allclose(two.predict(home(X)), one.predict(X), rtol=1e-7)
    np.testing.assert_allclose(two.predict_interval(home(X)), one.predict_interval(X), rtol=1e-6, atol=1e-8)


# --- what must not change the answer ------------------------------------------------------------------------


@pytest.mark.parametrize("family", AVERAGED)
@pytest.mark.parametrize("p", [P, 90])
def test_the_order_of_rows_and_columns(family, p):
    X, y = data(family, p=p)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(N), rng.permutation(p)
    one = fit(X, y, family=family)
    same(one, fit(X[rows], y[rows], family=family))
    same(one, fit(X[:, columns], y, family=family), columns=columns)


@pytest.mark.parametrize("family", AVERAGED)
@pytest.mark.parametrize("p", [P, 90])
def test_the_units_of_columns(family, p):
    X, y = data(family, p=p)
    rng = np.random.default_rng(1)
    units, shift = 10.0 ** rng.uniform(-4, 4, p) * rng.choice([-1.0, 1.0], p), rng.uniform(-50.0, 50.0, p)
    same(fit(X, y, family=family), fit(X * units + shift * units, y, family=family), factor=units)


@pytest.mark.parametrize("p", [P, 90])
def test_the_units_of_y(p):
    X, y = data(p=p)
    one, two = fit(X, y), fit(X, 1e-5 * y + 3.0)
    np.testing.assert_allclose(1e5 * two.coef_, one.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(1e5 * (two.intercept_ - 3.0), one.intercept_, atol=1e-8)
    assert two.support_.tolist() == one.support_.tolist()


@pytest.mark.parametrize(("family", "p"), [*((family, P) for family in AVERAGED), ("gaussian", 40)])
def test_a_weight_of_two_is_two_rows(family, p):
    """With 40 columns there are less than two rows for each, and more than two observations."""
    X, y = data(family, p=p)
    times = np.random.default_rng(2).integers(1, 3, N)
    one = fit(X, y, family=family, sample_weight=times)
    two = fit(np.repeat(X, times, axis=0), np.repeat(y, times), family=family)
    same(one, two)
    within = {"rtol": 10.0 * rounding(one), "atol": 10.0 * rounding(one)}
    np.testing.assert_allclose(two.coef_interval(), one.coef_interval(), **within)
    np.testing.assert_allclose(two.predict_interval(X, 0.9), one.predict_interval(X, 0.9), **within)


def test_a_row_without_weight_is_no_row():
    X, y = data()
    weights = np.ones(N)
    weights[[4, 9]] = 0.0
    wild = np.where(weights == 0.0, 1e6, y)
    same(fit(X[weights > 0], y[weights > 0]), fit(X, wild, sample_weight=weights))


def test_an_offset_is_known():
    X, y = data()
    known = np.linspace(-2.0, 2.0, N)
    one, two = fit(X, y), fit(X, y + known, offset=known)
    same(one, two)
    np.testing.assert_allclose(two.predict(X, offset=known), one.predict(X) + known)
    np.testing.assert_allclose(
        two.predict_interval(X, offset=known), one.predict_interval(X) + known[:, None], atol=1e-7
    )


def test_exposure_is_the_exponential_of_an_offset():
    X, y = data("poisson")
    time = np.random.default_rng(0).uniform(0.5, 2.0, N)
    one = fit(X, y, family="poisson", exposure=time)
    two = fit(X, y, family="poisson", offset=np.log(time))
    same(one, two)
    np.testing.assert_allclose(one.predict(X, exposure=time), time * one.predict(X))
    wide, narrow = one.predict_interval(X, exposure=4.0), one.predict_interval(X)
    assert (wide[:, 1] > narrow[:, 1]).all()


@pytest.mark.parametrize("family", ["gaussian", "poisson", "binomial"])
def test_threads_change_no_digit(family):
    X, y = data(family, p=80)
    one, two = (fit(X, y, family=family, n_jobs=jobs) for jobs in (1, 2))
    for name in ("coef_", "sparse_coef_", "inclusion_", "component_weights_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.predict_interval(X), two.predict_interval(X))


def test_seeds():
    X, y = data()
    same_seed = [fit(X, y, random_state=3).coef_ for _ in range(2)]
    np.testing.assert_array_equal(*same_seed)
    assert not np.array_equal(fit(X, y, random_state=4).coef_, same_seed[0])
    np.testing.assert_array_equal(fit(X, y).coef_, fit(X, y).coef_)
    drawn = [fit(X, y, random_state=np.random.default_rng(3)).coef_ for _ in range(2)]
    np.testing.assert_array_equal(*drawn)
