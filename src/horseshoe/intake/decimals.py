"""The decimal sign of a table, decided by all of its numbers, or refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Vector
from horseshoe.intake.kinds import read_words, words_of
from horseshoe.intake.messages import TableError, counted, shown
from horseshoe.intake.numerals import CODE, NUMBER, NUMERAL, OPEN, SHOWN, SIGNS, parse_words
from horseshoe.intake.text_layout import SPACES

_SHOWN = {sign: re.compile(pattern) for sign, pattern in SHOWN.items()}
_TWICE = {"point": re.compile(r",\d{3},"), "comma": re.compile(r"\.\d{3}\.")}
_OPEN = re.compile(OPEN)


class DecimalEvidence(NamedTuple):
    """How a column writes numbers.

    Attributes
    ----------
    numeric : bool
        Whether at least half of its words are numbers in some way of writing.
    shown : dict
        The first word that shows each decimal sign.
    doubtful : (int, str) or None
        The row, counted from 1, and the first word that may be read in two ways.
    """

    numeric: bool
    shown: dict[str, str]
    doubtful: tuple[int, str] | None


class Decimals(NamedTuple):
    """The decimal sign of a table, None where no number shows it, and those of columns with another one."""

    sign: str | None
    own: Mapping[str, str]


def evidence_of(series: Any) -> DecimalEvidence:
    """Return what a column of texts shows of its decimal sign.

    Examples
    --------
    >>> import pandas
    >>> evidence_of(pandas.Series(["7.805", None, "12", "0,5"]))
    DecimalEvidence(numeric=True, shown={'comma': '0,5'}, doubtful=(1, '7.805'))
    """
    shown, doubtful, numbers = dict[str, str](), None, 0
    try:
        codes, words = words_of(series)
    except TypeError:  # nested values, which are refused where they are used
        return DecimalEvidence(False, {}, None)
    known = codes[codes >= 0]
    distinct, first, times = np.unique(codes, return_index=True, return_counts=True)
    for place in np.argsort(first):
        if distinct[place] < 0:
            continue
        word = words[distinct[place]]
        sign = next((sign for sign, pattern in _SHOWN.items() if pattern.fullmatch(word)), None)
        if sign is not None:
            shown.setdefault(sign, word)
        elif _OPEN.fullmatch(word):
            doubtful = doubtful or (int(first[place]) + 1, word)
        elif not NUMBER.fullmatch(word):
            continue
        numbers += int(times[place])
    return DecimalEvidence(0 < known.size <= 2 * numbers, shown, doubtful)


def decide_decimal_sign(
    columns: Mapping[str, DecimalEvidence], table: str, usual: str | None = None
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

    Examples
    --------
    >>> sales = DecimalEvidence(True, {}, (1, "7.805"))
    >>> change = DecimalEvidence(True, {"comma": "0,11"}, None)
    >>> decide_decimal_sign({"sales": sales, "change": change}, "it")
    Decimals(sign='comma', own={})
    >>> decide_decimal_sign({"sales": sales}, "it")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: sales is 7.805 in row 1, and no number in it shows whether ...
    """
    numeric = {name: column for name, column in columns.items() if column.numeric}
    votes = Counter(sign for column in numeric.values() for sign in column.shown)
    if len(votes) == 1:
        return Decimals(next(iter(votes)), {})
    doubtful = {name: one.doubtful for name, one in numeric.items() if one.doubtful and not one.shown}
    if doubtful and usual is None:
        raise TableError(_doubt(doubtful, numeric, table))
    if not votes:
        return Decimals(usual if doubtful else None, {})
    sign = max(votes, key=lambda one: votes[one])
    own = {name: next(iter(column.shown)) for name, column in numeric.items() if len(column.shown) == 1}
    own |= dict.fromkeys(doubtful, str(usual))
    return Decimals(sign, {name: one for name, one in own.items() if one != sign})


