"""Run us and the peers side by side and write RESULTS.md and results.json beside this file.

``make bench`` runs everything. With ``--quick``, ``--tasks``, ``--shapes`` or ``--methods`` only a part runs,
and the report goes to standard output instead, so that a partial run never replaces a whole one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from checks import Run, all_checks
from effective import measure_problem
from environments import Environment, ensure, versions_in
from importing import measure_import
from machine import cpu_model, cpu_used
from methods import OURS
from posterior import DIABETES, POSTERIOR, PROBLEMS, Problem
from report import render
from rounds import DSYRK, measure_case, say
from tables import number
from tasks import TASKS, Case, Contest, Task

HERE = Path(__file__).resolve().parent
OUR_PACKAGES = ("farrier", "numpy", "scipy", "scikit-learn")
SMALLEST = 20


@dataclass(frozen=True)
class Step:
    """One case, the methods to measure in it and in how many rounds."""

    case: Case
    methods: tuple[str, ...]
    rounds: int


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*TASKS, POSTERIOR]
    known = list(dict.fromkeys(name for task in TASKS.values() for name in task.methods))
    parser.add_argument(
        "--tasks", nargs="+", choices=names, metavar="TASK", help=f"any of {', '.join(names)}"
    )
    parser.add_argument(
        "--shapes", nargs="+", type=shape_of, metavar="NxP", help="rows x columns, e.g. 70x350, for each task"
    )
    parser.add_argument(
        "--methods", nargs="+", choices=known, metavar="NAME", help=f"any of {', '.join(known)}"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one or two shapes, us and one peer of each task"
    )
    options = parser.parse_args(arguments)
    if not plan(options) and not problems_for(options):
        parser.error("none of these methods is in these tasks")
    return options


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


def methods_for(task: Task, contest: Contest, options: argparse.Namespace) -> tuple[str, ...]:
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
            methods = methods_for(task, contest, options)
            if methods:
                steps.append(Step(Case(task.name, shape), methods, contest.rounds))
    return steps


def problems_for(options: argparse.Namespace) -> list[Problem]:
    """List the posteriors to draw from: all of them, one for a first look, none if the rest was asked for."""
    named = POSTERIOR in options.tasks if options.tasks else not (options.shapes or options.methods)
    return [] if not named else [DIABETES] if options.quick else list(PROBLEMS.values())


def describe(environments: dict[str, Environment]) -> dict[str, object]:
    """Say what is about to run, when and where."""
    return {
        "command": "make bench",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.2f}",
        "versions": {OURS: versions_in(sys.executable, OUR_PACKAGES)}
        | {name: environment.versions for name, environment in environments.items()},
    }


def environments_for(steps: list[Step], problems: list[Problem]) -> dict[str, Environment]:
    """Make the environments of the peers that take part."""
    methods = [TASKS[step.case.task].methods[name] for step in steps for name in step.methods]
    samplers = [sampler for problem in problems for sampler in problem.samplers.values()]
    wanted = [m.environment for m in methods] + [s.environment for s in samplers]
    return {name: ensure(name) for name in dict.fromkeys(wanted) if name is not None}


def execute(steps: list[Step], problems: list[Problem]) -> Run:
    """Measure everything that was planned."""
    environments = environments_for(steps, problems)
    start = cpu_used()
    run = Run(describe(environments))
    if any(OURS in step.methods for step in steps):
        run.imports = measure_import()
    for k, step in enumerate(steps, 1):
        add(run, step, environments)
        for name in step.methods:
            result = run.results[step.case, name]
            outcome = f"{number(result.cpu)} s" if result.cpu is not None else result.reason
            say(f"[{k}/{len(steps)}] {step.case.name} {name}: {outcome}")
    for problem in problems:
        for name, sampled in measure_problem(problem, environments).items():
            run.posterior[problem.name, name] = sampled
    run.about["seconds"] = cpu_used() - start
    return run


def add(run: Run, step: Step, environments: dict[str, Environment]) -> None:
    """Measure the methods of one case and add what was measured to the run."""
    own = Environment(OURS, sys.executable)
    chosen = [TASKS[step.case.task].methods[name] for name in step.methods]
    methods = [(m, own if m.environment is None else environments[m.environment]) for m in chosen]
    results = measure_case(step.case, methods, step.rounds)
    product = results.pop(DSYRK, None)
    if product is not None:
        run.dsyrk[step.case] = product
    for name, result in results.items():
        run.results[step.case, name] = result


def replace(path: Path, text: str) -> None:
    """Write a file under a temporary name and rename it."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def as_json(run: Run) -> str:
    """Every raw number of the run."""
    content = {
        "about": run.about,
        "import": run.imports,
        "dsyrk": [
            {"case": asdict(case), "cpu": product.cpu, "rounds": product.rounds}
            for case, product in run.dsyrk.items()
        ],
        "results": [result.as_dict() for result in run.results.values()],
        "posterior": [sampled.as_dict() for sampled in run.posterior.values()],
        "checks": [asdict(check) | {"verdict": check.verdict} for check in all_checks(run)],
    }
    return json.dumps(content, indent=1) + "\n"


def main() -> None:
    """Run the benchmark."""
    options = parse()
    run = execute(plan(options), problems_for(options))
    if options.quick or options.tasks or options.shapes or options.methods:
        run.about["command"] = "python benchmarks/run.py " + " ".join(sys.argv[1:])
        print(render(run))
        return
    replace(HERE / "results.json", as_json(run))
    replace(HERE / "RESULTS.md", render(run))
    say(f"wrote RESULTS.md and results.json in {HERE.name}/")


if __name__ == "__main__":
    main()
