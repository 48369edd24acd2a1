"""A recipe in words: which columns stand for which, how categories are encoded, what fills gaps."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from horseshoe.intake.columns import Ingredient
from horseshoe.intake.kinds import Column
from horseshoe.intake.messages import TableError, counted, listed, shown
from horseshoe.intake.recipe import Recipe

if TYPE_CHECKING:
    from horseshoe.intake.problem import PreparedProblem


def terms_of(recipe: Recipe) -> dict[str, str]:
    """Return the user's column, or the term of the formula, that each encoded column stands for.

    Examples
    --------
    >>> from horseshoe.intake.columns import Ingredient
    >>> terms_of(Recipe("y", "gaussian", (Ingredient("sex", "category", ("f", "m")),), ("sex=m",)))
    {'sex=m': 'sex'}
    """
    if not recipe.ingredients:  # genotypes: each stands for itself
        return {}
    terms = {name: name for name in recipe.encoded}
    with suppress(TableError):  # a formula may have no value at these numbers; then each stands for itself
        terms |= recipe.design({each.name: _example(each) for each in recipe.ingredients}, np.arange(1)).terms
    return {name: terms[name] for name in recipe.encoded}


def _example(each: Ingredient) -> Column:
    """Return a column of one row: terms do not depend on the values."""
    if each.levels:
        return Column(each.name, each.kind, codes=np.zeros(1, dtype=np.int64), words=each.levels)
    return Column(each.name, each.kind, numbers=np.full(1, 0.5))


def encodings_of(recipe: Recipe) -> tuple[tuple[str, str], ...]:
    """Return how each category is encoded.

    Examples
    --------
    >>> from horseshoe.intake.columns import Ingredient
    >>> encodings_of(Recipe("y", "gaussian", (Ingredient("sex", "category", ("f", "m")),), ("sex=m",)))
    (('sex', '2 levels, compared with f'),)
    """
    return tuple(
        (name, f"{counted(len(levels), 'level')}, compared with {shown(levels[0])}")
        for name, levels in recipe.levels.items()
    )


def fillings_of(recipe: Recipe, cells: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return what the missing values of columns were taken to be; ``cells`` says of which, and how many.

    A recipe has a value for every column, because new rows may have gaps where those of the fit had none.

    Examples
    --------
    >>> from horseshoe.intake.columns import Ingredient
    >>> both = (Ingredient("age", "number", fill=41.5), Ingredient("bmi", "number", fill=27.0))
    >>> fillings_of(Recipe("y", "gaussian", both, ("age", "bmi"), "median"), {"age": 3})
    (('age', '3 missing values taken to be 41.5'),)
    """
    return tuple(
        (each.name, f"{counted(cells[each.name], 'missing value')} taken to be {_value(each.fill)}")
        for each in recipe.ingredients
        if each.fill is not None and each.name in cells
    )


def gaps_of_rows(gaps: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return how many missing values of each column had their rows dropped.

    Examples
    --------
    >>> gaps_of_rows({"trt": 106})
    (('trt', '106 missing values'),)
    """
    return tuple((name, counted(number, "missing value")) for name, number in gaps.items())


def missing_sentences(question: PreparedProblem) -> tuple[str, ...]:
    """Return what was done with missing values, in sentences for the methods of a paper.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> asked = SimpleNamespace(imputed_columns={"age": 3, "sex": 1}, cells_imputed=4, rows_imputed=3,
    ...                         dropped_gaps={"trt": 2}, rows_read=40, rows_dropped=2)
    >>> for sentence in missing_sentences(asked):
    ...     print(sentence)
    4 missing values in 3 rows were filled in with the median or the most frequent level: age (3), sex (1).
    Because of missing values, 2 of 40 rows were dropped: trt (2).
    """
    found = []
    if question.imputed_columns:
        values = counted(question.cells_imputed, "missing value")
        verb = "was" if question.cells_imputed == 1 else "were"
        found.append(
            f"{values} in {counted(question.rows_imputed, 'row')} {verb} filled in with the median or the "
            f"most frequent level: {_times(question.imputed_columns)}."
        )
    if question.dropped_gaps:
        rows = f"{question.rows_dropped:,} of {counted(question.rows_read, 'row')}"
        verb = "was" if question.rows_dropped == 1 else "were"
        found.append(f"Because of missing values, {rows} {verb} dropped: {_times(question.dropped_gaps)}.")
    return tuple(found)


def _times(cells: Mapping[str, int]) -> str:
    return listed((f"{name} ({number:,})" for name, number in cells.items()), most=50)


def _value(fill: float | str) -> str:
    return f"{fill:.6g}" if isinstance(fill, float | int) else shown(fill)
