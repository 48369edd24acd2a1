"""Bad labels and new rows are refused by the classifier: what was wrong, where, what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from horseshoe import HorseshoeClassifier
from loops import each
from refusals import NUMBER, ROW, Bad, at_row, bad, frozen, put, refused, told
from refused_data import (
    BAD_FOR_ALL,
    BAD_OFFSETS,
    CODES,
    FRAME,
    HALF_NAMED,
    LABELS,
    NEW_DATA,
    OBJECTS,
    ONES,
    REAL,
    THREE,
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
    "arrays inside": bad(r"\by\b", at_row(ROW), "one label", y=put(LABELS, [0, 1], object)),
    "continuous": bad(r"\by\b", "continuous", "HorseshoeRegressor|regression", y=REAL),
    "huge": bad(r"\by\b", "continuous", y=put(CODES, 1e300)),
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
        f"augmentation: {value}": bad("augmentation", "polya_gamma", "irls", options={"augmentation": value})
        for value in ("foo", None, 3)
    },
}


@each("which", BAD_FOR_ALL | BAD_CLASSIFICATIONS)
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
    "predict_interval": lambda est, X, **kw: est.predict_interval(X, **kw, method="mode"),
    "log_likelihood": lambda est, X, **kw: est.log_likelihood(X, THREE.clip(0, len(est.classes_) - 1), **kw),
}


@pytest.mark.parametrize(
    ("which", "method"), [*in_turn(BAD_OFFSETS, CLASSIFIER_METHODS), *in_turn(["short"], CLASSIFIER_METHODS)]
)
def test_an_offset_of_a_classified_row(which: str, method: str) -> None:
    case = BAD_OFFSETS[which]
    told(lambda: CLASSIFIER_METHODS[method](classifier(), FRAME, **case.arguments), *case.says)


@pytest.mark.parametrize("method", CLASSIFIER_METHODS)
def test_an_offset_of_a_row_that_has_three_classes(method: str) -> None:
    action = CLASSIFIER_METHODS[method]
    told(lambda: action(classifier(3), FRAME, offset=ONES), "offset", r"\b(3|three)\b", r"\b(2|two)\b")


@pytest.mark.parametrize(
    ("which", "method"), [*in_turn(NEW_DATA, CLASSIFIER_METHODS), *in_turn(["NaN"], CLASSIFIER_METHODS)]
)
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


def test_labels_that_are_masked() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = np.ma.array(np.arange(30) % 2, mask=np.arange(30) == 5)
    message = refused(lambda: HorseshoeClassifier().fit(X, y))
    assert "y is masked in row 5" in message
