"""What is asked about: the target, and the family that suits it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_choice
from horseshoe._types import Mask, Vector
from horseshoe.families.base import Family
from horseshoe.families.names import FAMILIES
from horseshoe.families.quantile import Quantile
from horseshoe.intake.kinds import Column, describe_columns, level
from horseshoe.intake.messages import TableError, counted, listed, shown

# Counts with a larger median are as good as normal.
CLASSES, SURVIVAL = "classes", "survival"
MOST_CLASSES = 20
COUNTS, AMOUNTS = ("poisson", "negative_binomial"), ("gamma", "tweedie")
SMALL = 20.0

# The numbers that a family can give.
OVERDISPERSED = 1.5
RANGES: dict[str | None, tuple[Callable[[Vector], Mask], str]] = {
    **dict.fromkeys(COUNTS, (lambda y: (y >= 0) & (y == np.round(y)), "whole numbers of at least 0")),
    "gamma": (lambda y: y > 0, "numbers above 0 (tweedie takes zeros)"),
    **dict.fromkeys(("tweedie", SURVIVAL), (lambda y: y >= 0, "numbers of at least 0")),
    "binomial": (lambda y: (y >= 0) & (y <= 1), "numbers from 0 to 1"),
}


class Target(NamedTuple):
    """The target in the rows kept: labels where ``family`` is ``classes`` or levels are named, else numbers.

    ``likelihood`` is the family with its parameters, where it has any that were asked for.
    """

    y: Any
    family: str
    classes: tuple[Any, ...]
    notes: tuple[str, ...]
    likelihood: Family | None = None


def read_target(
    frame: Any,
    name: str,
    family: str | None,
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
) -> Column:
    """Return the column of the target as numbers or words; refuse one that cannot be a target.

    ``categorical`` and ``numeric`` are names that are taken at their word, the target's among them or not.

    Examples
    --------
    >>> import pandas
    >>> read_target(pandas.DataFrame({"ill": ["yes", "no"]}), "ill", None).kind
    'truth'
    """
    if family is not None:
        check_choice("family", family, (*FAMILIES, CLASSES, SURVIVAL))
    column = describe_columns(frame, [name], categorical, numeric)[name]
    if column.kind == "empty":
        raise TableError(f"the target {shown(name)} has no values: name another column")
    if column.kind == "identifier" and column.numbers is not None:  # who asks for numbers gets them
        column = describe_columns(frame, [name], numeric=[name])[name]
    if column.kind in ("text", "identifier"):
        many = f"{len(column.words):,} different words"
        raise TableError(f"the target {shown(name)} has {many}: a target is numbers or a few classes")
    if column.refusal is not None:
        raise TableError(f"the target {column.refusal.split(': ')[0]}: a target is numbers or classes")
    if family in RANGES and column.numbers is not None:
        allowed, wanted = RANGES[family]
        wrong = ~(allowed(column.numbers) | column.missing)
        if wrong.any():
            more = f" (and in {counted(int(wrong.sum()) - 1, 'other row')})" if wrong.sum() > 1 else ""
            raise TableError(f"the target {column.first(wrong)}{more}: family {family} needs {wanted}")
    return column


def settle(
    column: Column, family: str | None, exposure: Vector | None, quantile: float | None = None
) -> Target:
    """Return the target of the rows kept, with the family asked for or the one that its values suggest.

    Examples
    --------
    >>> settle(Column("ill", "truth", codes=np.array([0, 1, 0, 1]), words=("no", "yes")), None, None).notes
    ('ill has two values: classes, and the probability of yes is modelled',)
    """
    name = shown(column.name)
    if column.constant:
        value = shown(column.value(0))
        raise TableError(f"the target {name} is {value} in every row: nothing is left to explain")
    if exposure is not None and (column.numbers is None or family not in (None, *COUNTS, *AMOUNTS)):
        asked = "classes" if column.numbers is None else family
        raise TableError(
            "an exposure is for counts and amounts, family poisson, negative_binomial, gamma or tweedie: "
            f"{name} is to be {asked}"
        )
    if column.numbers is None:
        return _labels(column, family)
    notes: tuple[str, ...] = ()
    if family is None:
        family, why = guess(column.name, column.numbers, exposure)
        notes = (f"{name} {why}; --family chooses another",)
    if family == CLASSES:
        return _number_labels(column, notes)
    if family == "ordinal":
        notes = (f"{name} has {np.unique(column.numbers).size:,} ordered levels",)
    if family == "quantile":
        share = 0.5 if quantile is None else quantile
        notes = (f"the {share:g} quantile of {name} is modelled",)
        return Target(column.numbers, family, (), notes, Quantile(share))
    return Target(column.numbers, family, (), notes)


def guess(name: str, y: Vector, exposure: Vector | None) -> tuple[str, str]:
    """Return the family that numbers suggest, and why.

    Examples
    --------
    >>> guess("visits", np.array([0.0, 0, 1, 0, 2, 1, 0, 3, 0, 1, 1, 0]), None)
    ('poisson', 'holds small counts, their variance about their mean: family poisson')
    >>> guess("year", np.array([1990.0, 1994.0, 2001.0]), None)
    ('gaussian', 'holds numbers: family gaussian')
    """
    distinct = np.unique(y)
    first, last = distinct[0], distinct[-1]
    if distinct.size == 2 and exposure is None:
        return CLASSES, f"has two values: classes, and the probability of {level(last)} is modelled"
    whole = bool((y == np.round(y)).all())
    counts = whole and bool(first >= 0)
    if exposure is not None and not counts:
        raise TableError(
            f"an exposure is for counts, but {shown(name)} holds other numbers: leave the exposure out, or "
            "name a family"
        )
    scale = whole and last <= 10 and (first >= 1 or not _fades(y, distinct))
    skewed = float(np.mean((y - y.mean()) ** 3)) > 0
    small = first <= 1 and np.median(y) <= SMALL and skewed and not scale
    if counts and (exposure is not None or small):
        ratio, sure = _dispersion(y, exposure)
        if ratio > OVERDISPERSED and sure:
            law = f"{ratio:.1f} times what Poisson's law gives at one rate for all"
            return "negative_binomial", f"holds counts, their variance {law}: family negative_binomial"
        return "poisson", "holds small counts, their variance about their mean: family poisson"
    if scale:
        numbers = f"the whole numbers {level(first)} to {level(last)}"
        return "gaussian", f"holds {numbers}, taken as measured and not as classes: family gaussian"
    return "gaussian", "holds numbers: family gaussian"


def _fades(y: Vector, distinct: Vector) -> bool:
    """Tell whether the largest value is rare, as it is among counts and not at the end of a scale."""
    return float(np.mean(y == distinct[-1])) < 0.5 / distinct.size


def _dispersion(y: Vector, exposure: Vector | None) -> tuple[float, bool]:
    """Return how often they have the variance of Poisson's law at one rate, and whether that is sure."""
    time = np.ones_like(y) if exposure is None else exposure
    mean = time * y.sum() / time.sum()
    ratio = float(np.sum((y - mean) ** 2 / mean) / (y.size - 1))
    return ratio, (ratio - 1.0) * np.sqrt((y.size - 1) / 2.0) > 3.0


