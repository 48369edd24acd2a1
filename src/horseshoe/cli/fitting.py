"""From DATA and its options to a fitted model: what the commands that fit have in common."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from horseshoe._types import Step
    from horseshoe.cli.shared import Show
    from horseshoe.intake.problem import PreparedProblem


@dataclass(frozen=True)
class Wishes:
    """What the user wishes of the data: the arguments of `horseshoe.intake.problem.prepare_problem`.

    Examples
    --------
    >>> Wishes(target="progression").as_options()["missing"]
    ()
    """

    target: str | None
    family: str | None = None
    formula: str | None = None
    missing: Sequence[str] | None = None
    weights: str | None = None
    offset: str | None = None
    exposure: str | None = None
    drop: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    categorical: Sequence[str] | None = None
    numeric: Sequence[str] | None = None
    event: str | None = None
    entry: str | None = None
    strata: str | None = None
    quantile: float | None = None
    levels: Sequence[str] | None = None
    missing_values: Sequence[str] | None = None
    unpenalized: Sequence[str] | None = None
    decimal: str | None = None
    """Said to the reader of the table."""

    def as_options(self) -> dict[str, Any]:
        """Return them by name; what was not given is nothing."""
        from horseshoe.intake.ordered_target import split_levels

        several = ("missing", "drop", "categorical", "numeric", "missing_values", "unpenalized")
        lists = {name: tuple(getattr(self, name) or ()) for name in several}
        given = {name: value for name, value in self.__dict__.items() if name != "decimal"}
        return given | lists | {"levels": split_levels(self.levels)}


def ask_of(data: str, wishes: Wishes) -> PreparedProblem:
    """Read the data, and return what is asked of them."""
    from horseshoe.data.genotypes import is_bed_file
    from horseshoe.intake.genotypes import prepare_genotypes
    from horseshoe.intake.problem import prepare_problem
    from horseshoe.intake.read import read_table
    from horseshoe.intake.request import FitRequest

    if data != "-" and is_bed_file(data):
        return prepare_genotypes(data, FitRequest.of(**wishes.as_options()), wishes.decimal)
    stdin = sys.stdin.buffer if data == "-" else None
    table = read_table(
        data, stdin=stdin, words=(*(wishes.categorical or ()), *(wishes.drop or ())), decimal=wishes.decimal
    )
    return prepare_problem(table, **wishes.as_options())


def check_output(path: Path | None, *others: Path | str | None) -> None:
    """Refuse a file that cannot be written, or is read or written otherwise, before anything takes time.

    Examples
    --------
    >>> check_output(Path("not-there") / "model.json")
    Traceback (most recent call last):
    ValueError: not-there is no folder: make it before, or write model.json elsewhere
    >>> check_output(Path("data.csv"), "data.csv")
    Traceback (most recent call last):
    ValueError: data.csv is named twice, and would be overwritten: give the output another name
    """
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is no folder: make it before, or write {path.name} elsewhere")
    if _is_special(path):
        raise ValueError(f"{path} is no ordinary file, and one would take its place: give another name")
    if any(other is not None and path.resolve() == Path(other).resolve() for other in others):
        raise ValueError(f"{path} is named twice, and would be overwritten: give the output another name")


def _is_special(path: Path) -> bool:
    """Tell whether it is a device, a pipe, or a name such as /dev/stdout, which stands for one."""
    stands_for = path.is_symlink() and path.absolute().parts[1:2] in (("dev",), ("proc",))
    return path.exists() and (stands_for or not path.is_file())


def check_classes(question: PreparedProblem) -> None:
    """Refuse what an average cannot be checked with: a class of one row is never both seen and left out."""
    import numpy as np  # late: the help comes at once

    from horseshoe.intake.messages import shown

    if question.family != "classes":
        return
    labels, times = np.unique(question.y, return_counts=True)
    single = [shown(label) for label in labels[times == 1].tolist()]
    if single:
        one = len(single) == 1
        raise ValueError(
            f"the {'class' if one else 'classes'} {', '.join(single[:5])} of {shown(question.target)} "
            f"{'has' if one else 'have'} one row only, and cross-validation needs two: leave "
            f"{'it' if one else 'them'} out, join {'it' if one else 'them'} to another class, or use "
            "--estimator mode"
        )


def structure_of(question: PreparedProblem, unpenalized: Sequence[str] | None = None) -> dict[str, Any]:
    """Return what is known of the columns: those of one factor or term are a group, and some are always in.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> terms = {"age": "age", "city=Bonn": "city", "city=Kiel": "city"}
    >>> structure_of(SimpleNamespace(terms=terms), ["age"])
    {'feature_groups': ['age', 'city', 'city'], 'unpenalized': ['age']}
    >>> structure_of(SimpleNamespace(terms=terms), ["agee"])
    Traceback (most recent call last):
    ValueError: --unpenalized agee: there is no such column among those that explain the target: do you \
