"""A table and what is asked of it, prepared for an estimator."""

from __future__ import annotations

from collections.abc import Mapping
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
from horseshoe.intake.ordered_target import order_of, settle_levels
from horseshoe.intake.placeholders import with_gaps
from horseshoe.intake.read import Table
from horseshoe.intake.recipe import Recipe
from horseshoe.intake.request import FitRequest, check_request
from horseshoe.intake.survival_target import settle_lifetimes
from horseshoe.intake.target import Target, settle
from horseshoe.intake.training_columns import TrainingColumns, prepare_columns


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
    family: str
    classes: tuple[Any, ...]
    recipe: Any
    terms: dict[str, str]
    notes: tuple[str, ...]
    target: str
    name: str
    rows_read: int
    rows_dropped: int
    weights: Vector | None = None
    offset: Vector | None = None
    exposure: Vector | None = None
    entry: Vector | None = None
    strata: Any = None
    likelihood: Any = None
    warnings: tuple[str, ...] = ()
    fit_intercept: bool = True
    dropped_columns: dict[str, str] = field(default_factory=dict)
    imputed_columns: dict[str, int] = field(default_factory=dict)
    rows_imputed: int = 0
    dropped_gaps: dict[str, int] = field(default_factory=dict)

    @property
    def cells_imputed(self) -> int:
        """How many values were filled in."""
        return sum(self.imputed_columns.values())


def prepare_problem(table: Table, target: str | None = None, **options: Any) -> PreparedProblem:
    """Return what is to be fitted to a table, ready to fit.

    Parameters
    ----------
    table : Table
        From `read_table`.
    target : str
        The column to explain; a formula may name it instead.
    **options
        The parameters of `horseshoe.intake.request.FitRequest`.

    Examples
    --------
    >>> from horseshoe.intake.read import read_table
    >>> problem = prepare_problem(read_table("diabetes"), "progression")
    >>> problem.X.shape, problem.family
    ((442, 10), 'gaussian')
    >>> problem.notes[-1]
    'progression holds numbers: family gaussian; --family chooses another'
    """
    request = FitRequest.of(target, **options)
    frame = by_name(table.frame)
    request, formula, features = check_request(request, list(frame.columns), table.name)
    if request.family == "ordinal" and request.levels is None:
        request = replace(request, levels=order_of(frame, str(request.target)))
    used = (str(request.target), *features, *request.roles.values())
    frame, blanks = with_gaps(frame, request.missing_values, used, table.name)
    ready = prepare_columns(frame, request, formula, features)
    answer = _target(ready, request)
    roles: dict[str, Any] = dict(request.roles)
    recipe = Recipe(
        str(request.target),
        answer.family,
        ready.ingredients,
        encoded=(),
        missing=request.missing.rest,
        missing_in=dict(request.missing.named),
        formula=None if formula is None else formula.text,
        classes=answer.classes,
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
        answer.y,
        answer.family,
        answer.classes,
        replace(recipe, encoded=encoded, fit_intercept=design.fit_intercept),
        {name: design.terms[name] for name in encoded},
        (*table.notes_of(used), *blanks, *ready.notes, *answer.notes),
        recipe.target,
        table.name,
        rows_read=len(frame),
        rows_dropped=int((~ready.kept).sum()),
        likelihood=answer.likelihood,
        warnings=_leaks(ready.columns, X.to_numpy(), recipe, encoded, answer.y),
        fit_intercept=design.fit_intercept,
        dropped_columns=ready.dropped,
        imputed_columns=ready.imputed,
        rows_imputed=ready.rows_imputed,
        dropped_gaps=ready.dropped_gaps,
        **{role: values for role, values in ready.roles.items() if role != "event"},
    )


def _target(ready: TrainingColumns, request: FitRequest) -> Target:
    """Return the target as it is fitted: times and events, ordered levels, or what its values suggest."""
    if request.event is not None:
        return settle_lifetimes(ready.target, request.event, ready.roles, request.event_value)
    if request.levels is not None:
        return settle_levels(ready.target, request.levels)
    return settle(ready.target, request.family, ready.roles.get("exposure"), request.quantile)


def _ranges(ready: TrainingColumns, request: FitRequest) -> dict[str, tuple[float, float]]:
    """Return the ranges of all numbers that new rows have too."""
    numbers = {name: column.numbers for name, column in ready.columns.items() if column.numbers is not None}
    known = (role for role in ("offset", "exposure") if role in ready.roles)
    numbers |= {request.roles[role]: ready.roles[role] for role in known}
    return {name: range_of(values) for name, values in numbers.items()}


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