def _labels(column: Column, family: str | None) -> Target:
    """Return words as classes."""
    y, name = column.values, shown(column.name)
    labels, times = np.unique(y, return_counts=True)
    present = labels.tolist()
    if family not in (None, CLASSES, "binomial"):
        order = ", or the order of the words: --levels lowest,next,...,highest" if family == "ordinal" else ""
        words = f"holds words ({listed(present, most=3)})"
        raise TableError(f"the target {name} {words}, and family {family} needs numbers{order}")
    if len(present) > MOST_CLASSES:
        many = f"{len(present)} classes; at most {MOST_CLASSES} are modelled"
        raise TableError(f"the target {name} has {many}")
    why = f"has {len(present)} classes ({listed(present, most=5)})"
    if len(present) == 2:
        first, second = map(shown, present)
        why = f"has two values: classes, and the probability of {second} is modelled"
        if column.kind != "truth":  # nobody asks for the odds of "no"
            why += f"; odds ratios of {first} are 1 divided by those of {second}"
    rare = [f"the class {shown(word)} has one row only" for word in labels[times == 1][:3].tolist()]
    return Target(y, CLASSES, tuple(present), (f"{name} {why}", *rare))


def _number_labels(column: Column, notes: tuple[str, ...]) -> Target:
    """Return numbers as classes: whole ones, or words."""
    numbers = np.asarray(column.numbers)
    distinct = np.unique(numbers)
    if distinct.size > MOST_CLASSES:
        many = f"{distinct.size:,} different numbers; at most {MOST_CLASSES} classes are modelled"
        raise TableError(f"the target {shown(column.name)} has {many}")
    whole = bool((distinct == np.round(distinct)).all())
    y = numbers.astype(np.int64) if whole else np.array([level(each) for each in numbers])
    return Target(y, CLASSES, tuple(int(each) if whole else level(each) for each in distinct), notes)
