"""The error of this room, and how names and values of users are put into sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

# Longer names and values are cut: an error is to be read on one screen.
LONGEST = 60


class TableError(ValueError):
    """A table cannot be read or used; the message says why and what to do.

    Examples
    --------
    >>> raise TableError("data.csv is empty")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: data.csv is empty
    """


def shown(text: Any, longest: int = LONGEST) -> str:
    r"""Return a name or a value as a message shows it: on one line, without control characters, not too long.

    Examples
    --------
    >>> print(shown("blood pressure"), shown("two\nlines"), shown(""), shown("x" * 100)[-4:])
    blood pressure 'two\nlines' '' x...
    """
    text = str(text)
    cut = text if len(text) <= longest else text[: longest - 3] + "..."
    return cut if cut.isprintable() and cut.strip() == cut and cut else repr(cut)


def listed(names: Iterable[Any], most: int = 10) -> str:
    """Return names in a row, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shown(name) for name in names[:most]) + more


def counted(number: int, thing: str) -> str:
    """Return a number of things, with an s where one belongs.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def figure(number: float) -> str:
    """Return a number as a message shows it: whole ones in full, others with six digits.

    Examples
    --------
    >>> figure(2000000.0), figure(-2.44146738), figure(1e300)
    ('2000000', '-2.44147', '1e+300')
    """
    return f"{number:.0f}" if number == round(number) and abs(number) < 1e15 else f"{number:.6g}"


def option(name: str, values: Sequence[Any] | Any) -> str:
    """Return an option of the command line as one would type it.

    Examples
    --------
    >>> option("drop", "patient id")
    "--drop 'patient id'"
    """
    plain = shown(values)
    quoted = (
        plain if plain.replace("_", "").replace("-", "").replace(".", "").isalnum() else repr(str(values))
    )
    return f"--{name} {quoted}"


def near(name: str, names: Iterable[str]) -> str:
    """Return a question that suggests what may have been meant; nothing if no name is near.

    Examples
    --------
    >>> near("progresion", ["age", "progression"])
    ': did you mean progression?'
    """
    lowered = {str(each).casefold(): str(each) for each in names}
    found = get_close_matches(str(name).casefold(), list(lowered), n=3, cutoff=0.6)
    return f": did you mean {' or '.join(shown(lowered[each]) for each in found)}?" if found else ""
