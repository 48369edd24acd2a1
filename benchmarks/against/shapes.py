"""What is timed in both trees, by name.

Only public names are used, because the other revision may be laid out in another way.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.arrays import Array
from benchmarks.harness.jobs import SEEDS
from benchmarks.peers.methods import OURS
from benchmarks.tasks import linear, logistic, poisson
from benchmarks.tasks.importing import ESTIMATORS, PACKAGE
from benchmarks.tasks.posterior import DIABETES, POSTERIOR, WIDE, ours
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case, Task

Action = Callable[[], Array]

HUGE = "300x20000"
ROUNDS, FEWER = 30, 10
RUNS = {
    f"{POSTERIOR} diabetes 4 chains": (DIABETES, ours(4, 200, 500)),
    f"{POSTERIOR} diabetes 16 chains": (DIABETES, ours(16, 100, 250)),
    f"{POSTERIOR} 70x350": (WIDE, ours(4, 50, 100)),
}
"""Posteriors, with fixed small numbers of warm-up sweeps and draws."""
IMPORTS = {PACKAGE: PACKAGE, "import estimators": ESTIMATORS}


def _names(task: Task, *more: str) -> list[str]:
    """List the shapes of a task on which everyone competes, and some more."""
    return [Case(task.name, shape).name for shape in (*task.contests[0].shapes, *more)]


SHAPES = (
    *_names(linear.TASK),
    *_names(logistic.TASK, HUGE, logistic.TALL),
    *_names(poisson.TASK, HUGE),
    *RUNS,
    *IMPORTS,
)


def rounds_of(name: str) -> int:
    """How many rounds a shape needs: fewer if a turn takes seconds."""
    return FEWER if name in IMPORTS or case_of(name).shape == HUGE else ROUNDS


def case_of(name: str) -> Case:
    """Return the case of a name; the first word is its task."""
    task, _, shape = name.partition(" ")
    return Case(task, shape)


def chosen(text: str) -> list[str]:
    """Shapes that a text means: one of them, all of one kind, or rows x columns of a task."""
    found = [name for name in SHAPES if name == text or case_of(name).task == text]
    if not found and _is_simulated(case_of(text)):
        found = [text]
    return found


def _is_simulated(case: Case) -> bool:
    """Whether a task in which our default competes can make data of the shape."""
    try:
        n, p = case.size
        task = TASKS[case.task]
        return OURS in task.methods and n > 1 and p >= len(task.simulation.effects)
    except (KeyError, ValueError):
        return False


def action_of(name: str) -> Action:
    """Make the data of a shape; return what is timed, which answers with coefficients or draws."""
    if name in RUNS:
        problem, sampler = RUNS[name]
        sample = sampler.prepare(*problem.data())
        return lambda: sample(SEEDS[0]).coef
    case = case_of(name)
    task = TASKS[case.task]
    X, y = task.simulation.make_data(*case.size, SEEDS[0])
    return lambda: task.methods[OURS].fit(X, y).coef
