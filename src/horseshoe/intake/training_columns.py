"""The columns of a question: usable, in the rows that are kept, without gaps, with their levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask
from horseshoe.intake.columns import (
    Ingredient,
    check_exposure,
    check_usable,
    check_weights,
    with_levels,
)
from horseshoe.intake.formula import Formula
from horseshoe.intake.kinds import Column, describe_columns, level
from horseshoe.intake.messages import TableError, counted, listed, option, shown
from horseshoe.intake.missing_policy import check_filled, unpenalized_columns
from horseshoe.intake.missing_values import filled, gaps_error, gaps_of, typical, whole_rows
from horseshoe.intake.ordered_target import read_levels
from horseshoe.intake.patterns import may_be_codes
from horseshoe.intake.placeholders import check_placeholders
from horseshoe.intake.request import FitRequest
from horseshoe.intake.survival_target import check_entry, read_role
from horseshoe.intake.target import read_target

IMPUTED_ONCE = (
    "values filled in once are taken as if they had been measured, so intervals come out too narrow"
)


class Prepared(NamedTuple):
    """The columns, the target and the values of each role in the rows kept, and what was done to them."""

    columns: dict[str, Column]
    ingredients: tuple[Ingredient, ...]
    target: Column
    known: dict[str, Any]
    kept: Mask
    imputed: dict[str, int]
    rows_imputed: int
    dropped: dict[str, str]
    dropped_gaps: dict[str, int]
    notes: tuple[str, ...]


def prepare(frame: Any, request: FitRequest, formula: Formula | None, features: Sequence[str]) -> Prepared:
    """Return what is asked about and what explains it, ready to be encoded.

    Examples
    --------
    >>> import pandas
    >>> from horseshoe.intake.missing_policy import MissingPolicy
    >>> frame = pandas.DataFrame({"a": [1.0, 2.0, None], "b": [1, 1, 1], "y": [3.0, 2.0, 5.0]})
    >>> ready = prepare(frame, FitRequest("y", missing=MissingPolicy("drop")), None, ("a", "b"))
    >>> ready.kept, ready.dropped
    (array([ True,  True, False]), {'b': 'only one value (1)'})
    """
    columns, empty = _columns(frame, request, formula, features)
    if request.levels is None:
        target = read_target(frame, str(request.target), request.family, request.categorical, request.numeric)
    else:
        target = read_levels(frame, str(request.target), request.levels)
    known = {role: read_role(frame, role, name, request.event_value) for role, name in request.roles.items()}
    check_weights(known.get("weights"))
    check_exposure(known.get("exposure"))
    check_entry(target, known.get("entry"))
    numbers = [column for role, column in known.items() if role not in ("event", "strata")]
    check_placeholders([*columns.values(), target, *numbers], request.numeric)
    needed = {target.name: target, **{column.name: column for column in known.values()}}
    unpenalized = unpenalized_columns(request.unpenalized, formula, features)
    rows = _rows(needed, columns, request, unpenalized, len(frame))
    kept = rows.kept
    fixed = _fixed(
        {name: column.take(kept) for name, column in columns.items()}, request, formula, unpenalized
    )
    dropped = empty | fixed.constant
    heard = [note for column in (*columns.values(), *needed.values()) for note in column.notes]
    left_out = [f"{shown(name)} left out: {reason}" for name, reason in dropped.items()]
    return Prepared(
        fixed.columns,
        fixed.ingredients,
        target.take(kept),
        {role: _values(column.take(kept)) for role, column in known.items()},
        kept,
        fixed.imputed,
        fixed.rows_imputed,
        dropped,
        rows.dropped_gaps,
        (
            *_few(heard, "more note of this kind", "more notes of this kind"),
            *_codes(fixed.columns, request.numeric),
            *_few(left_out, "more column left out", "more columns left out"),
            *rows.notes,
            *fixed.notes,
        ),
    )


def _values(column: Column) -> Any:
    """Return the numbers of a column without gaps, or its words."""
    return np.array(column.words)[column.codes] if column.numbers is None else column.numbers


def _columns(
    frame: Any, request: FitRequest, formula: Formula | None, features: Sequence[str]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Return the columns that can be used, and those that have no values; refuse all others."""
    factors = () if formula is None else formula.factors
    found = describe_columns(frame, features, {*request.categorical, *factors}, set(request.numeric))
    empty = {name: "no values" for name, column in found.items() if column.kind == "empty"}
    if formula is not None and empty:
        raise TableError(f"formula: {listed(empty)} has no values: take it out")
    check_usable(found.values())
    if len(empty) == len(found):
        raise TableError(f"no column is left to explain {shown(request.target)}: the others have no values")
    return {name: column for name, column in found.items() if name not in empty}, empty


class _Rows(NamedTuple):
    """The rows kept, how many missing values of each column the others have, and what is said of them."""

    kept: Mask
    dropped_gaps: dict[str, int]
    notes: list[str]


