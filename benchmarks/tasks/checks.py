"""What the run promises, compared with what it measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.harness.measure import ratio
from benchmarks.harness.run import Run
from benchmarks.harness.verdicts import Check
from benchmarks.peers import abess, glum
from benchmarks.peers.pins import SKLEARN
from benchmarks.tasks.adaptive_checks import adaptive_checks
from benchmarks.tasks.linear import LARGE, WIDE
from benchmarks.tasks.logistic import TALL, UNPENALISED
from benchmarks.tasks.posterior_checks import posterior_checks
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case

TIMES_FASTER = {"70x350": 10.0, "200x1000": 10.0, "1000x200": 10.0, "500x2000": 4.0, "200x10000": 4.0}
DSYRK_SHAPES = ("500x2000", "200x10000", LARGE)
DSYRK_LIMIT = 15.0
LARGE_CPU = 8.0
WIDE_MIB = 1024.0
IMPORT_MS = 50.0
LOGISTIC_SHAPES, POISSON_SHAPES = ("100x400", "200x214"), ("100x400", "1000x200")
GLM_TIMES = 5.0
TALL_LIMIT = 3.0


def _check(
    case: Case | None, text: str, value: float | None, kept: Callable[[float], bool], shown: str
) -> Check:
    """Judge one number; ``shown`` is how it is put."""
    named = f"{case.name}: {text}" if case else text
    if value is None:
        return Check(named, "", None, case)
    return Check(named, shown.format(value), kept(value), case)


def _times_less(run: Run, case: Case, times: float, rivals: list[str], whom: str) -> Check:
    """Compare our default with the fastest rival."""
    text = f"{case.name}: at least {times:g} times less CPU than {whom}"
    fastest = run.fastest(case, rivals)
    if fastest is None:
        return Check(text, "", None, case)
    measured = f"{fastest.times:.1f} times less than {fastest.name}{fastest.note}"
    return Check(text, measured, fastest.judged(fastest.times >= times), case)


def _against_dsyrk(run: Run, case: Case) -> Check:
    text = f"no slower than {DSYRK_LIMIT:g} dsyrk of the data"
    return _check(case, text, run.dsyrk_ratio(case), lambda value: value <= DSYRK_LIMIT, "{:.2f} dsyrk")


def _against_abess(run: Run, case: Case) -> Check:
    times = run.ratio(case, abess.SUBSET.name)
    shown = "abess takes {:.2f} times our CPU"
    return _check(case, "target, faster than abess", times, lambda value: value > 1.0, shown)


def _large(run: Run) -> Check:
    case = Case("linear", LARGE)
    ours = run.ours(case)
    cpu = ours.cpu if ours else None
    return _check(case, f"under {LARGE_CPU:g} s of CPU", cpu, lambda value: value < LARGE_CPU, "{:.2f} s")


def _wide(run: Run) -> Check:
    case = Case("linear", WIDE)
    ours = run.ours(case)
    peak = None if ours is None or ours.peak is None else ours.peak / 2**20
    return _check(case, "under 1 GiB above the data", peak, lambda value: value < WIDE_MIB, "{:.0f} MiB")


def _import(run: Run) -> Check:
    statement = [run.imports["statement_wall"], run.imports["statement_cpu"]] if run.imports else []
    added = max(statement) * 1e3 if statement else None
    text = f"importing the estimators adds under {IMPORT_MS:g} ms (the larger of wall and CPU)"
    return _check(None, text, added, lambda value: value < IMPORT_MS, "{:.1f} ms")


def _tall(run: Run) -> Check:
    """Compare with one unpenalised fit."""
    case = Case("logistic", TALL)
    times = ratio(run.ours(case), run.results.get((case, UNPENALISED)))
    text = f"within {TALL_LIMIT:g} times the CPU of one unpenalised {SKLEARN} fit"
    return _check(case, text, times, lambda value: value <= TALL_LIMIT, "{:.2f} times")


def _unless_failed(run: Run, check: Check) -> Check:
    """Turn a check into a failure when our own fit in its case did not finish."""
    ours = run.results.get((check.case, check.method)) if check.case else None
    if ours is None or not ours.failed:
        return check
    return replace(check, measured=f"our fit failed: {ours.reason}", passed=False)


def _linear(run: Run) -> list[Check]:
    rivals, whom = TASKS["linear"].cross_validated(), "the fastest cross-validated peer"
    checks = [
        _times_less(run, Case("linear", shape), times, rivals, whom) for shape, times in TIMES_FASTER.items()
    ]
    checks += [_against_dsyrk(run, Case("linear", shape)) for shape in DSYRK_SHAPES]
    return [*checks, _large(run), _wide(run), _import(run)]


def _logistic(run: Run) -> list[Check]:
    rivals, whom = TASKS["logistic"].cross_validated(SKLEARN), f"the fastest cross-validated {SKLEARN} solver"
    cases = [Case("logistic", shape) for shape in LOGISTIC_SHAPES]
    return [*(_times_less(run, case, GLM_TIMES, rivals, whom) for case in cases), _tall(run)]


def _poisson(run: Run) -> list[Check]:
    rivals, whom = [glum.POISSON.name], "cross-validated glum"
    return [_times_less(run, Case("poisson", shape), GLM_TIMES, rivals, whom) for shape in POISSON_SHAPES]


def all_checks(run: Run) -> list[Check]:
    """Every promise in the order in which the report lists them."""
    checks = [*_linear(run), *_logistic(run), *_poisson(run), *adaptive_checks(run)]
    checks += [_against_abess(run, Case("linear", shape)) for shape in TIMES_FASTER]
    return [*(_unless_failed(run, check) for check in checks), *posterior_checks(run.posterior)]
