"""Bad input to the classifier and to the families is refused: what was wrong, where, and what is allowed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from farrier import HorseshoeClassifier, HorseshoeRegressor
from farrier.families import Binomial, NegativeBinomial, StudentT
from test_bad_input import NAMES, NUMBER, POSITIVE, assert_says, at_row, refused

pytestmark = pytest.mark.filterwarnings("error")

N, P = 40, 5
ROW = 12
"""Where something is wrong: row 12 of the user's data, whatever the weights of the rows before it."""


def frozen(values: Any, dtype: Any = None) -> np.ndarray:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def put(values: Any, value: Any, dtype: Any = None, row: Any = ROW) -> np.ndarray:
    """Return a copy, with ``value`` in one row."""
    array = np.array(values, dtype=dtype)
    array[row] = value
    return frozen(array)


RNG = np.random.default_rng(5)
X = frozen(RNG.standard_normal((N, P)))
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = frozen(RNG.random(N) < 1 / (1 + np.exp(-2.5 * X[:, 1])), int)
WORDS = frozen(np.array(["no", "yes"])[LABELS])
OBJECTS = frozen(WORDS, object)
THREE = frozen(np.digitize(X[:, 1] + 0.3 * RNG.standard_normal(N), [-0.4, 0.4]))
COUNTS = frozen(RNG.poisson(np.exp(0.7 + 0.8 * X[:, 1])), float)
REAL = frozen(3.0 * X[:, 1] + 0.3 * RNG.standard_t(3, N))
ONES = frozen(np.ones(N))
NONE_BEFORE = put(ONES, 0.0, row=slice(5))
RENAMED = FRAME.rename(columns={"weight_kg": "weight_lb"})
HALF_NAMED = FRAME.rename(columns={"age": 0, "shoe": 4})


def with_value(value: float) -> pd.DataFrame:
    return pd.DataFrame(put(X, value, row=(ROW, 3)), columns=NAMES)


RESPONSES = {
    "poisson": COUNTS,
    "negative_binomial": COUNTS,
    "student_t": REAL,
    "laplace": REAL,
    "gaussian": REAL,
    "Binomial()": LABELS,
}
COUNT_FAMILIES = ("poisson", "negative_binomial")


@cache
def fitted(family: str) -> HorseshoeRegressor:
    given = Binomial() if family == "Binomial()" else family
    return HorseshoeRegressor(family=given, max_iter=300).fit(FRAME, RESPONSES[family])


@cache
def classifier(n_classes: int = 2) -> HorseshoeClassifier:
    return HorseshoeClassifier().fit(FRAME, LABELS if n_classes == 2 else THREE)


def test_the_good_data_are_good() -> None:
    for family in RESPONSES:
        assert fitted(family).support_[1], family
    assert classifier().support_[1]
    assert classifier(3).support_[:, 1].any()


class Bad(NamedTuple):
    """What is handed in instead of good data or options, and what the message has to say."""

    says: tuple[str, ...]
    options: dict[str, Any]
    arguments: dict[str, Any]


def bad(*says: str, options: dict[str, Any] | None = None, **arguments: Any) -> Bad:
    return Bad(says, options or {}, arguments)


def told(action: Callable[[], Any], *says: str) -> None:
    """Assert that `action` is refused in words for people: 7, not np.int64(7)."""
    message = refused(action)
    assert_says(message, *says)
    assert "np." not in message, message


def assert_refused(est: Any, case: Bad, y: Any) -> None:
    """Assert that a fit to bad input is refused and leaves an earlier fit as it was."""
    predicted = est.predict(FRAME)
    for weights in (None, NONE_BEFORE):
        again = copy.copy(est).set_params(**case.options)
        before = dict(vars(again))
        arguments: dict[str, Any] = {"X": FRAME, "y": y, "sample_weight": weights, **case.arguments}
        told(lambda: again.fit(**arguments), *case.says)  # noqa: B023
        assert vars(again).keys() == before.keys()
        assert [name for name, value in vars(again).items() if value is not before[name]] == []
        np.testing.assert_array_equal(again.predict(FRAME), predicted)


