"""Times, events, entries and strata as users hand them in, checked: each error names the row or the field."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.data.checks import read_array
from horseshoe.data.validation import CLASSES, check_labels, check_y, refuse_masked, refuse_sparse
from horseshoe.families.risk import Lifetimes

HOW = (
    "give a structured array with a field of bool (whether the event was seen) and one of times, as "
    "scikit-survival has it, or two columns: time, then event"
)
TRUE_OR_FALSE = "it must be True or False, or 1 and 0: whether the event was seen"


def check_lifetimes(
    y: Any,
    n_rows: int,
    entry: Any = None,
    strata: Any = None,
    weights: Vector | None = None,
    counted: bool = True,
) -> tuple[Lifetimes, Any]:
    """Return what was seen of each row, and the labels of the strata if there are any.

    Examples
    --------
    >>> seen, _ = check_lifetimes([[5.0, 1], [7.0, 0]], n_rows=2)
    >>> seen.time, seen.event
    (array([5., 7.]), array([ True, False]))
    """
    time, event = _time_and_event(y, n_rows)
    _refuse(
        time < 0.0,
        lambda row: (
            f"the time in row {row} is {time[row]:g}: times must not be negative; correct it, or, since only "
            "the order matters, add the same number to every time (and entry)"
        ),
    )
    sample = np.ones(n_rows) if weights is None else weights
    labels, stratum = None, np.zeros(n_rows, dtype=np.intp)
    if strata is not None:
        given = _check_labels(strata, n_rows)
        labels = np.unique(given[sample > 0.0])  # the others do not count
        stratum = np.minimum(np.searchsorted(labels, given), labels.size - 1)
    entered = np.full(n_rows, -np.inf)
    if entry is not None:
        entered = _numbers("entry", entry, n_rows)
        _refuse(
            entered >= time,
            lambda row: (
                f"entry in row {row} is {entered[row]:g}, and its time {time[row]:g}: a row must enter "
                "before its time, or it was never at risk"
            ),
        )
    return Lifetimes(time, event, entered, stratum, sample, counted), labels


def refuse_no_events(seen: Lifetimes, labels: Any) -> None:
    """Refuse rows, or a stratum, in which nothing happens; rows without a weight do not count.

    Examples
    --------
    >>> refuse_no_events(check_lifetimes([[5.0, 0], [7.0, 0]], n_rows=2)[0], None)
    Traceback (most recent call last):
    ValueError: y has no event: every row is censored, so nothing can be learned of who has one; where \
