"""From DATA and its options to a fitted model: what the commands that fit have in common."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from horseshoe.cli.options import CliOptions
    from horseshoe.cli.progress import Report
    from horseshoe.intake.problem import PreparedProblem


def read_problem(data: str, options: CliOptions) -> PreparedProblem:
    """Read the data, and return what is asked of them, ready to fit."""
    from horseshoe.data.sources.genotypes import is_bed_file
    from horseshoe.intake.genotypes import prepare_genotypes
    from horseshoe.intake.problem import prepare_problem
    from horseshoe.intake.read import read_table
    from horseshoe.intake.request import FitRequest

    arguments = options.as_arguments()
    if data != "-" and is_bed_file(data):
        return prepare_genotypes(data, FitRequest.of(**arguments), options.decimal)
    stdin = sys.stdin.buffer if data == "-" else None
    words = (*(options.categorical or ()), *(options.drop or ()))
    return prepare_problem(read_table(data, stdin=stdin, words=words, decimal=options.decimal), **arguments)


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
    """Tell whether it is a device, a pipe, or a name such as /dev/stdout, which is a link to one."""
    is_link_to_device = path.is_symlink() and path.absolute().parts[1:2] in (("dev",), ("proc",))
    return path.exists() and (is_link_to_device or not path.is_file())


def check_classes(problem: PreparedProblem) -> None:
    """Refuse a class of one row: it cannot be both in the rows that are fitted and in those held out."""
    import numpy as np  # late: the help comes at once

    from horseshoe.intake.messages import shown

    if problem.family != "classes":
        return
    labels, counts = np.unique(problem.y, return_counts=True)
    single = [shown(label) for label in labels[counts == 1].tolist()]
    if single:
        classes, has, them = ("class", "has", "it") if len(single) == 1 else ("classes", "have", "them")
        raise ValueError(
            f"the {classes} {', '.join(single[:5])} of {shown(problem.target)} {has} one row only, and "
            f"cross-validation needs two: leave {them} out, join {them} to another class, or use "
            "--estimator mode"
        )


def column_structure(problem: PreparedProblem, unpenalized: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the settings of an estimator on columns: those of one factor or term are a feature group.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> terms = {"age": "age", "city=Bonn": "city", "city=Kiel": "city"}
    >>> column_structure(SimpleNamespace(terms=terms), ["age"])
    {'feature_groups': ['age', 'city', 'city'], 'unpenalized': ['age']}
    >>> column_structure(SimpleNamespace(terms=terms), ["agee"])
    Traceback (most recent call last):
    ValueError: --unpenalized agee: there is no such column among those that explain the target: do you \
mean age?
    """
    from horseshoe.intake.messages import shown

    terms, groups = problem.terms, list(problem.terms.values())
    for name in unpenalized or ():
        if name not in groups:
            near = get_close_matches(name, list(dict.fromkeys(groups)), n=1)
            hint = f": do you mean {shown(near[0])}?" if near else ""
            raise ValueError(
                f"--unpenalized {shown(name)}: there is no such column among those that explain "
                f"the target{hint}"
            )
    return {
        "feature_groups": groups if len(set(groups)) < len(groups) else None,
        "unpenalized": [name for name, term in terms.items() if term in unpenalized] if unpenalized else None,
    }


def make_estimator(problem: PreparedProblem, averaged: bool, **options: Any) -> Any:
    """Return the estimator for a problem: the model average, or one posterior mode."""
    from horseshoe import (
        AdaptiveClassifier,
        AdaptiveRegressor,
        AdaptiveSurvival,
        HorseshoeClassifier,
        HorseshoeRegressor,
        HorseshoeSurvival,
    )

    if problem.family == "survival":
        return (AdaptiveSurvival if averaged else HorseshoeSurvival)(**options)
    options["fit_intercept"] = problem.fit_intercept
    if problem.family == "classes":
        return (AdaptiveClassifier if averaged else HorseshoeClassifier)(**options)
    family = problem.likelihood or problem.family
    return (AdaptiveRegressor if averaged else HorseshoeRegressor)(family=family, **options)


def fit_problem(
    problem: PreparedProblem, model: Any, progress: Report | None = None, checkpoint: Path | None = None
) -> tuple[Any, float]:
    """Fit the model; return it, and how many seconds that took."""
    from horseshoe.cli.progress import ComponentProgress, IterationProgress

    names = ("offset", "exposure", "entry", "strata")
    known = {name: getattr(problem, name) for name in names}
    known |= {"sample_weight": problem.weights, "checkpoint": checkpoint}
    given = {name: values for name, values in known.items() if values is not None}
    if problem.family == "classes" and "exposure" in given:
        raise ValueError("an exposure is for counts: classes have none")
    if progress is not None:
        averaged, regressions = hasattr(model, "components"), len(problem.classes)
        callback = ComponentProgress(progress, regressions if regressions > 2 else 1) if averaged else None
        model.set_params(callback=callback or IterationProgress(progress))
    start = time.perf_counter()
    model.fit(problem.X, problem.y, **given)
    seconds = time.perf_counter() - start
    if "callback" in model.get_params():
        model.set_params(callback=None)
    return model, seconds
