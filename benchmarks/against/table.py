"""The table of a comparison with another revision, as Markdown."""

from __future__ import annotations

from benchmarks.against.compare import Comparison
from benchmarks.harness.markdown import number, table
from benchmarks.harness.verdicts import verdict

HEADER = "shape", "this CPU s", "other CPU s", "this / other", "middle half", "rounds", "answers differ by"


def _apart(difference: float | None) -> str:
    """Show the largest difference of the answers."""
    if difference is None:
        return "-"
    return "nothing" if difference == 0.0 else f"{difference:.1e}"


def _row(found: Comparison, limit: float) -> list[str]:
    outcome = verdict(found.passed(limit))
    apart = _apart(found.difference)
    if found.quartiles is None:
        reasons = [f"{side.method}: {side.reason}" for side in (found.this, found.other) if side.reason]
        return [found.shape, "-", "-", "-", "-", "0", apart, f"{outcome} ({'; '.join(reasons)})"]
    low, median, high = (f"{value:.3f}" for value in found.quartiles)
    cpu = [number(found.this.cpu), number(found.other.cpu)]
    return [found.shape, *cpu, median, f"{low} to {high}", str(len(found.ratios)), apart, outcome]


def render(found: list[Comparison], limit: float) -> str:
    """Lay out one row for each shape."""
    header = [*HEADER, f"verdict (at most {limit:g})"]
    return table(header, [_row(comparison, limit) for comparison in found])
