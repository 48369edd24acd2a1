"""The campaign: thousands of cases in two processes, and the plainest case of each kind of finding."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

from fuzz.cases import FOUND, Case
from fuzz.outcomes import judge
from fuzz.plainer import plainest
from fuzz.strategies import case_of

LIMIT = 20.0
"""The most seconds that a case may take."""
BLOCK = 50
"""Cases that are handed to a process at a time."""


class Report(NamedTuple):
    """What came of a block: the cases of each kind of forbidden outcome, how the cases ended, the slowest."""

    found: dict[str, list[Case]]
    endings: Counter[str]
    slowest: list[tuple[float, Case]]


def run_block(first: int) -> Report:
    """Judge the cases of a block, from this number on."""
    report = Report({}, Counter(), [])
    for number in range(first, first + BLOCK):
        case = case_of(number)
        verdict = judge(case, LIMIT)
        report.endings[verdict.ending] += 1
        report.slowest.append((verdict.seconds, case))
        for finding in verdict.findings:
            report.found.setdefault(finding.kind, []).append(case)
    return report


def run(n_cases: int, first: int, jobs: int) -> Report:
    """Judge cases in several processes, and say how far it is."""
    total = Report({}, Counter(), [])
    blocks = range(first, first + n_cases, BLOCK)
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done, report in enumerate(pool.map(run_block, blocks), 1):
            add(total, report)
            if done % 20 == 0 or done == len(blocks):
                spent = time.perf_counter() - start
                print(
                    f"{done * BLOCK} cases, {spent:.0f} s, {len(total.found)} kinds of findings", flush=True
                )
    return total


def add(total: Report, report: Report) -> None:
    """Add a block to the total."""
    for kind, found in report.found.items():
        total.found.setdefault(kind, []).extend(found)
    total.endings.update(report.endings)
    total.slowest.extend(report.slowest)
    total.slowest.sort(key=lambda pair: -pair[0])
    del total.slowest[10:]


def say(report: Report) -> None:
    """Print how the cases ended, and the slowest."""
    print("\nendings:")
    for ending, count in report.endings.most_common(40):
        print(f"{count:7d}  {ending}")
    print("\nslowest:")
    for seconds, case in report.slowest:
        print(f"{seconds:6.1f} s  {case.to_json()}")


def keep(report: Report, simplify: bool = True) -> None:
    """Write the plainest case of each kind into the folder of what was found, and print it."""
    FOUND.mkdir(exist_ok=True)
    print("\nfindings:")
    for kind, found in sorted(report.found.items(), key=lambda item: -len(item[1])):
        case = plainest(found, kind, LIMIT) if simplify else found[0]
        detail = next((f.detail for f in judge(case, LIMIT).findings), "")
        content: dict[str, Any] = {"kind": kind, "detail": detail, "case": json.loads(case.to_json())}
        path = FOUND / f"{_slug(kind)}.json"
        if not path.exists():
            path.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{len(found):7d}  {kind}\n         {detail[:150]}\n         {case.to_json()}", flush=True)


def _slug(kind: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:80]
