"""Record the answers of a library, or compare two recordings.

``python -m benchmarks.answers record PATH [--tree TREE]`` writes the answers of this tree, or of another one;
``python -m benchmarks.answers compare A B`` says which answers moved, and fails if a fit did.
"""

from __future__ import annotations

import argparse
import enum
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.answers.compare import compare

Record = dict[str, Any]

SLOW = 3.0
"""Cases that take more seconds are named."""


def answer(name: str, function: Callable[[], Record]) -> Record:
    """Return a record, without warnings; of a case that fails, the error. Tell of slow ones."""
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function()
    except Exception as error:
        print(f"{name}: {error!r}", flush=True)
        found = {"status": f"{type(error).__name__}"}
    if (seconds := time.perf_counter() - begin) > SLOW:
        print(f"{seconds:6.1f} s  {name}", flush=True)
    arrays = {quantity: np.asarray(plain(value)) for quantity, value in found.items()}
    return {q: np.vectorize(str)(a) if a.dtype == object else a for q, a in arrays.items()}


def plain(value: Any) -> Any:
    """Return the name of a status, whatever it says; anything else as it is."""
    return value.name if isinstance(value, enum.Enum) else value


def record(path: str) -> int:
    """Write the answers to an .npz file; return 0."""
    from benchmarks.answers.cases import fits, runs
    from benchmarks.answers.library import LIBRARY
    from benchmarks.answers.structured import structured_fits, structured_runs

    print(f"recording {LIBRARY.place}", flush=True)
    arrays: Record = {}
    for kind, cases in (("fits", [*fits(), *structured_fits()]), ("runs", [*runs(), *structured_runs()])):
        begin = time.perf_counter()
        for name, function in cases:
            arrays |= {f"{name}::{quantity}": value for quantity, value in answer(name, function).items()}
        print(f"{len(cases)} {kind} in {time.perf_counter() - begin:.0f} s", flush=True)
    np.savez_compressed(path, **arrays)
    return 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("path")
    recording.add_argument("--tree", help="a checkout of another revision")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before")
    comparing.add_argument("after")
    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.before, given.after)
    if given.tree is not None:
        os.environ["ANSWERS_TREE"] = given.tree
    return record(given.path)


if __name__ == "__main__":
    sys.exit(main())
