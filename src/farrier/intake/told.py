"""A recipe in words: which columns stand for which, how categories are encoded, what fills gaps."""

from __future__ import annotations

from farrier.intake.recipe import Recipe
from farrier.intake.words import counted, shown


def terms_of(recipe: Recipe) -> dict[str, str]:
    """Return the user's column that each encoded column stands for; of a formula each stands for itself.

    Examples
    --------
    >>> from farrier.intake.columns import Ingredient
    >>> terms_of(Recipe("y", "gaussian", (Ingredient("sex", "category", ("f", "m")),), ("sex=m",)))
    {'sex=m': 'sex'}
    """
    terms = {name: name for name in recipe.encoded}
    if recipe.formula is None:
        for name, levels in recipe.levels.items():
            terms |= {f"{name}={level}": name for level in levels[1:]}
    return {name: term for name, term in terms.items() if name in recipe.encoded}


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


def fillings_of(recipe: Recipe) -> tuple[tuple[str, str], ...]:
    """Return what missing values of each column are taken to be.

    Examples
    --------
    >>> from farrier.intake.columns import Ingredient
    >>> fillings_of(Recipe("y", "gaussian", (Ingredient("age", "number", fill=41.5),), ("age",), "impute"))
    (('age', 'missing values taken to be 41.5'),)
    """
    return tuple(
        (each.name, f"missing values taken to be {_value(each.fill)}")
        for each in recipe.ingredients
        if each.fill is not None
    )


def _value(fill: float | str) -> str:
    return f"{fill:.6g}" if isinstance(fill, float | int) else shown(fill)
