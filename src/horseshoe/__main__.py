"""The program horseshoe: sparse regression from a table to an answer.

Usage: horseshoe [--help] [--version] COMMAND ...

Commands: fit, predict, show, sample, reproduce.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the program, or say which extra it needs."""
    from horseshoe.cli.interrupt import INTERRUPT

    INTERRUPT.install(sys.argv[1:])  # before anything that takes time
    from horseshoe._extras import require

    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
    except ImportError as error:
        _help_without_commands(str(error))
    from horseshoe.cli.app import app
    from horseshoe.cli.terminal import BROKEN_PIPE

    try:
        app()
    except BrokenPipeError:  # the reader has closed the pipe, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    except Exception as error:
        _report_bug(error)


def _help_without_commands(missing: str) -> None:
    """Answer --help and --version where the packages of the commands are not installed; refuse all else."""
    from horseshoe import __version__

    arguments = sys.argv[1:] or ["--help"]
    if arguments == ["--version"]:
        print(f"horseshoe {__version__}")
    elif arguments == ["--help"]:
        print(__doc__, "The library is installed, the packages of its commands are not.", missing, sep="\n")
    else:
        print(f"horseshoe: {missing}", file=sys.stderr)
    sys.exit(0 if arguments in (["--version"], ["--help"]) else 2)


def _report_bug(error: Exception) -> None:
    """Say that the program is at fault, and end with 1; the traceback is for whoever asks for it."""
    if os.environ.get("HORSESHOE_DEBUG"):
        raise error
    from horseshoe._visible import visible

    reason = visible(f"{type(error).__name__}: {error}".strip())
    print(
        f"horseshoe: this is a fault of horseshoe, not of your data: {reason}\n"
        "Please report it with the output of the same command after HORSESHOE_DEBUG=1.",
        file=sys.stderr,
    )
    sys.exit(1)


if __name__ == "__main__":
    main()
