"""Bad options are refused by `fit`, which leaves an earlier fit as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.priors import FixedScale, HalfCauchy, InverseGammaGlobal, InvertedBeta
from loops import each
from refusals import NAMES, NOT_NEGATIVE, POSITIVE, assert_says, refused
from refused_data import N, make_data
from selections import in_turn

pytestmark = pytest.mark.filterwarnings("error")


def option_message(**options: Any) -> str:
    X, y = make_data()
    return refused(lambda: HorseshoeRegressor(**options).fit(X, y))


# --- options --------------------------------------------------------------------------------------

BAD_OPTIONS = [
    *(("tau", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "auto", None, [1.0], 1 + 1j)),
    *(("tau_max", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, "auto", None)),
    *(
        ("lambda_power", value, r"0\b.*\b2\b")
        for value in (0, 0.0, -1.0, 2.0001, 3, np.nan, np.inf, "two", None)
    ),
    *(("sigma2", value, POSITIVE) for value in (0, 0.0, -1.0, np.nan, np.inf, "auto", None)),
    *(("tol", value, f"{NOT_NEGATIVE}|{POSITIVE}") for value in (-1e-5, np.nan, "small", None)),
    *(
        ("max_iter", value, rf"{POSITIVE}|at least (1|one)|>= ?1|\[1,")
        for value in (0, -1, 1.5, "many", None)
    ),
    *(
        (name, value, r"1e-40.*1e\+12")
        for name in ("tau", "tau_max")
        for value in (1e200, 1e155, 1e-155, 1e-200)
    ),
    *(("random_state", value, "at least 0") for value in (-1, 1.5, "seed", True)),
    *(("zero_threshold", value, f"auto|{NOT_NEGATIVE}") for value in (-0.1, np.nan, "small", None)),
]


@each(("name", "value", "allowed"), BAD_OPTIONS, ids=lambda v: repr(v)[:20])
def test_a_number_out_of_range(name: str, value: Any, allowed: str) -> None:
    assert_says(option_message(**{name: value}), rf"\b{name}\b", allowed)


@pytest.mark.parametrize("name", ["tau", "sigma2"])
def test_an_unknown_word_for_a_number(name: str) -> None:
    assert_says(option_message(**{name: "guess"}), rf"\b{name}\b", "guess", "estimate", POSITIVE)


@pytest.mark.parametrize("expectation", ["exact", "stochastic"])
def test_a_seed_that_is_none(expectation: str) -> None:
    assert_says(option_message(expectation=expectation, random_state=-1), "random_state=-1", "at least 0")


@pytest.mark.parametrize(
    "make",
    [
        lambda: HalfCauchy(tau_max=1e200),
        lambda: HalfCauchy(scale=1e-200),
        lambda: InverseGammaGlobal(tau_max=1e-200),
        lambda: FixedScale(tau2=1e300),
    ],
)
def test_a_global_scale_whose_square_is_no_float(make: Callable[[], Any]) -> None:
    assert_says(refused(make), "between", "1e-(40|80)", "(tau_max|scale|tau2)=")


WEIGHTS = {
    "all huge": (np.full(N, 1e150), 0, "adds up to"),
    "all tiny": (np.full(N, 1e-150), 0, "adds up to"),
    "one huge": (np.where(np.arange(N) == 3, 1e150, 1.0), 3, "adds up to"),
    "one too heavy": (
        np.where(np.arange(N) == 3, 1e18, 1.0),
        3,
        "count for nothing",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("est", [HorseshoeRegressor(), HorseshoeClassifier()], ids=["numbers", "classes"])
def test_weights_that_are_no_numbers_of_rows(est: Any, case: str) -> None:
    X, y = make_data()
    weights, row, why = WEIGHTS[case]
    assert_says(
        refused(lambda: est.fit(X, y > 0.0, sample_weight=weights)), "sample_weight", f"row {row}", why
    )


def test_weights_may_differ_by_much() -> None:
    X, y = make_data()
    weights = np.where(np.arange(N) < N // 2, 1e6, 1e-6)
    assert np.isfinite(HorseshoeRegressor().fit(X, y, sample_weight=weights).coef_).all()


UNKNOWN_NAMES = [
    ("family", "gausian", ["gaussian"]),
    ("prior", "horsehoe", ["horseshoe"]),
    ("expectation", "exakt", ["exact", "approximate", "stochastic"]),
    ("start", "papier", ["paper", "variance"]),
]


@pytest.mark.parametrize(("name", "value", "allowed"), UNKNOWN_NAMES)
def test_an_unknown_name_lists_the_known_ones(name: str, value: str, allowed: list[str]) -> None:
    assert_says(option_message(**{name: value}), rf"\b{name}\b", value, *(rf"\b{word}\b" for word in allowed))


@pytest.mark.parametrize("name", ["family", "prior", "expectation", "start"])
@pytest.mark.parametrize("value", [3, None, object()], ids=["number", "None", "object"])
def test_something_else_in_place_of_a_name(name: str, value: Any) -> None:
    assert_says(option_message(**{name: value}), rf"\b{name}\b")


@pytest.mark.parametrize("callback", [3, "print"])
def test_a_callback_that_cannot_be_called(callback: Any) -> None:
    assert_says(option_message(callback=callback), "callback", "call")


@pytest.mark.parametrize(
    ("a", "b", "name"), [(0.0, 0.5, "a"), (-1.0, 0.5, "a"), (0.5, 0.0, "b"), (0.5, np.nan, "b")]
)
def test_a_prior_with_a_shape_out_of_range(a: float, b: float, name: str) -> None:
    X, y = make_data()
    message = refused(lambda: HorseshoeRegressor(prior=InvertedBeta(a=a, b=b)).fit(X, y))
    assert_says(message, rf"\b{name}\b", POSITIVE)


def test_options_are_checked_by_fit_and_not_before() -> None:
    """scikit-learn's contract: the constructor stores, `fit` checks."""
    est = HorseshoeRegressor(tau=-1.0, lambda_power=7, prior="horsehoe")
    assert est.get_params()["tau"] == -1.0
    assert est.set_params(tau=0.5).tau == 0.5


