"""A table and what is asked of it: the question that an estimator can answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.intake.columns import by_name, frame_of
from horseshoe.intake.design import Design
from horseshoe.intake.fitted_ranges import range_of
from horseshoe.intake.kinds import Column
from horseshoe.intake.leakage import find_leaks
from horseshoe.intake.messages import TableError
from horseshoe.intake.missing_policy import read_missing_policy
from horseshoe.intake.ordered_target import order_of, settle_levels
from horseshoe.intake.placeholders import with_gaps
from horseshoe.intake.read import Table
from horseshoe.intake.recipe import Recipe
from horseshoe.intake.request import FitRequest, check_request
from horseshoe.intake.survival_target import settle_lifetimes
from horseshoe.intake.target import settle
from horseshoe.intake.training_columns import Prepared, prepare


@dataclass(frozen=True, eq=False)
class PreparedProblem:
    """What is fitted, and all that was decided on the way to it.

    Attributes
    ----------
    X : pandas.DataFrame or columns of genotypes
        Numbers; a level of a category is the column ``city=Berlin``.
    y : array
        The target: numbers, labels where ``family`` is ``classes``, or events and times where it is
        ``survival``, as scikit-survival has them.
    weights, offset, exposure, entry, strata : array or None
        One value a row.
    family : str
        The name of a family, ``classes`` or ``survival``.
    likelihood : Family or None
        The family with its parameters, where some were asked for.
    classes : tuple
        The labels; of two, the probability of the second is modelled.
    recipe : Recipe or GenotypeRecipe
        How new rows are encoded.
    terms : dict
        The user's column, or the term of the formula, that each column of X stands for.
    notes : tuple of str
        What was recognised, guessed, left out and filled in, in sentences.
    warnings : tuple of str
        What may be wrong with the table: columns that nearly determine the target.
    fit_intercept : bool
        False after ``- 1`` in a formula.
    target, name : str
        The column asked about, and what the table is called.
    rows_read, rows_dropped, cells_imputed : int
        How many rows came in and were left out, and how many values were filled in.
    dropped_columns : dict
        Columns left out, and why.
    imputed_columns : dict
        Columns in which values were filled in, and how many.
    rows_imputed : int
        How many rows have a value that was filled in.
    dropped_gaps : dict
        Columns because of whose missing values rows were dropped, and how many values these are.
    """

    X: Any
    y: Any
    weights: Vector | None
    offset: Vector | None
    exposure: Vector | None
    family: str
    classes: tuple[Any, ...]
    recipe: Any
    terms: dict[str, str]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    fit_intercept: bool = True
    target: str = ""
    name: str = ""
    rows_read: int = 0
    rows_dropped: int = 0
    cells_imputed: int = 0
    dropped_columns: dict[str, str] = field(default_factory=dict)
    imputed_columns: dict[str, int] = field(default_factory=dict)
    rows_imputed: int = 0
    dropped_gaps: dict[str, int] = field(default_factory=dict)
    entry: Vector | None = None
    strata: Any = None
    likelihood: Any = None


def prepare_problem(
    table: Table,
    target: str | None = None,
    *,
    family: str | None = None,
    formula: str | None = None,
    weights: str | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    missing: str | Sequence[str] = "error",
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
    columns: Sequence[str] | None = None,
    event: str | None = None,
    entry: str | None = None,
    strata: str | None = None,
    quantile: float | None = None,
    levels: Sequence[str] | None = None,
    missing_values: Collection[Any] = (),
    unpenalized: Collection[str] = (),
) -> PreparedProblem:
    """Return what is asked of a table, ready to fit.

    Parameters
    ----------
    table : Table
        From `read_table`.
    target : str
        The column to explain; a formula may name it instead.
    family : str, optional
        A family, or ``classes``; by default what the values of the target suggest, which is said.
    formula : str, optional
        As ``y ~ a * b + log(c)``.
    weights, offset, exposure : str, optional
        Columns that hold them.
    missing : "error", "drop" or "median", or several texts
        What to do with missing values: refuse them, drop their rows, or fill them in with the median or the
        most frequent level. ``["median", "trt=drop"]`` says something else of one column. Columns in
        ``unpenalized`` are filled in only by name, and companions of the target never.
    drop, columns : names, optional
        Columns to leave out, or the only ones to use.
    categorical, numeric : names, optional
        Columns to take as categories or as numbers, whatever they look like.
    event : str, optional
        The column that says whether the event was seen at the time that the target holds, or the row is
        censored: 0 and 1, or words such as no and yes; ``status=dead`` names the value that means the event.
    entry, strata : str, optional
        With an event, columns that say from when on a row is at risk, and in which stratum it is.
    quantile : float, optional
        Which quantile of the target is modelled, 0.9 for one.
    levels : words, optional
        The levels of the target from the lowest to the highest; an ordered categorical has its order.
    missing_values : values, optional
        What stands for a missing value: -999 in any column, ``age=99`` in one. A value that looks like one
        and is not named here is asked about, unless its column is among ``numeric``.
    unpenalized : names, optional
        Columns, or terms of the formula, that the estimator is not going to penalise.

    Examples
    --------
    >>> from horseshoe.intake.read import read_table
    >>> question = prepare_problem(read_table("diabetes"), "progression")
    >>> question.X.shape, question.family
    ((442, 10), 'gaussian')
    >>> question.notes[-1]
    'progression holds numbers: family gaussian; --family chooses another'
    """
    only = None if columns is None else tuple(columns)
    ways = read_missing_policy(missing)
    request = FitRequest(
        target, family, formula, weights, offset, exposure, ways, tuple(drop), tuple(categorical)
    )
    request = replace(request, numeric=tuple(numeric), columns=only, event=event, entry=entry, strata=strata)
    request = replace(request, quantile=quantile, levels=None if levels is None else tuple(levels))
    request = replace(request, missing_values=tuple(map(str, missing_values)), unpenalized=tuple(unpenalized))
    return _answer(table, request)


def _answer(table: Table, request: FitRequest) -> PreparedProblem:
    frame = by_name(table.frame)
    request, formula, features = check_request(request, list(frame.columns), table.name)
    if request.family == "ordinal" and request.levels is None:
        request = replace(request, levels=order_of(frame, str(request.target)))
    used = (str(request.target), *features, *request.roles.values())
    frame, blanks = with_gaps(frame, request.missing_values, used, table.name)
    ready = prepare(frame, request, formula, features)
    if request.event is not None:
        target = settle_lifetimes(ready.target, request.event, ready.known, request.event_value)
    elif request.levels is not None:
        target = settle_levels(ready.target, request.levels)
    else:
        target = settle(ready.target, request.family, ready.known.get("exposure"), request.quantile)
    roles: dict[str, Any] = dict(request.roles)
    recipe = Recipe(
        str(request.target),
        target.family,
        ready.ingredients,
        encoded=(),
        missing=request.missing.rest,
        missing_in=dict(request.missing.named),
        formula=None if formula is None else formula.text,
        classes=target.classes,
        missing_values=request.missing_values,
        decimal=table.decimal,
        ranges=_ranges(ready, request),
        **roles,
    )
    design = recipe.design(ready.columns, np.flatnonzero(ready.kept))
    encoded = design.names if formula is None else _varying(design)
    X = frame_of(design, encoded, frame.index[ready.kept])
    return PreparedProblem(
        X,
        target.y,
        ready.known.get("weights"),
        ready.known.get("offset"),
        ready.known.get("exposure"),
        family=target.family,
        likelihood=target.likelihood,
        classes=target.classes,
        recipe=replace(recipe, encoded=encoded, fit_intercept=design.fit_intercept),
        terms={name: design.terms[name] for name in encoded},
        notes=(*table.notes_of(used), *blanks, *ready.notes, *target.notes),
        warnings=_leaks(ready.columns, X.to_numpy(), recipe, encoded, target.y),
        fit_intercept=design.fit_intercept,
        target=recipe.target,
        name=table.name,
        rows_read=len(frame),
        rows_dropped=int((~ready.kept).sum()),
        cells_imputed=sum(ready.imputed.values()),
        dropped_columns=ready.dropped,
        imputed_columns=ready.imputed,
        rows_imputed=ready.rows_imputed,
        dropped_gaps=ready.dropped_gaps,
        entry=ready.known.get("entry"),
        strata=ready.known.get("strata"),
    )


def _ranges(ready: Prepared, request: FitRequest) -> dict[str, tuple[float, float]]:
    """Return the ranges of all numbers that new rows have too."""
    known = {
        name: ready.known[role] for role, name in request.roles.items() if role in ("offset", "exposure")
    }
    numbers = {name: column.numbers for name, column in ready.columns.items() if column.numbers is not None}
    return {name: range_of(values) for name, values in (numbers | known).items()}


def _leaks(
    columns: Mapping[str, Column], X: Matrix, recipe: Recipe, encoded: tuple[str, ...], y: Any
) -> tuple[str, ...]:
    """Return warnings of columns that give the target away, or the event."""
    if recipe.event is None:
        return tuple(find_leaks(columns, X, encoded, y, recipe.target))
    of_time = find_leaks(columns, X, encoded, y["time"], recipe.target)
    return (*of_time, *find_leaks(columns, X, encoded, y["event"], recipe.event, "event"))


def _varying(design: Design) -> tuple[str, ...]:
    """Return the encoded columns that are not constant; a formula may make some that are."""
    spread = design.values.max(axis=0) > design.values.min(axis=0) if design.names else []
    names = tuple(name for name, varies in zip(design.names, spread, strict=True) if varies)
    if not names:
        raise TableError("formula: none of its columns varies from row to row")
    return names
