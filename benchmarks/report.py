"""The report of a run, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from checks import Run, all_checks
from importing import PAIRS
from measure import Result
from methods import METHODS, OURS

Cell = Callable[[Result], str]


def number(value: float | None) -> str:
    """Three significant digits without an exponent."""
    if value is None:
        return "-"
    digits = 4 if value < 0.01 else 3 if value < 1 else 2 if value < 100 else 0
    return f"{value:.{digits}f}"


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    """Lay out a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


def shapes_of(run: Run, method: str | None = None) -> list[str]:
    """Shapes that were measured, or those that a method was measured on, in the order of the run."""
    return list(dict.fromkeys(shape for name, shape in run.results if method in (None, name)))


def compared(run: Run) -> list[str]:
    """Shapes on which more than one method ran."""
    names = [shape for _, shape in run.results]
    return [shape for shape in shapes_of(run) if names.count(shape) > 1] or shapes_of(run)


def methods_of(run: Run) -> list[str]:
    """Names of the methods in the run, in the order of the registry."""
    present = {name for name, _ in run.results}
    return [name for name in METHODS if name in present]


def matrix(run: Run, cell: Cell, missing: Cell = lambda _: "unavailable") -> str:
    """Lay out one row per method and one column per shape."""
    shapes = compared(run)
    rows = []
    for name in methods_of(run):
        row = [METHODS[name].label, "yes" if METHODS[name].cross_validated else "no"]
        for shape in shapes:
            result = run.results.get((name, shape))
            row.append("-" if result is None else (missing if result.cold_cpu is None else cell)(result))
        rows.append(row)
    return table(["method", "cross-validated", *shapes], rows)


def cpu_cell(run: Run) -> Cell:
    """Median CPU seconds and how many times ours that is; ``*`` marks a single fit.

    A method that was lost on the way says why, beside what it had measured by then.
    """

    def cell(result: Result) -> str:
        if result.cpu is None:
            return f"{result.reason} (first fit {number(result.first_cpu)})"
        star = "*" if result.slow else ""
        ratio = run.ratio(result.method, result.shape)
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


def quality_table(run: Run, shape: str) -> str:
    """How well each method recovers the truth on one shape."""
    rows = []
    for name in methods_of(run):
        result = run.results.get((name, shape))
        if result is None or not result.quality:
            continue
        counts = [f"{result.mean(w):.1f}" for w in ("selected", "true_positives", "false_positives")]
        error = number(result.mean("model_error"))
        rows.append([METHODS[name].label, *counts, error, str(len(result.quality))])
    header = ["method", "selected", "true positives (of 20)", "false positives", "model error", "data sets"]
    return table(header, rows)


def ours_table(run: Run) -> str:
    """Our time against one symmetric product of the data, and our peak memory."""
    rows = []
    for shape in shapes_of(run, OURS):
        result = run.results[OURS, shape]
        product = run.dsyrk[shape].cpu if shape in run.dsyrk else None
        shown = "-" if product is None else f"{product * 1e3:.3f}"
        ratio = number(run.dsyrk_ratio(shape))
        rows.append([shape, number(result.cpu), shown, ratio, memory_cell(result)])
    return table(["shape", "CPU s", "dsyrk ms", "CPU / dsyrk", "peak MiB above the data"], rows)


def notes(run: Run) -> str:
    """Every method that is missing, was stopped or warned, with the reason."""
    reasons: dict[str, list[str]] = {}
    for (name, shape), result in run.results.items():
        if result.reason:
            reasons.setdefault(f"{METHODS[name].label}: {result.reason}", []).append(shape)
        if result.warnings:
            kinds = ", ".join(result.warnings)
            reasons.setdefault(f"{METHODS[name].label}: the first fit warned ({kinds})", []).append(shape)
    for shape, product in run.dsyrk.items():
        if product.reason:
            reasons.setdefault(f"dsyrk: {product.reason}", []).append(shape)
    lines = [f"- {what} (at {', '.join(shapes)})" for what, shapes in reasons.items()]
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
        return "`import farrier` was not measured: the package could not be imported."
    ms = {name: f"{seconds * 1e3:.1f} ms" for name, seconds in run.imports.items()}
    return (
        "What `import farrier` adds to importing numpy, scipy.linalg and sklearn.base, median difference "
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


def render(run: Run) -> str:
    """Write the whole report."""
    times = matrix(run, cpu_cell(run), missing=lambda result: f"unavailable: {result.reason}")
    parts = [heading(run), "## Checks", check_list(run), "## CPU time", CPU_TEXT, times]
    parts += ["## Quality", QUALITY_TEXT]
    for shape in compared(run):
        parts += [f"### {shape}", quality_table(run, shape)]
    parts += ["## Cold start", COLD_TEXT, matrix(run, cold_cell), imports_text(run)]
    parts += ["## Peak memory", MEMORY_TEXT, matrix(run, memory_cell)]
    parts += ["## Ours against one product of the data", DSYRK_TEXT, ours_table(run)]
    parts += ["## Notes", notes(run)]
    return "\n\n".join(parts) + "\n"


CPU_TEXT = """CPU seconds of a fit, median of five rounds after a first fit that is not counted. The methods
of a shape take turns, so that a drift of the machine's speed meets them alike: each has a process that waits
while the others run, and in a round every one of them, one at a time, times a fit; one whose fit takes under
0.1 s times as many as fill 0.3 s and gives their mean. We are timed before, between and after the others of
a round and count with the mean. In parentheses, how many times our CPU a method takes: the median over the
rounds of the ratio within the round, which need not be the ratio of the two medians. `*`: a fit takes more
than 20 s, so one was timed, in the first round."""

QUALITY_TEXT = """Rows of X are AR(1) with correlation 0.7 and standard normal margins; the first ten
coefficients are 3, the next ten -3, the rest 0; the noise has standard deviation 3. Selected means not
exactly zero. Model error is (b - b_hat)' Sigma (b - b_hat). Averages over five data sets, or one for a
method whose fit takes 2 s or more. All lasso and MCP fits take the penalty of least cross-validated error;
adelie's default path ends at a tenth of the largest penalty, so a longer one is shown beside it."""

COLD_TEXT = """CPU seconds from the start of the process to the end of the first fit, making the data
excluded; in parentheses, importing the library (numpy is already there) + the first fit, compilation
included."""

MEMORY_TEXT = """Growth of the peak resident size, in MiB, from just after the data are made, with the library
imported, to the end of the timed fits. What a just-in-time compiler takes in the first fit is included. A
library whose import peaked higher than its resting size hides that much."""

DSYRK_TEXT = """One `scipy.linalg.blas.dsyrk` of the same data (n x n when p > n, else p x p), Fortran order,
one thread, timed in the same rounds as our fit (five; three for 1000x20000). CPU / dsyrk is the median over
the rounds of the ratio within the round."""
