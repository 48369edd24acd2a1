"""The tables of the report, as Markdown."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.harness.markdown import number, table
from benchmarks.harness.measure import Result
from benchmarks.harness.run import Run
from benchmarks.peers.methods import OURS
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case, Task

Cell = Callable[[Result], str]


def tasks_of(run: Run) -> list[Task]:
    """Tasks that were measured, in the order of the registry."""
    present = {case.task for case, _ in run.results}
    return [task for task in TASKS.values() if task.name in present]


def compared(run: Run, task: Task) -> list[Case]:
    """Cases of a task in which more than one method ran; if there is none, all of them."""
    cases = [case for case, _ in run.results if case.task == task.name]
    distinct = list(dict.fromkeys(cases))
    return [case for case in distinct if cases.count(case) > 1] or distinct


def methods_of(run: Run, task: Task) -> list[str]:
    """Names of the methods of a task in the run, in the order of the registry."""
    present = {name for case, name in run.results if case.task == task.name}
    return [name for name in task.methods if name in present]


def matrix(run: Run, task: Task, cell: Cell, missing: Cell = lambda _: "unavailable") -> str:
    """Lay out one row per method and one column per shape."""
    cases = compared(run, task)
    rows = []
    for name in methods_of(run, task):
        method = task.methods[name]
        row = [method.label, "yes" if method.cross_validated else "no"]
        for case in cases:
            result = run.results.get((case, name))
            row.append("-" if result is None else (missing if result.cold_cpu is None else cell)(result))
        rows.append(row)
    return table(["method", "cross-validated", *(case.shape for case in cases)], rows)


def by_task(run: Run, cell: Cell, missing: Cell = lambda _: "unavailable") -> list[str]:
    """Lay out one such table for each task, under its name."""
    parts = []
    for task in tasks_of(run):
        parts += [f"### {task.title}", matrix(run, task, cell, missing)]
    return parts


def cpu_cell(run: Run) -> Cell:
    """Median CPU seconds and how many times ours that is; ``*`` marks a single fit.

    A method that was lost on the way says why, beside what it had measured by then.
    """

    def cell(result: Result) -> str:
        if result.cpu is None:
            first = f"first fit {number(result.first_cpu)}"
            return f"{result.reason} ({first})" if result.reason else first
        star = "*" if result.slow else ""
        ratio = run.ratio(result.case, result.method)
        beside = "" if result.method == OURS or ratio is None else f" ({number(ratio)}x)"
        lost = f"; then {result.reason}" if result.reason else ""
        return f"{number(result.cpu)}{star}{beside}{lost}"

    return cell


def cold_cell(result: Result) -> str:
    """CPU from the start of the process to the end of the first fit, and its two largest parts."""
    return f"{number(result.cold_cpu)} ({number(result.import_cpu)} + {number(result.first_cpu)})"


def memory_cell(result: Result) -> str:
    """Peak memory above the data, in MiB."""
    return "-" if result.peak is None else f"{result.peak / 2**20:.1f}"


def quality_table(run: Run, task: Task, case: Case) -> str:
    """How well each method recovers the truth in one case."""
    rows = []
    for name in methods_of(run, task):
        result = run.results.get((case, name))
        if result is None or not result.quality:
            continue
        counts = [f"{result.mean(w):.1f}" for w in ("selected", "true_positives", "false_positives")]
        error = number(result.mean("model_error"))
        rows.append([task.methods[name].label, *counts, error, str(len(result.quality))])
    hits = f"true positives (of {len(task.simulation.effects)})"
    return table(["method", "selected", hits, "false positives", "model error", "data sets"], rows)


def ours_table(run: Run) -> str:
    """Our time against one symmetric product of the data, and our peak memory."""
    rows = []
    for (case, name), result in run.results.items():
        if name != OURS:
            continue
        product = run.dsyrk[case].cpu if case in run.dsyrk else None
        shown = "-" if product is None else f"{product * 1e3:.3f}"
        ratio = number(run.dsyrk_ratio(case))
        rows.append([case.task, case.shape, number(result.cpu), shown, ratio, memory_cell(result)])
    return table(["task", "shape", "CPU s", "dsyrk ms", "CPU / dsyrk", "peak MiB above the data"], rows)
