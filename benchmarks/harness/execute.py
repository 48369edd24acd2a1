"""Carry out a plan."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime

from benchmarks.harness.effective import measure_problem
from benchmarks.harness.entrants import say
from benchmarks.harness.environments import Environment, ensure, versions_in
from benchmarks.harness.machine import cpu_model, cpu_used
from benchmarks.harness.markdown import number
from benchmarks.harness.plan import Step
from benchmarks.harness.rounds import DSYRK, measure_case
from benchmarks.harness.run import Run
from benchmarks.peers.methods import OURS
from benchmarks.tasks.importing import measure_import
from benchmarks.tasks.posterior import Problem
from benchmarks.tasks.registry import TASKS

OUR_PACKAGES = ("horseshoe", "numpy", "scipy", "scikit-learn")


def _describe(environments: dict[str, Environment]) -> dict[str, object]:
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


def _environments_for(steps: list[Step], problems: list[Problem]) -> dict[str, Environment]:
    """Make the environments of the peers that take part."""
    methods = [TASKS[step.case.task].methods[name] for step in steps for name in step.methods]
    samplers = [sampler for problem in problems for sampler in problem.samplers.values()]
    wanted = [m.environment for m in methods] + [s.environment for s in samplers]
    return {name: ensure(name) for name in dict.fromkeys(wanted) if name is not None}


def _add(run: Run, step: Step, environments: dict[str, Environment]) -> None:
    """Measure the methods of one case and add what was measured to the run."""
    methods = [TASKS[step.case.task].methods[name] for name in step.methods]
    results = measure_case(step.case, methods, environments, step.rounds)
    product = results.pop(DSYRK, None)
    if product is not None:
        run.dsyrk[step.case] = product
    for name, result in results.items():
        run.results[step.case, name] = result


def execute(steps: list[Step], problems: list[Problem]) -> Run:
    """Measure everything that was planned."""
    environments = _environments_for(steps, problems)
    start = cpu_used()
    run = Run(_describe(environments))
    if any(OURS in step.methods for step in steps):
        run.imports = measure_import()
    for k, step in enumerate(steps, 1):
        _add(run, step, environments)
        for name in step.methods:
            result = run.results[step.case, name]
            seconds = result.first_cpu if result.cpu is None else result.cpu
            outcome = result.reason if result.failed else f"{number(seconds)} s"
            say(f"[{k}/{len(steps)}] {step.case.name} {name}: {outcome}")
    for problem in problems:
        for name, sampled in measure_problem(problem, environments).items():
            run.posterior[problem.name, name] = sampled
    run.about["seconds"] = cpu_used() - start
    return run
