"""An average depends neither on the sign of y, nor on names and order of classes and levels, nor on units.

Coefficients, intervals, inclusion, component weights and predictions are compared, with and without an
unpenalised column. The data have few binary digits and as many rows as a power of two, and units are powers
of two: means are exact, so that no rounding stands between two answers that should be the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from sksurv.util import Surv

import simulate
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, AdaptiveSurvival
from horseshoe.families import Quantile
from registry import AVERAGED

N, N_NEW, CV = 64, 12, 4
SHAPES = {"tall": 6, "wide": 70}
FAMILIES = [*AVERAGED, "ordinal"]
LOCATION = ("gaussian", "student_t", "laplace", "quantile", "huber")
POSITIVE = ("gamma", "tweedie")
ALWAYS = {"all penalised": None, "one unpenalised": [0]}
LEVEL = 0.25
UNIT_Y, SHIFT_Y = 4.0, 24.0
RTOL = 1e-9
KINKED = {"laplace": 1e-5, "quantile": 1e-5}
"""Their weights 1 / |r| amplify rounding up to a million times: that of a shifted y and of a projection."""


class Data(NamedTuple):
    X: np.ndarray
    eta: np.ndarray
    X_new: np.ndarray
    rng: np.random.Generator


def make_data(shape: str, seed: int = 0) -> Data:
    """Three effects among columns that are correlated, with ten binary digits after the point."""
    p = SHAPES[shape]
    rng = np.random.default_rng([seed, p])
    X = rng.standard_normal((N + N_NEW, p))
    for j in range(1, p):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    X = few_digits(X)
    eta = X[:, 0] - 0.9 * X[:, 3] + 0.7 * X[:, 5]
    return Data(X[:N], eta[:N], X[N:], rng)


def few_digits(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.round(values * 1024.0) / 1024.0)


def units_of(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a scale, of either sign, and a shift for each column."""
    rng = np.random.default_rng(p)
    scale = 2.0 ** rng.integers(-6, 7, p) * rng.choice([-1.0, 1.0], p)
    return scale, np.abs(scale) * rng.integers(-40, 41, p)


def assert_close(got: Any, want: Any, what: str, rtol: float = RTOL) -> None:
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    largest = np.abs(want[np.isfinite(want)]).max(initial=1e-3)
    np.testing.assert_allclose(got, want, rtol=0.0, atol=rtol * largest, err_msg=what)


def assert_same(
    got: Any, want: Any, X_new: tuple[Any, Any], sign: Any = 1.0, back: Any = None, rtol: float = RTOL
) -> None:
    """Compare an average with another whose coefficients are ``sign`` times as large.

    ``back`` brings predictions of ``got`` to the scale of those of ``want``.
    """

    def close(got: Any, want: Any, what: str) -> None:
        assert_close(got, want, what, rtol)

    back = (lambda value: value) if back is None else back
    sign = np.broadcast_to(sign, want.coef_.shape)
    close(got.coef_ * sign, want.coef_, "coef_")
    close(got.sparse_coef_ * sign, want.sparse_coef_, "sparse_coef_")
    close(got.inclusion_, want.inclusion_, "inclusion_")
    close(got.component_weights_, want.component_weights_, "component_weights_")
    close(np.sort(got.coef_interval() * sign[:, None], axis=1), want.coef_interval(), "coef_interval")
    close(back(got.predict(X_new[0])), want.predict(X_new[1]), "predict")
    if hasattr(want, "predict_interval"):
        interval = np.sort(back(got.predict_interval(X_new[0])), axis=1)
        close(interval, want.predict_interval(X_new[1]), "predict_interval")
        close(back(got.cv_prediction_), want.cv_prediction_, "cv_prediction_")


def regressor(family: str, unpenalized: Any, level: float = LEVEL) -> AdaptiveRegressor:
    given = Quantile(level=level) if family == "quantile" else family
    return AdaptiveRegressor(family=given, cv=CV, unpenalized=unpenalized)


def response(family: str, data: Data) -> np.ndarray:
    y = simulate.DRAWS[family](data.rng, data.eta)
    return y if family in POSITIVE else few_digits(y)


BASE: dict[Any, Any] = {}


def base(family: str, shape: str, unpenalized: str) -> tuple[Any, Data, np.ndarray]:
    """Return a fit with its data; each is fitted once."""
    key = family, shape, unpenalized
    if key not in BASE:
        data = make_data(shape)
        y = response(family, data)
        BASE[key] = regressor(family, ALWAYS[unpenalized]).fit(data.X, y), data, y
    return BASE[key]


