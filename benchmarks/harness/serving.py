"""The side of a worker: a job, and the loop that obeys commands about it.

A worker does everything up to the end of its first run and says what that took; then it waits on standard
input for commands, one JSON line each, until its input is closed. Every answer is one JSON line on standard
output; whatever a library prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TextIO

Record = dict[str, Any]


class Job(ABC):
    """What a worker can be asked for."""

    @abstractmethod
    def first(self) -> Record:
        """Prepare, run once and say what that took."""

    @abstractmethod
    def time(self) -> Record:
        """Time one run."""

    def quality(self) -> Record:
        """Compare the fits of further data with the truth, where there is one."""
        return {}


def serve(job: Job, commands: TextIO, answers: TextIO) -> None:
    """Prepare, then obey every command until the input is closed."""
    actions: dict[str, Callable[[], Record]] = {"time": job.time, "quality": job.quality}
    print(json.dumps(job.first()), file=answers, flush=True)
    for line in iter(commands.readline, ""):
        print(json.dumps(actions[json.loads(line)]()), file=answers, flush=True)


def serve_process(make: Callable[[], Job]) -> None:
    """Serve a job over this process's streams; what is printed from here on goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(make(), sys.stdin, answers)