an event was seen, let y say True or 1
    """
    counted = seen.event & (seen.weights > 0.0)
    if not seen.event.any():
        raise ValueError(
            "y has no event: every row is censored, so nothing can be learned of who has one; where an event "
            "was seen, let y say True or 1"
        )
    if not counted.any():
        raise ValueError(
            "sample_weight: no event has a weight, so nothing can be learned of who has one; give rows with "
            "an event a weight above 0"
        )
    if labels is None:
        return
    events = np.bincount(seen.stratum[counted], minlength=len(labels))
    if not events.all():
        stratum = int(np.argmin(events))
        told = "no event with a weight" if (seen.event & (seen.stratum == stratum)).any() else "no event"
        raise ValueError(
            f"strata: {labels.tolist()[stratum]!r} has {told}, so it tells nothing and has no baseline "
            "hazard: leave out its rows, or join it with another stratum"
        )


def check_strata(strata: Any, known: Any, n_rows: int) -> Any:
    """Return the number of the stratum of each new row among those that were fitted.

    Examples
    --------
    >>> check_strata(["b", "a"], np.array(["a", "b"]), n_rows=2)
    array([1, 0])
    """
    if known is None:
        if strata is not None:
            raise ValueError("strata: the model was fitted without strata, so leave them out")
        return np.zeros(n_rows, dtype=np.intp)
    if strata is None:
        raise ValueError("strata: the model was fitted with strata, so say which stratum each row is in")
    given, places = _check_labels(strata, n_rows).tolist(), known.tolist()
    number = {label: place for place, label in enumerate(places)}
    row = next((row for row, label in enumerate(given) if label not in number), None)
    if row is not None:
        told = ", ".join(map(repr, places[:8]))
        raise ValueError(f"strata: {given[row]!r} in row {row} is none of those that were fitted: {told}")
    return np.array([number[label] for label in given], dtype=np.intp)


def _time_and_event(y: Any, n_rows: int) -> tuple[Vector, Mask]:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    refuse_sparse("y", y)
    refuse_masked("y", y)
    columns = getattr(y, "dtypes", None)
    array = read_array("y", y)
    if array.dtype.names is not None:
        return _fields(array, n_rows)
    if array.ndim == 2 and array.shape[1] == 2:
        if columns is not None and hasattr(y, "iloc"):  # a data frame, whose columns have their own types
            time, event = y.iloc[:, 0], y.iloc[:, 1]
        else:
            time, event = array[:, 0], array[:, 1]
        _refuse_words(event)
        return _numbers("y", time, n_rows), _events(event, n_rows)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
        raise ValueError(f"y has shape {array.shape}: {HOW}")
    return _numbers("y", y, n_rows), np.ones(n_rows, dtype=np.bool_)


def _fields(array: Any, n_rows: int) -> tuple[Vector, Mask]:
    """Return time and event of a structured array, whatever their order and their names."""
    kinds = [array.dtype[name].kind for name in array.dtype.names]
    if array.ndim != 1 or sorted(kinds) not in (["b", kind] for kind in "fiu"):
        told = ", ".join(f"{name} ({array.dtype[name]})" for name in array.dtype.names)
        raise ValueError(f"y has the fields {told} and shape {array.shape}: {HOW}")
    event, time = sorted(array.dtype.names, key=lambda name: array.dtype[name].kind != "b")
    return check_y(array[time], n_rows), np.ascontiguousarray(array[event])


def _refuse_words(event: Any) -> None:
    """Refuse words for the event: of "dead" and "alive" nobody but the user knows which was waited for."""
    values = np.asarray(event)
    if values.dtype.kind in "OUS":
        told = values.tolist()
        words = np.array([isinstance(one, str | bytes) for one in told], dtype=np.bool_)
        _refuse(words, lambda row: f"the event in row {row} of y is {told[row]!r}: {TRUE_OR_FALSE}")


def _events(event: Any, n_rows: int) -> Mask:
    values = np.asarray(event)
    if values.dtype.kind == "O" and all(isinstance(one, bool | np.bool_) for one in values):
        values = values.astype(np.bool_)
    if values.dtype.kind != "b":
        values = _numbers("event", values, n_rows)
        wrong = (values != 0.0) & (values != 1.0)
        _refuse(wrong, lambda row: f"the event in row {row} of y is {values[row]:g}: {TRUE_OR_FALSE}")
    return np.asarray(values, dtype=np.bool_)


def _check_labels(strata: Any, n_rows: int) -> Any:
    shape = np.shape(strata)
    if len(shape) != 1:
        raise ValueError(f"strata has shape {shape}: give a 1d array, one label for each row")
    return _named("strata", check_labels, strata, n_rows)


def _numbers(name: str, value: Any, n_rows: int) -> Vector:
    """Return numbers, checked as y is; words are no classes here."""
    try:
        return np.asarray(_named(name, check_y, value, n_rows))
    except ValueError as error:
        raise ValueError(str(error).replace(CLASSES, "")) from None


def _named(name: str, check: Any, value: Any, n_rows: int) -> Any:
    """Return what a check of y says of another argument, by its own name."""
    try:
        return check(value, n_rows)
    except (TypeError, ValueError) as error:
        raise type(error)(re.sub(r"\by\b", name, str(error))) from None


def _refuse(wrong: Any, told: Any) -> None:
    if wrong.any():
        raise ValueError(told(int(np.argmax(wrong))))
