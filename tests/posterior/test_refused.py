"""Bad questions to the draws are refused: what was wrong, where, and what is allowed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from horseshoe import sample_posterior
from horseshoe.posterior.draws import Posterior
from loops import each
from refusals import NAMES, NUMBER, ROW, assert_says, at_row, missing, put, told
from refused_data import CODES, COUNTS, FRAME, REAL, SAMPLED, WORDS, N, P, X, with_value

pytestmark = pytest.mark.filterwarnings("error")


# --- what is asked of the draws -------------------------------------------------------------------


@cache
def drawn(family: str = "gaussian", labels: bool = False) -> Posterior:
    y = WORDS if labels else SAMPLED[family]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return sample_posterior(FRAME, y, family, n_draws=20, n_warmup=20, n_chains=2, random_state=0)


METHODS: dict[str, Callable[..., Any]] = {
    "predict": lambda draws, X, **options: draws.predict(X, **options),
    "predict with std": lambda draws, X, **options: draws.predict(X, return_std=True, **options),
    "predict_interval": lambda draws, X, **options: draws.predict_interval(X, **options),
    "simulate": lambda draws, X, **options: draws.simulate(X, **options),
    "log_likelihood": lambda draws, X, **options: draws.log_likelihood(X, COUNTS[: len(X)], **options),
}
NEW_ROWS = {
    "fewer columns": (FRAME.iloc[:, :3], (r"\bX\b", r"\b3 columns\b", rf"\b{P}\b")),
    "more columns": (np.ones((4, 6)), (r"\bX\b", r"\b6 columns\b", rf"\b{P}\b")),
    "another name": (FRAME.rename(columns={"weight_kg": "weight_lb"}), ("weight_kg", "weight_lb")),
    "another order": (FRAME[NAMES[::-1]], ("order|column", "shoe|age")),
    "NaN": (with_value(np.nan), (r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b")),
    "text": (FRAME.assign(income="low"), (r"\bincome\b", NUMBER + "|float")),
    "one row as a vector": (X[0], (r"\bX\b|2D", "reshape|2D")),
}
each_method = pytest.mark.parametrize("method", METHODS)


@each_method
@each("which", NEW_ROWS)
def test_new_rows(which: str, method: str) -> None:
    given, says = NEW_ROWS[which]
    told(lambda: METHODS[method](drawn("poisson"), given), *says)


@each_method
def test_offsets_of_new_rows(method: str) -> None:
    action = partial(METHODS[method], drawn("poisson"), FRAME)
    told(lambda: action(offset=np.ones(N - 1)), "offset", rf"\b{N - 1}\b", rf"\b{N}\b")
    told(lambda: action(offset=put(np.ones(N), np.nan)), "offset", "nan", at_row(ROW))


@pytest.mark.parametrize("level", [1.2, 1.0, 0.0, -0.5, 95, np.nan, "95%", None, True], ids=repr)
def test_levels(level: Any) -> None:
    draws = drawn()
    for action in (draws.interval, draws.summary, partial(draws.predict_interval, FRAME), draws.select):
        told(partial(action, level=level), r"\blevel=", "above 0 and below 1")


@pytest.mark.parametrize("of", ["beta", "lambda", None, 3, ["coef"]], ids=repr)
def test_quantities_that_are_not_known(of: Any) -> None:
    draws = drawn()
    for action in (
        draws.draws,
        draws.mean,
        draws.median,
        draws.std,
        draws.rhat,
        draws.mcse,
        partial(draws.ess, "bulk"),
        partial(draws.interval, 0.9),
    ):
        told(partial(action, of=of), r"\bof=", "'coef'", "'sigma2'", "'lambda2'")


def test_quantities_that_there_are_no_draws_of() -> None:
    told(lambda: drawn().mean("lambda2"), "no draws of lambda2", "store_lambda2=True")
    told(lambda: drawn().mean("nuisance"), "no draws of nuisance", "family has none")


@pytest.mark.parametrize("kind", ["hdi", None, 3], ids=repr)
def test_kinds_of_intervals(kind: Any) -> None:
    for action in (drawn().interval, drawn().summary):
        told(partial(action, kind=kind), r"\bkind=", "'equal_tailed'", "'highest_density'")
    told(lambda: drawn().predict_interval(FRAME, kind=kind), r"\bkind=", "'predictive'", "'credible'")
    told(lambda: drawn().ess(kind), r"\bkind=", "'bulk'", "'tail'")


@pytest.mark.parametrize("method", ["decoupeld", None, 3], ids=repr)
def test_methods_of_selection(method: Any) -> None:
    told(lambda: drawn().select(method), r"\bmethod=", "'credible'", "'decoupled'")


@pytest.mark.parametrize("n_draws", [0, -1, 0.5, "10", None, True], ids=repr)
def test_numbers_of_simulated_responses(n_draws: Any) -> None:
    told(lambda: drawn().simulate(FRAME, n_draws=n_draws), r"\bn_draws=", "number of at least 1")


@pytest.mark.parametrize("value", [-1, "a", 1.5], ids=repr)
def test_seeds_of_responses(value: Any) -> None:
    for action in (drawn().predict_interval, drawn().simulate):
        told(partial(action, FRAME, random_state=value), r"\brandom_state=", "at least 0")


def test_rows_without_responses() -> None:
    told(lambda: drawn().log_likelihood(FRAME), r"\bX and y\b", "or neither")
    told(lambda: drawn().log_likelihood(y=REAL), r"\bX and y\b", "or neither")


@pytest.mark.parametrize(
    ("family", "y", "says"),
    [
        ("gaussian", REAL[1:], (r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b")),
        ("gaussian", put(REAL, np.nan), (r"\by\b", "nan", at_row(ROW))),
        ("poisson", put(COUNTS, -1.0), (r"\by\b", at_row(ROW), "negative")),
        ("negative_binomial", put(COUNTS, 1.5), (r"\by\b", at_row(ROW), "whole")),
        ("binomial", put(CODES, 2.0), (r"\by\b", at_row(ROW), "0 or 1")),
        ("binomial", WORDS, (r"\by\b", NUMBER)),
    ],
    ids=["short", "NaN", "negative", "fractional", "codes", "words"],
)
def test_responses_of_new_rows(family: str, y: Any, says: tuple[str, ...]) -> None:
    told(lambda: drawn(family).log_likelihood(FRAME, y), *says)


def test_labels_of_new_rows() -> None:
    draws = drawn("binomial", labels=True)
    told(lambda: draws.log_likelihood(FRAME, put(WORDS, "perhaps", "U9")), r"\by\b", "'perhaps'", at_row(ROW))


# --- packages that are not there ------------------------------------------------------------------


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = drawn()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert_says(missing(draws.summary), r"\bpandas\b", r"pip install 'horseshoe\[pandas\]'")


def test_without_arviz(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = drawn()
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    assert_says(missing(draws.to_arviz), r"\barviz_base\b", r"pip install 'horseshoe\[arviz\]'")
