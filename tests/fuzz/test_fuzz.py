"""Cases of the campaign, those that it found before, and that it finds what is forbidden."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from fuzz import outcomes
from fuzz.cases import Case, from_json, kept
from fuzz.outcomes import judge
from fuzz.strategies import case_of

BLOCKS, BLOCK = 10, 30
"""Three hundred cases, in parts that run beside each other."""
ITERATIONS, COLUMNS, CLASSES = 60, 60, 3
"""The most of each here; `make fuzz` has no end to the first."""
ANSWER = {
    "coef_": np.array([1.0, 0.0]),
    "coef_std_": np.array([0.1, 0.0]),
    "eta": np.array([3.0, 4.0, 6.0]),
    "sigma2_": 1.0,
}


def quick(case: Case) -> Case:
    """Return the case made smaller, with an end to its iterations, and no row that counts a million times.

    `make fuzz` has them all: the sampler repeats such a row under "student_t" and "laplace".
    """
    if case.weights == "dominant" and (case.call == "sampler" or case.ask == "posterior"):
        case = case.but(weights="counts")
    if case.call == "sampler":
        return case
    case = case.but(p=min(case.p, COLUMNS), classes=min(case.classes, CLASSES))
    if case.averages:
        return case
    iterations = min(case.options.get("max_iter", ITERATIONS), ITERATIONS)
    return case.but(options={**case.options, "max_iter": iterations})


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_case_ends_in_an_answer_or_a_sentence(block: int) -> None:
    forbidden = {}
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        case = quick(case_of(number))
        if findings := judge(case).findings:
            forbidden[number] = (findings, case.to_json())
    assert forbidden == {}


@pytest.mark.parametrize(("name", "case"), kept(), ids=[name for name, _ in kept()])
def test_what_was_found_before_stays_mended(name: str, case: Case) -> None:
    assert judge(case).findings == [], case.to_json()


@pytest.mark.parametrize("number", range(10))
def test_a_case_is_plain_data_and_its_number_tells_it(number: int) -> None:
    case = case_of(number)
    assert case_of(number).to_json() == case.to_json() == from_json(case.to_json()).to_json()
    assert case.to_json() != case_of(number + 1).to_json()


# --- the judge itself ------------------------------------------------------------------------------


def kinds(monkeypatch: pytest.MonkeyPatch, answer: Any, case: Case | None = None) -> list[str]:
    monkeypatch.setattr(outcomes, "call", answer)
    return [finding.kind for finding in judge(case or Case(n=3, p=2)).findings]


def raises(error: BaseException) -> Any:
    def answer(*_: Any) -> None:
        raise error

    return answer


def leaks(category: type[Warning], text: str) -> Any:
    def answer(*_: Any) -> dict[str, Any]:
        warnings.warn(text, category, stacklevel=1)
        return ANSWER

    return answer


@pytest.mark.parametrize(
    ("answer", "start"),
    [
        (lambda *_: ANSWER | {"coef_std_": np.array([np.nan, 0.0])}, "not finite: coef_std_"),
        (lambda *_: ANSWER | {"sigma2_": np.inf}, "not finite: sigma2_"),
        (raises(OverflowError("too large")), "raw OverflowError"),
        (raises(IndexError("row 3")), "raw IndexError"),
        (raises(ValueError("math domain error")), "names no culprit"),
        (raises(outcomes.ContradictionError("X was modified")), "contradiction: X was modified"),
        (leaks(RuntimeWarning, "overflow encountered"), "leaked RuntimeWarning: overflow"),
        (leaks(UserWarning, "something else"), "leaked UserWarning"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_forbidden_is_found(monkeypatch: pytest.MonkeyPatch, answer: Any, start: str) -> None:
    found = kinds(monkeypatch, answer)
    assert len(found) == 1
    assert found[0].startswith(start)


@pytest.mark.parametrize(
    "answer",
    [
        lambda *_: ANSWER,
        raises(ValueError("tau=0 must be a positive finite number")),
        raises(TypeError("X in column 'age', row 3 is a date: convert it")),
        raises(NotFittedError("fit it before")),
        leaks(ConvergenceWarning, "max_iter reached"),
        leaks(UserWarning, "R-hat is not below 1.01"),
    ],
    ids=["finite", "ValueError", "TypeError", "NotFittedError", "ConvergenceWarning", "R-hat"],
)
def test_what_is_allowed_is_not(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    assert kinds(monkeypatch, answer) == []


def test_an_error_from_another_library_is_found_though_it_names_an_argument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = kinds(monkeypatch, lambda *_: np.linalg.cholesky(np.ones(3)))  # "... must be 2-d"
    assert found[0].startswith("raw LinAlgError")
    found = kinds(monkeypatch, lambda *_: json.loads("column"))
    assert found[0].startswith("raw JSONDecodeError")


@pytest.mark.parametrize("change", ["columns", "rows", "x2", "y2", "x3", "y3", "plain", "again"])
def test_an_answer_that_does_not_follow_its_data_is_found(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Whatever is done to the data, the answer is other numbers at each call of these two."""
    answers = iter([ANSWER, ANSWER | {"coef_": np.array([1.5, 0.25])}, *[ANSWER] * outcomes.SHAKES])
    case = Case(n=3, p=2, change=change, power=5, seed=3)
    assert kinds(monkeypatch, lambda *_: next(answers), case) == [f"changed by {change}: coef_"]


@pytest.mark.parametrize("change", ["columns", "rows", "x2", "y2", "x3", "y3"])
def test_a_least_squares_fit_passes(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    def least_squares(case: Case, data: Any) -> dict[str, Any]:
        Z = data.X - data.X.mean(axis=0)
        coef = np.linalg.lstsq(Z / data.X.std(axis=0), data.y - data.y.mean())[0] / data.X.std(axis=0)
        eta = Z @ coef + data.y.mean()
        return {
            "coef_": coef,
            "coef_std_": np.zeros(case.p),
            "eta": eta,
            "sigma2_": float(np.var(data.y - eta)),
        }

    assert kinds(monkeypatch, least_squares, Case(n=12, p=3, change=change, power=7)) == []


def test_an_answer_that_rounding_decides_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    others = iter(np.arange(1.0, 9.0))
    moving = lambda *_: ANSWER | {"coef_": np.array([next(others), 0.0])}  # noqa: E731
    assert kinds(monkeypatch, moving, Case(n=3, p=2, change="rows")) == []
    others = iter(np.arange(1.0, 9.0))
    assert kinds(monkeypatch, moving, Case(n=3, p=2, change="x2")) == ["changed by x2: coef_"]
