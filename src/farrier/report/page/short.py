"""What is said of the short model of an average: columns that predict together need not be sure alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier._types import Mask
from farrier.report.digits import share
from farrier.report.page.effects import Effects
from farrier.report.page.numbers import counted, listed, named

FEW = 6
"""So many columns are told one by one."""


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
    """Say which columns of the short model are there for others too; nothing if each is sure by itself.

    Examples
    --------
    >>> v, some = np.array([1.0, 1.0]), np.array([True, True])
    >>> found = Effects(None, None, ["a", "b"], ["a", "b"], v, v - [0.5, 2.0], v + 2.0, v, some, v)
    >>> together(found, "zero", "y")
    'Together with b, whose own interval holds zero, they predict y about as well as all 2 columns.'
    """
    places = [j for j in one.strongest().tolist() if unclear(one)[j]]
    if not places:
        return ""
    names = [named(one.names[j]) for j in places]
    if one.inclusion is None:
        return _also(names, null, target, len(places) == int(one.selected.sum()))
    told = listed(names) if len(names) <= FEW else f"{len(names):,} others"
    whole = f"about as well as all {counted(len(set(one.terms)), 'column')}"
    if len(places) < int(one.selected.sum()):
        own = "own interval holds" if len(places) == 1 else "own intervals hold"
        return f"Together with {told}, whose {own} {null}, they predict {named(target)} {whole}."
    listed_ones = f": {told}" if len(names) <= FEW else f", {named(one.names[places[0]])} the strongest"
    return (
        f"No single column is sure to matter for {named(target)}, for every interval holds {null}: columns "
        f"can stand for each other. A short model of {counted(len(places), 'column')} predicts {whole}"
        f"{listed_ones}."
    )


def _also(names: Sequence[str], null: str, target: str, alone: bool) -> str:
    """Say of a mode what it selects without being sure of it."""
    told = listed(names) if len(names) <= FEW else f"{len(names):,} columns"
    one = len(names) == 1
    holds = "its interval holds" if one else "their intervals hold"
    if alone:
        return (
            f"No column is sure to matter for {named(target)}: the mode selects {told}, but {holds} {null}."
        )
    too = f"{told} {'is' if one else 'are'} selected too, but {holds} {null}"
    return f"{too}: the data leave open whether {'it matters' if one else 'they matter'}."


def none_stands_out(effects: Sequence[Effects], target: str) -> str:
    """Say of an average without a short model what it has.

    Examples
    --------
    >>> v, none = np.array([1.0, 1.0]), np.array([False, False])
    >>> one = Effects(None, None, ["a", "b"], ["a", "b"], v, v, v, v, none, np.array([0.2, 0.6]))
    >>> print(none_stands_out([one], "y"))
    Together the 2 columns predict y better than the mean alone, but no few of them stand out; the surest \
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
    whole = f"Together the {counted(terms, 'column')} predict {named(target)} better than the mean alone"
    are = "is" if len(said) == 1 else "are"
    return f"{whole}, but no few of them stand out; the surest {are} {listed(said)}."
