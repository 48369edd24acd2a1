"""Times until an event: whether it was seen, from when on a row is at risk, and in which stratum it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from horseshoe._types import Mask
from horseshoe.intake.columns import check_usable, numbers_of
from horseshoe.intake.kinds import Column, describe_columns, level
from horseshoe.intake.messages import TableError, counted, listed, option, shown
from horseshoe.intake.target import SURVIVAL, Target

NEEDED = "1 means that the event was seen, 0 that the row is censored"


def read_role(frame: Any, role: str, name: str, event_value: str | None = None) -> Column:
    """Return the column of a role: an event as 1 and 0, strata as words, all others as numbers.

    ``event_value`` is the value that means the event, where the user names it.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"status": ["dead", "alive"], "clinic": [3, 4]})
    >>> read_role(frame, "event", "status", "dead").numbers
    array([1., 0.])
    >>> read_role(frame, "strata", "clinic").words
    ('3', '4')
    """
    if role == "event":
        return _event(frame, name) if event_value is None else _named_event(frame, name, event_value)
    if role == "strata":
        return replace(_words(frame, name), notes=())
    return numbers_of(frame, name)


def _event(frame: Any, name: str) -> Column:
    """Return a column that says by itself what the event is: 0 and 1, or words such as no and yes."""
    column = describe_columns(frame, [name])[name]
    if column.kind == "empty":
        raise TableError(f"the event {shown(name)} has no values: name another column")
    if column.kind != "truth":
        raise TableError(f"event: {_which(_words(frame, name))}")
    if column.numbers is not None:
        return column
    no, yes = map(shown, column.words)
    note = f"{shown(name)}: {yes} is taken to mean that the event was seen, {no} censored"
    return _zero_one(column, np.asarray(column.codes) == 1, note)


def _words(frame: Any, name: str) -> Column:
    """Return a column as words, whatever it looks like."""
    column = describe_columns(frame, [name], categorical=[name])[name]
    check_usable([column])
    return column


def _which(column: Column) -> str:
    """Say why a column cannot be an event as it is, and how to ask."""
    name, words, codes = column.name, column.words, np.asarray(column.codes)
    if len(words) == 2:
        ways = " or ".join(option("event", f"{name}={word}") for word in words)
        values = " or ".join(map(shown, words))
        return f"{shown(name)} is {values}: say which of them means the event, {ways}"
    binary = [place for place, word in enumerate(words) if word in ("0", "1")]
    other = column.first((codes >= 0) & ~np.isin(codes, binary))
    return f"{other}: {NEEDED}; or name the value that means the event, {option('event', f'{name}=VALUE')}"


def _named_event(frame: Any, name: str, event_value: str) -> Column:
    """Return a column in which one value means the event, and all others are censored."""
    column, word = _words(frame, name), level(event_value)
    if word not in column.words:
        values = f"its values are {listed(column.words)}"
        raise TableError(f"event: {shown(name)} is {shown(event_value)} in no row: {values}")
    others = [each for each in column.words if each != word]
    note = f"{shown(name)}: {shown(word)} means that the event was seen"
    note += f", {listed(others, most=5)} that the row is censored" if others else ""
    return _zero_one(column, np.asarray(column.codes) == column.words.index(word), note)


def _zero_one(column: Column, seen: Mask, note: str) -> Column:
    return Column(column.name, "truth", np.where(column.missing, np.nan, seen.astype(float)), notes=(note,))


def check_entry(time: Column, entry: Column | None) -> None:
    """Refuse rows that enter when their time is over: they were never at risk.

    Examples
    --------
    >>> time, entry = Column("t", "number", np.array([5.0, 7.0])), Column("e", "number", np.array([0.0, 7.0]))
    >>> check_entry(time, entry)
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: e is 7 in row 2, and t is 7: a row must enter before its time, ...
    """
    if entry is None or time.numbers is None:
        return
    late = np.asarray(entry.numbers) >= time.numbers
    if late.any():
        more = f" (and so in {counted(int(late.sum()) - 1, 'other row')})" if late.sum() > 1 else ""
        until = f"{shown(time.name)} is {time.value(int(late.argmax()))}{more}"
        before = "a row must enter before its time, or it was never at risk"
        raise TableError(f"{entry.first(late)}, and {until}: {before}")


def settle_lifetimes(
    time: Column, event: str, known: Mapping[str, Any], event_value: str | None = None
) -> Target:
    """Return times and events as scikit-survival has them, and what is said of them.

    Examples
    --------
    >>> found = settle_lifetimes(Column("t", "number", np.array([5.0, 7.0])), "ill", {"event": np.ones(2)})
    >>> found.y.dtype.names, found.notes[0]
    (('event', 'time'), 't is the time until ill: 2 events, 0 rows censored')
    """
    if time.numbers is None:
        raise TableError(
            f"the target {shown(time.name)} holds words ({listed(time.words, most=3)}): a time is a number"
        )
    if time.constant:
        raise TableError(
            f"the target {shown(time.name)} is {time.value(0)} in every row, so that nobody has the event "
            f"before others: explain the event itself with {option('target', event)}"
        )
    seen = known["event"] == 1.0
    if not seen.any():
        raise TableError(f"event: {shown(event)} was seen in no row that is left: nothing can be learned")
    y = np.empty(seen.size, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = seen, time.numbers
    many = f"{counted(int(seen.sum()), 'event')}, {counted(int((~seen).sum()), 'row')} censored"
    until = event if event_value is None else f"{event}={event_value}"
    notes = [f"{shown(time.name)} is the time until {shown(until)}: {many}"]
    if "strata" in known:
        number = np.unique(known["strata"]).size
        notes.append(f"{number:,} {'stratum' if number == 1 else 'strata'}, compared within each only")
    return Target(y, SURVIVAL, (), tuple(notes))
