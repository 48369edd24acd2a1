"""The report of a run, as Markdown."""

from __future__ import annotations

from benchmarks.harness.posterior_report import posterior_section
from benchmarks.harness.run import Run
from benchmarks.harness.tables import (
    by_task,
    cold_cell,
    compared,
    cpu_cell,
    memory_cell,
    ours_table,
    quality_table,
    tasks_of,
)
from benchmarks.tasks.checks import all_checks
from benchmarks.tasks.importing import ESTIMATORS, PAIRS
from benchmarks.tasks.registry import TASKS


def notes(run: Run) -> str:
    """Every method that is missing, was stopped or warned, with the reason."""
    reasons: dict[str, list[str]] = {}
    for (case, name), result in run.results.items():
        label = TASKS[case.task].methods[name].label
        if result.reason:
            reasons.setdefault(f"{label}: {result.reason}", []).append(case.name)
        if result.warnings:
            kinds = ", ".join(result.warnings)
            reasons.setdefault(f"{label}: the first fit warned ({kinds})", []).append(case.name)
    for case, product in run.dsyrk.items():
        if product.reason:
            reasons.setdefault(f"dsyrk: {product.reason}", []).append(case.name)
    lines = [f"- {what} (at {', '.join(cases)})" for what, cases in reasons.items()]
    return "\n".join(lines) or "- every method ran on every shape, without a warning"


def check_list(run: Run) -> str:
    """Every promise and whether this run kept it."""
    lines = []
    for check in all_checks(run):
        measured = f" ({check.measured})" if check.measured else ""
        lines.append(f"- {check.verdict}: {check.text}{measured}")
    return "\n".join(lines)


def imports_text(run: Run) -> str:
    """Say what importing the package adds."""
    if run.imports is None:
        return "The import was not measured: our default did not run, or the package could not be imported."
    ms = {name: f"{seconds * 1e3:.1f} ms" for name, seconds in run.imports.items()}
    return (
        f"What `{ESTIMATORS}` adds to importing numpy, scipy.linalg and sklearn.base, median difference "
        f"over {PAIRS} pairs of processes with and without it, run one after the other: {ms['wall']} wall "
        f"(middle half {ms['wall_low']} to {ms['wall_high']}), {ms['cpu']} CPU (middle half {ms['cpu_low']} "
        f"to {ms['cpu_high']}). The statement alone, timed in the processes that have it after the others, "
        f"is far steadier and is what the check goes by: median {ms['statement_wall']} wall, "
        f"{ms['statement_cpu']} CPU."
    )


def heading(run: Run) -> str:
    """Say what made the report, when and where."""
    about = run.about
    versions = "\n".join(
        f"- {name}: " + (", ".join(f"{k} {v}" for k, v in found.items()) or "unavailable")
        for name, found in about["versions"].items()
    )
    made = f"Made by `{about['command']}` on {about['date']}; {about['seconds']:.0f} s of CPU in all."
    machine = (
        f"Machine: {about['cpu']}, {about['cores']} cores, Python {about['python']}, "
        f"load average {about['load']} at the start."
    )
    how = "Every method ran in a process of its own with one thread. Versions, one environment each:"
    return "\n\n".join(["# Benchmarks", f"{made} {machine}", how, versions])


def quality(run: Run) -> list[str]:
    """Say for each task how its data are made, and how well each method recovers the truth."""
    parts = []
    for task in tasks_of(run):
        parts += [f"### {task.title}", task.about]
        for case in compared(run, task):
            parts += [f"#### {case.name}", quality_table(run, task, case)]
    return parts


def fits(run: Run) -> list[str]:
    """Lay out everything about the fits; nothing, if none was measured."""
    if not run.results:
        return []
    times = by_task(run, cpu_cell(run), missing=lambda result: f"unavailable: {result.reason}")
    parts = ["## CPU time", CPU_TEXT, *times, "## Quality", QUALITY_TEXT, *quality(run)]
    parts += ["## Cold start", COLD_TEXT, *by_task(run, cold_cell), "### Import", imports_text(run)]
    parts += ["## Peak memory", MEMORY_TEXT, *by_task(run, memory_cell)]
    parts += ["## Ours against one product of the data", DSYRK_TEXT, ours_table(run)]
    return [*parts, "## Notes", notes(run)]


def render(run: Run) -> str:
    """Write the whole report."""
    parts = [heading(run), "## Checks", check_list(run), *fits(run), *posterior_section(run)]
    return "\n\n".join(parts) + "\n"


CPU_TEXT = """CPU seconds of a fit, median of five rounds after a first fit that is not counted; the answer
of that one is checked before anything is timed: as many coefficients as columns, all finite, and a fit to
the data no worse than that of a constant. The methods of a shape take turns, so that a drift of the
machine's speed meets them alike: each has a process that waits while the others run, and in a round every
one of them, one at a time, times a fit; one whose fit takes under 0.1 s times as many as fill 0.3 s and
gives their mean. Our default is timed before, between and after the others of a round and counts with the
mean. In parentheses, how many times its CPU a method takes: the median over the rounds of the ratio within
the round, which need not be the ratio of the two medians. `*`: a fit takes more than 20 s, so one was
timed, in the first round. "First fit": there were no rounds."""

QUALITY_TEXT = """Rows of X are AR(1) with correlation 0.7 and standard normal margins; the first columns have
an effect, the others none. Selected means not exactly zero. Model error is (b - b_hat)' Sigma (b - b_hat).
Our adaptive estimators have two answers: what is selected is that of the sparse one (`support_`), the model
error that of the average (`coef_`). Averages over five data sets, or one for a method whose fit takes 15 s or
more or has no rounds."""

COLD_TEXT = """CPU seconds from the start of the process to the end of the first fit, making the data
excluded; in parentheses, importing the library (numpy is already there) + the first fit, compilation
included."""

MEMORY_TEXT = """Growth of the peak resident size, in MiB, from just after the data are made, with the library
imported, to the end of the timed fits. What a just-in-time compiler takes in the first fit is included. A
library whose import peaked higher than its resting size hides that much."""

DSYRK_TEXT = """One `scipy.linalg.blas.dsyrk` of the same data (n x n when p > n, else p x p), Fortran order,
one thread, timed in the same rounds as our fit (five; three for linear 1000x20000). CPU / dsyrk is the
median over the rounds of the ratio within the round."""
