"""The columns of a fit: usable, in the rows that are kept, without gaps, with their levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask
from horseshoe.intake.columns import Ingredient, check_signs, check_usable, with_levels
from horseshoe.intake.formula import Formula
from horseshoe.intake.kinds import Column, describe_columns
from horseshoe.intake.messages import TableError, counted, listed, option, shown
from horseshoe.intake.missing_values import any_gap, check_imputed, fill_of, filled, gaps_of
from horseshoe.intake.ordered_target import read_levels
from horseshoe.intake.patterns import may_be_codes
from horseshoe.intake.placeholders import check_placeholders
from horseshoe.intake.request import FitRequest
from horseshoe.intake.survival_target import check_entry, read_role
from horseshoe.intake.target import read_target

IMPUTED_ONCE = (
    "values filled in once are taken as if they had been measured, so intervals come out too narrow"
)


class TrainingColumns(NamedTuple):
    """The columns, the target and the values of each role in the rows kept, and what was done to them."""

    columns: dict[str, Column]
    ingredients: tuple[Ingredient, ...]
    target: Column
    roles: dict[str, Any]
    kept: Mask
    imputed: dict[str, int]
    rows_imputed: int
    dropped: dict[str, str]
    dropped_gaps: dict[str, int]
    notes: tuple[str, ...]


def prepare_columns(
    frame: Any, request: FitRequest, formula: Formula | None, features: Sequence[str]
) -> TrainingColumns:
    """Return the target and what explains it, ready to be encoded.

    1. Describe all columns, and refuse those that cannot be used.
    2. Choose the rows by their missing values.
    3. Fill the other missing values in, and choose the levels of categories.

    Examples
    --------
    >>> import pandas
    >>> from horseshoe.intake.missing_values import MissingPolicy
    >>> frame = pandas.DataFrame({"a": [1.0, 2.0, None], "b": [1, 1, 1], "y": [3.0, 2.0, 5.0]})
    >>> ready = prepare_columns(frame, FitRequest("y", missing=MissingPolicy("drop")), None, ("a", "b"))
    >>> ready.kept, ready.dropped
    (array([ True,  True, False]), {'b': 'only one value (1)'})
    """
    # 1. what each column is
    described, dropped = _predictors(frame, request, formula, features)
    target, roles = _target_and_roles(frame, request)
    numbers = [column for role, column in roles.items() if role not in ("event", "strata")]
    check_placeholders([*described.values(), target, *numbers], request.numeric)
    # 2. the rows
    needed = {column.name: column for column in (target, *roles.values())}
    unpenalized = columns_of_terms(request.unpenalized, formula, features)
    kept, dropped_gaps, row_notes = _kept_rows(needed, described, request, unpenalized, len(frame))
    columns = {name: column.take(kept) for name, column in described.items()}
    constant = {} if formula is not None else _constant(columns, request)  # a formula may ask for one
    columns = {name: column for name, column in columns.items() if name not in constant}
    # 3. gaps and levels
    gaps, given = gaps_of(columns), {} if formula is None else formula.levels
    ingredients, imputed, references = list[Ingredient](), list[str](), list[str]()
    for name, column in columns.items():
        fills = name not in unpenalized or name in request.missing.named
        fill = fill_of(column) if fills and request.missing.of(name) == "median" else None
        if fill is not None and name in gaps:
            columns[name], note = filled(column, fill)
            imputed.append(note)
        levels = _levels(columns[name], given.get(name, ())) if column.numbers is None else ()
        if levels:
            references.append(f"{shown(name)}: reference level {shown(levels[0])}")
            columns[name] = with_levels(columns[name], levels)
        ingredients.append(Ingredient(name, column.kind, levels, fill))
    dropped |= constant
    left_out = [f"{shown(name)} left out: {reason}" for name, reason in dropped.items()]
    recognised = [note for column in (*described.values(), *needed.values()) for note in column.notes]
    notes = (
        *_few(recognised, "more note of this kind", "more notes of this kind"),
        *_codes(columns, request.numeric),
        *_few(left_out, "more column left out", "more columns left out"),
        *row_notes,
        *_few(imputed, "more column filled in", "more columns filled in"),
        *_few(references, "more factor with a reference level", "more factors with reference levels"),
        *([IMPUTED_ONCE] if imputed else []),
    )
    return TrainingColumns(
        columns,
        tuple(ingredients),
        target.take(kept),
        {role: column.take(kept).values for role, column in roles.items()},
        kept,
        {name: int(gap.sum()) for name, gap in gaps.items()},
        int(any_gap(gaps.values(), int(kept.sum())).sum()),
        dropped,
        dropped_gaps,
        notes,
    )


def columns_of_terms(
    terms: Sequence[str], formula: Formula | None, features: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns behind names of columns and terms of the formula.

    Examples
    --------
    >>> from horseshoe.intake.formula import parse_formula
    >>> formula = parse_formula("y ~ log(age):sex + dose")
    >>> columns_of_terms(["log(age):sex"], formula, formula.names)
    ('age', 'sex')
    """
    labels = {label for term in terms for label in (term, *term.split(":"))}
    atoms = () if formula is None else formula.atoms
    found = {*terms, *(name for atom in atoms if atom.label in labels for name in atom.names)}
    return tuple(name for name in features if name in found)


