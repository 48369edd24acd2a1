"""What is done with missing values: in all columns, in those that are named, and in those that must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from horseshoe._checks import check_choice
from horseshoe._types import Mask
from horseshoe.intake.formula import Formula
from horseshoe.intake.messages import TableError, counted, option, shown
from horseshoe.intake.missing_values import WAYS

PARTS = {
    **{role: f"is the {role}" for role in ("target", "offset", "exposure", "event")},
    "weights": "holds the weights",
    "entry": "holds the entry times",
    "strata": "holds the strata",
}
"""What the target and its companions are, in words."""


@dataclass(frozen=True)
class MissingPolicy:
    """What is done with the missing values of the columns that are named, and with those of the rest.

    Examples
    --------
    >>> ways = MissingPolicy("median", {"trt": "drop"})
    >>> ways.of("trt"), ways.of("chol")
    ('drop', 'median')
    """

    rest: str = "error"
    named: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return what is done with the missing values of a column."""
        return self.named.get(name, self.rest)


def read_missing_policy(given: str | Sequence[str]) -> MissingPolicy:
    """Return the ways that texts such as ``median`` and ``trt=drop`` name; the default is an error.

    Examples
    --------
    >>> read_missing_policy(["median", "trt=drop"])
    MissingPolicy(rest='median', named={'trt': 'drop'})
    >>> read_missing_policy(["median", "drop"])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: --missing median and --missing drop: name one way for all ...
    """
    rest, named = list[str](), dict[str, str]()
    for text in [given] if isinstance(given, str) else given:
        name, _, way = str(text).rpartition("=")
        if name and way in WAYS:
            if named.setdefault(name, way) != way:
                raise TableError(f"--missing names two ways for {shown(name)}: {named[name]} and {way}")
        elif check_choice("missing", text, WAYS) not in rest:
            rest.append(text)
    if len(rest) > 1:
        asked = " and ".join(option("missing", way) for way in rest)
        raise TableError(f"{asked}: name one way for all columns, and others as COLUMN=WAY")
    return MissingPolicy(rest[0] if rest else "error", named)


def unpenalized_columns(
    unpenalized: Sequence[str], formula: Formula | None, features: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns behind terms that are not penalised.

    Examples
    --------
    >>> from horseshoe.intake.formula import parse_formula
    >>> formula = parse_formula("y ~ log(age):sex + dose")
    >>> unpenalized_columns(["log(age):sex"], formula, formula.names)
    ('age', 'sex')
    """
    found = {term for term in unpenalized if term in features}
    labels = {label for term in unpenalized for label in (term, *term.split(":"))}
    atoms = () if formula is None else formula.atoms
    found |= {name for atom in atoms if atom.label in labels for name in atom.names}
    return tuple(name for name in features if name in found)


def check_filled(
    gaps: Mapping[str, Mask], ways: MissingPolicy, roles: Mapping[str, str], unpenalized: Sequence[str] = ()
) -> None:
    """Refuse to fill in what is not a penalised column, unless it is named; refuse companions in any case.

    Parameters
    ----------
    gaps : dict
        Where values are missing, for the columns in which some are.
    ways : MissingPolicy
        What is asked.
    roles : dict
        What the companions of the target are, by column: weights, offset, strata, ...
    unpenalized : names
        The columns that are not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> check_filled({"trt": np.array([True, False])}, MissingPolicy("median"), {}, ["trt"])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: trt is not penalised; 1 of 2 rows has no value of it. Fill it in ...
    """
    lines = []
    for name, gap in gaps.items():
        rows, dropping = int(gap.sum()), option("missing", f"{name}=drop")
        how_many = f"{rows:,} of {counted(gap.size, 'row')} {'has' if rows == 1 else 'have'} no value of it"
        if name in roles and ways.of(name) == "median":
            lines.append(
                f"{shown(name)} {PARTS[roles[name]]} and is never filled in; {how_many}. "
                f"Drop these rows with {dropping}"
            )
        elif name in unpenalized and ways.of(name) == "median" and name not in ways.named:
            lines.append(
                f"{shown(name)} is not penalised; {how_many}. Fill it in by name with "
                f"{option('missing', f'{name}=median')}, or drop these rows with {dropping}"
            )
    if lines:
        raise TableError("\n".join(lines))
