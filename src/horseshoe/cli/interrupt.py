"""Ctrl-C: the program ends at once, whatever it was doing, and prints how to resume.

Nothing is raised: an exception could come up in the middle of an import or of a library's clean-up, which
print tracebacks of their own. Files are safe without one: they are whole at any moment.
"""

from __future__ import annotations

import os
import shlex
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from horseshoe._visible import visible

# Clears the line of a progress bar, and brings the cursor back.
CLEAR = "\r\x1b[K\x1b[?25h"


class Interrupt:
    """Handles Ctrl-C: what is printed, and which drafts are removed.

    Examples
    --------
    >>> interrupt = Interrupt()
    >>> interrupt.arguments = ["reproduce", "table3", "--fresh", "--out", "my results"]
    >>> interrupt.results_begun()
    >>> interrupt.message()
    "horseshoe: stopped. What was computed is kept; to go on: horseshoe reproduce table3 --out 'my results'"
    """

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self.folder: Path | None = None

    def install(self, arguments: list[str]) -> None:
        """Take over Ctrl-C in a program with these arguments."""
        self.arguments = arguments
        signal.signal(signal.SIGINT, self)

    def results_begun(self) -> None:
        """Note that new results come in: from now on ``--fresh`` would set them aside."""
        self.arguments = [argument for argument in self.arguments if argument != "--fresh"]

    def message(self) -> str:
        """Return the text that is printed."""
        kept = any(argument.split("=")[0] == "--checkpoint" for argument in self.arguments)
        if self.arguments[:1] != ["reproduce"] and not kept:
            return "horseshoe: stopped."
        command = shlex.join(["horseshoe", *self.arguments])
        return f"horseshoe: stopped. What was computed is kept; to go on: {command}"

    def __call__(self, number: int, frame: Any) -> None:
        """End the program: what a signal calls."""
        signal.signal(number, signal.SIG_IGN)  # a second one must not come between
        with suppress(OSError):  # standard error may be closed
            os.write(
                2, f"{CLEAR if os.isatty(2) else ''}{visible(self.message())}\n".encode(errors="replace")
            )
        for draft in self.folder.rglob(f"*.{os.getpid()}.draft") if self.folder else ():
            draft.unlink(missing_ok=True)
        if os.name == "posix":  # the shell sees the signal and ends its loop too
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(130)


# That of this program.
INTERRUPT = Interrupt()
