"""Bad input to every family is refused: what was wrong, where, and what is allowed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from horseshoe import HorseshoeRegressor
from horseshoe.families import NegativeBinomial, StudentT
from loops import each
from refusals import NUMBER, POSITIVE, ROW, assert_says, at_row, bad, put, refused, told
from refused_data import (
    BAD_FOR_ALL,
    BAD_OFFSETS,
    COUNT_FAMILIES,
    COUNTS,
    FRAME,
    LABELS,
    NEW_DATA,
    REAL,
    RESPONSES,
    WORDS,
    N,
    P,
    X,
    assert_refused,
    classifier,
    fitted,
)
from selections import in_turn

pytestmark = pytest.mark.filterwarnings("error")


def test_the_good_data_are_good() -> None:
    for family in RESPONSES:
        assert fitted(family).support_[1], family
    assert classifier().support_[1]
    assert classifier(3).support_[:, 1].any()


each_family = pytest.mark.parametrize("family", RESPONSES)
TWO_FAMILIES = (
    ("poisson", "laplace"),
    ("negative_binomial", "gaussian"),
    ("Binomial()", "student_t"),
)
"""Each bad thing is shown to two families: one with noise, one without."""


BAD_RESPONSES = {
    "NaN": bad(r"\by\b", "nan", at_row(ROW), "remove", y=put(LABELS, np.nan, float)),
    "infinity": bad(r"\by\b", "inf", at_row(ROW), y=put(LABELS, np.inf, float)),
    "NA": bad(r"\by\b", "missing|nan|NA", at_row(ROW), "remove", y=put(LABELS, pd.NA, object)),
    "None": bad(r"\by\b", "missing|nan|none", at_row(ROW), y=put(LABELS, None, object)),
    "words": bad(r"\by\b", NUMBER, "'(no|yes)'", y=WORDS),
    "words in pandas": bad(r"\by\b", NUMBER, "'(no|yes)'", y=pd.Series(WORDS)),
    "a word": bad(r"\by\b", NUMBER, "'many'", at_row(ROW), y=put(LABELS, "many", object)),
    "digits": bad(r"\by\b", NUMBER, y=LABELS.astype(str)),
    "digits in pandas": bad(r"\by\b", NUMBER, y=pd.Series(LABELS.astype(str))),
    "digits among numbers": bad(r"\by\b", NUMBER, at_row(ROW), y=put(LABELS, "3", object)),
    "dates": bad(r"\by\b", f"date|{NUMBER}", y=pd.Series(pd.date_range("2020-01-01", periods=N))),
    "complex": bad(r"\by\b", "complex", y=LABELS + 1j),
    "short": bad(r"\bX\b", r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b", y=LABELS[1:]),
    "two columns": bad(r"\by\b", "2 columns", r"\bone\b", y=np.column_stack([LABELS, LABELS])),
}
BAD_REGRESSIONS = {
    **{f"y: {name}": case for name, case in BAD_RESPONSES.items()},
    "start: other columns": bad(
        r"\bstart\b", r"\b3\b", rf"\b{P}\b", options={"start": HorseshoeRegressor().fit(X[:, :3], REAL)}
    ),
    "start: not fitted": bad(r"\bstart\b", "not fitted", options={"start": HorseshoeRegressor()}),
    "start: a classifier": bad(r"\bstart\b", "HorseshoeRegressor", options={"start": classifier()}),
    "sigma2: word": bad(r"\bsigma2\b", "estimate", options={"sigma2": "foo"}),
    "sigma2: negative": bad(r"\bsigma2\b", f"{POSITIVE}|no meaning", options={"sigma2": -1}),
    "sigma2: NaN": bad(r"\bsigma2\b", f"{POSITIVE}|no meaning", options={"sigma2": np.nan}),
    "family: unknown": bad(r"\bfamily\b", "foo", r"\bnegative_binomial\b", options={"family": "foo"}),
    "family: number": bad(r"\bfamily\b", r"\bnegative_binomial\b", options={"family": 3}),
    "family: None": bad(r"\bfamily\b", r"\bnegative_binomial\b", options={"family": None}),
    "family: array": bad(r"\bfamily\b", "negative_binomial", options={"family": np.array(["poisson"] * 2)}),
    "family: binomial": bad(r"\by\b", "row", "HorseshoeClassifier", options={"family": "binomial"}),
}


@each(
    ("which", "family"),
    [
        (which, family)
        for which, two in in_turn(BAD_FOR_ALL | BAD_REGRESSIONS, TWO_FAMILIES)
        for family in two
    ],
)
def test_a_regression_is_refused(which: str, family: str) -> None:
    assert_refused(fitted(family), (BAD_FOR_ALL | BAD_REGRESSIONS)[which], RESPONSES[family])


EXPOSURE = put(np.linspace(1e3, 1e5, N), 0.0, row=slice(ROW))
BAD_COUNTS = {
    "negative": bad(r"\by\b", at_row(ROW), "-1", "negative", y=put(COUNTS, -1.0)),
    "negative, integers": bad(r"\by\b", at_row(ROW), "-1", "negative", y=put(COUNTS, -1, int)),
    "fractional": bad(r"\by\b", at_row(ROW), r"1\.5", "whole", y=put(COUNTS, 1.5)),
    "two fractional": bad(r"\by\b", at_row(ROW), "whole", y=put(COUNTS, 0.5, row=slice(ROW, ROW + 2))),
    "known noise": bad(r"\bsigma2\b", "no|family", options={"sigma2": 1.0}),
    "exposures, not their logarithms": bad("offset", r"\blog", at_row(ROW), offset=EXPOSURE),
}


@pytest.mark.parametrize("family", COUNT_FAMILIES)
@pytest.mark.parametrize("which", BAD_COUNTS)
def test_a_regression_of_counts_is_refused(which: str, family: str) -> None:
    assert_refused(fitted(family), BAD_COUNTS[which], COUNTS)


BAD_SUCCESSES = {
    "three classes": bad(r"\by\b", at_row(ROW), r"\b2\b", r"0 or 1|between", y=put(LABELS, 2)),
    "percent": bad(r"\by\b", at_row(ROW), r"1\.5", "proportion|between", y=put(LABELS, 1.5, float)),
    "negative": bad(r"\by\b", at_row(ROW), r"-0\.5", "proportion|between", y=put(LABELS, -0.5, float)),
    "known noise": bad(r"\bsigma2\b", "no|family", options={"sigma2": 1.0}),
}


@pytest.mark.parametrize("which", BAD_SUCCESSES)
def test_a_regression_of_two_classes_is_refused(which: str) -> None:
    assert_refused(fitted("Binomial()"), BAD_SUCCESSES[which], LABELS)


@each("value", [0, -1, np.nan, np.inf, "foo", None, True, np.ones(2), 1j], ids=repr)
@each(("make", "name"), [(NegativeBinomial, "size"), (StudentT, "df")])
def test_a_number_that_belongs_to_a_family(make: Callable[..., Any], name: str, value: Any) -> None:
    message = refused(lambda: HorseshoeRegressor(family=make(**{name: value})).fit(FRAME, COUNTS))
    assert_says(message, rf"\b{name}\b", POSITIVE, "estimate")


@each_family
def test_a_warm_start_at_other_columns(family: str) -> None:
    est = copy.copy(fitted(family)).set_params(warm_start=True)
    told(lambda: est.fit(X[:, :3], RESPONSES[family]), "warm_start", r"\b3\b", rf"\b{P}\b")


METHODS: dict[str, Callable[..., Any]] = {
    "predict": lambda est, X, y, **kw: est.predict(X, **kw),
    "predict with std": lambda est, X, y, **kw: est.predict(X, return_std=True, **kw),
    "linear_predictor": lambda est, X, y, **kw: est.linear_predictor(X, **kw),
    "predict_interval": lambda est, X, y, **kw: est.predict_interval(X, **kw, method="mode"),
    "score": lambda est, X, y, **kw: est.score(X, y, **kw),
    "log_likelihood": lambda est, X, y, **kw: est.log_likelihood(X, y, **kw),
}
each_method = pytest.mark.parametrize("method", METHODS)


@each_family
@each_method
def test_an_offset_of_a_new_row(method: str, family: str) -> None:
    for case in BAD_OFFSETS.values():
        action = partial(METHODS[method], fitted(family), FRAME, RESPONSES[family], **case.arguments)
        told(action, *case.says)


@each_family
@each_method
def test_new_data_for_a_family(method: str, family: str) -> None:
    for given, says in NEW_DATA.values():
        told(partial(METHODS[method], fitted(family), given, RESPONSES[family]), *says)


@each_family
@each_method
def test_before_the_fit_of_a_family(method: str, family: str) -> None:
    est = HorseshoeRegressor(family=fitted(family).family)
    with pytest.raises(NotFittedError, match=r"(?i)fit"):
        METHODS[method](est, FRAME, RESPONSES[family])


SCORED = {
    **{f"y: {name}": case for name, case in BAD_RESPONSES.items()},
    **{name: case for name, case in BAD_FOR_ALL.items() if "weight" in name or name == "no y"},
}


@each("method", ["score", "log_likelihood"])
@each("which", SCORED)
def test_a_scored_response(which: str, method: str) -> None:
    case = SCORED[which]
    for family, y in RESPONSES.items():
        told(partial(getattr(fitted(family), method), FRAME, **{"y": y, **case.arguments}), *case.says)


@pytest.mark.parametrize("method", ["score", "log_likelihood"])
@pytest.mark.parametrize("family", COUNT_FAMILIES)
def test_scored_counts_that_are_negative(family: str, method: str) -> None:
    case = BAD_COUNTS["negative"]
    told(lambda: getattr(fitted(family), method)(FRAME, **case.arguments), *case.says)


@pytest.mark.parametrize("method", ["score", "log_likelihood"])
def test_scored_successes_that_are_none(method: str) -> None:
    case = BAD_SUCCESSES["three classes"]
    told(lambda: getattr(fitted("Binomial()"), method)(FRAME, **case.arguments), *case.says)


def takes_level(which: Any) -> list[Callable[..., Any]]:
    est = classifier(which) if isinstance(which, int) else fitted(which)
    return [partial(est.predict_interval, FRAME), est.coef_interval, est.summary]


@pytest.mark.parametrize(
    ("level", "which"),
    in_turn([0, 1, -0.1, 1.5, 95, np.nan, "95%", None, True], ["poisson", "laplace", "Binomial()", 2, 3]),
)
def test_a_level_of_a_family_out_of_range(level: Any, which: Any) -> None:
    for action in takes_level(which):
        told(partial(action, level=level), r"\blevel\b", r"\b0\b.*\b1\b")


@pytest.mark.parametrize("which", ["poisson", 2])
def test_a_level_of_one_is_not_said_to_be_allowed(which: Any) -> None:
    for action in takes_level(which):
        told(partial(action, level=1.0), r"\blevel\b", r"(below|less than|under) 1|between 0 and 1|strictly")
