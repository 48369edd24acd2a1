"""How identifiers, dates and truth values look."""

from __future__ import annotations

import re

import numpy as np

from horseshoe._types import Vector

# More different whole numbers than this are taken for measurements without a word.
MOST_CODES = 10
# With fewer rows nothing can be said of all-different values.
FEW_ROWS = 5

# Words for false and true.
PAIRS = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("neg", "pos"),
    ("negative", "positive"), ("absent", "present"), ("nein", "ja"), ("non", "oui"), ("0", "1"),
)  # fmt: skip

# A number with a sign or a unit beside it: 5 %, $3.20, <0.5, 12 mg/dl.
_MONTH = "(?:jan|feb|m[aä]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?(?:\s*(?:z|utc|[+-]\d{2}:?\d{2}))?"
_DAY = (
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:\d{{4}}|\d{{2}})|\d{{1,2}}[ "
    rf".-]+{_MONTH}[ .,-]+\d{{2,4}}|{_MONTH}[ .]+\d{{1,2}},?[ ]+\d{{4}}|\d{{4}}-\d{{2}}"
)
DATE = re.compile(rf"(?:{_DAY})(?:[t, ]\s*{_CLOCK})?|{_CLOCK}", re.IGNORECASE)
WHOLE = re.compile(r"-?[1-9]\d*\.0+|0\.0+")
MEASURED = re.compile(
    r"[<>=~≤≥+-]*\s*[$€£¥]?\s*[+-]?\d[\d.,]*\s*(?:%|[$€£¥]|°?[^\W\d_]{1,4}(?:/[^\W\d_]{1,4})?)?"
)
COUNTER = re.compile(
    r"(?:.*[ _.-])?(?:id|ids|uuid|guid|index|idx|key|nr|number|row|rowid|rownames|row_names)|.*[a-z]ID",
    re.ASCII,
)


def counts_up(values: Vector) -> bool:
    """Tell whether numbers are 0, 1, 2, ... or 1, 2, 3, ...

    Examples
    --------
    >>> counts_up(np.array([1, 2, 3])), counts_up(np.array([1, 2, 4]))
    (True, False)
    """
    return bool(values[0] in (0, 1) and (np.diff(values) == 1).all())


def names_rows(name: str, known: Vector) -> bool:
    """Tell whether numbers count up, or are whole and all different under a name such as id.

    Examples
    --------
    >>> names_rows("patient_id", np.array([7.0, 12.0, 3.0, 9.0, 4.0]))
    True
    """
    if known.size < FEW_ROWS:
        return False
    if counts_up(known):
        return True
    if not COUNTER.fullmatch(name if name.endswith("ID") else name.lower()):
        return False
    return bool((known == np.round(known)).all()) and np.unique(known).size == known.size


def may_be_codes(known: Vector) -> bool:
    """Tell whether numbers are few whole ones from 1 on, as grades are, and the numbers of groups.

    Counts and doses begin at 0, and years say what they are.

    Examples
    --------
    >>> may_be_codes(np.tile([1.0, 2.0, 4.0], 5)), may_be_codes(np.tile([0.0, 1.0, 2.0], 5))
    (True, False)
    """
    if not known.size or known.min() < 1 or known.max() > 999 or not (known == np.round(known)).all():
        return False
    return 3 <= np.unique(known).size <= min(MOST_CODES, known.size // FEW_ROWS)


def is_calendar(known: Vector) -> bool:
    """Tell whether whole numbers are dates written as 20240131.

    Examples
    --------
    >>> is_calendar(np.array([20240131.0, 20231224.0]))
    True
    """
    if known.min() < 19000101 or known.max() > 21001231 or not (known == np.round(known)).all():
        return False
    month, day = known // 100 % 100, known % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())
