"""Whatever container, dtype or memory layout the data come in, the fit is that of plain float64 arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forms import NAMES, VECTOR_FORMS, X_FORMS, N, P, make_data
from horseshoe import HorseshoeRegressor, normal_means
from selections import in_pairs

pytestmark = pytest.mark.filterwarnings("error")


FITTED = ("coef_", "intercept_", "coef_std_", "lambda2_", "tau2_", "sigma2_", "support_")


def make_zero_one_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = (rng.random((N, P)) < 0.4).astype(np.float64)
    return X, 2.0 * X[:, 0] - 3.0 * X[:, 5] + 0.5 * rng.standard_normal(N)


def fit(X: Any, y: Any, **kwargs: Any) -> HorseshoeRegressor:
    return HorseshoeRegressor(tol=1e-10).fit(X, y, **kwargs)


def assert_same_fit(got: HorseshoeRegressor, want: HorseshoeRegressor) -> None:
    np.testing.assert_array_equal(got.support_, want.support_)
    for name in FITTED:
        value, expected = (
            np.asarray(getattr(got, name), dtype=float),
            np.asarray(getattr(want, name), dtype=float),
        )
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=0, err_msg=name)
        assert np.asarray(getattr(got, name)).dtype == np.asarray(getattr(want, name)).dtype, name


def test_reference_fit_is_a_real_fit() -> None:
    est = fit(*make_data())
    np.testing.assert_array_equal(np.flatnonzero(est.support_), [1, 4, 7])
    zero_one = fit(*make_zero_one_data())
    np.testing.assert_array_equal(np.flatnonzero(zero_one.support_), [0, 5])


@pytest.mark.parametrize("form", X_FORMS)
def test_every_form_of_x_gives_the_same_fit(form: str) -> None:
    X, y = make_data()
    want, given = fit(X, y), X_FORMS[form](X)
    got = fit(given, y)
    assert_same_fit(got, want)
    np.testing.assert_allclose(got.predict(given), want.predict(X), rtol=1e-10, atol=0)
    mean, std = got.predict(given, return_std=True)
    want_mean, want_std = want.predict(X, return_std=True)
    np.testing.assert_allclose(mean, want_mean, rtol=1e-10, atol=0)
    np.testing.assert_allclose(std, want_std, rtol=1e-10, atol=0)
    assert type(got.coef_) is np.ndarray
    assert got.predict(given).dtype == np.float64


@pytest.mark.parametrize("form", VECTOR_FORMS)
def test_every_form_of_y_gives_the_same_fit(form: str) -> None:
    X, y = make_data()
    assert_same_fit(fit(X, VECTOR_FORMS[form](y)), fit(X, y))


@pytest.mark.parametrize("form", VECTOR_FORMS)
def test_every_form_of_sample_weight_gives_the_same_fit(form: str) -> None:
    X, y = make_data()
    weights = np.random.default_rng(3).integers(1, 4, size=N).astype(np.float64)
    assert_same_fit(fit(X, y, sample_weight=VECTOR_FORMS[form](weights)), fit(X, y, sample_weight=weights))


@pytest.mark.parametrize("form", [f for f in VECTOR_FORMS if f != "object of numbers"])
def test_every_form_of_normal_means_data_gives_the_same_fit(form: str) -> None:
    y = np.r_[[30.0, -25.0, 18.0], np.rint(2 * np.random.default_rng(5).standard_normal(N - 3))]
    want, got = normal_means(y, sigma2=4.0), normal_means(VECTOR_FORMS[form](y), sigma2=4.0)
    np.testing.assert_array_equal(np.flatnonzero(want.coef), [0, 1, 2])
    np.testing.assert_allclose(got.coef, want.coef, rtol=1e-10, atol=0)
    np.testing.assert_allclose(got.scales.lambda2, want.scales.lambda2, rtol=1e-10, atol=0)


@pytest.mark.parametrize("form", ["numpy", "Fortran", "lists", "pandas", "pandas nullable", "polars"])
def test_boolean_x(form: str) -> None:
    X, y = make_zero_one_data()
    truth = X.astype(bool)
    given = {
        "numpy": truth,
        "Fortran": np.asfortranarray(truth),
        "lists": truth.tolist(),
        "pandas": pd.DataFrame(truth, columns=NAMES),
        "pandas nullable": pd.DataFrame(truth, columns=NAMES).astype("boolean"),
        "polars": pl.DataFrame(truth, schema=NAMES),
    }[form]
    assert_same_fit(fit(given, y), fit(X, y))


def test_boolean_y() -> None:
    X, y = make_data()
    truth = y > y.mean()
    assert_same_fit(fit(X, truth), fit(X, truth.astype(np.float64)))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_memory_mapped(tmp_path: Path, order: str, dtype: type) -> None:
    X, y = make_data()
    maps = []
    for name, values in (("X", X), ("y", y)):
        path = tmp_path / f"{name}.dat"
        writing = np.memmap(path, dtype=dtype, mode="w+", shape=values.shape, order=order)
        writing[...] = values
        writing.flush()
        del writing
        maps.append(np.memmap(path, dtype=dtype, mode="r", shape=values.shape, order=order))
    got = fit(*maps)
    assert_same_fit(got, fit(X, y))
    assert type(got.coef_) is np.ndarray
    assert not isinstance(got.predict(maps[0]), np.memmap)


@pytest.mark.parametrize("shape", [(N, P), (40, 90)])
def test_float32_is_not_degraded(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(11)
    X = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, size=shape[1]) + 5.0
    y = (
        4.0 * (X[:, 0] - 5.0) / X[:, 0].std()
        - 3.0 * (X[:, 3] - 5.0) / X[:, 3].std()
        + rng.standard_normal(shape[0])
    )
    single_X, single_y = X.astype(np.float32), y.astype(np.float32)
    got, want = fit(single_X, single_y), fit(single_X.astype(np.float64), single_y.astype(np.float64))
    assert want.support_.any()
    assert_same_fit(got, want)
    predicted = got.predict(single_X)
    assert predicted.dtype == np.float64
    np.testing.assert_allclose(predicted, want.predict(single_X.astype(np.float64)), rtol=1e-10, atol=0)


def test_float32_far_from_zero_is_not_degraded() -> None:
    """Centring in single precision would lose what is left of the signal here."""
    rng = np.random.default_rng(12)
    X = (2000.0 + rng.standard_normal((N, P))).astype(np.float32)
    y = (X[:, 2].astype(np.float64) - 2000.0) * 5.0 + rng.standard_normal(N)
    want = fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(np.flatnonzero(want.support_), [2])
    assert_same_fit(fit(X, y), want)


@pytest.mark.parametrize("to_frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_feature_names(to_frame: Callable[..., Any]) -> None:
    X, y = make_data()
    frame = to_frame({name: X[:, j] for j, name in enumerate(NAMES)})
    est = fit(frame, y)
    assert list(est.feature_names_in_) == NAMES
    assert est.n_features_in_ == P
    assert list(est.summary(method="mode")["feature"]) == ["(Intercept)", *NAMES]
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        est.predict(to_frame({name: X[:, j] for j, name in reversed(list(enumerate(NAMES)))}))


def test_no_feature_names_without_a_frame() -> None:
    X, y = make_data()
    est = fit(X, y)
    assert not hasattr(est, "feature_names_in_")
    assert est.n_features_in_ == P
    assert len(est.summary(method="mode")) == P + 1


def test_refitting_on_an_array_forgets_the_names() -> None:
    X, y = make_data()
    est = fit(pd.DataFrame(X, columns=NAMES), y)
    est.fit(X, y)
    assert not hasattr(est, "feature_names_in_")


@pytest.mark.parametrize(
    ("shape", "expectation", "options", "order"),
    in_pairs(
        [(N, P), (40, 90)],
        ["exact", "approximate", "stochastic"],
        [{}, {"fit_intercept": False}, {"standardize": False}],
        ["C", "F"],
    ),
    ids=str,
)
def test_inputs_are_never_modified(
    shape: tuple[int, int], expectation: str, options: dict[str, bool], order: str
) -> None:
    rng = np.random.default_rng(13)
    X = np.asarray(3.0 + rng.standard_normal(shape), order=order)
    X[:, 5] = 1.5
    y = 2.0 + 3.0 * X[:, 1] + 0.3 * rng.standard_normal(shape[0])
    weights = rng.random(shape[0]) + 0.5
    before = [X.copy(), y.copy(), weights.copy()]
    est = HorseshoeRegressor(expectation=expectation, max_iter=2000, random_state=0, **options)
    est.fit(X, y, sample_weight=weights)
    est.predict(X, return_std=True)
    est.predict_interval(X, method="mode")
    for now, then in zip((X, y, weights), before, strict=True):
        np.testing.assert_array_equal(now, then)
    fitted = est.coef_.copy()
    X[...], y[...] = 0.0, 0.0  # nor does the fit hold on to them
    np.testing.assert_array_equal(est.coef_, fitted)
    assert np.any(est.predict(before[0]) != est.predict(X))


def test_frames_are_never_modified() -> None:
    X, y = make_data()
    frame, series = pd.DataFrame(X, columns=NAMES), pd.Series(y)
    before, before_series = frame.copy(), series.copy()
    fit(frame, series).predict(frame)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_series_equal(series, before_series)


def test_normal_means_does_not_modify_its_data() -> None:
    y = np.r_[9.0, -8.0, np.random.default_rng(1).standard_normal(50)]
    before = y.copy()
    result = normal_means(y)
    np.testing.assert_array_equal(y, before)
    assert result.coef.shape == y.shape
    assert not np.shares_memory(result.coef, y)
