"""What the run promises, compared with what it measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from effective import Sampled
from logistic import UNPENALISED
from measure import Result, ratio
from methods import OURS, SKLEARN
from posterior_checks import posterior_checks
from tasks import LARGE, TALL, TASKS, WIDE, Case
from verdicts import Check

TIMES_FASTER = {"70x350": 10.0, "200x1000": 10.0, "1000x200": 10.0, "500x2000": 4.0, "200x10000": 4.0}
DSYRK_SHAPES = ("500x2000", "200x10000", LARGE)
DSYRK_LIMIT = 15.0
LARGE_CPU = 8.0
WIDE_BYTES = 2**30
IMPORT_SECONDS = 0.050
LOGISTIC_SHAPES, POISSON_SHAPES = ("100x400", "200x214"), ("100x400", "1000x200")
GLM_TIMES = 5.0
TALL_LIMIT = 3.0


@dataclass
class Run:
    """Everything one run measured."""

    about: dict[str, Any]
    results: dict[tuple[Case, str], Result] = field(default_factory=dict)
    dsyrk: dict[Case, Result] = field(default_factory=dict)
    imports: dict[str, float] | None = None
    posterior: dict[tuple[str, str], Sampled] = field(default_factory=dict)

    def ours(self, case: Case) -> Result | None:
        """Return what was measured for our default, if it ran."""
        return self.results.get((case, OURS))

    def ratio(self, case: Case, method: str) -> float | None:
        """How many times our CPU a method takes, compared round by round."""
        return ratio(self.results.get((case, method)), self.ours(case))

    def dsyrk_ratio(self, case: Case) -> float | None:
        """How many symmetric products our fit takes, compared round by round."""
        return ratio(self.ours(case), self.dsyrk.get(case))


def _check(case: Case | None, text: str, value: float | None, passed: bool, measured: str) -> Check:
    named = f"{case.name}: {text}" if case else text
    return Check(named, "", None, case) if value is None else Check(named, measured, passed, case)


def _times_less(run: Run, case: Case, times: float, rivals: list[str], whom: str) -> Check:
    """Compare with the fastest; it can fail on the rivals that ran but holds only when all of them did."""
    ratios = {name: run.ratio(case, name) for name in rivals}
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    text = f"{case.name}: at least {times:g} times less CPU than {whom}"
    if not known:
        return Check(text, "", None, case)
    fastest = min(known, key=lambda name: known[name])
    missing = [name for name in rivals if name not in known]
    note = f"; not measured: {', '.join(missing)}" if missing else ""
    measured = f"{known[fastest]:.1f} times less than {fastest}{note}"
    kept = known[fastest] >= times
    return Check(text, measured, None if kept and missing else kept, case)


def _against_dsyrk(run: Run, case: Case) -> Check:
    ratio = run.dsyrk_ratio(case)
    value = ratio or 0.0
    text = f"no slower than {DSYRK_LIMIT:g} dsyrk of the data"
    return _check(case, text, ratio, value <= DSYRK_LIMIT, f"{value:.2f} dsyrk")


def _against_abess(run: Run, case: Case) -> Check:
    ratio = run.ratio(case, "abess")
    value = ratio or 0.0
    measured = f"abess takes {value:.2f} times our CPU"
    return _check(case, "target, faster than abess", ratio, value > 1.0, measured)


def _large(run: Run) -> Check:
    case = Case("linear", LARGE)
    ours = run.ours(case)
    cpu = ours.cpu if ours else None
    seconds = cpu or 0.0
    return _check(case, f"under {LARGE_CPU:g} s of CPU", cpu, seconds < LARGE_CPU, f"{seconds:.2f} s")


def _wide(run: Run) -> Check:
    case = Case("linear", WIDE)
    ours = run.ours(case)
    peak = ours.peak if ours else None
    size = peak or 0
    return _check(case, "under 1 GiB above the data", peak, size < WIDE_BYTES, f"{size / 2**20:.0f} MiB")


def _import(run: Run) -> Check:
    added = max(run.imports["statement_wall"], run.imports["statement_cpu"]) if run.imports else None
    longest = added or 0.0
    text = f"import farrier adds under {IMPORT_SECONDS * 1e3:g} ms (the larger of wall and CPU)"
    return _check(None, text, added, longest < IMPORT_SECONDS, f"{longest * 1e3:.1f} ms")


def _tall(run: Run) -> Check:
    """Compare with one unpenalised fit."""
    case = Case("logistic", TALL)
    times = ratio(run.ours(case), run.results.get((case, UNPENALISED)))
    value = times or 0.0
    text = f"within {TALL_LIMIT:g} times the CPU of one unpenalised {SKLEARN} fit"
    return _check(case, text, times, value <= TALL_LIMIT, f"{value:.2f} times")


def _unless_failed(run: Run, check: Check) -> Check:
    """Turn a check into a failure when our own fit in its case did not finish."""
    ours = run.ours(check.case) if check.case else None
    if ours is None or ours.cpu is not None:
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
    cases = [Case("poisson", shape) for shape in POISSON_SHAPES]
    return [_times_less(run, case, GLM_TIMES, ["glum"], "cross-validated glum") for case in cases]


def all_checks(run: Run) -> list[Check]:
    """Every promise in the order in which the report lists them."""
    checks = [*_linear(run), *_logistic(run), *_poisson(run)]
    checks += [_against_abess(run, Case("linear", shape)) for shape in TIMES_FASTER]
    return [*(_unless_failed(run, check) for check in checks), *posterior_checks(run.posterior)]
