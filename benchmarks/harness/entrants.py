"""One method, or one version of it, in the rounds of a case: its worker and what was measured with it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.harness.environments import Environment
from benchmarks.harness.measure import Result
from benchmarks.harness.processes import Worker, WorkerError

WORKER = "benchmarks.harness.worker"
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

    def start(
        self, python: str, module: str, arguments: list[str], settings: dict[str, str] | None = None
    ) -> None:
        """Start the worker and take what it measured up to the end of its first fit."""
        say(f"{self.result.case.name} {self.result.method}: first run")
        try:
            self.worker = Worker(python, module, arguments, settings)
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


def enter(result: Result, place: Environment, arguments: list[str], stack: ExitStack) -> Entrant:
    """Start one entrant, to be ended with the stack; one without an interpreter has no turns."""
    result.reason = place.reason
    entrant = Entrant(result)
    stack.callback(entrant.close)
    if place.python is not None:
        entrant.start(place.python, WORKER, arguments)
    return entrant
