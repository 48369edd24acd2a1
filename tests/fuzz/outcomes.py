"""What a case may end in: a finite answer that order and units do not change, or a sentence that says why."""

from __future__ import annotations

import inspect
import re
import signal
import time
import traceback
import warnings
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError

from fuzz.calls import ContradictionError, Values, call
from fuzz.cases import Case, resolve
from fuzz.changes import Changed, applies, changed, is_exact, jittered, unchanged
from fuzz.data import Data, build
from fuzz.homes import HOMES
from fuzz.sameness import different
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    AdaptiveSurvival,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
    Status,
    normal_means,
    sample_posterior,
)
from horseshoe.priors import is_sparse, resolve_local

ARGUMENTS = {
    name
    for function in (
        HorseshoeRegressor,
        HorseshoeRegressor.fit,
        HorseshoeClassifier,
        AdaptiveRegressor,
        AdaptiveRegressor.fit,
        AdaptiveClassifier,
        HorseshoeSurvival,
        HorseshoeSurvival.fit,
        AdaptiveSurvival,
        sample_posterior,
        normal_means,
    )
    for name in inspect.signature(function).parameters
    if name != "self"
}
WORDS = {
    "row",
    "rows",
    "column",
    "columns",
    "feature",
    "features",
    "level",
    "classes",
    "names",
    "label",
    "labels",
}
CULPRIT = re.compile(rf"\b({'|'.join(sorted(ARGUMENTS | WORDS))})\b")
OURS = ("/horseshoe/", "/sklearn/utils/", "/fuzz/")
DELIBERATE = (
    (ConvergenceWarning, ""),
    (UserWarning, "R-hat"),
    (UserWarning, "the component"),
    (UserWarning, "interrupted"),
    (UserWarning, "sigma2='exact'"),
)


SHAKES = 10
"""How often data are shaken to see whether rounding decides: of near ties one shake in three turns some."""


class TooSlow(BaseException):
    """A case took longer than it may."""


class Finding(NamedTuple):
    """A forbidden outcome: ``kind`` is the same for those of one cause, as far as one can tell."""

    kind: str
    detail: str


class Verdict(NamedTuple):
    """What came of a case: what is forbidden of it, how it ended (in a few words), and how long it took."""

    findings: list[Finding]
    ending: str
    seconds: float


class Attempt(NamedTuple):
    """What one call came to: values or an error, with the warnings on the way."""

    values: Values | None
    error: BaseException | None
    caught: list[Any]


def judge(case: Case, limit: float | None = None) -> Verdict:
    """Return what is forbidden of what a case ends in; ``limit`` is the most seconds for a call."""
    start = time.process_time()
    try:
        findings, ending = _judge(case, limit)
    except TooSlow as error:
        options = case.options
        what = f"{case.call}, {case.family}, {options.get('prior', 'horseshoe')}"
        findings, ending = (
            [Finding(f"slower than {limit} s: {what}", f"stopped in {_place(error)}")],
            "too slow",
        )
    return Verdict(findings, ending, time.process_time() - start)


def _judge(case: Case, limit: float | None) -> tuple[list[Finding], str]:
    data = build(case)
    with _alarm(limit):
        base = _attempt(case, data)
    findings = _look(case, base)
    ending = "answer" if base.error is None else f"refused: {_plain(str(base.error))}"
    if findings or not applies(case):
        return findings, ending
    other = changed(case, data)
    with _alarm(limit):
        after = _attempt(other.case, other.data)
    findings = _look(case, after)
    if findings:
        return [Finding(f"{kind} (after {case.change})", detail) for kind, detail in findings], ending
    return _compare(case, data, base, after, other, ending)


def _compare(
    case: Case, data: Data, base: Attempt, after: Attempt, other: Changed, ending: str
) -> tuple[list[Finding], str]:
    if (base.values is None) != (after.values is None):
        told = str(base.error or after.error)
        if re.search(r"\bunit\b", told) and case.change in ("x2", "x3", "y2", "y3"):
            return [], f"{ending}, and another unit is another case"
        if re.search(r"out of range for data that are read in parts", told) and case.container in HOMES:
            return [], f"{ending}, and an array in memory is another case"
        return [Finding(f"refused or not, by {case.change}: {_plain(told)}", told)], ending
    if base.values is None or after.values is None:
        return [], ending
    what = different(unchanged(case, data), base.values, other, after.values)
    if not what:
        return [], ending
    if not is_exact(case) and _undecided(case, data, base.values):
        return [], "answer, which rounding decides"
    return [Finding(f"changed by {case.change}: {what[0].split(' ')[0]}", "; ".join(what))], ending


