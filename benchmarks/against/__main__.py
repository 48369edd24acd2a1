"""Measure this tree beside another revision, in one run and in turns.

The other revision is checked out into a temporary folder. For every shape each tree has a process of its
own with one thread, and the two are asked in turns for the CPU seconds of a run. The verdict goes by the
median over the rounds of the ratio within the round; the exit status is 1 unless every shape passes.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.against.compare import OTHER, THIS, Comparison, compare
from benchmarks.against.shapes import FEWER, ROUNDS, SHAPES, chosen, rounds_of
from benchmarks.against.table import render
from benchmarks.against.trees import SOURCE, NoRevisionError, checked_out, commit_of
from benchmarks.harness.processes import ROOT

LIMIT = 1.05


def shapes_of(text: str) -> list[str]:
    """Read the name of a shape or of a kind."""
    found = chosen(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(SHAPES)}")
    return found


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("revision", metavar="REV", help="a branch, a tag or a commit")
    parser.add_argument(
        "--shapes",
        nargs="+",
        type=shapes_of,
        default=[list(SHAPES)],
        metavar="SHAPE",
        help=f"a kind such as linear, rows x columns such as 'linear 70x350', or any of {', '.join(SHAPES)}",
    )
    parser.add_argument(
        "--rounds", type=int, metavar="N", help=f"{ROUNDS}, or {FEWER} of a slow shape, if not given"
    )
    parser.add_argument(
        "--limit", type=float, default=LIMIT, metavar="X", help="largest ratio that passes, %(default)s"
    )
    parser.add_argument(
        "--this-src", type=Path, default=ROOT / SOURCE, metavar="PATH", help="sources in place of this tree's"
    )
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("at least one round")
    try:
        options.commit = commit_of(options.revision)
    except NoRevisionError as error:
        parser.error(f"{options.revision!r} is no revision: {error}")
    return options


def measure(options: argparse.Namespace) -> list[Comparison]:
    """Check the other revision out and compare every shape."""
    names = dict.fromkeys(name for group in options.shapes for name in group)
    with checked_out(options.commit) as tree:
        sources = {THIS: options.this_src.resolve(), OTHER: tree / SOURCE}
        return [compare(name, sources, options.rounds or rounds_of(name)) for name in names]


def main() -> None:
    """Compare, print the table, and say by the exit status whether all shapes pass."""
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    found = measure(options)
    print(f"This tree beside {options.revision} ({options.commit}).\n")
    print(render(found, options.limit))
    sys.exit(0 if all(comparison.passed(options.limit) for comparison in found) else 1)


if __name__ == "__main__":
    main()
