"""Numbers, names and lists as they are written in sentences."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from horseshoe._visible import visible
from horseshoe.report.number_text import DIGITS, format_number, format_together

# So many names are told one by one.
MINUS, INFINITY = "\N{MINUS SIGN}", "\N{INFINITY}"
FEW = 6
# Characters of a name in a sentence; of a longer one the beginning and the end are shown.
LONGEST = 60
ISOLATE, END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def typeset(number: str, sign: bool = False) -> str:
    """Return a written number with the signs of mathematics; a plus too where ``sign`` is asked for.

    Examples
    --------
    >>> typeset("-20.6"), typeset("5.7", sign=True), typeset("0", sign=True), typeset("inf")
    ('−20.6', '+5.7', '0', '∞')
    """
    written = number.replace("-", MINUS).replace("inf", INFINITY)
    positive = sign and not written.startswith(MINUS) and any(one in "123456789∞" for one in written)
    return f"+{written}" if positive else written


def numeral(value: float, sign: bool = False) -> str:
    """Write a number that has no interval.

    Examples
    --------
    >>> numeral(-0.012345), numeral(2934.4)
    ('−0.0123', '2,934')
    """
    return typeset(format_number(value), sign)


def numerals(
    values: Sequence[float],
    write: Callable[[Sequence[float], int], list[str]] = format_together,
    digits: int = DIGITS,
) -> list[str]:
    """Write numbers that belong together, as a coefficient and the ends of its interval.

    Examples
    --------
    >>> numerals([-20.593, -33.92, -9.29])
    ['−20.6', '−33.9', '−9.3']
    """
    return [typeset(number) for number in write(values, digits)]


def percent_of(value: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent_of(0.95), percent_of(0.4975), percent_of(0.999)
    ('95 %', '49.8 %', '99.9 %')
    """
    return f"{100.0 * value:.3g} %"


def counted(number: int, noun: str) -> str:
    """Write how many there are.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def listed(words: Sequence[str]) -> str:
    """Put words in a row.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def list_or_count(words: Sequence[str], noun: str, most: int = FEW) -> str:
    """List a few words; of more say how many there are.

    Examples
    --------
    >>> list_or_count(["a", "b"], "columns"), list_or_count(["a"] * 9, "columns")
    ('a and b', '9 columns')
    """
    return listed(words) if len(words) <= most else f"{len(words):,} {noun}"


def named(name: object) -> str:
    """Return a name for a sentence: not too long, visible, and kept from turning the words around it about.

    Examples
    --------
    >>> named("age"), named(" "), named("a" * 100)[38:46], named("\N{HEBREW LETTER ALEF}")[0] == ISOLATE
    ('age', '(no name)', 'aa...aaa', True)
    """
    text = visible(" ".join(str(name).split())) or "(no name)"
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 20]}...{text[-17:]}"
    turns = any(unicodedata.bidirectional(one) in ("R", "AL", "AN") for one in text)
    return f"{ISOLATE}{text}{END}" if turns else text
