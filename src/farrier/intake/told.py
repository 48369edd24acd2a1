"""A recipe in words: which columns stand for which, how categories are encoded, what fills gaps."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from farrier.intake.columns import Ingredient
from farrier.intake.kinds import Column
from farrier.intake.recipe import Recipe
from farrier.intake.words import TableError, counted, shown


def terms_of(recipe: Recipe) -> dict[str, str]:
    """Return the user's column, or the term of the formula, that each encoded column stands for.

    Examples
    --------
    >>> from farrier.intake.columns import Ingredient
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
    >>> from farrier.intake.columns import Ingredient
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
    >>> from farrier.intake.columns import Ingredient
    >>> both = (Ingredient("age", "number", fill=41.5), Ingredient("bmi", "number", fill=27.0))
    >>> fillings_of(Recipe("y", "gaussian", both, ("age", "bmi"), "impute"), {"age": 3})
    (('age', '3 missing values taken to be 41.5'),)
    """
    return tuple(
        (each.name, f"{counted(cells[each.name], 'missing value')} taken to be {_value(each.fill)}")
        for each in recipe.ingredients
        if each.fill is not None and each.name in cells
    )


def _value(fill: float | str) -> str:
    return f"{fill:.6g}" if isinstance(fill, float | int) else shown(fill)
