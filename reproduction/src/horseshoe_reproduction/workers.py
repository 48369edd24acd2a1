"""Processes that work: each is sent a piece at a time, and answers it.

They are in sessions of their own, so that Ctrl-C in a terminal reaches the program alone. When the program
is gone, however it ended, their standard input ends, and so do they.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import Any

Worker = subprocess.Popen[bytes]
COMMAND = (sys.executable, "-P", "-c", "from horseshoe_reproduction.workers import serve; serve()")


class WorkerError(RuntimeError):
    """A process ended before its work did."""


def spread(function: Callable[[Any], Any], work: Sequence[Any], jobs: int) -> Iterator[Any]:
    """Yield what a function answers to each piece of work, as the answers come from processes.

    Examples
    --------
    >>> import math
    >>> sorted(spread(math.factorial, [5, 3, 4], jobs=2))
    [6, 24, 120]
    """
    count = min(jobs, len(work))
    idle: SimpleQueue[Worker] = SimpleQueue()

    def ask(piece: Any) -> Any:
        worker = idle.get()
        try:
            return _exchange(worker, (function, piece))
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            raise _ended(worker) from None
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(max(count, 1)) as threads, ExitStack() as workers:
        for _ in range(count):
            idle.put(workers.enter_context(_worker()))
        try:
            for answer in as_completed([threads.submit(ask, piece) for piece in work]):
                yield answer.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _worker() -> Iterator[Worker]:
    """Start a process that is gone in the end, whatever happens."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    worker = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, env=environment, start_new_session=True)
    try:
        yield worker
    finally:
        worker.kill()  # idle, or no longer wanted
        worker.communicate()


def _exchange(worker: Worker, asked: Any) -> Any:
    """Send a process what is asked, and wait for its answer."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    pickle.dump(asked, worker.stdin)
    worker.stdin.flush()
    return pickle.load(worker.stdout)


def _ended(worker: Worker) -> WorkerError:
    return WorkerError(
        f"a process ended in the middle of its work, with code {worker.wait()} (-9 is mostly a lack of "
        "memory); all results before are kept: start again, with fewer --jobs if it was that"
    )


def serve() -> None:
    """Answer what comes on standard input until it ends: what a worker runs."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    asked: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read, args=(asked,), daemon=True).start()
    while True:
        function, piece = asked.get()
        pickle.dump(function(piece), answers)
        answers.flush()


def _read(asked: SimpleQueue[Any]) -> None:
    """Pass on what comes on standard input; at its end the program is gone, and nobody wants the rest."""
    try:
        with os.fdopen(os.dup(0), "rb") as pieces:
            while True:
                asked.put(pickle.load(pieces))
    except EOFError:
        os._exit(0)
    except Exception:
        traceback.print_exc()
        os._exit(1)
