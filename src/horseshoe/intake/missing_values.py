"""Missing values: what is done with them in which columns, and how it is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from horseshoe._checks import check_choice
from horseshoe._types import Mask
from horseshoe.intake.kinds import Column, level
from horseshoe.intake.messages import TableError, counted, option, shown

# The roles of columns that explain nothing, in words.
WORST = 10
WAYS = ("error", "drop", "median")
ROLES = {
    **{role: f"is the {role}" for role in ("target", "offset", "exposure", "event")},
    "weights": "holds the weights",
    "entry": "holds the entry times",
    "strata": "holds the strata",
}


@dataclass(frozen=True)
class MissingPolicy:
    """What is done with the missing values of the columns that are named, and with those of the rest.

    Examples
    --------
    >>> policy = MissingPolicy("median", {"trt": "drop"})
    >>> policy.of("trt"), policy.of("chol")
    ('drop', 'median')
    """

    rest: str = "error"
    named: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return what is done with the missing values of a column."""
        return self.named.get(name, self.rest)

    def kept_rows(self, gaps: Mapping[str, Mask], rows: int, advice: str) -> Mask:
        """Return the rows that are not dropped; refuse missing values that must not be."""
        refused = {name: gap for name, gap in gaps.items() if self.of(name) == "error"}
        if refused:
            raise gaps_error(refused, advice)
        return ~any_gap((gap for name, gap in gaps.items() if self.of(name) == "drop"), rows)


def read_missing_policy(given: str | Sequence[str]) -> MissingPolicy:
    """Return the policy that texts such as ``median`` and ``trt=drop`` ask for; the default is an error.

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


def gaps_of(columns: Mapping[str, Column]) -> dict[str, Mask]:
    """Return where values are missing, for the columns in which some are.

    Examples
    --------
    >>> gaps_of({"a": Column("a", "number", np.array([1.0, np.nan]))})
    {'a': array([False,  True])}
    """
    gaps = {name: column.missing for name, column in columns.items()}
    return {name: gap for name, gap in gaps.items() if gap.any()}


def any_gap(gaps: Iterable[Mask], rows: int) -> Mask:
    """Return the rows in which something is missing.

    Examples
    --------
    >>> any_gap([np.array([False, True])], 2)
    array([False,  True])
    """
    found = np.zeros(rows, dtype=bool)
    for gap in gaps:
        found |= gap
    return found


def gaps_error(gaps: Mapping[str, Mask], advice: str) -> TableError:
    """Return the error that counts the missing values of each column, the worst first.

    Examples
    --------
    >>> print(gaps_error({"ca": np.array([True, False, True])}, "Mend them"))
    2 of 3 rows have missing values: ca (2, the first in row 1). Mend them
    """
    size = {name: int(gap.sum()) for name, gap in gaps.items()}
    worst = sorted(gaps, key=lambda name: -size[name])
    parts = [
        f"{shown(name)} ({size[name]}, the first in row {int(gaps[name].argmax()) + 1})"
        for name in worst[:WORST]
    ]
    more = f" and {counted(len(worst) - WORST, 'more column')}" if len(worst) > WORST else ""
    total = gaps[worst[0]].size
    rows = f"{int(any_gap(gaps.values(), total).sum()):,} of {counted(total, 'row')}"
    return TableError(f"{rows} have missing values: {', '.join(parts)}{more}. {advice}")


def check_imputed(
    gaps: Mapping[str, Mask],
    policy: MissingPolicy,
    roles: Mapping[str, str],
    unpenalized: Collection[str] = (),
) -> None:
    """Refuse to fill in unpenalised columns, unless they are named, and columns with a role in any case.

    Parameters
    ----------
    gaps : dict
        Where values are missing, for the columns in which some are.
    policy : MissingPolicy
        What is asked.
    roles : dict
        The roles of columns that explain nothing, by column: weights, offset, strata, ...
    unpenalized : names
        The columns that are not penalised.

    Examples
    --------
    >>> check_imputed({"trt": np.array([True, False])}, MissingPolicy("median"), {}, ["trt"])
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: trt is not penalised; 1 of 2 rows has no value of it. Fill it in ...
    """
    lines = []
    for name in (name for name in gaps if policy.of(name) == "median"):
        rows, drop = int(gaps[name].sum()), option("missing", f"{name}=drop")
        have = "has" if rows == 1 else "have"
        many = f"{rows:,} of {counted(gaps[name].size, 'row')} {have} no value of it"
        if name in roles:
            why = f"{ROLES[roles[name]]} and is never filled in; {many}. Drop these rows with {drop}"
            lines.append(f"{shown(name)} {why}")
        elif name in unpenalized and name not in policy.named:
            ways = f"{option('missing', f'{name}=median')}, or drop these rows with {drop}"
            lines.append(f"{shown(name)} is not penalised; {many}. Fill it in by name with {ways}")
    if lines:
        raise TableError("\n".join(lines))


def fill_of(column: Column) -> float | str:
    """Return what fills the gaps of a column: the median of numbers, or the most frequent word.

    Examples
    --------
    >>> fill_of(Column("a", "number", np.array([1.0, 2.0, 9.0, np.nan])))
    2.0
    """
    if column.numbers is not None:
        truth = column.kind == "truth"
        return float(np.nanmean(column.numbers) > 0.5 if truth else np.nanmedian(column.numbers))
    return column.words[int(column.counts.argmax())]


def filled(column: Column, fill: float | str) -> tuple[Column, str]:
    """Return the column with its gaps filled, and a note of that.

    Examples
    --------
    >>> column, note = filled(Column("a", "number", np.array([1.0, np.nan])), 3.0)
    >>> column.numbers, note
    (array([1., 3.]), 'a: 1 missing value filled in with 3')
    """
    gaps = column.missing
    times = counted(int(gaps.sum()), "missing value")
    note = f"{shown(column.name)}: {times} filled in with {shown(level(fill))}"
    if column.numbers is not None:
        return replace(column, numbers=np.where(gaps, fill, column.numbers)), note
    return replace(
        column, codes=np.where(gaps, column.words.index(str(fill)), np.asarray(column.codes))
    ), note
