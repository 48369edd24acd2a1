"""Words that are numbers, and words that say a value is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from horseshoe._types import Mask, Vector

# Words that stand for a missing value in any column. None is a level in many a table, so it is not one.
MISSING = (
    "", "NA", "N/A", "n/a", "na", "N.A.", "n.a.", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "NULL",
    "Null", "null", "?", ".", "-", "--", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!",
)  # fmt: skip

# Words that stand for a missing value where all other values are numbers.
ABSENT = frozenset({
    "none", "missing", "unknown", "not available", "not applicable", "nil", "*", "**", "n.d.", "nd",
    "not known", "k.a.",
})  # fmt: skip

# The decimal signs, by name.
SIGNS = {"point": ".", "comma": ","}

# A number that says nothing of the decimal sign, or says that it is the point.
SPACES, APOSTROPHES = " \u00a0\u2009\u202f", "'\u2019"
NUMERAL = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
NUMBER = re.compile(rf"{NUMERAL.pattern}|[+-]?[1-9]\d{{0,2}}(?:[{SPACES}{APOSTROPHES}]\d{{3}})+")

# A whole number with a leading zero: a postcode or an id, not a quantity.
CODE = re.compile(r"0\d+")

_THOUSANDS = r"[1-9]\d{0,2}"


def _shows(sign: str, other: str) -> str:
    """Return the pattern of numbers that can be read only with ``sign`` as the decimal sign."""
    plain = rf"(?!{_THOUSANDS}{sign}\d{{3}}(?!\d|[eE]))\d*{sign}\d+(?:[eE][+-]?\d+)?"
    groups = rf"(?:{other}\d{{3}})+{sign}\d+|(?:{other}\d{{3}}){{2,}}"
    neutral = "|".join(rf"(?:[{signs}]\d{{3}})+{sign}\d+" for signs in (SPACES, APOSTROPHES))
    return rf"[+-]?(?:{plain}|{_THOUSANDS}(?:{groups}|{neutral}))"


# Patterns of numbers that show which sign is the decimal one: 0,11 and 1.234,5, but not 7,805.
SHOWN = {"point": _shows(r"\.", ","), "comma": _shows(",", r"\.")}

# The pattern of the others: 7.805 is between 7 and 8 or between 7,000 and 8,000.
OPEN = rf"[+-]?{_THOUSANDS}[.,]\d{{3}}"


class Parsed(NamedTuple):
    """Words as numbers: NaN where one is absent or no number, which are no numbers, and a note."""

    values: Vector
    wrong: Mask
    absent: tuple[str, ...]
    note: str | None


def parse_words(words: Sequence[str], decimal: str | None = None) -> Parsed:
    """Return the numbers that different words are, in the one way of writing that fits most of them.

    ``decimal`` is ``point`` or ``comma`` where the table has shown which sign it is.

    Examples
    --------
    >>> parsed = parse_words(["1,234.5", "12", "unknown", "x"])
    >>> parsed.values, parsed.wrong
    (array([1234.5,   12. ,    nan,    nan]), array([False, False, False,  True]))
    >>> parsed.absent, parsed.note
    (('unknown',), 'commas between thousands')
    >>> parse_words(["7.805", "12"], "comma").values
    array([7805.,   12.])
    """
    absent = {word for word in words if word.casefold() in ABSENT}
    known, note = _best({word for word in words if word not in absent}, decimal)
    values = np.array([known.get(word, np.nan) for word in words], dtype=float)
    wrong = np.array([word not in absent and word not in known for word in words], dtype=bool)
    return Parsed(values, wrong, tuple(sorted(absent)), note)


def _best(words: set[str], decimal: str | None) -> tuple[dict[str, float], str | None]:
    """Return the words that are numbers in the way that fits most; the first of `WAYS` where several do."""
    best: tuple[dict[str, float], str | None] = ({}, None)
    for way in WAYS:
        if decimal in (None, way.decimal):
            known = {word: value for word in words if (value := way.read(word)) is not None}
            if len(known) > len(best[0]):
                best = known, way.note
    return best


class Way(NamedTuple):
    """A way of writing numbers: the decimal sign, the signs between thousands, and what is said of it."""

    decimal: str
    groups: str
    note: str | None

    def read(self, word: str) -> float | None:
        """Return the number that a word is, or None if it is none in this way.

        Examples
        --------
        >>> Way("point", "'", None).read("1'234.5"), Way("point", "'", None).read("1 234.5")
        (1234.5, None)
        """
        plain = word
        if self.groups and _grouped(self.groups, SIGNS[self.decimal]).fullmatch(word):
            plain = re.sub(f"[{self.groups}]", "", word)
        if self.decimal == "comma":
            if "." in plain:
                return None
            plain = plain.replace(",", ".")
        endless = plain.casefold().lstrip("+-") in ("inf", "infinity")
        return float(plain) if NUMERAL.fullmatch(plain) or endless else None


@cache
def _grouped(groups: str, sign: str) -> re.Pattern[str]:
    """Return the pattern of numbers with a sign of ``groups`` between thousands."""
    return re.compile(rf"[+-]?{_THOUSANDS}(?:[{groups}]\d{{3}})+(?:[{sign}]\d+)?")


# How numbers are written; thousands come before decimals, so 1,234 and 5,678 alone are whole numbers.
WAYS = (
    Way("point", "", None),
    Way("point", ",", "commas between thousands"),
    Way("comma", "", "decimal commas"),
    Way("comma", ".", "points between thousands"),
    Way("point", SPACES, "spaces between thousands"),
    Way("comma", SPACES, "spaces between thousands and decimal commas"),
    Way("point", APOSTROPHES, "apostrophes between thousands"),
    Way("comma", APOSTROPHES, "apostrophes between thousands and decimal commas"),
)
