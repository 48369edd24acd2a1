"""Timing the methods of one case in turns, so that a drift of the machine's speed meets them alike.

Every method has a worker of its own, started one after the other: each imports its library, makes the data
and does a first fit, whose answer is checked. Then, in each round, one worker at a time is asked to time a
fit, while the others are blocked on standard input. We have the first and the last turn of a round.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from environments import Environment
from measure import Result
from methods import OURS, Method
from processes import Worker, WorkerError
from tasks import Case

DSYRK = "dsyrk"
QUALITY_LIMIT = 15.0
"""A method whose fit takes this many CPU seconds or more is judged on the timed data alone."""


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class Entrant:
    """A method in the rounds of one case; without a worker once it is lost or has nothing left to do."""

    result: Result
    worker: Worker | None = None

    def start(self, python: str, arguments: list[str]) -> None:
        """Start the worker and take what it measured up to the end of its first fit."""
        try:
            self.worker = Worker(python, arguments)
            self._take(self.worker.answer())
        except WorkerError as error:
            self._lose(error)

    def ask(self, command: str) -> dict[str, Any]:
        """Return the worker's answer; nothing, when there is no worker or it was lost on the way."""
        if self.worker is None:
            return {}
        try:
            return self.worker.ask(command)
        except WorkerError as error:
            self._lose(error)
            return {}

    def take_turn(self) -> None:
        """Time a fit; a method too slow for a second one has no worker after its first."""
        answer = self.ask("time")
        if answer:
            self.result.rounds[-1].append(answer.pop("seconds"))
            self._take(answer)
        if self.result.slow:
            self.close()

    def judge(self) -> None:
        """Compare the fits of further data with the truth, if a fit is quick enough."""
        if self.result.cpu is not None and self.result.cpu < QUALITY_LIMIT:
            self.result.quality += self.ask("quality").get("quality", [])

    def close(self, kill: bool = False) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.close(kill)
        self.worker = None

    def _take(self, record: dict[str, Any]) -> None:
        for name, value in record.items():
            setattr(self.result, name, value)

    def _lose(self, error: WorkerError) -> None:
        self.result.reason = str(error)
        say(f"{self.result.case.name} {self.result.method}: {error}")
        self.close(kill=True)


def _enter(case: Case, method: Method, environment: Environment) -> Entrant:
    """Start one method; an unavailable one has a result that says why."""
    entrant = Entrant(Result(case, method.name, environment.reason))
    if environment.python is not None:
        say(f"{case.name} {method.name}: first fit")
        entrant.start(environment.python, ["fit", case.task, case.shape, method.name])
    return entrant


def _enter_dsyrk(case: Case) -> Entrant:
    """Start the worker that times one symmetric product of the data, in our own interpreter."""
    entrant = Entrant(Result(case, DSYRK))
    entrant.start(sys.executable, [DSYRK, case.task, case.shape])
    return entrant


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


def measure_case(case: Case, methods: list[tuple[Method, Environment]], rounds: int) -> dict[str, Result]:
    """Measure some methods in one case, and a symmetric product of the data if we are among them."""
    entrants: dict[str, Entrant] = {}
    try:
        for method, environment in methods:
            entrants[method.name] = _enter(case, method, environment)
        if OURS in entrants:
            entrants[DSYRK] = _enter_dsyrk(case)
        _play(entrants, case, rounds)
    finally:
        for entrant in entrants.values():
            entrant.close()
    return {name: entrant.result for name, entrant in entrants.items()}
