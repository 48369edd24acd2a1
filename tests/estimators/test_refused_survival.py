"""Times, events, entries and strata that cannot be are refused: what was wrong, where, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from horseshoe import HorseshoeSurvival
from loops import each
from refusals import ROW, assert_says, at_row, put, refused
from survival_data import survival

DATA = survival(40)
GOOD = np.c_[DATA.time, DATA.event]
ENTRY = 0.5 * DATA.time
STRATA = np.array(["a", "b"])[np.arange(40) % 2]
ROW_SAID = at_row(ROW)


def fields(*kinds: tuple[str, Any]) -> Any:
    return np.zeros(40, dtype=list(kinds))


BAD_Y: dict[str, tuple[Any, tuple[str, ...]]] = {
    "none": (None, ("y",)),
    "negative": (put(GOOD, [-1.0, 1.0]), (ROW_SAID, "negative", "add the same")),
    "nan": (put(GOOD, [np.nan, 1.0]), (ROW_SAID, "NaN")),
    "infinite": (put(GOOD, [np.inf, 1.0]), (ROW_SAID, "infinity")),
    "event of 2": (put(GOOD, [1.0, 2.0]), (ROW_SAID, "event", "True or False")),
    "event missing": (put(GOOD, [1.0, np.nan]), (ROW_SAID, "event", "NaN")),
    "event of words": (
        pd.DataFrame({"t": DATA.time, "e": ["dead"] * 40}),
        ("event", "'dead'", "row 0", "1 and"),
    ),
    "event of words in a list": ([[t, "dead"] for t in DATA.time], ("event", "'dead'", "row 0", "1 and 0")),
    "time of words": (pd.DataFrame({"t": ["long"] * 40, "e": DATA.event}), ("'long'", "row 0", "numbers")),
    "event first": (GOOD[:, ::-1], ("event", "row", "True or False")),
    "all censored": (np.c_[DATA.time, np.zeros(40)], ("no event", "censored", "True or 1")),
    "three columns": (np.zeros((40, 3)), (r"\(40, 3\)", "time, then event", "scikit-survival")),
    "three axes": (np.zeros((40, 2, 2)), (r"\(40, 2, 2\)", "time, then event")),
    "two times": (fields(("a", float), ("b", float)), (r"a \(float64\)", "bool", "scikit-survival")),
    "two events": (fields(("a", bool), ("b", bool)), (r"a \(bool\)", "times")),
    "three fields": (fields(("a", bool), ("b", float), ("c", float)), (r"c \(float64\)", "bool")),
    "words": (np.array(["a"] * 40), ("y", "number")),
    "short": (GOOD[:-1], ("40", "39")),
    "short fields": (DATA.y[:-1], ("40", "39")),
    "sparse": (sparse.csr_array(GOOD), ("y", "sparse")),
    "masked": (np.ma.masked_less(GOOD, 1.0), ("y", "mask")),
    "dates": (np.c_[np.arange(40), np.ones(40)].astype("M8[D]"), ("dates",)),
    "a number": (3.0, ("y",)),
}


@each("case", BAD_Y)
def test_bad_times_and_events(case: str) -> None:
    y, says = BAD_Y[case]
    assert_says(refused(lambda: HorseshoeSurvival().fit(DATA.X, y)), *says)


BAD: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "entry after": ({"entry": put(ENTRY, 1e9)}, (ROW_SAID, "entry", "before its time")),
    "entry at": ({"entry": put(ENTRY, DATA.time[ROW])}, (ROW_SAID, "entry", "never at risk")),
    "entry nan": ({"entry": put(ENTRY, np.nan)}, (ROW_SAID, "entry", "NaN")),
    "entry short": ({"entry": ENTRY[:-1]}, ("entry", "40", "39")),
    "entry words": ({"entry": ["x"] * 40}, ("entry", "number")),
    "strata short": ({"strata": STRATA[:-1]}, ("strata", "40", "39")),
    "strata missing": ({"strata": put(STRATA, None, object)}, (ROW_SAID, "strata", "missing")),
    "stratum without events": (
        {"strata": np.where(DATA.event, "some", "none at all")},
        ("strata", "none at all", "no event", "leave out"),
    ),
    "offset far": ({"offset": put(np.zeros(40), 1e3)}, (ROW_SAID, "offset", "hazard ratio")),
    "weights of no event": ({"sample_weight": 1.0 - DATA.event}, ("sample_weight", "no event has a weight")),
    "weights of no event of a stratum": (
        {"strata": STRATA, "sample_weight": 1.0 - DATA.event * (STRATA == "a")},
        ("strata", "'a' has no event with a weight", "leave out"),
    ),
    "weights negative": ({"sample_weight": put(np.ones(40), -1.0)}, (ROW_SAID, "sample_weight")),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_entries_strata_offsets_and_weights(case: str) -> None:
    options, says = BAD[case]
    assert_says(refused(lambda: HorseshoeSurvival().fit(DATA.X, GOOD, **options)), *says)


@pytest.mark.parametrize(
    ("parameter", "value", "says"),
    [
        ("ties", "exact", ("ties", "efron", "breslow")),
        ("ties", None, ("ties", "efron", "breslow")),
        ("expectation", "stochastic", ("expectation", "exact", "approximate")),
        ("weight_type", "frequency", ("weight_type", "count")),
        ("prior", "spike", ("prior",)),
        ("lambda_power", 3.0, ("lambda_power",)),
        ("start", "nowhere", ("start",)),
        ("slab", -1.0, ("slab",)),
    ],
)
def test_bad_parameters(parameter: str, value: Any, says: tuple[str, ...]) -> None:
    model = HorseshoeSurvival(**{parameter: value})
    assert_says(refused(lambda: model.fit(DATA.X, GOOD)), *says)


def test_bad_questions_to_a_fit() -> None:
    plain = HorseshoeSurvival().fit(DATA.X, GOOD)
    both = HorseshoeSurvival().fit(DATA.X, GOOD, strata=STRATA)
    new = DATA.X[:3]
    for ask in ("predict_survival_function", "predict_cumulative_hazard_function"):
        assert_says(refused(lambda ask=ask: getattr(plain, ask)(new, strata=["a"] * 3)), "strata", "without")
        assert_says(refused(lambda ask=ask: getattr(both, ask)(new)), "strata", "which stratum")
        unknown = refused(lambda ask=ask: getattr(both, ask)(new, strata=["a", "z", "b"]))
        assert_says(unknown, "strata", "'z'", at_row(1), "'a', 'b'")
    censored = np.c_[DATA.time, np.zeros(40)]
    assert_says(refused(lambda: plain.score(DATA.X, censored)), "nothing to compare")
    assert_says(refused(lambda: plain.predict(DATA.X[:, :2])), "features")


def test_a_row_of_weight_zero_may_be_the_only_one_of_its_stratum() -> None:
    weights = np.where(np.arange(40) == ROW, 0.0, 1.0)
    strata = np.where(np.arange(40) == ROW, "left out", "a")
    model = HorseshoeSurvival().fit(DATA.X, GOOD, sample_weight=weights, strata=strata)
    assert_says(refused(lambda: model.predict_survival_function(DATA.X[:1], strata=["left out"])), "strata")


@pytest.mark.parametrize("y", [BAD_Y["event of words"][0], BAD_Y["words"][0], BAD_Y["time of words"][0]])
def test_words_are_not_sent_to_the_classifier(y: Any) -> None:
    assert "HorseshoeClassifier" not in str(refused(lambda: HorseshoeSurvival().fit(DATA.X, y)))