# --- after the fit --------------------------------------------------------------------------------

AFTER_FIT: dict[str, Callable[[HorseshoeRegressor, np.ndarray], Any]] = {
    "predict": lambda est, X: est.predict(X),
    "predict_interval": lambda est, X: est.predict_interval(X, method="mode"),
    "coef_interval": lambda est, X: est.coef_interval(method="mode"),
    "summary": lambda est, X: est.summary(method="mode"),
}


@pytest.mark.parametrize("method", AFTER_FIT)
def test_before_the_fit(method: str) -> None:
    X, _ = make_data()
    with pytest.raises(NotFittedError, match=r"(?i)fit"):
        AFTER_FIT[method](HorseshoeRegressor(), X)


@pytest.mark.parametrize(
    ("level", "method"),
    in_turn(
        [0, 0.0, 1, 1.0, -0.1, 1.5, 95, np.nan, np.inf, "95%", None],
        ["coef_interval", "predict_interval", "summary"],
    ),
)
def test_a_level_out_of_range(method: str, level: Any) -> None:
    X, y = make_data()
    est = HorseshoeRegressor().fit(X, y)
    arguments = (X,) if method == "predict_interval" else ()
    message = refused(lambda: getattr(est, method)(*arguments, level=level))
    assert_says(message, r"\blevel\b", r"\b0\b.*\b1\b")


# --- a failed fit -------------------------------------------------------------------------------------


def bad_fits() -> dict[str, Callable[[HorseshoeRegressor], Any]]:
    X, y = make_data()
    with_nan = X.copy()
    with_nan[17, 3] = np.nan
    wider = np.column_stack([X, X])
    renamed = pd.DataFrame(with_nan[:, :4], columns=["a", "b", "c", "d"])
    return {
        "NaN in X": lambda est: est.fit(with_nan, y),
        "NaN in X of another width and names": lambda est: est.fit(renamed, y),
        "NaN in y and X of another width": lambda est: est.fit(wider, np.full(N, np.nan)),
        "another length": lambda est: est.fit(wider, y[:-1]),
        "two columns of y": lambda est: est.fit(wider, np.zeros((N, 2, 2))),
        "negative weight": lambda est: est.fit(wider, y, sample_weight=-np.ones(N)),
        "strings": lambda est: est.fit(np.full((N, 2), "low"), y),
        "bad option": lambda est: est.set_params(tau=-1.0).fit(wider, y),
        "bad name": lambda est: est.set_params(prior="horsehoe").fit(wider, y),
        "bad lambda power": lambda est: est.set_params(lambda_power=3.0).fit(wider, y),
    }


def fitted_state(est: HorseshoeRegressor) -> dict[str, Any]:
    parameters = est.get_params()
    return {name: value for name, value in vars(est).items() if name not in parameters}


@pytest.mark.parametrize("which", bad_fits())
def test_a_failed_fit_leaves_the_earlier_fit_alone(which: str) -> None:
    X, y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    est = HorseshoeRegressor().fit(frame, y)
    before, predicted = copy.deepcopy(fitted_state(est)), est.predict(frame)
    refused(lambda: bad_fits()[which](est))
    after = fitted_state(est)
    assert set(after) == set(before)
    assert list(est.feature_names_in_) == NAMES
    for name, value in before.items():
        if isinstance(value, np.ndarray | float | int | str | tuple):
            np.testing.assert_array_equal(after[name], value, err_msg=name)
    np.testing.assert_array_equal(est.predict(frame), predicted)


def test_a_failed_first_fit_is_no_fit() -> None:
    X, y = make_data()
    est = HorseshoeRegressor()
    refused(lambda: est.fit(X, y[:-1]))
    assert fitted_state(est) == {}
    with pytest.raises(NotFittedError):
        est.predict(X)