each_family = pytest.mark.parametrize("family", RESPONSES)

# --- what every estimator refuses -----------------------------------------------------------------

BAD_OFFSETS = {
    "NaN": bad("offset", "nan", at_row(ROW), offset=put(ONES, np.nan)),
    "infinity": bad("offset", "inf", at_row(ROW), offset=put(ONES, -np.inf)),
    "short": bad("offset", rf"\b{N - 1}\b", rf"\b{N}\b", offset=ONES[1:]),
    "long": bad("offset", rf"\b{N + 1}\b", rf"\b{N}\b", offset=np.ones(N + 1)),
    "a matrix": bad("offset", r"shape", offset=np.ones((N, 2))),
    "text": bad("offset", NUMBER, at_row(0), r"^(?!.*classifier)", offset=["much"] * N),
    "None in a row": bad("offset", "nan|missing|none", at_row(ROW), offset=put(ONES, None, object)),
}
BAD_FOR_ALL = {
    **{f"offset: {name}": case for name, case in BAD_OFFSETS.items()},
    "negative weight": bad("sample_weight", "negative", at_row(ROW), sample_weight=put(ONES, -0.5)),
    "NaN weight": bad("sample_weight", "nan", at_row(ROW), sample_weight=put(ONES, np.nan)),
    "no weight": bad("sample_weight", "zero", sample_weight=np.zeros(N)),
    "short weights": bad("sample_weight", rf"\b{N - 1}\b", rf"\b{N}\b", sample_weight=ONES[1:]),
    "text as weights": bad("sample_weight", NUMBER, r"^(?!.*classifier)", sample_weight=["much"] * N),
    "NaN in X": bad(r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b", X=with_value(np.nan)),
    "infinity in X": bad(r"\bX\b", "inf", at_row(ROW), r"\bweight_kg\b", X=with_value(np.inf)),
    "NaN in polars": bad(at_row(ROW), r"\bweight_kg\b", X=pl.DataFrame(with_value(np.nan))),
    "text in X": bad(r"\bincome\b", NUMBER, X=FRAME.assign(income="low")),
    "some columns without names": bad(r"\bnames?\b", "string", X=HALF_NAMED),
    "no y": bad(r"\by\b", y=None),
    "start: unknown": bad(r"\bstart\b", "foo", r"\bpaper\b", options={"start": "foo"}),
    "start: None": bad(r"\bstart\b", r"\bpaper\b", options={"start": None}),
    "tau": bad(r"\btau\b", POSITIVE, options={"tau": -1.0}),
    "coordinate": bad(r"\bcoordinate\b", r"0\b.*\b2\b", options={"coordinate": 3.0}),
    "max_iter": bad(r"\bmax_iter\b", "at least 1", options={"max_iter": 0}),
    "prior": bad(r"\bprior\b", "horsehoe", r"\bhorseshoe\b", options={"prior": "horsehoe"}),
    "expectation": bad(r"\bexpectation\b", r"\bstochastic\b", options={"expectation": "exakt"}),
}

# --- the classifier -------------------------------------------------------------------------------


def words_with(missing: Any) -> list[Any]:
    return [missing if row == ROW else word for row, word in enumerate(WORDS.tolist())]


MISSING_LABELS = {
    "float": put(LABELS, np.nan, float),
    "None": put(LABELS, None, object),
    "NaN among objects": put(OBJECTS, np.nan),
    "NA among objects": put(OBJECTS, pd.NA),
    "list of words and None": words_with(None),
    "list of words and NaN": words_with(np.nan),
    "pandas category": pd.Series(words_with(None), dtype="category"),
    "pandas text": pd.Series(words_with(None)),
    "pandas string": pd.Series(words_with(None), dtype="string"),
    "pandas Int64": pd.Series(put(LABELS, None, object), dtype="Int64"),
    "pandas boolean": pd.Series(put(LABELS, None, object), dtype="boolean"),
    "pandas dates": pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"])[LABELS]).mask(np.arange(N) == ROW),
    "polars numbers": pl.Series(put(LABELS, None, object).tolist()),
    "polars text": pl.Series(words_with(None)),
}
BAD_LABELS = {
    **{
        f"missing: {name}": bad(r"\by\b", "missing|nan|none|null", at_row(ROW), "remove", y=labels)
        for name, labels in MISSING_LABELS.items()
    },
    "infinity": bad(r"\by\b", "inf", at_row(ROW), y=put(LABELS, np.inf, float)),
    "one class": bad(r"\by\b", r"\b(one|1) class", r"\b1\b", "(2|two) classes", y=np.ones(N, int)),
    "one class, a word": bad(r"\by\b", r"\b(one|1) class", "'no'", "(2|two) classes", y=["no"] * N),
    "short": bad(r"\bX\b", r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b", y=LABELS[1:]),
    "long": bad(r"\bX\b", r"\by\b", rf"\b{N + 1}\b", rf"\b{N}\b", y=np.append(LABELS, 1)),
    "two columns": bad(r"\by\b", "2 columns", r"\bone\b", y=np.column_stack([LABELS, LABELS])),
    "a frame": bad(r"\by\b", "2 columns", r"\bone\b", y=pd.DataFrame({"a": WORDS, "b": WORDS})),
    "three dimensions": bad(r"\by\b", "1d|dim|shape", y=LABELS[:, None, None]),
    "one label": bad(r"\by\b", "1d|dim|shape", y=1),
    "ragged": bad(r"\by\b", "1d|dim|shape|sequence", y=[[0, 1], [1]] * (N // 2)),
    "continuous": bad(r"\by\b", "continuous", "HorseshoeRegressor|regression", y=REAL),
    "complex": bad(r"\by\b", "complex", y=LABELS + 1j),
    "words among numbers": bad(r"\by\b", "text|str|mix", y=put(LABELS, "yes", object)),
}


def weighted(class_weight: Any, *says: str, **arguments: Any) -> Bad:
    return bad("class_weight", *says, options={"class_weight": class_weight}, **arguments)


BAD_CLASS_WEIGHTS = {
    "unknown word": weighted("balance", "'balance'", "'balanced'", "dict"),
    "number": weighted(3, "'balanced'", "dict"),
    "list": weighted([1.0, 2.0], "'balanced'", "dict"),
    "absent class": weighted({0: 1.0, 1: 2.0, 7: 3.0}, r"\b7\b"),
    "another class": weighted({0: 1.0, 7: 2.0}, r"\b(1|7)\b"),
    "misspelt class": weighted({"no": 1.0, "Yes": 2.0}, r"\b[yY]es\b", y=WORDS),
    "negative": weighted({0: -1.0, 1: 1.0}, r"negative|positive", r"\b0\b"),
    "NaN": weighted({0: 1.0, 1: np.nan}, r"nan|finite", r"\b1\b"),
    "text": weighted({0: 1.0, 1: "heavy"}, "heavy", NUMBER),
    "zero leaves one class": weighted({0: 0.0, 1: 1.0}, r"\b(one|1) class|(2|two) classes"),
}
OTHER_COLUMNS = HorseshoeClassifier().fit(X[:, :3], LABELS)
BAD_CLASSIFICATIONS = {
    **{f"y: {name}": case for name, case in BAD_LABELS.items()},
    **{f"class_weight: {name}": case for name, case in BAD_CLASS_WEIGHTS.items()},
    "weights leave one class": bad(
        r"\b(one|1) class", "weight", "(2|two) classes", sample_weight=frozen(LABELS == 1, float)
    ),
    "offset for three": bad("offset", r"\b(3|three)\b", r"\b(2|two)\b", y=THREE, offset=ONES),
    "start: other classes": bad(
        r"\bstart\b", "classes", "'?no'?", r"\b0\b", y=WORDS, options={"start": classifier()}
    ),
    "start: three classes": bad(r"\bstart\b", "classes", r"\b2\b", options={"start": classifier(3)}),
    "start: other columns": bad(r"\bstart\b", r"\b3\b", rf"\b{P}\b", options={"start": OTHER_COLUMNS}),
    "start: not fitted": bad(r"\bstart\b", "not fitted", options={"start": HorseshoeClassifier()}),
    "start: a regression": bad(r"\bstart\b", "HorseshoeClassifier", options={"start": fitted("Binomial()")}),
    "start: variance": bad(r"\bstart\b", r"\bpaper\b", options={"start": "variance"}),
    **{
        f"weights: {value}": bad(r"\bweights\b", r"\bpolya_gamma\b", r"\birls\b", options={"weights": value})
        for value in ("foo", None, 3)
    },
}


@pytest.mark.parametrize("which", BAD_FOR_ALL | BAD_CLASSIFICATIONS)
def test_a_classification_is_refused(which: str) -> None:
    assert_refused(classifier(), (BAD_FOR_ALL | BAD_CLASSIFICATIONS)[which], LABELS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_refused_first_classification_is_no_fit(n_classes: int) -> None:
    est = HorseshoeClassifier()
    refused(lambda: est.fit(HALF_NAMED, LABELS if n_classes == 2 else THREE))
    assert vars(est).keys() == est.get_params().keys()
    with pytest.raises(NotFittedError):
        est.predict(FRAME)


def test_a_warm_start_of_a_classifier_at_something_else() -> None:
    est = HorseshoeClassifier(warm_start=True).fit(FRAME, LABELS)
    told(lambda: est.fit(FRAME, WORDS), "warm_start", "classes", "'?no'?", r"\b0\b")
    told(lambda: est.fit(X[:, :3], LABELS), "warm_start", r"\b3\b", rf"\b{P}\b")


CLASSIFIER_METHODS: dict[str, Callable[..., Any]] = {
    "predict": lambda est, X, **kw: est.predict(X, **kw),
    "predict_proba": lambda est, X, **kw: est.predict_proba(X, **kw),
    "predict_log_proba": lambda est, X, **kw: est.predict_log_proba(X, **kw),
    "decision_function": lambda est, X, **kw: est.decision_function(X, **kw),
    "predict_interval": lambda est, X, **kw: est.predict_interval(X, **kw),
    "log_likelihood": lambda est, X, **kw: est.log_likelihood(X, THREE.clip(0, len(est.classes_) - 1), **kw),
}


@pytest.mark.parametrize("method", CLASSIFIER_METHODS)
@pytest.mark.parametrize("which", BAD_OFFSETS)
def test_an_offset_of_a_classified_row(which: str, method: str) -> None:
    case = BAD_OFFSETS[which]
    told(lambda: CLASSIFIER_METHODS[method](classifier(), FRAME, **case.arguments), *case.says)


@pytest.mark.parametrize("method", CLASSIFIER_METHODS)
def test_an_offset_of_a_row_that_has_three_classes(method: str) -> None:
    action = CLASSIFIER_METHODS[method]
    told(lambda: action(classifier(3), FRAME, offset=ONES), "offset", r"\b(3|three)\b", r"\b(2|two)\b")


NEW_DATA = {
    "NaN": (with_value(np.nan), (r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b")),
    "infinity": (with_value(np.inf), (r"\bX\b", "inf", at_row(ROW), r"\bweight_kg\b")),
    "other names": (RENAMED, (r"\bweight_lb\b", r"\bweight_kg\b")),
    "another order": (FRAME[NAMES[::-1]], ("names", "order")),
    "fewer columns": (FRAME[NAMES[:3]], (r"\bweight_kg\b", r"\bshoe\b")),
    "no matrix": (X[0], ("2d|two|dim",)),
}


@pytest.mark.parametrize("method", CLASSIFIER_METHODS)
@pytest.mark.parametrize("which", NEW_DATA)
def test_new_data_for_a_classifier(which: str, method: str) -> None:
    given, says = NEW_DATA[which]
    told(lambda: CLASSIFIER_METHODS[method](classifier(), given), *says)
    told(lambda: CLASSIFIER_METHODS[method](classifier(3), given), *says)


@pytest.mark.parametrize("method", CLASSIFIER_METHODS)
def test_another_number_of_columns_without_names(method: str) -> None:
    est = HorseshoeClassifier().fit(X, LABELS)
    told(lambda: CLASSIFIER_METHODS[method](est, X[:, :3]), r"\bX\b", r"\b3\b", rf"\b{P}\b")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "predict_interval"])
def test_before_a_classifier_is_fitted(method: str) -> None:
    with pytest.raises(NotFittedError, match=r"(?i)fit"):
        CLASSIFIER_METHODS[method](HorseshoeClassifier(), FRAME)


def test_before_a_classifier_has_anything_to_say() -> None:
    est = HorseshoeClassifier()
    after = [est.coef_interval, est.summary, partial(est.score, FRAME, LABELS)]
    for action in [*after, partial(est.log_likelihood, FRAME, LABELS)]:
        with pytest.raises(NotFittedError, match=r"(?i)fit"):
            action()


SCORED_LABELS = {
    "unknown number": bad(r"\by\b", at_row(ROW), r"\b7\b", r"\b0\b.*\b1\b", y=put(LABELS, 7)),
    "unknown words": bad(r"\by\b", at_row(0), r"'(no|yes)'", r"\b0\b.*\b1\b", y=WORDS),
    "a word among numbers": bad(r"\by\b", at_row(ROW), "'yes'", y=put(LABELS, "yes", object)),
    "missing": bad(r"\by\b", "missing|nan|none", at_row(ROW), y=put(LABELS, None, object)),
    "short": bad(r"\bX\b", r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b", y=LABELS[1:]),
    "none": bad(r"\by\b", y=None),
    "negative weight": bad("sample_weight", at_row(ROW), y=LABELS, sample_weight=put(ONES, -1.0)),
}


@pytest.mark.parametrize("which", SCORED_LABELS)
def test_the_likelihood_of_labels(which: str) -> None:
    case = SCORED_LABELS[which]
    told(lambda: classifier().log_likelihood(FRAME, **case.arguments), *case.says)


def test_the_likelihood_of_a_number_among_words() -> None:
    est = HorseshoeClassifier().fit(FRAME, WORDS)
    told(lambda: est.log_likelihood(FRAME, put(OBJECTS, 3)), r"\by\b", at_row(ROW), r"\b3\b", r"\b(no|yes)\b")


# --- regressions ----------------------------------------------------------------------------------

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
    "family: binomial": bad(r"\bfamily\b", "HorseshoeClassifier", options={"family": "binomial"}),
}


@each_family
@pytest.mark.parametrize("which", BAD_FOR_ALL | BAD_REGRESSIONS)
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


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "foo", None, True, np.ones(2), 1j], ids=repr)
@pytest.mark.parametrize(("make", "name"), [(NegativeBinomial, "size"), (StudentT, "df")])
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
    "predict_interval": lambda est, X, y, **kw: est.predict_interval(X, **kw),
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


@pytest.mark.parametrize("method", ["score", "log_likelihood"])
@pytest.mark.parametrize("which", SCORED)
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


@pytest.mark.parametrize("which", ["poisson", "laplace", "Binomial()", 2, 3])
@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, 95, np.nan, "95%", None, True])
def test_a_level_of_a_family_out_of_range(level: Any, which: Any) -> None:
    for action in takes_level(which):
        told(partial(action, level=level), r"\blevel\b", r"\b0\b.*\b1\b")


@pytest.mark.parametrize("which", ["poisson", 2])
def test_a_level_of_one_is_not_said_to_be_allowed(which: Any) -> None:
    for action in takes_level(which):
        told(partial(action, level=1.0), r"\blevel\b", r"(below|less than|under) 1|between 0 and 1|strictly")
