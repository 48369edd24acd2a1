"""Words that are numbers, and words that say a value is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from farrier._types import Mask, Vector

MISSING = (
    "", "NA", "N/A", "n/a", "na", "N.A.", "n.a.", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "NULL",
    "Null", "null", "?", ".", "-", "--", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!",
)  # fmt: skip
"""Words that stand for a missing value in any column. None is a level in many a table, so it is not one."""

ABSENT = frozenset(
    {
        "none",
        "missing",
        "unknown",
        "not available",
        "not applicable",
        "nil",
        "*",
        "**",
        "n.d.",
        "nd",
        "not known",
        "k.a.",
    }
)
"""Words that stand for a missing value where all other values are numbers."""

NUMERAL = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
_COMMA = re.compile(r"[+-]?(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?")
_GROUPS = {
    ",": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
}
_APART = re.compile(r"[+-]?\d{1,3}(?:[ '\u00a0\u202f]\d{3})+(?:[.,]\d+)?")


class Parsed(NamedTuple):
    """Words as numbers: NaN where one is absent or no number, which are no numbers, and a note."""

    values: Vector
    wrong: Mask
    absent: tuple[str, ...]
    note: str | None


def parse_words(words: Sequence[str]) -> Parsed:
    """Return the numbers that different words are, in the one way of writing that fits most of them.

    Examples
    --------
    >>> parsed = parse_words(["1,234.5", "12", "unknown", "x"])
    >>> parsed.values, parsed.wrong
    (array([1234.5,   12. ,    nan,    nan]), array([False, False, False,  True]))
    >>> parsed.absent, parsed.note
    (('unknown',), 'commas between thousands')
    """
    absent = {word for word in words if word.casefold() in ABSENT}
    known, note = _best({word for word in words if word not in absent})
    values = np.array([known.get(word, np.nan) for word in words], dtype=float)
    wrong = np.array([word not in absent and word not in known for word in words], dtype=bool)
    return Parsed(values, wrong, tuple(sorted(absent)), note)


def _best(words: set[str]) -> tuple[dict[str, float], str | None]:
    """Return the words that are numbers in the way that fits most; the first of `WAYS` where several do."""
    tried = {note: {word: value for word in words if (value := way(word)) is not None} for note, way in WAYS}
    best = max(tried, key=lambda note: len(tried[note]))
    return tried[best], best


def _plain(word: str) -> float | None:
    return (
        float(word)
        if NUMERAL.fullmatch(word) or word.casefold().lstrip("+-") in ("inf", "infinity")
        else None
    )


def _with_comma(word: str) -> float | None:
    return float(word.replace(",", ".")) if _COMMA.fullmatch(word) else None


def _grouped(word: str, group: str, decimal: str) -> float | None:
    if not _GROUPS[group].fullmatch(word):
        return _plain(word) if decimal == "." else _with_comma(word)
    return float(word.replace(group, "").replace(decimal, "."))


def _apart(word: str) -> float | None:
    if not _APART.fullmatch(word):
        return _plain(word)
    return float(re.sub(r"[ '\u00a0\u202f]", "", word).replace(",", "."))


WAYS: tuple[tuple[str | None, Callable[[str], float | None]], ...] = (
    (None, _plain),
    ("commas between thousands", partial(_grouped, group=",", decimal=".")),
    ("decimal commas", _with_comma),
    ("points between thousands", partial(_grouped, group=".", decimal=",")),
    ("spaces between thousands", _apart),
)
"""How numbers are written; thousands come before decimals, so 1,234 and 5,678 alone are whole numbers."""