def _doubt(
    doubtful: Mapping[str, tuple[int, str]], numeric: Mapping[str, DecimalEvidence], table: str
) -> str:
    """Say which number may be read in two ways, and why the table does not decide."""
    name, (row, word) = next(iter(doubtful.items()))
    others = f" (and so are the numbers of {counted(len(doubtful) - 1, 'other column')})"
    found = {
        sign: f"{example} in {shown(other)}"
        for other, column in numeric.items()
        for sign, example in column.shown.items()
    }
    why = f"no number in {table} shows whether the decimal sign is the point or the comma"
    if found:
        why = f"{table} has both decimal points ({found['point']}) and decimal commas ({found['comma']})"
    return (
        f"{shown(name)} is {word} in row {row}{others if len(doubtful) > 1 else ''}, and {why}: "
        "say which it is with --decimal point or --decimal comma"
    )


def search_signs(chunks: Iterable[str], delimiter: str) -> set[str]:
    r"""Return the signs that fields of a text show, in one quick pass; some fields may be parts of words.

    Each chunk begins with the end of the line before it.

    Examples
    --------
    >>> search_signs(["\n7.805;-0,11\n"], ";")
    {'comma'}
    >>> search_signs(['\n1,5\n2,5\n'], ","), search_signs(['\n"1,5",7\n'], ",")
    (set(), {'comma'})
    """
    found = set[str]()
    plain = {sign: _field(SHOWN[sign], delimiter) for sign in SIGNS}
    quoted = {sign: _field(SHOWN[sign], delimiter, quoted=True) for sign in SIGNS}
    for chunk in chunks:
        for sign in set(SIGNS) - found:
            # commas between commas are in quotation marks: most files have none, and are done at once
            inside = delimiter == "," and (sign == "comma" or "." not in chunk)
            if inside and '"' not in chunk:
                continue
            if SIGNS[sign] in chunk or _TWICE[sign].search(chunk):
                found |= {sign} if (quoted if inside else plain)[sign].search(chunk) else set()
        if len(found) == len(SIGNS):
            break
    return found


def search_codes(chunks: Iterable[str], delimiter: str) -> bool:
    r"""Tell whether a field of a text is a whole number with a leading zero.

    Examples
    --------
    >>> search_codes(["\n01067,2\n"], ","), search_codes(["\n1067,0.2,0\n"], ",")
    (True, False)
    """
    field = _field(CODE.pattern, delimiter)
    starts = ("\n", " ", '"', "\t" if delimiter == SPACES else delimiter)
    quick = [(f"{start}0", re.compile(rf"{re.escape(start)}0\d")) for start in starts]
    return any(
        field.search(chunk)
        for chunk in chunks
        if any(zero in chunk and pattern.search(chunk) for zero, pattern in quick)
    )


def _field(pattern: str, delimiter: str, quoted: bool = False) -> re.Pattern[str]:
    """Return the pattern of a whole field; ``quoted`` fields may hold the delimiter."""
    ends = '"' if quoted else r'\s"' if delimiter == SPACES else rf'\n"{re.escape(delimiter)}'
    return re.compile(rf"[{ends}] *{pattern} *(?=[{ends}]|\Z)")


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


def with_numbers(
    frame: Any, decimals: Decimals, words: Collection[str] = ()
) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """Return the frame with numbers in place of words such as 1.234,5, and the notes of each such column.

    Columns of plain numbers are left as they are: `describe_columns` reads them.

    Examples
    --------
    >>> import pandas
    >>> frame, notes = with_numbers(pandas.DataFrame({"sales": ["7.805", "12"]}), Decimals("comma", {}))
    >>> frame["sales"].tolist(), notes
    ([7805.0, 12.0], {'sales': ('sales: numbers with points between thousands',)})
    """
    found, notes = dict[str, Vector](), dict[str, tuple[str, ...]]()
    for name in text_columns(frame, words) if decimals.sign is not None else ():
        sign = decimals.own.get(name, str(decimals.sign))
        try:
            codes, distinct = words_of(frame[name])
        except TypeError:  # nested values, which are refused where they are used
            continue
        parsed = parse_words(distinct, sign)
        needed = name in decimals.own or any(_needs(sign, word) for word in {*distinct} - {*parsed.absent})
        if needed and not parsed.wrong.any():
            found[name], notes[name] = read_words(name, codes, distinct, parsed)
    return (frame.assign(**found) if found else frame), notes


def _needs(sign: str, word: str) -> bool:
    """Tell whether a number reads otherwise, or not at all, without the decimal sign."""
    return not NUMERAL.fullmatch(word) or (sign == "comma" and "." in word)
