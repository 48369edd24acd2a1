"""What is asked of a table: names, checked against its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from horseshoe.intake.formula import Formula, parse_formula
from horseshoe.intake.messages import TableError, listed, near, option, shown
from horseshoe.intake.missing_policy import MissingPolicy
from horseshoe.intake.target import SURVIVAL

ERRORS = MissingPolicy()
ROLES = ("weights", "offset", "exposure", "event", "entry", "strata")


@dataclass(frozen=True)
class FitRequest:
    """The arguments of `horseshoe.intake.problem`."""

    target: str | None
    family: str | None = None
    formula: str | None = None
    weights: str | None = None
    offset: str | None = None
    exposure: str | None = None
    missing: MissingPolicy = ERRORS
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
    unpenalized: tuple[str, ...] = ()
    event_value: str | None = None
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


def check_request(
    request: FitRequest, names: Sequence[str], table: str
) -> tuple[FitRequest, Formula | None, tuple[str, ...]]:
    """Return the request with its target, the formula taken apart, and the columns that explain the target.

    Examples
    --------
    >>> check_request(FitRequest(None, formula="y ~ a"), ["a", "b", "y"], "it")[2]
    ('a',)
    >>> check_request(FitRequest("Y"), ["a", "b", "y"], "it")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: the target Y is not a column of it: did you mean y?
    """
    request = _survival(with_implied_family(request), names)
    formula = None
    if request.formula is not None:
        left = parse_formula(request.formula, ["."]).target
        request = _with_target(request, left)
        formula = parse_formula(request.formula or "", [name for name in names if name not in request.aside])
    if request.target is None:
        raise TableError(f"which column is to be explained? Name it with --target: {listed(names)}")
    check_there(request, request.target, names, table)
    _check_apart(request)
    if formula is None:
        chosen = names if request.columns is None else request.columns
        features = tuple(dict.fromkeys(name for name in chosen if name not in request.aside))
    else:
        features = formula.names
        _check_formula(request, features)
        for name in features:
            _check_name("formula: ", name, names, table)
    if not features:
        raise TableError(f"no column is left to explain {shown(request.target)}")
    return request, formula, features


def with_implied_family(request: FitRequest) -> FitRequest:
    """Return the request with the family that a quantile or levels ask for; refuse what does not go with it.

    Examples
    --------
    >>> with_implied_family(FitRequest("pain", levels=("low", "high"))).family
    'ordinal'
    """
    for option_, value, family in (
        ("quantile", request.quantile, "quantile"),
        ("levels", request.levels, "ordinal"),
    ):
        if value is None:
            continue
        if request.family not in (None, family) or request.event is not None:
            other = "--event" if request.family in (None, family) else option("family", str(request.family))
            raise TableError(
                f"--{option_} asks for family {family}, and {other} for something else: leave out one of them"
            )
        request = replace(request, family=family)
    if request.quantile is not None and not 0.0 < request.quantile < 1.0:
        raise TableError(f"--quantile {request.quantile:g}: a quantile is between 0 and 1, 0.9 for one")
    return request


def _survival(request: FitRequest, names: Sequence[str]) -> FitRequest:
    """Return the request with the family that an event asks for; refuse what does not go with it."""
    if request.event is None:
        for role in ("entry", "strata"):
            if getattr(request, role) is not None:
                raise TableError(f"--{role} is for survival: name the column of the event too, with --event")
        if request.family == SURVIVAL:
            raise TableError(
                "family survival needs a column that says whether the event was seen: name it with --event"
            )
        return request
    if request.family not in (None, SURVIVAL):
        raise TableError(
            f"--event asks for times until an event, and --family {shown(request.family)} for something "
            "else: leave out one of them"
        )
    if request.exposure is not None:
        raise TableError(
            "an exposure is for counts and amounts, and --event asks for times until an event: leave out one "
            "of them; --entry says from when on a row is at risk"
        )
    event, ends = request.event, [place for place, letter in enumerate(request.event) if letter == "="]
    parts = [(event, None), *((event[:end], event[end + 1 :]) for end in ends)]
    name, event_value = next((part for part in parts if part[0] in names), (event, None))
    return replace(request, family=SURVIVAL, event=name, event_value=event_value)


def _with_target(request: FitRequest, left: str | None) -> FitRequest:
    if left is not None and request.target is not None and left != request.target:
        raise TableError(
            f"the target is {shown(request.target)}, but the formula explains {shown(left)}: name one of them"
        )
    return request if left is None else replace(request, target=left)


def check_there(request: FitRequest, target: str, names: Sequence[str], table: str) -> None:
    """Refuse names that no column of a table has.

    Examples
    --------
    >>> check_there(FitRequest("y"), "y", ["x", "y"], "it")
    """
    _check_name("the target ", target, names, table)
    for role, name in request.roles.items():
        _check_name(f"{role}: ", name, names, table)
    for name in request.missing.named:
        _check_name("--missing: ", name, names, table)
    for way in ("drop", "categorical", "numeric", "columns"):
        for name in getattr(request, way) or ():
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


def _check_apart(request: FitRequest) -> None:
    """Refuse a column that is asked for in two roles."""
    roles = {"target": str(request.target), **request.roles}
    for role, name in roles.items():
        others = [other for other, same in roles.items() if same == name and other != role]
        if others:
            raise TableError(f"{shown(name)} cannot be both {role} and {others[0]}")
        if name in request.drop:
            raise TableError(f"{shown(name)} is the {role}, so it cannot be left out with --drop")
    both = [name for name in request.categorical if name in request.numeric]
    if both:
        raise TableError(f"{listed(both)} cannot be both categorical and numeric")


def _check_formula(request: FitRequest, features: Sequence[str]) -> None:
    if request.columns is not None:
        raise TableError("the formula says which columns are used: leave out --columns")
    wrong = [name for name in features if name in request.aside]
    if wrong:
        raise TableError(
            f"formula: {listed(wrong)} cannot explain the target: it is "
            "the target itself, has another role, or is dropped"
        )
