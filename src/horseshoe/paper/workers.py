"""Processes that work: each is sent a line of JSON at a time, and answers with a line.

They are in sessions of their own: Ctrl-C in a terminal reaches this process alone, which ends them. When it
is gone without having done so, they end by themselves, since there is nobody left to read from.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any

Worker = subprocess.Popen[bytes]
RUNNING: set[Worker] = set()
"""All that were started here and have not ended."""


class WorkerError(RuntimeError):
    """A process ended before its work did."""


def spread(function: str, work: list[Any], jobs: int) -> Iterator[Any]:
    """Yield what a function answers to each piece of work, as the answers come.

    Parameters
    ----------
    function : str
        A module and the name of a function in it, from JSON to JSON.
    work : list
        What it is called with; None is no work.
    jobs : int
        How many processes.

    Examples
    --------
    >>> sorted(spread("math:factorial", [5, 3, 4], jobs=2))
    [6, 24, 120]
    """
    left = iter(work)
    with DefaultSelector() as selector, _workers(function, min(jobs, len(work))) as workers:
        for worker, piece in zip(workers, left, strict=False):
            selector.register(_stdout(worker), EVENT_READ, worker)
            _send(worker, piece)
        while selector.get_map():
            for key, _ in selector.select():
                worker = key.data
                yield _answer(worker)
                piece = next(left, None)
                if piece is None:
                    selector.unregister(key.fileobj)
                else:
                    _send(worker, piece)


@contextmanager
def _workers(function: str, count: int) -> Iterator[list[Worker]]:
    """Start processes that are gone in the end, whatever happens."""
    command = [sys.executable, "-P", "-c", "from horseshoe.paper.workers import serve; serve()", function]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    workers: list[Worker] = []
    try:
        pipe = subprocess.PIPE
        for _ in range(count):
            worker = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True
            )
            RUNNING.add(worker)
            workers.append(worker)
        yield workers
    finally:
        for worker in workers:
            worker.kill()  # idle, or no longer wanted
            worker.communicate()
            RUNNING.discard(worker)


def _send(worker: Worker, piece: Any) -> None:
    assert worker.stdin is not None
    try:
        worker.stdin.write(json.dumps(piece).encode() + b"\n")
        worker.stdin.flush()
    except BrokenPipeError:
        raise _ended(worker) from None


def _stdout(worker: Worker) -> IO[bytes]:
    assert worker.stdout is not None
    return worker.stdout


def _answer(worker: Worker) -> Any:
    line = _stdout(worker).readline()
    if not line.endswith(b"\n"):
        raise _ended(worker)
    return json.loads(line)


def _ended(worker: Worker) -> WorkerError:
    return WorkerError(
        f"a process ended in the middle of its work, with code {worker.wait()} (-9 is mostly a lack of "
        "memory); all results before are kept: start again, with fewer --jobs if it was that"
    )


def serve() -> None:
    """Answer lines of standard input until there are no more: what a worker runs."""
    module, _, name = sys.argv[1].partition(":")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    try:
        function = getattr(import_module(module), name)
        for line in sys.stdin:
            answers.write(json.dumps(function(json.loads(line))).encode() + b"\n")
            answers.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody is there any more