def _undecided(case: Case, data: Data, values: Values) -> bool:
    """Tell whether the data, hardly shaken, have another answer: then rounding may decide it.

    It does in a fit that ends without noise, as its status says: nearly all it does then is to pass through
    the rows, and many coefficients do. Under a prior that never has zeros tied columns share their effect
    where that is a mode; where it is not, rounding decides which has it, so there ties are shaken too. They
    are also where the columns of an average change places: columns that all rows tell apart may be tied in
    the few rows of a training set, and of those the first has the effect.
    """
    if values.get("status") == str(Status.NO_NOISE):
        return True
    same = unchanged(case, data)
    for seed, ties in product(range(SHAKES), (True, False) if _ties_may_differ(case) else (True,)):
        shaken = _attempt(case.but(dtype="float64"), jittered(case, data, seed, ties))
        if shaken.values is None or different(same, values, same, shaken.values):
            return True
    return False


def _ties_may_differ(case: Case) -> bool:
    if case.averages:
        return case.change == "columns"
    options = resolve(case.options)
    prior, lambda_power = options.get("prior", "horseshoe"), options.get("lambda_power", 2.0)
    return not is_sparse(resolve_local(prior), lambda_power)


def _attempt(case: Case, data: Data) -> Attempt:
    values, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            values = call(case, data)
        except Exception as raised:
            error = raised
    return Attempt(values, error, [w for w in caught if not _deliberate(case, w)])


def _look(case: Case, attempt: Attempt) -> list[Finding]:
    """Return what is forbidden of one call by itself."""
    findings = [
        Finding(
            f"leaked {w.category.__name__}: {_plain(str(w.message))} [{_short(w.filename)}]", str(w.message)
        )
        for w in attempt.caught[:1]
    ]
    if attempt.error is not None:
        return findings + _look_at_error(attempt.error)
    for name, value in (attempt.values or {}).items():
        if name != "status" and not np.all(np.isfinite(value) | _may_be_infinite(case, name, value)):
            return [*findings, Finding(f"not finite: {name} [{case.call}, {case.family}]", repr(value)[:200])]
    return findings


def _may_be_infinite(case: Case, name: str, value: Any) -> Any:
    """Tell where infinity is an answer: the standard deviation of counts grows like exp(var(eta)).

    So it is beyond the largest float where weights of a millionth leave eta a standard deviation of hundreds.
    And CV+ intervals have no end where a level asks for more rows than there are.
    """
    if name == "predict_interval" and case.averages:
        return np.isinf(value)
    return np.isposinf(value) if name == "predictive std" and (case.is_count or case.is_amount) else False


def _look_at_error(error: BaseException) -> list[Finding]:
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, ContradictionError):
        return [Finding(f"contradiction: {error}", told)]
    where = _place(error)
    if not isinstance(error, ValueError | TypeError | NotFittedError):
        return [Finding(f"raw {type(error).__name__} in {where}: {_plain(str(error))}", told)]
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    raised = any(part in last for part in OURS)
    if not raised:
        return [Finding(f"raw {type(error).__name__} in {where}: {_plain(str(error))}", told)]
    named = isinstance(error, NotFittedError) or CULPRIT.search(str(error))
    return [] if named else [Finding(f"names no culprit in {where}: {_plain(str(error))}", told)]


def _deliberate(case: Case, caught: Any) -> bool:
    if issubclass(caught.category, DataConversionWarning):
        return case.y_container == "column"  # as scikit-learn asks of every estimator
    if case.flaw and case.flaw[0] == "new" and "feature names" in str(caught.message):
        return True  # so does scikit-learn for a frame after an array, and the other way round
    return any(
        issubclass(caught.category, category) and str(caught.message).startswith(start)
        for category, start in DELIBERATE
    )


def _place(error: BaseException) -> str:
    """Return the innermost function of horseshoe on the way to an error."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/horseshoe/" in frame.filename] or frames
    return f"{_short(ours[-1].filename)}:{ours[-1].name}"


def _short(path: str) -> str:
    return "/".join(path.split("/")[-2:])


def _plain(text: str) -> str:
    """Return the first words of a message without what differs from case to case."""
    return re.sub(r"'[^']*'|[-+]?\d[\d.e+-]*|\[.*", "_", text.replace("\n", " "))[:70]


@contextmanager
def _alarm(limit: float | None) -> Any:
    """Raise TooSlow after so many seconds of work, and again where that was swallowed."""
    if limit is None:
        yield
        return

    def ring(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, limit, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
