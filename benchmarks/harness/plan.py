"""What a run measures: the cases, their methods and the posteriors that the command line asks for."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks.tasks.posterior import DIABETES, POSTERIOR, PROBLEMS, Problem
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case, Contest, Task

SMALLEST = 20


@dataclass(frozen=True)
class Step:
    """One case, the methods to measure in it and in how many rounds."""

    case: Case
    methods: tuple[str, ...]
    rounds: int


def shape_of(text: str) -> str:
    """Read a shape such as 70x350."""
    try:
        n, p = Case("", text).size
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not rows x columns, such as 70x350") from None
    if n < SMALLEST or p < SMALLEST:
        raise argparse.ArgumentTypeError(
            f"at least {SMALLEST} rows (ten folds) and {SMALLEST} columns (the effects of the linear task)"
        )
    return f"{n}x{p}"


def _methods_for(task: Task, contest: Contest, options: argparse.Namespace) -> tuple[str, ...]:
    """Methods of a contest; those that the command line names, if it names any."""
    if not options.methods:
        return contest.methods
    among = task.methods if options.quick or options.shapes else contest.methods
    return tuple(name for name in among if name in options.methods)


def plan(options: argparse.Namespace) -> list[Step]:
    """List the cases to measure, each with its methods."""
    steps = []
    for task in (TASKS[name] for name in TASKS if name in (options.tasks or TASKS)):
        contests = (task.quick,) if options.quick else task.contests
        for shape in dict.fromkeys(options.shapes or [s for contest in contests for s in contest.shapes]):
            contest = task.quick if options.quick else task.contest(shape)
            methods = _methods_for(task, contest, options)
            if methods:
                steps.append(Step(Case(task.name, shape), methods, options.rounds or contest.rounds))
    return steps


def problems_for(options: argparse.Namespace) -> list[Problem]:
    """List the posteriors to draw from: all of them, one for a first look, none if the rest was asked for."""
    named = POSTERIOR in options.tasks if options.tasks else not (options.shapes or options.methods)
    return [] if not named else [DIABETES] if options.quick else list(PROBLEMS.values())
