"""Runs the replicates of an experiment, in as many processes as asked, and keeps every result.

Each data set has a random stream of its own, made from the seed, the experiment, the setting and the number
of the replicate, and each method gets the same fresh stream for its folds and draws. So the results are the
same for any number of processes, for any choice of methods, and after any interruption.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from threadpoolctl import threadpool_limits

from horseshoe_reproduction import load
from horseshoe_reproduction.experiment import Experiment, Kind, Problem
from horseshoe_reproduction.journal import Journal, Record
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.workers import spread

# Data sets for each process, up to which it does not pay that every process compiles.
FEW = 6


class FitError(RuntimeError):
    """Some methods ended with an error; everything else was kept."""


class Task(NamedTuple):
    """The methods that are yet to be run on one data set."""

    experiment: str
    setting: str
    replicate: int
    methods: tuple[str, ...]
    seed: int


def tasks(
    experiment: Experiment, replicates: int, methods: tuple[str, ...], seed: int, done: set[Any]
) -> list[Task]:
    """Return what is left to do, a round of all settings for each replicate.

    Examples
    --------
    >>> from horseshoe_reproduction.table2 import EXPERIMENT
    >>> done = {("b=3", 0, "hs-em"), ("b=10", 0, "hs-em")}
    >>> [(t.setting, t.replicate, t.methods) for t in tasks(EXPERIMENT, 1, ("hs-em", "hs-like"), 7, done)]
    [('b=3', 0, ('hs-like',)), ('b=10', 0, ('hs-like',))]
    """
    found = []
    for replicate in range(replicates):
        for setting in experiment.settings:
            able = () if replicate >= experiment.count(setting, replicates) else methods
            able = tuple(name for name in able if experiment.applies(setting, name))
            left = tuple(name for name in able if (setting, replicate, name) not in done)
            if left:
                found.append(Task(experiment.name, setting, replicate, left, seed))
    return found


class Done(NamedTuple):
    """The results of a task, and what the methods said that failed."""

    records: list[Record]
    failures: list[str]


def run_task(task: Task) -> Done:
    """Draw the data set, and fit every method to it: CPU seconds on one thread.

    Examples
    --------
    >>> done = run_task(Task("table2", "b=10", 0, ("visu-shrink",), seed=1))
    >>> done.records[0].metrics["No.V"]
    20.0
    """
    experiment = load(task.experiment)
    names = [crc32(name.encode()) for name in experiment.stream(task.setting)]
    stream = [task.seed, *names, task.replicate]
    with threadpool_limits(1):
        problem = experiment.draw(task.setting, np.random.default_rng([*stream, 0]))
        done = Done([], [])
        for name in task.methods:
            try:
                metrics = _measure(problem, name, [*stream, 1])
            except Exception as error:
                where = f"{name} on {task.setting}, replicate {task.replicate}, seed {task.seed}"
                done.failures.append(f"{where}: {type(error).__name__}: {error}")
            else:
                done.records.append(Record(task.setting, task.replicate, name, metrics))
        return done


def _measure(problem: Problem, name: str, stream: list[int]) -> dict[str, float]:
    _warm_up(name, problem.kind)
    start = time.process_time()
    fit = METHODS[name].run(problem, np.random.default_rng(stream))
    seconds = time.process_time() - start
    return {**problem.score(fit), "Time": seconds}


@cache
def _warm_up(name: str, kind: Kind) -> None:
    """Run a method once on small data: what it imports and compiles is not part of its time."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 21))
    y = X[:, 0] + rng.standard_normal(20)
    if kind in ("binomial", "poisson", "negative_binomial"):
        y = (y > 0.0).astype(float)
    elif kind in ("gamma", "tweedie", "survival"):
        y = np.exp(y)
    problem = Problem(kind, None if kind == "means" else X, y, lambda fit: {}, X)
    METHODS[name].run(problem, rng)


def run(
    experiment: Experiment,
    journal: Journal,
    replicates: int,
    methods: tuple[str, ...],
    seed: int,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
    kept: Sequence[Record] = (),
) -> list[Record]:
    """Run what neither the journal nor ``kept`` has yet, and return all records that were asked for."""
    known = {record.key for record in (*journal.records(), *kept)}
    left = tasks(experiment, replicates, methods, seed, known)
    failures: list[str] = []
    work = batches(left, jobs)
    count, total = 0, sum(map(len, work))
    progress(count, total)
    for finished in _finished(work, jobs):
        journal.append(record for done in finished for record in done.records)
        failures += [text for done in finished for text in done.failures]
        count += len(finished)
        progress(count, total)
    if failures:
        raise FitError(f"{len(failures)} fits failed, all other results are kept; {'; '.join(failures[:5])}")
    asked = set(methods)
    counts = {setting: experiment.count(setting, replicates) for setting in experiment.settings}
    found = {record.key: record for record in (*kept, *journal.records())}  # what is new counts
    return [
        found[key] for key in sorted(found) if key[1] < counts.get(key[0], 0) and found[key].method in asked
    ]


def computed_again(experiment: Experiment, method: str, seed: int, known: Sequence[Record]) -> list[Record]:
    """Return what a method gets on one of the data sets of each setting of which there are records.

    Raises
    ------
    FitError
        When the method fails.
    """
    first = {r.setting: r.replicate for r in reversed(known) if r.method == method}
    work = [
        Task(experiment.name, setting, replicate, (method,), seed)
        for setting, replicate in first.items()
        if setting in experiment.settings
    ]
    done = [run_task(task) for task in work]
    failures = [text for answer in done for text in answer.failures]
    if failures:
        raise FitError(
            f"{method} failed, so nobody can tell whether kept results are of the same data sets "
            f"(--fresh does without them); {'; '.join(failures[:5])}"
        )
    return [record for answer in done for record in answer.records]


def batches(left: list[Task], jobs: int) -> list[list[Task]]:
    """Return the tasks one by one; few of them with all methods that compile in one batch, for one process.

    Examples
    --------
    >>> left = [Task("table3", "rho=0,sigma2=1", k, ("hs-em", "mcp"), 1) for k in range(2)]
    >>> [[(t.replicate, t.methods) for t in batch] for batch in batches(left, jobs=2)]
    [[(0, ('mcp',)), (1, ('mcp',))], [(0, ('hs-em',))], [(1, ('hs-em',))]]
    """
    if jobs == 1 or len(left) > FEW * jobs:
        return [[task] for task in left]
    slow = _only(left, lambda name: "skglm" in METHODS[name].needs)
    rest = _only(left, lambda name: "skglm" not in METHODS[name].needs)
    return [batch for batch in (slow, *([task] for task in rest)) if batch]


def _only(left: list[Task], wanted: Callable[[str], bool]) -> list[Task]:
    """Return the tasks with those of their methods that are wanted."""
    cut = [task._replace(methods=tuple(filter(wanted, task.methods))) for task in left]
    return [task for task in cut if task.methods]


def run_batch(batch: list[Task]) -> list[Done]:
    """Run tasks one after the other."""
    return [run_task(task) for task in batch]


def _finished(work: list[list[Task]], jobs: int) -> Iterator[list[Done]]:
    """Yield the results of batches as they end."""
    if jobs == 1 or len(work) < 2:
        yield from map(run_batch, work)
        return
    yield from spread(run_batch, work, jobs)
