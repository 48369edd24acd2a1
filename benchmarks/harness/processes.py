"""Persistent workers: processes that wait on standard input; commands and answers are JSON lines."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.harness.environments import last_line

ROOT = Path(__file__).resolve().parents[2]
"""Where workers start, so that they import this package."""
THREAD_SETTINGS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NPROC",  # XLA: the size of its pool
    "PJRT_NPROC",
)
ONE_THREAD = {**dict.fromkeys(THREAD_SETTINGS, "1"), "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
WALL_LIMIT = 400
PATIENCE = 10


class WorkerError(Exception):
    """A worker ended or was stopped; the text says why."""


def _settings(python: str) -> dict[str, str]:
    """One thread for every numerical library; only our own interpreter keeps PYTHONPATH."""
    kept = {k: v for k, v in os.environ.items() if python == sys.executable or k != "PYTHONPATH"}
    return {**kept, **ONE_THREAD}


class Worker:
    """A running worker; it is blocked on standard input unless it has been asked for something."""

    def __init__(
        self, python: str, module: str, arguments: list[str], settings: dict[str, str] | None = None
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._pending = b""
        try:
            self._process = subprocess.Popen(
                [python, "-m", module, *arguments],
                cwd=ROOT,
                env={**_settings(python), **(settings or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as error:
            self._errors.close()
            raise WorkerError(f"could not start: {last_line(str(error))}") from error

    def ask(self, command: str) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise WorkerError(self._why()) from None
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Wait for the next JSON line, for no longer than the limit."""
        deadline = time.monotonic() + WALL_LIMIT
        while b"\n" not in self._pending:
            self._pending += self._read(deadline - time.monotonic())
        line, _, self._pending = self._pending.partition(b"\n")
        record: dict[str, Any] = json.loads(line)
        return record

    def _read(self, seconds: float) -> bytes:
        """Return what the worker has written, once there is something."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], max(seconds, 0.0))[0]:
            raise WorkerError(f"stopped after {WALL_LIMIT} s")
        chunk = os.read(self._process.stdout.fileno(), 2**16)
        if not chunk:
            raise WorkerError(self._why())
        return chunk

    def _why(self) -> str:
        """Say why a worker ended without its answer."""
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if code == -signal.SIGKILL:
            return "killed (out of memory?)"
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace")
        return last_line(text) if code >= 0 else f"ended by {signal.Signals(-code).name}: {last_line(text)}"

    def close(self, kill: bool = False) -> None:
        """End the process, at once or by closing its input, and wait for it."""
        if kill:
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
