"""Text on selected variables whose intervals include the null value, and on averages that select none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from horseshoe.report.number_text import format_share
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.phrases import FEW, counted, list_or_count, listed, named


def uncertain_sentence(one: Effects, target: str) -> str:
    """Say which selected variables may have no effect by themselves; nothing if each is sure.

    How well the smaller model predicts is not said: no held-out row is predicted by it, since it is selected
    by all rows.

    Examples
    --------
    >>> v, some = np.array([1.0, 1.0]), np.array([True, True])
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> found = Effects(model, None, ["a", "b"], ["a", "b"], v, v - [0.5, 2.0], v + 2.0, v, some, v)
    >>> uncertain_sentence(found, "y")
    'The smaller model with 2 variables also has b, whose own interval includes zero.'
    """
    places, chosen = one.ranked(one.uncertain), one.ranked(one.selected)
    if not places:
        return ""
    names, all_uncertain = [named(one.names[j]) for j in places], len(places) == len(chosen)
    if one.inclusion is None:
        return _of_mode(names, one.null, target, all_uncertain)
    number = counted(len(one.terms_of(chosen)), "variable")
    if not all_uncertain:
        own = "own interval includes" if len(places) == 1 else "own intervals include"
        told = list_or_count(names, "others")
        return f"The smaller model with {number} also has {told}, whose {own} {one.null}."
    told = f": {listed(names)}" if len(names) <= FEW else f", {names[0]} the strongest"
    return (
        f"No single variable is sure to matter for {named(target)}, for every interval includes {one.null}: "
        f"variables can stand for each other. The average is summarised by a smaller model with "
        f"{number}{told}."
    )


def _of_mode(names: Sequence[str], null: str, target: str, all_uncertain: bool) -> str:
    """Say what a mode selects without being sure of it."""
    told, one = list_or_count(names, "variables"), len(names) == 1
    includes = "its interval includes" if one else "their intervals include"
    if all_uncertain:
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
    terms, names = len(set(effects[0].terms)), effects[0].names
    order = np.argsort(-found, kind="stable")[:3].tolist()
    first, *others = [format_share(found[j]) for j in order]
    if terms == 1:
        return (
            f"{named(effects[0].terms[0])} predicts {named(target)} better than the mean alone, but "
            f"does not stand out (inclusion {first})."
        )
    texts = [f"inclusion {first}", *others]
    said = [f"{named(names[j])} ({text})" for j, text in zip(order, texts, strict=True)]
    whole = f"Together the {counted(terms, 'variable')} predict {named(target)} better than the mean alone"
    are = "is" if len(said) == 1 else "are"
    return f"{whole}, but no few of them stand out; the surest {are} {listed(said)}."