mean age?
    """
    from horseshoe.intake.messages import shown

    terms = question.terms
    for wanted in unpenalized or ():
        if wanted not in terms.values():
            near = get_close_matches(wanted, list(dict.fromkeys(terms.values())), n=1)
            hint = f": do you mean {shown(near[0])}?" if near else ""
            raise ValueError(
                f"--unpenalized {shown(wanted)}: there is no such column among those that explain "
                f"the target{hint}"
            )
    groups = list(terms.values())
    return {
        "feature_groups": groups if len(set(groups)) < len(groups) else None,
        "unpenalized": [name for name, term in terms.items() if term in unpenalized] if unpenalized else None,
    }


def make_estimator(question: PreparedProblem, averaged: bool, **options: Any) -> Any:
    """Return the estimator for a question: the average, or the single mode of the paper."""
    from horseshoe.estimators.classifier import HorseshoeClassifier
    from horseshoe.estimators.cv import AdaptiveRegressor
    from horseshoe.estimators.cv_classifier import AdaptiveClassifier
    from horseshoe.estimators.cv_survival import AdaptiveSurvival
    from horseshoe.estimators.regressor import HorseshoeRegressor
    from horseshoe.estimators.survival import HorseshoeSurvival

    if question.family == "survival":
        return (AdaptiveSurvival if averaged else HorseshoeSurvival)(**options)
    options |= {"fit_intercept": question.fit_intercept}
    if question.family == "classes":
        return (AdaptiveClassifier if averaged else HorseshoeClassifier)(**options)
    return (AdaptiveRegressor if averaged else HorseshoeRegressor)(
        family=question.likelihood or question.family, **options
    )


def fit_question(
    question: PreparedProblem,
    model: Any,
    progress: Show | None = None,
    checkpoint: Path | None = None,
) -> tuple[Any, float]:
    """Fit the model; return it, and how many seconds that took."""
    names = ("offset", "exposure", "entry", "strata")
    known = {"sample_weight": question.weights, **{name: getattr(question, name) for name in names}}
    known["checkpoint"] = checkpoint
    given = {name: values for name, values in known.items() if values is not None}
    if question.family == "classes" and "exposure" in given:
        raise ValueError("an exposure is for counts: classes have none")
    if progress is not None:
        parts = 1 if len(question.classes) <= 2 else len(question.classes)
        model.set_params(
            callback=Steps(progress, parts) if hasattr(model, "components") else Rounds(progress)
        )
    start = time.perf_counter()
    model.fit(question.X, question.y, **given)
    seconds = time.perf_counter() - start
    if "callback" in model.get_params():
        model.set_params(callback=None)
    return model, seconds


class Steps:
    """Counts what components are done, over several regressions.

    Examples
    --------
    >>> from horseshoe.average.result import Progress
    >>> steps = Steps(lambda done, total, text="": print(done, total), parts=2)
    >>> for done in (1, 2):
    ...     steps(Progress("null", done, 2))
    1 4
    2 4
    """

    def __init__(self, progress: Show, parts: int) -> None:
        self.progress, self.parts, self.done = progress, parts, 0

    def __call__(self, step: Any) -> None:
        """Go on by one."""
        self.done += 1
        self.progress(self.done, self.parts * step.total)


class Rounds:
    """Shows the iterations of a single fit: how many there will be is a guess, once their change falls.

    Examples
    --------
    >>> from horseshoe._types import Iteration, Step
    >>> show = Rounds(lambda done, total, text="": print(done, total, text))
    >>> line = Iteration(0.1, None, 1.0, 1.0, 1200)
    >>> _ = show(Step.of(line, 12, None, 6.0, None)), show(Step.of(line, 20, 31, 10.0, 5.0))
    12 None iteration 12, 1,200 columns
    20 30 iteration 20, 1,200 columns, 31 passes, about 0:00:05 left
    """

    def __init__(self, progress: Show) -> None:
        self.progress = progress

    def __call__(self, step: Step) -> None:
        """Show an iteration."""
        left, seconds = step.seconds_left, max(step.seconds, 1e-9)
        total = None if left is None else step.number + round(step.number * left / seconds)
        self.progress(step.number, total, str(step))