every_family = pytest.mark.parametrize("family", FAMILIES)
every_shape = pytest.mark.parametrize("shape", SHAPES)
with_and_without = pytest.mark.parametrize("unpenalized", ALWAYS)


@every_family
@every_shape
@with_and_without
def test_shift_scale_and_sign_of_every_column(family: str, shape: str, unpenalized: str) -> None:
    want, data, y = base(family, shape, unpenalized)
    scale, shift = units_of(SHAPES[shape])
    got = regressor(family, ALWAYS[unpenalized]).fit(data.X * scale + shift, y)
    rtol = RTOL if unpenalized == "all penalised" else KINKED.get(family, RTOL)
    assert_same(got, want, (data.X_new * scale + shift, data.X_new), scale, rtol=rtol)


@every_shape
@with_and_without
@pytest.mark.parametrize("family", LOCATION)
def test_sign_and_scale_of_y(family: str, shape: str, unpenalized: str) -> None:
    want, data, y = base(family, shape, unpenalized)
    got = regressor(family, ALWAYS[unpenalized], 1.0 - LEVEL).fit(data.X, -UNIT_Y * y)
    rtol = RTOL if unpenalized == "all penalised" else KINKED.get(family, RTOL)
    assert_same(got, want, (data.X_new, data.X_new), -1.0 / UNIT_Y, lambda value: -value / UNIT_Y, rtol=rtol)


@every_shape
@with_and_without
@pytest.mark.parametrize("family", LOCATION)
def test_shift_of_y(family: str, shape: str, unpenalized: str) -> None:
    want, data, y = base(family, shape, unpenalized)
    got = regressor(family, ALWAYS[unpenalized]).fit(data.X, y + SHIFT_Y)
    rtol = KINKED.get(family, RTOL)
    assert_same(got, want, (data.X_new, data.X_new), back=lambda value: value - SHIFT_Y, rtol=rtol)


@every_shape
@with_and_without
@pytest.mark.parametrize("family", POSITIVE)
def test_unit_of_a_positive_response(family: str, shape: str, unpenalized: str) -> None:
    want, data, y = base(family, shape, unpenalized)
    got = regressor(family, ALWAYS[unpenalized]).fit(data.X, UNIT_Y * y)
    assert_same(got, want, (data.X_new, data.X_new), back=lambda value: value / UNIT_Y)


@every_shape
@with_and_without
def test_success_and_failure_may_be_exchanged(shape: str, unpenalized: str) -> None:
    want, data, y = base("binomial", shape, unpenalized)
    got = regressor("binomial", ALWAYS[unpenalized]).fit(data.X, 1.0 - y)
    assert_same(got, want, (data.X_new, data.X_new), -1.0, lambda value: 1.0 - value)


@every_shape
@with_and_without
def test_levels_may_be_reversed(shape: str, unpenalized: str) -> None:
    want, data, y = base("ordinal", shape, unpenalized)
    got = regressor("ordinal", ALWAYS[unpenalized]).fit(data.X, y.max() - y)
    assert_same(got, want, (data.X_new, data.X_new), -1.0, lambda value: y.max() - value)


EVEN_TAILS = {"four values": [-3.0, -1.0, 1.0, 3.0], "two values": [-1.0, 1.0], "all": np.arange(N) - 31.5}


