"""What is asked of a table: names, checked against its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from horseshoe.intake.formula import Formula, parse_formula
from horseshoe.intake.target import SURVIVAL
from horseshoe.intake.ways import Ways
from horseshoe.intake.words import TableError, listed, near, option, shown

ERRORS = Ways()
ROLES = ("weights", "offset", "exposure", "event", "entry", "strata")


@dataclass(frozen=True)
class Wish:
    """The arguments of `horseshoe.intake.ask`."""

    target: str | None
    family: str | None = None
    formula: str | None = None
    weights: str | None = None
    offset: str | None = None
    exposure: str | None = None
    missing: Ways = ERRORS
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    event: str | None = None
    entry: str | None = None
    strata: str | None = None
    quantile: float | None = None
    levels: tuple[str, ...] | None = None
    missing_values: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    happened: str | None = None
    """The value that means the event, after ``event="status=dead"``."""

    @property
    def roles(self) -> dict[str, str]:
        """The columns that hold weights, offset, exposure, event, entry and strata."""
        given = {role: getattr(self, role) for role in ROLES}
        return {role: name for role, name in given.items() if name is not None}

    @property
    def aside(self) -> set[str]:
        """The columns that explain nothing: the target, those with a role, and those left out."""
        return {*self.roles.values(), *self.drop, *([self.target] if self.target is not None else [])}


def checked(wish: Wish, names: Sequence[str], table: str) -> tuple[Wish, Formula | None, tuple[str, ...]]:
    """Return the wish with its target, the formula taken apart, and the columns that explain the target.

    Examples
    --------
    >>> checked(Wish(None, formula="y ~ a"), ["a", "b", "y"], "it")[2]
    ('a',)
    >>> checked(Wish("Y"), ["a", "b", "y"], "it")
    Traceback (most recent call last):
    horseshoe.intake.words.TableError: the target Y is not a column of it: did you mean y?
    """
    wish = _survival(particular(wish), names)
    formula = None
    if wish.formula is not None:
        left = parse_formula(wish.formula, ["."]).target
        wish = _with_target(wish, left)
        formula = parse_formula(wish.formula or "", [name for name in names if name not in wish.aside])
    if wish.target is None:
        raise TableError(f"which column is to be explained? Name it with --target: {listed(names)}")
    check_there(wish, wish.target, names, table)
    _check_apart(wish)
    if formula is None:
        chosen = names if wish.columns is None else wish.columns
        features = tuple(dict.fromkeys(name for name in chosen if name not in wish.aside))
    else:
        features = formula.names
        _check_formula(wish, features)
        for name in features:
            _check_name("formula: ", name, names, table)
    if not features:
        raise TableError(f"no column is left to explain {shown(wish.target)}")
    return wish, formula, features


def particular(wish: Wish) -> Wish:
    """Return the wish with the family that a quantile or levels ask for; refuse what does not go with it.

    Examples
    --------
    >>> particular(Wish("pain", levels=("low", "high"))).family
    'ordinal'
    """
    for option_, value, family in (
        ("quantile", wish.quantile, "quantile"),
        ("levels", wish.levels, "ordinal"),
    ):
        if value is None:
            continue
        if wish.family not in (None, family) or wish.event is not None:
            other = "--event" if wish.family in (None, family) else option("family", str(wish.family))
            raise TableError(
                f"--{option_} asks for family {family}, and {other} for something else: leave out one of them"
            )
        wish = replace(wish, family=family)
    if wish.quantile is not None and not 0.0 < wish.quantile < 1.0:
        raise TableError(f"--quantile {wish.quantile:g}: a quantile is between 0 and 1, 0.9 for one")
    return wish


def _survival(wish: Wish, names: Sequence[str]) -> Wish:
    """Return the wish with the family that an event asks for; refuse what does not go with it."""
    if wish.event is None:
        for role in ("entry", "strata"):
            if getattr(wish, role) is not None:
                raise TableError(f"--{role} is for survival: name the column of the event too, with --event")
        if wish.family == SURVIVAL:
            raise TableError(
                "family survival needs a column that says whether the event was seen: name it with --event"
            )
        return wish
    if wish.family not in (None, SURVIVAL):
        raise TableError(
            f"--event asks for times until an event, and --family {shown(wish.family)} for something else: "
            "leave out one of them"
        )
    if wish.exposure is not None:
        raise TableError(
            "an exposure is for counts and amounts, and --event asks for times until an event: leave out one "
            "of them; --entry says from when on a row is at risk"
        )
    event, ends = wish.event, [place for place, letter in enumerate(wish.event) if letter == "="]
    parts = [(event, None), *((event[:end], event[end + 1 :]) for end in ends)]
    name, happened = next((part for part in parts if part[0] in names), (event, None))
    return replace(wish, family=SURVIVAL, event=name, happened=happened)


def _with_target(wish: Wish, left: str | None) -> Wish:
    if left is not None and wish.target is not None and left != wish.target:
        raise TableError(
            f"the target is {shown(wish.target)}, but the formula explains {shown(left)}: name one of them"
        )
    return wish if left is None else replace(wish, target=left)


def check_there(wish: Wish, target: str, names: Sequence[str], table: str) -> None:
    """Refuse names that no column of a table has.

    Examples
    --------
    >>> check_there(Wish("y"), "y", ["x", "y"], "it")
    """
    _check_name("the target ", target, names, table)
    for role, name in wish.roles.items():
        _check_name(f"{role}: ", name, names, table)
    for name in wish.missing.named:
        _check_name("--missing: ", name, names, table)
    for way in ("drop", "categorical", "numeric", "columns"):
        for name in getattr(wish, way) or ():
            _check_name(f"--{way}: ", name, names, table)


def _check_name(what: str, name: str, names: Sequence[str], table: str) -> None:
    if name not in names:
        parts = [part.strip() for part in name.split(",")]
        if what.startswith("--") and len(parts) > 1 and all(part in names for part in parts):
            each = " ".join(option(what.strip("-: "), part) for part in parts)
            raise TableError(f"{what}{shown(name)} is not a column of {table}: name one at a time, {each}")
        guess = near(name, names)
        have = "" if guess else f"; its columns are {listed(names)}"
        raise TableError(f"{what}{shown(name)} is not a column of {table}{guess}{have}")


def _check_apart(wish: Wish) -> None:
    """Refuse a column that is asked for in two roles."""
    roles = {"target": str(wish.target), **wish.roles}
    for role, name in roles.items():
        others = [other for other, same in roles.items() if same == name and other != role]
        if others:
            raise TableError(f"{shown(name)} cannot be both {role} and {others[0]}")
        if name in wish.drop:
            raise TableError(f"{shown(name)} is the {role}, so it cannot be left out with --drop")
    both = [name for name in wish.categorical if name in wish.numeric]
    if both:
        raise TableError(f"{listed(both)} cannot be both categorical and numeric")


def _check_formula(wish: Wish, features: Sequence[str]) -> None:
    if wish.columns is not None:
        raise TableError("the formula says which columns are used: leave out --columns")
    wrong = [name for name in features if name in wish.aside]
    if wrong:
        raise TableError(
            f"formula: {listed(wrong)} cannot explain the target: it is "
            "the target itself, has another role, or is dropped"
        )
