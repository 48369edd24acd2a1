"""Which sign is the decimal one: decided by all numbers of a table, or refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.intake.kinds import read_words, words_of
from horseshoe.intake.messages import TableError, counted, shown
from horseshoe.intake.numerals import CODE, MISSING, NUMBER, NUMERAL, OPEN, SHOWN, SIGNS, parse_words
from horseshoe.intake.text_layout import SPACES

_SHOWN = {sign: re.compile(pattern) for sign, pattern in SHOWN.items()}
_TWICE = {"point": re.compile(r",\d{3},"), "comma": re.compile(r"\.\d{3}\.")}
_OPEN = re.compile(OPEN)


@dataclass
class DecimalEvidence:
    """How a column writes numbers: what some of its words show, and one that may be read in two ways.

    ``shown`` has the first word that shows a sign and its row, ``doubtful`` the first that shows none.
    """

    known: int = 0
    numbers: int = 0
    shown: dict[str, tuple[int, str]] = field(default_factory=dict)
    doubtful: tuple[int, str] | None = None

    def add(self, word: str, row: int, times: int = 1) -> None:
        """Take a word into account that stands in a row, counted from 1, and in others.

        Examples
        --------
        >>> writing = DecimalEvidence()
        >>> for row, word in enumerate(["7.805", "12", "0,5"], 1):
        ...     writing.add(word, row)
        >>> writing.doubtful, writing.shown
        ((1, '7.805'), {'comma': (3, '0,5')})
        """
        if word in MISSING:
            return
        self.known += times
        sign = next((sign for sign, pattern in _SHOWN.items() if pattern.fullmatch(word)), None)
        doubtful = sign is None and _OPEN.fullmatch(word) is not None
        if sign is not None:
            self.shown.setdefault(sign, (row, word))
        elif doubtful and self.doubtful is None:
            self.doubtful = row, word
        self.numbers += times * bool(sign or doubtful or NUMBER.fullmatch(word))

    @property
    def numeric(self) -> bool:
        """Whether at least half of its words are numbers in some way of writing."""
        return 0 < self.known <= 2 * self.numbers


class Decimals(NamedTuple):
    """The decimal sign of a table, None where no number shows it, and those of columns with another one."""

    sign: str | None
    own: Mapping[str, str]


def decide_decimal_sign(
    columns: Mapping[str, DecimalEvidence], table: str, usual: str | None = None, decimal: str | None = None
) -> Decimals:
    """Return the sign that the numbers of a table show.

    A number such as 0,11 or 1.234,5 shows its decimal sign, and 7.805 does not: the point may stand between
    thousands. So the other numbers of the table decide, in whatever column they are. Where these show both
    signs, only a column that shows its own is read.

    Parameters
    ----------
    columns : dict of str to DecimalEvidence
        What the columns show.
    table : str
        What the table is called.
    usual : {"point", "comma"}, optional
        The sign where no number shows one; without it, numbers that may be read in two ways are refused.
    decimal : {"point", "comma"}, optional
        The sign that the user names, whatever the numbers show.

    Examples
    --------
    >>> sales, change = DecimalEvidence(), DecimalEvidence()
    >>> sales.add("7.805", 1)
    >>> change.add("-0,11", 1)
    >>> decide_decimal_sign({"sales": sales, "change": change}, "it")
    Decimals(sign='comma', own={})
    >>> decide_decimal_sign({"sales": sales}, "it")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: sales is 7.805 in row 1, and no number in it shows whether ...
    """
    if decimal is not None:
        return Decimals(decimal, {})
    numeric = {name: column for name, column in columns.items() if column.numeric}
    votes = Counter(sign for column in numeric.values() for sign in column.shown)
    if len(votes) == 1:
        return Decimals(next(iter(votes)), {})
    doubtful = {
        name: column.doubtful
        for name, column in numeric.items()
        if column.doubtful is not None and not column.shown
    }
    if doubtful and usual is None:
        raise TableError(_doubt(doubtful, numeric, table))
    if not votes:
        return Decimals(usual if doubtful else None, {})
    sign = max(votes, key=lambda one: votes[one])
    own = {name: next(iter(column.shown)) for name, column in numeric.items() if len(column.shown) == 1}
    own |= {name: str(usual) for name in doubtful}
    return Decimals(sign, {name: one for name, one in own.items() if one != sign})


def _doubt(
    doubtful: Mapping[str, tuple[int, str]], numeric: Mapping[str, DecimalEvidence], table: str
) -> str:
    name, (row, word) = next(iter(doubtful.items()))
    others = f" (and so are the numbers of {counted(len(doubtful) - 1, 'other column')})"
    found = {
        sign: f"{column.shown[sign][1]} in {shown(other)}"
        for other, column in numeric.items()
        for sign in column.shown
    }
    why = (
        f"{table} has both decimal points ({found['point']}) and decimal commas ({found['comma']})"
        if found
        else f"no number in {table} shows whether the decimal sign is the point or the comma"
    )
    return (
        f"{shown(name)} is {word} in row {row}{others if len(doubtful) > 1 else ''}, and {why}: "
        "say which it is with --decimal point or --decimal comma"
    )


def search_sign(chunks: Iterable[str], delimiter: str) -> set[str]:
    r"""Return the signs that fields of a text show, in one quick pass; some fields may be parts of words.

    Each chunk begins with the end of the line before it.

    Examples
    --------
    >>> search_sign(["\n7.805;-0,11\n"], ";")
    {'comma'}
    >>> search_sign(['\n1,5\n2,5\n'], ","), search_sign(['\n"1,5",7\n'], ",")
    (set(), {'comma'})
    """
    patterns = {sign: _field(SHOWN[sign], delimiter, quoted=delimiter == SIGNS[sign]) for sign in SIGNS}
    found = set[str]()
    for chunk in chunks:
        found |= {
            sign
            for sign, pattern in patterns.items()
            if sign not in found and _may_show(chunk, sign) and pattern.search(chunk)
        }
        if len(found) == len(SIGNS):
            break
    return found


def _may_show(chunk: str, sign: str) -> bool:
    """Tell at once of most texts that no field shows a sign: it is not there, nor are groups such as .567."""
    return SIGNS[sign] in chunk or _TWICE[sign].search(chunk) is not None


def search_codes(chunks: Iterable[str], delimiter: str) -> bool:
    r"""Tell whether a field of a text is a whole number with a leading zero.

    Examples
    --------
    >>> search_codes(["\n01067,2\n"], ","), search_codes(["\n1067,0.2,0\n"], ",")
    (True, False)
    """
    pattern = _field(CODE.pattern, delimiter)
    quick = re.compile(r"[\s,;|\"]0\d")
    return any(quick.search(chunk) and pattern.search(chunk) for chunk in chunks)


def _field(pattern: str, delimiter: str, quoted: bool = False) -> re.Pattern[str]:
    """Return the pattern of a whole field; ``quoted`` fields may hold the delimiter."""
    ends = '"' if quoted else r'\s"' if delimiter == SPACES else rf'\n"{re.escape(delimiter)}'
    return re.compile(rf"[{ends}] *{pattern} *(?=[{ends}]|\Z)")


def columns_with_codes(rows: Iterable[list[str]]) -> set[int]:
    """Return the places of the columns in which a whole number has a leading zero.

    Examples
    --------
    >>> columns_with_codes([["1067", "1"], ["01067", "0"]])
    {0}
    """
    return {
        place
        for row in rows
        for place, word in enumerate(row)
        if word[:1] == "0" and len(word) > 1 and word.isdigit()
    }


def writing_of(rows: Iterable[list[str]], names: Sequence[str]) -> dict[str, DecimalEvidence]:
    """Return how each column of rows of fields writes its numbers; a column without a name is left out.

    Examples
    --------
    >>> writing_of([["7.805", "x"], ["12", "y"]], ["sales", ""])["sales"].doubtful
    (1, '7.805')
    """
    found = {name: DecimalEvidence() for name in names if name}
    for number, row in enumerate(rows, 1):
        for name, word in zip(names, row, strict=False):  # the lengths of rows are checked elsewhere
            if name:
                found[name].add(word.strip(), number)
    return found


def text_columns(frame: Any, words: Collection[str] = ()) -> list[str]:
    """Return the columns of a frame that hold texts, but for those that hold the words of categories.

    Examples
    --------
    >>> import pandas
    >>> text_columns(pandas.DataFrame({"a": ["1,5"], "b": [2], "c": ["x"]}), ["c"])
    ['a']
    """
    kinds = zip(frame.columns, map(str, frame.dtypes), strict=True)
    return [
        name for name, kind in kinds if kind in ("object", "str", "string") and name and name not in words
    ]


def writing_of_words(series: Any) -> DecimalEvidence:
    """Return how a column of texts writes its numbers.

    Examples
    --------
    >>> import pandas
    >>> writing_of_words(pandas.Series([None, "0,5", "0,5"])).shown
    {'comma': (2, '0,5')}
    """
    found = DecimalEvidence()
    try:
        codes, words = words_of(series)
    except TypeError:  # nested values, which are refused where they are used
        return found
    times = np.bincount(codes[codes >= 0], minlength=len(words))
    first = np.zeros(len(words) + 1, dtype=int)
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    for code, word in enumerate(words):
        found.add(word, int(first[code]) + 1, int(times[code]))
    return found


def numbers_written(
    series: Any, name: str, sign: str, plain: bool = False
) -> tuple[Vector, tuple[str, ...]] | None:
    """Return the numbers of a column of texts and what is said of them; None if some are no numbers.

    Columns of plain numbers alone are left to those who look at columns, unless ``plain`` asks for them too.

    Examples
    --------
    >>> import pandas
    >>> numbers, notes = numbers_written(pandas.Series(["7.805", "12", None]), "sales", "comma")
    >>> numbers.tolist(), notes
    ([7805.0, 12.0, nan], ('sales: numbers with points between thousands',))
    """
    try:
        codes, words = words_of(series)
    except TypeError:
        return None
    parsed = parse_words(words, sign)
    if parsed.wrong.any() or not (plain or any(_needs(sign, word) for word in {*words} - {*parsed.absent})):
        return None
    return read_words(name, codes, words, parsed)


def _needs(sign: str, word: str) -> bool:
    """Tell whether a number is another one, or none, to who does not know the sign."""
    return not NUMERAL.fullmatch(word) or (sign == "comma" and "." in word)