@pytest.mark.parametrize("y", EVEN_TAILS.values(), ids=EVEN_TAILS)
def test_the_sign_of_a_response_that_has_no_longer_tail(y: Any) -> None:
    data = make_data("tall")
    values = np.array(y)[np.argsort(np.argsort(data.eta)) * len(y) // N]
    want = regressor("gaussian", None).fit(data.X, values)
    got = regressor("gaussian", None).fit(data.X, -values)
    assert_same(got, want, (data.X_new, data.X_new), -1.0, lambda value: -value)


# --- classes -------------------------------------------------------------------------------------


def labels_of(data: Data, n_classes: int, equal: bool) -> np.ndarray:
    score = data.eta + data.rng.logistic(size=N)
    if not equal:
        return np.digitize(score, np.quantile(score, [0.25, 0.6][: n_classes - 1]))
    return np.argsort(np.argsort(score)) * n_classes // N


@every_shape
@with_and_without
@pytest.mark.parametrize("multi_class", ["one_vs_rest", "multinomial"])
@pytest.mark.parametrize("order", [[1, 0], [2, 0, 1], [1, 0, 2]], ids=str)
@pytest.mark.parametrize("equal", [False, True], ids=["unequal", "equal"])
def test_names_of_classes(
    shape: str, unpenalized: str, multi_class: str, order: list[int], equal: bool
) -> None:
    data = make_data(shape)
    labels, order = labels_of(data, len(order), equal), np.array(order)
    model = AdaptiveClassifier(cv=CV, unpenalized=ALWAYS[unpenalized], multi_class=multi_class)
    want = model.fit(data.X, labels)
    found = want.predict_proba(data.X_new), want.cv_prediction_, want.coef_interval(), want.inclusion_
    got = model.fit(data.X, order[labels])
    assert_close(got.predict_proba(data.X_new)[:, order], found[0], "predict_proba")
    assert_close(got.cv_prediction_[:, order], found[1], "cv_prediction_")
    own = order if got.coef_.ndim == 2 else slice(None)
    sign = 1.0 if got.coef_.ndim == 2 else -1.0
    assert_close(np.sort(sign * got.coef_interval()[own], axis=-1), found[2], "coef_interval")
    assert_close(got.inclusion_[own] if got.inclusion_.ndim == 2 else got.inclusion_, found[3], "inclusion_")


@every_shape
@with_and_without
@pytest.mark.parametrize("multi_class", ["one_vs_rest", "multinomial"])
def test_units_of_columns_with_classes(shape: str, unpenalized: str, multi_class: str) -> None:
    data = make_data(shape)
    labels, (scale, shift) = labels_of(data, 3, equal=False), units_of(SHAPES[shape])
    model = AdaptiveClassifier(cv=CV, unpenalized=ALWAYS[unpenalized], multi_class=multi_class)
    want = model.fit(data.X, labels)
    found = want.predict_proba(data.X_new), want.coef_interval(), want.inclusion_
    got = model.fit(data.X * scale + shift, labels)
    assert_close(got.predict_proba(data.X_new * scale + shift), found[0], "predict_proba")
    assert_close(np.sort(got.coef_interval() * scale[:, None], axis=-1), found[1], "coef_interval")
    assert_close(got.inclusion_, found[2], "inclusion_")


# --- survival ------------------------------------------------------------------------------------


@every_shape
@with_and_without
@pytest.mark.parametrize("stratified", [False, True], ids=["one stratum", "strata"])
def test_units_of_columns_with_hazards(shape: str, unpenalized: str, stratified: bool) -> None:
    data = make_data(shape)
    scale, shift = units_of(SHAPES[shape])
    life, followed = data.rng.exponential(np.exp(-data.eta)), data.rng.uniform(0.0, 4.0, N)
    y = Surv.from_arrays(life <= followed, np.minimum(life, followed))
    strata = np.arange(N) % 3 if stratified else None
    want = AdaptiveSurvival(cv=CV, unpenalized=ALWAYS[unpenalized]).fit(data.X, y, strata=strata)
    got = AdaptiveSurvival(cv=CV, unpenalized=ALWAYS[unpenalized]).fit(
        data.X * scale + shift, y, strata=strata
    )
    zero = float(shift @ got.coef_)  # only differences of risks mean anything
    assert_same(got, want, (data.X_new * scale + shift, data.X_new), scale, lambda value: value - zero)


# --- several responses ---------------------------------------------------------------------------


@every_shape
def test_order_and_signs_of_several_responses(shape: str) -> None:
    data = make_data(shape)
    noise = data.rng.standard_normal((N, 3))
    Y = few_digits(np.column_stack([data.eta, data.X[:, 1] - data.eta, data.X[:, 2]]) + noise)
    order, sign = [2, 0, 1], -1.0
    want = AdaptiveRegressor(cv=CV).fit(data.X, Y)
    got = AdaptiveRegressor(cv=CV).fit(data.X, sign * UNIT_Y * Y[:, order])
    back = np.argsort(order)
    assert_close(got.coef_[back] / (sign * UNIT_Y), want.coef_, "coef_")
    assert_close(got.inclusion_[back], want.inclusion_, "inclusion_")
    interval = np.sort(got.coef_interval()[back] / (sign * UNIT_Y), axis=-1)
    assert_close(interval, want.coef_interval(), "coef_interval")
