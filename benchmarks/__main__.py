"""Run us and the peers side by side and write RESULTS.md and results.json beside this file.

``make bench`` runs everything. With ``--quick``, ``--tasks``, ``--shapes``, ``--methods`` or ``--rounds``
only a part runs, and the report goes to standard output instead, so that a partial run never replaces a
whole one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.harness.entrants import say
from benchmarks.harness.execute import execute
from benchmarks.harness.files import write
from benchmarks.harness.plan import plan, problems_for, shape_of
from benchmarks.harness.report import render
from benchmarks.tasks.posterior import POSTERIOR
from benchmarks.tasks.registry import TASKS

HERE = Path(__file__).resolve().parent


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [*TASKS, POSTERIOR]
    known = list(dict.fromkeys(name for task in TASKS.values() for name in task.methods))
    parser.add_argument(
        "--tasks", nargs="+", choices=names, metavar="TASK", help=f"any of {', '.join(names)}"
    )
    parser.add_argument(
        "--shapes", nargs="+", type=shape_of, metavar="NxP", help="rows x columns, e.g. 70x350, for each task"
    )
    parser.add_argument(
        "--methods", nargs="+", choices=known, metavar="NAME", help=f"any of {', '.join(known)}"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of every fit, for a first look")
    parser.add_argument(
        "--quick", action="store_true", help="one or two shapes, us and one peer of each task"
    )
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("at least one round")
    if not plan(options) and not problems_for(options):
        parser.error("none of these methods is in these tasks")
    return options


def main() -> None:
    """Run the benchmark."""
    options = parse()
    run = execute(plan(options), problems_for(options))
    if any(vars(options).values()):
        run.about["command"] = "python -m benchmarks " + " ".join(sys.argv[1:])
        print(render(run))
        return
    write(run, HERE)
    say(f"wrote RESULTS.md and results.json in {HERE.name}/")


if __name__ == "__main__":
    main()
