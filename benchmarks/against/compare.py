"""Two trees at one shape, in turns, and how they compare.

The speed of the machine drifts by much more than what is looked for, so the trees are asked one after the
other, each goes first in every other round, and CPU seconds are compared only within a round.
"""

from __future__ import annotations

import statistics
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.against.shapes import case_of
from benchmarks.against.worker import ANSWER
from benchmarks.harness.entrants import Entrant, say
from benchmarks.harness.measure import Result, ratios

THIS, OTHER = "this tree", "the other"
WORKER = "benchmarks.against.worker"


@dataclass(frozen=True)
class Comparison:
    """One shape: CPU of this tree over that of the other in each round, and how far their answers differ."""

    shape: str
    this: Result
    other: Result
    difference: float | None = None

    @property
    def ratios(self) -> list[float]:
        """One for each round that timed both."""
        return ratios(self.this, self.other)

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """The ratio below which a quarter of the rounds are, the median, and the upper quarter."""
        found = self.ratios
        if len(found) < 2:
            return (found[0],) * 3 if found else None
        low, median, high = statistics.quantiles(found, method="inclusive")
        return low, median, high

    def passed(self, limit: float) -> bool | None:
        """Whether the median ratio is within the limit; unknown if nothing was timed."""
        return None if self.quartiles is None else self.quartiles[1] <= limit


def order(k: int) -> tuple[str, str]:
    """Who goes first and who second in a round: this, other; other, this; this, other and so on."""
    return (OTHER, THIS) if k % 2 else (THIS, OTHER)


def play(sides: dict[str, Entrant], rounds: int) -> None:
    """Let both trees take their turns."""
    for _ in range(rounds):
        k = len(sides[THIS].result.rounds)
        for entrant in sides.values():
            entrant.result.rounds.append([])
        for name in order(k):
            sides[name].take_turn()


def difference(a: Path, b: Path) -> float | None:
    """Return the largest difference of two answers; infinite if they have other sizes, none if one lacks."""
    if not (a.is_file() and b.is_file()):
        return None
    ours, theirs = np.load(a), np.load(b)
    if ours.shape != theirs.shape:
        return float("inf")
    return float(np.abs(ours - theirs).max(initial=0.0))


def _meet(
    results: dict[str, Result], sources: dict[str, Path], folders: dict[str, Path], rounds: int
) -> None:
    """Start a worker for each tree, in the order of the results, and play some rounds."""
    sides = {name: Entrant(result) for name, result in results.items()}
    with ExitStack() as stack:
        for name, entrant in sides.items():
            stack.callback(entrant.close)
            arguments = [entrant.result.case.name, str(sources[name]), str(folders[name])]
            entrant.start(sys.executable, WORKER, arguments, {"PYTHONPATH": str(sources[name])})
        if all(entrant.worker for entrant in sides.values()):
            say(f"{entrant.result.case.name}: {rounds} rounds")
            play(sides, rounds)


def compare(shape: str, sources: dict[str, Path], rounds: int) -> Comparison:
    """Measure one shape with the sources of the two trees.

    Half of the rounds have workers of their own, started in the other order: a process may be a little
    slower than its twin for as long as it lives.
    """
    results = {name: Result(case_of(shape), name) for name in (THIS, OTHER)}
    with TemporaryDirectory() as place:
        folders = {name: Path(place) / str(k) for k, name in enumerate(results)}
        for folder in folders.values():
            folder.mkdir()
        _meet(results, sources, folders, (rounds + 1) // 2)
        if rounds > 1 and not any(result.reason for result in results.values()):
            _meet(dict(reversed(results.items())), sources, folders, rounds // 2)
        apart = difference(folders[THIS] / ANSWER, folders[OTHER] / ANSWER)
    return Comparison(shape, results[THIS], results[OTHER], apart)
