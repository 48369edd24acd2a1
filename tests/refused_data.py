"""Good data for every family, fits to them, and what every estimator refuses."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.families import Binomial
from refusals import NAMES, NUMBER, POSITIVE, ROW, Bad, at_row, bad, frozen, put, told

N, P = 40, 5
RNG = np.random.default_rng(5)
X = frozen(RNG.standard_normal((N, P)))
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = frozen(RNG.random(N) < 1 / (1 + np.exp(-2.5 * X[:, 1])), int)
CODES = frozen(LABELS, float)
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
SAMPLED = {
    "gaussian": REAL,
    "student_t": REAL,
    "laplace": REAL,
    "binomial": CODES,
    "poisson": COUNTS,
    "negative_binomial": COUNTS,
}
COUNT_FAMILIES = ("poisson", "negative_binomial")


@cache
def fitted(family: str) -> HorseshoeRegressor:
    given = Binomial() if family == "Binomial()" else family
    return HorseshoeRegressor(family=given, max_iter=300).fit(FRAME, RESPONSES[family])


@cache
def classifier(n_classes: int = 2) -> HorseshoeClassifier:
    return HorseshoeClassifier().fit(FRAME, LABELS if n_classes == 2 else THREE)


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
    "lambda_power": bad(r"\blambda_power\b", r"0\b.*\b2\b", options={"lambda_power": 3.0}),
    "max_iter": bad(r"\bmax_iter\b", "at least 1", options={"max_iter": 0}),
    "prior": bad(r"\bprior\b", "horsehoe", r"\bhorseshoe\b", options={"prior": "horsehoe"}),
    "expectation": bad(r"\bexpectation\b", r"\bstochastic\b", options={"expectation": "exakt"}),
}


NEW_DATA = {
    "NaN": (with_value(np.nan), (r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b")),
    "infinity": (with_value(np.inf), (r"\bX\b", "inf", at_row(ROW), r"\bweight_kg\b")),
    "other names": (RENAMED, (r"\bweight_lb\b", r"\bweight_kg\b")),
    "another order": (FRAME[NAMES[::-1]], ("names", "order")),
    "fewer columns": (FRAME[NAMES[:3]], (r"\bweight_kg\b", r"\bshoe\b")),
    "no matrix": (X[0], ("2d|two|dim",)),
}


def make_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(99)
    X = rng.standard_normal((N, P))
    return X, 3.0 * X[:, 1] + 0.2 * rng.standard_normal(N)
