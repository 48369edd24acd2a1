"""What the run promises, compared with what it measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from measure import Result, ratio
from methods import METHODS, OURS

TIMES_FASTER = {"70x350": 10.0, "200x1000": 10.0, "1000x200": 10.0, "500x2000": 4.0, "200x10000": 4.0}
DSYRK_SHAPES = ("500x2000", "200x10000", "1000x20000")
DSYRK_LIMIT = 15.0
LARGE, LARGE_CPU = "1000x20000", 8.0
WIDE, WIDE_BYTES = "100x200000", 2**30
IMPORT_SECONDS = 0.050


@dataclass
class Run:
    """Everything one run measured."""

    about: dict[str, Any]
    results: dict[tuple[str, str], Result] = field(default_factory=dict)
    dsyrk: dict[str, Result] = field(default_factory=dict)
    imports: dict[str, float] | None = None

    def cpu(self, method: str, shape: str) -> float | None:
        """Median CPU seconds of a method on a shape, if it was measured."""
        result = self.results.get((method, shape))
        return result.cpu if result else None

    def ratio(self, method: str, shape: str) -> float | None:
        """How many times our CPU a method takes, compared round by round."""
        return ratio(self.results.get((method, shape)), self.results.get((OURS, shape)))

    def dsyrk_ratio(self, shape: str) -> float | None:
        """How many symmetric products our fit takes, compared round by round."""
        return ratio(self.results.get((OURS, shape)), self.dsyrk.get(shape))


@dataclass(frozen=True)
class Check:
    """One promise; ``passed`` is None when the run did not measure it."""

    text: str
    measured: str
    passed: bool | None

    @property
    def verdict(self) -> str:
        """PASS, FAIL or NOT MEASURED."""
        return {True: "PASS", False: "FAIL", None: "NOT MEASURED"}[self.passed]


def _check(text: str, value: float | None, passed: bool, measured: str) -> Check:
    return Check(text, "", None) if value is None else Check(text, measured, passed)


def _against_cross_validated(run: Run, shape: str, times: float) -> Check:
    """Compare with the fastest; it can fail on the peers that ran but holds only when all of them did."""
    rivals = {m.name: run.ratio(m.name, shape) for m in METHODS.values() if m.cross_validated}
    known = {name: ratio for name, ratio in rivals.items() if ratio is not None}
    text = f"{shape}: at least {times:g} times less CPU than the fastest cross-validated peer"
    if not known:
        return Check(text, "", None)
    fastest = min(known, key=lambda name: known[name])
    missing = [name for name in rivals if name not in known]
    note = f"; not measured: {', '.join(missing)}" if missing else ""
    measured = f"{known[fastest]:.1f} times less than {fastest}{note}"
    kept = known[fastest] >= times
    return Check(text, measured, None if kept and missing else kept)


def _against_dsyrk(run: Run, shape: str) -> Check:
    ratio = run.dsyrk_ratio(shape)
    value = ratio or 0.0
    text = f"{shape}: no slower than {DSYRK_LIMIT:g} dsyrk of the data"
    return _check(text, ratio, value <= DSYRK_LIMIT, f"{value:.2f} dsyrk")


def _against_abess(run: Run, shape: str) -> Check:
    ratio = run.ratio("abess", shape)
    value = ratio or 0.0
    return _check(
        f"{shape}: target, faster than abess", ratio, value > 1.0, f"abess takes {value:.2f} times our CPU"
    )


def _unless_failed(run: Run, check: Check) -> Check:
    """Turn a check into a failure when our own fit on its shape did not finish."""
    ours = run.results.get((OURS, check.text.partition(":")[0]))
    if ours is None or ours.cpu is not None:
        return check
    return replace(check, measured=f"our fit failed: {ours.reason}", passed=False)


def all_checks(run: Run) -> list[Check]:
    """Every promise in the order in which the report lists them."""
    checks = [_against_cross_validated(run, shape, times) for shape, times in TIMES_FASTER.items()]
    checks += [_against_dsyrk(run, shape) for shape in DSYRK_SHAPES]
    large = run.cpu(OURS, LARGE)
    seconds = large or 0.0
    checks.append(
        _check(f"{LARGE}: under {LARGE_CPU:g} s of CPU", large, seconds < LARGE_CPU, f"{seconds:.2f} s")
    )
    wide = run.results.get((OURS, WIDE))
    peak = wide.peak if wide else None
    size = peak or 0
    checks.append(
        _check(f"{WIDE}: under 1 GiB above the data", peak, size < WIDE_BYTES, f"{size / 2**20:.0f} MiB")
    )
    added = max(run.imports["statement_wall"], run.imports["statement_cpu"]) if run.imports else None
    longest = added or 0.0
    checks.append(
        _check(
            f"import farrier adds under {IMPORT_SECONDS * 1e3:g} ms (the larger of wall and CPU)",
            added,
            longest < IMPORT_SECONDS,
            f"{longest * 1e3:.1f} ms",
        )
    )
    checks += [_against_abess(run, shape) for shape in TIMES_FASTER]
    return [_unless_failed(run, check) for check in checks]
