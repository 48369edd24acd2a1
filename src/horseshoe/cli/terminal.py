"""What all commands print with: text for a console, notices, JSON; errors and warnings as sentences."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from horseshoe._visible import UNSAFE, visible
from horseshoe.cli.interrupt import INTERRUPT

# Columns of what is printed into a file or a pipe.
WIDE = 150
# The exit code after a closed pipe, as shells have it: 128 + SIGPIPE.
BROKEN_PIPE = 141
# What the words of an answer put around a name that is read from the right.
ISOLATES = "\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}"


class Output(Console):
    """A console that ends the program silently when its reader has closed the pipe, as `head` does."""

    def on_broken_pipe(self) -> None:
        """End the program with the exit code of a closed pipe."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(BROKEN_PIPE)


def standard_output() -> Console:
    """Return the console on standard output: as wide as the terminal or COLUMNS, else `WIDE`.

    Examples
    --------
    >>> standard_output().width > 0
    True
    """
    wide = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Output(width=WIDE if wide else None)


def line(text: str, style: str = "", keep: str = ISOLATES) -> Text:
    r"""Return a text for the console: what stands in names of users is shown, never obeyed.

    Examples
    --------
    >>> line("\x1b[31mred\tage", "dim").plain
    '\\x1b[31mred\\tage'
    """
    return Text(visible(text, keep), style=style)


def cell(text: str) -> Text:
    r"""Return a name or a number for a cell of a table.

    Examples
    --------
    >>> cell("\N{RIGHT-TO-LEFT OVERRIDE}age").plain
    '\\u202eage'
    """
    return line(text, keep="")


def print_notes(console: Console, found: Any) -> None:
    """Print the notes on the data, and the warnings."""
    for note in found.notes:
        console.print(line(note, "dim"))
    for warning in found.warnings:
        console.print(line(f"Warning: {warning}", "bold"))


def notice(text: str) -> None:
    """Print a text on standard error; a closed pipe is ignored."""
    with suppress(BrokenPipeError):
        typer.echo(visible(text, keep="\n"), err=True)


def write_data(text: str) -> None:
    """Write data to standard output as they are; in a terminal nothing in them is obeyed."""
    sys.stdout.write(visible(text, keep="\n") if sys.stdout.isatty() else text)


def json_text(value: Any) -> str:
    """Return data as JSON that every reader takes: no NaN, letters as they are, and no control characters.

    Examples
    --------
    >>> print(json_text({"a": [1, 2.5, None]}))
    {
     "a": [
      1,
      2.5,
      null
     ]
    }
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def command_line() -> str:
    """Return the command that runs, as one would type it."""
    return shlex.join(["horseshoe", *INTERRUPT.arguments])


# Advice for Python, and what it is on the command line.
PYTHON = {
    "ask for more n_draws, or for method='mode'": "see horseshoe sample with more --draws",
    "ask for about n_draws=": "ask for about --draws ",
}


def as_options(text: str) -> str:
    """Return advice with the options of the program in place of those of Python.

    Examples
    --------
    >>> as_options("the chains do not agree; ask for about n_draws=1000")
    'the chains do not agree; ask for about --draws 1000'
    """
    for python, option in PYTHON.items():
        text = text.replace(python, option)
    return text


@contextmanager
def warnings_as_notices() -> Iterator[None]:
    """Print the warnings of the library as sentences, each once, without the code they come from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for text in dict.fromkeys(as_options(str(warning.message)) for warning in caught):
                notice(f"horseshoe: {text}")


@contextmanager
def exit_with_message(*errors: type[Exception]) -> Iterator[None]:
    """Turn errors that the user can mend into a message without a traceback, and exit code 2.

    A package that is not installed and a file that cannot be read or written are such errors too.

    Examples
    --------
    >>> try:
    ...     with exit_with_message(ValueError):
    ...         raise ValueError("replicates=0 must be at least 1")
    ... except typer.Exit as end:
    ...     end.exit_code
    2
    """
    mendable: tuple[type[Exception], ...] = (ImportError, OSError, *errors)
    try:
        yield
    except BrokenPipeError:
        raise
    except mendable as error:
        notice(f"horseshoe: {error}")
        raise typer.Exit(code=2) from error
