"""What is said of the selected variables of an average: what predicts together need not be sure alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from horseshoe._types import Mask
from horseshoe.report.digits import share
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.numbers import counted, listed, named

FEW = 6
"""So many variables are told one by one."""


def unclear(one: Effects) -> Mask:
    """Return the selected columns whose interval holds no effect.

    Examples
    --------
    >>> v, some = np.array([1.0, 1.0]), np.array([True, True])
    >>> found = Effects(None, None, ["a", "b"], ["a", "b"], v, v - [0.5, 2.0], v + 2.0, v, some, v)
    >>> unclear(found)
    array([False,  True])
    """
    return np.asarray(one.selected & (one.lower <= 0.0) & (one.upper >= 0.0))


def clearly(one: Effects) -> Effects:
    """Return the effects with those columns selected that are sure to have one by themselves."""
    return replace(one, selected=one.selected & ~unclear(one))


def together(one: Effects, null: str, target: str) -> str:
    """Say which selected variables are there for others too; nothing if each is sure by itself.

    How well the smaller model predicts is not said: no held-out row is predicted by it, since it is selected
    by all rows.

    Examples
    --------
    >>> v, some = np.array([1.0, 1.0]), np.array([True, True])
    >>> found = Effects(None, None, ["a", "b"], ["a", "b"], v, v - [0.5, 2.0], v + 2.0, v, some, v)
    >>> together(found, "zero", "y")
    'The smaller model with 2 variables also has b, whose own interval includes zero.'
    """
    places = [j for j in one.strongest().tolist() if unclear(one)[j]]
    if not places:
        return ""
    names = [named(one.names[j]) for j in places]
    if one.inclusion is None:
        return _also(names, null, target, len(places) == int(one.selected.sum()))
    told = listed(names) if len(names) <= FEW else f"{len(names):,} others"
    terms = {term for term, kept in zip(one.terms, one.selected, strict=True) if kept}
    number = counted(len(terms), "variable")
    if len(places) < int(one.selected.sum()):
        own = "own interval includes" if len(places) == 1 else "own intervals include"
        return f"The smaller model with {number} also has {told}, whose {own} {null}."
    listed_ones = f": {told}" if len(names) <= FEW else f", {names[0]} the strongest"
    return (
        f"No single variable is sure to matter for {named(target)}, for every interval includes {null}: "
        f"variables can stand for each other. The average is summarised by a smaller model with "
        f"{number}{listed_ones}."
    )


def _also(names: Sequence[str], null: str, target: str, alone: bool) -> str:
    """Say of a mode what it selects without being sure of it."""
    told = listed(names) if len(names) <= FEW else f"{len(names):,} variables"
    one = len(names) == 1
    includes = "its interval includes" if one else "their intervals include"
    if alone:
        return (
            f"No variable is sure to matter for {named(target)}: the mode selects {told}, but {includes} "
            f"{null}."
        )
    too = f"{told} {'is' if one else 'are'} selected too, but {includes} {null}"
    return f"{too}: the data leave open whether {'it matters' if one else 'they matter'}."


def none_stands_out(effects: Sequence[Effects], target: str) -> str:
    """Say of an average that selects nothing what it has.

    Examples
    --------
    >>> v, none = np.array([1.0, 1.0]), np.array([False, False])
    >>> one = Effects(None, None, ["a", "b"], ["a", "b"], v, v, v, v, none, np.array([0.2, 0.6]))
    >>> print(none_stands_out([one], "y"))
    Together the 2 variables predict y better than the mean alone, but no few of them stand out; the surest \
are b (inclusion 0.60) and a (0.20).
    """
    found = np.max([one.inclusion for one in effects if one.inclusion is not None], axis=0)
    terms = len(set(effects[0].terms))
    order = np.argsort(-found, kind="stable")[:3].tolist()
    names = effects[0].names
    first = f"(inclusion {share(found[order[0]])})"
    others = [f"{named(names[j])} ({share(found[j])})" for j in order[1:]]
    said = [f"{named(names[order[0]])} {first}", *others]
    if terms == 1:
        return (
            f"{named(effects[0].terms[0])} predicts {named(target)} better than the mean alone, but "
            f"does not stand out {first}."
        )
    whole = f"Together the {counted(terms, 'variable')} predict {named(target)} better than the mean alone"
    are = "is" if len(said) == 1 else "are"
    return f"{whole}, but no few of them stand out; the surest {are} {listed(said)}."
