"""Recipes as plain data and back; what comes back is checked in every part, for it may come from anyone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from horseshoe.data.sources.genotypes import Snps
from horseshoe.families.names import FAMILIES
from horseshoe.store.codec import Codec

# The label of a class; text comes first, since a number that is not finite is written as text.
Label = str | int | float
# A field, whether it is as it should be, and how that is.
FAMILY_NAMES = (*FAMILIES, "classes", "survival")
CODEC = Codec(types={Snps: dict.fromkeys(Snps._fields, NDArray[np.object_])})
Condition = tuple[str, bool, str]


class SavedRecipe:
    """How new rows are treated like those of the fit, in a model file."""

    family: str
    classes: tuple[Label, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return the recipe as data that JSON knows."""
        found: dict[str, Any] = CODEC.encode(self, type(self), "recipe")
        return found

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the recipe that plain data describe; every part of them is checked."""
        recipe: Self = CODEC.decode(plain, cls, "recipe")
        for name, right, wanted in recipe.conditions():
            if not right:
                raise ValueError(f"recipe: {name}={getattr(recipe, name)!r:.80} should be {wanted}")
        return recipe

    def conditions(self) -> Iterator[Condition]:
        """Yield what must be true of the fields, beyond their types."""
        yield "family", self.family in FAMILY_NAMES, f"one of {', '.join(FAMILY_NAMES)}"
        yield "classes", are_finite(self.classes), "texts or finite numbers"


def are_finite(values: Any) -> bool:
    """Tell whether all numbers among some values are finite.

    Examples
    --------
    >>> are_finite(("a", 1)), are_finite((1.0, float("inf")))
    (True, False)
    """
    return all(isinstance(value, str) or math.isfinite(value) for value in values)


def are_different(values: Any) -> bool:
    """Tell whether no value stands twice.

    Examples
    --------
    >>> are_different(("a", "b")), are_different(("a", "a"))
    (True, False)
    """
    return len(set(values)) == len(values)
