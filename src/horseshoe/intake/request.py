"""What is asked of a table: names, checked against its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from horseshoe.intake.formula import Formula, parse_formula
from horseshoe.intake.messages import TableError, listed, near, option, shown
from horseshoe.intake.missing_values import MissingPolicy, read_missing_policy
from horseshoe.intake.placeholders import split_named
from horseshoe.intake.target import SURVIVAL

# Options that ask for a family.
ERRORS = MissingPolicy()
ROLES = ("weights", "offset", "exposure", "event", "entry", "strata")
LISTS = ("drop", "categorical", "numeric", "columns", "levels", "missing_values", "unpenalized")
IMPLIED = {"quantile": "quantile", "levels": "ordinal", "event": SURVIVAL}


@dataclass(frozen=True)
class FitRequest:
    """What is to be fitted to a table.

    Parameters
    ----------
    target : str
        The column to explain; a formula may name it instead.
    family : str, optional
        A family, or ``classes``; by default what the values of the target suggest, which is noted.
    formula : str, optional
        As ``y ~ a * b + log(c)``.
    weights, offset, exposure : str, optional
        Columns that hold them.
    missing : MissingPolicy
        What to do with missing values. `of` takes "error", "drop" or "median", or several texts: refuse them,
        drop their rows, or fill them in with the median or the most frequent level.
        ``["median", "trt=drop"]`` says something else of one column. Columns in ``unpenalized`` are filled
        in only by name, and columns with a role never.
    drop, columns : names, optional
        Columns to leave out, or the only ones to use.
    categorical, numeric : names, optional
        Columns to take as categories or as numbers, whatever they look like.
    event : str, optional
        The column that says whether the event was seen at the time that the target holds, or the row is
        censored: 0 and 1, or words such as no and yes; ``status=dead`` names the value that means the event.
    entry, strata : str, optional
        With an event, columns that say from when on a row is at risk, and in which stratum it is.
    quantile : float, optional
        Which quantile of the target is modelled, 0.9 for one.
    levels : words, optional
        The levels of the target from the lowest to the highest; an ordered categorical has its order.
    missing_values : values, optional
        What stands for a missing value: -999 in any column, ``age=99`` in one. A value that looks like one
        and is not named here is asked about, unless its column is among ``numeric``.
    unpenalized : names, optional
        Columns, or terms of the formula, that the estimator is not going to penalise.
    event_value : str, optional
        The value that means the event, after ``event="status=dead"``.

    Examples
    --------
    >>> FitRequest.of("y", missing=["median", "trt=drop"], drop=["id"]).missing
    MissingPolicy(rest='median', named={'trt': 'drop'})
    """

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

    @classmethod
    def of(cls, target: str | None = None, **options: Any) -> FitRequest:
        """Return the request with the options that are not None, in the form in which users type them."""
        given = {name: value for name, value in options.items() if value is not None}
        given |= {name: tuple(map(str, given[name])) for name in LISTS if name in given}
        return cls(target, **given | {"missing": read_missing_policy(given.get("missing", "error"))})

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
    request = _with_event(with_implied_family(request), names)
    formula = None
    if request.formula is not None:
        request = _with_target(request, parse_formula(request.formula, ["."]).target)
        formula = parse_formula(request.formula or "", [name for name in names if name not in request.aside])
    if request.target is None:
        raise TableError(f"which column is to be explained? Name it with --target: {listed(names)}")
    check_names(request, request.target, names, table)
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
    """Return the request with the family that a quantile, levels or an event ask for.

    Examples
    --------
    >>> with_implied_family(FitRequest("pain", levels=("low", "high"))).family
    'ordinal'
    """
    asked = option("family", str(request.family))
    for name, family in IMPLIED.items():
        if getattr(request, name) is None:
            continue
        if request.family not in (None, family):
            both = f"--{name} asks for family {family}, and {asked} for something else"
            raise TableError(f"{both}: leave out one of them")
        request, asked = replace(request, family=family), f"--{name}"
    if request.quantile is not None and not 0.0 < request.quantile < 1.0:
        raise TableError(f"--quantile {request.quantile:g}: a quantile is between 0 and 1, 0.9 for one")
    return request


def _with_event(request: FitRequest, names: Sequence[str]) -> FitRequest:
    """Return the request with the value that means the event; refuse what does not go with survival."""
    if request.event is None:
        for role in ("entry", "strata"):
            if getattr(request, role) is not None:
                raise TableError(f"--{role} is for survival: name the column of the event too, with --event")
        if request.family == SURVIVAL:
            raise TableError(
                "family survival needs a column that says whether the event was seen: name it with --event"
            )
        return request
    if request.exposure is not None:
        raise TableError(
            "an exposure is for counts and amounts, and --event asks for times until an event: leave out one "
            "of them; --entry says from when on a row is at risk"
        )
    name, value = (None, None) if request.event in names else split_named(request.event, names)
    return request if name is None else replace(request, event=name, event_value=value)


def _with_target(request: FitRequest, left: str | None) -> FitRequest:
    """Return the request with the target of the formula."""
    if left is not None and request.target not in (None, left):
        raise TableError(
            f"the target is {shown(request.target)}, but the formula explains {shown(left)}: name one of them"
        )
    return replace(request, target=left or request.target)


def check_names(request: FitRequest, target: str, names: Sequence[str], table: str) -> None:
    """Refuse names that no column of a table has.

    Examples
    --------
    >>> check_names(FitRequest("y"), "y", ["x", "y"], "it")
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
    if name in names:
        return
    parts = [part.strip() for part in name.split(",")]
    advice = near(name, names) or f"; its columns are {listed(names)}"
    if what.startswith("--") and len(parts) > 1 and all(part in names for part in parts):
        each = " ".join(option(what.strip("-: "), part) for part in parts)
        advice = f": name one at a time, {each}"
    raise TableError(f"{what}{shown(name)} is not a column of {table}{advice}")


def _check_apart(request: FitRequest) -> None:
    """Refuse a column that is asked for in two roles."""
    seen = dict[str, str]()
    for role, name in {"target": str(request.target), **request.roles}.items():
        if name in seen:
            raise TableError(f"{shown(name)} cannot be both {seen[name]} and {role}")
        if name in request.drop:
            raise TableError(f"{shown(name)} is the {role}, so it cannot be left out with --drop")
        seen[name] = role
    both = [name for name in request.categorical if name in request.numeric]
    if both:
        raise TableError(f"{listed(both)} cannot be both categorical and numeric")


def _check_formula(request: FitRequest, features: Sequence[str]) -> None:
    if request.columns is not None:
        raise TableError("the formula says which columns are used: leave out --columns")
    wrong = [name for name in features if name in request.aside]
    if wrong:
        why = "it is the target itself, has another role, or is dropped"
        raise TableError(f"formula: {listed(wrong)} cannot explain the target: {why}")
