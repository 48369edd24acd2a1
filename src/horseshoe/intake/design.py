"""The numbers a model sees: categories as columns of 0 and 1, or the columns a formula asks for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Matrix
from horseshoe.intake.formula import Formula
from horseshoe.intake.formula_functions import Atom
from horseshoe.intake.kinds import Column, level
from horseshoe.intake.messages import TableError, shown

PIECE = re.compile(r"f(\d+)(?:\[(?:T\.)?l(\d+)\])?")


class Design(NamedTuple):
    """Encoded columns: their names, their values, and what each stands for (a factor is one thing)."""

    names: tuple[str, ...]
    values: Matrix
    terms: dict[str, str]
    fit_intercept: bool = True


def plain_design(columns: Mapping[str, Column], levels: Mapping[str, tuple[str, ...]]) -> Design:
    """Return numbers as they are and each level but the first, the reference, as a column of 0 and 1.

    Examples
    --------
    >>> city = Column("city", "category", codes=np.array([0, 1, 2]), words=("Bonn", "Berlin", "Kiel"))
    >>> design = plain_design({"city": city}, {"city": ("Bonn", "Berlin", "Kiel")})
    >>> design.names
    ('city=Berlin', 'city=Kiel')
    >>> design.values.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    names: list[str] = []
    terms: dict[str, str] = {}
    for name, column in columns.items():
        new = [name] if column.numbers is not None else [f"{name}={each}" for each in levels[name][1:]]
        names += new
        terms |= dict.fromkeys(new, name)
    _check_encoded(names, columns)
    rows = len(next(iter(columns.values())).missing) if columns else 0
    values, at = np.empty((rows, len(names)), order="F"), 0
    for name, column in columns.items():
        if column.numbers is not None:
            values[:, at] = column.numbers
            at += 1
            continue
        for code in range(1, len(levels[name])):
            values[:, at] = column.codes == code
            at += 1
    return Design(tuple(names), values, terms)


def _check_encoded(names: list[str], columns: Mapping[str, Column]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"{shown(twice)} is a column and a level of another one: rename the column")


def formula_design(
    formula: Formula, columns: Mapping[str, Column], levels: Mapping[str, tuple[str, ...]], rows: Any = None
) -> Design:
    """Return the columns that a formula asks for, without the intercept, which the model has itself.

    formulaic multiplies and chooses which factors are without their reference level. It sees atoms by number.

    Examples
    --------
    >>> from horseshoe.intake.formula import parse_formula
    >>> columns = {"a": Column("a", "number", np.array([1.0, 2.0])),
    ...            "sex": Column("sex", "category", codes=np.array([0, 1]), words=("f", "m"))}
    >>> design = formula_design(parse_formula("a * sex"), columns, {"sex": ("f", "m")})
    >>> design.names, design.terms["a:sex=m"], design.fit_intercept
    (('a', 'sex=m', 'a:sex=m'), 'a:sex', True)
    """
    library = require("formulaic", "formula")
    pandas = require("pandas", "cli")
    ways = [_values(atom, columns, levels, rows) for atom in formula.atoms]
    frame = pandas.DataFrame({f"f{place}": values for place, (values, _) in enumerate(ways)})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matrix = library.Formula(formula.pattern).get_model_matrix(
                frame, context={}, na_action="ignore", output="pandas"
            )
    except Exception as error:  # of whatever kind formulaic raises: the formula is the user's
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"formula: it cannot be used: {shown(reason)}") from None
    return _named(formula, matrix, [words for _, words in ways])


def _values(
    atom: Atom, columns: Mapping[str, Column], levels: Mapping[str, tuple[str, ...]], rows: Any
) -> tuple[Any, tuple[str, ...]]:
    """Return the numbers of an atom, or the category it is with the names of its levels."""
    column = columns[atom.names[0]]
    if atom.rule is None and column.numbers is None:
        words = levels[column.name]
        tags = [f"l{place}" for place in range(len(words))]
        pandas = require("pandas", "cli")
        return pandas.Categorical.from_codes(column.codes, categories=tags), words
    for name in atom.names:
        if columns[name].numbers is None:
            raise TableError(f"formula: {shown(name)} holds words, so {shown(atom.label)} cannot be computed")
    numbers = {name: np.asarray(columns[name].numbers) for name in atom.names}
    values = atom.evaluate(numbers)
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = int(wrong.argmax())
        place = row if rows is None else int(rows[row])
        of = ", ".join(f"{shown(name)} = {level(numbers[name][row])}" for name in atom.names)
        raise TableError(f"formula: {shown(atom.label)} is not a finite number in row {place + 1} ({of})")
    return values, ()


def _named(formula: Formula, matrix: Any, words: list[tuple[str, ...]]) -> Design:
    labels = [atom.label for atom in formula.atoms]
    names, places, terms = [], [], {}
    at = 0
    for piece in matrix.model_spec.structure:
        stands_for = ":".join(labels[int(place)] for place in re.findall(r"f(\d+)", str(piece.term)))
        for column in piece.columns:
            if stands_for:
                name = ":".join(
                    labels[int(place)] + (f"={words[int(place)][int(tag)]}" if tag else "")
                    for place, tag in PIECE.findall(column)
                )
                names.append(name)
                places.append(at)
                terms[name] = stands_for
            at += 1
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(
            f"formula: two of its columns would be called {shown(twice)}: rename a column of the table"
        )
    values = np.asarray(matrix, dtype=float)[:, places]
    return Design(tuple(names), values, terms, fit_intercept=at > len(places))
