"""How the columns of a table became those of a model, so that new rows are treated alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.intake.columns import (
    Ingredient,
    as_truth,
    by_name,
    check_frame,
    check_signs,
    describe_as_fitted,
    frame_of,
    numbers_of,
    with_levels,
)
from horseshoe.intake.design import Design, formula_design, plain_design
from horseshoe.intake.fitted_ranges import find_outside
from horseshoe.intake.formula import parse_formula
from horseshoe.intake.genotype_recipe import GenotypeRecipe
from horseshoe.intake.kinds import Column
from horseshoe.intake.messages import TableError, counted, listed, option, shown
from horseshoe.intake.missing_values import (
    WAYS,
    MissingPolicy,
    filled,
    gaps_error,
    gaps_of,
    read_missing_policy,
)
from horseshoe.intake.numerals import SIGNS
from horseshoe.intake.placeholders import read_placeholders, without_placeholders
from horseshoe.intake.recipe_data import Condition, Label, SavedRecipe, are_different, are_finite

# What a model has of labels, and of times until an event, and no other model.
OF_FAMILY = {"classes": "classes_", "survival": "predict_survival_function"}


class Applied(NamedTuple):
    """New rows as the model takes them; ``dropped`` are the numbers of rows left out, counted from 1.

    ``warnings`` name the values that are far outside the range that was fitted.
    """

    X: Any
    offset: Vector | None
    exposure: Vector | None
    notes: tuple[str, ...]
    dropped: tuple[int, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe(SavedRecipe):
    """How a table becomes X, as plain data.

    Attributes
    ----------
    target, family : str
        The response and its distribution; ``classes`` for labels, ``survival`` for times until an event.
    ingredients : tuple of Ingredient
        The columns used.
    encoded : tuple of str
        The columns of X, in order.
    missing : str
        ``error``, ``drop`` or ``median``: what is done with missing values.
    formula : str or None
        The formula, where one was asked for.
    weights, offset, exposure, event, entry, strata : str or None
        The columns that hold them.
    classes : tuple
        The labels; of two, the probability of the second is modelled.
    fit_intercept : bool
        False after ``- 1`` in a formula.
    missing_values : tuple of str
        What stands for a missing value, such as ``-999`` or ``age=99``.
    decimal : {"point", "comma"}, optional
        The decimal sign of the table.
    ranges : dict
        The smallest and the largest fitted value of each column of numbers.
    missing_in : dict
        What is done with the missing values of some columns, where that is not ``missing``.

    Examples
    --------
    >>> import pandas
    >>> recipe = Recipe("y", "gaussian", (Ingredient("sex", "category", ("f", "m")),), ("sex=m",))
    >>> recipe.apply(pandas.DataFrame({"sex": ["m", "f"]})).X["sex=m"].tolist()
    [1.0, 0.0]
    """

    target: str
    family: str
    ingredients: tuple[Ingredient, ...]
    encoded: tuple[str, ...]
    missing: str = "error"
    formula: str | None = None
    weights: str | None = None
    offset: str | None = None
    exposure: str | None = None
    classes: tuple[Label, ...] = ()
    fit_intercept: bool = True
    event: str | None = None
    entry: str | None = None
    strata: str | None = None
    missing_values: tuple[str, ...] = ()
    decimal: str | None = None
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    missing_in: dict[str, str] = field(default_factory=dict)

    def for_model(self, model: Any) -> Recipe:
        """Return the recipe that is kept with a model: all of it, whatever the model uses."""
        return self

    def conditions(self) -> Iterator[Condition]:
        """Yield what must be true of the fields, beyond their types.

        Examples
        --------
        >>> recipe = Recipe("y", "gaussian", (Ingredient("a", "number"),), ("a",))
        >>> Recipe.from_plain(recipe.to_plain()) == recipe
        True
        """
        yield from super().conditions()
        survives = (self.family == "survival") == (self.event is not None)
        yield "event", survives, "the column of the event for survival, and None for others"
        ways = f"one of {', '.join(WAYS)}"
        yield "missing", self.missing in WAYS, ways
        yield "missing_in", set(self.missing_in.values()) <= set(WAYS), f"{ways} for each column"
        yield "decimal", self.decimal in (None, *SIGNS), f"None or one of {', '.join(SIGNS)}"
        yield "encoded", are_different(self.encoded), "different texts"
        yield "missing_values", are_different(self.missing_values), "different texts"
        ranges = self.ranges.values()
        in_order = all(are_finite(ends) and ends[0] <= ends[1] for ends in ranges)
        yield "ranges", in_order, "two numbers in order for each column"
        names = [each.name for each in self.ingredients]
        right = all(each.is_valid for each in self.ingredients) and are_different(names)
        yield "ingredients", right, "different columns, with levels and what fills their gaps"
        known = self.formula is None or set(parse_formula(self.formula).names) <= set(names)
        yield "formula", known, "made of the ingredients"

    @property
    def roles(self) -> dict[str, str]:
        """The columns of new rows that are no predictors: those of the offset and the exposure."""
        named = {"offset": self.offset, "exposure": self.exposure}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that new rows need."""
        return (*(each.name for each in self.ingredients), *self.roles.values())

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of the categories, the reference first."""
        return {each.name: each.levels for each in self.ingredients if each.levels}

    def other_columns(self, model: Any) -> str | None:
        """Say how the columns of the recipe are others than those of a model; None if they are not."""
        names = getattr(model, "feature_names_in_", None)
        if len(self.encoded) != model.n_features_in_:
            mine = counted(len(self.encoded), "column")
            return f"encoded has {mine}, but the model has {model.n_features_in_}"
        for mine, its in zip(self.encoded, self.encoded if names is None else names, strict=True):
            if mine != its:
                return f"encoded has the column {shown(mine)}, but the model has {shown(its)} in its place"
        return None

    def design(self, columns: Mapping[str, Column], rows: Any) -> Design:
        """Return the encoded columns of columns that have the levels of the recipe and no gaps.

        ``rows`` are the places of the rows in the table, for messages.
        """
        if self.formula is None:
            return plain_design(columns, self.levels)
        return formula_design(parse_formula(self.formula), columns, self.levels, rows)

    def apply(self, frame: Any, missing: str | Sequence[str] | None = None) -> Applied:
        """Return new rows as the model takes them: by name, in order, encoded and imputed as in the fit.

        Parameters
        ----------
        frame : pandas.DataFrame
            The new rows; columns the model does not use are left out, and said.
        missing : "error", "drop" or "median", or several texts, optional
            What to do with missing values and with levels the fit has not seen; by default as in the fit.
            ``["median", "trt=drop"]`` says something else of one column.
            Imputing takes the values of the fit, so it needs a fit with ``missing="median"``.
        """
        policy = MissingPolicy(self.missing, self.missing_in)
        policy = policy if missing is None else read_missing_policy(missing)
        frame = by_name(frame)
        # 1. what each column is, with the levels of the fit
        aside = [self.target, self.weights, self.event, self.entry, self.strata]
        unused = check_frame(frame, self.columns, aside)
        placeholders = read_placeholders(self.missing_values, [*self.columns, *filter(None, aside)])
        frame, blanks, _ = without_placeholders(frame, placeholders, self.columns)
        columns, unseen = self._with_levels(describe_as_fitted(frame, self.ingredients), policy)
        roles = {role: numbers_of(frame, name) for role, name in self.roles.items()}
        check_signs(roles)
        # 2. the rows
        every = columns | {column.name: column for column in roles.values()}
        gaps, advice = gaps_of(every), "Fill them in, or leave the rows out with --missing drop"
        kept = policy.kept_rows(gaps, len(frame), advice)
        # 3. values for the gaps that are left
        taken = {each.name: columns[each.name].take(kept) for each in self.ingredients}
        imputed = self._fill(taken, {name: gap & kept for name, gap in gaps.items() if (gap & kept).any()})
        if not kept.all():
            imputed.append(f"{counted(int((~kept).sum()), 'row')} with missing values left out")
        design = self.design(taken, np.flatnonzero(kept))
        numbers = [column for column in every.values() if column.numbers is not None]
        recognised = (note for column in numbers for note in column.notes)
        return Applied(
            frame_of(design, self.encoded, frame.index[kept]),
            roles["offset"].take(kept).numbers if "offset" in roles else None,
            roles["exposure"].take(kept).numbers if "exposure" in roles else None,
            (*unused, *recognised, *blanks, *unseen, *imputed),
            tuple(int(row) + 1 for row in np.flatnonzero(~kept)),
            find_outside(numbers, self.ranges, kept),
        )

    def _with_levels(
        self, columns: Mapping[str, Column], policy: MissingPolicy
    ) -> tuple[dict[str, Column], list[str]]:
        """Return the columns with the codes of the recipe; an unknown level is refused, or missing."""
        coded, unseen = dict(columns), []
        for each in (each for each in self.ingredients if each.levels):
            name, column = each.name, columns[each.name]
            column = as_truth(column, each.levels) if each.kind == "truth" else column
            strange = [place for place, word in enumerate(column.words) if word not in each.levels]
            if strange and policy.of(name) == "error":
                raise TableError(
                    f"{column.first(np.isin(np.asarray(column.codes), strange))}, a level the fit has not "
                    "seen. Leave such rows out with --missing drop, or fit with more levels"
                )
            if strange:
                words = listed((column.words[place] for place in strange), most=5)
                unseen.append(f"{shown(name)} has levels the fit has not seen ({words}): treated as missing")
            coded[name] = with_levels(column, each.levels)
        return coded, unseen

    def _fill(self, columns: dict[str, Column], gaps: Mapping[str, Mask]) -> list[str]:
        """Fill gaps with the values of the fit, and return notes of that."""
        fills = {each.name: each.fill for each in self.ingredients if each.fill is not None}
        bare = {name: gap for name, gap in gaps.items() if name not in fills}
        if bare:
            ways = " ".join(option("missing", f"{name}=drop") for name in [*bare][:5])
            advice = f"drop the rows with {ways}, or --missing drop"
            raise gaps_error(bare, f"The fit has kept no values to fill them in: {advice}")
        notes = []
        for name in gaps:
            columns[name], note = filled(columns[name], fills[name])
            notes.append(note)
        return notes


def recipe_of(plain: Mapping[str, Any] | None) -> Any:
    """Return the recipe that was kept with a model: of a table, or of genotypes; None if there is none.

    Examples
    --------
    >>> recipe_of(None) is None
    True
    """
    if plain is None:
        return None
    return (GenotypeRecipe if "snps" in plain else Recipe).from_plain(plain)


def recipe_for(model: Any) -> Any:
    """Return the recipe that was kept with a model, if it makes the columns and classes of this model.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> recipe = Recipe("y", "gaussian", (Ingredient("a", "number"),), ("a",)).to_plain()
    >>> recipe_for(SimpleNamespace(recipe_=recipe, n_features_in_=2))
    Traceback (most recent call last):
    ValueError: recipe: encoded has 1 column, but the model has 2
    """
    recipe = recipe_of(model.recipe_)
    if recipe is None:
        return None
    others = recipe.other_columns(model)
    if others is not None:
        raise ValueError(f"recipe: {others}")
    if hasattr(model, "classes_"):
        mine, its = sorted(map(str, recipe.classes)), sorted(map(str, model.classes_.tolist()))
        if mine != its:
            raise ValueError(f"recipe: classes are {listed(mine)}, but the model has {listed(its)}")
    for family, what in OF_FAMILY.items():
        if (recipe.family == family) != hasattr(model, what):
            raise ValueError(f"recipe: family is {recipe.family}, but the model is a {type(model).__name__}")
    return recipe
