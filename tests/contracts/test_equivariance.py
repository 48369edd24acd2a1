"""Order and units are the user's business: they change the units of the answer and nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from horseshoe import HorseshoeRegressor, normal_means
from loops import each
from selections import in_pairs

pytestmark = pytest.mark.filterwarnings("error")

RTOL = 1e-8
SHAPES = {"long": (100, 12), "wide": (60, 150)}
SIGNALS = {0: 3.0, 3: -2.0, 7: 1.5}

modest = settings(deadline=None, max_examples=12, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from(sorted(SHAPES))


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray


def make_data(shape: str) -> Data:
    """Three strong signals in noise of one half, on columns that are neither centred nor of one scale."""
    n, p = SHAPES[shape]
    rng = np.random.default_rng(n)
    Z = rng.standard_normal((n + 20, p))
    Z[:, 1:] = 0.9 * Z[:, 1:] + 0.4 * Z[:, :-1]
    signal = sum(coef * Z[:, j] for j, coef in SIGNALS.items())
    y = 1.0 + signal + 0.5 * rng.standard_normal(n + 20)
    X = Z * rng.uniform(0.5, 2.0, p) + rng.uniform(-1.0, 1.0, p)
    return Data(X[:n], y[:n], X[n:])


DATA = {shape: make_data(shape) for shape in SHAPES}


def fit(X: np.ndarray, y: np.ndarray, sample_weight: Any = None, **options: Any) -> HorseshoeRegressor:
    return HorseshoeRegressor(**{"tol": 1e-10, **options}).fit(X, y, sample_weight=sample_weight)


BASE = {}


def base_fit(shape: str, **options: Any) -> HorseshoeRegressor:
    key = (shape, tuple(sorted(options.items())))
    if key not in BASE:
        BASE[key] = fit(DATA[shape].X, DATA[shape].y, **options)
    return BASE[key]


def close(got: Any, want: Any, what: str) -> None:
    np.testing.assert_allclose(got, want, rtol=RTOL, atol=0, err_msg=what)


def assert_same_up_to_units(
    got: HorseshoeRegressor,
    want: HorseshoeRegressor,
    X_new_got: np.ndarray,
    X_new_want: np.ndarray,
    *,
    x_scale: Any = 1.0,
    y_scale: float = 1.0,
    y_shift: float = 0.0,
) -> None:
    """Compare `got`, fitted to x_scale X + any shift and y_scale y + y_shift, with `want`, fitted to X, y."""
    np.testing.assert_array_equal(got.support_, want.support_)
    units = abs(y_scale) / np.abs(x_scale)
    sign = np.sign(y_scale) * np.sign(x_scale)
    close(got.coef_, sign * units * want.coef_, "coef_")
    close(got.coef_std_[want.support_], (units * want.coef_std_)[want.support_], "coef_std_")
    close(got.sigma2_, y_scale**2 * want.sigma2_, "sigma2_")
    close(got.tau2_, want.tau2_, "tau2_")
    close(got.lambda2_[want.support_], want.lambda2_[want.support_], "lambda2_")
    assert got.status_ == want.status_

    mean, std = got.predict(X_new_got, return_std=True)
    want_mean, want_std = want.predict(X_new_want, return_std=True)
    spread = np.max(np.abs(want_mean))
    np.testing.assert_allclose(
        (mean - y_shift) / y_scale, want_mean, rtol=0, atol=RTOL * spread, err_msg="predict"
    )
    close(std, abs(y_scale) * want_std, "predictive std")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_data_are_well_determined(shape: str) -> None:
    est = base_fit(shape)
    np.testing.assert_array_equal(np.flatnonzero(est.support_), sorted(SIGNALS))
    np.testing.assert_array_equal(np.sign(est.coef_[sorted(SIGNALS)]), np.sign(list(SIGNALS.values())))


# --- order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"standardize": False}, {"fit_intercept": False}], ids=str)
@modest
@given(shape=shapes, seed=seeds)
def test_permuting_columns(options: dict[str, bool], shape: str, seed: int) -> None:
    X, y, X_new = DATA[shape]
    order = np.random.default_rng(seed).permutation(X.shape[1])
    got, want = fit(X[:, order], y, **options), base_fit(shape, **options)
    np.testing.assert_array_equal(got.support_, want.support_[order])
    close(got.coef_, want.coef_[order], "coef_")
    close(got.coef_std_[got.support_], want.coef_std_[order][got.support_], "coef_std_")
    close(got.sigma2_, want.sigma2_, "sigma2_")
    close(got.predict(X_new[:, order]), want.predict(X_new), "predict")


@pytest.mark.parametrize("options", [{}, {"standardize": False}, {"fit_intercept": False}], ids=str)
@modest
@given(shape=shapes, seed=seeds)
def test_permuting_rows(options: dict[str, bool], shape: str, seed: int) -> None:
    X, y, X_new = DATA[shape]
    order = np.random.default_rng(seed).permutation(len(y))
    assert_same_up_to_units(fit(X[order], y[order], **options), base_fit(shape, **options), X_new, X_new)


def test_permuting_weighted_rows() -> None:
    X, y, X_new = DATA["long"]
    rng = np.random.default_rng(2)
    weights, order = rng.uniform(0.2, 3.0, len(y)), rng.permutation(len(y))
    want = fit(X, y, sample_weight=weights)
    got = fit(X[order], y[order], sample_weight=weights[order])
    assert_same_up_to_units(got, want, X_new, X_new)


# --- units ---------------------------------------------------------------------------------------

exponents = st.floats(-8, 8)
shifts = st.floats(-1000, 1000)


def transformed(shape: str, x_scale: Any, x_shift: Any, y_scale: float, y_shift: float) -> tuple[Data, float]:
    """x_scale X + x_shift sd(X) x_scale, the same for y: shifts are counted in standard deviations."""
    X, y, X_new = DATA[shape]
    x_shift = x_shift * X.std(axis=0)
    offset = y_shift * y.std() * y_scale
    return Data((X + x_shift) * x_scale, y * y_scale + offset, (X_new + x_shift) * x_scale), offset


def check_units(
    shape: str, x_scale: Any, x_shift: Any, y_scale: float, y_shift: float, **options: Any
) -> None:
    data, offset = transformed(shape, x_scale, x_shift, y_scale, y_shift)
    assert_same_up_to_units(
        fit(data.X, data.y, **options),
        base_fit(shape, **options),
        data.X_new,
        DATA[shape].X_new,
        x_scale=x_scale,
        y_scale=y_scale,
        y_shift=offset,
    )


@each(("shape", "scale", "column"), in_pairs(SHAPES, [1e-8, 1e-3, 1e3, 1e8, -1.0, -1e8], [0, 1, 3, None]))
def test_rescaling_a_column(shape: str, scale: float, column: int | None) -> None:
    x_scale = np.ones(SHAPES[shape][1])
    x_scale[slice(None) if column is None else column] = scale
    check_units(shape, x_scale, 0.0, 1.0, 0.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8, -1.0, -1e8])
def test_rescaling_y(shape: str, scale: float) -> None:
    check_units(shape, 1.0, 0.0, scale, 0.0)


@pytest.mark.parametrize(
    ("shape", "shift", "column"), in_pairs(SHAPES, [-1000.0, 30.0, 1000.0], [0, 1, 3, None])
)
def test_shifting_a_column(shape: str, shift: float, column: int | None) -> None:
    x_shift = np.zeros(SHAPES[shape][1])
    x_shift[slice(None) if column is None else column] = shift
    check_units(shape, 1.0, x_shift, 1.0, 0.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shift", [-1000.0, 30.0, 1000.0])
def test_shifting_y(shape: str, shift: float) -> None:
    check_units(shape, 1.0, 0.0, 1.0, shift)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("x_exponent", [-8.0, 8.0])
@pytest.mark.parametrize("y_exponent", [-8.0, 8.0])
def test_the_corners(shape: str, x_exponent: float, y_exponent: float) -> None:
    """Every extreme at once, alternating over the columns."""
    odd = np.arange(SHAPES[shape][1]) % 2 == 1
    x_scale = np.where(odd, 10.0**-x_exponent, 10.0**x_exponent)
    check_units(shape, x_scale, np.where(odd, 1000.0, -1000.0), 10.0**y_exponent, 1000.0)


@modest
@given(shape=shapes, seed=seeds, y_exponent=exponents, y_shift=shifts)
def test_any_units(shape: str, seed: int, y_exponent: float, y_shift: float) -> None:
    rng = np.random.default_rng(seed)
    p = SHAPES[shape][1]
    x_scale = 10.0 ** rng.uniform(-8, 8, p) * rng.choice([-1.0, 1.0], p)
    check_units(shape, x_scale, rng.uniform(-1000, 1000, p), 10.0**y_exponent, y_shift)


@modest
@given(shape=shapes, seed=seeds, y_exponent=exponents)
def test_any_scale_without_an_intercept(shape: str, seed: int, y_exponent: float) -> None:
    x_scale = 10.0 ** np.random.default_rng(seed).uniform(-8, 8, SHAPES[shape][1])
    check_units(shape, x_scale, 0.0, 10.0**y_exponent, 0.0, fit_intercept=False)


@modest
@given(shape=shapes, seed=seeds, y_exponent=exponents, y_shift=shifts)
def test_without_standardising_shifts_and_the_scale_of_y_still_do_not_matter(
    shape: str, seed: int, y_exponent: float, y_shift: float
) -> None:
    x_shift = np.random.default_rng(seed).uniform(-1000, 1000, SHAPES[shape][1])
    check_units(shape, 1.0, x_shift, 10.0**y_exponent, y_shift, standardize=False)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "options", [{"tol": 1e-5}, {"expectation": "approximate"}, {"start": "variance"}], ids=str
)
def test_units_do_not_matter_to_the_other_options(shape: str, options: dict[str, Any]) -> None:
    check_units(shape, 1e5, 100.0, 1e-6, -100.0, **options)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-8, 1e-2, 1e8])
def test_a_known_noise_variance_has_the_units_of_y_squared(shape: str, scale: float) -> None:
    X, y, X_new = DATA[shape]
    want, got = fit(X, y, sigma2=0.3), fit(X, scale * y, sigma2=0.3 * scale**2)
    close(want.sigma2_, 0.3, "sigma2_")
    assert_same_up_to_units(got, want, X_new, X_new, y_scale=scale)


# --- weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "options", [{}, {"standardize": False}, {"fit_intercept": False}, {"sigma2": 0.3}], ids=str
)
def test_duplicating_the_data_is_a_weight_of_two(shape: str, options: dict[str, Any]) -> None:
    X, y, X_new = DATA[shape]
    want = fit(np.vstack([X, X]), np.r_[y, y], **options)
    got = fit(X, y, sample_weight=np.full(len(y), 2.0), **options)
    assert_same_up_to_units(got, want, X_new, X_new)


@modest
@given(shape=shapes, seed=seeds)
def test_integer_weights_are_repeated_rows(shape: str, seed: int) -> None:
    """Ten rows repeated where p > n: repeating most of them lets the model fit the noise, see below."""
    X, y, X_new = DATA[shape]
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, len(y))
    if shape == "wide":
        times[rng.permutation(len(y))[10:]] = 1
    got = fit(X, y, sample_weight=times)
    want = fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_up_to_units(got, want, X_new, X_new)


@pytest.mark.parametrize("seed", [*range(8), 757])
def test_integer_weights_are_repeated_rows_in_an_overfitted_model(seed: int) -> None:
    """Sixty rows that pass for 120, and 150 columns: many modes, but plain EM finds one and the same."""
    X, y, X_new = DATA["wide"]
    times = np.random.default_rng(seed).integers(1, 4, len(y))
    got = fit(X, y, sample_weight=times)
    want = fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_up_to_units(got, want, X_new, X_new)


@modest
@given(shape=shapes, seed=seeds)
def test_a_zero_weight_is_a_removed_row(shape: str, seed: int) -> None:
    X, y, X_new = DATA[shape]
    rng = np.random.default_rng(seed)
    gone = rng.choice(len(y), size=6, replace=False)
    weights = np.ones(len(y))
    weights[gone] = 0.0
    X_wild, y_wild = X.copy(), y.copy()
    X_wild[gone], y_wild[gone] = 1e6 * rng.standard_normal((6, X.shape[1])), 1e6
    want = fit(np.delete(X, gone, axis=0), np.delete(y, gone))
    assert_same_up_to_units(fit(X_wild, y_wild, sample_weight=weights), want, X_new, X_new)


def test_a_column_constant_where_the_weights_are_not_zero_is_constant() -> None:
    X, y, X_new = (a.copy() for a in DATA["long"])
    weights = np.ones(len(y))
    weights[:5] = 0.0
    X[5:, 1] = 0.1
    want, got = fit(X[5:], y[5:]), fit(X, y, sample_weight=weights)
    assert got.coef_[1] == 0.0
    assert_same_up_to_units(got, want, X_new, X_new)


@pytest.mark.parametrize("shape", SHAPES)
def test_unit_weights_are_no_weights(shape: str) -> None:
    X, y, X_new = DATA[shape]
    got = fit(X, y, sample_weight=np.ones(len(y)))
    assert_same_up_to_units(got, base_fit(shape), X_new, X_new)
    assert got.n_iter_ == base_fit(shape).n_iter_


@pytest.mark.parametrize("shape", SHAPES)
def test_a_constant_column_changes_nothing(shape: str) -> None:
    X, y, X_new = DATA[shape]
    want = base_fit(shape)
    for value in (0.0, 0.1, 1e8 / 3):  # 0.1 and 1e8/3 minus their rounded mean are not exactly zero
        got = fit(np.insert(X, 2, value, axis=1), y)
        assert got.coef_[2] == 0.0
        assert got.coef_std_[2] == 0.0
        assert not got.support_[2]
        close(np.delete(got.coef_, 2), want.coef_, "coef_")
        close(got.sigma2_, want.sigma2_, "sigma2_")
        close(got.predict(np.insert(X_new, 2, value, axis=1)), want.predict(X_new), "predict")


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(600, 150), (200, 500)], ids=["long", "wide"])
def test_the_number_of_threads_does_not_matter(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    y = X[:, :5] @ np.array([3.0, -3.0, 2.0, -2.0, 2.0]) + rng.standard_normal(shape[0])
    fits = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads, user_api="blas"):
            assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {
                threads
            }
            fits.append(fit(X, y))
    one, two = fits
    assert one.support_[:5].all()
    assert_same_up_to_units(two, one, X[:20], X[:20])


# --- normal means --------------------------------------------------------------------------------

MEANS = np.r_[[12.0, -11.0, 9.0, -10.0], np.random.default_rng(8).uniform(-1.7, 1.7, 196)]


def test_the_means_are_well_determined() -> None:
    result = normal_means(MEANS, sigma2=1.0)
    np.testing.assert_array_equal(np.flatnonzero(result.coef), [0, 1, 2, 3])


@modest
@given(seed=seeds)
def test_permuting_means(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(MEANS))
    got, want = normal_means(MEANS[order], sigma2=1.0), normal_means(MEANS, sigma2=1.0)
    np.testing.assert_array_equal(got.coef != 0, want.coef[order] != 0)
    close(got.coef, want.coef[order], "coef")


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8, -1.0])
@pytest.mark.parametrize("known", [True, False], ids=["sigma2 known", "sigma2 estimated"])
def test_rescaling_means(scale: float, known: bool) -> None:
    want = normal_means(MEANS, sigma2=1.0 if known else "estimate")
    got = normal_means(scale * MEANS, sigma2=scale**2 if known else "estimate")
    np.testing.assert_array_equal(got.coef != 0, want.coef != 0)
    assert np.any(want.coef != 0)
    close(got.coef, scale * want.coef, "coef")
