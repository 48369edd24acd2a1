"""Run the campaign: ``python -m fuzz --cases 10000``, with tests on the path."""

from __future__ import annotations

import argparse
import os
import sys
import time

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # before NumPy: the processes share the cores


def main() -> int:
    """Return 1 if a case had a forbidden outcome."""
    from fuzz.campaign import keep, run, say

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seed", type=int, help="the number of the first case; another one every time if left out"
    )
    chosen = parser.parse_args()
    first = int(time.time()) if chosen.seed is None else chosen.seed
    print(f"seed {first}")
    report = run(chosen.cases, first, chosen.jobs)
    say(report)
    keep(report)
    forbidden, total = sum(map(len, report.found.values())), sum(report.endings.values())
    print(f"\n{forbidden} forbidden outcomes of {len(report.found)} kinds in {total} cases")
    return 1 if forbidden else 0


if __name__ == "__main__":
    sys.exit(main())
