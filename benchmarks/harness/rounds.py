"""Timing the methods of one case in turns, so that a drift of the machine's speed meets them alike.

Every method has a worker of its own, started one after the other: each imports its library, makes the data
and does a first fit, whose answer is checked. Then, in each round, one worker at a time is asked to time a
fit, while the others are blocked on standard input. We have the first and the last turn of a round.
"""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.harness.entrants import Entrant, enter, say
from benchmarks.harness.environments import Environment, place_of
from benchmarks.harness.measure import Result
from benchmarks.peers.methods import OURS, Method
from benchmarks.tasks.task import Case

DSYRK = "dsyrk"
"""The worker that times one symmetric product of the data, in our own interpreter."""


def _turns(entrants: dict[str, Entrant]) -> list[Entrant]:
    """Order of a round: the symmetric product and the peers, and us before, between and after them."""
    ours = [entrants[OURS]] if OURS in entrants else []
    others = [entrant for name, entrant in entrants.items() if name != OURS]
    return [*ours, *(turn for entrant in others for turn in (entrant, *ours))]


def _play(entrants: dict[str, Entrant], case: Case, rounds: int) -> None:
    """Run the rounds, then judge the fits of further data."""
    for k in range(rounds):
        say(f"{case.name}: round {k + 1} of {rounds}")
        for entrant in entrants.values():
            entrant.result.rounds.append([])
        for entrant in _turns(entrants):
            entrant.take_turn()
    say(f"{case.name}: further data")
    for name, entrant in entrants.items():
        if name != DSYRK:
            entrant.judge()


def measure_case(
    case: Case, methods: list[Method], environments: dict[str, Environment], rounds: int
) -> dict[str, Result]:
    """Measure some methods in one case, and a symmetric product of the data if we are among them."""
    entrants: dict[str, Entrant] = {}
    with ExitStack() as stack:
        for method in methods:
            arguments = ["fit", case.task, case.shape, method.name]
            place = place_of(method.environment, environments)
            entrants[method.name] = enter(Result(case, method.name), place, arguments, stack)
        if OURS in entrants:
            arguments = [DSYRK, case.task, case.shape]
            entrants[DSYRK] = enter(Result(case, DSYRK), place_of(None, {}), arguments, stack)
        _play(entrants, case, rounds)
    return {name: entrant.result for name, entrant in entrants.items()}