def _predictors(
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
        raise _none_left(request, "the others have no values")
    return {name: column for name, column in found.items() if name not in empty}, empty


def _target_and_roles(frame: Any, request: FitRequest) -> tuple[Column, dict[str, Column]]:
    name = str(request.target)
    if request.levels is None:
        target = read_target(frame, name, request.family, request.categorical, request.numeric)
    else:
        target = read_levels(frame, name, request.levels)
    roles = {role: read_role(frame, role, one, request.event_value) for role, one in request.roles.items()}
    check_signs(roles)
    check_entry(target, roles.get("entry"))
    return target, roles


def _kept_rows(
    needed: Mapping[str, Column],
    columns: Mapping[str, Column],
    request: FitRequest,
    unpenalized: Sequence[str],
    count: int,
) -> tuple[Mask, dict[str, int], list[str]]:
    """Return the rows to keep, the missing values of the others by column, and notes of these rows.

    Targets and columns with a role are never filled in: rows without them are dropped.
    """
    policy, gaps, holes = request.missing, gaps_of(needed), gaps_of(columns)
    advice = "Leave the rows out with --missing drop, or fill in the columns with --missing median"
    policy.kept_rows({**gaps, **holes}, count, advice)
    roles = {column: role for role, column in request.roles.items()}
    if request.event is not None or str(request.target) in policy.named:
        roles[str(request.target)] = "target"
    check_imputed({**gaps, **holes}, policy, roles, unpenalized)
    dropping = {name: gap for name, gap in holes.items() if policy.of(name) == "drop"}
    without = any_gap(gaps.values(), count)
    kept = ~(without | any_gap(dropping.values(), count))
    left, lost = int(kept.sum()), int((~without & ~kept).sum())
    if left < 2 and left == count:
        many = counted(count, "row")
        raise TableError(f"the table has {many}: a fit needs at least 2, and more to be of use")
    if left < 2:
        raise TableError(
            f"{counted(left, 'row')} of {count:,} left without missing values: drop the emptiest columns, or "
            "use --missing median"
        )
    notes = [f"{counted(int(without.sum()), 'row')} without {listed(gaps)} left out"] if gaps else []
    if lost:
        worst = sorted(dropping, key=lambda name: -int(dropping[name].sum()))
        notes.append(f"{counted(lost, 'row')} with missing values left out ({listed(worst, most=5)})")
    return kept, {name: int(gap.sum()) for name, gap in {**gaps, **dropping}.items()}, notes


def _constant(columns: Mapping[str, Column], request: FitRequest) -> dict[str, str]:
    """Return the columns with one value, and which; refuse if these are all."""
    constant = {name: f"only one value ({_only(one)})" for name, one in columns.items() if one.constant}
    if len(constant) == len(columns):
        raise _none_left(request, "each has one value only")
    return constant


def _none_left(request: FitRequest, why: str) -> TableError:
    return TableError(f"no column is left to explain {shown(request.target)}: {why}")


def _only(column: Column) -> str:
    known = np.flatnonzero(~column.missing)
    return shown(column.value(int(known[0]))) if known.size else "none"


def _codes(columns: Mapping[str, Column], numeric: Collection[str]) -> list[str]:
    """Return a note of the columns that are taken as numbers and may be names of groups."""
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


def _levels(column: Column, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the levels, the reference first: no of yes and no, else the most frequent one."""
    present = [word for word, count in zip(column.words, column.counts, strict=True) if count]
    strange = [word for word in present if given and word not in given]
    if strange:
        raise TableError(
            f"formula: {shown(column.name)} has levels that C() does not name: {listed(strange)}"
        )
    first = present[0] if column.kind == "truth" else column.words[int(column.counts.argmax())]
    return given or (first, *(word for word in present if word != first))


def _few(notes: list[str], one: str, several: str, most: int = 10) -> list[str]:
    """Return the first notes, and how many more there are of ``one`` or of ``several`` things."""
    more = len(notes) - most
    return notes if more <= 0 else [*notes[:most], f"and {more:,} {one if more == 1 else several}"]