def _rows(
    needed: Mapping[str, Column],
    columns: Mapping[str, Column],
    request: FitRequest,
    unpenalized: Sequence[str],
    count: int,
) -> _Rows:
    """Return the rows to keep: a target is never filled in, and neither are its companions."""
    gaps, holes = gaps_of(needed), gaps_of(columns)
    ways = request.missing
    refused = {name: gap for name, gap in {**gaps, **holes}.items() if ways.of(name) == "error"}
    if refused:
        advice = "Leave the rows out with --missing drop, or fill in the columns with --missing median"
        raise gaps_error(refused, advice)
    companions = {column: role for role, column in request.roles.items()}
    if request.event is not None or str(request.target) in ways.named:
        companions[str(request.target)] = "target"
    check_filled({**gaps, **holes}, ways, companions, unpenalized)
    without = whole_rows(gaps, count)
    holes = {name: gap for name, gap in holes.items() if ways.of(name) == "drop"}
    kept = whole_rows({**gaps, **holes}, count)
    if kept.all() and count < 2:
        raise TableError(
            f"the table has {counted(count, 'row')}: a fit needs at least 2, and more to be of use"
        )
    if kept.sum() < 2:
        raise TableError(
            f"{counted(int(kept.sum()), 'row')} of {count:,} left without missing "
            "values: drop the emptiest columns, or use --missing median"
        )
    notes = [f"{counted(int((~without).sum()), 'row')} without {listed(gaps)} left out"] if gaps else []
    if (without & ~kept).any():
        worst = sorted(holes, key=lambda name: -int(holes[name].sum()))
        notes.append(
            f"{counted(int((without & ~kept).sum()), 'row')} with "
            f"missing values left out ({listed(worst, most=5)})"
        )
    return _Rows(kept, {name: int(gap.sum()) for name, gap in {**gaps, **holes}.items()}, notes)


class _Fixed(NamedTuple):
    """The columns of the rows kept, without gaps and with their levels, and how that was done."""

    columns: dict[str, Column]
    ingredients: tuple[Ingredient, ...]
    constant: dict[str, str]
    imputed: dict[str, int]
    rows_imputed: int
    notes: tuple[str, ...]


def _fixed(
    columns: Mapping[str, Column], request: FitRequest, formula: Formula | None, unpenalized: Sequence[str]
) -> _Fixed:
    constant = {
        name: f"only one value ({_only(column)})" for name, column in columns.items() if column.constant
    }
    if formula is not None:  # which may ask for a constant; its encoded columns are looked at later
        constant = {}
    if len(constant) == len(columns):
        raise TableError(f"no column is left to explain {shown(request.target)}: each has one value only")
    given = {} if formula is None else {atom.names[0]: atom.levels for atom in formula.atoms if atom.levels}
    fixed, ingredients, imputed, references = {}, [], list[str](), list[str]()
    for name, column in columns.items():
        if name in constant:
            continue
        by_name = name not in unpenalized or name in request.missing.named
        fill = typical(column) if request.missing.of(name) == "median" and by_name else None
        if fill is not None and column.missing.any():
            times = counted(int(column.missing.sum()), "missing value")
            imputed.append(f"{shown(name)}: {times} filled in with {shown(level(fill))}")
            column = filled(column, fill)
        levels = _levels(column, given.get(name, ())) if column.numbers is None else ()
        if levels:
            references.append(f"{shown(name)}: reference level {shown(levels[0])}")
            column = with_levels(column, levels)
        fixed[name] = column
        ingredients.append(Ingredient(name, column.kind, levels, fill))
    notes = (
        *_few(imputed, "more column filled in", "more columns filled in"),
        *_few(references, "more factor with a reference level", "more factors with reference levels"),
    )
    gaps = gaps_of({name: columns[name] for name in fixed})
    cells = {name: int(gap.sum()) for name, gap in gaps.items()}
    rows = int(np.logical_or.reduce(list(gaps.values())).sum()) if gaps else 0
    return _Fixed(
        fixed, tuple(ingredients), constant, cells, rows, (*notes, *([IMPUTED_ONCE] if imputed else []))
    )


def _codes(columns: Mapping[str, Column], numeric: Collection[str]) -> list[str]:
    """Say which columns are taken as numbers that may be names of groups."""
    found = [
        name
        for name, column in columns.items()
        if name not in numeric and column.numbers is not None and may_be_codes(column.numbers)
    ]
    if not found:
        return []
    few = "a few whole numbers" if len(found) == 1 else "a few whole numbers each"
    say = f"if {'they name' if len(found) == 1 else 'some name'} groups, say so with"
    return [f"{listed(found, most=5)}: {few}, taken as measured; {say} {option('categorical', found[0])}"]


def _only(column: Column) -> str:
    known = np.flatnonzero(~column.missing)
    return shown(column.value(int(known[0]))) if known.size else "none"


def _levels(column: Column, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the levels, the reference first: no of yes and no, else the most frequent one."""
    codes = np.asarray(column.codes)
    counts = np.bincount(codes[codes >= 0], minlength=len(column.words))
    present = [word for word, count in zip(column.words, counts, strict=True) if count]
    if given:
        strange = [word for word in present if word not in given]
        if strange:
            raise TableError(
                f"formula: {shown(column.name)} has levels that C() does not name: {listed(strange)}"
            )
        return given
    first = present[0] if column.kind == "truth" else column.words[int(counts.argmax())]
    return (first, *(word for word in present if word != first))


def _few(notes: list[str], one: str, several: str, most: int = 10) -> list[str]:
    """Return the first notes, and how many more there are of ``one`` or of ``several`` things."""
    more = len(notes) - most
    return notes if more <= 0 else [*notes[:most], f"and {more:,} {one if more == 1 else several}"]
