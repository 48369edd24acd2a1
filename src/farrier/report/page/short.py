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
    """Return the selected columns of an average whose interval holds no effect; of a mode none is.

    Examples
    --------
    >>> v, some = np.array([1.0, 1.0]), np.array([True, True])
    >>> found = Effects(None, None, ["a", "b"], ["a", "b"], v, v - [0.5, 2.0], v + 2.0, v, some, v)
    >>> unclear(found)
    array([False,  True])
    """
    if one.inclusion is None:
        return np.zeros_like(one.selected)
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
    told = listed(names) if len(names) <= FEW else f"{len(names):,} others"
    whole = f"about as well as all {counted(len(one.names), 'column')}"
    if len(places) < int(one.selected.sum()):
        own = "own interval holds" if len(places) == 1 else "own intervals hold"
        return f"Together with {told}, whose {own} {null}, they predict {named(target)} {whole}."
    listed_ones = f": {told}" if len(names) <= FEW else f", {named(one.names[places[0]])} the strongest"
    return (
        f"No single column is sure to matter for {named(target)}, for every interval holds {null}: columns "
        f"can stand for each other. A short model of {counted(len(places), 'column')} predicts {whole}"
        f"{listed_ones}."
    )


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
    order = np.argsort(-found, kind="stable")[:3].tolist()
    names = effects[0].names
    first = f"(inclusion {share(found[order[0]])})"
    others = [f"{named(names[j])} ({share(found[j])})" for j in order[1:]]
    said = [f"{named(names[order[0]])} {first}", *others]
    whole = f"Together the {counted(len(names), 'column')} predict {named(target)} better than the mean alone"
    are = "is" if len(said) == 1 else "are"
    return f"{whole}, but no few of them stand out; the surest {are} {listed(said)}."
