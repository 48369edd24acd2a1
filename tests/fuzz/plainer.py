"""The plainest case with the same forbidden outcome: each field in turn as in the plainest, or nearer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields

from fuzz.cases import Case
from fuzz.outcomes import judge

PATIENCE = 30.0
"""Seconds that are spent on one kind."""


def plainest(found: list[Case], kind: str, limit: float) -> Case:
    """Return a case of the kind with as few odd things in it as a short search finds."""
    until = time.perf_counter() + PATIENCE
    case = min(found, key=lambda case: len(case.to_json()) + 0.1 * case.n * case.p)
    better = True
    while better and time.perf_counter() < until:
        better = False
        for simpler in _plainer(case):
            if time.perf_counter() > until:
                break
            if any(finding.kind == kind for finding in judge(simpler, limit).findings):
                case, better = simpler, True
                break
    return case


def _plainer(case: Case) -> Iterator[Case]:
    """Yield cases with one thing less."""
    plain = Case()
    for name in ("n", "p"):
        value = getattr(case, name)
        for less in sorted({1, 2, 3, value // 2, value - 1}):
            if 0 < less < value:
                yield case.but(**{name: less})
    for name in (each.name for each in fields(Case) if each.name not in ("n", "p", "options")):
        value = getattr(plain, name)
        if getattr(case, name) != value:
            yield case.but(**{name: value})
    for name in case.options:
        yield case.but(options={other: v for other, v in case.options.items() if other != name})
    for name in ("x_exponent", "y_exponent", "power"):
        value = getattr(case, name)
        if abs(value) > 8:
            yield case.but(**{name: int(value * 0.8)})
